"""Record what the default mechanism answers on Adult: ``python -m tests.golden.completed``.

Run it only where a change of numbers is meant, and say in the changelog why they changed.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import engine
from engine import compiling
from tests.support import ROOT, SAMPLES

PATH = ROOT / "tests" / "golden" / "completed.json"
EPSILONS, DELTA, SEED = (0.1, 1.0, 10.0), 1e-9, 0
TABLES = ((), (0,), (9,), (3, 7), (0, 11), (1, 5, 8), (4, 6, 12), (0, 3, 9))


def adult() -> engine.Table:
    """Adult as in the paper, 13 attributes."""
    domain = engine.Domain.from_json(SAMPLES / "adult_paper.domain.json")
    return engine.Table.from_csv(SAMPLES / "adult.csv.gz", domain)


def answers(private: engine.Private, epsilon: float) -> dict[str, Any]:
    """What a run selects, pays and answers: sums, largest cells and distances from uniform."""
    workload = engine.Workload.all_kway(private.domain, 3)
    # Compiled from the first call on: interpreted loops round otherwise, and a plan may follow.
    with compiling.free_work(0):
        rng = engine.rehearsal_noise(SEED)
        events = engine.rounds(
            engine.AimGrem(), private, workload, epsilon=epsilon, delta=DELTA, rng=rng
        )
        told = list(events)
        run = engine.Run.of([event for _, event in told], engine.AimGrem().release(told[-1][0]))
        tables = [run.release.estimate(*attrs).values for attrs in TABLES]
        mean_l1 = engine.evaluate(run.release, private).mean_l1_normalized
    return {
        "selected": [None if r.selected is None else list(r.selected) for r in run.rounds],
        "spent": float(run.release.ledger.spent),
        "mean_l1": mean_l1,
        "sums": [float(t.sum()) for t in tables],
        "largest": [float(t.max()) for t in tables],
        "spread": [float(np.abs(t - t.mean()).sum()) for t in tables],
    }


def main() -> None:
    """Write the values anew."""
    private = engine.Private(adult())
    found = {f"{epsilon:g}": answers(private, epsilon) for epsilon in EPSILONS}
    lines = ",\n".join(f"{json.dumps(e)}: {json.dumps(values)}" for e, values in found.items())
    PATH.write_text(f"{{{lines}}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
