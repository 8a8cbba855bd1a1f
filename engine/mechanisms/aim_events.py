"""What a run of AIM+GReM tells: how it began, and what each round did."""

from __future__ import annotations

import math
from fractions import Fraction

from engine.mechanisms import choosing
from engine.mechanisms.aim_state import AimState
from engine.released import Allocation, Measurement
from engine.trace import RoundEnded, Started, Work
from engine.types import AttributeSet


def started(
    state: AimState,
    settings: str,
    rho: Fraction,
    measured: list[Measurement],
    decision: str | None,
) -> Started:
    """The budgets of the first round, and what was measured before it."""
    layout = state.workload.layout
    rounds = len(choosing.PARTS) if state.phase == "step" else 0
    if state.phase not in ("step", "finished"):
        rounds = math.ceil(state.ledger.left / (state.rho_measure + state.rho_select))
    return Started(
        mechanism=settings,
        rho_total=rho,
        rho_measure=None if state.finished else state.rho_measure,
        rho_select=None if state.finished else state.rho_select,
        max_rounds=rounds,
        measurements=tuple(measured),
        charges=state.ledger.entries,
        work=Work(len(layout), layout.total_cells, len(layout), len(measured)),
        rehearsal=state.rehearsal,
        decision=decision,
    )


def ended(
    state: AimState,
    after: AimState,
    *,
    allocations: tuple[Allocation, ...],
    measured: tuple[Measurement, ...],
    work: Work,
    selected: AttributeSet | None = None,
    moved: tuple[float, float] | None = None,
    annealed: bool = False,
) -> RoundEnded:
    """What a round did, from the state before it to the one after.

    Args:
        state: Before it.
        after: After it.
        allocations: What was planned.
        measured: What was released.
        work: What it took.
        selected: The marginal chosen; None where the whole workload was measured.
        moved: How far its estimate moved, and how far noise alone would move it.
        annealed: Whether the budgets grew after it.
    """
    change, threshold = (None, None) if moved is None else moved
    return RoundEnded(
        round=after.round,
        selected=selected,
        rho_measure=state.rho_measure,
        rho_select=state.rho_select,
        allocations=allocations,
        measurements=measured,
        charges=after.ledger.entries_since(state.ledger),
        rho_spent=after.ledger.spent,
        change=change,
        threshold=threshold,
        annealed=annealed,
        last=state.last,
        work=work,
    )
