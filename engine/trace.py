"""What a run tells while it goes, and what it leaves behind; both to and from JSON.

Events and releases are made of released values and public settings only. From the events every
marginal at every past round can be rebuilt; scores, true errors and the seed are not among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from engine import completed, grem
from engine.accounting import Charge, Ledger
from engine.domain import Domain
from engine.errors import DataError, EngineError, WorkloadError
from engine.html import Shown
from engine.released import Allocation, Beliefs, Estimate, Measurement
from engine.types import AttributeSet
from engine.workload import Workload

FORMAT = "aim-grem-release/1"


@dataclass(frozen=True, slots=True)
class Work:
    """How much was done in a step: counted, so that a slow-down shows without a clock.

    Args:
        marginals: Marginals reconstructed or updated.
        cells: Cells of those marginals.
        scores: Candidates whose error was computed anew.
        residuals: Residuals measured.
    """

    marginals: int = 0
    cells: int = 0
    scores: int = 0
    residuals: int = 0


@dataclass(frozen=True, slots=True)
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
    rho_measure: Fraction | None
    rho_select: Fraction | None
    max_rounds: int
    measurements: tuple[Measurement, ...]
    charges: tuple[Charge, ...]
    work: Work
    rehearsal: bool
    decision: str | None = None


@dataclass(frozen=True, slots=True)
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
    selected: AttributeSet | None
    rho_measure: Fraction
    rho_select: Fraction
    allocations: tuple[Allocation, ...]
    measurements: tuple[Measurement, ...]
    charges: tuple[Charge, ...]
    rho_spent: Fraction
    change: float | None
    threshold: float | None
    annealed: bool
    last: bool
    work: Work


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event."""

    rounds: int
    rho_spent: Fraction
    rho_left: Fraction


Event: TypeAlias = Started | RoundEnded | Finished


def beliefs_after(events: Iterable[Event]) -> Iterator[Beliefs]:
    """Yield the beliefs after each event: any marginal at any past round follows from them."""
    beliefs = Beliefs()
    for event in events:
        if not isinstance(event, Finished):
            beliefs = beliefs.combined(event.measurements)
        yield beliefs


