"""Setup, Marginals and About in a headless browser, on friendly and on hostile names."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import sound, wait_for_server
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
WIDE = (
    "() => [...document.querySelectorAll('.vega-embed, h1, h2, h3, p, button')]"
    ".filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    ".map(e => e.outerHTML.slice(0, 200))"
)
EMPTY = (
    "() => [...document.querySelectorAll('.vega-embed')]"
    ".filter(e => !e.querySelector('canvas, svg.marks')).length"
)


def _click_in(page: Any, key: str, x: float, y: float) -> None:
    """Click at a share of a chart's width and height, once it has come to rest."""
    chart = page.locator(f"[class*=st-key-{key}] :is(svg.marks, canvas)").first
    chart.wait_for()
    before, box = None, chart.bounding_box()
    while box is None or box != before:
        page.wait_for_timeout(700)
        before, box = box, chart.bounding_box()
    page.mouse.click(box["x"] + box["width"] * x, box["y"] + box["height"] * y)


def test_a_run_is_set_up_and_its_answers_looked_at(address: str, page: Any) -> None:
    page.goto(f"{address}/plan")
    page.get_by_text("No record is read").wait_for()
    page.get_by_text("From 10 % to at most 23.2 %").wait_for()
    page.get_by_role("slider").first.press("ArrowRight")  # by keyboard: the next stop of ε
    page.get_by_text("From 10 % to at most 27.9 %").wait_for()
    page.get_by_text("my own list", exact=True).click()
    page.get_by_text("Your list: 10 tables").wait_for()
    _click_in(page, "released_asked_0", 0.5, 0.5)
    page.get_by_text("Your list: 11 tables").wait_for()
    page.get_by_role("button", name="Start this run").click()
    page.get_by_text("Why round 1 did what it did").wait_for()
    page.get_by_role("link", name="Marginals").click()
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
    page.get_by_role("link", name="Setup").click()
    page.get_by_text("Your list: 11 tables").wait_for()
    page.get_by_text("From 10 % to at most 27.9 %").wait_for()
    page.get_by_role("link", name="About").click()
    page.get_by_text("adding or removing").wait_for()
    sound(page)


def test_a_link_to_each_page_calls_nobody_else(address: str, page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda r: asked.append(r.url))
    for path in ("plan", "marginals", "about"):
        page.goto(f"{address}/{path}")
        page.get_by_text("TEACHING", exact=True).wait_for()
        page.wait_for_timeout(500)
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    sound(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(address: str, browser: Any, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    phone = context.new_page()
    for path in ("/plan", "/about", "/marginals"):
        phone.goto(address + path)
        phone.get_by_text("TEACHING", exact=True).wait_for()
        phone.wait_for_timeout(1500)
        assert phone.evaluate(WIDE) == []
    phone.get_by_role("button", name="Run it to its end").click()
    phone.get_by_role("heading", name="Do the intervals hold?").wait_for()
    phone.wait_for_timeout(1500)
    assert phone.evaluate(WIDE) == []
    context.close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose sample has hostile names and values, and a run of them."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    for name in ("app.py", "pages", "engine", "sample_data", "tests", ".streamlit"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "hostile.py").write_text(HOSTILE_APP, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "hostile.py", "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, "--server.port", str(port)], cwd=folder, env=os.environ,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for_server(f"{url}/_stcore/health")
        yield url
    finally:
        server.terminate()
        server.wait(timeout=20)


def test_hostile_names_draw_every_chart(hostile: str, page: Any) -> None:
    page.goto(f"{hostile}/")
    page.get_by_text("TEACHING", exact=True).wait_for()
    page.get_by_role("link", name="Setup").click()
    page.get_by_text(re.compile(f"Your list: {len(HOSTILE)} tables")).wait_for()
    page.get_by_role("button", name="All 2-way").click()
    page.get_by_text(re.compile("Your list: 210 tables")).wait_for()
    page.wait_for_timeout(2000)
    assert page.evaluate(EMPTY) == 0
    assert page.evaluate(WIDE) == []
    page.get_by_role("link", name="Marginals").click()
    page.get_by_text("fell inside their 95 % interval").wait_for()
    page.wait_for_timeout(2000)
    assert page.evaluate(EMPTY) == 0
    assert page.locator(":is(svg.marks, canvas)").count() >= 4
    page.get_by_role("combobox").first.fill("=1+1")
    page.get_by_role("option", name="=1+1", exact=True).click()
    page.get_by_text(re.compile(f"^Of {len(HOSTILE)} cells")).wait_for()
    page.wait_for_timeout(1500)
    assert page.evaluate(EMPTY) == 0
    sound(page)
