"""Water filling by hand, in exact fractions: the level, what is omitted, and what is respent.

Everybody first gets up to one level. Whoever's floor is above it would have to give water back:
they are omitted, and the whole budget is spent again on the others, until nobody is above.
``engine.plan`` does the same in floating point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from engine.errors import OptionError


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt.

    Args:
        among: Positions of the vessels that share the budget.
        level: Where their water would stand.
        omitted: Those of them whose floor is above that.
    """

    among: tuple[int, ...]
    level: Fraction
    omitted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Poured:
    """How a budget was shared out.

    Args:
        steps: Every attempt; the last one omits nobody.
        poured: Water in each vessel; it adds up to the budget exactly.
    """

    steps: tuple[Step, ...]
    poured: tuple[Fraction, ...]

    @property
    def level(self) -> Fraction:
        """Where the water stands."""
        return self.steps[-1].level


def pour(widths: Sequence[Fraction], floors: Sequence[Fraction], budget: Fraction) -> Poured:
    """Share a budget among vessels.

    Args:
        widths: Water that one unit of height takes, positive.
        floors: Height from which each is filled.
        budget: Water, positive.

    Raises:
        OptionError: If there is no vessel, or a width or the budget is not positive.

    >>> found = pour([Fraction(1), Fraction(2)], [Fraction(1, 2), Fraction(3)], Fraction(1))
    >>> [str(step.level) for step in found.steps], [str(w) for w in found.poured]
    (['5/2', '3/2'], ['1', '0'])
    """
    if not widths or len(widths) != len(floors) or min(widths) <= 0 or budget <= 0:
        raise OptionError("Vessels need a positive width, a floor each, and a positive budget.")
    among, steps = tuple(range(len(widths))), []
    while True:
        water = budget + sum((widths[k] * floors[k] for k in among), Fraction(0))
        level = water / sum((widths[k] for k in among), Fraction(0))
        omitted = tuple(k for k in among if floors[k] > level)
        steps.append(Step(among, level, omitted))
        if not omitted:
            break
        among = tuple(k for k in among if k not in omitted)
    poured = [
        widths[k] * (level - floors[k]) if k in among else Fraction(0) for k in range(len(widths))
    ]
    return Poured(tuple(steps), tuple(poured))
