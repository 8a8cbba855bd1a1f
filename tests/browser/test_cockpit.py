"""Rounds on one screen: everything in sight, keys from anywhere, an address that comes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import button, settled, sound

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LINK = "/rounds?sample=titanic&mechanism=aim_grem_rounds&round=2"
TOGETHER = (".st-key-player", ".spent", "[class*=st-key-why_]", "[class*=_selection]",
            "[class*=_lattice]", "[class*=_error] .vega-embed")  # fmt: skip


def round_shown(page: Any, number: int) -> None:
    page.get_by_text(f"Why round {number} did what it did").wait_for()
    settled(page)


@pytest.mark.parametrize("size", [(1280, 800), (1440, 900), (1920, 1080)])
def test_a_round_is_seen_without_scrolling(
    address: str, browser: Any, size: tuple[int, int]
) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.set_default_timeout(90_000)
    page.goto(address + LINK)
    round_shown(page, 2)
    for part in TOGETHER:
        box = page.locator(part).first.bounding_box()
        assert box["y"] >= 0, part
        assert box["y"] + box["height"] <= size[1], part
    context.close()


def test_keys_work_from_the_slider_and_three_presses_are_three_rounds(
    address: str, page: Any
) -> None:
    page.goto(address + LINK)
    round_shown(page, 2)
    page.locator(".st-key-round input").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    round_shown(page, 5)
    page.keyboard.press("ArrowLeft")
    round_shown(page, 4)
    page.keyboard.press("Space")
    button(page, "Pause", playing=True).wait_for()
    page.keyboard.press("Space")
    button(page, "Play").wait_for()
    sound(page)


def test_three_quick_clicks_are_three_rounds(address: str, page: Any) -> None:
    page.goto(address + LINK)
    round_shown(page, 2)
    for _ in range(3):
        page.locator(".st-key-next button").first.click()
    round_shown(page, 5)
    sound(page)


def test_back_forward_reload_and_a_copied_address_come_back_to_the_picture(
    address: str, page: Any, browser: Any
) -> None:
    page.goto(address + LINK)
    round_shown(page, 2)
    button(page, "Next").click()
    round_shown(page, 3)
    page.wait_for_url("**round=3*")
    copied = page.url
    page.wait_for_timeout(1100)  # an address changed less than a second ago is an echo
    page.go_back()
    round_shown(page, 2)
    page.go_forward()
    round_shown(page, 3)
    page.reload()
    round_shown(page, 3)
    context = browser.new_context()
    elsewhere = context.new_page()
    elsewhere.set_default_timeout(90_000)
    elsewhere.goto(copied)
    round_shown(elsewhere, 3)
    same = "[class*=st-key-why_]"
    assert elsewhere.locator(same).inner_text() == page.locator(same).inner_text()
    context.close()
    sound(page)
