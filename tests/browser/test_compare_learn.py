"""Compare, What if and Learn in a headless browser, waiting on what a reader sees."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import button, settled, sound

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LONG = 60_000


def _section(page: Any, name: str) -> None:
    page.get_by_test_id("stMain").get_by_role("radio", name=name, exact=True).or_(
        page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True)
    ).first.click()


def test_a_long_comparison_is_stopped_and_kept(address: str, page: Any) -> None:
    page.goto(f"{address}/compare?compare=loses")
    page.get_by_text("Who wins here").wait_for(timeout=LONG)
    button(page, "The paper's Figure 4").click()
    page.get_by_text(re.compile(r"[1-9]\d* of 125 runs")).first.wait_for(timeout=LONG)
    page.get_by_role("link", name="What if").click()
    page.get_by_text("ε × 2: ε 2").first.wait_for(timeout=LONG)
    page.get_by_role("link", name="Compare").click()
    page.get_by_text(re.compile(r"([6-9]|\d\d) of 125 runs")).first.wait_for(timeout=LONG)
    button(page, "Stop here").click()
    page.get_by_text(re.compile("Stopped after .* of 125 runs")).wait_for(timeout=LONG)
    page.get_by_text("Who wins here").wait_for()
    page.locator("canvas, svg.marks").nth(5).wait_for()
    sound(page)


def test_two_visitors_compare_at_once(address: str, browser: Any) -> None:
    contexts = [browser.new_context() for _ in range(2)]
    first, second = (context.new_page() for context in contexts)
    for visitor in (first, second):
        visitor.goto(f"{address}/compare?compare=loses")
        visitor.get_by_text("Who wins here").wait_for(timeout=LONG)
    button(first, "The paper's Figure 4").click()
    first.get_by_text(re.compile("of 125 runs")).first.wait_for(timeout=LONG)
    second.get_by_role("link", name="What if").click()
    second.get_by_text("ε × 2: ε 2").first.wait_for(timeout=LONG)
    second.get_by_text("ten times the rows").first.click()
    second.get_by_text("Every record is taken ten times").wait_for()
    second.get_by_role("link", name="Compare").click()
    second.get_by_text("Berkeley graduate admissions (1973), 3 attributes").wait_for()
    assert second.get_by_text("of 125 runs").count() == 0
    button(first, "Stop here").click()
    first.get_by_text(re.compile("Stopped after .* of 125 runs")).wait_for(timeout=LONG)
    for context in contexts:
        context.close()


def test_a_first_visit_to_learn(address: str, page: Any) -> None:
    page.goto(f"{address}/learn")
    page.get_by_text("1 of 6").wait_for(timeout=LONG)
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(
    address: str,
    browser: Any,
    scheme: str,
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    phone = context.new_page()
    for path in ("compare", "what_if", "learn"):
        phone.goto(f"{address}/{path}")
        phone.locator("canvas, svg.marks").first.wait_for(timeout=LONG)
        phone.wait_for_timeout(1500)
        wide = phone.evaluate(
            "() => [...document.querySelectorAll('.vega-embed, h1, p, button')]"
            ".filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
            ".map(e => e.outerHTML.slice(0, 200))"
        )
        assert wide == []
    context.close()
