"""A few of what ``python -m tests.releasing.kills`` does to releases and their disk (T10)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from engine.releasing.account import Account, TableAccount
from tests.releasing import kills, syscalls
from tests.releasing.test_account import SECRET, check_never_too_little, released


@pytest.fixture
def account(tmp_path: Path) -> TableAccount:
    made = Account.create(tmp_path / "account.db")
    return made.table("people", secret=SECRET, total=1000)


def test_kills_at_random_leave_the_account_right(account: TableAccount, tmp_path: Path) -> None:
    assert kills.kill_at_random(account, tmp_path / "log", 8), "no kill found a release half done"
    kills.settled(account, tmp_path / "log")


@pytest.mark.parametrize(
    ("call", "numbers"),
    [("pwrite64", (17, 48)), ("fdatasync", (6,)), ("unlink", (1, 3))],
)
def test_kills_before_a_call_that_writes_leave_the_account_right(
    account: TableAccount, tmp_path: Path, call: str, numbers: tuple[int, ...]
) -> None:
    syscalls.require()
    killed = kills.kill_at_calls(account, tmp_path / "log", call, numbers)
    assert killed == len(numbers), "not one came so far"
    kills.settled(account, tmp_path / "log")


@pytest.mark.parametrize(("call", "number"), [("getrandom", 60), ("fcntl", 50), ("openat", 20)])
def test_kills_before_any_other_call_leave_the_account_right(call: str, number: int) -> None:
    syscalls.require()
    account, log = kills.fresh()
    work = kills.small_release(account, log)
    code, _ = syscalls.happening(f"{call}:signal=KILL:when={number}", work)
    assert code == -signal.SIGKILL, "it did not come so far"
    check_never_too_little(account, log)
    kills.settled(account, log)


@pytest.mark.parametrize(
    ("call", "error", "numbers"),
    [("pwrite64", "ENOSPC", (30,)), ("fdatasync", "EIO", (7,)), ("unlink", "EROFS", (1,))],
)
def test_a_disk_that_fails_stops_a_release_before_it_draws_unpaid(
    account: TableAccount, tmp_path: Path, call: str, error: str, numbers: tuple[int, ...]
) -> None:
    syscalls.require()
    refused = kills.fail_calls(account, tmp_path / "log", call, error, numbers)
    assert refused == len(numbers)
    # Once the disk is well again the release goes on.
    if account.unfinished:
        released(account, epsilon=0.1, resume=account.unfinished[0])
    kills.settled(account, tmp_path / "log")


def test_these_loops_see_an_account_that_does_not_flush_before_it_draws(
    account: TableAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have teeth: a charge that is only promised is missed after the kill."""
    from engine.releasing.account import OpenRelease

    monkeypatch.setattr(OpenRelease, "charge", lambda *_, **__: None)
    syscalls.require()
    work = kills.one_release(account, tmp_path / "log")
    syscalls.happening("unlink:signal=KILL:when=2", work)
    with pytest.raises(AssertionError, match="drawn before it was charged"):
        check_never_too_little(account, tmp_path / "log")


def test_what_is_killed_is_killed_before_the_call_and_not_after(
    account: TableAccount, tmp_path: Path
) -> None:
    syscalls.require()
    before = account.account.entries()
    work = kills.one_release(account, tmp_path / "log")
    syscalls.happening("unlink:signal=KILL:when=1", work)
    # The journal's end is the commit: without it the reservation never happened.
    assert account.account.entries() == before
    check_never_too_little(account, tmp_path / "log")
