"""Twins of how unmeasured pairs are completed, one pair at a time with matrix products."""

from __future__ import annotations

import numpy as np


def strongest(information: np.ndarray) -> np.ndarray:
    """The first attribute whose weaker information about the two is largest; -1 if that is 0."""
    through = np.full(information.shape, -1)
    for a, c in np.argwhere(~np.eye(len(information), dtype=bool)):
        weaker = np.minimum(information[a], information[c])
        if weaker.max() > 0:
            through[a, c] = weaker.argmax()
    return through


def by_way(first: np.ndarray, second: np.ndarray, total: float) -> np.ndarray | None:
    """q_ax q_xc / q_x, q_x being that of the second table, scaled to the total; None if nothing."""
    sums = second.sum(axis=1, keepdims=True)
    given = np.divide(second, sums, out=np.zeros_like(second), where=sums > 0)
    table = first @ given
    return table * (total / table.sum()) if table.sum() > 0 else None
