"""The run being watched: one for each visitor, recorded round by round (``engine.demonstrating``).

The recording after a round is put in place by a single assignment, so whatever interrupts the
script leaves either the run before or the run after the round. A step names the position it starts
from (its token): asked twice, it is made once.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import streamlit as st

import engine
from engine.demonstrating import watching
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
class Watched(watching.Recording):
    """A recorded run and what it was started with.

    Args:
        number: Tells the runs of a server apart.
        settings: What it was started with.
        title: Of its table.
    """

    number: int
    settings: Settings
    title: str

    @property
    def token(self) -> Token:
        """Names this position; a step from it is made at most once."""
        return self.number, len(self.moments)


@dataclass(slots=True, eq=False, repr=False)
class Visit(Exact):
    """What a visitor's session holds: the run, and where they look.

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
    mechanism = MECHANISMS[settings.mechanism].make()
    told = watching.begin(mechanism, table, workload, rho=rho, rng=rng)
    return watched(told, settings, samples.choices()[settings.sample].title)


def watched(told: watching.Recording, settings: Settings, title: str) -> Watched:
    """Take a recording up as a run of this server."""
    fields = {name: getattr(told, name) for name in watching.Recording.__dataclass_fields__}
    return Watched(**fields, number=next(_numbers), settings=settings, title=title)


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

    Raises:
        engine.EngineError: If the mechanism has no rounds left there, or epsilon becomes too large.
    """
    epsilon = times * run.settings.epsilon
    rho = Fraction(engine.rho_from(epsilon=epsilon, delta=run.settings.delta))
    label, errors = f"what if: ε = {epsilon:g} from round {at} on", [run.moments[at].error]
    for error in run.forked(at, rho=rho):
        errors.append(error)
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
