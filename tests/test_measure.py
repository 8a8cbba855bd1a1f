"""The only place where noise is added: charge first, then draw, then release."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.domain import subsets
from engine.measure import measure_marginal, measure_residuals
from engine.released import Allocation
from tests.reference import dense
from tests.strategies import subset_of, tables
from tests.support import Counting, Tape

COSTS = st.fractions(min_value=Fraction(1, 10**6), max_value=100)


@given(tables(), st.data(), COSTS)
def test_an_isotropic_marginal_is_charged_rho_and_worth_its_residuals(
    table: engine.Table, data: st.DataObject, rho: Fraction
) -> None:
    domain, private = table.domain, engine.Private(table)
    gamma = data.draw(subset_of(tuple(range(len(domain)))))
    tape = Tape(seed=1)
    ledger, measured = measure_marginal(
        private, gamma, rho=rho, ledger=engine.Ledger(rho), rng=tape
    )
    assert ledger.entries == (engine.Charge("measure", gamma, rho),)
    # Noise of variance at least 1/(2 rho), once, on the whole marginal.
    [(kind, (shape, variance))] = tape.laws
    assert (kind, shape) == ("gaussian", domain.shape(gamma))
    assert Fraction(variance) >= 1 / (2 * rho)
    assert Fraction(variance) <= 1 / (2 * rho) * (1 + Fraction(1, 10**15))
    [(_, noisy)] = tape.results
    real = [t for t in subsets(gamma) if all(domain.sizes[i] > 1 for i in t)]
    assert [m.attrs for m in measured] == real
    for m in measured:
        np.testing.assert_allclose(m.values, dense.decompose(noisy, gamma, m.attrs), atol=1e-6)
        spread = domain.cells(gamma) // domain.cells(m.attrs)
        assert Fraction(m.precision) <= 2 * rho / spread
        assert m.precision == pytest.approx(float(2 * rho / spread), rel=1e-12)


@given(tables(), st.data())
def test_a_residual_is_charged_p_x_over_2_and_drawn_with_no_less_than_its_variance(
    table: engine.Table, data: st.DataObject
) -> None:
    domain, private = table.domain, engine.Private(table)
    gamma = tuple(range(len(domain)))
    taus = [t for t in subsets(gamma) if all(domain.sizes[i] > 1 for i in t)]
    planned = [
        Allocation(t, 0.0, x, engine.privacy_cost(domain.shape(t)) * Fraction(x) / 2)
        for t in taus
        for x in [data.draw(st.sampled_from([0.0, 0.3, 7.0]))]
    ]
    tape = Tape(seed=2)
    total = sum((a.rho for a in planned), Fraction(0)) or Fraction(1)
    ledger, measured = measure_residuals(private, planned, ledger=engine.Ledger(total), rng=tape)
    bought = [a for a in planned if a.added > 0]
    assert [c.rho for c in ledger.entries] == [a.rho for a in bought]
    assert [c.attrs for c in ledger.entries] == [a.attrs for a in bought]
    assert [m.attrs for m in measured] == [a.attrs for a in bought]
    for a, m, (_, (shape, variance)), (_, noisy) in zip(
        bought, measured, tape.laws, tape.results, strict=True
    ):
        assert shape == domain.shape(a.attrs)
        assert m.precision == a.added
        assert Fraction(variance) * Fraction(a.added) >= 1
        # The cost of what was drawn is no more than what was charged.
        p = engine.privacy_cost(domain.shape(a.attrs))
        assert p / (2 * Fraction(variance)) <= a.rho
        np.testing.assert_allclose(m.values, dense.decompose(noisy, a.attrs, a.attrs), atol=1e-6)


def test_a_ledger_that_refuses_does_so_before_any_noise_is_drawn(table: engine.Table) -> None:
    private, rng = engine.Private(table), Counting()
    ledger = engine.Ledger(Fraction(1, 2))
    with pytest.raises(engine.BudgetError) as caught:
        measure_marginal(private, (0,), rho=Fraction(1), ledger=ledger, rng=rng)
    assert caught.value.code == "E_OVERSPEND"
    half = Allocation((), 0.0, 1.0, Fraction(1, 2))
    with pytest.raises(engine.BudgetError):
        # The first fits, both together do not: neither is drawn.
        measure_residuals(private, [half, half], ledger=ledger, rng=rng)
    assert rng.draws == 0
    assert ledger.entries == ()


def test_an_omitted_residual_costs_nothing_and_is_not_measured_as_zero(
    table: engine.Table,
) -> None:
    rng = Counting()
    ledger, measured = measure_residuals(
        engine.Private(table),
        [Allocation((0,), 0.0, 0.0, Fraction(0))],
        ledger=engine.Ledger(Fraction(1)),
        rng=rng,
    )
    assert ledger.spent == 0
    assert measured == ()
    assert rng.draws == 0


def test_measuring_twice_draws_twice(table: engine.Table) -> None:
    # A cache that returned old noise for a new charge would let a difference remove it.
    private, rng = engine.Private(table), engine.rehearsal_noise(0)
    ledger = engine.Ledger(Fraction(10))
    ledger, one = measure_marginal(private, (0,), rho=Fraction(1), ledger=ledger, rng=rng)
    ledger, two = measure_marginal(private, (0,), rho=Fraction(1), ledger=ledger, rng=rng)
    assert not np.array_equal(one[0].values, two[0].values)
