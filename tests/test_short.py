"""What is printed for a value fits on a few lines, whatever the run."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest

import engine
from engine.mechanisms import catalogue
from tests.support import ROOT, make_domain, play
from tests.test_privacy import reachable

LONGEST = 480
"""Characters: six lines of a terminal."""
PLAIN = (str, bytes, int, float, dict, list, tuple, set, frozenset, np.ndarray)
"""Python's and NumPy's own: how they print is not ours to say."""


def run_of(mechanism: Any) -> tuple[Any, ...]:
    domain = make_domain([9, 8, 7, 6])
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, n, 500) for n in domain.sizes], axis=1)
    table = engine.Table.from_codes(codes, domain)
    workload = engine.Workload.all_kway(domain, 3)
    states, events, release = play(mechanism, table, workload, rho=1, rng=engine.rehearsal_noise(0))
    return states, engine.Run.of(events, release), list(release.estimates()), table


@pytest.mark.parametrize("entry", catalogue.entries("forms"), ids=lambda entry: entry.key)
def test_every_value_of_a_run_prints_on_a_few_lines(entry: catalogue.Entry) -> None:
    kinds = set()
    for value in reachable(run_of(entry.make())):
        kind = type(value)
        if not kind.__module__.startswith("engine") or not is_dataclass(value):
            continue
        kinds.add(kind)
        assert len(repr(value)) <= LONGEST, kind
        assert "array(" not in repr(value), kind
    assert {engine.RoundEnded, engine.Measurement, engine.Belief, engine.Run} <= kinds


def test_a_run_on_adult_prints_on_a_few_lines() -> None:
    domain = engine.Domain.from_json(ROOT / "sample_data" / "adult_paper.domain.json")
    table = engine.Table.from_csv(ROOT / "sample_data" / "adult.csv.gz", domain)
    workload = engine.Workload.all_kway(domain, 3)
    run = engine.run(engine.AimGrem.paper(), table, workload, epsilon=1, delta=1e-9, seed=0)
    last, beliefs = run.rounds[-1], run.release.beliefs
    values = [
        run, run.release, run.started, run.finished, last, last.work, *last.measurements,
        *last.allocations, *last.charges, beliefs, *(beliefs[tau] for tau in beliefs),
        run.release.ledger, run.release.estimate("age", "education"), workload, domain, table,
        engine.evaluate(run.release, table),
    ]  # fmt: skip
    for value in values:
        assert len(repr(value)) <= LONGEST, type(value)
        assert "array(" not in repr(value), type(value)


def test_plans_predictions_and_agreeing_tables_print_on_a_few_lines() -> None:
    domain = make_domain([9, 8, 7, 6])
    workload = engine.Workload.all_kway(domain, 3)
    _, run, estimates, table = run_of(engine.AimGrem.paper())
    for value in (
        engine.ResidualPlanner().plan(workload, rho=1),
        engine.ResidualPlanner().predict(workload, rho=1),
        engine.plan_by_solver([1.0] * 90, [1.0] * 90, [0.0] * 90, budget=1.0),
        engine.consistent(run.release),
        engine.evaluate(run.release, table),
        engine.compare(estimates[0], table),
        domain,
        engine.Domain.from_sizes({f"a long name of an attribute, {k}": 9 for k in range(300)}),
    ):
        assert len(repr(value)) <= LONGEST, type(value)
        assert "array(" not in repr(value)
