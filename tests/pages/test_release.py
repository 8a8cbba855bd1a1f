"""The Release page: it asks for everything, charges an account, and shows no true value."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.releasing.account import Account
from engine.releasing.run import CancelledError
from pages.parts.releasing import account, asked, running
from tests.pages.conftest import texts

SECRET = "a secret of the custodian"
DOMAIN = {
    "format": "aim-grem-domain/1",
    "title": "Pets",
    "row": "one household",
    "attributes": [
        {"name": "animal", "values": ["cat", "dog", "quokka"]},
        {"name": "garden", "values": ["no", "yes"]},
    ],
}
ROWS = "animal,garden\n" + "cat,no\ndog,yes\n" * 30 + "quokka,yes\n"


@pytest.fixture
def page(app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(account.FILE, str(tmp_path / "accounts" / "account.db"))
    monkeypatch.delenv(account.SECRET, raising=False)
    app.switch_page("pages/release.py").run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    kinds = (*app.caption, *app.info, *app.warning, *app.error, *app.success, *app.code)
    return "\n".join([texts(app), *(str(e.value) for e in kinds)]).replace("\\", "")


def give(page: AppTest, domain: Any = DOMAIN, rows: str = ROWS) -> None:
    """Choose both files."""
    declared = json.dumps(domain).encode()
    page.file_uploader(key="release_domain").set_value(("d.json", declared, "application/json"))
    page.file_uploader(key="release_file").set_value(("pets.csv", rows.encode(), "text/csv"))
    page.run()
    assert not page.exception


def open_account(page: AppTest) -> None:
    """Make an account and open one for the table."""
    page.button(key="release_make_account").click().run()
    page.text_input(key="release_name").set_value("pets")
    page.text_input(key="release_secret").set_value(SECRET).run()
    page.button(key="release_open_table").click().run()
    assert not page.exception


def tick(page: AppTest) -> None:
    for box in page.checkbox:
        if str(box.key).startswith("release_tick"):
            box.set_value(True)
    page.run()


def release(page: AppTest) -> None:
    """All the way to the end."""
    tick(page)
    page.button(key="release_start").click().run()
    job = page.session_state["release_job"]
    assert job.wait(60)
    page.run()
    assert not page.exception


def test_a_table_of_one_s_own_is_released_checked_and_told_in_words(
    page: AppTest, tmp_path: Path
) -> None:
    assert "A release needs both" in shown(page)
    give(page)
    assert "2 declared attributes" in shown(page)
    assert "moves that belief from **10 %** to **at most 23.2 %**" in shown(page)
    assert "There is no account yet" in shown(page)
    open_account(page)
    assert page.button(key="release_start").disabled, "nothing is confirmed"
    release(page)
    assert running.FINISHED in shown(page)
    made = page.session_state["release_job"].done[0]
    said = page.code[0].value
    assert "(1, 1e-9)-differential privacy for a person with one row" in said
    assert "one household" in said
    assert "quokka" not in shown(page)
    kept = Account(tmp_path / "accounts" / "account.db")
    (table,) = kept.tables()
    assert table.spent == made.receipt.rho_of_a_person > 0
    assert table.unfinished == ()
    assert page.get("download_button")[0].proto.label == "Download the bundle"


def test_a_session_that_released_a_table_shows_no_rows_of_one_until_it_is_public(
    page: AppTest,
) -> None:
    give(page)
    open_account(page)
    release(page)
    page.switch_page("pages/data.py").run()
    page.segmented_control(key="data_kind").set_value("own").run()
    assert not [f for f in page.file_uploader if str(f.key).startswith("file_")]
    assert "no rows of one are shown" in shown(page)
    page.text_input(key="public_words").set_value("yes")
    page.button[[b.label for b in page.button].index("It is public")].click().run()
    assert "in words" in shown(page)
    page.text_input(key="public_words").set_value("published by the zoo in 1994")
    page.button[[b.label for b in page.button].index("It is public")].click().run()
    assert [f for f in page.file_uploader if str(f.key).startswith("file_")]


def test_another_tab_shows_no_rows_of_the_very_file_that_was_released(
    page: AppTest, app_again: AppTest
) -> None:
    give(page)
    open_account(page)
    release(page)
    app_again.switch_page("pages/data.py").run()
    app_again.segmented_control(key="data_kind").set_value("own").run()
    app_again.file_uploader(key="file_0").set_value(("p.csv", ROWS.encode(), "text/csv")).run()
    assert "This very file was released" in shown(app_again)
    assert "quokka" not in shown(app_again)
    assert not app_again.dataframe
    # Another file of the same kind is looked at as ever.
    other = ROWS.replace("quokka", "wombat").encode()
    app_again.file_uploader(key="file_0").set_value(("p.csv", other, "text/csv")).run()
    assert "wombat" in shown(app_again) + str([d.value for d in app_again.dataframe])


def test_a_receipt_says_if_another_tab_has_shown_the_file(
    page: AppTest, app_again: AppTest
) -> None:
    app_again.switch_page("pages/data.py").run()
    app_again.segmented_control(key="data_kind").set_value("own").run()
    app_again.file_uploader(key="file_0").set_value(("p.csv", ROWS.encode(), "text/csv")).run()
    give(page)
    open_account(page)
    release(page)
    assert page.session_state["release_job"].done[0].receipt.looked
    assert "had been looked at" in page.code[0].value


def test_a_session_that_showed_rows_releases_none(page: AppTest) -> None:
    page.switch_page("pages/data.py").run()
    page.segmented_control(key="data_kind").set_value("own").run()
    page.file_uploader(key="file_0").set_value(("pets.csv", ROWS.encode(), "text/csv")).run()
    page.switch_page("pages/release.py").run()
    assert "has shown rows of a table of your own" in shown(page)
    assert not page.file_uploader
    page.text_input(key="public_words").set_value("published by the zoo in 1994")
    page.button[[b.label for b in page.button].index("It is public")].click().run()
    assert page.file_uploader(key="release_file") is not None


def test_an_example_is_released_without_closing_any_page(page: AppTest) -> None:
    page.segmented_control(key="release_kind").set_value(asked.SAMPLE).run()
    page.selectbox(key="release_sample").set_value("titanic").run()
    open_account(page)
    release(page)
    assert running.FINISHED in shown(page)
    assert page.session_state["release_job"].done[0].release.demonstration == ()
    for name in ("data", "rounds", "marginals"):
        page.switch_page(f"pages/{name}.py").run()
        assert not page.exception, name
    page.switch_page("pages/release.py").run()
    page.button(key="release_again").click().run()
    page.text_input(key="release_secret").set_value(SECRET).run()
    assert "So far ρ" in "".join(p.proto.text for p in page.get("progress"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attributes": [{"name": "animal", "values": ["cat"], "source": "data"}]},
         "were read from the records"),
        ({"attributes": [{"name": "fish", "values": ["cod"]}]}, "fish"),
        ([1, 2], "is no JSON object"),
    ],
)  # fmt: skip
def test_what_cannot_be_released_is_refused_in_words(page: AppTest, change: Any, said: str) -> None:
    give(page, {**DOMAIN, **change} if isinstance(change, dict) else change)
    assert said in shown(page)
    assert "quokka" not in shown(page)
    assert "account" not in {str(b.key) for b in page.button}


def test_more_than_the_account_has_left_cannot_be_started(page: AppTest) -> None:
    give(page)
    open_account(page)
    page.number_input(key="release_epsilon").set_value(3.0).run()
    tick(page)
    assert "is left, so this release would be refused" in shown(page)
    assert page.button(key="release_start").disabled


def test_a_wrong_secret_opens_no_second_account_unseen(page: AppTest) -> None:
    give(page)
    open_account(page)
    page.text_input(key="release_secret").set_value("another secret, mistyped").run()
    assert "with another secret" in shown(page)
    assert "release_start" not in {str(b.key) for b in page.button}


def test_an_interrupted_release_is_offered_and_ended(page: AppTest, tmp_path: Path) -> None:
    give(page)
    open_account(page)
    table = Account(tmp_path / "accounts" / "account.db").table("pets", secret=SECRET)
    opened = table.begin(rho=table.total / 4, settings={})
    page.run()
    assert f"The release {opened.release[:8]}… is open" in shown(page)
    page.button(key=f"abandon_{opened.release}").click().run()
    assert table.unfinished == ()


def test_a_release_is_cancelled_and_its_account_stays_right(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker asks after each step; the page says what the account says."""
    reached, go_on, real = threading.Event(), threading.Event(), engine.release

    def slowly(*args: Any, progress: Any, **more: Any) -> Any:
        def told(share: float, event: Any) -> None:
            progress(share, event)
            reached.set()
            assert go_on.wait(30)

        return real(*args, progress=told, **more)

    monkeypatch.setattr(engine, "release", slowly)
    give(page)
    open_account(page)
    page.selectbox(key="release_mechanism").set_value("aim_grem_rounds").run()
    tick(page)
    page.button(key="release_start").click().run()
    assert reached.wait(30)
    page.run()
    assert "budget spent" in "".join(p.proto.text for p in page.get("progress"))
    page.button(key="release_cancel").click()
    job = page.session_state["release_job"]
    job.cancel()
    go_on.set()
    assert job.wait(30)
    page.run()
    assert str(CancelledError()) in shown(page)
    table = Account(tmp_path / "accounts" / "account.db").table("pets", secret=SECRET)
    charged = [e.rho for e in table.account.entries() if e.kind == "charge"]
    assert table.unfinished == ()
    assert 0 < table.spent == sum(charged)
