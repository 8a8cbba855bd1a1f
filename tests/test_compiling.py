"""Loops over cells give the same compiled and interpreted, and small runs wait for no compiler."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import engine
from engine import compiling
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
    domain = engine.Domain.from_sizes({"a": 2, "b": 3})
    layout = engine.Workload.all_kway(domain, 2).layout
    left = []
    for records in (0, 10, 5_000):
        table = engine.Table.from_codes(np.zeros((records, 2), np.int64), domain)
        with compiling.free_work(4_000):
            engine.Private(table).counts(layout)
            left.append(compiling._work.left)
    assert left == [4_000] * 3


def test_too_much_work_is_compiled_at_once() -> None:
    calls: list[str] = []

    @compiling.compiled
    def total(values: np.ndarray) -> float:
        s = 0.0
        for k in range(values.shape[0]):
            s += values[k]
        return s

    plain = total.function  # type: ignore[attr-defined]
    total._plain = lambda values: calls.append("plain") or plain(values)  # type: ignore[attr-defined]
    with compiling.free_work(100):
        assert total(np.ones(60)) == 60
        assert calls == ["plain"]
        assert total(np.ones(60)) == 60
        assert total(np.ones(3)) == 3, "the free work is used up for good"
    assert calls == ["plain"]


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
