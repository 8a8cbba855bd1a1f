"""A run watched round by round: what it told, and beside it true errors and how it chose.

The one recorder of runs: pages step it, widgets let it run to its end, and the run that Start shows
was made by it. A recording is a value. A step makes the next one from a copy of the random source.
So an interruption leaves the recording before the round or the one after it, and an earlier one can
be stepped again. Trials (``trials``) keep no rounds, only what each run ends with.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from engine.accounting import rho_from
from engine.completing.release import Release
from engine.demonstrating.evaluation import Insight, evaluate, insight, selects
from engine.demonstrating.glimpses import Glimpse, glimpse, mean_l1
from engine.domain import Domain
from engine.exact import Exact
from engine.mechanisms.base import Run, rounds
from engine.mechanisms.protocols import Mechanism
from engine.mechanisms.repeating import seed_repeated
from engine.noise import RandomSource, rehearsal_noise
from engine.tables import CountSource, Private
from engine.trace import Event, Finished, RoundEnded, Started
from engine.workload import Workload

R = TypeVar("R", bound="Recording")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moment(Exact):
    """One position in the history of a run.

    Args:
        state: The mechanism's state: released values.
        event: What led here.
        error: Mean L1 error over the workload, records. Not private.
        seen: How the round selected, if it did. Not private.
        rng: The random source as it stood then; stepping copies it.
    """

    state: Any
    event: Started | RoundEnded
    error: float
    seen: Glimpse | None = None
    rng: Any = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recording(Exact):
    """A run and its history so far. Not private.

    Args:
        private: The records' counts.
        workload: What is asked.
        mechanism: What runs.
        rho: The budget that its ledger holds.
        rng: The random source of the next round.
        moments: The start and each round.
        look: How the next round will select; None if it will not.
    """

    private: Private
    workload: Workload
    mechanism: Mechanism[Any]
    rho: Fraction
    rng: Any
    moments: tuple[Moment, ...]
    look: Insight | None

    @property
    def rounds(self) -> int:
        """Rounds done."""
        return len(self.moments) - 1

    @property
    def finished(self) -> bool:
        """Whether no round is left."""
        return bool(self.mechanism.done(self.moments[-1].state))

    @property
    def domain(self) -> Domain:
        """The domain."""
        return self.workload.domain

    @property
    def records(self) -> int:
        """The number of records. Not private."""
        return int(self.private.marginal(()).values)

    @property
    def most_rounds(self) -> int:
        """At most about so many rounds; the exact number once it is known."""
        started = self.moments[0].event
        assert isinstance(started, Started)
        return self.rounds if self.finished else max(started.max_rounds, self.rounds)

    def release(self, at: int = -1) -> Release:
        """What could be released after round ``at``; without it, now."""
        return self.mechanism.release(self.moments[at].state)

    def events(self, at: int) -> list[Event]:
        """Everything up to round ``at``."""
        return [moment.event for moment in self.moments[: at + 1]]

    def errors(self) -> list[float]:
        """Mean L1 errors in records, one a moment. Not private."""
        return [moment.error for moment in self.moments]

    def seen(self) -> list[Glimpse | None]:
        """How each round selected, one a moment. Not private."""
        return [moment.seen for moment in self.moments]

    def stepped(self: R) -> R:
        """The recording with one more round; this one stays."""
        rng = copy.deepcopy(self.rng)
        state, event = self.mechanism.step(self.moments[-1].state, self.private, rng)
        seen = glimpse(self.look, self.workload, event.selected) if self.look else None
        error, look = judged(self.mechanism, state, self.private, self.workload)
        moment = Moment(state, event, error, seen, rng)
        return self.changed(rng=rng, moments=(*self.moments, moment), look=look)

    def forked(self, at: int, *, rho: Fraction) -> Iterator[float]:
        """Go on from round ``at`` under another whole budget; yield the error after each round.

        What was spent stays spent, all that is left grows by one factor, and the random numbers are
        those of the run itself. The recording stays as it is.

        Raises:
            EngineError: If the mechanism has no rounds left there, or cannot change its budget.
        """
        moment = self.moments[at]
        mechanism: Any = self.mechanism
        state, rng = mechanism.with_budget(moment.state, rho=rho), copy.deepcopy(moment.rng)
        while not mechanism.done(state):
            state, _ = mechanism.step(state, self.private, rng)
            yield judged(mechanism, state, self.private, self.workload)[0]

    def run(self) -> Run:
        """Return the run once it is finished, without what is not private.

        Raises:
            OptionError: If a round is left.
        """
        release, told = self.release(), self.events(self.rounds)
        if self.finished:
            told.append(Finished(self.rounds, release.ledger.spent, release.ledger.left))
        return Run.of(told, release.beside(self.private.odometer.reading()))


def judged(
    mechanism: Mechanism[Any], state: Any, private: Private, workload: Workload
) -> tuple[float, Insight | None]:
    """Return the mean L1 error in a state, and how the next round will select. Not private.

    The error is read from the scores where there are some, which is cheaper: for completed tables
    they are fitted less closely than a release, and differ from ``evaluate`` by a few hundredths
    at most.
    """
    if not selects(mechanism, state):
        return evaluate(mechanism.release(state), private).mean_l1, None
    look = insight(mechanism, state, private)
    return mean_l1(look, workload), look


def begin(
    mechanism: Mechanism[Any],
    table: CountSource | Private,
    workload: Workload,
    *,
    rho: float | Fraction,
    rng: RandomSource,
) -> Recording:
    """Start a run: everything before the first round.

    Args:
        mechanism: What runs.
        table: The private records, or ``Private(table)``.
        workload: The marginals wanted.
        rho: The budget of a person, in zCDP.
        rng: The source of randomness; steps copy it.

    Raises:
        EngineError: As ``engine.rounds``.
    """
    private = table if isinstance(table, Private) else Private(table)
    state, event = next(rounds(mechanism, private, workload, rho=rho, rng=rng))
    assert isinstance(event, Started)
    error, look = judged(mechanism, state, private, workload)
    first = Moment(state, event, error, rng=rng)
    return Recording(private, workload, mechanism, event.rho_total, rng, (first,), look)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Story(Exact):
    """A finished run and, if the records are there, what a demonstration tells of them.

    Args:
        run: Released values only.
        private: The records' counts; None in a release view.
        seen: How each round selected, none for the start; empty if not known.
        errors: Mean L1 error over the workload after each event, in records; empty if not known.
    """

    run: Run
    private: Private | None = None
    seen: tuple[Glimpse | None, ...] = ()
    errors: tuple[float, ...] = ()

    def __repr__(self) -> str:
        beside = "no records beside it" if self.private is None else "not private"
        return f"Story({self.run!r}, {beside})"


def tell(
    mechanism: Mechanism[Any],
    table: CountSource | Private,
    workload: Workload,
    *,
    epsilon: float,
    delta: float,
    seed: int | None,
    report: Callable[[float, str], None] = lambda share, word: None,
) -> Story:
    """Run a mechanism to its end and remember how it chose.

    Args:
        mechanism: What runs.
        table: The private records, or ``Private(table)``.
        workload: The marginals wanted.
        epsilon: The budget as an (epsilon, delta) promise.
        delta: Its other half.
        seed: Repeats the run; None takes a new one.
        report: Called after each event with the share of the budget spent and a word.

    Raises:
        EngineError: As ``engine.run``.
    """
    private = table if isinstance(table, Private) else Private(table)
    rho = Fraction(rho_from(epsilon=epsilon, delta=delta))
    repeated = seed_repeated(private, seed, mechanism, workload, rho)
    told = begin(mechanism, private, workload, rho=rho, rng=rehearsal_noise(seed))
    while True:
        ledger = told.release().ledger
        report(float(ledger.spent / ledger.total), f"round {told.rounds}")
        if told.finished:
            break
        told = told.stepped()
    run = told.run()
    release = run.release.with_repeated_seed() if repeated else run.release
    run = replace(run, release=release.promised(epsilon=epsilon, delta=delta))
    return Story(run, private, tuple(told.seen()), tuple(told.errors()))
