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
from engine.showing.badges import NOT_PRIVATE, RELEASED, badge_of
from engine.showing.framed import framed
from engine.showing.frames.rounds import Z95
from engine.types import AttributeSet, FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from engine.showing.frame import Frame


def released(estimate: Estimate, at: Mapping[int, int] | None = None) -> Frame:
    """Return an estimate cell by cell.

    Args:
        estimate: Any released marginal.
        at: Attribute -> code, to look at one slice; those attributes leave the frame.

    Returns:
        For each attribute left, its codes i0, i1, ... and labels c0, c1, ...; released and std
        (records; NaN where the noise is not known).
    """
    columns = _cells(estimate.domain, estimate.attrs, at or {})
    columns["released"] = _slice(estimate.values, estimate.attrs, at or {})
    std = math.nan if estimate.std is None else estimate.std
    columns["std"] = np.full(columns["released"].shape, std)
    return framed(columns, RELEASED)


def _cells(domain: Domain, attrs: AttributeSet, at: Mapping[int, int]) -> dict[str, Any]:
    left = [i for i in attrs if i not in at]
    index = np.indices(domain.shape(tuple(left))).reshape(len(left), -1)
    columns: dict[str, Any] = {}
    for k, (i, codes) in enumerate(zip(left, index, strict=True)):
        columns[f"i{k}"] = codes
        columns[f"c{k}"] = np.asarray(domain[i].labels, dtype=object)[codes]
    return columns


def _slice(values: FloatArray, attrs: AttributeSet, at: Mapping[int, int]) -> FloatArray:
    where = tuple(at[i] if i in at else slice(None) for i in attrs)
    return np.asarray(values[where], dtype=np.float64).ravel()


def comparison(compared: Comparison, at: Mapping[int, int] | None = None) -> Frame:
    """Return a marginal beside the truth, cell by cell. Not private.

    Returns:
        As ``released``, and exact, difference (released less exact) and difference_sd (the same in
        standard deviations of its noise; NaN where that is not known).
    """
    columns = _cells(compared.domain, compared.attrs, at or {})
    std = compared.std if compared.std else math.nan
    released = _slice(compared.released, compared.attrs, at or {})
    exact = _slice(compared.exact, compared.attrs, at or {})
    columns |= {"released": released, "std": np.full(released.shape, std), "exact": exact}
    columns |= {"difference": released - exact, "difference_sd": (released - exact) / std}
    return framed(columns, NOT_PRIVATE)


def cells_at(frame: pd.DataFrame, picked: Sequence[tuple[int, int]]) -> Frame:
    """Return the rows of a table of two attributes that were pointed at, in their order."""
    keys = set(picked)
    chosen = [pair in keys for pair in zip(frame["i0"], frame["i1"], strict=True)]
    return framed(frame[chosen].reset_index(drop=True), badge_of(frame))


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
    within = np.abs(compared.difference) <= Z95 * compared.std
    return Coverage(int(within.size), int(within.sum()))


def coverage_limits(estimate: Estimate, *, adaptive: bool) -> list[str]:
    """Say why an estimate's 95 % interval may not hold 95 % of the time; from released values.

    Args:
        estimate: The answer looked at.
        adaptive: Whether what was measured depended on earlier answers.
    """
    if estimate.completion in ("maxent", "sparse"):
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


def noise_shape(compared: Comparison) -> Frame:
    """Return how often the cells' errors have which size, beside the normal law. Not private.

    Args:
        compared: A table whose noise is known.

    Returns:
        low and high (noise sigma; the outer bins hold everything beyond), cells, and normal: the
        cells that noise alone would put there.
    """
    from scipy.special import ndtr

    assert compared.std
    edges = np.linspace(-4, 4, 17)
    scaled = np.clip(compared.difference.ravel() / compared.std, -3.999, 3.999)
    counts, _ = np.histogram(scaled, edges)
    below = np.array([0.0, *ndtr(edges[1:-1]), 1.0])  # the outer bins hold all beyond
    normal = np.diff(below) * scaled.size
    columns = {"low": edges[:-1], "high": edges[1:], "cells": counts, "normal": normal}
    return framed(columns, NOT_PRIVATE)
