"""Completed tables that are kept answer for their own beliefs and their own workload only."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine.completing import keeping
from engine.released import Belief, Beliefs
from tests.support import make_domain


def beliefs_of(total: float) -> Beliefs:
    return Beliefs({(): Belief(np.array(total), 1.0), (0,): Belief(np.array([1.0, 2.0]), 1.0)})


def release(workload: engine.Workload, beliefs: Beliefs) -> engine.Release:
    return engine.Release(workload, beliefs, engine.Ledger(1), "m", True, completion="maxent")


def test_two_rounds_of_one_run_give_their_own_answers() -> None:
    workload = engine.Workload.all_kway(make_domain([3, 2]), 2)
    early, late = release(workload, beliefs_of(40.0)), release(workload, beliefs_of(90.0))
    for _ in range(3):
        assert early.estimate(0, 1).values.sum() == pytest.approx(40.0)
        assert late.estimate(0, 1).values.sum() == pytest.approx(90.0)


def test_one_run_s_beliefs_answer_two_workloads() -> None:
    domain, beliefs = make_domain([3, 2, 4]), beliefs_of(40.0)
    pairs = engine.Workload({(0, 1): 1.0}, domain)
    triples = engine.Workload({(0, 1, 2): 1.0}, domain)
    for _ in range(2):
        assert release(pairs, beliefs).estimate(0, 1).values.shape == (3, 2)
        found = release(triples, beliefs).estimate(0, 1, 2).values
        assert found.sum() == pytest.approx(40.0)
    one = keeping.kept(pairs.layout, beliefs)
    other = keeping.kept(triples.layout, beliefs)
    assert one.layout is pairs.layout
    assert other.layout is triples.layout
    assert keeping.kept(pairs.layout, beliefs) is one


def test_tables_with_zeros_of_their_own_are_kept_apart_from_those_without() -> None:
    pairs, beliefs = engine.Workload.all_kway(make_domain([3, 2]), 2), beliefs_of(40.0)
    for kind in ("maxent", "sparse", "maxent", "sparse"):
        assert keeping.kept(pairs.layout, beliefs, kind=kind).kind == kind  # type: ignore[arg-type]