@dataclass(frozen=True, slots=True)
class Release(Shown):
    """Everything that may leave a run: residual estimates, settings and the ledger.

    Args:
        workload: What was asked for, and of which domain.
        beliefs: Every residual estimate with its precision.
        ledger: What was charged, exactly.
        mechanism: Name and options.
        rehearsal: True as long as the noise is a demonstration's: no private release then.
        epsilon: The promise asked for, if it was given as (epsilon, delta).
        delta: Its other half.
        completion: How estimates answer: ``"maxent"`` completes what was not measured, None counts
            it as zero (GReM).
    """

    workload: Workload
    beliefs: Beliefs
    ledger: Ledger
    mechanism: str
    rehearsal: bool
    epsilon: float | None = None
    delta: float | None = None
    completion: str | None = None

    @property
    def domain(self) -> Domain:
        """The declared domain."""
        return self.workload.domain

    @property
    def rho_of_a_person(self) -> Fraction:
        """What was spent on one person with as many rows as one may have: k² times the ledger's."""
        return self.ledger.spent * self.domain.rows_per_person**2

    @property
    def demonstration(self) -> tuple[str, ...]:
        """Why this is a demonstration and not a private release; empty if it is one."""
        reasons = []
        if self.rehearsal:
            reasons.append("The noise is a rehearsal's: whoever can repeat it can subtract it.")
        if self.domain.read_from_data:
            reasons.append(
                "The lists of values were read from the data. That alone can reveal a person."
            )
        return tuple(reasons)

    def estimate(self, *attributes: str | int) -> Estimate:
        """Answer any marginal of the workload's closure; no name at all asks for the total.

        Args:
            *attributes: Names (or positions), in any order; the answer is in domain order.

        Raises:
            DomainError: If a name is unknown or repeated.
            WorkloadError: If the set is not within the workload's closure.
        """
        attrs = self.domain.attrs(*attributes)
        if attrs not in self.workload.layout.index:
            raise WorkloadError(
                f"The marginal over {self.domain.label(attrs)} is no subset of a workload "
                "marginal. Ask for one that is, or run again with a workload that holds it."
            )
        return self._estimate(attrs)

    def estimates(self) -> Iterator[Estimate]:
        """Answer the workload's marginals one by one, in order."""
        return map(self._estimate, self.workload.weights)

    def _estimate(self, attrs: AttributeSet) -> Estimate:
        if self.completion is None:
            return grem.estimate(self.beliefs, self.domain, attrs)
        tables = completed.kept(self.workload.layout, self.beliefs)
        return completed.estimate_of(tables, self.domain, attrs)

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain JSON values, every number to the last digit."""
        return {
            "format": FORMAT,
            "demonstration": list(self.demonstration),
            "mechanism": self.mechanism,
            "rehearsal": self.rehearsal,
            "completion": self.completion,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": "tables that differ by adding or removing one record",
            "domain_sha256": self.domain.hash,
            "domain": self.domain.to_dict(),
            "workload": [[list(a), w] for a, w in self.workload.weights.items()],
            "ledger": ledger_to_dict(self.ledger),
            "residuals": [
                {"attrs": list(a), "precision": b.precision, "values": b.values.tolist()}
                for a, b in self.beliefs.items()
            ],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Release:
        """Read what ``to_dict`` wrote; equal to the last digit.

        Raises:
            DataError: If the content is no release.
        """
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise DataError(f'This is no release: "format" is not "{FORMAT}".', code="E_FORMAT")
        try:
            domain = Domain.from_dict(content["domain"])
            weights = {tuple(attrs): weight for attrs, weight in content["workload"]}
            workload = Workload(weights, domain)
            return cls(
                workload=workload,
                beliefs=_beliefs_from(content["residuals"], workload),
                ledger=_ledger_from(content["ledger"]),
                mechanism=str(content["mechanism"]),
                rehearsal=bool(content["rehearsal"]),
                epsilon=content["epsilon"],
                delta=content["delta"],
                completion=_completion_from(content.get("completion")),
            )
        except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            # The engine's own refusals are ValueErrors too: each says what is wrong.
            reason = str(error) if isinstance(error, EngineError) else repr(error)
            raise DataError(f"The release cannot be read: {reason}", code="E_FORMAT") from None

    def promised(self, *, epsilon: float, delta: float) -> Release:
        """Return the release with the (epsilon, delta) promise it was made for."""
        return replace(self, epsilon=epsilon, delta=delta)

    def __repr__(self) -> str:
        stamp = "DEMONSTRATION, " if self.demonstration else ""
        spent = float(self.ledger.spent)
        return f"Release({stamp}{self.mechanism}, {self.workload!r}, rho spent {spent:.6g})"


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
    return {
        "total": str(ledger.total),
        "spent": str(ledger.spent),
        "entries": [_plain(charge) for charge in ledger.entries],
    }


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


def _charges(items: list[dict[str, Any]]) -> tuple[Charge, ...]:
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
    "charges": _charges,
    "allocations": _allocations,
    "measurements": _measurements,
    "work": lambda item: Work(**item),
}


def _ledger_from(content: Mapping[str, Any]) -> Ledger:
    return Ledger(Fraction(content["total"])).charge(*_charges(content["entries"]))


def _completion_from(name: object) -> str | None:
    if name not in (None, "maxent"):
        raise DataError(f"There is no completion {name!r}.")
    return None if name is None else "maxent"


def _beliefs_from(items: list[dict[str, Any]], workload: Workload) -> Beliefs:
    measured = []
    for item in items:
        attrs = tuple(item["attrs"])
        if attrs not in workload.layout.index:
            raise DataError(f"There is a residual over {attrs}, which the workload does not hold.")
        shape = tuple(n - 1 for n in workload.domain.shape(attrs))
        values = np.array(item["values"], dtype=float).reshape(shape)
        if not np.isfinite(values).all():
            raise DataError(f"The residual over {attrs} holds values that are not finite.")
        measured.append(Measurement(attrs, values, item["precision"]))
    return Beliefs().combined(measured)
