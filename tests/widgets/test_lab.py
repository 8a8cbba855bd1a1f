"""The widgets in a real JupyterLab, driven by headless Chromium: what a reader sees and clicks."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("jupyterlab")
pytest.importorskip("ipywidgets")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
CELLS = [
    "import engine\nfrom engine import widgets\ntable = widgets.sample('titanic')\n"
    "widgets.explore(table, mechanism=engine.AimGrem(completion='none'), height=700)",
    "form = widgets.setup(table, height=600)\nform",
    "widgets.compare(table, trials=3)",
    "widgets.compare(table, trials=900)",
    "widgets.learn.decompose()",
    "name = '<img src=x onerror=\"window.hacked=1\">$x$'\n"
    "domain = engine.Domain((engine.Attribute(name, values=(name, 'b')),), title=name)\n"
    "few = engine.Table.from_codes([[k % 2] for k in range(31)], domain)\n"
    "widgets.explore(few, workload=engine.Workload.all_kway(domain, 1), height=300)",
    "few",
]
SHOTS = os.environ.get("WIDGET_SHOTS")
"""A folder for screenshots, to look at."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("lab")
    root = home / "root"
    root.mkdir()
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "P", "language": "python"}
    nbformat.write(notebook, root / "widgets.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folders = {
        f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")
    }
    server = subprocess.Popen(
        [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
            "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--IdentityProvider.token=",
            f"--ServerApp.root_dir={root}", "--LabApp.news_url=",
        ],
        env={**os.environ, **folders, "IPYTHONDIR": str(home), "PYTHONPATH": str(ROOT)}, cwd=root,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{url}/api")
        yield url
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError("JupyterLab did not start")


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Any]:
    """The notebook in JupyterLab, all its cells run."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=FLAGS)
        opened = browser.new_page(viewport={"width": 1400, "height": 1000})
        opened.set_default_timeout(45_000)
        opened.trouble = []
        opened.on("pageerror", lambda error: opened.trouble.append(str(error)))
        opened.goto(f"{address}/lab/tree/widgets.ipynb?reset")
        opened.get_by_text("(ipykernel) | Idle").wait_for()
        opened.get_by_role("menuitem", name="Run", exact=True).click()
        opened.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        opened.get_by_text("Release view").first.wait_for()
        yield opened
        browser.close()


def cell(page: Any, number: int) -> Any:
    """What a cell shows, in view."""
    found = page.locator(f'.jp-Cell[data-windowed-list-index="{number}"]')
    found.evaluate_all("cells => cells[0] && cells[0].scrollIntoView({block: 'start'})")
    page.wait_for_timeout(200)
    return found.first


def live(page: Any, number: int) -> Any:
    """The living widget of a cell, in view; beneath it there is its still, which hides."""
    return cell(page, number).locator(".engine-live").first


def shoot(page: Any, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))


def button(shown: Any, label: str) -> Any:
    return shown.locator("button.jupyter-button", has_text=label)


def test_the_player_steps_by_button_and_by_key_and_plays(page: Any) -> None:
    shown = live(page, 0)
    shown.get_by_text("Round 1 of 9:").wait_for()
    height = shown.bounding_box()["height"]
    button(shown, "Next").click()
    shown.get_by_text("Round 2 of 9:").wait_for()
    shown.locator(".noUi-handle").press("ArrowRight")
    shown.get_by_text("Round 3 of 9:").wait_for()
    assert shown.bounding_box()["height"] == height  # nothing jumps
    shoot(page, "player")
    shown.locator(".widget-play button").first.click()
    shown.get_by_text("Round 5 of 9:").wait_for()
    shown.locator(".widget-play button").first.click()


def test_a_marginal_is_picked_and_the_truth_shown_on_request(page: Any) -> None:
    shown = live(page, 0)
    shown.get_by_label("Marginal").select_option(label="\u200bClass × Survived")
    shown.get_by_text("Class × Survived: noise").wait_for()
    assert shown.get_by_text("beside the records").count() == 0
    shown.get_by_label("Show what is not private").check()
    shown.get_by_text("Class × Survived beside the records").wait_for()
    assert shown.get_by_text("Nothing here is private").first.is_visible()
    shown.get_by_text("Class × Survived beside the records").scroll_into_view_if_needed()
    shoot(page, "truth")
    shown.get_by_label("Show what is not private").uncheck()
    shown.get_by_text("Release view").wait_for()


def test_setup_runs_and_shows_its_run(page: Any) -> None:
    shown = live(page, 1)
    # Everything at once is what the default decides here: one round, which shows little.
    shown.get_by_label("Mechanism").select_option(label="AIM+GReM, nothing completed")
    seed = shown.get_by_label("Seed")
    seed.fill("5")
    seed.press("Enter")
    button(shown, "Run").click()
    shown.get_by_text("done", exact=True).wait_for()
    shown.get_by_text("Round 1 of 9:").wait_for()
    shoot(page, "setup")


def test_trials_draw_and_cancel_keeps_what_is_done(page: Any) -> None:
    shown = live(page, 2)
    button(shown, "Run").click()
    shown.get_by_text("18 runs so far").wait_for()
    shoot(page, "compare")
    long = live(page, 3)
    button(long, "Run").click()
    long.get_by_text("runs so far").wait_for()
    button(long, "Cancel").click()
    long.get_by_text("cancelled; what was done is kept").wait_for()
    assert long.get_by_text("runs so far").is_visible()


def test_letters_and_arrows_in_a_list_or_on_a_slider_are_no_commands(page: Any) -> None:
    shown = live(page, 0)
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    chosen = page.locator(".jp-Notebook .jp-Cell.jp-mod-selected").get_attribute(
        "data-windowed-list-index"
    )
    for control in (shown.get_by_label("Marginal"), shown.locator(".noUi-handle")):
        control.focus()
        for key in ("x", "d", "d", "ArrowDown", "ArrowUp", "b"):
            page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    selected = page.locator(".jp-Notebook .jp-Cell.jp-mod-selected")
    assert selected.get_attribute("data-windowed-list-index") == chosen


def test_the_pictures_stay_where_they_are_scrolled_to(page: Any) -> None:
    shown = live(page, 0)
    button(shown, "First").click()
    shown.get_by_text("round 0 of 9").wait_for()
    button(shown, "Next").click()
    shown.get_by_text("Round 1 of 9:").wait_for()
    box = shown.locator(".widget-html").filter(has_text="Round 1 of 9:").last
    box.evaluate("it => it.scrollTop = 180")
    button(shown, "Next").click()
    shown.get_by_text("Round 2 of 9:").wait_for()
    assert box.evaluate("it => it.scrollTop") == 180


def test_a_saved_notebook_shows_a_still_where_no_kernel_runs(page: Any) -> None:
    shown = live(page, 0)
    assert page.locator(".engine-still:visible").count() == 0  # as long as the widget lives
    # As in a front end that has no such widget.
    shown.evaluate("it => it.classList.remove('engine-live')")
    still = cell(page, 0).locator(".engine-still")
    assert still.is_visible()
    assert still.locator("img").count() >= 6  # a round, and the strip
    shown = cell(page, 0).locator(".widget-container").first
    assert not shown.is_visible()
    shown.evaluate("it => it.classList.add('engine-live')")


def test_a_table_is_taken_apart_live(page: Any) -> None:
    shown = live(page, 4)
    number = shown.get_by_label("young, low")
    number.fill("99")
    number.press("Enter")
    shown.get_by_text("169").first.wait_for()
    shown.get_by_label("age × income").uncheck()
    shown.get_by_text("Without the residuals left out").wait_for()
    shoot(page, "decompose")


def test_hostile_labels_do_nothing_and_no_page_error_happened(page: Any) -> None:
    shown = live(page, 5)
    shown.get_by_text("Explorer ·").wait_for()
    cell(page, 6).get_by_text("private records").wait_for()
    shoot(page, "hostile")
    assert page.evaluate("window.hacked") is None
    assert page.locator("mjx-container, .MathJax").count() == 0
    assert page.locator('.jp-OutputArea img[src="x"]').count() == 0
    assert page.trouble == []
