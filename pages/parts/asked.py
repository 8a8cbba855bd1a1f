"""What a visitor asked the long-running pages for.

Not in the pages themselves: a page's classes are made anew in every run of its script, and values
of the old and the new class are never equal.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Compared:
    """What the Compare page compares."""

    sample: str
    attributes: tuple[str, ...]
    degree: int
    mechanisms: tuple[str, ...]
    epsilons: tuple[float, ...]
    trials: int
    delta: float = 1e-9
    seed: int = 0
    answers: str = "raw"

    @property
    def runs(self) -> int:
        """How many runs that is."""
        return len(self.mechanisms) * len(self.epsilons) * self.trials


@dataclass(frozen=True, slots=True)
class Base:
    """Where both settings of the What if page start."""

    sample: str
    attributes: tuple[str, ...]
    degree: int
    epsilon: float
    delta: float
    seed: int
    mechanism: str = "aim_grem"


@dataclass(frozen=True, slots=True)
class Changed:
    """A starting point and the one thing that is different."""

    base: Base
    change: str
    factor: float = 2.0
    degree: int = 2
    merged: tuple[str, ...] = ()
    together: int = 2
