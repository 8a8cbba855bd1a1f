"""The account never says less than was drawn, whatever happens to the process or the file (T10)."""

# Over 400 lines: one account; every attack on it needs the same ways to break a file.

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.errors import AccountError
from engine.exact_noise import ExactNoise, GridScores
from engine.releasing import chain, store
from engine.releasing.account import Account, TableAccount
from engine.releasing.run import release
from tests.support import make_domain

SECRET = "a secret of the custodian"


@pytest.fixture
def account(tmp_path: Path) -> TableAccount:
    """An account with one table and a total of 1."""
    return Account.create(tmp_path / "account.db").table("people", secret=SECRET, total=1)


def small() -> tuple[engine.Table, engine.Workload]:
    """A small table and all pairs."""
    domain = make_domain([3, 2, 2])
    codes = [[k % 3, k % 2, (k // 2) % 2] for k in range(40)]
    return engine.Table.from_codes(codes, domain), engine.Workload.all_kway(domain, 2)


def released(account: TableAccount, **options: Any) -> Any:
    """A release of the small table."""
    table, workload = small()
    mechanism = options.pop("mechanism", engine.AimGrem(finish="rounds"))
    given = {"epsilon": 1.0, "delta": 1e-9, **options}
    return release(mechanism, table, workload, account=account, **given)


def charges(account: TableAccount, *kinds: str) -> Fraction:
    """The sum of all entries of these kinds."""
    entries = account.account.entries()
    return sum((e.rho for e in entries if e.kind in (kinds or ("charge", "lost"))), Fraction(0))


def charge(rho: Fraction) -> engine.Charge:
    """A charge of so much."""
    return engine.Charge("measure", (0,), rho)


# -- what it says ----------------------------------------------------------------------------------


def test_a_table_is_known_by_a_hash_of_its_name_and_a_secret_never_by_its_rows(
    account: TableAccount,
) -> None:
    again = account.account.table("people", secret=SECRET)
    assert again.table_id == account.table_id
    assert len(account.table_id) == 64
    other = account.account.table("people", secret=SECRET + "2", total=1)
    assert other.table_id != account.table_id
    with pytest.raises(AccountError, match="does not know"):
        account.account.table("persons", secret=SECRET)
    with pytest.raises(AccountError, match="too short"):
        account.account.table("people", secret="short")
    content = account.account.path.read_bytes()
    assert SECRET.encode() not in content


def test_a_missing_account_is_refused_and_never_made_anew(tmp_path: Path) -> None:
    with pytest.raises(AccountError, match="no account"):
        Account(tmp_path / "account.db")
    assert not (tmp_path / "account.db").exists()
    Account.create(tmp_path / "account.db")
    with pytest.raises(AccountError, match="already"):
        Account.create(tmp_path / "account.db")
    with pytest.raises(AccountError, match="another folder"):
        Account.create(tmp_path / "nowhere" / "account.db")


def test_an_open_release_counts_all_it_may_spend_and_a_closed_one_what_it_spent(
    account: TableAccount,
) -> None:
    opened = account.begin(rho=Fraction(1, 2), settings={})
    assert account.spent == Fraction(1, 2)
    assert account.unfinished == (opened.release,)
    opened.charge([charge(Fraction(1, 8))], times=2)
    assert account.spent == Fraction(1, 2)
    opened.close(spent=Fraction(1, 4))
    assert account.spent == Fraction(1, 4)
    assert account.left == Fraction(3, 4)
    assert account.unfinished == ()
    # A new total replaces the old one; both stay in the account.
    account.account.table("people", secret=SECRET, total=2)
    assert account.left == Fraction(7, 4)
    assert [e.rho for e in account.account.entries() if e.kind == "table"] == [1, 2]


def test_more_than_the_total_is_refused_before_noise_is_drawn(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.begin(rho=Fraction(999, 1000), settings={})
    monkeypatch.setattr(ExactNoise, "_spend", lambda *_: pytest.fail("drawn"))
    with pytest.raises(engine.BudgetError) as caught:
        released(account)
    assert caught.value.code == "E_OVERSPEND"
    assert len(account.unfinished) == 1


def test_more_than_was_reserved_is_refused(account: TableAccount) -> None:
    opened = account.begin(rho=Fraction(1, 4), settings={})
    opened.charge([charge(Fraction(1, 8))], times=1)
    with pytest.raises(engine.BudgetError):
        opened.charge([charge(Fraction(1, 16))], times=4)
    opened.charge([charge(Fraction(1, 8))], times=1)
    with pytest.raises(AccountError, match="report this"):
        opened.close(spent=Fraction(1, 8))
    account.abandon(opened.release)
    assert account.spent == Fraction(1, 4)
    with pytest.raises(AccountError, match="has ended"):
        opened.charge([charge(Fraction(0))], times=1)


def test_a_person_with_several_rows_is_accounted_for_all_of_them(account: TableAccount) -> None:
    table, _ = small()
    domain = engine.Domain(table.domain.attributes, rows_per_person=3)
    table = engine.Table.from_codes(table.codes.T, domain)
    made = release(
        engine.ResidualPlanner(), table, engine.Workload.all_kway(domain, 1),
        epsilon=1.0, delta=1e-9, account=account,
    )  # fmt: skip
    assert account.spent == 9 * made.release.ledger.spent == made.receipt.rho_of_a_person
    assert account.spent <= Fraction(engine.rho_from(epsilon=1.0, delta=1e-9))


# -- files that are not as they were ---------------------------------------------------------------


def edited(path: Path, *statements: str) -> None:
    """Change the file behind the account's back."""
    with sqlite3.connect(path) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


UNGUARDED = ("DROP TRIGGER entries_stay", "DROP TRIGGER entries_remain")


@pytest.mark.parametrize(
    "statements",
    [
        ("UPDATE entries SET rho = '0' WHERE kind = 'charge'",),
        ("UPDATE entries SET release = 'x' WHERE number = 3",),
        ("UPDATE entries SET written = '1970' WHERE number = 3",),
        ("UPDATE entries SET note = 'x' WHERE number = 3",),
        ("UPDATE entries SET rho = '1/0' WHERE number = 3",),
        ("DELETE FROM entries WHERE number = 3",),
        ("DELETE FROM entries WHERE number = (SELECT MAX(number) FROM entries)",),
        ("DELETE FROM entries",),
        ("DELETE FROM entries", "DELETE FROM head"),
        ("UPDATE head SET number = number - 1",),
        ("UPDATE head SET format = 'other'",),
    ],
)
def test_an_edited_account_is_refused(account: TableAccount, statements: tuple[str, ...]) -> None:
    released(account)
    edited(account.account.path, *UNGUARDED, *statements)
    with pytest.raises(AccountError) as caught:
        Account(account.account.path)
    assert caught.value.code == "E_ACCOUNT"
    with pytest.raises(AccountError):
        released(account)


def test_entries_are_neither_changed_nor_deleted_by_accident(account: TableAccount) -> None:
    for statement in ("UPDATE entries SET rho = '0'", "DELETE FROM entries"):
        with pytest.raises(sqlite3.IntegrityError):
            edited(account.account.path, statement)


@pytest.mark.parametrize("kept", [0, 1, 100, 4096, 5000, 9000])
def test_a_torn_account_is_refused(
    account: TableAccount, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    released(account)
    path = account.account.path
    path.write_bytes(path.read_bytes()[:kept])
    monkeypatch.setattr(store, "_WAIT", 0.1)
    with pytest.raises(AccountError):
        Account(path)


def test_an_overwritten_page_is_refused(account: TableAccount) -> None:
    released(account)
    path = account.account.path
    content = bytearray(path.read_bytes())
    at = content.index(b'"charges"')
    content[at + 30 : at + 60] = b"\x00" * 30
    path.write_bytes(content)
    with pytest.raises(AccountError):
        Account(path)


@pytest.mark.parametrize("when", ["1970-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"])
def test_clock_jumps_change_nothing(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    class Clock:
        @staticmethod
        def now(_: object) -> Any:
            return type("Then", (), {"isoformat": lambda self, timespec: when})()

    opened = account.begin(rho=Fraction(1, 4), settings={})
    monkeypatch.setattr(chain, "datetime", Clock)
    opened.charge([charge(Fraction(1, 8))], times=1)
    monkeypatch.undo()
    opened.close(spent=Fraction(1, 8))
    assert Account(account.account.path).verify() == 4
    assert account.spent == Fraction(1, 8)


# -- disks and other processes ---------------------------------------------------------------------


def with_connection(monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any]) -> None:
    """Open the file otherwise from now on."""
    connect = sqlite3.connect
    monkeypatch.setattr(
        store.sqlite3, "connect", lambda *args, **kwargs: change(connect, *args, **kwargs)
    )


def test_a_full_disk_stops_a_release_before_noise_is_drawn(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = account.begin(rho=Fraction(1, 2), settings={})
    pages = account.account.path.stat().st_size // 4096

    def full(connect: Any, *args: Any, **kwargs: Any) -> sqlite3.Connection:
        database: sqlite3.Connection = connect(*args, **kwargs)
        database.execute(f"PRAGMA max_page_count = {pages}")
        return database

    with_connection(monkeypatch, full)

    def charge_on() -> None:
        for _ in range(100):
            opened.charge([charge(Fraction(1, 10**6))] * 20, times=1)

    with pytest.raises(AccountError, match="full"):
        charge_on()
    monkeypatch.undo()
    assert account.account.verify() >= 2
    assert charges(account) < Fraction(1, 2)
    spends = []
    spend = ExactNoise._spend
    monkeypatch.setattr(ExactNoise, "_spend", lambda s, rho: spends.append(rho) or spend(s, rho))
    with_connection(monkeypatch, full)
    with pytest.raises(AccountError):
        released(account, epsilon=0.5, mechanism=engine.EqualSplit())
    monkeypatch.undo()
    assert sum(spends, Fraction(0)) <= charges(account)


def test_a_folder_that_cannot_be_written_stops_a_release(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_connection(
        monkeypatch, lambda connect, name, **kw: connect(name.replace("mode=rw", "mode=ro"), **kw)
    )
    monkeypatch.setattr(ExactNoise, "_spend", lambda *_: pytest.fail("drawn"))
    with pytest.raises(AccountError, match="readonly"):
        released(account)
    assert account.account.verify() == 1


def in_children(count: int, work: Callable[[int], int]) -> list[int]:
    """Run in forked processes at once; their exit codes."""
    children = []
    for k in range(count):
        child = os.fork()
        if child == 0:
            code = 99
            try:
                code = work(k)
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def test_two_processes_on_one_account_never_exceed_its_total(account: TableAccount) -> None:
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


def test_whoever_lost_a_release_to_another_can_no_longer_charge_to_it(
    account: TableAccount,
) -> None:
    first = account.begin(rho=Fraction(1, 2), settings={})
    second = account.resume(first.release)
    with pytest.raises(AccountError) as caught:
        first.charge([charge(Fraction(1, 8))], times=1)
    assert caught.value.code == "E_LOCKED"
    second.charge([charge(Fraction(1, 8))], times=1)
    assert charges(account) == Fraction(1, 8)


# -- kill -9 ---------------------------------------------------------------------------------------


def spends_into(log: Path) -> None:
    """Write down, from now on, what each draw costs before it is made; repeated ones are none."""
    noisy, choose = ExactNoise.noisy, ExactNoise.choose_exactly

    def told_noisy(self: Any, exact: Any, *, variance: Fraction, sensitivity: int) -> Any:
        with log.open("a") as out:
            out.write(f"{sensitivity / (2 * variance)}\n")
        return noisy(self, exact, variance=variance, sensitivity=sensitivity)

    def told_choose(self: Any, scores: GridScores) -> int:
        with log.open("a") as out:
            out.write(f"{scores.rho}\n")
        return choose(self, scores)

    ExactNoise.noisy = told_noisy  # type: ignore[method-assign]
    ExactNoise.choose_exactly = told_choose  # type: ignore[method-assign]


def drawn(log: Path) -> Fraction:
    """What the draws of all processes cost."""
    lines = log.read_text().split("\n") if log.exists() else []
    return sum((Fraction(line) for line in lines if line), Fraction(0))


def killed_after(statements: int) -> None:
    """Kill this process at a statement of SQL: before it if the number is odd, else after it."""
    connect, seen = sqlite3.connect, [0]

    def fatal(statement: Callable[..., Any], *args: Any) -> Any:
        seen[0] += 1
        if seen[0] > statements // 2 and statements % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        done = statement(*args)
        if seen[0] > statements // 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    class Cursor(sqlite3.Cursor):
        def execute(self, *args: Any) -> Any:
            return fatal(super().execute, *args)

        def executemany(self, *args: Any) -> Any:
            return fatal(super().executemany, *args)

    class Fatal(sqlite3.Connection):
        def cursor(self, *_: Any) -> Any:
            return super().cursor(Cursor)

        def commit(self) -> None:
            fatal(super().commit)

    store.sqlite3.connect = lambda *a, **kw: connect(*a, **{**kw, "factory": Fatal})  # type: ignore


def run_until_killed(account: TableAccount, log: Path, prepare: Callable[[], None]) -> bool:
    """A release in a process that may be killed; whether it came to its end."""

    def work(_: int) -> int:
        spends_into(log)
        prepare()
        open_ones = account.unfinished
        released(account, epsilon=0.1, resume=open_ones[0] if open_ones else None)
        return 0

    (code,) = in_children(1, work)
    assert code in (0, -signal.SIGKILL)
    return code == 0


def check_never_too_little(account: TableAccount, log: Path) -> None:
    """The account holds at least what was drawn, its chain fits, and no token was charged twice."""
    entries = account.account.entries()
    assert charges(account) >= drawn(log), "drawn before it was charged"
    assert account.spent >= charges(account)
    assert len({e.hash for e in entries}) == len(entries)


def kill_at_statements(account: TableAccount, log: Path, numbers: range) -> int:
    finished = 0
    for number in numbers:
        finished += run_until_killed(account, log, lambda n=number: killed_after(n))
        check_never_too_little(account, log)
    return finished


def test_a_release_killed_at_any_statement_is_charged_for_all_it_drew(
    account: TableAccount, tmp_path: Path
) -> None:
    kill_at_statements(account, tmp_path / "log", range(9, 180, 17))
    # Then it can be finished, at a little more than it would have cost.
    assert run_until_killed(account, tmp_path / "log", lambda: None)
    check_never_too_little(account, tmp_path / "log")
    assert account.unfinished == ()


def test_charging_after_the_draw_is_seen_by_the_kill_loop(
    account: TableAccount, tmp_path: Path
) -> None:
    """The same loop on an account that writes too late: it has teeth."""

    def late() -> None:
        from engine.releasing.account import OpenRelease

        calls = []

        def never(self: Any, charges: Any, *, times: int, drawn: Any = ()) -> None:
            calls.append((self, charges, times, drawn))
            if len(calls) == 3:
                os.kill(os.getpid(), signal.SIGKILL)

        OpenRelease.charge = never  # type: ignore[method-assign]

    run_until_killed(account, tmp_path / "log", late)
    with pytest.raises(AssertionError, match="drawn before it was charged"):
        check_never_too_little(account, tmp_path / "log")
