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
from engine.mechanisms import catalogue
from pages.parts import samples

MOST_CELLS = 30_000_000
"""Cells of all marginals that a page holds: about 400 MB while it runs."""

MECHANISMS: Mapping[str, catalogue.Entry] = catalogue.Listing("forms", lambda entry: entry)
"""The catalogue's mechanisms by key; older keys are found too."""

Token: TypeAlias = tuple[int, int]
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is started with."""

    sample: str
    attributes: tuple[str, ...]
    degree: int = 3
    epsilon: float = 1.0
    delta: float = 1e-9
    seed: int = 0
    mechanism: str = "aim_grem"
    marginals: tuple[tuple[tuple[str, ...], float], ...] = ()
    """Tables asked for with their weights, by names; empty: all over ``degree`` attributes."""

    def workload(self, domain: engine.Domain) -> engine.Workload:
        """What is asked for, of the domain of these attributes.

        Raises:
            engine.EngineError: If it is no workload, or more than a page holds.
        """
        if self.marginals:
            asked = engine.Workload(dict(self.marginals), domain)
        else:
            asked = engine.Workload.all_kway(domain, self.degree)
        cells = asked.layout.total_cells
        if cells > MOST_CELLS:
            raise engine.WorkloadError(
                f"These marginals and their subsets have {cells:,} cells; this page holds "
                f"{MOST_CELLS:,}. Choose fewer attributes, or marginals over fewer of them.",
                code="E_TOO_LARGE",
            )
        return asked


@dataclass(frozen=True, slots=True)
class Moment:
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


@dataclass(frozen=True, slots=True)
class Ghost:
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


@dataclass(frozen=True, slots=True)
class Watched:
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


@dataclass(slots=True)
class Visit:
    """What a visitor's session holds: the run, and where he looks.

    Args:
        run: The run being watched.
        view: The round looked at; 0 is before the first one.
        playing: Whether rounds follow by themselves.
        ticked: When the last one did, on the monotonic clock.
        to_end: Whether all the rounds left were asked for.
        refusal: Field and message of a refused setting.
        past: What earlier runs on the same sample spent: (sample, rho).
        came_from: The round looked at before.
        moved: When that changed, on the monotonic clock.
        own: Whether the tables asked for are the visitor's own list.
        asked: That list for each sample: names of attributes -> weight.
        ghosts: Curves of other runs, drawn beside this one's.
        marginal: Names of the table that a link asked to look at.
        fork: The round from which a fork was asked for.
        awaited: Settings of a saved session whose table is to be chosen again.
    """

    run: Watched | None = None
    view: int = 0
    playing: bool = False
    ticked: float = 0.0
    to_end: bool = False
    refusal: tuple[str, str] | None = None
    past: list[tuple[str, Fraction]] = field(default_factory=list)
    came_from: int = 0
    moved: float = 0.0
    own: bool = False
    asked: dict[str, dict[tuple[str, ...], float]] = field(default_factory=dict)
    ghosts: tuple[Ghost, ...] = ()
    marginal: tuple[str, ...] | None = None
    fork: int | None = None
    awaited: Any = None

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


def default_settings(sample: str = "adult") -> Settings:
    """A run that is small enough for readable pictures."""
    attributes = samples.choices()[sample].default_attributes
    return Settings(sample, attributes, degree=min(3, len(attributes)))


def first_settings(sample: str = "adult") -> Settings:
    """A run that shows rounds: the default measures so few tables at once, with nothing to step."""
    return replace(default_settings(sample), mechanism="aim_grem_paper")


def own_list(sample: str, attributes: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], float], ...]:
    """The visitor's own list of tables, those whose attributes are all there; empty without one."""
    here = visit()
    if not here.own:
        return ()
    asked = here.asked.get(sample, {})
    return tuple((names, w) for names, w in asked.items() if set(names) <= set(attributes))


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
    run = begin(settings)
    for _ in range(rounds):
        run = run if run.finished else run.stepped()
    _take_up(run)


def _take_up(run: Watched) -> None:
    """Watch this run from now on; what the one before spent is kept, and its curve as a ghost."""
    here = visit()
    before = here.run
    if before is not None:
        here.past.append((before.settings.sample, before.release(before.rounds).ledger.spent))
    here.ghosts = () if before is None else _predecessor(before, run)
    here.run, here.view, here.playing, here.refusal = run, run.rounds, False, None
    here.marginal = None


def _predecessor(before: Watched, now: Watched) -> tuple[Ghost, ...]:
    """The curve of the run before, if it answers the same questions about the same table."""
    old, new = before.settings, now.settings
    same = ("sample", "attributes", "degree")
    if before.rounds == 0 or any(getattr(old, name) != getattr(new, name) for name in same):
        return ()
    changed = [
        text
        for name, text in (
            ("epsilon", f"ε = {old.epsilon:g}"),
            ("delta", f"δ = {old.delta:g}"),
            ("seed", f"seed {old.seed}"),
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


def spent_on(sample: str) -> tuple[int, Fraction]:
    """How many runs this visitor made on a sample, and what they spent together."""
    here = visit()
    spent = [rho for name, rho in here.past if name == sample]
    if here.run is not None and here.run.settings.sample == sample:
        spent.append(here.run.release(here.run.rounds).ledger.spent)
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


def fill_widgets(settings: Settings) -> None:
    """Let the fields of the settings say what this run was started with."""
    said: dict[str, Any] = {
        "sample": settings.sample,
        f"attributes_{settings.sample}": list(settings.attributes),
        "degree": settings.degree,
        "epsilon": settings.epsilon,
        "delta": f"{settings.delta:g}",
        "seed": settings.seed,
        "mechanism": settings.mechanism,
    }
    here = visit()
    here.own = bool(settings.marginals)
    if settings.marginals:
        here.asked[settings.sample] = dict(settings.marginals)
    for key, value in said.items():
        st.session_state[key] = value
