"""One server and one browser for all headless journeys, and what they ask of a page."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
LONGEST = 120_000  # milliseconds: another core may be busy; whatever comes sooner ends the wait
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
_REST = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  const drawn = [...document.querySelectorAll('.vega-embed')]
    .every(chart => chart.querySelector('canvas, svg.marks'));
  const rest = app && app.dataset.testScriptState === "notRunning" && drawn &&
    !document.querySelector('[data-testid="stSkeleton"]');
  const width = document.documentElement.scrollHeight;
  if (!rest || window.restHeight !== width) { window.restSince = 0; window.restHeight = width; }
  const now = performance.now();
  window.restSince ||= now;
  return rest && now - window.restSince > 400;
}"""
"""Whether nothing runs, every chart is drawn and nothing has moved for a while."""
WIDE = (
    "() => [...document.querySelectorAll('.vega-embed, h1, h2, h3, p, button, pre, table')]"
    ".filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    ".filter(e => !e.closest('[data-testid=\"stTopNav\"], .unseen'))"
    ".map(e => e.outerHTML.slice(0, 200))"
)
"""What stands out of the window at the right."""
EMPTY = (
    "() => [...document.querySelectorAll('.vega-embed')]"
    ".filter(e => !e.querySelector('canvas, svg.marks')).length"
)
"""How many charts are none."""


@contextmanager
def serving(script: str, folder: Path) -> Iterator[str]:
    """A server of an app of its own; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, "--server.port", str(port), "--server.fileWatcherType", "none"],
        cwd=folder, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for_server(f"{url}/_stcore/health")
        yield url
    finally:
        server.terminate()
        server.wait(timeout=20)


def _wait_for_server(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError("the app did not start")


@pytest.fixture(scope="package")
def address() -> Iterator[str]:
    with serving("app.py", ROOT) as url:
        yield url


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect.set_options(timeout=LONGEST)
    with playwright.sync_playwright() as p:
        opened = p.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


@contextmanager
def visitor(browser: Any, *, size: dict[str, int] = DESK, scheme: str = "light") -> Iterator[Any]:
    """A page in a context of its own, which keeps what goes wrong in it."""
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    opened = context.new_page()
    opened.set_default_timeout(LONGEST)
    opened.trouble = []
    opened.on("pageerror", lambda error: opened.trouble.append(str(error)))
    opened.on("console", lambda m: opened.trouble.append(m.text) if _is_trouble(m) else None)
    yield opened
    context.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    with visitor(browser) as opened:
        yield opened


def _is_trouble(message: Any) -> bool:
    # Opened by a link, Streamlit first asks for its health below the page's path and gets a 404.
    return message.type == "error" and "404" not in message.text


def settled(page: Any) -> None:
    """Wait until no script runs: a click on what is about to be drawn anew may be lost."""
    page.locator('[data-testid="stApp"]:not([data-test-script-state="running"])').wait_for()


def at_rest(page: Any) -> None:
    """Wait until nothing runs, every chart is drawn and nothing moves any more."""
    page.evaluate("() => { window.restSince = 0; }")
    page.wait_for_function(_REST, polling=100)


def button(page: Any, name: str, *, playing: bool = False) -> Any:
    """A button by the beginning of its name, which its shortcut may follow.

    When nothing runs, unless a run is ``playing``: that goes on by itself, and to its end.
    """
    if not playing:
        settled(page)
    return page.get_by_role("button", name=re.compile(f"^{name}"))


def round_shown(page: Any, number: int) -> None:
    """Wait until a round is the one looked at."""
    page.get_by_text(f"Why round {number} did what it did").wait_for()


def go(page: Any, title: str) -> None:
    """Go to a page by the menu, and wait until it is the one shown."""
    page.get_by_test_id("stTopNavLink").filter(has_text=re.compile(f"{title}$")).click()
    headed = "Private tables, one round at a time" if title == "Start" else title
    page.get_by_test_id("stMain").locator("h1", has_text=re.compile(f"^{headed}$")).wait_for(
        state="attached"
    )


def upload(page: Any, address: str, name: str, data: bytes) -> None:
    """Choose a table of one's own on the Data page."""
    page.goto(f"{address}/data")
    page.get_by_role("radio", name="My own table").click()
    page.get_by_text("Any CSV, Excel or Parquet file").wait_for()
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": data}
    )
    page.get_by_text("Loaded").wait_for()


def use(page: Any) -> None:
    """Let the other pages have the table that was chosen."""
    button(page, "Use this table").click()
    page.get_by_text("Ready: the other pages use this table now.").wait_for()


def sound(page: Any) -> None:
    """Nothing went wrong, neither in the script nor in the browser."""
    body = page.inner_text("body")
    assert "Traceback" not in body
    assert "encountered an error" not in body
    assert page.get_by_test_id("stException").count() == 0
    assert page.trouble == []
