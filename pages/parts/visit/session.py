"""The run being watched: one for each visitor, kept round by round.

A run is a value. Stepping makes the next one from a copy of the random source and puts it in place
by a single assignment, so whatever interrupts the script leaves either the run before or the run
after the round. A step names the position it starts from (its token): asked twice, it is made once.
"""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

import streamlit as st

import engine
from engine import views
from engine.exact import Exact
from engine.mechanisms import catalogue
from pages.parts.visit import samples, study
from pages.parts.visit.study import MOST_CELLS as MOST_CELLS
from pages.parts.visit.study import Settings

MECHANISMS: Mapping[str, catalogue.Entry] = catalogue.Listing("forms", lambda entry: entry)
"""The catalogue's mechanisms by key; older keys are found too."""

Token: TypeAlias = tuple[int, int]
_numbers = itertools.count(1)


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
    event: engine.Event
    error: float
    seen: views.Glimpse | None = None
    rng: Any = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ghost(Exact):
    """Another run's error curve, to look at beside this one's. A simulation, and not private.

    Args:
        label: What was different.
        start: The round it leaves from.
        errors: Mean L1 errors in records, one a moment from there on.
        fork: Whether it is this run with another budget, and not an earlier one.
    """

    label: str
    start: int
    errors: tuple[float, ...]
    fork: bool = False

    @property
    def last(self) -> int:
        """The round it ends at."""
        return self.start + len(self.errors) - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Watched(Exact):
    """A run and its history so far."""

    number: int
    settings: Settings
    title: str
    private: engine.Private
    workload: engine.Workload
    mechanism: Any
    rho: Fraction
    rng: Any
    records: int
    moments: tuple[Moment, ...]

    @property
    def token(self) -> Token:
        """Names this position; a step from it is made at most once."""
        return self.number, len(self.moments)

    @property
    def rounds(self) -> int:
        """Rounds done."""
        return len(self.moments) - 1

    @property
    def finished(self) -> bool:
        """Whether no round is left."""
        return bool(self.mechanism.done(self.moments[-1].state))

    @property
    def domain(self) -> engine.Domain:
        """The domain."""
        return self.workload.domain

    @property
    def most_rounds(self) -> int:
        """At most about so many rounds; the exact number once it is known."""
        started = self.moments[0].event
        assert isinstance(started, engine.Started)
        return self.rounds if self.finished else max(started.max_rounds, self.rounds)

    def release(self, at: int) -> engine.Release:
        """What could be released after round ``at``."""
        release: engine.Release = self.mechanism.release(self.moments[at].state)
        return release

    def events(self, at: int) -> list[engine.Event]:
        """Everything up to round ``at``."""
        return [moment.event for moment in self.moments[: at + 1]]

    def errors(self) -> list[float]:
        """Mean L1 errors in records, one a moment. Not private."""
        return [moment.error for moment in self.moments]

    def stepped(self) -> Watched:
        """The run with one more round."""
        before = self.moments[-1].state
        rng = copy.deepcopy(self.rng)
        look = _insight(self.mechanism, before, self.private)
        state, event = self.mechanism.step(before, self.private, rng)
        seen = views.glimpse(look, self.workload, event.selected) if look else None
        moment = Moment(state, event, _error(self, state), seen, rng)
        return replace(self, rng=rng, moments=(*self.moments, moment))


@dataclass(slots=True, eq=False, repr=False)
class Visit(Exact):
    """What a visitor's session holds: the run, and where he looks.

    Args:
        run: The run being watched.
        view: The round looked at; 0 is before the first one.
        playing: Whether rounds follow by themselves.
        ticked: When the last one did, on the monotonic clock.
        to_end: Whether all the rounds left were asked for.
        refusal: Field and message of a refused setting.
        past: Earlier runs: what they were made with, and what they spent.
        came_from: The round looked at before.
        moved: When that changed, on the monotonic clock.
        ghosts: Curves of other runs, drawn beside this one's.
        marginal: Names of the table that a link asked to look at.
        fork: The round from which a fork was asked for.
    """

    run: Watched | None = None
    view: int = 0
    playing: bool = False
    ticked: float = 0.0
    to_end: bool = False
    refusal: tuple[str, str] | None = None
    past: list[tuple[Settings, Fraction]] = field(default_factory=list)
    came_from: int = 0
    moved: float = 0.0
    ghosts: tuple[Ghost, ...] = ()
    marginal: tuple[str, ...] | None = None
    fork: int | None = None

    def look_at(self, view: int) -> None:
        """Look at another round."""
        self.came_from, self.view, self.moved = self.view, view, time.monotonic()

    def is_echo(self, view: int) -> bool:
        """Whether a slider's report of this position is only the player's own move coming back.

        A request sent before the browser had drawn the last move still carries the position before.
        """
        late = time.monotonic() - self.moved < 1.0
        return view == self.view or (late and view == self.came_from)


def visit() -> Visit:
    """This visitor's session."""
    found = st.session_state.get("visit")
    if not isinstance(found, Visit):
        found = st.session_state["visit"] = Visit()
    return found


def begin(settings: Settings) -> Watched:
    """Start a run: everything before the first round.

    Raises:
        engine.EngineError: If a setting is refused; nothing is kept then.
    """
    rho = engine.rho_from(epsilon=settings.epsilon, delta=settings.delta)
    rng = engine.rehearsal_noise(settings.seed)
    table = samples.columns(settings.sample, settings.attributes)
    workload = settings.workload(table.domain)
    private, mechanism = engine.Private(table), MECHANISMS[settings.mechanism].make()
    state, event = next(engine.rounds(mechanism, private, workload, rho=rho, rng=rng))
    assert isinstance(event, engine.Started)
    started = Watched(
        number=next(_numbers),
        settings=settings,
        title=samples.choices()[settings.sample].title,
        private=private,
        workload=workload,
        mechanism=mechanism,
        rho=event.rho_total,
        rng=rng,
        records=int(private.marginal(()).values),
        moments=(),
    )
    return replace(started, moments=(Moment(state, event, _error(started, state), rng=rng),))


