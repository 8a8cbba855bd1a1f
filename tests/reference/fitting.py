"""Twin of the loop behind scores: whole tables instead of factors, one line for each sentence."""

from __future__ import annotations

import numpy as np

from engine.completing import triples


def nearly_fitted(ab: np.ndarray, ac: np.ndarray, bc: np.ndarray, ways: list[int]) -> np.ndarray:
    """The table scored for three pair tables.

    Args:
        ab, ac, bc: The pair tables.
        ways: How each was completed: measured (-2), a product (-1), or through the triple's
            attribute 0, 1 or 2; any larger number stands for an attribute outside.
    """
    through = [shared for shared, way in enumerate(reversed(ways)) if way == shared]
    if not through and ways.count(triples.PRODUCT) >= 2:
        through = [0 if ways[2] == triples.PRODUCT else 1]
    if through:
        return [
            ab[:, :, None] * shares(ac, 1)[:, None, :],
            ab[:, :, None] * shares(bc, 1)[None],
            ac[:, None, :] * shares(bc, 0)[None],
        ][through[0]]
    total = bc.sum()
    lift = divide(bc, np.outer(bc.sum(1), bc.sum(0))) * total
    table = ab[:, :, None] * shares(ac, 1)[:, None, :] * lift[None]
    targets = {2: ab, 1: ac, 0: bc}
    before = np.inf
    for _ in range(triples.MAX_SWEEPS):
        gaps = []
        for axis, target in targets.items():
            sums = table.sum(axis)
            gaps.append(np.abs(sums - target).sum())
            table = table * np.expand_dims(divide(target, sums), axis)
        if max(gaps) <= triples.TOLERANCE * total or max(gaps) > triples.STALLED * before:
            break
        before = max(gaps)
    return table * divide(ab, table.sum(2))[:, :, None]


def divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The quotient, zero where it is not defined."""
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below > 0)


def shares(table: np.ndarray, axis: int) -> np.ndarray:
    """Each row (axis 1) or column (axis 0) divided by its sum."""
    return divide(table, table.sum(axis, keepdims=True))
