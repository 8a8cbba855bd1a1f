"""Sizes learned from released values, forecasts of what a plan leaves, and the shares they make."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.completing import sizes as learning
from engine.completing.completed import Completed
from engine.completing.sizes import Sizes, learned
from engine.mechanisms.choosing import Shared
from engine.mechanisms.sharing import Forecast
from engine.planner import measurable
from engine.released import Belief, Beliefs
from tests.reference import sharing as twin
from tests.support import make_domain


def beliefs_of(codes: np.ndarray, workload: engine.Workload, precision: float) -> Beliefs:
    """What measuring every residual without noise says, claimed at this precision."""
    private = engine.Private(engine.Table.from_codes(codes, workload.domain))
    return Beliefs(
        {
            tau: Belief(engine.decompose(private.marginal(tau).values, tau, tau), precision)
            for tau in measurable(workload)[0]
        }
    )


def codes_of(
    seed: int, sizes: tuple[int, ...], *, rows: int = 2000, skew: float = 1.0
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    columns = [rng.choice(n, rows, p=rng.dirichlet(np.full(n, skew))) for n in sizes]
    return np.stack(columns, axis=1)


def forecast_of(
    codes: np.ndarray, sizes: tuple[int, ...], degree: int, precision: float = 1e4
) -> tuple[engine.Workload, Completed, Sizes, Forecast]:
    workload = engine.Workload.all_kway(make_domain(sizes), degree)
    tables = Completed(workload.layout, beliefs_of(codes, workload, precision))
    found = learned(tables, measurable(workload)[0])
    return workload, tables, found, Forecast(workload, tables, found)


# -- sizes --------------------------------------------------------------------------------------


def test_a_copied_attribute_is_told_from_independent_ones() -> None:
    codes = codes_of(0, (4, 3, 4), skew=50.0)
    codes[:, 2] = codes[:, 0]
    workload, _, found, _ = forecast_of(codes, (4, 3, 4), 2)
    size = dict(zip(found.taus, found.structure.mean(axis=0).tolist(), strict=True))
    assert size[0, 2] > 1.0  # energy of the copy is n - 1 times the product's
    assert max(size[0, 1], size[1, 2]) < 0.02
    assert len(workload.closure) == len(found.taus)


def test_what_noise_hides_keeps_the_usual_sizes_and_all_of_their_spread() -> None:
    codes = codes_of(1, (4, 3, 4))
    _, _, found, _ = forecast_of(codes, (4, 3, 4), 2, precision=1e-12)
    pairs = [j for j, tau in enumerate(found.taus) if len(tau) == 2]
    for j in pairs:
        plausible = np.sort(found.structure[:, j])
        assert plausible[0] < learning.USUAL[2] / 5 < learning.USUAL[2] * 3 < plausible[-1]


def test_every_plausible_size_stands_in_one_world() -> None:
    codes = codes_of(2, (4, 3, 4))
    _, _, found, _ = forecast_of(codes, (4, 3, 4), 2, precision=1e-12)
    one, other = (
        found.structure[:, j] for j in np.flatnonzero([len(t) == 2 for t in found.taus])[:2]
    )
    assert len(set(one.tolist())) == len(set(other.tolist())) == learning.WORLDS


# -- forecasts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("skew", "close"), [(1e9, 1e-6), (2.0, 0.05), (0.3, 0.1)])
def test_a_forecast_is_what_its_twin_adds_up_cell_by_cell(skew: float, close: float) -> None:
    shape = (4, 3, 5)
    codes = codes_of(3, shape, skew=skew)
    if skew > 1e6:  # even tables: all cells of a table are one group
        codes = np.stack(np.unravel_index(np.arange(600) % 60, shape), axis=1)
    workload, tables, found, forecast = forecast_of(codes, shape, 3)
    rng = np.random.default_rng(0)
    precision = rng.exponential(1e-3, len(found.taus))
    scaled = {}
    for gamma in workload.weights:
        table = tables.table(gamma) + 1e-6
        scaled[gamma] = table * found.total / table.sum()
    by_tau = dict(enumerate(found.taus))
    expected = twin.forecast(
        scaled,
        workload.weights,
        dict(zip(found.taus, precision.tolist(), strict=True)),
        {by_tau[j]: found.structure[:, j].tolist() for j in by_tau},
        {by_tau[j]: found.sampling[:, j].tolist() for j in by_tau},
    )
    assert forecast.error(precision) == pytest.approx(expected, rel=close)


@given(st.integers(0, 500))
def test_precision_never_raises_a_forecast_and_worth_is_its_slope(seed: int) -> None:
    codes = codes_of(seed, (3, 4, 2), rows=300)
    *_, forecast = forecast_of(codes, (3, 4, 2), 2, precision=1e-3)
    rng = np.random.default_rng(seed)
    precision = rng.exponential(1e-3, len(forecast.cost))
    error, worth = forecast._error(precision)
    assert (worth >= 0).all()
    at = int(rng.integers(len(precision)))
    step = np.zeros(len(precision))
    step[at] = 1e-4 * precision[at]
    lower = forecast.error(precision + step)
    assert lower <= error
    slope = (forecast.error(precision - step) - lower) / (2 * step[at])
    assert slope == pytest.approx(worth[at], rel=1e-3, abs=1e-12 * error / step[at])


def test_a_table_much_larger_than_the_records_never_costs_more_than_twice_them() -> None:
    # Raw noise on 90,000 cells was taken for an error of thousands of times the records.
    codes = codes_of(5, (300, 300), rows=500)
    workload = engine.Workload([(0, 1)], make_domain((300, 300)))
    tables = Completed(workload.layout, Beliefs({(): Belief(np.array(500.0), 1e-2)}))
    found = learned(tables, measurable(workload)[0])
    forecast = Forecast(workload, tables, found)
    assert len(codes) == 500
    assert forecast.error(np.full(len(found.taus), 1e-9)) <= 2.0 * found.total


# -- shares -------------------------------------------------------------------------------------


@given(st.integers(0, 300))
def test_a_share_spends_the_budget_where_it_is_worth_most(seed: int) -> None:
    codes = codes_of(seed, (3, 4, 2), rows=300)
    *_, forecast = forecast_of(codes, (3, 4, 2), 2, precision=1e-3)
    known = np.full(len(forecast.cost), 1e-5)
    added = forecast.share(known, 0.01)
    assert float(forecast.cost @ added) == pytest.approx(0.01)
    even = np.full(len(known), 0.01 / len(known)) / forecast.cost
    assert forecast.error(known + added) <= forecast.error(known + even) * (1 + 1e-9)
    worth = forecast._error(known + added)[1] / forecast.cost
    most = worth[added > 0].max()
    large = forecast.cost * added > 0.02 * 0.01
    assert (worth[large] > 0.8 * most).all()


def test_only_what_is_allowed_is_shared_among() -> None:
    codes = codes_of(7, (3, 4, 2), rows=300)
    *_, forecast = forecast_of(codes, (3, 4, 2), 2)
    allowed = np.arange(len(forecast.cost)) < 4
    added = forecast.share(np.zeros(len(allowed)), 1.0, allowed)
    assert not added[~allowed].any()
    assert added[allowed].any()


@given(st.integers(0, 100))
def test_a_plan_costs_no_more_than_its_budget_in_exact_arithmetic(seed: int) -> None:
    sizes = (3, 1, 4)
    workload = engine.Workload.all_kway(make_domain(sizes), 2)
    rho = Fraction(1 + seed, 997)
    codes = codes_of(seed, sizes, rows=50)
    plan = Shared(workload, beliefs_of(codes, workload, 1e-3), "unbiased").plan(rho)
    spent = sum((a.rho for a in plan), Fraction(0))
    assert spent <= rho
    assert spent > rho * Fraction(999_999, 1_000_000)
    for planned in plan:
        cost = engine.privacy_cost(workload.domain.shape(planned.attrs))
        assert planned.rho == cost * Fraction(planned.added) / 2
