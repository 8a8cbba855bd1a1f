"""The rational ledger, and rho <-> (epsilon, delta) against 50 digits."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.accounting import exact_sum
from tests.reference import conversion

EXCESS = 1e-12
"""How far to the safe side a conversion may lie, relative (SECURITY, promise 8)."""

epsilons = st.floats(-3, 2.9).map(lambda e: 10.0**e)
deltas = st.floats(-15, -3).map(lambda d: 10.0**d)
shares = st.fractions(min_value=0, max_value=1, max_denominator=1000)


@given(epsilons, deltas)
def test_rho_is_never_above_the_true_value_and_hardly_below(epsilon: float, delta: float) -> None:
    found = mp.mpf(engine.rho_from(epsilon=epsilon, delta=delta))
    true = conversion.rho_from(epsilon, delta)
    assert true * (1 - EXCESS) <= found <= true


@given(epsilons, deltas)
def test_epsilon_is_never_below_the_true_value_and_hardly_above(rho: float, delta: float) -> None:
    found = mp.mpf(engine.epsilon_from(rho=rho, delta=delta))
    true = conversion.epsilon_from(rho, delta)
    assert true <= found <= true * (1 + EXCESS)


@given(epsilons, deltas)
def test_delta_is_never_below_the_true_value_and_hardly_above(epsilon: float, delta: float) -> None:
    rho = engine.rho_from(epsilon=epsilon, delta=delta)
    found = mp.mpf(engine.delta_from(rho=rho, epsilon=epsilon))
    true = conversion.delta_from(rho, epsilon)
    # The exponent, up to 3e5 at epsilon = 1000, multiplies the rounding.
    assert true <= found <= true * (1 + 1e-9)


@given(epsilons, deltas)
def test_the_three_conversions_undo_each_other(epsilon: float, delta: float) -> None:
    rho = engine.rho_from(epsilon=epsilon, delta=delta)
    assert engine.epsilon_from(rho=rho, delta=delta) == pytest.approx(epsilon, rel=1e-11)
    assert engine.delta_from(rho=rho, epsilon=epsilon) == pytest.approx(delta, rel=1e-7)


@pytest.mark.parametrize(
    ("rho", "delta"),
    [
        (1.3591425629502874e-12, 1e-6),
        (0.0136535305, 0.1),
        (2.0937736758891017, 0.9),
        (2.1844809616932745, 0.9),
        (0.3863524508049463, 0.5),
        (13.815496743412096, 0.999999),
    ],
)
def test_epsilon_stays_on_the_safe_side_where_its_terms_cancel(rho: float, delta: float) -> None:
    assert engine.epsilon_from(rho=rho, delta=delta) >= conversion.epsilon_from(rho, delta)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("delta", [0.5, 0.9, 0.999999])
def test_rho_stays_on_the_safe_side_for_a_delta_near_one(epsilon: float, delta: float) -> None:
    assert engine.rho_from(epsilon=epsilon, delta=delta) <= conversion.rho_from(epsilon, delta)


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        (0, "rho epsilon delta"),
        (-1.0, "rho epsilon delta"),
        (float("nan"), "rho epsilon delta"),
        (float("inf"), "rho epsilon delta"),
        ("1", "rho epsilon delta"),
        (True, "rho epsilon delta"),
        (None, "rho epsilon delta"),
        (1j, "rho epsilon delta"),
        (1e308, "rho epsilon delta"),
        (1.0, "delta"),
        (1.5, "delta"),
        (5e-324, "rho"),
        (Fraction(1, 10**400), "rho"),
        (Fraction(10**400), "rho"),
        (Fraction(-1, 2), "rho"),
    ],
)
def test_a_budget_that_is_none_is_refused(value: Any, codes: str) -> None:
    good = {"rho": 0.1, "epsilon": 1.0, "delta": 1e-9}
    calls = {
        "rho": [("rho", "delta", engine.epsilon_from), ("rho", "epsilon", engine.delta_from)],
        "epsilon": [("epsilon", "delta", engine.rho_from), ("epsilon", "rho", engine.delta_from)],
        "delta": [("delta", "epsilon", engine.rho_from), ("delta", "rho", engine.epsilon_from)],
    }
    for name in codes.split():
        for bad, other, convert in calls[name]:
            with pytest.raises(engine.BudgetError, match=name) as caught:
                convert(**{bad: value, other: good[other]})
            assert caught.value.code == f"E_{name.upper()}"


@given(st.lists(shares, max_size=8))
def test_a_ledger_adds_up_exactly_and_never_passes_its_total(asked: list[Fraction]) -> None:
    ledger = engine.Ledger(Fraction(1))
    for rho in asked:
        before = ledger
        charge = engine.Charge("measure", (0,), rho)
        if rho <= ledger.left:
            ledger = ledger.charge(charge)
        else:
            with pytest.raises(engine.BudgetError) as caught:
                ledger.charge(charge)
            assert caught.value.code == "E_OVERSPEND"
            assert caught.value.asked == float(rho)
            assert caught.value.left == float(ledger.left)
        assert before.spent == sum(entry.rho for entry in before.entries)
    assert ledger.spent == sum((entry.rho for entry in ledger.entries), Fraction(0))
    assert ledger.spent <= ledger.total
    assert ledger.left == ledger.total - ledger.spent


def test_several_charges_are_made_all_or_none() -> None:
    ledger = engine.Ledger(Fraction(1))
    half = engine.Charge("select", None, Fraction(1, 2))
    with pytest.raises(engine.BudgetError):
        ledger.charge(half, half, engine.Charge("measure", (), Fraction(1, 10**30)))
    assert ledger.entries == ()
    assert ledger.charge(half, half).left == 0


def test_a_negative_charge_does_not_buy_budget_back() -> None:
    ledger = engine.Ledger(Fraction(1))
    with pytest.raises(engine.BudgetError):
        ledger.charge(engine.Charge("measure", (), Fraction(-1)))
    with pytest.raises(engine.BudgetError):
        ledger.charge(
            engine.Charge("measure", (), Fraction(3, 2)),
            engine.Charge("measure", (), Fraction(-1)),
        )


def test_errors_cross_processes_with_their_fields() -> None:
    errors = [
        engine.BudgetError("spent", code="E_OVERSPEND", asked=2.0, left=1.0),
        engine.SolverError("stopped", status="user_limit", gap=0.1),
        engine.DomainError("none"),
        engine.OptionError("no"),
        engine.WorkloadError("none"),
        engine.DataError("none"),
    ]
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)
    assert isinstance(errors[0], ValueError)
    assert isinstance(errors[1], RuntimeError)


@given(st.lists(st.fractions(min_value=-3, max_value=3), max_size=12))
def test_the_sum_over_one_denominator_is_the_sum(values: list[Fraction]) -> None:
    assert exact_sum(values) == sum(values, Fraction(0))
