"""What every mechanism has in common, and the two ways to run one.

A step takes a state and returns the next one with an event; nothing else happens. Pages, widgets,
benchmarks and tests all drive mechanisms through ``rounds``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeVar, cast

from engine.accounting import (
    Ledger,
    checked_delta,
    checked_epsilon,
    checked_rho,
    epsilon_from,
    rho_from,
)
from engine.completing.release import Release
from engine.domain import Domain, subsets
from engine.errors import BudgetError, OptionError, WorkloadError
from engine.measure import measure_marginal, measure_residuals
from engine.noise import RandomSource, rehearsal_noise
from engine.planner import plan_marginal
from engine.released import Allocation, Beliefs, Measurement
from engine.residuals import privacy_cost
from engine.tables import CountSource, Private
from engine.trace import Event, Finished, RoundEnded, Started
from engine.types import AttributeSet
from engine.workload import Workload

S = TypeVar("S")


class Mechanism(Protocol[S]):
    """A private mechanism in steps. ``S`` is its state: released values and budgets only."""

    def start(
        self, private: Private, workload: Workload, *, rho: Fraction, rng: RandomSource
    ) -> tuple[S, Started]:
        """Check everything, plan, and measure what comes before the first round."""
        ...

    def step(self, state: S, private: Private, rng: RandomSource) -> tuple[S, RoundEnded]:
        """Do one round. The state given stays as it was: it can be stepped again, or forked."""
        ...

    def done(self, state: S) -> bool:
        """Whether no round is left."""
        ...

    def release(self, state: S) -> Release:
        """Return what may leave at this point."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its events and its release. Nothing private is in it."""

    events: tuple[Event, ...]
    release: Release

    @property
    def rounds(self) -> tuple[RoundEnded, ...]:
        """The rounds alone."""
        return tuple(event for event in self.events if isinstance(event, RoundEnded))

    def at(self, number: int) -> Release:
        """Return what could have been released after a round; 0 is before the first one.

        Raises:
            OptionError: If the run has no such round.
        """
        if (
            isinstance(number, bool)
            or not isinstance(number, int)
            or not (0 <= number <= len(self.rounds))
        ):
            raise OptionError(
                f"There is no round {number!r}; this run has rounds 1 to {len(self.rounds)}, and 0 "
                "for before the first. Choose one of these."
            )
        beliefs, ledger = Beliefs(), Ledger(self.release.ledger.total)
        for event in self.events[: number + 1]:
            if not isinstance(event, Finished):
                beliefs = beliefs.combined(event.measurements)
                ledger = ledger.charge(*event.charges)
        return replace(self.release, beliefs=beliefs, ledger=ledger)

    def __repr__(self) -> str:
        return f"Run({len(self.rounds)} rounds, {self.release!r})"


def rounds(
    mechanism: Mechanism[S],
    private: Private,
    workload: Workload,
    *,
    rho: float | Fraction,
    rng: RandomSource,
) -> Iterator[tuple[S, Event]]:
    """Run a mechanism round by round: yields (state after the event, event).

    The first event is ``Started``, the last ``Finished``; stop iterating to cancel.

    The budget is what one person may cost. Where a person may have k rows (the domain's
    ``rows_per_person``), zCDP for a person is k² times that for a record: the ledger, which counts
    records, then holds rho / k².

    Raises:
        BudgetError: If rho is no budget (``E_RHO``).
        DataError, WorkloadError: If table and workload do not belong together, or need more memory
            than there is. Nothing is spent then.
    """
    _check_belongs(private, workload)
    total = checked_rho(rho) / workload.domain.rows_per_person**2
    event: Event
    state, event = mechanism.start(private, workload, rho=total, rng=rng)
    yield state, event
    count = 0
    while not mechanism.done(state):
        state, event = mechanism.step(state, private, rng)
        count += 1
        yield state, event
    ledger = mechanism.release(state).ledger
    yield state, Finished(count, ledger.spent, ledger.left)


def run(
    mechanism: Mechanism[Any],
    table: CountSource | Private,
    workload: Workload,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | Fraction | None = None,
    seed: int | None = None,
    progress: Callable[[float, Event], None] | None = None,
) -> Run:
    """Run a mechanism to the end.

    Args:
        mechanism: For example ``AimGrem.paper()`` or ``ResidualPlanner()``.
        table: The private records (or ``Private(table)``, which keeps its counts for the next run).
        workload: The marginals wanted.
        epsilon: Budget as an (epsilon, delta) promise; needs ``delta``.
        delta: Its other half.
        rho: Budget in zCDP, instead of epsilon and delta.
        seed: Repeats the run. None takes a generator seeded by the operating system. Either way
            the noise is a rehearsal's and the release says so.
        progress: Called after each event with the share of the budget spent, and the event.

    Raises:
        BudgetError: If not exactly one budget is given (``E_BUDGET_AMBIGUOUS``), or it is none.
        DataError, WorkloadError: As ``rounds``.
    """
    total = _budget(epsilon, delta, rho)
    private = table if isinstance(table, Private) else Private(table)
    rng = rehearsal_noise(seed)
    events: list[Event] = []
    state: Any = None
    for state, event in rounds(mechanism, private, workload, rho=total, rng=rng):
        events.append(event)
        if progress is not None:
            ledger = mechanism.release(state).ledger
            progress(float(ledger.spent / ledger.total), event)
    release = mechanism.release(state)
    if epsilon is not None and delta is not None:
        release = release.promised(epsilon=float(epsilon), delta=float(delta))
    elif delta is not None:
        release = release.promised(epsilon=epsilon_from(rho=total, delta=delta), delta=float(delta))
    return Run(tuple(events), release)


