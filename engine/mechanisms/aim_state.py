"""Where a run of AIM+GReM stands, and what its next round will use.

The state always says what comes next, so a view made before a step shows what the step will do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from engine.accounting import Ledger
from engine.completing.release import Release
from engine.errors import BudgetError
from engine.mechanisms import choosing
from engine.released import Beliefs
from engine.trace import RoundEnded
from engine.workload import Workload

MEASURE_SHARE = Fraction(9, 10)
"""Share of every round's budget that measuring gets; selecting gets the rest."""
ANNEALING = 4
"""Growth of the round budgets after a round that brought little: sigma halves, epsilon doubles."""
Phase: TypeAlias = Literal["rounds", "last", "step", "whole", "finished"]
"""What comes next: a round with others after it, the last round, a round that measures the whole
workload with others after it, the last such round, or nothing."""


@dataclass(frozen=True, slots=True, repr=False)
class AimState:
    """Where a run stands: released values and exact budgets, nothing else.

    Args:
        workload: What is to be answered.
        beliefs: Every residual estimate so far.
        ledger: What was charged so far.
        rho_measure: What the next round will spend on measuring.
        rho_select: What it will spend on selecting.
        round: Rounds done.
        phase: What the next round is.
        rehearsal: Whether the noise was a demonstration's.
    """

    workload: Workload
    beliefs: Beliefs
    ledger: Ledger
    rho_measure: Fraction
    rho_select: Fraction
    round: int
    phase: Phase
    rehearsal: bool

    @property
    def last(self) -> bool:
        """Whether the next round is the last."""
        return self.phase in ("last", "whole")

    @property
    def finished(self) -> bool:
        """Whether there is none."""
        return self.phase == "finished"

    @property
    def whole(self) -> bool:
        """Whether the next round measures the whole workload and selects nothing."""
        return self.phase in ("step", "whole")

    def __repr__(self) -> str:
        stands = f"round {self.round}, next: {self.phase}"
        return f"AimState({stands}, {self.beliefs!r}, {self.ledger!r})"


def anneal(state: AimState) -> AimState:
    """Four times the budget for the next round: the last one brought little."""
    # Paper: the prose says the budget doubles; its algorithm, like AIM's, halves sigma and doubles
    # epsilon, which is four times the rho.
    return replace(
        state, rho_measure=ANNEALING * state.rho_measure, rho_select=ANNEALING * state.rho_select
    )


def plan_whole(state: AimState) -> AimState:
    """The next round is the last, and measures everything with everything left."""
    return replace(state, rho_measure=state.ledger.left, rho_select=Fraction(0), phase="whole")


def plan_step(state: AimState) -> AimState:
    """The next round measures the whole workload with its share of what is left."""
    return replace(
        state,
        rho_measure=choosing.PARTS[state.round] * state.ledger.left,
        rho_select=Fraction(0),
        phase="whole" if state.round == len(choosing.PARTS) - 1 else "step",
    )


def plan_last(state: AimState) -> AimState:
    """If two more rounds do not fit, the next one is the last and gets everything left."""
    left = state.ledger.left
    if left > 2 * (state.rho_measure + state.rho_select):
        return state
    return replace(
        state,
        rho_measure=MEASURE_SHARE * left,
        rho_select=(1 - MEASURE_SHARE) * left,
        phase="last",
    )


def with_budget(state: AimState, *, rho: Fraction) -> AimState:
    """Return the state as if the whole budget were this: see ``AimGrem.with_budget``."""
    before = state.ledger
    if state.finished or rho <= before.spent:
        raise BudgetError(
            f"A budget of rho = {float(rho):.6g} leaves nothing to do here: "
            f"{float(before.spent):.6g} is spent. Fork an earlier round, or give more.",
            code="E_OVERSPEND",
            asked=float(rho),
            left=float(before.left),
        )
    ledger = before.what_if_total(rho)
    factor = ledger.left / before.left
    return replace(
        state,
        ledger=ledger,
        rho_measure=factor * state.rho_measure,
        rho_select=factor * state.rho_select,
    )


def resumed(release: Release, number: int, following: RoundEnded | None) -> AimState:
    """Return the state after a round: see ``AimGrem.resumed``."""
    phase: Phase = "finished"
    if following is not None:
        adaptive = following.selected is not None
        ends: tuple[Phase, Phase] = ("rounds", "last") if adaptive else ("step", "whole")
        phase = ends[following.last]
    budgets = following.rho_measure if following else Fraction(0)
    select = following.rho_select if following else Fraction(0)
    return AimState(
        release.workload, release.beliefs, release.ledger, budgets, select, number, phase,
        release.rehearsal,
    )  # fmt: skip
