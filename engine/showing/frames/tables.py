"""Frames of one marginal: released alone, or beside the truth, which is not private."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.demonstrating.evaluation import Comparison, NotReleased
from engine.domain import Domain
from engine.released import Estimate
from engine.types import AttributeSet, FloatArray

if TYPE_CHECKING:
    import pandas as pd


def released(estimate: Estimate, at: Mapping[int, int] | None = None) -> pd.DataFrame:
    """Return an estimate cell by cell.

    Args:
        estimate: Any released marginal.
        at: Attribute -> code, to look at one slice; those attributes leave the frame.

    Returns:
        For each attribute left, its codes i0, i1, ... and labels c0, c1, ...; released and std
        (records; NaN where the noise is not known).
    """
    frame = _cells(estimate.domain, estimate.attrs, at or {})
    frame["released"] = _slice(estimate.values, estimate.attrs, at or {})
    frame["std"] = math.nan if estimate.std is None else estimate.std
    return frame


def _cells(domain: Domain, attrs: AttributeSet, at: Mapping[int, int]) -> pd.DataFrame:
    import pandas as pd

    left = [i for i in attrs if i not in at]
    index = np.indices(domain.shape(tuple(left))).reshape(len(left), -1)
    columns: dict[str, Any] = {}
    for k, (i, codes) in enumerate(zip(left, index, strict=True)):
        columns[f"i{k}"] = codes
        columns[f"c{k}"] = np.asarray(domain[i].labels, dtype=object)[codes]
    return pd.DataFrame(columns, index=pd.RangeIndex(domain.cells(tuple(left))))


def _slice(values: FloatArray, attrs: AttributeSet, at: Mapping[int, int]) -> FloatArray:
    where = tuple(at[i] if i in at else slice(None) for i in attrs)
    return np.asarray(values[where], dtype=np.float64).ravel()


def comparison(compared: Comparison, at: Mapping[int, int] | None = None) -> pd.DataFrame:
    """Return a marginal beside the truth, cell by cell. Not private.

    Returns:
        As ``released``, and exact, difference (released less exact) and difference_sd (the same in
        standard deviations of its noise; NaN where that is not known).
    """
    frame = _cells(compared.domain, compared.attrs, at or {})
    std = compared.std if compared.std else math.nan
    frame["released"] = _slice(compared.released, compared.attrs, at or {})
    frame["std"] = std
    frame["exact"] = _slice(compared.exact, compared.attrs, at or {})
    frame["difference"] = frame["released"] - frame["exact"]
    frame["difference_sd"] = frame["difference"] / std
    return frame


def cells_at(frame: pd.DataFrame, picked: Sequence[tuple[int, int]]) -> pd.DataFrame:
    """Return the rows of a table of two attributes that were pointed at, in their order."""
    keys = set(picked)
    chosen = [pair in keys for pair in zip(frame["i0"], frame["i1"], strict=True)]
    return frame[chosen].reset_index(drop=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coverage(NotReleased):
    """How many true counts lie within their intervals. Not private.

    Args:
        cells: Cells looked at.
        inside: Those within ±1.96 noise sigma of the truth.
    """

    cells: int
    inside: int

    @property
    def expected(self) -> float:
        """What noise alone would give."""
        return 0.95 * self.cells

    def __repr__(self) -> str:
        return "Coverage(not private, not for release)"


def coverage(compared: Comparison) -> Coverage | None:
    """Count the cells whose 95 % interval holds the truth; None where the noise is not known."""
    if not compared.std:
        return None
    within = np.abs(compared.difference) <= 1.96 * compared.std
    return Coverage(int(within.size), int(within.sum()))


def coverage_limits(estimate: Estimate, *, adaptive: bool) -> list[str]:
    """Say why an estimate's 95 % interval may not hold 95 % of the time; from released values.

    Args:
        estimate: The answer looked at.
        adaptive: Whether what was measured depended on earlier answers.
    """
    if estimate.completion == "maxent":
        return ["Completed by maximum entropy, and shrunk: for such answers no interval is known."]
    if estimate.completion is not None:
        return [
            f"After {estimate.completion} no interval is known: cutting negative counts off moves "
            "every other cell too."
        ]
    if estimate.std == 0:
        return ["Nothing is measured here yet, so there is no noise and no interval."]
    limits = []
    if estimate.unmeasured:
        names = [estimate.domain.label(attrs) for attrs in estimate.unmeasured]
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        limits.append(
            f"Never measured within it: {shown}. That is counted as zero, an error that no "
            "interval knows of."
        )
    if adaptive:
        limits.append(
            "What was measured was chosen in the light of earlier answers, so 95 % is nominal."
        )
    return limits


def noise_shape(compared: Comparison) -> pd.DataFrame:
    """Return how often the cells' errors have which size, beside the normal law. Not private.

    Args:
        compared: A table whose noise is known.

    Returns:
        low and high (noise sigma; the outer bins hold everything beyond), cells, and normal: the
        cells that noise alone would put there.
    """
    import pandas as pd

    assert compared.std
    edges = np.linspace(-4, 4, 17)
    scaled = np.clip(compared.difference.ravel() / compared.std, -3.999, 3.999)
    counts, _ = np.histogram(scaled, edges)
    below = np.array([0.5 * math.erfc(-edge / math.sqrt(2)) for edge in edges])
    below[0], below[-1] = 0.0, 1.0
    normal = np.diff(below) * scaled.size
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "cells": counts, "normal": normal})
