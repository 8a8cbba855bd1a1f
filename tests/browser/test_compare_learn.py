"""Compare, What if and Learn in a headless browser, waiting on what a reader sees."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import LONGEST, at_rest, button, go, settled, sound, visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def _section(page: Any, name: str) -> None:
    settled(page)
    page.get_by_test_id("stMain").get_by_role("radio", name=name, exact=True).or_(
        page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True)
    ).first.click()


def test_a_long_comparison_is_left_stopped_and_kept_and_nobody_else_sees_it(
    address: str, page: Any, browser: Any
) -> None:
    page.goto(f"{address}/compare?compare=loses")
    page.get_by_text("Who wins here").wait_for()
    button(page, "The paper's Figure 4").click()
    page.get_by_text(re.compile(r"[1-9]\d* of 125 runs")).first.wait_for(timeout=3 * LONGEST)
    with visitor(browser) as second:
        second.goto(f"{address}/compare?compare=loses")
        second.get_by_text("Who wins here").wait_for()
        second.get_by_text("Berkeley graduate admissions (1973), 3 attributes").wait_for()
        assert second.get_by_text("of 125 runs").count() == 0
        sound(second)
    go(page, "What if")
    page.get_by_text("ε × 2: ε 2").first.wait_for()
    settled(page)
    page.get_by_text("ten times the rows").first.click()
    page.get_by_text("Every record is taken ten times").wait_for()
    go(page, "Compare")
    stop = page.get_by_role("button", name="Stop here")
    ended = page.get_by_text("Who wins here")
    stop.or_(ended).first.wait_for()
    if stop.count():  # it may have come to its end by now
        stop.click()
        page.get_by_text(re.compile("Stopped after .* of 125 runs")).wait_for()
    ended.wait_for()
    at_rest(page)
    assert page.locator("canvas, svg.marks").count() > 3
    sound(page)


def test_a_first_visit_to_learn(address: str, page: Any) -> None:
    page.goto(f"{address}/learn")
    page.get_by_text("1 of 6").wait_for()
    for step in range(2, 7):
        settled(page)
        page.get_by_role("button", name="Next", exact=True).click()
        page.get_by_text(f"{step} of 6").wait_for()
    _section(page, "Water filling")
    page.get_by_text("Water level").wait_for()
    button(page, "Nothing known").click()
    page.get_by_text("Exactly what equal noise gives").wait_for()
    _section(page, "Choosing")
    page.get_by_text("One person more or less").wait_for()
    _section(page, "Below zero")
    page.get_by_text("a feature: keep it").click()
    page.get_by_text("Right:").wait_for()
    _section(page, "Quiz")
    page.get_by_text("It shrinks").click()
    page.get_by_role("button", name="Check").first.click()
    page.get_by_text("1 of 8").wait_for()
    _section(page, "Lecture")
    with page.expect_download() as handout:
        page.get_by_role("button", name="Handout to print").click()
    assert handout.value.suggested_filename == "handout.html"
    sound(page)
