"""Loops over cells give the same compiled and interpreted, and small runs wait for no compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import compiling, threads
from tests.support import ROOT

ROUNDING = 1e-9
"""Compiled sums are reassociated, so the two forms differ by rounding only."""


def answers(table: engine.Table, mechanism: engine.AimGrem) -> list[np.ndarray]:
    workload = engine.Workload.all_kway(table.domain, 3)
    run = engine.run(mechanism, table, workload, epsilon=2.0, delta=1e-9, seed=4)
    return [estimate.values for estimate in run.release.estimates()]


@pytest.mark.parametrize(
    "mechanism",
    [engine.AimGrem(), engine.AimGrem(finish="rounds"), engine.AimGrem.paper()],
    ids=["default", "rounds", "paper"],
)
def test_a_run_is_the_same_compiled_and_interpreted(mechanism: engine.AimGrem) -> None:
    rng = np.random.default_rng(5)
    domain = engine.Domain.from_sizes({"a": 2, "b": 5, "c": 4, "d": 3})
    table = engine.Table.from_codes(rng.integers(0, domain.sizes, (300, 4)), domain)
    with compiling.free_work(np.inf):
        interpreted = answers(table, mechanism)
    with compiling.free_work(0):
        compiled = answers(table, mechanism)
    for one, other in zip(interpreted, compiled, strict=True):
        assert np.allclose(one, other, rtol=ROUNDING, atol=ROUNDING * 300)


def test_counting_is_the_same_compiled_and_with_numpy() -> None:
    rng = np.random.default_rng(6)
    domain = engine.Domain.from_sizes({"a": 2, "b": 1, "c": 300})
    table = engine.Table.from_codes(rng.integers(0, domain.sizes, (1000, 3)), domain)
    layout = engine.Workload.all_kway(domain, 2).layout
    counts = []
    for free in (np.inf, 0):
        with compiling.free_work(free):
            counts.append(engine.Private(table).counts(layout))
    assert np.array_equal(*counts)
    assert counts[0].sum() == 1000 * len(layout)


def test_how_many_records_there_are_does_not_decide_what_is_compiled() -> None:
    # Compiled sums are rounded otherwise: released digits would tell how many were counted.
    served: list[str] = []
    total = watched(served)
    domain = engine.Domain.from_sizes({"a": 2, "b": 3})
    layout = engine.Workload.all_kway(domain, 2).layout
    for records in (0, 10, 5_000):
        table = engine.Table.from_codes(np.zeros((records, 2), np.int64), domain)
        with compiling.free_work(4_000):
            engine.Private(table).counts(layout)
            total(np.ones(3))
    assert served == ["plain"] * 3


def watched(served: list[str]) -> Callable[[np.ndarray], float]:
    """A loop that says how it was served."""

    def total(values: np.ndarray) -> float:
        s = 0.0
        for k in range(values.shape[0]):
            s += values[k]
        return s

    loop = compiling.Loop(total)
    loop._plain = lambda values: served.append("plain") or total(values)
    loop._compiled = lambda values: served.append("compiled") or total(values)
    return loop


def test_what_serves_a_call_follows_from_public_sizes_and_from_nothing_before() -> None:
    served: list[str] = []
    total = watched(served)
    with compiling.free_work(100):
        for _ in range(5):  # nothing is used up
            total(np.ones(60))
        total(np.ones(101))
        total(np.ones(60))
        with compiling.sized(101):
            total(np.ones(60))
            with compiling.sized(100):
                total(np.ones(1000))
        total(np.ones(60))
    assert served == [*["plain"] * 5, "compiled", "plain", "compiled", "plain", "plain"]


def test_threads_go_by_the_size_of_the_workload_at_hand() -> None:
    served: list[str] = []
    total = watched(served)
    with compiling.free_work(100), compiling.sized(1000):
        threads.in_threads(lambda first, last: total(np.ones(last - first)), list(range(40)))
    assert set(served) == {"compiled"}


BITS = """
import hashlib, numpy as np, engine
from engine import compiling
from engine.completing import shrinkage
def run():
    domain = engine.Domain.from_sizes({"a": 2, "b": 3, "c": 4, "d": 5})
    codes = np.arange(400)[:, None] * np.array([1, 2, 3, 5]) % np.array(domain.sizes)
    table = engine.Table.from_codes(codes, domain)
    workload = engine.Workload.all_kway(domain, 3)
    found = engine.run(engine.AimGrem(), table, workload, epsilon=2, delta=1e-9, seed=3)
    return b"".join(e.values.tobytes() for e in found.release.estimates())
def large():
    rng, told = np.random.default_rng(0), b""
    with compiling.sized(10**9):
        for _ in range(100):
            predicted, noisy = rng.exponential(9.0, (24, 64)), rng.normal(size=(24, 64))
            found = shrinkage.evidence(noisy, predicted, variance=1.0, freedom=1449)
            told += shrinkage.interaction(noisy, found).tobytes()
    return told
def told(*bits):
    print(*(hashlib.sha256(b).hexdigest() for b in bits))
"""


@pytest.mark.slow
def test_the_same_seeded_call_gives_the_same_bits_in_a_fresh_and_in_a_warm_process(
    tmp_path: Path,
) -> None:
    # Loops that were called by others stood in memory twice: sums differed by whether the code was
    # compiled in this process or read from disk. And after enough work, small runs were compiled.
    fresh = digits("told(run(), large())", tmp_path)
    again = digits("large(); told(run(), large())", tmp_path)
    assert fresh == again


def digits(code: str, cache: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BITS + code],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=300,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("name", ["titanic", "ucb_admissions", "hair_eye_color"])
def test_a_small_run_imports_no_compiler(name: str) -> None:
    code = (
        "import sys, engine\n"
        f"domain = engine.Domain.from_json('sample_data/{name}.domain.json')\n"
        f"table = engine.Table.from_csv('sample_data/{name}.csv', domain)\n"
        "workload = engine.Workload.all_kway(domain, 3)\n"
        "run = engine.run(engine.AimGrem(), table, workload, epsilon=1, delta=1e-9, seed=0)\n"
        "list(run.release.estimates())\n"
        "print('numba' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout.strip() == "False", done.stderr
