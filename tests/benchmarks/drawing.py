"""How long the figures of one round take, beside an older version in the same run.

    python tests/benchmarks/drawing.py                     beside 0bab156, before forms were kept
    python tests/benchmarks/drawing.py --before <commit>   beside another one

Each figure of a round on Adult is made warm, its frame and its description included, by both
versions in turn in processes of their own; medians of five of processor time, so that what else the
machine does counts little. The last line is what a whole Rounds page draws.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
TIMES = 5


def figures() -> dict[str, Callable[[], Any]]:
    """Every figure of the Rounds page at one round of a run on Adult, whatever the version."""
    import engine
    from engine import charts, views

    sample = ROOT / "sample_data"
    domain = engine.Domain.from_json(sample / "adult.domain.json")
    table = engine.Table.from_csv(sample / "adult.csv.gz", domain)
    private = engine.Private(table)
    chosen = sorted(domain.attributes, key=lambda a: a.size)[:5]
    attrs = [domain.attrs(a.name)[0] for a in chosen]
    sets = [(i, j) for i in sorted(attrs) for j in sorted(attrs) if i < j]
    workload = engine.Workload(sets, domain)
    mechanism = engine.AimGrem(completion="none")
    run = engine.run(mechanism, private, workload, epsilon=1.0, delta=1e-9, seed=0)
    at = min(5, len(run.rounds))
    event: Any = run.events[at]
    state = run.at(at)
    estimate = state.estimate(*sets[0])
    compared = engine.compare(estimate, private)
    names = (domain[sets[0][0]].name, domain[sets[0][1]].name)
    candidate = views.Candidate(sets[0], 1.0, 100.0, 100.0, 20.0, 0.05)
    seen = views.Glimpse((candidate,) * 12, 30, 0.4)
    errors = [1 / (k + 1) for k in range(len(run.rounds) + 1)]

    def cells(column: str) -> Callable[[], Any]:
        def draw() -> Any:
            frame = views.comparison(compared)
            limits = charts.shared_limits(frame, "exact", "released")
            shared = None if column == "difference" else limits
            return charts.heatmap(frame, column, names, title=column, limits=shared)

        return draw

    return {
        "ledger": lambda: charts.ledger(views.budget(run.events[: at + 1]), at=at),
        "error_curve": lambda: charts.error_curve(views.errors(errors, 1), at=at),
        "selection": lambda: charts.selection(
            views.selection(seen, domain, sets[0]), others=30, others_probability=0.4
        ),
        "lattice": lambda: charts.lattice(views.allocation(event, domain, event.selected)),
        "measured": lambda: charts.measured(views.measured(event.measurements, domain)),
        "touched": lambda: charts.touched(
            views.touched(run.at(at - 1).beliefs, state.beliefs, event, workload),
            domain.names,
            threshold=event.threshold,
        ),
        **{column: cells(column) for column in ("exact", "released", "difference")},
    }


def work() -> None:
    """Time every figure once this process is warm; print milliseconds by name."""
    found = {}
    for name, draw in figures().items():
        draw().spec()
        times = []
        for _ in range(TIMES):
            begin = time.process_time()
            draw().spec()
            times.append(1e3 * (time.process_time() - begin))
        found[name] = statistics.median(times)
    sys.stdout.write(json.dumps(found))


def _timed(folder: Path) -> dict[str, float]:
    code = (
        "import sys, runpy; sys.path.insert(0, '.');"
        f"runpy.run_path({str(HERE)!r}, run_name='drawing')['work']()"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=folder, check=True, text=True,
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print a line for each figure: before, now, and how many times less that is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", default="0bab156", help="the commit to compare with")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["git", "archive", asked.before, "engine"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        old, new = _timed(Path(folder)), _timed(ROOT)
    sys.stdout.write(f"{'figure':<12} {'before, ms':>11} {'now, ms':>9} {'times less':>11}\n")
    for name in new:
        line = f"{name:<12} {old[name]:>11.1f} {new[name]:>9.2f} {old[name] / new[name]:>11.1f}\n"
        sys.stdout.write(line)
    before, now = sum(old.values()), sum(new.values())
    sys.stdout.write(f"{'all':<12} {before:>11.1f} {now:>9.2f} {before / now:>11.1f}\n")


if __name__ == "__main__":
    main()
