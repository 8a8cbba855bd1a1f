"""One journey over the Data page in a headless browser, with real files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("playwright")
from playwright.sync_api import expect

from tests.browser.conftest import sound
from tests.pages.test_data import HOSTILE, PEOPLE

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SHOTS = os.environ.get("SCREENSHOTS")


@pytest.fixture
def data(page: Any, address: str) -> Iterator[Any]:
    page.goto(f"{address}/data")
    yield page
    sound(page)


def shoot(page: Any, name: str) -> None:
    if SHOTS:
        page.wait_for_timeout(800)
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def upload(page: Any, name: str, data: bytes) -> None:
    choice = page.get_by_role("radio", name="My own table")
    if choice.get_attribute("aria-checked") != "true":
        choice.click()
    expect(page.get_by_text("Any CSV, Excel or Parquet file")).to_be_visible(timeout=30_000)
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": data}
    )
    expect(page.get_by_text("Loaded")).to_be_visible(timeout=30_000)


def test_upload_correct_declare_use_leave_come_back_and_replace(data: Any) -> None:
    expect(data.get_by_role("heading", name="Data", exact=True)).to_be_visible(timeout=30_000)
    upload(data, "people.csv", PEOPLE)
    expect(data.get_by_text("120 rows, 4 columns")).to_be_visible()
    expect(data.get_by_text("things to check")).to_be_visible()

    data.get_by_text("How it was read").click()
    line = data.get_by_label("Last data line")
    line.fill("124")
    line.press("Enter")
    expect(data.get_by_text("121 rows, 4 columns")).to_be_visible(timeout=30_000)
    data.get_by_role("button", name="Back to what was found").click()
    expect(data.get_by_text("120 rows, 4 columns")).to_be_visible(timeout=30_000)

    values = data.get_by_role("textbox", name="Its values, one a line, in order")
    expect(values).to_have_count(
        1, timeout=30_000
    )  # the one before stands until the script is done
    values.fill("m\nf\nunknown")
    values.press("Control+Enter")
    expect(data.get_by_text("3 values", exact=True)).to_be_visible(timeout=30_000)
    data.get_by_role("button", name="Use this table").click()
    expect(data.get_by_text("Ready: the other pages use this table now.")).to_be_visible(
        timeout=30_000
    )

    data.get_by_role("link", name="Watch a run").click()
    expect(data.get_by_role("heading", name="Rounds", exact=True)).to_be_visible(timeout=30_000)
    data.get_by_text("Table, workload and budget").click()
    data.get_by_role("button", name="Start this run").click()
    expect(data.get_by_text("Why round 1 did what it did")).to_be_visible(timeout=30_000)
    data.get_by_role("link", name="Data", exact=True).click()
    expect(data.get_by_text("120 rows, 4 columns")).to_be_visible(timeout=30_000)
    expect(values).to_have_value("m\nf\nunknown")

    data.get_by_role("button", name="Replace").click()
    upload(data, "again.csv", b"a,b\nx,1\ny,2\nx,3\n")
    expect(data.get_by_text("3 rows, 2 columns")).to_be_visible()


def test_hostile_text_stays_text(data: Any) -> None:
    upload(data, "<img src=x onerror=alert(1)>.csv", HOSTILE)
    expect(data.get_by_text("8 rows, 17 columns")).to_be_visible()
    assert data.locator("img[src=x]").count() == 0
    assert data.locator(".katex").count() == 0


@pytest.mark.skipif(not SHOTS, reason="set SCREENSHOTS to a folder to take them")
def test_screenshots(data: Any) -> None:
    expect(data.get_by_role("heading", name="Data", exact=True)).to_be_visible(timeout=30_000)
    for scheme in ("light", "dark"):
        data.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for width in (1280, 390):
            data.set_viewport_size({"width": width, "height": 900})
            data.reload()
            expect(data.get_by_text("My own table", exact=True)).to_be_visible(timeout=30_000)
            shoot(data, f"{scheme}_{width}_example")
            upload(data, "people.csv", PEOPLE)
            expect(data.get_by_role("button", name="Use this table")).to_be_visible(timeout=30_000)
            data.get_by_text("How it was read").click()
            data.set_viewport_size({"width": width, "height": 3000})
            shoot(data, f"{scheme}_{width}_own")
