"""Speed, as ratios measured side by side in one run.

    python tests/benchmarks/speed.py                 all cases (about ten minutes)
    python tests/benchmarks/speed.py kronecker adult some of them
    python tests/benchmarks/speed.py --write         and keep the figures in speed.md

The shapes of ACS and Loans are read from domain files beside the checkout and left out where those
are absent. Their tables are made here: eight groups of records, each with its own distribution of
every attribute, so that attributes depend on each other.
"""

# Over 400 lines: one case of the bars after the other.

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy import sparse

import engine
from engine import grem
from engine.grem import Reconstruction
from engine.mechanisms import catalogue

ROOT = Path(__file__).resolve().parents[2]
DOMAINS = ROOT.parent / "shared" / "data" / "domains"
DELTA = 1e-9
Row = tuple[str, str, str]


# -- tools --------------------------------------------------------------------------------------


def best(call: Callable[[], Any], *, seconds: float = 0.3, least: int = 3) -> float:
    """Shortest of several timings: what the code costs when nothing disturbs it."""
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or (time.perf_counter() < end and len(times) < 1000):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def in_process(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Run in a fresh process; returns its result and peak memory in GiB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (function, arguments))


def _measured(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, float]:
    result = function(*arguments)
    return result, peak_memory() / 2**30


def peak_memory() -> int:
    """Largest size of this process so far, in bytes.

    Not ``ru_maxrss``: Linux lets a new process inherit that of the one that started it.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def adult() -> engine.Table:
    domain = engine.Domain.from_json(ROOT / "sample_data" / "adult_paper.domain.json")
    return engine.Table.from_csv(ROOT / "sample_data" / "adult.csv.gz", domain)


def made_table(sizes: dict[str, int], records: int, *, groups: int = 8) -> engine.Table:
    rng = np.random.default_rng(0)
    group = rng.integers(0, groups, records)
    columns = []
    for size in sizes.values():
        limits = np.cumsum(rng.dirichlet(np.full(size, 0.3), size=groups), axis=1)
        drawn = (rng.random((records, 1)) > limits[group]).sum(axis=1)
        columns.append(np.minimum(drawn, size - 1))
    return engine.Table.from_codes(np.stack(columns, axis=1), engine.Domain.from_sizes(sizes))


def shape_of(name: str) -> dict[str, int] | None:
    path = DOMAINS / name
    if not path.exists():
        return None
    sizes = json.loads(path.read_text())
    return {attribute: n for attribute, n in sizes.items() if 2 <= n <= 100}


SHAPES = {"ACS": "acs_ipums_81attrs-domain.json", "Loans": "loans_hd-datasets-domain.json"}


# -- decompose and reconstruct against Kronecker products -----------------------------------------


def kron(factors: list[Any], values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The shuffle algorithm: one factor after the other along the leading axis, then rotate."""
    for factor, n in zip(factors, shape, strict=True):
        values = np.ascontiguousarray((factor @ values.reshape(n, -1)).T).reshape(-1)
    return values


def kronecker() -> Iterator[Row]:
    points = [(degree, 16) for degree in range(2, 8)]
    points += [(3, 2**k) for k in range(1, 9)]
    gains = []
    for degree, size in points:
        ours, theirs, back, theirs_back, copy = kronecker_point(degree, size)
        gains.append((theirs / ours, theirs_back / back))
        beyond = size**degree * 8 > 64 * 2**20
        copies = f", {ours / copy / degree:.2f} and {back / copy / degree:.2f} copies an axis"
        yield (
            f"degree {degree}, size {size}",
            f"decompose {theirs / ours:.1f}x ({ours * 1e6:,.1f} µs), "
            f"reconstruct {theirs_back / back:.1f}x ({back * 1e6:,.1f} µs)"
            + (copies if beyond else ""),
            "faster at every point" + ("; at most 3 and 4 copies an axis" if beyond else ""),
        )
    decompose, reconstruct = zip(*gains, strict=True)
    yield "decompose, mean", f"{statistics.mean(decompose):.1f}x", "at least 4x"
    yield "reconstruct, mean", f"{statistics.mean(reconstruct):.1f}x", "at least 3x"


