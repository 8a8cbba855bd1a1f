"""The two ways to run a mechanism: round by round, or to the end.

Pages, widgets, benchmarks and tests all drive mechanisms through ``rounds``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from engine import checking
from engine.accounting import (
    Ledger,
    epsilon_from,
)
from engine.checking import expect, found, whole
from engine.completing.release import Release
from engine.errors import (
    DataError,
    EngineError,
    OptionError,
    RunInterruptedError,
)
from engine.mechanisms.asked import budget, check_belongs, check_kinds, release_of
from engine.mechanisms.asked import settings_of as settings_of
from engine.mechanisms.protocols import Mechanism, Resumable
from engine.mechanisms.repeating import seed_repeated
from engine.noise import RandomSource, Seed, check_source, rehearsal_noise
from engine.odometer import Tally
from engine.released import Beliefs
from engine.tables import CountSource, Private
from engine.trace import (
    Event,
    Finished,
    RoundEnded,
    Started,
    event_from_dict,
    event_to_dict,
)
from engine.workload import Workload

S = TypeVar("S")
FORMAT = "aim-grem-run/1"


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: what happened, and its release. Nothing private is in it.

    Args:
        started: The plan, and what was measured before the first round.
        rounds: What each round did.
        finished: What was spent.
        release: What may leave.
    """

    started: Started
    rounds: tuple[RoundEnded, ...]
    finished: Finished
    release: Release

    def save(self, path: str | Path) -> None:
        """Write the run, events and release, as JSON; released values only.

        Raises:
            DataError: If the file cannot be written (``E_OUT``).
        """
        content = {
            "format": FORMAT,
            "release": self.release.to_dict(),
            "events": [event_to_dict(event) for event in self.events],
        }
        file = checking.path(path, "the file to write")
        try:
            file.write_text(json.dumps(content), encoding="utf-8")
        except OSError as error:
            raise DataError(
                f"The run cannot be written to {file.name!r} ({error.strerror}). Give a path in a "
                "folder that is there, with room.",
                code="E_OUT",
            ) from None

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """Read what ``save`` wrote; equal to it, but for a mark that it was read from a file.

        Raises:
            DataError: If the file is no run (``E_FORMAT``).
        """
        file = checking.path(path, "a run's file")
        try:
            content = json.loads(file.read_text("utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(content["format"])
            events = [event_from_dict(event) for event in content["events"]]
            return cls.of(events, Release.from_dict(content["release"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            said = str(error) if isinstance(error, EngineError) else type(error).__name__
            raise DataError(
                f"The run cannot be read from {file.name!r} ({said}). Give a file that "
                "Run.save wrote.",
                code="E_FORMAT",
            ) from None

    @classmethod
    def of(cls, events: Iterable[Event], release: Release) -> Run:
        """Return the run that told these events, as ``rounds`` yields them.

        Raises:
            OptionError: If they are not ``Started``, rounds and ``Finished``, in this order.
        """
        expect(events, Iterable, "the events of a run", "Give what rounds yields.")
        told = tuple(events)
        started, finished = (told[0], told[-1]) if told else (None, None)
        made = tuple(event for event in told[1:-1] if isinstance(event, RoundEnded))
        if (
            not isinstance(started, Started)
            or not isinstance(finished, Finished)
            or len(made) != len(told) - 2
        ):
            raise OptionError(
                f"These {len(told)} events are not a whole run: one that starts, its rounds and "
                "one that finishes are needed, in this order. Run to the end first."
            )
        return cls(started, made, finished, release)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything told, in order."""
        return (self.started, *self.rounds, self.finished)

    def at(self, number: int) -> Release:
        """Return what could have been released after a round; 0 is before the first one.

        Raises:
            OptionError: If the run has no such round.
        """
        if not 0 <= (-1 if whole(number) is None else number) <= len(self.rounds):
            raise OptionError(
                f"There is no round {number!r}; this run has rounds 1 to {len(self.rounds)}, and 0 "
                "for before the first. Choose one of these."
            )
        beliefs, ledger = Beliefs(), Ledger(self.release.ledger.total)
        told: tuple[Started | RoundEnded, ...] = (self.started, *self.rounds[:number])
        for event in told:
            beliefs = beliefs.combined(event.measurements)
            ledger = ledger.charge(*event.charges)
        return replace(self.release, beliefs=beliefs, ledger=ledger)

    def state(self, mechanism: Mechanism[S], number: int) -> S:
        """Rebuild the state after a round, to go on from there: ``rounds(..., state=...)``.

        A fork spends again: what both branches cost adds up, as the table's odometer says.

        Args:
            mechanism: The one that made the run.
            number: The round; 0 is before the first one.

        Raises:
            OptionError: If the run has no such round, was made by another mechanism, or by one
                whose states cannot be rebuilt.
        """
        after = self.at(number)
        if not isinstance(mechanism, Resumable) or settings_of(mechanism) != self.release.mechanism:
            raise OptionError(
                f"The run was made by {self.release.mechanism}; that mechanism is needed, and one "
                "whose states follow from what it tells, such as AimGrem."
            )
        following = self.rounds[number] if number < len(self.rounds) else None
        state: S = mechanism.resumed(after, number, following)
        return state

    def __repr__(self) -> str:
        return f"Run({len(self.rounds)} rounds, {self.release!r})"


def rounds(
    mechanism: Mechanism[S],
    private: CountSource | Private,
    workload: Workload,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | Fraction | None = None,
    seed: Seed = None,
    rng: RandomSource | None = None,
    state: S | None = None,
) -> Iterator[tuple[S, Event]]:
    """Run a mechanism round by round: yields (state after the event, event).

    The first event is ``Started``, the last ``Finished``; stop iterating to cancel.

    The budget is what one person may cost. Where a person may have k rows (the domain's
    ``rows_per_person``), zCDP for a person is k² times that for a record: the ledger, which counts
    records, then holds rho / k².

    Args:
        mechanism: For example ``AimGrem.paper()`` or ``ResidualPlanner()``.
        private: The records, or ``Private(table)``, which keeps its counts for the next run.
        workload: The marginals wanted.
        epsilon: Budget as an (epsilon, delta) promise; needs ``delta``.
        delta: Its other half.
        rho: Budget in zCDP, instead of epsilon and delta.
        seed: Repeats the run; or a NumPy generator. None takes one seeded by the operating system.
            One that another run on the table had is warned of (``RepeatedSeedWarning``).
        rng: The source of randomness itself, instead of a seed.
        state: Go on from here instead of starting: the budget is the state's, and no budget is
            given. There is no ``Started`` then.

    Raises:
        BudgetError: If not exactly one budget is given (``E_BUDGET_AMBIGUOUS``), or it is none.
        DataError, WorkloadError: If table and workload do not belong together, or need more memory
            than there is. Nothing is spent then.
        OptionError: If an argument is of another kind, or a seed and a source are both given.

    >>> from engine.samples import load_sample
    >>> table = load_sample("titanic")
    >>> workload = Workload.all_kway(table.domain, 2)
    >>> from engine.mechanisms.one_shot import ResidualPlanner
    >>> for state, event in rounds(ResidualPlanner(), table, workload, rho=0.1, seed=0):
    ...     print(type(event).__name__)
    Started
    RoundEnded
    Finished
    """
    check_kinds(mechanism, workload)
    private = private if isinstance(private, Private) else Private(private)
    if rng is not None and seed is not None:
        raise OptionError("A seed and a source of randomness are given; one is needed. Drop one.")
    source = rehearsal_noise(seed) if rng is None else rng
    check_source(source)
    if source.rehearsal:
        private.odometer.check_may_rehearse()
    begun: object = None
    if state is None:
        total = budget(epsilon, delta, rho)
    elif (epsilon, delta, rho) != (None, None, None):
        raise OptionError("A state has its budget; none is given with it. Drop the budget.")
    else:
        ledger = release_of(mechanism, state, workload).ledger
        total, begun = ledger.total * workload.domain.rows_per_person**2, (ledger.run, ledger.spent)
    seed_repeated(private, seed, mechanism, workload, total, begun=begun)
    return _rounds(mechanism, private, workload, total, source, state)


def _rounds(
    mechanism: Mechanism[S],
    private: Private,
    workload: Workload,
    rho: Fraction,
    rng: RandomSource,
    state: S | None,
) -> Iterator[tuple[S, Event]]:
    event: Event
    check_belongs(private, workload)
    private.foresee(workload.closure)
    if state is None:
        total = rho / workload.domain.rows_per_person**2
        state, event = mechanism.start(private, workload, rho=total, rng=rng)
        yield state, event
    count = int(getattr(state, "round", 0))
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
    seed: Seed = None,
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
        seed: Repeats the run; or a NumPy generator. None takes one seeded by the operating system.
            In each case the noise is a rehearsal's and the release says so. A seed that another run
            on this table had is warned of (``RepeatedSeedWarning``).
        progress: Called after each event with the share of the budget spent, and the event.

    Raises:
        BudgetError: If not exactly one budget is given (``E_BUDGET_AMBIGUOUS``), or it is none.
        DataError, WorkloadError: As ``rounds``.
        RunInterruptedError: If a step fails after something was drawn; it holds the ledger and
            what was released.
    """
    check_kinds(mechanism, workload)
    if progress is not None and not callable(progress):
        raise OptionError(
            f"{found(progress)} was given where a function is needed that is told the share spent "
            "and the event. Leave progress out, or give one such as print."
        )
    total = budget(epsilon, delta, rho)
    private = table if isinstance(table, Private) else Private(table)
    rng = rehearsal_noise(seed)
    repeated = seed_repeated(private, seed, mechanism, workload, total)
    events: list[Event] = []
    state: Any = None
    stream = rounds(mechanism, private, workload, rho=total, rng=rng)
    for state, event in _kept(stream, mechanism, private, workload, total, rng):
        events.append(event)
        if progress is not None:
            ledger = mechanism.release(state).ledger
            progress(float(ledger.spent / ledger.total), event)
    release = mechanism.release(state).beside(private.odometer.reading())
    if repeated:
        release = release.with_repeated_seed()
    if epsilon is not None and delta is not None:
        release = release.promised(epsilon=float(epsilon), delta=float(delta))
    elif delta is not None:
        release = release.promised(epsilon=epsilon_from(rho=total, delta=delta), delta=float(delta))
    return Run.of(events, release)


def _kept(
    stream: Iterator[tuple[Any, Event]],
    mechanism: Mechanism[Any],
    private: Private,
    workload: Workload,
    rho: Fraction,
    rng: RandomSource,
) -> Iterator[tuple[Any, Event]]:
    """Pass a run on; what was spent and drawn is not lost if a step fails."""
    made, state = Tally(), None
    while True:
        try:
            with private.odometer.listening(made):
                found = next(stream, None)
        except Exception as error:
            if not made.charges:
                raise
            total = rho / workload.domain.rows_per_person**2
            ledger = Ledger(total).charge(*made.charges)
            beliefs = Beliefs().combined(made.released)
            if state is not None:
                release = replace(mechanism.release(state), beliefs=beliefs, ledger=ledger)
            else:
                release = Release(workload, beliefs, ledger, settings_of(mechanism), rng.rehearsal)
            raise RunInterruptedError(
                f"The run failed ({type(error).__name__}) after rho = {float(ledger.spent):.6g} of "
                f"{float(total):.6g} was spent. The ledger and what was drawn are kept in this "
                "error (ledger, release). Use them; running again costs again.",
                ledger=ledger,
                release=release.beside(private.odometer.reading()),
            ) from error
        if found is None:
            return
        state = found[0]
        yield found
