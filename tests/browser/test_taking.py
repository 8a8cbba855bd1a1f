"""What is taken away and comes back: a fork, a bundle, a link, a session."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import PHONE, button, round_shown, sound

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def unpacked(page: Any, name: str, folder: Path) -> dict[str, str]:
    """Download a bundle; its files."""
    with page.expect_download() as downloading:
        button(page, name).click()
    path = folder / "taken.zip"
    downloading.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode("utf-8") for name in archive.namelist()}


def reads_offline(browser: Any, report: str, folder: Path) -> None:
    """Open a report without a network; nothing may be asked for and nothing said."""
    path = folder / "report.html"
    path.write_text(report, "utf-8")
    context = browser.new_context(viewport=PHONE, offline=True)
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


def test_a_fork_is_looked_at_and_the_link_leads_back_to_the_round(address: str, page: Any) -> None:
    page.goto(f"{address}/rounds?sample=adult&rounds=10&round=7")
    round_shown(page, 7)
    button(page, "More").click()
    button(page, "What if ε").click()
    page.get_by_text("Simulation, no release").wait_for()
    # With the popover still open: closing it must not ask for the page just left.
    page.get_by_role("link", name="Take it away").click()
    page.get_by_text("10 rounds done").wait_for()
    button(page, "Download the bundle").wait_for()
    link = page.locator("code", has_text="sample=adult").inner_text().replace("\n", "")
    told = [_told(page, link), _told(page, link)]
    assert told[0] == told[1], "the same link, the same numbers"
    page.reload()
    round_shown(page, 7)
    sound(page)


def _told(page: Any, link: str) -> str:
    page.goto(link)
    round_shown(page, 7)
    said: str = page.locator("[class*=st-key-why_]").inner_text()
    return said


def test_a_session_is_saved_and_reloaded_in_another_visit(
    address: str, page: Any, tmp_path: Path
) -> None:
    page.goto(
        f"{address}/rounds?sample=titanic&epsilon=2.0&seed=4&round=3&mechanism=aim_grem_plain"
    )
    round_shown(page, 3)
    page.get_by_role("link", name="Take it away").click()
    page.get_by_text("Teaching bundle", exact=True).click()
    lesson = unpacked(page, "Download the teaching bundle", tmp_path)
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
    round_shown(page, 3)
    assert "seed 4" in page.inner_text("body")
    sound(page)
