"""What a run is asked for: mechanism, workload, state and budget are checked before it begins."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeVar

from engine.accounting import checked_delta, checked_epsilon, checked_rho, rho_from
from engine.checking import expect, found
from engine.completing.release import Release
from engine.errors import BudgetError, OptionError, WorkloadError
from engine.mechanisms.protocols import Mechanism
from engine.tables import Private
from engine.workload import Workload

S = TypeVar("S")


def settings_of(mechanism: Mechanism[Any]) -> str:
    """Return name and options, as releases carry them: what a mechanism prints, if it has none."""
    return str(getattr(mechanism, "settings", repr(mechanism)))


def budget(epsilon: float | None, delta: float | None, rho: float | Fraction | None) -> Fraction:
    """Return the budget in zCDP; refuse none, and two of them."""
    if (epsilon is None) == (rho is None):
        found = "both epsilon and rho are" if rho is not None else "neither epsilon nor rho is"
        raise BudgetError(
            f"The budget is not clear: {found} given, one is needed. Give epsilon and delta, or "
            "rho.",
            code="E_BUDGET_AMBIGUOUS",
        )
    if rho is not None:
        if delta is not None:
            checked_delta(delta)
        return checked_rho(rho)
    if delta is None:
        checked_epsilon(epsilon)
        raise BudgetError(
            "epsilon comes without delta; both are needed. Add delta, for example 1e-9.",
            code="E_DELTA",
        )
    assert epsilon is not None
    return Fraction(rho_from(epsilon=epsilon, delta=delta))


def check_kinds(mechanism: object, workload: object) -> None:
    """Refuse what is no mechanism and no workload, before anything fails further down."""
    if isinstance(mechanism, type) or not isinstance(mechanism, Mechanism):
        raise OptionError(
            f"{found(mechanism)} was given where a mechanism is needed. Make one, for example "
            "engine.AimGrem()."
        )
    expect(workload, Workload, "a Workload", "Write Workload.all_kway(table.domain, 2).")


def release_of(mechanism: Mechanism[S], state: S, workload: Workload) -> Release:
    """Return what a state given to ``rounds`` would release; refuse what is no state of this."""
    try:
        mechanism.done(state)
        release = mechanism.release(state)
    except (AttributeError, TypeError) as error:
        raise OptionError(
            f"{found(state)} is no state of this mechanism; one that rounds gave, or "
            "run.state(mechanism, number), is needed. Leave it out to start from the beginning."
        ) from error
    if release.workload != workload:
        raise WorkloadError(
            "The state was made for another workload; a run goes on with its own. Give that one, "
            "or start again."
        )
    return release


def check_belongs(private: Private, workload: Workload) -> None:
    """Refuse a workload that was made for another domain than the table's."""
    if private.domain.sizes != workload.domain.sizes or private.domain != workload.domain:
        raise WorkloadError(
            "The workload was made for another domain than the table's; one domain is needed. Make "
            "both from the same Domain."
        )
