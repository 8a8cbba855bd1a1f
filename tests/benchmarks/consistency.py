"""What making tables agree costs and brings: accuracy, disagreement, negative cells, time.

    python tests/benchmarks/consistency.py                         everything (a quarter of an hour)
    python tests/benchmarks/consistency.py --data titanic --epsilon 1 --seeds 1
    python tests/benchmarks/consistency.py --table                 only print what the CSV holds

Answers are the completed mechanism's (maxent) and the paper's (raw). Rows go to consistency.csv
beside this file, which is written anew. ``disagree`` is the largest difference between what two
tables say of one value's count, ``negative`` the largest sum of negative cells in one table, both
divided by the number of records. Not private: true errors are for benchmarks only.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from frontier import DATA, DELTA, SHARED, judged, workload_of

import engine
from engine import grem
from engine.completing.nonnegative import nonnegative
from engine.mechanisms import catalogue
from engine.mechanisms.base import rounds

HERE = Path(__file__).resolve().parent
NAMES = ("titanic", "penguins", "anes96", "adult6", "housing16", "adult13")
FIELDS = (
    "data", "epsilon", "seed", "answers", "step", "mean_l1", "mean_l2", "max_l1", "disagree",
    "negative", "seconds",
)  # fmt: skip
Estimates = list[engine.Estimate]


def lnn(release: engine.Release) -> Estimates:
    """GReM-LNN of what was measured."""
    found = nonnegative(release.beliefs, release.domain, release.workload.marginals)
    return [grem.estimate(found, release.domain, gamma) for gamma in release.workload.marginals]


STEPS: dict[str, dict[str, Callable[[engine.Release], Estimates]]] = {
    "maxent": {
        "as it is": lambda release: list(release.estimates()),
        "consistent": lambda release: list(engine.consistent(release).estimates()),
        "consistent, non-negative": lambda release: list(
            engine.consistent(release, nonnegative=True).estimates()
        ),
    },
    "raw": {
        "as it is": lambda release: list(release.estimates()),
        "simplex": lambda release: list(map(engine.simplex, release.estimates())),
        "GReM-LNN": lnn,
        "consistent, non-negative": lambda release: list(
            engine.consistent(release, nonnegative=True).estimates()
        ),
    },
}
MECHANISMS: dict[str, Callable[[], Any]] = {
    "maxent": catalogue.find("aim_grem").make,
    "raw": catalogue.find("aim_grem_paper").make,
}


def disagreement(tables: Estimates) -> float:
    """The largest difference between the counts that two tables imply for one value."""
    said = defaultdict(list)
    for table in tables:
        for axis, i in enumerate(table.attrs):
            others = tuple(k for k in range(len(table.attrs)) if k != axis)
            said[i].append(table.values.sum(axis=others))
    return max(float(np.ptp(counts, axis=0).max()) for counts in said.values())


def released(
    private: engine.Private, workload: engine.Workload, mechanism: Any, epsilon: float, seed: int
) -> engine.Release:
    """Run to the end."""
    rho, rng = Fraction(engine.rho_from(epsilon=epsilon, delta=DELTA)), engine.rehearsal_noise(seed)
    *_, (state, _) = rounds(mechanism, private, workload, rho=rho, rng=rng)
    release: engine.Release = mechanism.release(state)
    return release


def measured(release: engine.Release, private: engine.Private, answers: str) -> Iterator[Any]:
    """One row for each step."""
    records = float(private.marginal(()).values)
    for step, take in STEPS[answers].items():
        start = time.perf_counter()
        tables = take(release)
        seconds = time.perf_counter() - start
        yield {
            "answers": answers,
            "step": step,
            **judged(tables, private)[0],
            "disagree": disagreement(tables) / records,
            "negative": max(-float(np.minimum(t.values, 0).sum()) for t in tables) / records,
            "seconds": seconds,
        }


def run(options: argparse.Namespace, path: Path) -> None:
    """Write a row for every case."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for name in options.data:
            table = DATA[name](options.shared)
            private, workload = engine.Private(table), workload_of(table)
            for answers, make in MECHANISMS.items():
                for epsilon in options.epsilon:
                    for seed in range(options.seeds):
                        release = released(private, workload, make(), epsilon, seed)
                        for row in measured(release, private, answers):
                            row |= {"data": name, "epsilon": epsilon, "seed": seed}
                            writer.writerow({k: _short(v) for k, v in row.items()})
                        file.flush()


def _short(value: Any) -> Any:
    return f"{value:.4g}" if isinstance(value, float) else value


def table(path: Path) -> str:
    """Means over seeds, a line a case."""
    frame = pd.read_csv(path)
    keys = ["answers", "data", "epsilon", "step"]
    means = frame.groupby(keys, sort=False).mean(numeric_only=True).drop(columns="seed")
    return means.map(_short).to_string()


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(NAMES), choices=list(DATA))
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 1.0, 10.0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="only print what the CSV holds")
    parser.add_argument("--shared", type=Path, default=SHARED, help="where the larger tables lie")
    options = parser.parse_args()
    path = HERE / "consistency.csv"
    if not options.table:
        run(options, path)
    print(table(path))


if __name__ == "__main__":
    main()
