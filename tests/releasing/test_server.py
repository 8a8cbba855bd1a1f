"""An account on PostgreSQL: the same promises as in a file, against a real server."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.errors import AccountError
from engine.releasing.account import Account, TableAccount
from tests.releasing import kills
from tests.releasing.server import Server
from tests.releasing.test_account import (
    SECRET,
    charge,
    charges,
    check_never_too_little,
    in_children,
    released,
    run_until_killed,
)

sqlalchemy = pytest.importorskip("sqlalchemy")
pytest.importorskip("psycopg")
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.remove()


@pytest.fixture
def account(server: Server) -> TableAccount:
    """An account with one table and a total of 1, in a database of its own."""
    made = Account.create(server.new(f"account{next(_numbers)}"))
    return made.table("people", secret=SECRET, total=1)


def statement(account: TableAccount, *texts: str) -> None:
    """Do something behind the account's back."""
    with account.account.store._engine.begin() as connection:
        for text in texts:
            connection.exec_driver_sql(text)


def test_a_release_is_charged_to_an_account_on_a_server(account: TableAccount) -> None:
    made = released(account)
    assert account.spent == made.receipt.rho_of_a_person == charges(account)
    assert account.unfinished == ()
    assert account.account.verify() == made.receipt.entry[0]
    with pytest.raises(AccountError, match="exists"):
        Account.create(str(account.account.store._engine.url))


def test_an_interrupted_release_is_resumed_from_what_the_server_kept(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.releasing.test_run import PowerError, interrupted_after

    interrupted_after(9, monkeypatch)
    with pytest.raises(PowerError):
        released(account)
    monkeypatch.undo()
    again = released(account, resume=account.unfinished[0])
    assert account.spent == again.receipt.rho_of_a_person + charges(account, "lost")


@pytest.mark.parametrize(
    "text",
    ["UPDATE entries SET rho = '0'", "DELETE FROM entries", "TRUNCATE entries"],
)
def test_entries_are_neither_changed_nor_deleted(account: TableAccount, text: str) -> None:
    with pytest.raises(sqlalchemy.exc.DBAPIError, match="neither changed nor deleted"):
        statement(account, text)
    guarded = "ALTER TABLE entries DISABLE TRIGGER entries_stay"
    statement(account, guarded, text)
    with pytest.raises(AccountError, match="chain is broken"):
        account.account.verify()


def test_two_processes_on_one_server_never_exceed_the_total(account: TableAccount) -> None:
    def begin(_: int) -> int:
        try:
            opened = account.begin(rho=Fraction(3, 10), settings={})
            opened.charge([charge(Fraction(1, 10))] * 2, times=1)
        except engine.BudgetError:
            return 1
        return 0

    assert sorted(in_children(6, begin)) == [0, 0, 0, 1, 1, 1]
    assert account.spent == Fraction(9, 10)
    assert charges(account) == Fraction(6, 10)


@pytest.mark.parametrize("after", [False, True], ids=["before the commit", "after the commit"])
def test_a_connection_lost_while_it_commits_pays_for_nothing_that_is_drawn(
    server: Server, account: TableAccount, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    """Whether the charge arrived is not known: it may stand, and nothing is drawn for it."""
    opened = account.begin(rho=Fraction(1, 2), settings={})
    real = account.account.store._engine.dialect.do_commit

    def lost(connection: Any) -> None:
        if after:
            real(connection)
        server.crash()
        connection.commit()
        raise AssertionError("a lost connection commits nothing")

    monkeypatch.setattr(account.account.store._engine.dialect, "do_commit", lost)
    with pytest.raises((AccountError, AssertionError), match=r"nothing was drawn|lost"):
        opened.charge([charge(Fraction(1, 8))], times=1)
    monkeypatch.undo()
    with pytest.raises(AccountError, match="server be reached"):
        account.account.verify()
    server.start()
    assert charges(account) == (Fraction(1, 8) if after else 0)
    assert account.spent == Fraction(1, 2)


def test_a_server_that_may_forget_is_refused(account: TableAccount, server: Server) -> None:
    statement(account, "SELECT 1")
    with account.account.store._engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.exec_driver_sql("ALTER SYSTEM SET fsync TO off")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
    try:
        for _ in range(200):
            with account.account.store._engine.connect() as connection:
                if connection.exec_driver_sql("SHOW fsync").scalar_one() == "off":
                    break
        with pytest.raises(AccountError, match="fsync off"):
            account.begin(rho=Fraction(1, 2), settings={})
    finally:
        with account.account.store._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.exec_driver_sql("ALTER SYSTEM RESET fsync")
            connection.exec_driver_sql("SELECT pg_reload_conf()")
    server.crash()
    server.start()
    assert account.spent == 0


def killed_at(number: int) -> None:
    """Kill this process before its statement or commit of this number."""
    seen = itertools.count(1)

    def count(*_: Any) -> None:
        if next(seen) >= number:
            os.kill(os.getpid(), signal.SIGKILL)

    sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", count)
    sqlalchemy.event.listen(sqlalchemy.Engine, "commit", count)


def test_a_release_killed_between_statements_is_charged_for_all_it_drew(
    account: TableAccount, tmp_path: Path
) -> None:
    for number in range(9, 180, 40):
        run_until_killed(account, tmp_path / "log", lambda n=number: killed_at(n))
        check_never_too_little(account, tmp_path / "log")
    assert run_until_killed(account, tmp_path / "log", lambda: None)
    check_never_too_little(account, tmp_path / "log")


def test_a_connection_lost_at_a_statement_or_commit_pays_for_all_that_was_drawn(
    server: Server, tmp_path: Path
) -> None:
    numbers = (9, 22, 39, 55)
    address = server.new(f"account{next(_numbers)}")
    assert kills.on_server(address, tmp_path / "log", numbers, kills.lose) == len(numbers)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("mysql://x/y", "cannot be read"), ("://", "cannot be read"),
        ("postgresql://me:hunter2@127.0.0.1:1/none", "server be reached"),
    ],
)  # fmt: skip
def test_an_address_that_leads_nowhere_is_refused_without_its_password(
    where: str, said: str
) -> None:
    with pytest.raises(AccountError, match=said) as caught:
        Account(where)
    assert "hunter2" not in str(caught.value)
