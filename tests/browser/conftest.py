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
from typing import Any

import pytest

from tests.support import ROOT

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="package")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, "--server.port", str(port)], cwd=ROOT, env=os.environ,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for_server(f"{url}/_stcore/health")
        yield url
    finally:
        server.terminate()
        server.wait(timeout=20)


def wait_for_server(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError("the app did not start")


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        opened = p.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(90_000)  # the other core runs other tests
    opened.trouble = []
    opened.on("pageerror", lambda error: opened.trouble.append(str(error)))
    opened.on("console", lambda m: opened.trouble.append(m.text) if _is_trouble(m) else None)
    yield opened
    context.close()


def _is_trouble(message: Any) -> bool:
    # Opened by a link, Streamlit first asks for its health below the page's path and gets a 404.
    return message.type == "error" and "404" not in message.text


def settled(page: Any) -> None:
    """Wait until no script runs: a click on what is about to be drawn anew may be lost."""
    page.locator('[data-testid="stApp"]:not([data-test-script-state="running"])').wait_for()


def button(page: Any, name: str, *, playing: bool = False) -> Any:
    """A button by the beginning of its name, which its shortcut may follow.

    When nothing runs, unless a run is ``playing``: that goes on by itself, and to its end.
    """
    if not playing:
        settled(page)
    return page.get_by_role("button", name=re.compile(f"^{name}"))


def sound(page: Any) -> None:
    body = page.inner_text("body")
    assert "Traceback" not in body
    assert "encountered an error" not in body
    assert page.trouble == []
