"""Private releases of Adult with 13 attributes at epsilon = 1: time, progress, and cancelling.

    python tests/benchmarks/releases.py

Prints a table in Markdown. Wanted: at most 60 seconds on two cores, something told at least every
two seconds, cancelled within two. Found in December 2026, a load of 1.5 on two cores: all 3-way
marginals by the default in 4.2 s (4.1 s of CPU), in rounds 1.2 s, by ResidualPlanner 2.4 s; the
longest silence 0.4 s; cancelled it ended within 0.06 s, nothing open, the account what was charged;
OpenDP's sampler likewise. On a machine that never compiled the loops the default took 32 s, with 12
in which the compiler said nothing: ``python -m engine prepare`` compiles them before.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import engine  # noqa: E402
from engine.releasing.account import TableAccount  # noqa: E402


@dataclass
class Clock:
    """How often progress was told, and the longest time without."""

    last: float
    times: int = 0
    longest: float = 0.0

    def tick(self, *_: object) -> None:
        now = time.perf_counter()
        self.times, self.longest, self.last = (
            self.times + 1,
            max(self.longest, now - self.last),
            now,
        )


def adult() -> engine.Table:
    """Adult by the paper's domain, as if it had been declared."""
    domain = engine.Domain.from_json(ROOT / "sample_data" / "adult_paper.domain.json")
    table = engine.Table.from_csv(ROOT / "sample_data" / "adult.csv.gz", domain)
    declared = engine.Domain(tuple(replace(a, source="declared") for a in domain))
    return engine.Table.from_codes(table.codes.T, declared)


def account() -> TableAccount:
    """A new one."""
    path = Path(tempfile.mkdtemp()) / "account.db"
    return engine.Account.create(path).table("adult", secret="for measuring only", total=1)


def right(charged: TableAccount) -> bool:
    """Whether nothing is open, and what counts is what was charged."""
    kinds = ("charge", "lost")
    sums = [e.rho for e in charged.account.entries() if e.kind in kinds]
    return not charged.unfinished and charged.spent == sum(sums, Fraction(0))


def one(
    mechanism: Any, workload: engine.Workload, table: engine.Table, stop_at: float, sampler: str
) -> str:
    """A row: released, or cancelled so many seconds after it began, by another thread."""
    charged, clock = account(), Clock(time.perf_counter())
    began, used, stop = clock.last, time.process_time(), threading.Event()
    if stop_at:
        threading.Timer(stop_at, stop.set).start()
    try:
        engine.release(
            mechanism, table, workload, epsilon=1.0, delta=1e-9, account=charged, sampler=sampler,
            progress=clock.tick, cancel=stop.is_set,
        )  # fmt: skip
        ended = "released"
    except engine.AccountError as error:
        ended = f"{error.code} {time.perf_counter() - began - stop_at:.2f} s after it was asked"
    return (
        f"{ended} | {time.perf_counter() - began:.1f} | {time.process_time() - used:.1f} | "
        f"{clock.times} | {clock.longest:.1f} | {'right' if right(charged) else 'WRONG'} |"
    )


CASES: tuple[tuple[str, Callable[[], Any], int, float, str], ...] = (
    ("default", engine.AimGrem, 2, 0, "engine"),
    ("default", engine.AimGrem, 3, 0, "engine"),
    ("default, cancelled", engine.AimGrem, 3, 1, "engine"),
    ("default, cancelled", engine.AimGrem, 3, 3, "engine"),
    ("default, cancelled", engine.AimGrem, 3, 5, "engine"),
    ("rounds", lambda: engine.AimGrem(finish="rounds"), 3, 0, "engine"),
    ("rounds, cancelled", lambda: engine.AimGrem(finish="rounds"), 3, 2, "engine"),
    ("ResidualPlanner", engine.ResidualPlanner, 3, 0, "engine"),
    ("ResidualPlanner, cancelled", engine.ResidualPlanner, 3, 2, "engine"),
    ("ResidualPlanner, OpenDP", engine.ResidualPlanner, 2, 0, "opendp"),
    ("default, OpenDP, cancelled", engine.AimGrem, 3, 10, "opendp"),
)

if __name__ == "__main__":
    table = adult()
    heads = (
        "Adult 13, epsilon = 1",
        "ended",
        "s",
        "s of CPU",
        "told",
        "longest gap, s",
        "account",
    )
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|")
    for name, make, degree, stop_at, sampler in CASES:
        workload = engine.Workload.all_kway(table.domain, degree)
        print(
            f"| {name}, {degree}-way | {one(make(), workload, table, stop_at, sampler)}", flush=True
        )