def start(settings: Settings, *, rounds: int = 1) -> None:
    """Put a new run in the place of the one being watched, its first rounds done.

    Raises:
        engine.EngineError: If a setting is refused; the run being watched stays.
    """
    _refuse_a_seed_twice(settings)
    run = begin(settings)
    for _ in range(rounds):
        run = run if run.finished else run.stepped()
    _take_up(run)


def _refuse_a_seed_twice(settings: Settings) -> None:
    """Of one's own table: two runs with one seed have one noise, and their difference is data.

    Raises:
        engine.BudgetError: If another run on the table had the seed, with other settings.
    """
    here = visit()
    before = [made for made, _ in here.past] + ([here.run.settings] if here.run else [])
    table = (settings.sample, settings.table)
    if settings.sample == samples.OWN and settings.seed is not None and any(
        (made.sample, made.table) == table and made.seed == settings.seed and made != settings
        for made in before
    ):  # fmt: skip
        raise engine.BudgetError(
            f"Seed {settings.seed} was used on your table with other settings; two runs with the "
            "same noise can be subtracted from each other and give the table away. Leave the seed "
            "empty, or write another one.",
            code="E_SEED",
        )


def _take_up(run: Watched) -> None:
    """Watch this run from now on; what the one before spent is kept, and its curve as a ghost."""
    here = visit()
    before = here.run
    put_away()
    here.ghosts = () if before is None else _predecessor(before, run)
    here.run, here.view = run, run.rounds
    study.take(run.settings)


def put_away() -> None:
    """Watch no run any more; what it spent is kept."""
    here = visit()
    if here.run is not None:
        here.past.append((here.run.settings, here.run.release(here.run.rounds).ledger.spent))
    here.run, here.view, here.playing, here.to_end, here.refusal = None, 0, False, False, None
    here.ghosts, here.fork, here.marginal = (), None, None


def _predecessor(before: Watched, now: Watched) -> tuple[Ghost, ...]:
    """The curve of the run before, if it answers the same questions about the same table."""
    old, new = before.settings, now.settings
    same = ("sample", "table", "attributes", "degree", "marginals")
    if before.rounds == 0 or any(getattr(old, name) != getattr(new, name) for name in same):
        return ()
    changed = [
        text
        for name, text in (
            ("epsilon", f"ε = {old.epsilon:g}"),
            ("delta", f"δ = {old.delta:g}"),
            ("seed", f"seed {old.seed}" if old.seed is not None else "other noise"),
            ("mechanism", MECHANISMS[old.mechanism].title),
        )
        if getattr(old, name) != getattr(new, name)
    ]
    label = f"the run before ({', '.join(changed) or 'same settings'})"
    return (Ghost(label, 0, tuple(before.errors())),)


def forked(run: Watched, at: int, *, times: float) -> Iterator[Ghost]:
    """Go on from round ``at`` with epsilon so many times as large; yields the curve as it grows.

    What was spent stays spent, all that is left grows by one factor, and the random numbers are
    those of the run itself. The run stays as it is.

    Raises:
        engine.EngineError: If the mechanism has no rounds left there, or epsilon becomes too large.
    """
    epsilon = times * run.settings.epsilon
    rho = Fraction(engine.rho_from(epsilon=epsilon, delta=run.settings.delta))
    moment = run.moments[at]
    state, rng = run.mechanism.with_budget(moment.state, rho=rho), copy.deepcopy(moment.rng)
    label, errors = f"what if: ε = {epsilon:g} from round {at} on", [moment.error]
    while not run.mechanism.done(state):
        state, _ = run.mechanism.step(state, run.private, rng)
        errors.append(_error(run, state))
        yield Ghost(label, at, tuple(errors), fork=True)


def resume(settings: Settings, *, rounds: int) -> Iterator[Watched]:
    """Make a run again up to a round; yields after each one, and each is in place already.

    Raises:
        engine.EngineError: If a setting is refused; the run being watched stays.
    """
    run = begin(settings)
    _take_up(run)
    here = visit()
    while run.rounds < rounds and not run.finished:
        yield run
        run = here.run = run.stepped()
        here.look_at(run.rounds)
    yield run


def advance(token: Token) -> bool:
    """Make the round after this position, unless it was made already."""
    here = visit()
    run = here.run
    if run is None or run.token != token or run.finished:
        return False
    here.run = run.stepped()
    return True


def spent_on(sample: str, table: int = 0) -> tuple[int, Fraction]:
    """How many runs this visitor made on a table, and what they spent together."""
    here = visit()
    spent = [rho for made, rho in here.past if (made.sample, made.table) == (sample, table)]
    run = here.run
    if run is not None and (run.settings.sample, run.settings.table) == (sample, table):
        spent.append(run.release(run.rounds).ledger.spent)
    return len(spent), sum(spent, Fraction(0))


def _insight(mechanism: Any, state: Any, private: engine.Private) -> engine.Insight | None:
    if not engine.selects(mechanism, state):
        return None
    return engine.insight(mechanism, state, private)


def _error(run: Watched, state: Any) -> float:
    """Mean L1 error in a state: from the scores where there are some, which is cheaper."""
    look = _insight(run.mechanism, state, run.private)
    if look is not None:
        return views.mean_l1(look, run.workload)
    return engine.evaluate(run.mechanism.release(state), run.private).mean_l1
