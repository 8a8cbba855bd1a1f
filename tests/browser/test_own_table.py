"""A table of one's own through every page: hostile texts, and two visitors at once."""

from __future__ import annotations

from typing import Any

import pytest

from pages.parts.navigation.frame import PAGES
from tests.browser.conftest import (
    EMPTY,
    at_rest,
    button,
    go,
    round_shown,
    sound,
    upload,
    use,
    visitor,
)
from tests.pages.test_data import HOSTILE

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_hostile_headers_and_values_stay_text_on_every_page(address: str, page: Any) -> None:
    upload(page, address, "<img src=x onerror=alert(1)>.csv", HOSTILE)
    page.get_by_text("8 rows, 17 columns").wait_for()
    assert page.locator(".katex").count() == 0
    use(page)
    go(page, "Rounds")
    round_shown(page, 1)
    button(page, "Next").click()
    round_shown(page, 2)
    for _, name, _ in PAGES:
        go(page, name)
        at_rest(page)
        sound(page)
        assert page.evaluate(EMPTY) == 0, name
        assert page.locator("img[src=x]").count() == 0, name
        assert page.locator(".katex").count() == 0 or name == "Learn", name


def test_two_visitors_never_see_each_others_table(address: str, browser: Any) -> None:
    with visitor(browser) as first, visitor(browser) as second:
        visitors = {"quokka": first, "wombat": second}
        for token, page in visitors.items():
            rows = "".join(f"{token}{i % 3},{token}{i % 2}x\n" for i in range(60))
            upload(page, address, f"{token}.csv", f"{token}_a,{token}_b\n{rows}".encode())
            use(page)
        for (token, page), other in zip(visitors.items(), ("wombat", "quokka"), strict=True):
            go(page, "Rounds")
            round_shown(page, 1)
            for name in ("Setup", "Marginals", "Export", "Data", "Start", "Rounds"):
                go(page, name)
                at_rest(page)
                assert other not in page.content(), name
            assert token in page.content()
