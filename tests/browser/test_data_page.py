"""One journey over the Data page in a headless browser, with real files."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect, sync_playwright

from tests.pages.test_data import HOSTILE, PEOPLE

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SHOTS = os.environ.get("SCREENSHOTS")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "streamlit", "run", "tests/browser/data_app.py",
        "--server.headless=true", f"--server.port={port}", "--server.fileWatcherType=none",
        "--browser.gatherUsageStats=false", "--client.toolbarMode=viewer",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(120):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1):
                    break
            except OSError:
                time.sleep(0.25)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture
def page(server: str) -> Iterator[Page]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(server)
        yield page
        browser.close()
        assert not faults


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.wait_for_timeout(800)
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def upload(page: Page, name: str, data: bytes) -> None:
    choice = page.get_by_role("radio", name="My own table")
    if choice.get_attribute("aria-checked") != "true":
        choice.click()
    expect(page.get_by_text("Any CSV, Excel or Parquet file")).to_be_visible(timeout=30_000)
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": data}
    )
    expect(page.get_by_text("Loaded")).to_be_visible(timeout=30_000)


def test_upload_correct_declare_use_leave_come_back_and_replace(page: Page) -> None:
    expect(page.get_by_role("heading", name="Data", exact=True)).to_be_visible(timeout=30_000)
    upload(page, "people.csv", PEOPLE)
    expect(page.get_by_text("120 rows, 4 columns")).to_be_visible()
    expect(page.get_by_text("things to check")).to_be_visible()

    page.get_by_text("How it was read").click()
    line = page.get_by_label("Last data line")
    line.fill("124")
    line.press("Enter")
    expect(page.get_by_text("121 rows, 4 columns")).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Back to what was found").click()
    expect(page.get_by_text("120 rows, 4 columns")).to_be_visible(timeout=30_000)

    values = page.get_by_role("textbox", name="Its values, one a line, in order")
    expect(values).to_have_count(
        1, timeout=30_000
    )  # the one before stands until the script is done
    values.fill("m\nf\nunknown")
    values.press("Control+Enter")
    expect(page.get_by_text("3 values", exact=True)).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Use this table").click()
    expect(page.get_by_text("Ready: the other pages use this table now.")).to_be_visible(
        timeout=30_000
    )

    page.get_by_role("link", name="Elsewhere").click()
    expect(page.get_by_text("Table: yes")).to_be_visible(timeout=30_000)
    page.get_by_role("link", name="Data", exact=True).click()
    expect(page.get_by_text("120 rows, 4 columns")).to_be_visible(timeout=30_000)
    expect(values).to_have_value("m\nf\nunknown")

    page.get_by_role("button", name="Replace").click()
    upload(page, "again.csv", b"a,b\nx,1\ny,2\nx,3\n")
    expect(page.get_by_text("3 rows, 2 columns")).to_be_visible()


def test_hostile_text_stays_text(page: Page) -> None:
    upload(page, "<img src=x onerror=alert(1)>.csv", HOSTILE)
    expect(page.get_by_text("8 rows, 17 columns")).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    assert page.locator(".katex").count() == 0


@pytest.mark.skipif(not SHOTS, reason="set SCREENSHOTS to a folder to take them")
def test_screenshots(page: Page) -> None:
    expect(page.get_by_role("heading", name="Data", exact=True)).to_be_visible(timeout=30_000)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.reload()
            expect(page.get_by_text("My own table", exact=True)).to_be_visible(timeout=30_000)
            shoot(page, f"{scheme}_{width}_example")
            upload(page, "people.csv", PEOPLE)
            expect(page.get_by_role("button", name="Use this table")).to_be_visible(timeout=30_000)
            page.get_by_text("How it was read").click()
            page.set_viewport_size({"width": width, "height": 3000})
            shoot(page, f"{scheme}_{width}_own")
