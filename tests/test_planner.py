"""CRP's exact water level against Clarabel, bisection and the optimality conditions."""

# Over 400 lines: one planner, whose tests share its random problems and its twin.

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.domain import subsets
from engine.planner import _charge, plan_marginal, spent_on
from tests.reference import dense, planning
from tests.strategies import domains
from tests.support import make_domain, random_sizes, random_workload

OBJECTIVE, SHARES, KKT = 1e-6, 1e-4, 1e-12
"""Clarabel's optimum is flat: objectives agree better than shares (MATH 5); KKT is exact."""
CASES = 1_000


def marginal_problem(sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Cost and gain of every residual below the marginal of these sizes, empty ones included."""
    gamma = tuple(range(len(sizes)))
    cost, gain = [], []
    for tau in subsets(gamma):
        inside = [sizes[i] for i in tau]
        cost.append(float(engine.privacy_cost(inside)))
        gain.append(engine.cell_variance(inside, [sizes[j] for j in gamma if j not in tau]))
    return np.array(cost), np.array(gain)


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """One of the random cases: a marginal or arbitrary numbers, and some earlier precisions."""
    rng = np.random.default_rng(seed)
    kind = seed % 8
    if kind == 0:  # arbitrary
        k = int(rng.integers(1, 12))
        cost, gain = 10 ** rng.uniform(-2, 0, size=k), 10 ** rng.uniform(-6, 1, size=k)
    elif kind == 1:  # one residual
        cost, gain = 10 ** rng.uniform(-3, 3, size=1), 10 ** rng.uniform(-3, 3, size=1)
    else:  # a marginal; sizes of 1 make cost = gain = 0
        cost, gain = marginal_problem(
            [int(n) for n in rng.integers(1 if kind < 5 else 2, 9, size=rng.integers(1, 5))]
        )
    budget = float(10 ** rng.uniform(-4, 4))
    known = [
        np.zeros(len(cost)),
        np.full(len(cost), 1e18),
        budget * 10 ** rng.uniform(-3, 3, size=len(cost)),
        np.where(rng.random(len(cost)) < 0.5, 0.0, budget * 10 ** rng.uniform(-1, 1, len(cost))),
    ][int(rng.integers(4))]
    return cost, gain, known, budget


def objective(gain: np.ndarray, after: np.ndarray) -> float:
    """Summed variance, residuals that gain nothing left out."""
    return math.fsum((gain[gain > 0] / after[gain > 0]).tolist())


def exact_cost(cost: np.ndarray, added: np.ndarray) -> Fraction:
    """The exact sum of cost times precision."""
    return sum(
        (Fraction(c) * Fraction(x) for c, x in zip(cost.tolist(), added.tolist(), strict=True)),
        Fraction(0),
    )


def check_optimality(
    cost: np.ndarray, gain: np.ndarray, known: np.ndarray, budget: float, added: np.ndarray
) -> None:
    """KKT: one level s, a + x = s r where x > 0 and a >= s r where x = 0; the budget used up."""
    used = (cost > 0) & (gain > 0)
    assert not added[~used].any()
    ratio = np.sqrt(gain[used]) / np.sqrt(cost[used])
    level = (known[used] + added[used]) / ratio
    filled = added[used] > 0
    s = level[filled].min()
    assert (level[filled] <= s * (1 + KKT)).all()
    assert (level[~filled] >= s * (1 - KKT)).all()
    spent = exact_cost(cost, added)
    assert spent <= Fraction(budget)
    assert spent >= Fraction(budget) * (1 - Fraction(KKT))


@pytest.mark.parametrize("part", range(10))
def test_the_water_level_meets_the_optimality_conditions_and_the_budget(part: int) -> None:
    for seed in range(part, CASES, 10):
        cost, gain, known, budget = problem(seed)
        if not ((cost > 0) & (gain > 0)).any():
            continue
        added = engine.plan(cost, gain, known, budget=budget)
        check_optimality(cost, gain, known, budget, added)


def agree_with_solver(seed: int) -> None:
    """One case against Clarabel."""
    cost, gain, known, budget = problem(seed)
    added = engine.plan(cost, gain, known, budget=budget)
    solved = engine.plan_by_solver(cost, gain, known, budget=budget)
    if (gain > 0).any():
        best = objective(gain, known + added)
        assert objective(gain, known + solved.added) == pytest.approx(best, rel=OBJECTIVE)
    np.testing.assert_allclose(cost * added / budget, cost * solved.added / budget, atol=SHARES)


def test_the_water_level_agrees_with_clarabel_on_150_cases() -> None:
    for seed in range(150):
        agree_with_solver(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_the_water_level_agrees_with_clarabel_on_1000_cases(part: int) -> None:
    for seed in range(part, CASES, 5):
        agree_with_solver(seed)


@pytest.mark.parametrize("known", [0.0, 1.0, 1e18])
@pytest.mark.parametrize("sizes", [[], [2], [1], [3, 1], [1, 1], [2, 3, 4], [2] * 6])
def test_the_edge_cases_agree_with_clarabel(known: float, sizes: list[int]) -> None:
    cost, gain = marginal_problem(sizes)
    before = np.full(len(cost), known)
    added = engine.plan(cost, gain, before, budget=1.0)
    check_optimality(cost, gain, before, 1.0, added)
    solved = engine.plan_by_solver(cost, gain, before, budget=1.0)
    np.testing.assert_allclose(cost * added, cost * solved.added, atol=SHARES)


@pytest.mark.parametrize("seed", range(60))
def test_the_water_level_agrees_with_bisection_in_60_digits(seed: int) -> None:
    cost, gain, known, budget = problem(seed)
    if not ((cost > 0) & (gain > 0)).any():
        return
    ratio = np.zeros_like(cost)
    np.divide(np.sqrt(gain), np.sqrt(cost), out=ratio, where=cost > 0)
    expected = planning.water_level(cost.tolist(), ratio.tolist(), known.tolist(), budget)
    found = engine.plan(cost, gain, known, budget=budget)
    # Differences of breakpoints of size known / ratio are lost below their last digit.
    blur = np.max(known) * 1e-15 * np.max(ratio) / np.min(ratio[ratio > 0]) / budget
    np.testing.assert_allclose(
        cost * found / budget, cost * np.array(expected) / budget, atol=1e-9 + blur * cost.max()
    )


def test_a_huge_precision_everywhere_does_not_drown_the_budget() -> None:
    # The plain cumulative form spends nothing here.
    cost, gain = marginal_problem([4, 3, 2])
    added = engine.plan(cost, gain, np.full(8, 1e18), budget=1.0)
    assert float(cost @ added) == pytest.approx(1.0, rel=1e-12)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail rather than hang."""

    def late(*_: object) -> None:
        raise AssertionError(f"not back within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a POSIX timer")
@pytest.mark.parametrize("span", [6, 12, 30])
def test_costs_far_apart_are_planned_within_the_budget_and_in_no_time(span: int) -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 8))
        cost, gain, known = 10 ** rng.uniform(-span, span, size=(3, k))
        known[rng.random(k) < 0.4] = 0
        budget = float(10 ** rng.uniform(-span, span))
        with within(5.0):
            added = engine.plan(cost, gain, known, budget=budget)
        assert (added >= 0).all()
        assert np.isfinite(added).all()
        assert exact_cost(cost, added) <= Fraction(budget)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_numbers_near_the_end_of_double_precision_are_planned_or_refused(size: float) -> None:
    for cost, gain, known, budget in product([1.0, size], repeat=4):
        with suppress(engine.BudgetError):
            added = engine.plan([cost, 1.0], [gain, 1.0], [known, 0.0], budget=budget)
            assert np.isfinite(added).all()


