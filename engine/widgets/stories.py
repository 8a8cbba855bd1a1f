"""A run together with what may be told of it beside the records: made here, kept in the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import engine
from engine import views
from engine.demonstrating.evaluation import NotReleased
from engine.mechanisms import catalogue
from engine.mechanisms.repeating import seed_repeated
from engine.tables import CountSource, Private

MECHANISMS: Mapping[str, Callable[[], Any]] = catalogue.Listing(
    "forms", lambda entry: entry.make, lambda entry: entry.title
)
"""What makes each of the catalogue's mechanisms, by the title that forms show."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Story(NotReleased):
    """A run and, if the records are there, what a demonstration tells of them.

    Args:
        run: Released values only.
        private: The records' counts; None in a release view.
        seen: How each round selected, none for the start; empty if not known.
        errors: Mean L1 error over the workload after each event, in records; empty if not known.
    """

    run: engine.Run
    private: Private | None = None
    seen: tuple[views.Glimpse | None, ...] = ()
    errors: tuple[float, ...] = ()

    def __repr__(self) -> str:
        beside = "no records beside it" if self.private is None else "not private"
        return f"Story({self.run!r}, {beside})"


def tell(
    mechanism: Any,
    table: CountSource | Private,
    workload: engine.Workload,
    *,
    epsilon: float,
    delta: float,
    seed: int | None,
    report: Callable[[float, str], None] = lambda share, word: None,
) -> Story:
    """Run a mechanism to its end and remember how it chose.

    Raises:
        EngineError: As ``engine.run``.
    """
    private = table if isinstance(table, Private) else Private(table)
    rho = engine.rho_from(epsilon=epsilon, delta=delta)
    events: list[engine.Event] = []
    seen: list[views.Glimpse | None] = []
    errors: list[float] = []
    look: engine.Insight | None = None
    state: Any = None
    rng = engine.rehearsal_noise(seed)
    repeated = seed_repeated(private, seed, mechanism, workload, Fraction(rho))
    for state, event in engine.rounds(mechanism, private, workload, rho=rho, rng=rng):
        events.append(event)
        if isinstance(event, engine.Finished):
            continue
        chosen = getattr(event, "selected", None)
        seen.append(views.glimpse(look, workload, chosen) if look is not None else None)
        look = _insight(mechanism, state, private)
        release = mechanism.release(state)
        errors.append(
            views.mean_l1(look, workload)
            if look is not None
            else engine.evaluate(release, private).mean_l1
        )
        report(float(release.ledger.spent / release.ledger.total), f"round {len(events) - 1}")
    release = mechanism.release(state).beside(private.odometer.reading())
    release = release.with_repeated_seed() if repeated else release
    release = release.promised(epsilon=epsilon, delta=delta)
    return Story(engine.Run.of(events, release), private, tuple(seen), tuple(errors))


def _insight(mechanism: Any, state: Any, private: Private) -> engine.Insight | None:
    if not engine.selects(mechanism, state):
        return None
    return engine.insight(mechanism, state, private)
