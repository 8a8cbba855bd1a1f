"""Every known answer of MATH section 12."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import engine
from engine.domain import subsets
from engine.planner import plan_marginal
from tests.golden import values as golden
from tests.support import make_domain

GAMMA = (0, 1)
SHAPE = (4, 3)


def parts() -> dict[tuple[int, ...], np.ndarray]:
    """What each residual carries of the worked marginal."""
    return {
        tau: engine.reconstruct(residual, tau, GAMMA, SHAPE)
        for tau, residual in golden.RESIDUALS.items()
    }


@pytest.mark.parametrize("tau", list(golden.RESIDUALS))
def test_the_residuals_of_the_worked_marginal(tau: tuple[int, ...]) -> None:
    found = engine.decompose(golden.MARGINAL, GAMMA, tau)
    np.testing.assert_array_equal(found, golden.RESIDUALS[tau])


def test_the_parts_of_the_worked_marginal() -> None:
    found = parts()
    for column in found[(0,)].T:
        np.testing.assert_allclose(column, golden.PART_0_ROWS, atol=golden.PART_TOLERANCE)
    first = found[(0, 1)][0]
    np.testing.assert_allclose(first, golden.PART_01_FIRST_ROW, atol=golden.PART_TOLERANCE)
    np.testing.assert_allclose(sum(found.values()), golden.MARGINAL, atol=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), list(golden.RHO))
def test_rho_from_epsilon_and_delta(epsilon: float, delta: float) -> None:
    found = engine.rho_from(epsilon=epsilon, delta=delta)
    assert found == pytest.approx(golden.RHO[epsilon, delta], abs=golden.RHO_TOLERANCE)


@pytest.mark.parametrize("rho", list(golden.EPSILON))
def test_epsilon_from_rho(rho: float) -> None:
    found = engine.epsilon_from(rho=rho, delta=1e-9)
    assert found == pytest.approx(golden.EPSILON[rho], rel=golden.EPSILON_TOLERANCE)


def costs_and_gains() -> tuple[list[Fraction], list[float]]:
    """p and v of every subset of the worked domain."""
    sizes = golden.SIZES
    taus = subsets((0, 1, 2))
    cost = [engine.privacy_cost([sizes[i] for i in t]) for t in taus]
    gain = [
        engine.cell_variance([sizes[i] for i in t], [sizes[j] for j in range(3) if j not in t])
        for t in taus
    ]
    return cost, gain


def test_privacy_costs_and_cell_variances() -> None:
    cost, gain = costs_and_gains()
    assert cost == golden.PRIVACY_COST
    np.testing.assert_allclose(gain, [float(v) for v in golden.CELL_VARIANCE], rtol=1e-14)


@pytest.mark.parametrize(
    ("known", "plan", "objective"),
    [
        ([0.0] * 8, [float(x) for x in golden.PLAN_FRESH], golden.OBJECTIVE_FRESH),
        (golden.KNOWN, golden.PLAN_KNOWN, golden.OBJECTIVE_KNOWN),
    ],
    ids=["nothing known", "something known"],
)
def test_conditional_residual_planner(
    known: list[float], plan: list[float], objective: float
) -> None:
    cost, gain = costs_and_gains()
    found = engine.plan([float(p) for p in cost], gain, known, budget=1.0)
    np.testing.assert_allclose(found, plan, atol=golden.PLAN_TOLERANCE)
    reached = float(np.sum(np.array(gain) / (np.array(known) + found)))
    assert reached == pytest.approx(objective, abs=golden.OBJECTIVE_TOLERANCE)
    solved = engine.plan_by_solver([float(p) for p in cost], gain, known, budget=1.0)
    assert solved.objective == pytest.approx(objective, rel=1e-6)
    allocations = plan_marginal(
        make_domain(golden.SIZES), (0, 1, 2), known, rho=Fraction(1, 2), omit_below=0.0
    )
    np.testing.assert_allclose([a.added for a in allocations], plan, atol=golden.PLAN_TOLERANCE)


def test_residual_planner_for_all_2_way_marginals() -> None:
    workload = engine.Workload.all_kway(make_domain(golden.PLANNER_SIZES), 2)
    plan = engine.ResidualPlanner().plan(workload, rho=Fraction(1, 2))
    for tau, precision in zip(plan.taus, plan.precision, strict=True):
        expected = golden.PLANNER_VARIANCE[tau]
        assert 1 / precision == pytest.approx(expected, rel=golden.PLANNER_TOLERANCE)
    assert plan.objective == pytest.approx(golden.PLANNER_TOTAL, rel=golden.PLANNER_TOLERANCE)


def test_adult_as_in_the_paper(adult: engine.Table) -> None:
    assert adult.codes.shape[1] == golden.ADULT_RECORDS
    assert adult.domain.sizes == golden.ADULT_SIZES
    for k, cells in golden.ADULT_CELLS.items():
        workload = engine.Workload.all_kway(adult.domain, k)
        assert workload.cells == cells
        assert len(workload.marginals) == golden.ADULT_MARGINALS[k]
