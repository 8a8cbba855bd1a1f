"""A table of one's own through every page: hostile texts, and two visitors at once."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import button, sound
from tests.browser.test_pages import EMPTY
from tests.pages.test_data import HOSTILE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = ("Setup", "Rounds", "Marginals", "Compare", "What if", "Learn", "Export", "About", "Start")


def _use(page: Any, address: str, name: str, data: bytes) -> None:
    page.goto(f"{address}/data")
    page.get_by_role("radio", name="My own table").click()
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": data}
    )
    page.get_by_text("Loaded").wait_for()
    page.get_by_role("button", name="Use this table").click()
    page.get_by_text("Ready: the other pages use this table now.").wait_for()


def _start_a_run(page: Any) -> None:
    page.get_by_role("link", name="Rounds", exact=True).click()
    page.get_by_text("Why round 1 did what it did").wait_for()


def test_hostile_headers_and_values_stay_text_on_every_page(address: str, page: Any) -> None:
    page.set_default_timeout(60_000)
    _use(page, address, "<img src=x onerror=alert(1)>.csv", HOSTILE)
    _start_a_run(page)
    button(page, "Next").click()
    page.get_by_text("Why round 2 did what it did").wait_for()
    for name in PAGES:
        page.get_by_role("link", name=name, exact=True).click()
        page.get_by_test_id("stMain").get_by_role("heading", level=1).wait_for()
        page.wait_for_timeout(3000)
        sound(page)
        assert page.evaluate(EMPTY) == 0, name
        assert page.locator("img[src=x]").count() == 0, name
        assert page.locator(".katex").count() == 0 or name == "Learn", name


def test_two_visitors_never_see_each_others_table(address: str, browser: Any) -> None:
    visitors = {}
    for token in ("quokka", "wombat"):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = visitors[token] = context.new_page()
        page.set_default_timeout(60_000)
        rows = "".join(f"{token}{i % 3},{token}{i % 2}x\n" for i in range(60))
        _use(page, address, f"{token}.csv", f"{token}_a,{token}_b\n{rows}".encode())
    for token, page in visitors.items():
        other = next(name for name in visitors if name != token)
        _start_a_run(page)
        for name in ("Setup", "Marginals", "Export", "Data", "Start"):
            page.get_by_role("link", name=name, exact=True).click()
            page.get_by_test_id("stMain").get_by_role("heading", level=1).wait_for()
            page.wait_for_timeout(1500)
            assert other not in page.content(), name
        page.get_by_role("link", name="Rounds", exact=True).click()
        page.get_by_text(re.compile("Why round 1")).wait_for()
        assert token in page.content()
    for page in visitors.values():
        page.context.close()
