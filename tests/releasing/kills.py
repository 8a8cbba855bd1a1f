"""Kill releases, and fail their disk, again and again; the account never says too little.

    python -m tests.releasing.kills [random statements writes calls server]

Kills at random, before and after every statement, and before every call of the operating system
that writes, flushes or ends a journal; then a full disk, a failing disk and a read-only one at each
of these calls. ``calls``: a small release from its beginning to its end, killed before each of its
calls of the operating system, whatever they are. ``server``: a PostgreSQL account that loses its
connection, or its client, at each statement and commit. The tests run a few of each.

Found in December 2026 in five minutes (a load of 2 on two cores), the account never below what was
drawn: 200 kills at random, 148 of them with a release half done; 300 statements, before and after
each; 90 writes, 20 flushes and 4 ends of a journal, each killed and each failing in every way; 688
calls of 17 kinds of a small release; 77 statements and commits on a server, each with its
connection lost and with its client killed.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy

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


# -- every call of a small release -----------------------------------------------------------------

REST = {"exit_group", "exit", "restart_syscall", "rt_sigreturn"}
"""Calls that are no boundary of work: nothing happens before or after them."""


def small_release(account: TableAccount, log: Path) -> Callable[[], int]:
    """A release with three charges, begun and ended, or gone on with."""

    def work() -> int:
        spends_into(log)
        open_ones = account.unfinished
        resume = open_ones[0] if open_ones else None
        released(account, mechanism=engine.EqualSplit(), epsilon=0.1, resume=resume)
        return 0

    return work


def calls_of(work: Callable[[], int]) -> dict[str, int]:
    """Which calls of the operating system it makes, and how many of each."""
    code, said = syscalls.happening("none:retval=0", work, trace="all")
    assert code == 0
    return dict(Counter(re.findall(r"^(?:\[pid +\d+\] )?(\w+)\(", said, re.MULTILINE)))


def kill_at_every_call() -> dict[str, int]:
    """Kill before each call of a small release; how many of each kind were reached."""
    account, log = fresh()
    small_release(account, log)()  # everything is imported
    killed: dict[str, int] = {}
    for call, most in sorted(calls_of(small_release(*fresh())).items()):
        if call in REST:
            continue
        account, log = fresh()
        killed[call] = 0
        for number in range(1, most + 1):
            settled(account, log)  # each kill meets a release from its very beginning
            code, _ = syscalls.happening(
                f"{call}:signal=KILL:when={number}", small_release(account, log)
            )
            assert code in (0, -signal.SIGKILL), f"{call} {number} ended in {code}"
            killed[call] += code != 0
            check_never_too_little(account, log)
    return killed


# -- an account on a server ------------------------------------------------------------------------


def at_statement(number: int, happens: Callable[[Any], None]) -> Callable[[], None]:
    """Let something happen before the statement or commit of this number, in this process."""

    def prepare() -> None:
        seen = itertools.count(1)

        def before(connection: Any, *_: Any) -> None:
            if next(seen) == number:
                happens(connection)

        sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", before)
        sqlalchemy.event.listen(sqlalchemy.Engine, "commit", before)

    return prepare


def lose(connection: Any) -> None:
    """The server ends this connection: what is asked next has no answer."""
    session = connection.connection.driver_connection.info.backend_pid
    other = sqlalchemy.create_engine(connection.engine.url, poolclass=sqlalchemy.pool.NullPool)
    with other.connect() as administrator:
        administrator.exec_driver_sql(f"SELECT pg_terminate_backend({session}, 5000)")


def die(_: Any) -> None:
    """The client is gone."""
    os.kill(os.getpid(), signal.SIGKILL)


def on_server(
    address: str, log: Path, numbers: Iterable[int], happens: Callable[[Any], None]
) -> int:
    """A small release on a server, at each of its statements; how many it did not survive."""
    account = Account.create(address).table("people", secret=SECRET, total=1000)
    ended = 0
    for number in numbers:

        def work(number: int = number) -> int:
            at_statement(number, happens)()
            try:
                return small_release(account, log)()
            except engine.AccountError:
                return REFUSED

        child = os.fork()
        if child == 0:
            os._exit(work())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, REFUSED, -signal.SIGKILL), f"statement {number} ended in {code}"
        ended += code != 0
        check_never_too_little(account, log)
    settled(account, log)
    return ended


def random() -> None:
    """Kills at random moments."""
    account, log = fresh()
    half_done = kill_at_random(account, log, 200)
    print(f"killed at random 200 times, {half_done} of them half done", flush=True)
    assert half_done >= 50, "the kills came before or after the releases"
    settled(account, log)


def statements() -> None:
    """Kills before and after each statement."""
    for first in range(0, 600, 40):  # each time a short account: it is read whole after each kill
        account, log = fresh()
        kill_at_statements(account, log, range(first, first + 40))
        settled(account, log)
    print("killed before and after each of 300 statements", flush=True)


def writes() -> None:
    """Kills and failures at what changes the file."""
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


def calls() -> None:
    """Kills before every call of a small release."""
    killed = kill_at_every_call()
    print(f"killed before {sum(killed.values())} calls of {len(killed)} kinds:", killed, flush=True)


def server() -> None:
    """Lost connections and clients of an account on a server."""
    from tests.releasing.server import Server

    made = Server()
    try:
        for happens in (lose, die):
            log = Path(tempfile.mkdtemp()) / "log"
            ended = on_server(made.new(happens.__name__), log, range(1, 121), happens)
            print(f"a server's account, {happens.__name__} at 120 statements:", ended, flush=True)
    finally:
        made.remove()


PARTS = (random, statements, writes, calls, server)


def main(names: Sequence[str]) -> None:
    """The parts that are named, or all; prints how often."""
    for part in PARTS:
        if names and part.__name__ not in names:
            continue
        if part in (writes, calls) and not syscalls.possible():
            print(f"{part.__name__}: not tried, there is no strace")
            continue
        part()


if __name__ == "__main__":
    main(sys.argv[1:])
