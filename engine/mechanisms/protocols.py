"""What a mechanism is: the four calls that drive it, and what some can do besides.

A step takes a state and returns the next one with an event; nothing else happens.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, TypeVar, runtime_checkable

from engine.completing.release import Release
from engine.noise import RandomSource
from engine.selection import Scores
from engine.tables import Private
from engine.trace import RoundEnded, Started
from engine.workload import Workload

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
S_contra = TypeVar("S_contra", contravariant=True)


@runtime_checkable
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


@runtime_checkable
class Adaptive(Protocol[S_contra]):
    """A mechanism whose rounds choose by scores."""

    def selects(self, state: S_contra) -> bool:
        """Whether the next round selects a marginal: only then there are scores."""
        ...

    def scores(self, state: S_contra, private: Private) -> Scores:
        """Score every candidate for the next round: private."""
        ...


@runtime_checkable
class Planned(Protocol):
    """A mechanism that says how many rounds its budgets are made for."""

    def planned_rounds(self, workload: Workload) -> int:
        """Return the nominal number of rounds."""
        ...


@runtime_checkable
class Resumable(Protocol[S_co]):
    """A mechanism whose state at any round follows from what the run told."""

    def resumed(self, release: Release, number: int, following: RoundEnded | None) -> S_co:
        """Return the state after a round, from the release then and the round that followed."""
        ...


@runtime_checkable
class Rebudgetable(Protocol[S]):
    """A mechanism whose run can go on as if it had another budget."""

    def with_budget(self, state: S, *, rho: Fraction) -> S:
        """Return the state under another whole budget, for "what if" beside a run."""
        ...