def test_nothing_is_bought_where_cost_and_gain_are_zero() -> None:
    assert engine.plan([0.0, 1.0], [0.0, 1.0], [0.0, 0.0], budget=1.0).tolist() == [0.0, 1.0]
    assert engine.plan([0.0], [0.0], [0.0], budget=1.0).tolist() == [0.0]
    assert engine.plan([1.0, 1.0], [0.0, 1.0], [0.0, 0.0], budget=1.0).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("cost", "gain", "known", "budget", "code"),
    [
        ([1], [1], [0], 0, "E_BUDGET"),
        ([1], [1], [0], -1.0, "E_BUDGET"),
        ([1], [1], [0], float("nan"), "E_BUDGET"),
        ([1], [1], [0], float("inf"), "E_BUDGET"),
        ([1], [1], [0], "1", "E_BUDGET"),
        ([0], [1], [0], 1.0, "E_PLAN"),
        ([-1], [1], [0], 1.0, "E_PLAN"),
        ([1], [float("nan")], [0], 1.0, "E_PLAN"),
        ([1], [1], [float("inf")], 1.0, "E_PLAN"),
        ([1, 1], [1], [0], 1.0, "E_PLAN"),
        ([[1]], [[1]], [[0]], 1.0, "E_PLAN"),
    ],
)
def test_a_program_that_is_none_is_refused(
    cost: Any, gain: Any, known: Any, budget: Any, code: str
) -> None:
    for planner in (engine.plan, engine.plan_by_solver):
        with pytest.raises(engine.BudgetError) as caught:
            planner(cost, gain, known, budget=budget)
        assert caught.value.code == code


# -- one marginal --------------------------------------------------------------------------------


