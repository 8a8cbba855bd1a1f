"""What a visitor asked the long-running pages for.

Not in the pages themselves: a page's classes are made again in every run of its script, and values
of the old and the new class are never equal.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.demonstrating import comparison
from pages.parts.visit import study


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
    finishes: tuple[str, ...] = ()
    """Post-processings that each mechanism is given beside its own."""
    table: int = 0
    """Which of the visitor's own tables; 0 for a sample."""

    @property
    def contenders(self) -> list[str]:
        """Each mechanism, and each with each finish."""
        return comparison.crossed(self.mechanisms, self.finishes)

    @property
    def runs(self) -> int:
        """How many trials that is."""
        return len(self.contenders) * len(self.epsilons) * self.trials


@dataclass(frozen=True, slots=True)
class Changed:
    """A starting point and the one thing that is different."""

    base: study.Settings
    change: str
    factor: float = 2.0
    degree: int = 2
    merged: tuple[str, ...] = ()
    together: int = 2
