"""A round's budget within a workload: among which residuals, and what omission gives back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import engine
from engine.forecast import predicted_l1
from engine.planner import plan_rest
from engine.released import Belief, Beliefs
from tests.reference.completed_rounds import Problem
from tests.support import make_domain

SIZES = (2, 3, 4)


def workload() -> engine.Workload:
    return engine.Workload({(0, 1): 1.0, (1, 2): 0.001, (0, 1, 2): 0.01}, make_domain(SIZES))


def test_only_what_is_meant_is_measured() -> None:
    among = {(), (1,), (1, 2), (2,)}
    plan = plan_rest(workload(), Beliefs(), rho=Fraction(1, 2), among=among)
    assert {a.attrs for a in plan} == among
    assert float(sum(a.rho for a in plan)) == pytest.approx(0.5)
    everything = plan_rest(workload(), Beliefs(), rho=Fraction(1, 2))
    assert {a.attrs for a in everything} == set(workload().closure)


@pytest.mark.parametrize("omit", [0.0, 0.02, 0.1])
def test_what_is_left_out_gives_its_budget_to_the_rest(omit: float) -> None:
    beliefs = Beliefs({(0,): Belief(np.array([5.0]), 3.0)})
    plan = plan_rest(workload(), beliefs, rho=Fraction(1, 4), omit_below=omit)
    problem = Problem(SIZES, dict(workload().weights))
    expected = problem.plan({(0,): 3.0}, Fraction(1, 4), omit_below=omit)
    for allocation in plan:
        assert allocation.added == pytest.approx(expected[allocation.attrs], rel=1e-7, abs=1e-9)
    bought = [a for a in plan if a.added > 0]
    assert all(float(a.rho) >= omit / 4 * (1 - 1e-9) for a in bought)
    assert float(sum(a.rho for a in plan)) == pytest.approx(0.25, rel=1e-9)
    if omit:
        assert len(bought) < len(plan)


def test_the_predicted_error_is_the_weighted_mean() -> None:
    precision = dict.fromkeys(workload().closure, 2.0)
    alone = {
        attrs: predicted_l1(engine.Workload({attrs: 1.0}, workload().domain), precision)
        for attrs in workload().weights
    }
    weights = workload().weights
    expected = sum(w * alone[a] for a, w in weights.items()) / sum(weights.values())
    assert predicted_l1(workload(), precision) == pytest.approx(expected, rel=1e-12)
    assert predicted_l1(workload(), dict.fromkeys(precision, 8.0)) == pytest.approx(expected / 2)


def test_mwem_leaves_nothing_of_its_budget() -> None:
    table = engine.Table.from_codes([[0, 0, 0], [1, 2, 3]], make_domain(SIZES))
    release = engine.run(engine.MwemGrem(), table, workload(), rho=1, seed=0).release
    assert release.ledger.left == 0