def kronecker_point(degree: int, size: int) -> tuple[float, float, float, float, float]:
    """Seconds of decompose, its Kronecker twin, reconstruct, its twin, and of copying."""
    gamma, shape, small = tuple(range(degree)), (size,) * degree, (size - 1,) * degree
    subtract = np.hstack([-np.ones((size - 1, 1)), np.eye(size - 1)])
    thin, inverse = sparse.csr_array(subtract), np.linalg.pinv(subtract)
    values = np.random.default_rng(0).random(shape)
    residual = engine.decompose(values, gamma, gamma)
    least = 1 if size**degree > 10**8 else 3
    return (
        best(lambda: engine.decompose(values, gamma, gamma), least=least),
        best(lambda: kron([thin] * degree, values, shape), least=least),
        best(lambda: engine.reconstruct(residual, gamma, gamma, shape), least=least),
        best(lambda: kron([inverse] * degree, residual, small), least=least),
        best(values.copy, least=least),
    )


# -- ablation: lazy + CRP against full + IID -------------------------------------------------------


def sequence(
    mechanism: Any, table: engine.Table, workload: engine.Workload, most: int
) -> tuple[float, int, int]:
    """Seconds, rounds and cells touched of at most so many rounds, the start included."""
    private, cells, count = engine.Private(table), 0, 0
    rho = engine.rho_from(epsilon=1.0, delta=DELTA)
    run = engine.rounds(mechanism, private, workload, rho=rho, rng=engine.rehearsal_noise(0))
    next(run)
    start = time.perf_counter()  # both arms start alike: with the 1-way marginals
    for _, event in run:
        if isinstance(event, engine.RoundEnded):
            count, cells = count + 1, cells + event.work.cells
            if count == most:
                break
    return time.perf_counter() - start, count, cells


def ablation() -> Iterator[Row]:
    lazy = engine.FixedSequence(update="lazy", noise="crp")
    full = engine.FixedSequence(update="full", noise="iid")
    cases: list[tuple[str, engine.Table, int, int]] = [("Adult", adult(), 286, 30)]
    for name, bar, most in (("ACS", 100, 12), ("Loans", 150, 12)):
        sizes = shape_of(SHAPES[name])
        if sizes:
            cases.append((name, made_table(sizes, 50_000), most, bar))
    for name, table, most, bar in cases:
        workload = engine.Workload.all_kway(table.domain, 3)
        sequence(lazy, table, workload, 2)
        quick, count, touched = sequence(lazy, table, workload, most)
        slow, _, all_cells = sequence(full, table, workload, most)
        yield (
            f"fixed sequence, {name}, first {count} rounds: lazy + CRP against full + IID",
            f"{slow / quick:.0f}x ({quick / count * 1e3:.2f} ms against "
            f"{slow / count * 1e3:.1f} ms a round; cells touched {all_cells / touched:.0f}x)",
            f"at least {bar}x",
        )


# -- whole runs -----------------------------------------------------------------------------------


def timed_run(
    mechanism: Any, table: engine.Table, epsilon: float, *, degree: int = 3
) -> tuple[float, engine.Run]:
    """Counting, all rounds and the release; the workload is made before."""
    workload = engine.Workload.all_kway(table.domain, degree)
    start = time.perf_counter()
    run = engine.run(mechanism, table, workload, epsilon=epsilon, delta=DELTA, seed=0)
    return time.perf_counter() - start, run


def copy_bandwidth() -> float:
    """Bytes read and written a second when an array of Adult's size is copied."""
    block = np.random.default_rng(0).random(5_080_410)
    target = np.empty_like(block)
    return 16 * block.size / best(lambda: np.copyto(target, block))


def adult_runs() -> Iterator[Row]:
    table = adult()
    timed_run(engine.AimGrem.paper(), table, 1.0)
    for epsilon, bar in ((1.0, 0.4), (10.0, 0.5)):
        runs = [timed_run(engine.AimGrem.paper(), table, epsilon) for _ in range(5)]
        seconds = min(s for s, _ in runs)
        work = [event.work for event in runs[0][1].rounds]
        cells = sum(w.cells for w in work) + runs[0][1].events[0].work.cells
        ideal = cells * 16 / copy_bandwidth()
        yield (
            f"AIM+GReM (paper), Adult 13, epsilon = {epsilon:g}, counting included",
            f"{seconds:.2f} s, {len(work)} rounds, {cells / 1e6:.0f} million cells: "
            f"{seconds / ideal:.1f} times their copying",
            f"at most {bar} s, aim 4 times",
        )
    full = engine.AimGrem(update="full", noise="iid", completion="none")
    quick = min(timed_run(engine.AimGrem(completion="none"), table, 1.0)[0] for _ in range(5))
    slow = timed_run(full, table, 1.0)[0]
    yield (
        "whole run, Adult 13, epsilon = 1: lazy + CRP against full + IID with re-scoring",
        f"{slow / quick:.0f}x ({quick:.2f} s against {slow:.2f} s)",
        "at least 20x",
    )
    seconds = min(timed_run(engine.ResidualPlanner(), table, 1.0)[0] for _ in range(5))
    yield "ResidualPlanner, Adult 13, all 3-way", f"{seconds:.2f} s", "at most 0.2 s"


