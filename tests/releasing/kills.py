"""Kill releases, and fail their disk, again and again; the account never says too little.

    python -m tests.releasing.kills

Kills at random, before and after every statement, and before every call of the operating system
that writes, flushes or ends a journal; then a full disk, a failing disk and a read-only one at each
of these calls. A quarter of an hour on two cores; the tests run a few of each.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np

import engine
from engine.releasing.account import Account, TableAccount
from tests.releasing import syscalls
from tests.releasing.test_account import (
    SECRET,
    check_never_too_little,
    kill_at_statements,
    released,
    spends_into,
)

REFUSED = 7
MOST = {"pwrite64": 90, "fdatasync": 20, "unlink": 4}
"""Calls of each kind from a release's first reservation to its second charge."""
ERRORS = {"pwrite64": ("ENOSPC", "EIO", "EROFS"), "fdatasync": ("EIO",), "unlink": ("EROFS",)}


def one_release(account: TableAccount, log: Path) -> Callable[[], int]:
    """Go on with what is open, or begin; what it draws is written down."""

    def work() -> int:
        spends_into(log)
        open_ones = account.unfinished
        try:
            released(account, epsilon=0.1, resume=open_ones[0] if open_ones else None)
        except engine.AccountError:
            return REFUSED
        return 0

    return work


def kill_at_random(account: TableAccount, log: Path, times: int) -> int:
    """Kill after so many random moments of a release; how many found one half done."""
    rng, longest, half_done = np.random.default_rng(), 1.2 * seconds_of_a_release(), 0
    for _ in range(times):
        before = len(account.account.entries())
        child = os.fork()
        if child == 0:
            os._exit(one_release(account, log)())
        time.sleep(float(rng.uniform(0.0, longest)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        check_never_too_little(account, log)
        got_on = len(account.account.entries()) > before
        half_done += got_on and bool(account.unfinished)
    return half_done


def seconds_of_a_release() -> float:
    """How long a child needs, once everything is imported here: a kill before it begins is none."""
    account, log = fresh()
    for _ in range(2):
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            os._exit(one_release(account, log)())
        assert os.waitpid(child, 0)[1] == 0
        took = time.monotonic() - begun
        released(account, epsilon=0.1)  # here too: the next child finds everything imported
    return took


def kill_at_calls(account: TableAccount, log: Path, call: str, numbers: Iterable[int]) -> int:
    """Kill before each of these calls; how often it came so far."""
    killed = 0
    for number in numbers:
        what = f"{call}:signal=KILL:when={number}"
        code, _ = syscalls.happening(what, one_release(account, log))
        assert code in (0, -signal.SIGKILL)
        killed += code != 0
        check_never_too_little(account, log)
    return killed


def fail_calls(
    account: TableAccount, log: Path, call: str, error: str, numbers: Iterable[int]
) -> int:
    """Let each of these calls, and all that follow, fail; how often the release was refused."""
    refused = 0
    for number in numbers:
        what = f"{call}:error={error}:when={number}+"
        code, _ = syscalls.happening(what, one_release(account, log))
        assert code in (0, REFUSED), f"{what} ended in {code}"
        refused += code == REFUSED
        check_never_too_little(account, log)
    return refused


def fresh() -> tuple[TableAccount, Path]:
    """An account in a new folder, with a log beside it."""
    folder = Path(tempfile.mkdtemp())
    account = Account.create(folder / "account.db")
    return account.table("people", secret=SECRET, total=1000), folder / "log"


def settled(account: TableAccount, log: Path) -> None:
    """All that is open ends; then the account is what was charged."""
    for release in account.unfinished:
        account.abandon(release)
    check_never_too_little(account, log)
    kinds = ("charge", "lost")
    charged = [e.rho for e in account.account.entries() if e.kind in kinds]
    assert account.spent == sum(charged, Fraction(0))


def main() -> None:
    """Everything; prints how often."""
    account, log = fresh()
    half_done = kill_at_random(account, log, 200)
    print(f"killed at random 200 times, {half_done} of them half done", flush=True)
    assert half_done >= 50, "the kills came before or after the releases"
    settled(account, log)
    for first in range(0, 600, 40):  # each time a short account: it is read whole after each kill
        account, log = fresh()
        kill_at_statements(account, log, range(first, first + 40))
        settled(account, log)
    print("killed before and after each of 300 statements", flush=True)
    if not syscalls.possible():
        print("calls of the operating system: not tried, there is no strace")
        return
    for call, most in MOST.items():
        account, log = fresh()
        found = kill_at_calls(account, log, call, range(1, most + 1))
        settled(account, log)
        print(f"killed before {call}:", found, flush=True)
        for error in ERRORS[call]:
            account, log = fresh()
            found = fail_calls(account, log, call, error, range(1, most + 1))
            print(f"refused after {error} in {call}:", found, flush=True)
            settled(account, log)


if __name__ == "__main__":
    main()
