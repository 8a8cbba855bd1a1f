"""Every page after every page by the real menu, with a sample and with a table of one's own.

What the pages say then is tested without a browser (``tests/pages/test_study.py``); here that the
browser and the server agree on where one is, and on what: table, budget and mechanism.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from pages.parts.navigation.frame import PAGES
from pages.parts.visit import samples, study
from tests.browser.conftest import button, go, round_shown, settled, sound, upload, use
from tests.pages.test_study import MECHANISM, NAMES, OWN, round_trip

playwright = pytest.importorskip("playwright.sync_api")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TITLES = {name: title for name, title, _ in PAGES}
WALK = [step for step in round_trip() if step[0] != step[1]]
EPSILON = 2.5


def test_the_walk_goes_every_way_once() -> None:
    assert len(WALK) == len(set(WALK)) == len(NAMES) * (len(NAMES) - 1)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(WALK))


def walk(page: Any, title: str) -> None:
    """Go from page to page without waiting for more than their names; the strip stays."""
    strip = page.get_by_test_id("stMain").get_by_test_id("stMarkdownContainer").first
    says = re.compile(
        f"{re.escape(title)}.*ε {EPSILON:g}.*{re.escape(study.mechanism_name(MECHANISM))}"
    )
    go(page, TITLES[WALK[0][0]])
    for _, second in WALK:
        go(page, TITLES[second])
        # Release shows nothing of the study, which is there again on the next page.
        shown = re.compile("No true value is shown") if second == "release" else says
        playwright.expect(strip).to_have_text(shown)
        assert page.get_by_text("The settings are others now").count() == 0
    settled(page)
    sound(page)


def test_every_page_after_every_page_with_a_sample(address: str, page: Any) -> None:
    page.goto(
        f"{address}/rounds?sample=hair_eye_color&degree=2&epsilon={EPSILON}&mechanism={MECHANISM}"
    )
    round_shown(page, 1)
    walk(page, samples.cards()["hair_eye_color"].title)


def test_every_page_after_every_page_with_a_table_of_ones_own(address: str, page: Any) -> None:
    upload(page, address, "praxis.csv", OWN)
    use(page)
    go(page, "Setup")
    settled(page)
    field = page.get_by_role("spinbutton", name="ε")
    field.fill(str(EPSILON))
    field.press("Enter")
    page.get_by_text(re.compile(f"ε {EPSILON:g}")).first.wait_for()
    settled(page)
    page.get_by_role("combobox", name="Mechanism").click()
    page.keyboard.type(study.mechanism_name(MECHANISM))  # a long list draws what is in sight
    page.get_by_role("option", name=study.mechanism_name(MECHANISM), exact=True).click()
    page.get_by_text(study.mechanism_name(MECHANISM)).first.wait_for()
    button(page, "Start this run").click()
    round_shown(page, 1)
    walk(page, "praxis.csv")