def shape_run(name: str, epsilon: float) -> tuple[float, float, int, int]:
    """Seconds of the run and of all answers, rounds, cells touched."""
    table = made_table(shape_of(SHAPES[name]) or {}, 50_000)
    seconds, run = timed_run(engine.AimGrem.paper(), table, epsilon)
    start = time.perf_counter()
    for _ in run.release.estimates():
        pass
    cells = sum(event.work.cells for event in run.rounds)
    return seconds, time.perf_counter() - start, len(run.rounds), cells


def shapes() -> Iterator[Row]:
    bars = {("ACS", 1.0): (40, 2.5), ("ACS", 10.0): (60, 2.5), ("Loans", 1.0): (90, 4.5)}
    for (name, epsilon), (bar, memory) in bars.items():
        if shape_of(SHAPES[name]) is None:
            continue
        (seconds, answers, count, cells), peak = in_process(shape_run, name, epsilon)
        yield (
            f"{name} shape, 50,000 records, epsilon = {epsilon:g}, from codes to answers",
            f"{seconds + answers:.1f} s ({answers:.1f} s of it answers), {count:,} rounds, "
            f"{cells / 1e9:.1f} billion cells, {peak:.2f} GiB peak",
            f"at most {bar} s, {memory} GiB",
        )


def completed_run(table: engine.Table) -> tuple[float, float, int, int]:
    """Seconds and CPU seconds of a run with completed tables, rounds, cells scored."""
    start = time.process_time()
    seconds, run = timed_run(engine.AimGrem(), table, 1.0)
    cells = sum(event.work.cells for event in run.rounds)
    return seconds, time.process_time() - start, len(run.rounds), cells


def completed_shape(name: str) -> tuple[float, float, int, int]:
    completed_run(made_table({"a": 2, "b": 3, "c": 4}, 100))  # compiled before, as everywhere
    return completed_run(made_table(shape_of(SHAPES[name]) or {}, 50_000))


def completed() -> Iterator[Row]:
    table = adult()
    completed_run(table)
    seconds, cpu, rounds, cells = min(completed_run(table) for _ in range(5))
    yield (
        "AIM+GReM, completed, Adult 13, epsilon = 1, counting included",
        f"{seconds:.2f} s ({cpu:.2f} s of CPU), {rounds} rounds, {cells / 1e6:.0f} million cells",
        "at most 0.8 s",
    )
    if shape_of(SHAPES["ACS"]):
        (seconds, cpu, rounds, cells), peak = in_process(completed_shape, "ACS")
        yield (
            "AIM+GReM, completed, ACS shape, 50,000 records, epsilon = 1",
            f"{seconds:.0f} s ({cpu:.0f} s of CPU), {rounds:,} rounds, "
            f"{cells / 1e9:.1f} billion cells, {peak:.2f} GiB peak",
            "at most 180 s, 2.5 GiB",
        )


def counting() -> Iterator[Row]:
    domain = adult().domain
    sizes = dict(zip(domain.names, domain.sizes, strict=True))
    table = made_table(sizes, 1_000_000)
    workload = engine.Workload.all_kway(table.domain, 3)
    seconds = best(lambda: engine.Private(table).counts(workload.layout), seconds=3)
    yield (
        "counting all 3-way marginals and their subsets, 1,000,000 records, 13 attributes",
        f"{seconds:.2f} s",
        "at most 6 s",
    )


