"""Setup, Marginals and About in a headless browser, on friendly and on hostile names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import EMPTY, WIDE, at_rest, button, go, round_shown, serving, sound
from tests.pages.test_charts import HOSTILE
from tests.support import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE_APP = """
import streamlit as st
import engine
from pages.parts.visit import samples, session, study
from tests.pages.test_charts import HOSTILE, watched

samples.domain = lambda name: engine.Domain(
    tuple(engine.Attribute(name, values=tuple(HOSTILE)) for name in HOSTILE)
)
if "visit" not in st.session_state:
    run = watched(3, attributes=5, hostile=True)
    st.session_state["visit"] = session.Visit(run=run, view=2)
    st.session_state["study"] = study.Study(
        chosen={"adult": tuple(HOSTILE)}, lists={"adult": {(n,): 1.0 for n in HOSTILE}},
        listed=True, degree=2,
    )
exec(open("app.py").read())
"""


def _click_in(page: Any, key: str, x: float, y: float) -> None:
    """Click at a share of a chart's width and height, once it has come to rest."""
    chart = page.locator(f"[class*=st-key-{key}] :is(svg.marks, canvas)").first
    chart.wait_for()
    chart.scroll_into_view_if_needed()
    at_rest(page)
    box = chart.bounding_box()
    page.mouse.click(box["x"] + box["width"] * x, box["y"] + box["height"] * y)


def test_a_run_is_set_up_and_its_answers_looked_at(address: str, page: Any) -> None:
    page.goto(f"{address}/plan")
    page.get_by_text("No record is read").wait_for()
    page.get_by_text("From 10 % to at most 23.2 %").wait_for()
    page.get_by_text("my own list", exact=True).click()
    page.get_by_text("Your list: 10 tables").wait_for()
    _click_in(page, "released_asked_0", 0.5, 0.5)
    page.get_by_text("Your list: 11 tables").wait_for()
    button(page, "Start this run").click()
    round_shown(page, 1)
    go(page, "Marginals")
    page.get_by_text("no interval").first.wait_for()
    assert page.locator("[class*=st-key-kept_private]").count() == 1, "it shares a colour scale"
    _click_in(page, "kept_true_", 0.7, 0.3)
    page.get_by_text("Cells clicked on").wait_for()
    page.get_by_text("simplex", exact=True).click()
    page.get_by_text("Moved to the nearest table").wait_for()
    page.get_by_text("Hide what is not private").click()
    page.get_by_text("True counts and differences are hidden").wait_for()
    page.get_by_text("not private (never released)").first.wait_for(state="detached")
    assert page.get_by_text("not private (never released)").count() == 0
    assert page.locator("[class*=st-key-released_private]").count() == 1
    go(page, "Setup")
    page.get_by_text("Your list: 11 tables").wait_for()
    page.get_by_text("From 10 % to at most 23.2 %").wait_for()
    go(page, "About")
    page.get_by_text("adding or removing").wait_for()
    sound(page)


def test_a_link_to_each_page_calls_nobody_else(address: str, page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda r: asked.append(r.url))
    for path in ("plan", "marginals", "about", "rounds"):
        page.goto(f"{address}/{path}")
        page.get_by_text("TEACHING", exact=True).wait_for()
        at_rest(page)
    assert page.get_by_text("TEACHING", exact=True).count() == 1, "within its frame"
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    sound(page)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose sample has hostile names and values, and a run of them."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    for name in ("app.py", "pages", "engine", "sample_data", "tests", ".streamlit"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "hostile.py").write_text(HOSTILE_APP, encoding="utf-8")
    with serving("hostile.py", folder) as url:
        yield url


def test_hostile_names_draw_every_chart(hostile: str, page: Any) -> None:
    page.goto(f"{hostile}/")
    page.get_by_text("TEACHING", exact=True).wait_for()
    go(page, "Setup")
    page.get_by_text(re.compile(f"Your list: {len(HOSTILE)} tables")).wait_for()
    page.get_by_role("button", name="All 2-way").click()
    page.get_by_text(re.compile("Your list: 210 tables")).wait_for()
    at_rest(page)
    assert page.evaluate(EMPTY) == 0
    assert page.evaluate(WIDE) == []
    go(page, "Marginals")
    page.get_by_text("fell inside their 95 % interval").wait_for()
    at_rest(page)
    assert page.evaluate(EMPTY) == 0
    assert page.locator(":is(svg.marks, canvas)").count() >= 4
    page.get_by_role("combobox").first.fill("=1+1")
    page.get_by_role("option", name="=1+1", exact=True).click()
    page.get_by_text(re.compile(f"^Of {len(HOSTILE)} cells")).wait_for()
    at_rest(page)
    assert page.evaluate(EMPTY) == 0
    sound(page)
