"""Rounds: everything in sight, keys from anywhere, play, an address that comes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import (
    at_rest,
    button,
    go,
    round_shown,
    settled,
    sound,
    visitor,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LINK = "/rounds?sample=titanic&mechanism=aim_grem_rounds&round=2"
TOGETHER = (".st-key-player", ".spent", "[class*=st-key-why_]", "[class*=_selection]",
            "[class*=_lattice]", "[class*=_error] .vega-embed")  # fmt: skip
WAYS_OUT = """() => Object.fromEntries(["kept", "released"].map(kind => [kind,
    [...document.querySelectorAll(`[class*="st-key-${kind}_"] button[aria-label]`)]
        .filter(b => /^(Show data|Download|Copy)/.test(b.ariaLabel))
        .map(b => getComputedStyle(b).display)]))"""
"""How the download buttons over charts are displayed, by kind of chart."""


def test_a_round_is_seen_without_scrolling(address: str, page: Any) -> None:
    page.goto(address + LINK)
    round_shown(page, 2)
    for width, height in ((1280, 800), (1440, 900), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        at_rest(page)
        for part in TOGETHER:
            box = page.locator(part).first.bounding_box()
            assert box["y"] >= 0, part
            assert box["y"] + box["height"] <= height, (part, width)


def test_keys_and_quick_clicks_are_rounds_one_by_one(address: str, page: Any) -> None:
    page.goto(address + LINK)
    round_shown(page, 2)
    settled(page)
    page.locator(".st-key-round input").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    round_shown(page, 5)
    settled(page)
    page.keyboard.press("ArrowLeft")
    round_shown(page, 4)
    settled(page)
    page.keyboard.press("Space")
    button(page, "Pause", playing=True).wait_for()
    page.keyboard.press("Space")
    button(page, "Play").wait_for()
    button(page, "First").click()
    page.get_by_text("Before round 1.").wait_for()
    settled(page)
    for _ in range(3):
        page.locator(".st-key-next button").first.click()
    round_shown(page, 3)
    sound(page)


def test_play_goes_on_by_itself_and_leaves_the_menu_alone(address: str, page: Any) -> None:
    page.goto(address)
    button(page, "Open the Titanic run").click()
    round_shown(page, 1)
    for title in ("Export", "About", "Marginals"):
        button(page, "Play", playing=True).click()
        button(page, "Pause", playing=True).wait_for()
        before = page.locator(".st-key-round input").first.input_value()
        page.wait_for_function(
            "before => document.querySelector('.st-key-round input').value !== before", arg=before
        )
        go(page, title)  # in the middle of a round: neither lost nor answered by an empty page
        settled(page)
        assert page.get_by_test_id("stMain").locator("h1").inner_text() == title
        go(page, "Rounds")
        page.get_by_text("did what it did").wait_for()
        button(page, "Pause", playing=True).or_(button(page, "Play", playing=True)).wait_for()
        if button(page, "Pause", playing=True).count():
            button(page, "Pause", playing=True).click()
        button(page, "Play").wait_for()
    sound(page)


def test_what_is_not_private_has_no_way_out_and_can_be_hidden(address: str, page: Any) -> None:
    page.goto(f"{address}/rounds?round=3")
    round_shown(page, 3)
    button(page, "Last").click()
    page.get_by_text("100 % of the budget").wait_for()
    at_rest(page)
    shown = page.evaluate(WAYS_OUT)
    assert len(shown["kept"]) >= 2, "every chart has its buttons in the page"
    assert set(shown["kept"]) == {"none"}, "those that are not private offer no download"
    assert shown["released"]
    assert "none" not in shown["released"]
    page.get_by_text("Hide what is not private").first.click()
    page.get_by_text("Only released values are on this page").wait_for()
    page.get_by_text("not private (never released)").first.wait_for(state="detached")
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
    with visitor(browser) as elsewhere:
        elsewhere.goto(copied)
        round_shown(elsewhere, 3)
        same = "[class*=st-key-why_]"
        assert elsewhere.locator(same).inner_text() == page.locator(same).inner_text()
    sound(page)
