"""The number of records that completed tables add up to: as estimated, or lowered on purpose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from engine.released import Beliefs

Total: TypeAlias = Literal["unbiased", "lowered"]
UNBIASED: Total = "unbiased"
LOWERED: Total = "lowered"


def total_of(beliefs: Beliefs, sizes: Sequence[int], kind: Total) -> float:
    """Return what every table of these beliefs adds up to; never below zero.

    Args:
        beliefs: What was measured; without the total there is nothing to add up to.
        sizes: Number of values of every attribute.
        kind: ``"unbiased"`` as estimated, so that a table adds up to the N beside it; ``"lowered"``
            by up to one standard deviation, see ``_allowance``.
    """
    belief = beliefs.get(())
    if belief is None:
        return 0.0
    total, std = float(belief.values), 1.0 / math.sqrt(belief.precision)
    return max(total - (_allowance(total, std, sizes) if kind == LOWERED else 0.0), 0.0)


def _allowance(total: float, std: float, sizes: Sequence[int]) -> float:
    """How much is taken off the number of records, the more the less is known of where they are.

    Where noise hides the cells, most records of a table lie in cells that should hold none: a total
    too high then costs its whole excess, one too low almost nothing. So up to one standard
    deviation is taken off, all of it if three attributes of typical size leave a cell far fewer
    records than the total's noise, nothing if they leave far more.
    """
    cells = math.exp(3.0 * float(np.mean(np.log(sizes))))
    return std / (1.0 + max(total, 0.0) / cells / std)
