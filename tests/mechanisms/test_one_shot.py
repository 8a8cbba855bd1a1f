"""The batch mechanisms: planned from sizes, measured once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from engine.domain import subsets
from tests.reference import dense
from tests.support import Counting, make_domain, random_case

BATCH = [
    engine.ResidualPlanner(),
    engine.ResidualPlanner(objective="max"),
    engine.EqualSplit(),
    engine.Uniform(),
]


@pytest.mark.parametrize("mechanism", BATCH, ids=repr)
@pytest.mark.parametrize("seed", range(8))
def test_predicted_variances_are_those_the_release_carries(mechanism: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain, codes, workload = random_case(rng)
    table = engine.Table.from_codes(codes, domain)
    release = engine.run(mechanism, table, workload, rho=Fraction(1, 3), seed=seed).release
    predicted = mechanism.predict(workload, rho=Fraction(1, 3))
    precisions = {t: b.precision for t, b in release.beliefs.items()}
    for gamma in workload.marginals:
        estimate = release.estimate(*gamma)
        within = {t: x for t, x in precisions.items() if set(t) <= set(gamma)}
        expected = dense.cell_variance(within, gamma, domain.sizes)
        assert estimate.variance == pytest.approx(expected, rel=1e-9)
        assert predicted.cell_variance[gamma] == pytest.approx(expected, rel=1e-9)
        error = domain.cells(gamma) * math.sqrt(2 / math.pi * expected)
        assert predicted.expected_l1[gamma] == pytest.approx(error, rel=1e-9)
    mean = np.mean(list(predicted.expected_l1.values()))
    assert predicted.mean_l1 == pytest.approx(mean, rel=1e-9)
    unmeasured = any(release.estimate(*g).unmeasured for g in workload.marginals)
    assert predicted.exact == (not unmeasured)


@pytest.mark.parametrize("mechanism", BATCH, ids=repr)
def test_nothing_is_drawn_or_charged_before_the_one_round(
    mechanism: Any, table: engine.Table
) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    rng = Counting()
    state, event = mechanism.start(engine.Private(table), workload, rho=Fraction(1), rng=rng)
    assert rng.draws == 0
    assert event.charges == ()
    assert event.max_rounds == 1
    assert mechanism.release(state).ledger.spent == 0
    assert not mechanism.done(state)


def test_residual_planner_measures_every_residual_once(table: engine.Table) -> None:
    domain = table.domain
    workload = engine.Workload.all_kway(domain, 3)
    for objective in ("sum", "max"):
        run = engine.run(
            engine.ResidualPlanner(objective=objective),  # type: ignore[arg-type]
            table,
            workload,
            rho=1,
            seed=0,
        )
        measured = [m.attrs for m in run.rounds[0].measurements]
        real = [t for t in workload.closure if all(domain.sizes[i] > 1 for i in t)]
        assert measured == real
        assert all(not e.unmeasured for e in run.release.estimates())


def test_uniform_spends_all_of_rho_on_the_total_and_spreads_it(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.Uniform(), table, workload, rho=Fraction(1, 3), seed=0)
    assert list(run.release.beliefs) == [()]
    total = float(run.release.estimate().values)
    for estimate in run.release.estimates():
        np.testing.assert_allclose(estimate.values, total / estimate.values.size)
    assert run.release.estimate().variance == pytest.approx(1.5, rel=1e-12)
    assert run.release.ledger.spent <= Fraction(1, 3)
    assert [c.attrs for c in run.release.ledger.entries] == [()]


def test_equal_split_measures_every_workload_marginal_with_variance_w_over_2_rho(
    table: engine.Table,
) -> None:
    domain = table.domain
    workload = engine.Workload.all_kway(domain, 2)
    rho = Fraction(1, 3)
    run = engine.run(engine.EqualSplit(), table, workload, rho=rho, seed=0)
    count = len(workload.marginals)
    assert [c.attrs for c in run.release.ledger.entries] == list(workload.marginals)
    assert {c.rho for c in run.release.ledger.entries} == {rho / count}
    assert run.release.ledger.left == 0
    # A residual that several marginals contain is combined from all of them (sigma² = |W|/2rho).
    for tau, belief in run.release.beliefs.items():
        worth = sum(
            float(2 * rho / count) / (domain.cells(g) // domain.cells(tau))
            for g in workload.marginals
            if tau in subsets(g)
        )
        assert belief.precision == pytest.approx(worth, rel=1e-12)


def test_a_plan_may_be_asked_for_without_any_table() -> None:
    workload = engine.Workload.all_kway(make_domain([2, 3, 4]), 2)
    plan = engine.ResidualPlanner().plan(workload, rho=0.5)
    assert plan.rho <= Fraction(1, 2)
    with pytest.raises(engine.BudgetError):
        engine.ResidualPlanner().plan(workload, rho=0)
    with pytest.raises(engine.BudgetError):
        engine.Uniform().predict(workload, rho=float("nan"))


@pytest.mark.parametrize("objective", ["mean", None, 3])
def test_an_objective_that_does_not_exist_is_refused(objective: Any) -> None:
    with pytest.raises(engine.OptionError, match="objective") as caught:
        engine.ResidualPlanner(objective=objective)
    assert caught.value.code == "E_OPTION"


def test_a_greater_weight_buys_a_marginal_less_variance() -> None:
    domain = make_domain([4, 4, 4])
    even = engine.Workload([(0, 1), (1, 2)], domain)
    skewed = engine.Workload({(0, 1): 100.0, (1, 2): 1.0}, domain)
    for objective in ("sum", "max"):
        planner = engine.ResidualPlanner(objective=objective)  # type: ignore[arg-type]
        before = planner.predict(even, rho=1).cell_variance
        after = planner.predict(skewed, rho=1).cell_variance
        assert after[(0, 1)] < before[(0, 1)]
        assert after[(1, 2)] > before[(1, 2)]
