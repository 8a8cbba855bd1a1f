"""The journey that every change is checked with: a sample to its bundle, one's own table, a phone.

The other browser tests have a command of their own (README).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import engine
from pages.parts.navigation.frame import PAGES
from tests.browser.conftest import (
    PHONE,
    WIDE,
    at_rest,
    button,
    go,
    round_shown,
    settled,
    sound,
    upload,
    use,
    visitor,
)
from tests.browser.test_taking import reads_offline, unpacked
from tests.pages.test_data import PEOPLE

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.journey]


def test_from_start_by_setup_and_rounds_to_a_bundle(
    address: str, page: Any, browser: Any, tmp_path: Path
) -> None:
    page.goto(address)
    page.get_by_role("heading", name="Private tables, one round at a time").wait_for()
    go(page, "Setup")
    page.get_by_text("No record is read").wait_for()
    page.get_by_role("slider").first.press("ArrowRight")  # by keyboard: the next stop of ε
    page.get_by_text("From 10 % to at most 27.9 %").wait_for()
    button(page, "Start this run").click()
    round_shown(page, 1)
    button(page, "Next").click()
    round_shown(page, 2)
    settled(page)
    page.keyboard.press("n")
    round_shown(page, 3)
    go(page, "Export")
    page.get_by_text("3 rounds done").wait_for()
    found = unpacked(page, "Download the bundle", tmp_path)
    release = engine.Release.from_dict(json.loads(found["release.json"]))
    events = json.loads(found["trace.json"])["events"]
    assert [e["round"] for e in events if e["event"] == "RoundEnded"] == [1, 2, 3]
    assert release.demonstration, "a rehearsal says so"
    reads_offline(browser, found["report.html"], tmp_path)
    sound(page)


def test_a_table_of_ones_own_is_corrected_declared_used_left_and_replaced(
    address: str, page: Any
) -> None:
    upload(page, address, "people.csv", PEOPLE)
    page.get_by_text("120 rows, 4 columns").wait_for()
    page.get_by_text("things to check").wait_for()
    page.get_by_text("How it was read").click()
    line = page.get_by_label("Last data line")
    line.fill("124")
    line.press("Enter")
    page.get_by_text("121 rows, 4 columns").wait_for()
    # The choices stay in sight while one of them is changed.
    button(page, "Back to what was found").click()
    page.get_by_text("120 rows, 4 columns").wait_for()
    settled(page)
    values = page.get_by_role("textbox", name="Its values, one a line, in order")
    values.fill("m\nf\nunknown")
    values.press("Control+Enter")
    page.get_by_text("3 values", exact=True).wait_for()
    use(page)
    page.get_by_role("link", name="Watch a run").click()
    round_shown(page, 1)
    strip = page.get_by_test_id("stMain").get_by_test_id("stMarkdownContainer").first
    assert "people.csv" in strip.inner_text()
    go(page, "Data")
    page.get_by_text("120 rows, 4 columns").wait_for()
    settled(page)
    assert values.input_value() == "m\nf\nunknown"
    button(page, "Replace").click()
    page.get_by_text("Any CSV, Excel or Parquet file").wait_for()
    settled(page)
    page.locator("input[type=file]").first.set_input_files(
        {"name": "again.csv", "mimeType": "text/csv", "buffer": b"a,b\nx,1\ny,2\nx,3\n"}
    )
    page.get_by_text("3 rows, 2 columns").wait_for()
    sound(page)


def test_every_page_fits_a_phone_in_the_dark(address: str, browser: Any) -> None:
    with visitor(browser, size=PHONE, scheme="dark") as phone:
        phone.goto(f"{address}/rounds?sample=titanic")
        round_shown(phone, 1)
        for name, title, _ in PAGES:
            # By the address: on a phone the menu is behind a button.
            phone.goto(f"{address}/{'' if name == PAGES[0][0] else name}")
            phone.get_by_test_id("stMain").locator("h1").first.wait_for(state="attached")
            at_rest(phone)
            assert phone.evaluate(WIDE) == [], title
            dark = phone.evaluate(
                "() => getComputedStyle(document.querySelector('[data-testid=stApp]'))"
                ".backgroundColor.match(/[0-9]+/g).every(part => part < 64)"
            )
            assert dark, title
            sound(phone)
