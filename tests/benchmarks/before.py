"""Two checkouts side by side: the same calls with the same settings, taken in turns.

    python tests/benchmarks/before.py OLD NEW                 all cases
    python tests/benchmarks/before.py OLD NEW titanic adult   some of them
    python tests/benchmarks/before.py OLD NEW --turns 9       more turns

OLD and NEW are folders with a checkout each (``git worktree add OLD COMMIT``). Each turn starts one
process in each of them, in an order that changes; what a process does first (compiling, importing)
is not counted, but for the case ``import``. The figure is the median over all turns of processor
time, which others on the machine change least. Settings are those that both understand: the
algorithm of the default has changed, so its runs are made with ``completion="maxent"`` and
``finish="auto"``, the default of commit 0bab156.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DELTA = 1e-9


def table_of(name: str) -> Any:
    import engine

    rows = {"titanic": "titanic.csv", "adult_paper": "adult.csv.gz"}[name]
    domain = engine.Domain.from_json(f"sample_data/{name}.domain.json")
    return engine.Table.from_csv(f"sample_data/{rows}", domain)


def run_of(name: str, epsilon: float, mechanism: str) -> Callable[[], object]:
    """Return one whole run, counting included; the workload is made before."""
    import engine

    table = table_of(name)
    workload = engine.Workload.all_kway(table.domain, 3)
    made = {
        "paper": engine.AimGrem.paper,
        "maxent": lambda: engine.AimGrem(completion="maxent", finish="auto"),
        "planner": engine.ResidualPlanner,
    }[mechanism]()
    return lambda: engine.run(made, table, workload, epsilon=epsilon, delta=DELTA, seed=0)


def answered(name: str, epsilon: float, mechanism: str) -> Callable[[], object]:
    """Return a run and all its answers."""
    run = run_of(name, epsilon, mechanism)
    return lambda: list(run().release.estimates())  # type: ignore[attr-defined]


def counting() -> Callable[[], object]:
    import engine

    table = table_of("adult_paper")
    layout = engine.Workload.all_kway(table.domain, 3).layout
    return lambda: engine.Private(table).counts(layout)


def ingesting() -> Callable[[], object]:
    """Return the whole way: what was proposed when asked is found while reading today."""
    from engine import ingest

    def call() -> object:
        preview = ingest.read("sample_data/adult.csv.gz")
        return ingest.encode(preview, ingest.draft_domain(preview, *preview.labels))

    return call


def from_csv() -> Callable[[], object]:
    return lambda: table_of("adult_paper")


CASES: dict[str, tuple[Callable[[], Callable[[], object]], int]] = {
    "titanic, paper, epsilon 1": (lambda: run_of("titanic", 1.0, "paper"), 30),
    "titanic, default of then, epsilon 1": (lambda: run_of("titanic", 1.0, "maxent"), 30),
    "titanic, default of then, epsilon 0.1": (lambda: run_of("titanic", 0.1, "maxent"), 30),
    "titanic, default of then, with answers": (lambda: answered("titanic", 1.0, "maxent"), 20),
    "titanic, ResidualPlanner, epsilon 1": (lambda: run_of("titanic", 1.0, "planner"), 30),
    "adult, paper, epsilon 1": (lambda: run_of("adult_paper", 1.0, "paper"), 5),
    "adult, paper, epsilon 10": (lambda: run_of("adult_paper", 10.0, "paper"), 5),
    "adult, default of then, epsilon 1": (lambda: run_of("adult_paper", 1.0, "maxent"), 3),
    "adult, ResidualPlanner, epsilon 1": (lambda: run_of("adult_paper", 1.0, "planner"), 5),
    "counting all 3-way tables, adult": (counting, 10),
    "Table.from_csv, adult": (from_csv, 3),
    "read, draft a domain, encode, adult": (ingesting, 3),
}


def work(case: str) -> None:
    """Print processor and waiting seconds of each call but the first two."""
    make, times = CASES[case]
    call, found = make(), []
    call(), call()
    for _ in range(times):
        cpu, wall = time.process_time(), time.perf_counter()
        call()
        found.append((time.process_time() - cpu, time.perf_counter() - wall))
    print(json.dumps(found))


def measured(folder: Path, case: str) -> list[tuple[float, float]]:
    """One process in this checkout."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONWARNINGS": "ignore"}
    if case == "import":
        before = os.times()
        wall = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", "import engine"], cwd=folder, env=environment, check=True
        )
        after = os.times()
        cpu = after.children_user + after.children_system
        cpu -= before.children_user + before.children_system
        return [(cpu, time.perf_counter() - wall)]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--work", case],
        cwd=folder, env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [tuple(pair) for pair in json.loads(done.stdout)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", nargs="?", type=Path)
    parser.add_argument("new", nargs="?", type=Path)
    parser.add_argument("words", nargs="*", help="cases that contain one of these words")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return
    folders = [options.old.resolve(), options.new.resolve()]
    chosen = [
        case
        for case in ("import", *CASES)
        if not options.words or any(word in case for word in options.words)
    ]
    print("| case | before | now | now / before |", "|---|---|---|---|", sep="\n")
    for case in chosen:
        seconds: dict[Path, list[tuple[float, float]]] = {folder: [] for folder in folders}
        for turn in range(options.turns * (4 if case == "import" else 1)):
            for folder in folders[:: 1 if turn % 2 else -1]:
                seconds[folder] += measured(folder, case)
        before, now = (statistics.median(cpu for cpu, _ in seconds[f]) for f in folders)
        print(
            f"| {case} | {before * 1e3:.1f} ms | {now * 1e3:.1f} ms | {now / before:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