def _budget(epsilon: float | None, delta: float | None, rho: float | Fraction | None) -> Fraction:
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


def _check_belongs(private: Private, workload: Workload) -> None:
    if private.domain.sizes != workload.domain.sizes or private.domain != workload.domain:
        raise WorkloadError(
            "The workload was made for another domain than the table's; one domain is needed. Make "
            "both from the same Domain."
        )


def measure_selected(
    private: Private,
    gamma: AttributeSet,
    beliefs: Beliefs,
    *,
    rho: Fraction,
    noise: Literal["crp", "iid"],
    omission: tuple[float, bool],
    ledger: Ledger,
    rng: RandomSource,
) -> tuple[Ledger, tuple[Allocation, ...], tuple[Measurement, ...]]:
    """Measure one marginal's residuals with a round's budget: by plan (CRP), or isotropically.

    Args:
        private: The records' counts.
        gamma: The marginal.
        beliefs: What is known already, and need not be bought again.
        rho: The round's measuring budget.
        noise: ``"crp"`` or ``"iid"``.
        omission: ``omit_below`` and ``respend``.
        ledger: Charged before any noise is drawn.
        rng: Where the noise comes from.

    Returns:
        The longer ledger, what was planned for each residual, and what was measured.
    """
    domain = private.domain
    if noise == "crp":
        known = [beliefs.precision(tau) for tau in subsets(gamma)]
        omit_below, respend = omission
        allocations = plan_marginal(
            domain, gamma, known, rho=rho, omit_below=omit_below, respend=respend
        )
        ledger, measured = measure_residuals(private, allocations, ledger=ledger, rng=rng)
        return ledger, allocations, measured
    ledger, measured = measure_marginal(private, gamma, rho=rho, ledger=ledger, rng=rng)
    worth = tuple(_isotropic(domain, m, beliefs.precision(m.attrs)) for m in measured)
    return ledger, worth, measured


def _isotropic(domain: Domain, measured: Measurement, known: float) -> Allocation:
    """What isotropic noise amounts to for one residual, in the terms of an allocation."""
    rho = privacy_cost(domain.shape(measured.attrs)) * Fraction(measured.precision) / 2
    return Allocation(measured.attrs, known, measured.precision, rho)


def memory_needed(workload: Workload, *, per_cell: int, per_set: int = 800) -> int:
    """Estimate a run's memory above the idle process, in bytes, from public sizes alone.

    Args:
        workload: What is to be answered.
        per_cell: Bytes held for each cell of the closure: 8 for a float64, more where exact counts
            (2 or 4) and passing copies stand beside it.
        per_set: Bytes held for each marginal of the closure.

    Measured peaks lie within a factor 1.5 of it (tests/benchmarks/speed.py, case memory).
    """
    return per_cell * workload.layout.total_cells + per_set * len(workload.closure)


def fits_memory(bytes_needed: int) -> bool:
    """Whether so much fits into nine tenths of this machine's memory; true where none is told."""
    available = _memory()
    return available is None or bytes_needed <= 0.9 * available


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system says
        return None


def require_memory(bytes_needed: int) -> None:
    """Refuse before anything is spent if a run cannot fit into memory (``E_TOO_LARGE``)."""
    available = _memory()
    if available is not None and not fits_memory(bytes_needed):
        raise WorkloadError(
            f"The run needs about {bytes_needed / 2**30:.1f} GiB of memory; this machine has "
            f"{available / 2**30:.1f} GiB. Choose fewer attributes, a lower degree, or coarser "
            "bins.",
            code="E_TOO_LARGE",
        )


def check_omission(omit_below: object, respend: object) -> None:
    """Refuse options of the omission rule that make no sense.

    Raises:
        OptionError: If ``omit_below`` is no share below 1, or ``respend`` no truth value.
    """
    number = isinstance(omit_below, int | float) and not isinstance(omit_below, bool)
    if not number or not 0 <= cast("float", omit_below) < 1:
        raise OptionError(
            f"omit_below is {omit_below!r}; a share of at least 0 and below 1 is needed, for "
            "example 0.001."
        )
    choice("respend", respend, (True, False))


def choice(name: str, value: object, allowed: tuple[str | bool, ...]) -> None:
    """Refuse an option that is not one of those allowed.

    Raises:
        OptionError: With what was found and what is possible.
    """
    if not isinstance(value, str | bool) or value not in allowed:
        raise OptionError(
            f"{name} is {value!r}; it must be one of {', '.join(map(repr, allowed))}. Choose one."
        )
