"""Private releases of Adult with 13 attributes at epsilon = 1: time, progress, and cancelling.

    python tests/benchmarks/releases.py

Prints a table in Markdown. Wanted: at most 60 seconds on two cores. Found in December 2026, while a
dozen other processes ran on both cores: all 3-way marginals by the default in 22 s (5.8 s of CPU),
in rounds 10 s (2.2 s), by ResidualPlanner 10 s (3.1 s); all 2-way by the default 42 s (4.4 s), its
first compiling included. Cancelled after 20 events it ended at once, nothing open, the account what
was charged. 302 MB.
"""

from __future__ import annotations

import sys
import tempfile
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


def one(mechanism: Any, workload: engine.Workload, table: engine.Table, stop_at: int) -> str:
    """A row: released, or cancelled after so many events."""
    charged, clock = account(), Clock(time.perf_counter())
    began, used = clock.last, time.process_time()
    try:
        engine.release(
            mechanism, table, workload, epsilon=1.0, delta=1e-9, account=charged,
            progress=clock.tick, cancel=lambda: clock.times == stop_at,
        )  # fmt: skip
        ended = "released"
    except engine.AccountError as error:
        ended = error.code
    return (
        f"{ended} | {time.perf_counter() - began:.1f} | {time.process_time() - used:.1f} | "
        f"{clock.times} | {clock.longest:.1f} | {'right' if right(charged) else 'WRONG'} |"
    )


CASES: tuple[tuple[str, Callable[[], Any], int, int], ...] = (
    ("default", engine.AimGrem, 2, 0),
    ("default", engine.AimGrem, 3, 0),
    ("rounds", lambda: engine.AimGrem(finish="rounds"), 3, 0),
    ("rounds, cancelled", lambda: engine.AimGrem(finish="rounds"), 3, 20),
    ("ResidualPlanner", engine.ResidualPlanner, 3, 0),
)

if __name__ == "__main__":
    table = adult()
    heads = (
        "Adult 13, epsilon = 1",
        "ended",
        "s",
        "s of CPU",
        "events",
        "longest gap, s",
        "account",
    )
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|")
    for name, make, degree, stop_at in CASES:
        workload = engine.Workload.all_kway(table.domain, degree)
        print(f"| {name}, {degree}-way | {one(make(), workload, table, stop_at)}", flush=True)
