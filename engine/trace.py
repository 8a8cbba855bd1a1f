"""What a run tells while it goes, to and from JSON.

Events are made of released values and public settings only. From the events every
marginal at every past round can be rebuilt; scores, true errors and the seed are not among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from engine.accounting import Charge, Ledger
from engine.checking import expect
from engine.errors import DataError
from engine.released import Allocation, Beliefs, Measurement
from engine.types import AttributeSet


@dataclass(frozen=True, slots=True)
class Work:
    """How much was done in a step: counted, so that a slow-down shows without a clock.

    Args:
        marginals: Marginals reconstructed or updated.
        cells: Cells of those marginals.
        scores: Candidates whose error was computed again.
        residuals: Residuals measured.
    """

    marginals: int = 0
    cells: int = 0
    scores: int = 0
    residuals: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Started:
    """The first event: the plan, and what was measured before the first round.

    Args:
        mechanism: Name and options.
        rho_total: The whole budget.
        rho_measure: What the first round will spend on measuring; None if there are no rounds.
        rho_select: The same for selecting.
        max_rounds: At most about so many rounds can follow.
        measurements: What is known now.
        charges: What it cost.
        work: What was done.
        rehearsal: Whether the noise is a demonstration's.
        decision: What was decided about the rounds to come, and from which released values.
    """

    mechanism: str
    rho_total: Fraction
    rho_measure: Fraction | None = None
    rho_select: Fraction | None = None
    max_rounds: int = 1
    measurements: tuple[Measurement, ...] = ()
    charges: tuple[Charge, ...] = ()
    work: Work = Work()
    rehearsal: bool = True
    decision: str | None = None

    def __repr__(self) -> str:
        return (
            f"Started({self.mechanism}; rho {float(self.rho_total):.6g}, at most {self.max_rounds} "
            f"rounds, {len(self.measurements)} residuals measured)"
        )


@dataclass(frozen=True, slots=True, repr=False)
class RoundEnded:
    """One round: what was selected and measured, at which cost, and what follows from it.

    Args:
        round: Counted from 1.
        selected: The marginal chosen; None where nothing is selected (batch mechanisms).
        rho_measure: Budget the round had for measuring.
        rho_select: Budget the round had for selecting.
        allocations: The plan for every residual of the marginal, omitted ones included.
        measurements: The residuals measured.
        charges: What it cost.
        rho_spent: Spent so far, this round included.
        change: L1 distance between the marginal's estimates before and after; None if not defined.
        threshold: What the change must exceed for the round budgets to stay as they are.
        annealed: Whether the next round's budgets were quadrupled.
        last: Whether this was the last round.
        work: What was done.
    """

    round: int
    selected: AttributeSet | None = None
    rho_measure: Fraction = Fraction(0)
    rho_select: Fraction = Fraction(0)
    allocations: tuple[Allocation, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    charges: tuple[Charge, ...] = ()
    rho_spent: Fraction = Fraction(0)
    change: float | None = None
    threshold: float | None = None
    annealed: bool = False
    last: bool = False
    work: Work = Work()

    def __repr__(self) -> str:
        about = "the whole workload" if self.selected is None else f"selected {self.selected}"
        return (
            f"RoundEnded({self.round}, {about}, {len(self.measurements)} residuals measured, "
            f"rho {float(self.rho_spent):.6g} spent{', the last' if self.last else ''})"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Finished:
    """The last event."""

    rounds: int
    rho_spent: Fraction
    rho_left: Fraction

    def __repr__(self) -> str:
        spent, left = float(self.rho_spent), float(self.rho_left)
        rest = f"{left:.3g}" if left == 0 or left > 1e-9 * spent else "nothing"
        return f"Finished({self.rounds} rounds, rho {spent:.6g} spent, {rest} left)"


Event: TypeAlias = Started | RoundEnded | Finished


def beliefs_after(events: Iterable[Event]) -> Iterator[Beliefs]:
    """Yield the beliefs after each event: any marginal at any past round follows from them."""
    expect(events, Iterable, "the events of a run", "Give run.events.")
    beliefs = Beliefs()
    for event in events:
        expect(event, (Started, RoundEnded, Finished), "an event of a run", "Give run.events.")
        if not isinstance(event, Finished):
            beliefs = beliefs.combined(event.measurements)
        yield beliefs


# -- events as JSON -----------------------------------------------------------------------------


def event_to_dict(event: Event) -> dict[str, Any]:
    """Return an event as plain JSON values; fractions become texts such as ``"1/3"``."""
    fields = {name: _plain(getattr(event, name)) for name in event.__slots__}
    return {"event": type(event).__name__, **fields}


def event_from_dict(content: Mapping[str, Any]) -> Event:
    """Read what ``event_to_dict`` wrote.

    Raises:
        DataError: If the content is no event.
    """
    kinds: dict[str, type[Event]] = {k.__name__: k for k in (Started, RoundEnded, Finished)}
    try:
        kind = kinds[content["event"]]
        fields = {
            name: _READERS.get(name, _same)(content[name])
            for name in kind.__slots__
            if name in content or name not in _ADDED_LATER
        }
        return kind(**fields)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise DataError(f"This is no event of a run: {error!r}.", code="E_FORMAT") from None


def ledger_to_dict(ledger: Ledger) -> dict[str, Any]:
    """Return the ledger as plain JSON values."""
    content: dict[str, Any] = {
        "total": str(ledger.total),
        "spent": str(ledger.spent),
        "entries": [_plain(charge) for charge in ledger.entries],
    }
    if ledger.what_if:
        content["what_if"] = True
    return content


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Charge | Allocation | Measurement | Work):
        return {name: _plain(getattr(value, name)) for name in value.__slots__}
    return value


def _same(value: Any) -> Any:
    return value


def _optional_fraction(value: str | None) -> Fraction | None:
    return None if value is None else Fraction(value)


def _attrs(value: list[int] | None) -> AttributeSet | None:
    return None if value is None else tuple(value)


def charges_from(items: list[dict[str, Any]]) -> tuple[Charge, ...]:
    """Read the charges of an event or a ledger."""
    return tuple(Charge(i["what"], _attrs(i["attrs"]), Fraction(i["rho"])) for i in items)


def _allocations(items: list[dict[str, Any]]) -> tuple[Allocation, ...]:
    return tuple(
        Allocation(tuple(i["attrs"]), i["known"], i["added"], Fraction(i["rho"])) for i in items
    )


def _measurements(items: list[dict[str, Any]]) -> tuple[Measurement, ...]:
    return tuple(
        Measurement(tuple(i["attrs"]), np.array(i["values"], dtype=float), i["precision"])
        for i in items
    )


_ADDED_LATER = {"decision"}
"""Fields that older files lack; they have defaults."""
_READERS: dict[str, Any] = {
    "selected": _attrs,
    "rho_total": Fraction,
    "rho_spent": Fraction,
    "rho_left": Fraction,
    "rho_measure": _optional_fraction,
    "rho_select": _optional_fraction,
    "charges": charges_from,
    "allocations": _allocations,
    "measurements": _measurements,
    "work": lambda item: Work(**item),
}