@given(domains(values=6), st.data())
def test_a_round_s_allocation_adds_up_and_never_passes_the_round_s_budget(
    domain: engine.Domain, data: st.DataObject
) -> None:
    gamma = tuple(range(len(domain)))
    known = [data.draw(st.sampled_from([0.0, 0.1, 3.0, 1e6])) for _ in subsets(gamma)]
    rho = data.draw(st.fractions(min_value=Fraction(1, 10**6), max_value=10))
    respend = data.draw(st.booleans())
    allocations = plan_marginal(domain, gamma, known, rho=rho, respend=respend)
    measurable = [t for t in subsets(gamma) if all(domain.sizes[i] > 1 for i in t)]
    assert [a.attrs for a in allocations] == measurable
    for a in allocations:
        assert a.rho == engine.privacy_cost(domain.shape(a.attrs)) * Fraction(a.added) / 2
        assert a.after == a.known + a.added
    spent = sum(a.rho for a in allocations)
    assert spent <= rho
    # The paper leaves what is omitted unspent: less than eta for each.
    least = 1 - Fraction(1, 10**9) if respend else 1 - Fraction(len(allocations), 1000)
    assert spent >= least * rho


def test_residuals_with_less_than_eta_of_the_budget_are_omitted_and_the_rest_respent() -> None:
    domain = make_domain([4, 3, 2])
    gamma, known = (0, 1, 2), [0.0] * 8
    full = plan_marginal(domain, gamma, known, rho=Fraction(1, 2), omit_below=0.0)
    shares = {a.attrs: float(2 * a.rho) for a in full}
    eta = 0.06
    paper = plan_marginal(domain, gamma, known, rho=Fraction(1, 2), omit_below=eta, respend=False)
    again = plan_marginal(domain, gamma, known, rho=Fraction(1, 2), omit_below=eta, respend=True)
    omitted = {t for t, share in shares.items() if share < eta}
    assert omitted
    for a, b in zip(paper, again, strict=True):
        assert (a.added == 0) == (b.added == 0) == (a.attrs in omitted)
        if a.added:
            # As the paper: the first solution, the rest left unspent.
            assert float(2 * a.rho) == pytest.approx(shares[a.attrs], rel=1e-12)
            assert b.added > a.added
    kept = sum(share for t, share in shares.items() if t not in omitted)
    assert float(2 * sum(a.rho for a in paper)) == pytest.approx(kept, rel=1e-12)
    assert float(2 * sum(a.rho for a in again)) == pytest.approx(1.0, rel=1e-12)


def test_the_respent_plan_is_optimal_on_the_kept_set() -> None:
    domain = make_domain([4, 3, 2])
    gamma = (0, 1, 2)
    known = [2.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]
    plan = plan_marginal(domain, gamma, known, rho=Fraction(1, 2), omit_below=0.12)
    kept = np.array([a.added > 0 for a in plan])
    cost, gain = marginal_problem([4, 3, 2])
    expected = engine.plan(cost[kept], gain[kept], np.array(known)[kept], budget=1.0)
    np.testing.assert_allclose([a.added for a in plan if a.added], expected, rtol=1e-12)


@pytest.mark.parametrize("respend", [True, False])
def test_ten_binary_attributes_keep_the_largest_share(respend: bool) -> None:
    # 1,024 equal shares, each below eta: one is kept all the same.
    domain = make_domain([2] * 10)
    gamma = tuple(range(10))
    plan = plan_marginal(domain, gamma, [0.0] * 1024, rho=Fraction(1), respend=respend)
    measured = [a for a in plan if a.added > 0]
    assert len(measured) == 1
    spent = float(measured[0].rho)
    assert spent == pytest.approx(1.0 if respend else 1 / 1024, rel=1e-9)


def test_with_nothing_known_crp_is_the_isotropic_allocation() -> None:
    for seed in range(50):
        sizes = random_sizes(np.random.default_rng(seed), values=7)
        domain = make_domain(sizes)
        gamma = tuple(range(len(sizes)))
        plan = plan_marginal(
            domain, gamma, [0.0] * 2 ** len(sizes), rho=Fraction(1, 2), omit_below=0.0
        )
        for a in plan:
            # Precision 1/(sigma² prod of the other sizes), sigma² = 1.
            spread = domain.cells(gamma) // domain.cells(a.attrs)
            assert a.added == pytest.approx(1 / spread, rel=1e-12)


# -- a whole workload ----------------------------------------------------------------------------