def flatness() -> Iterator[Row]:
    """Update every marginal for one measured marginal of middling size, for growing domains."""
    rates: dict[int, dict[int, float]] = {1: {}, 2: {}}
    rounds = {}
    for d in (10, 20, 40, 80):
        sizes = {f"a{i}": int(n) for i, n in enumerate(np.linspace(2, 20, d).round())}
        domain = engine.Domain.from_sizes(sizes)
        reconstruction = Reconstruction(engine.Workload.all_kway(domain, 3).layout)
        gamma = (d // 4, d // 2, 3 * d // 4)
        rng = np.random.default_rng(0)
        changes = {
            tau: rng.random([domain.sizes[i] - 1 for i in tau]) for tau in ((), gamma[:1], gamma)
        }
        touched = reconstruction.update(changes)
        cells = int(reconstruction.layout.cells[touched].sum())
        rates[2][d] = update_seconds(reconstruction, changes) / cells * 1e9
        with mock.patch.object(grem, "_PARALLEL_CELLS", 10**12):
            rates[1][d] = update_seconds(reconstruction, changes) / cells * 1e9
        if d <= 20:
            table = made_table(sizes, 20_000)
            timed_run(engine.AimGrem.paper(), table, 1.0)
            seconds, run = timed_run(engine.AimGrem.paper(), table, 1.0)
            rounds[d] = seconds / len(run.rounds) * 1e3
    for threads, names in ((2, "update"), (1, "the same on one thread")):
        found = rates[threads]
        spread = max(found.values()) / min(found.values())
        shown = ", ".join(f"d = {d}: {rate:.2f}" for d, rate in found.items())
        case = f"{names}, time per touched cell, sizes 2 to 20"
        yield case, f"{shown} ns ({spread:.1f}x)", "within 2x"
    shown = ", ".join(f"d = {d}: {ms:.2f}" for d, ms in rounds.items())
    yield "whole run, time per round where cells hardly count", f"{shown} ms", "-"


def update_seconds(reconstruction: Reconstruction, changes: dict[Any, Any]) -> float:
    return best(lambda: reconstruction.update(changes))


def memory_case(d: int, low: int, high: int, records: int, mechanism: str) -> tuple[int, int]:
    """Bytes of peak memory above the idle process, and the estimate."""
    sizes = {f"a{i}": int(n) for i, n in enumerate(np.linspace(low, high, d).round())}
    table = made_table(sizes, records)
    chosen = catalogue.find(mechanism).make()
    tiny = engine.Domain.from_sizes({"a": 2, "b": 2})
    timed_run(chosen, engine.Table.from_codes([[0, 1]], tiny), 1.0, degree=2)
    idle = peak_memory()
    timed_run(chosen, table, 1.0)
    peak = peak_memory()
    workload = engine.Workload.all_kway(table.domain, 3)
    return peak - idle, chosen.memory_needed(workload)


def memory() -> Iterator[Row]:
    ratios = []
    for case in itertools.product(
        [(12, 60, 100, 50_000), (30, 20, 40, 100_000), (70, 2, 10, 20_000), (20, 2, 90, 20_000)],
        ["aim_grem", "aim_grem_paper", "residual_planner"],
    ):
        (peak, estimate), _ = in_process(memory_case, *case[0], case[1])
        if peak > 50 * 2**20:  # below it, what making the table took is the peak
            ratios.append(estimate / peak)
    shown = f"{min(ratios):.2f} to {max(ratios):.2f} times the measured peak, {len(ratios)} cases"
    yield "memory estimate from public sizes", shown, "within 1.5x"


CASES = {
    "kronecker": kronecker,
    "ablation": ablation,
    "adult": adult_runs,
    "completed": completed,
    "counting": counting,
    "flatness": flatness,
    "memory": memory,
    "shapes": shapes,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], default=[])
    parser.add_argument("--write", action="store_true", help="keep the figures in speed.md")
    options = parser.parse_args()
    lines = ["| case | measured | bar |", "|---|---|---|"]
    print(*lines, sep="\n")
    for case in options.cases or CASES:
        for row in CASES[case]():
            lines.append(f"| {' | '.join(row)} |")
            print(lines[-1], flush=True)
    if options.write:
        machine = f"{platform.machine()}, 2 cores, Python {platform.python_version()}, NumPy "
        machine += f"{np.__version__}, {datetime.now(UTC):%Y-%m-%d}"
        text = "# Speed\n\n" + f"`python tests/benchmarks/speed.py --write` on {machine}.\n\n"
        Path(__file__).with_suffix(".md").write_text(text + "\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
