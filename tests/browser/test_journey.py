"""One journey through the app in a headless browser, waiting on what a reader sees."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import engine
from pages.parts.visit import samples
from tests.browser.conftest import button, sound

ROOT = Path(__file__).parents[2]

WAYS_OUT = """() => Object.fromEntries(["kept", "released"].map(kind => [kind,
    [...document.querySelectorAll(`[class*="st-key-${kind}_"] button[aria-label]`)]
        .filter(b => /^(Show data|Download|Copy)/.test(b.ariaLabel))
        .map(b => getComputedStyle(b).display)]))"""
"""How the download buttons over charts are displayed, by kind of chart."""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_run_on_adult_is_watched_to_its_end(address: str, page: Any) -> None:
    page.goto(address)
    page.get_by_role("heading", name="Private tables, one round at a time").wait_for()
    page.locator("canvas, svg.marks").first.wait_for()
    page.get_by_role("link", name="Step it yourself").click()
    page.get_by_text("Why round 1 did what it did").wait_for()
    button(page, "Next").click()
    page.get_by_text("Why round 2 did what it did").wait_for()
    page.keyboard.press("n")
    page.get_by_text("Why round 3 did what it did").wait_for()
    button(page, "Last").click()
    page.get_by_text("100 % of the budget").wait_for()
    button(page, "Back").click()
    page.get_by_text("Why round 11 did what it did").wait_for()
    shown = page.evaluate(WAYS_OUT)
    assert len(shown["kept"]) >= 4, "every chart has its buttons in the page"
    assert set(shown["kept"]) == {"none"}, "those that are not private offer no download"
    assert "none" not in shown["released"]
    page.get_by_text("Hide what is not private").first.click()
    page.get_by_text("Only released values are on this page").wait_for()
    page.get_by_text("not private (never released)").first.wait_for(state="detached")
    assert page.get_by_text("not private (never released)").count() == 0
    sound(page)


def test_play_goes_on_by_itself_and_stops_at_a_click(address: str, page: Any) -> None:
    page.goto(address)
    button(page, "Open the Titanic run").click()
    page.get_by_text("Why round 1 did what it did").wait_for()
    button(page, "Play").click()
    page.get_by_text("Why round 3 did what it did").wait_for()
    button(page, "Pause", playing=True).click()
    button(page, "Play").wait_for()
    button(page, "First").click()
    page.get_by_text("Before round 1.").wait_for()
    sound(page)


def test_a_link_to_a_page_opens_it_within_its_frame(address: str, page: Any) -> None:
    page.goto(f"{address}/rounds")
    page.get_by_text("Why round 1 did what it did").wait_for()
    assert page.get_by_text("TEACHING").count() == 1
    sound(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(address: str, browser: Any, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    phone = context.new_page()
    for path in ("", "/rounds", "/export?sample=titanic"):
        phone.goto(address + path)
        phone.locator("canvas, svg.marks, table").first.wait_for()
        phone.wait_for_timeout(1500)
        wide = phone.evaluate(
            "() => [...document.querySelectorAll('.vega-embed, h1, p, button, pre, table')]"
            ".filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
            ".map(e => e.outerHTML.slice(0, 200))"
        )
        assert wide == []
    context.close()


def test_ten_rounds_are_taken_away_and_the_link_leads_back(
    address: str, page: Any, browser: Any, tmp_path: Path
) -> None:
    page.goto(address)
    page.get_by_role("link", name="Step it yourself").click()
    page.get_by_text("Why round 1 did what it did").wait_for()
    for number in range(2, 11):
        button(page, "Next").click()
        page.get_by_text(f"Why round {number} did what it did").wait_for()
    for number in (9, 8, 7):
        button(page, "Back").click()
        page.get_by_text(f"Why round {number} did what it did").wait_for()
    button(page, "More").click()
    button(page, "What if ε").click()
    page.get_by_text("Simulation, no release").wait_for()
    page.get_by_role("link", name="Take it away").click()
    page.get_by_text("10 rounds done").wait_for()
    found = _unpacked(page, "Download the bundle", tmp_path)
    release = engine.Release.from_dict(json.loads(found["release.json"]))
    events = json.loads(found["trace.json"])["events"]
    assert [e["round"] for e in events if e["event"] == "RoundEnded"] == list(range(1, 11))
    assert release.domain.names == samples.cards()["adult"].default_attributes
    assert "10 rounds done" in page.inner_text("body"), "a download reruns nothing"
    _reads_offline(browser, found["report.html"], tmp_path)
    link = page.locator("code", has_text="sample=adult").inner_text().replace("\n", "")
    numbers = _ledger(page, link)
    assert numbers == _ledger(page, link), "the same link, the same numbers"
    page.get_by_text("Why round 7 did what it did").wait_for()
    page.reload()
    page.get_by_text("Why round 7 did what it did").wait_for()
    sound(page)


def test_a_session_is_saved_and_reloaded_in_another_visit(
    address: str, page: Any, tmp_path: Path
) -> None:
    page.goto(
        f"{address}/rounds?sample=titanic&epsilon=2.0&seed=4&round=3&mechanism=aim_grem_plain"
    )
    page.get_by_text("Why round 3 did what it did").wait_for()
    page.get_by_role("link", name="Take it away").click()
    page.get_by_text("Teaching bundle", exact=True).click()
    lesson = _unpacked(page, "Download the teaching bundle", tmp_path)
    assert len(lesson) > 10
    assert all("TEACHING - not private" in text for text in lesson.values())
    with page.expect_download() as downloading:
        button(page, "Download session").click()
    path = tmp_path / "session.json"
    downloading.value.save_as(path)
    page.goto(f"{address}/export")
    page.get_by_text("There is no run yet").wait_for()
    page.locator("input[type=file]").set_input_files(str(path))
    page.get_by_text("Back at round 3").wait_for()
    page.get_by_role("link", name="Watch it").click()
    page.get_by_text("Why round 3 did what it did").wait_for()
    assert "seed 4" in page.inner_text("body")
    sound(page)


def _unpacked(page: Any, name: str, folder: Path) -> dict[str, str]:
    with page.expect_download() as downloading:
        button(page, name).click()
    path = folder / "taken.zip"
    downloading.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode("utf-8") for name in archive.namelist()}


def _reads_offline(browser: Any, report: str, folder: Path) -> None:
    """Open a report without a network; nothing may be asked for and nothing said."""
    path = folder / "report.html"
    path.write_text(report, "utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True)
    opened, trouble = context.new_page(), []
    opened.on("console", lambda message: trouble.append(message.text))
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else
              trouble.append(r.url))  # fmt: skip
    opened.goto(path.as_uri())
    assert "DEMONSTRATION" in opened.inner_text("body")
    assert opened.locator("svg").count() > 5
    wide = opened.evaluate("() => document.documentElement.scrollWidth > innerWidth + 1")
    assert not wide
    assert trouble == []
    context.close()


def _ledger(page: Any, link: str) -> str:
    page.goto(link)
    page.get_by_text("Why round 7 did what it did").wait_for()
    text: str = (
        page.get_by_text("Why round 7 did what it did").locator("xpath=../../..").inner_text()
    )
    return text