def workload_problem(
    workload: engine.Workload,
) -> tuple[list[tuple[int, ...]], np.ndarray, np.ndarray]:
    """Residuals, costs, and the matrix of v_{tau,gamma} (one row a workload marginal)."""
    domain = workload.domain
    taus = [t for t in workload.closure if all(domain.sizes[i] > 1 for i in t)]
    cost = np.array([float(engine.privacy_cost(domain.shape(t))) for t in taus])
    variance = np.zeros((len(workload.marginals), len(taus)))
    for row, gamma in enumerate(workload.marginals):
        for column, tau in enumerate(taus):
            if set(tau) <= set(gamma):
                others = [domain.sizes[j] for j in gamma if j not in tau]
                variance[row, column] = engine.cell_variance(domain.shape(tau), others)
    return taus, cost, variance


@pytest.mark.parametrize("seed", range(12))
def test_residual_planner_s_sum_is_least_and_closed_form(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = make_domain([int(n) for n in rng.integers(1, 6, size=rng.integers(1, 5))])
    workload = random_workload(rng, domain)
    taus, cost, variance = workload_problem(workload)
    weights = [w * domain.cells(g) for g, w in workload.weights.items()]
    gain = np.array(weights) @ variance
    plan = engine.ResidualPlanner().plan(workload, rho=Fraction(1, 2))
    assert list(plan.taus) == taus
    root = np.sqrt(cost * gain)
    used = gain > 0
    np.testing.assert_allclose(
        plan.precision[used], np.sqrt(gain[used] / cost[used]) / root.sum(), rtol=1e-9
    )
    assert plan.objective == pytest.approx(root.sum() ** 2, rel=1e-9)
    assert plan.objective == pytest.approx(planning.least_sum(cost, gain, 1.0), rel=OBJECTIVE)
    assert Fraction(999_999, 10**6) / 2 <= plan.rho <= Fraction(1, 2)
    assert plan.rho == exact_cost_of(plan) / 2


def exact_cost_of(plan: Any) -> Fraction:
    """The exact sum of p x."""
    pairs = zip(plan.costs, plan.precision.tolist(), strict=True)
    return sum((c * Fraction(x) for c, x in pairs), Fraction(0))


@pytest.mark.parametrize("seed", range(12))
def test_residual_planner_s_maximum_is_least(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = make_domain([int(n) for n in rng.integers(1, 6, size=rng.integers(1, 5))])
    workload = random_workload(rng, domain)
    _, cost, variance = workload_problem(workload)
    weighted = np.array(list(workload.weights.values()))[:, None] * variance
    plan = engine.ResidualPlanner(objective="max").plan(workload, rho=Fraction(1, 2))
    assert plan.rho <= Fraction(1, 2)
    assert plan.rho >= Fraction(999, 1000) / 2
    found = float((weighted @ (1 / plan.precision)).max())
    assert plan.objective == pytest.approx(found, rel=1e-9)
    assert found == pytest.approx(planning.least_maximum(cost, weighted, 1.0), rel=1e-4)
    assert 0 <= plan.gap <= 1e-4
    summed = engine.ResidualPlanner().plan(workload, rho=Fraction(1, 2))
    assert found <= float((weighted @ (1 / summed.precision)).max()) * (1 + 1e-6)


def test_planned_cell_variances_are_those_of_the_dense_covariance() -> None:
    domain = make_domain([2, 3, 4])
    workload = engine.Workload.all_kway(domain, 2)
    plan = engine.ResidualPlanner().plan(workload, rho=Fraction(1, 2))
    precisions = dict(zip(plan.taus, plan.precision.tolist(), strict=True))
    predicted = engine.ResidualPlanner().predict(workload, rho=Fraction(1, 2))
    for gamma, variance in predicted.cell_variance.items():
        expected = dense.cell_variance(precisions, gamma, domain.sizes)
        assert variance == pytest.approx(expected, rel=1e-9)


def test_the_omission_threshold_is_never_applied_to_a_whole_workload_plan() -> None:
    domain = make_domain([2] * 11)
    plan = engine.ResidualPlanner().plan(engine.Workload.all_kway(domain, 5), rho=Fraction(1))
    shares = np.array([float(c) for c in plan.costs]) * plan.precision / 2
    assert shares.min() < 1e-3
    assert (plan.precision > 0).all()


@given(
    st.lists(
        st.tuples(
            st.fractions(min_value=0, max_value=1),
            st.floats(0, 1e300, allow_nan=False, allow_subnormal=True),
        ),
        max_size=8,
    )
)
def test_what_is_spent_and_charged_is_the_exact_sum(pairs: list[tuple[Fraction, float]]) -> None:
    cost, added = [c for c, _ in pairs], np.array([x for _, x in pairs])
    exact = sum((c * Fraction(x) for c, x in pairs), Fraction(0))
    assert spent_on(cost, added) == exact
    assert sum((_charge(c, x) for c, x in pairs), Fraction(0)) == exact / 2
