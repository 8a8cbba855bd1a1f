"""Post-processing of released tables: free, since it sees nothing but what was released.

GReM's estimates are unbiased and consistent with each other, and so some cells come out negative.
Both ways here give a table without negative cells; it is then neither unbiased nor consistent with
other marginals, and its variance is no longer known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.checking import expect
from engine.compiling import compiled
from engine.released import Estimate
from engine.types import FloatArray

_ONE = 'Ask the release for one: release.estimate("age", "sex").'


def clip(estimate: Estimate) -> Estimate:
    """Replace negative cells by zero and rescale the rest to the estimated total.

    A total of zero or less gives zeros; a table without a positive cell gives the uniform table.
    """
    expect(estimate, Estimate, "an Estimate", _ONE)
    return _completed(estimate, clip_table(estimate.values), "clip")


def simplex(estimate: Estimate) -> Estimate:
    """Move to the nearest table without negative cells that has the estimated total.

    Nearest in squared distance. A total of zero or less gives zeros.
    """
    expect(estimate, Estimate, "an Estimate", _ONE)
    return _completed(estimate, simplex_table(estimate.values), "simplex")


def clip_table(values: FloatArray) -> FloatArray:
    """``clip`` on a plain array."""
    total = float(values.sum())
    positive: FloatArray = np.maximum(values, 0.0)
    if total <= 0:
        return np.zeros_like(values)
    return positive * (total / float(positive.sum()))


def simplex_table(values: FloatArray) -> FloatArray:
    """``simplex`` on a plain array."""
    total = float(values.sum())
    return values.copy() if total > 0 and float(values.min()) >= 0 else projected(values, total)


def projected(values: FloatArray, total: float) -> FloatArray:
    """Return the nearest table without negative cells that has this total; zeros at zero or less.

    Nearest in squared distance.

    Source:
        One number is subtracted from all cells before they are cut at zero; it is found by leaving
        out what falls below, again and again (Michelot 1986).
    """
    if total <= 0:
        return np.zeros_like(values)
    found = np.array(values, dtype=np.float64, order="C")
    _project(found.reshape(-1), total)
    return found


@compiled
def _project(cells: FloatArray, total: float) -> None:
    n = len(cells)
    excess, number = -total, n
    for k in range(n):
        excess += cells[k]
    cut = excess / n
    while True:
        kept, excess = 0, -total
        for k in range(n):
            if cells[k] > cut:
                kept += 1
                excess += cells[k]
        if kept >= number or kept == 0:  # fewer each time, so there is an end
            break
        number, cut = kept, excess / kept
    for k in range(n):
        cells[k] = max(cells[k] - cut, 0.0)


def _completed(estimate: Estimate, values: FloatArray, name: str) -> Estimate:
    return replace(estimate, values=values, variance=None, completion=name)
