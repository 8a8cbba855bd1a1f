"""Post-processing of released tables: free, since it sees nothing but what was released.

GReM's estimates are unbiased and consistent with each other, and so some cells come out negative.
Both ways here give a table without negative cells; it is then neither unbiased nor consistent with
other marginals, and its variance is no longer known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.checking import expect
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
    """``simplex`` on a plain array: subtract one number from all cells, then cut at zero.

    Source:
        The number is found from the sorted cells (Held, Wolfe, Crowder 1974).
    """
    total = float(values.sum())
    if total <= 0:
        return np.zeros_like(values)
    if float(values.min()) >= 0:
        return values.copy()
    # Only positive cells can stay positive: the cut is never below zero here.
    descending = np.sort(values[values > 0])[::-1]
    excess = (np.cumsum(descending) - total) / np.arange(1, len(descending) + 1)
    # The largest cell always stays positive; rounding may say otherwise next to huge cells.
    kept = np.flatnonzero(descending > excess)
    cut = excess[kept[-1] if len(kept) else 0]
    projected: FloatArray = np.maximum(values - cut, 0.0)
    return projected


def _completed(estimate: Estimate, values: FloatArray, name: str) -> Estimate:
    return replace(estimate, values=values, variance=None, completion=name)
