"""A release by hand: files, account, checklist, start, bundle; its rows are on no page."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import button, serving, settled, sound
from tests.pages.test_release import DOMAIN, ROWS, SECRET
from tests.support import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own: the operator has set an account."""
    account = tmp_path_factory.mktemp("release") / "account" / "account.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIM_GREM_ACCOUNT", str(account))
        with serving("app.py", ROOT) as url:
            yield url


def give(page: Any, which: int, name: str, content: str) -> None:
    """Choose a file."""
    settled(page)
    page.locator("input[type=file]").nth(which).set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": content.encode()}
    )


def test_a_table_is_released_by_hand_and_none_of_its_rows_is_seen(
    address: str, page: Any, tmp_path: Path
) -> None:
    received: list[str] = []
    page.on("websocket", lambda ws: ws.on("framereceived", lambda f: received.append(str(f))))
    page.goto(f"{address}/release")
    page.get_by_role("heading", name="Release", exact=True).wait_for()
    give(page, 0, "pets.domain.json", json.dumps(DOMAIN))
    page.get_by_text("pets.domain.json").wait_for()
    give(page, 1, "pets.csv", ROWS)
    page.get_by_text("No row of it is shown").wait_for()
    button(page, "Make an account").click()
    secret = page.get_by_role("textbox", name="The custodian's secret")
    secret.fill(SECRET)
    secret.press("Enter")
    button(page, "Open an account for this table").click()
    page.get_by_text("So far ρ = 0 of").wait_for()
    boxes = page.get_by_test_id("stMain").get_by_test_id("stCheckbox").locator("label")
    for k in range(5):
        settled(page)
        boxes.nth(k).click()
        page.get_by_role("checkbox", checked=True).nth(k).wait_for()
    page.get_by_test_id("stMain").get_by_role("button", name="Release", exact=True).click()
    page.get_by_text("The release is made").wait_for()
    page.get_by_text("We released 1 marginal of").wait_for()
    with page.expect_download() as taken:
        button(page, "Download the bundle").click()
    with zipfile.ZipFile(io.BytesIO(Path(taken.value.path()).read_bytes())) as bundle:
        bundle.extractall(tmp_path)
    checked = subprocess.run(
        [sys.executable, "-I", str(tmp_path / "verify.py"), str(tmp_path)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert checked.stdout.startswith("GOOD"), checked.stderr
    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("radio", name="My own table").click()
    page.get_by_text("no rows of one are shown").wait_for()
    assert page.locator("input[type=file]").count() == 0
    sound(page)
    # Neither a value of the table nor the number of its rows came over the wire.
    everything = "".join(received)
    assert "animal" in everything, "frames are read"
    assert "quokka" not in everything
    assert f"{len(ROWS.splitlines()) - 1}" not in page.inner_text("body")
