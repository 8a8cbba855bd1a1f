"""Rounds, or everything at once: decided by one charged, noisy answer (``finish="auto"``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from engine.forecast import predicted_l1
from engine.measure import measure_error
from engine.mechanisms.aim_state import AimState, plan_whole
from engine.noise import RandomSource
from engine.planner import plan_rest
from engine.tables import Private
from engine.workload import Workload

DECISION_SHARE = Fraction(1, 100)
"""Most that is spent on asking how wrong the first tables are, before deciding."""
DECISION_ERROR = 0.02
"""How precisely it is asked at most, relative to the number of records."""
MOST_WORTHWHILE = 3.0
"""Everything is measured at once if what that leaves, times a factor, is below the error there is.

Rounds spend nothing on residuals that are nothing, which makes the others more precise. The more
residuals there are for each attribute, the more there is to choose: the factor is a quarter of
their number, at least 1 and at most this (engine/README.md has the trials).
"""


def decide(
    state: AimState,
    error_there_is: Callable[[], int],
    *,
    private: Private,
    rng: RandomSource,
    fits: bool,
) -> tuple[AimState, str]:
    """Compare the error that measuring everything would leave with the error there is.

    The first follows from sizes and budget. The second is measured, with noise and charged,
    unless no error could be large enough: two tables of N records differ by at most 2 N.

    Args:
        state: After the first answers.
        error_there_is: The mean error now, a whole number of sensitivity 1; asked only if needed.
        private: The records' counts.
        rng: Where the noise comes from.
        fits: Whether measuring everything fits into memory.

    Returns:
        The state, charged for the question if it was asked, and what was decided and why.
    """
    total = max(float(state.beliefs[()].values), 1.0)
    enough = Fraction(1 / (2 * (DECISION_ERROR * total) ** 2))
    rho = min(DECISION_SHARE * state.ledger.total, enough)
    plan = plan_rest(state.workload, state.beliefs, rho=state.ledger.left - rho)
    leaves = predicted_l1(state.workload, {a.attrs: a.after for a in plan})
    compared = f"Measuring everything at once would leave a mean L1 error of {leaves:,.0f}"
    worth = _worth_of_rounds(state.workload)
    if not fits:
        return state, f"Rounds. {compared}, and take more memory than there is."
    if worth * leaves > 2.0 * total:
        return state, f"Rounds. {compared}, and there are only about {total:,.0f} records."
    ledger, error = measure_error(private, error_there_is(), rho=rho, ledger=state.ledger, rng=rng)
    state = replace(state, ledger=ledger)
    compared += f"; now it is {error:,.0f}, as measured with noise."
    times = f"{worth:.2g} times what" if worth > 1 else "what"
    if worth * leaves > error:
        return state, f"Rounds. {compared} That is less than {times} would be left."
    compared += f" That is at least {times} will be left."
    return plan_whole(state), f"Everything at once. {compared}"


def _worth_of_rounds(workload: Workload) -> float:
    """How many times the error of measuring everything rounds may start from: see the constant."""
    residuals = len(workload.closure) - 1
    return min(max(residuals / (4.0 * len(workload.domain)), 1.0), MOST_WORTHWHILE)
