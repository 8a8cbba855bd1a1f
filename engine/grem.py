"""GReM-MLE: marginals from beliefs about residuals, kept up to date lazily (paper, section 4).

The estimate of a marginal is the sum of the reconstructed residual estimates within it: the maximum
likelihood estimate of everything measured so far. When a residual's estimate moves by Delta, only
marginals that contain it move, by the reconstruction of Delta.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import axes, kernels
from engine.domain import Domain, subsets
from engine.layout import Layout
from engine.released import Beliefs, Estimate
from engine.residuals import cell_variance, part_of
from engine.types import AttributeSet, FloatArray, IntArray

_PARALLEL_CELLS = 500_000
"""Cells below which a second thread costs more than it brings."""


def estimate(beliefs: Beliefs, domain: Domain, gamma: AttributeSet) -> Estimate:
    """Return the estimate of one marginal with the variance of its measured residuals."""
    values = marginal(beliefs, domain, gamma)
    variance, unmeasured = noise_of(beliefs, domain, gamma)
    return Estimate(domain, gamma, values, variance, unmeasured)


def marginal(beliefs: Beliefs, domain: Domain, gamma: AttributeSet) -> FloatArray:
    """Reconstruct one marginal from everything believed: shape (n_i for i in gamma), records."""
    values = {tau: beliefs[tau].values for tau in subsets(gamma) if tau in beliefs}
    return np.broadcast_to(sum_of_parts(values, gamma, domain.sizes), domain.shape(gamma)).copy()


def noise_of(
    beliefs: Beliefs, domain: Domain, gamma: AttributeSet
) -> tuple[float, tuple[AttributeSet, ...]]:
    """Return the cell variance from measured residuals, and the residuals never measured.

    Residuals over an attribute with one value are empty: known, without variance (MATH section 3).
    """
    variance, unmeasured = 0.0, []
    for tau, unit in zip(subsets(gamma), _unit_variances(domain.shape(gamma)), strict=True):
        if unit == 0:
            continue
        precision = beliefs.precision(tau)
        if precision:
            variance += unit / precision
        else:
            unmeasured.append(tau)
    return variance, tuple(unmeasured)


@lru_cache(maxsize=4096)
def _unit_variances(shape: tuple[int, ...]) -> tuple[float, ...]:
    """v_{tau,gamma} of every subset tau of a marginal of this shape, in the order of subsets."""
    inside = [set(tau) for tau in subsets(tuple(range(len(shape))))]
    return tuple(
        cell_variance(
            [n for j, n in enumerate(shape) if j in tau],
            [n for j, n in enumerate(shape) if j not in tau],
        )
        for tau in inside
    )


class Reconstruction:
    """Every marginal of a layout in one array, kept up to date in place.

    The update is linear, so the array may start anywhere: at zero it holds the estimates, at minus
    the exact counts it holds their errors (and is then private).

    Args:
        layout: Which marginals, and where.
        flat: Starting values, taken over; zeros if not given.

    Shapes:
        flat: (cells of all sets,), records.
        l1: (K,), the sum of absolute values of each marginal.
    """

    __slots__ = ("flat", "l1", "layout")

    def __init__(self, layout: Layout, flat: FloatArray | None = None) -> None:
        self.layout = layout
        self.flat: FloatArray = np.zeros(layout.total_cells) if flat is None else flat
        self.l1: FloatArray = np.zeros(len(layout))
        self._sum()

    def view(self, attrs: AttributeSet) -> FloatArray:
        """The marginal over ``attrs`` in domain order, a view."""
        return self.layout.view(self.flat, self.layout.index[attrs])

    def update(self, changes: Mapping[AttributeSet, FloatArray]) -> IntArray:
        """Add the changes of residual estimates to every marginal that contains one of them.

        Returns:
            Positions of the marginals touched, in increasing order.
        """
        if not changes:
            return np.empty(0, dtype=np.int64)
        union = tuple(sorted({i for tau in changes for i in tau}))
        if union in self.layout.index:
            return self._update_within(union, changes)
        # Without a common marginal the tables of change would be as large as the marginals.
        for tau, change in changes.items():
            self._update_within(tau, {tau: change})
        return self._containing(changes)

    def rebuild(self, beliefs: Beliefs, start: NDArray[np.float64] | float = 0.0) -> IntArray:
        """Reconstruct every marginal anew from its residuals: what the lazy update avoids."""
        self.flat[:] = start
        for attrs in self.layout.sets:
            values = {tau: beliefs[tau].values for tau in subsets(attrs) if tau in beliefs}
            view = self.view(attrs)
            np.add(view, sum_of_parts(values, attrs, self.layout.sizes), out=view)
        self._sum()
        return np.arange(len(self.layout))

    def _update_within(
        self, gamma: AttributeSet, changes: Mapping[AttributeSet, FloatArray]
    ) -> IntArray:
        """Add changes of residuals of gamma; returns which marginals were touched.

        Marginals with the same overlap with gamma change by the same table, spread evenly over
        their other attributes: it is reconstructed once for each overlap.
        """
        layout = self.layout
        tables = _tables(changes, gamma, layout.sizes)
        touched = self._containing(changes)
        # Overlaps in binary: bit j says whether the j-th attribute of gamma is in it.
        code = np.zeros(len(touched), dtype=np.int64)
        for j, i in enumerate(gamma):
            code |= layout.members[i][touched].astype(np.int64) << j

        def add(first: int, last: int) -> None:
            kernels.add_tables(
                self.flat,
                layout.offsets,
                layout.axis_attr,
                layout.axis_size,
                touched,
                code,
                tables.flat,
                tables.start,
                tables.cells,
                tables.stride,
                self.l1,
                first,
                last,
            )

        work = layout.cells[touched]
        kernels.in_threads(add, kernels.parts(work, at_least=_PARALLEL_CELLS))
        return touched

    def _containing(self, taus: Iterable[AttributeSet]) -> IntArray:
        """Positions of the marginals that contain at least one of these residuals."""
        small_first = sorted(map(set, taus), key=len)
        # What contains a set contains its subsets: only the smallest ones count.
        smallest = [
            tau for k, tau in enumerate(small_first) if not any(s <= tau for s in small_first[:k])
        ]
        found = [self.layout.containing(tuple(sorted(tau))) for tau in smallest]
        return found[0] if len(found) == 1 else np.unique(np.concatenate(found))

    def _sum(self) -> None:
        def add_up(first: int, last: int) -> None:
            kernels.absolute_sums(self.flat, self.layout.offsets, self.l1, first, last)

        bounds = kernels.parts(self.layout.cells, at_least=_PARALLEL_CELLS)
        kernels.in_threads(add_up, bounds)


class _Tables(NamedTuple):
    """What marginals change by, one table for each overlap with gamma, end to end.

    Shapes:
        flat: (cells of all tables,).
        start, cells: (2^|gamma|,), by overlap in binary; no table where ``cells`` is 0.
        stride: (2^|gamma|, d + 1), along every attribute of the domain; 0 outside the overlap.
    """

    flat: FloatArray
    start: IntArray
    cells: IntArray
    stride: IntArray


def _tables(
    changes: Mapping[AttributeSet, FloatArray], gamma: AttributeSet, sizes: tuple[int, ...]
) -> _Tables:
    plan = _overlaps(tuple(changes), gamma, sizes)
    parts = np.empty(plan.part_cells)
    for change, at in zip(changes.values(), plan.part_at.tolist(), strict=True):
        part = axes.center_all(change)
        parts[at : at + part.size] = part.reshape(-1)
    flat = np.empty(plan.table_cells)
    kernels.overlap_tables(
        parts, plan.part_at, plan.masks, plan.sizes, plan.start, plan.cells, flat
    )
    return _Tables(flat, plan.start, plan.cells, plan.stride)


class _Overlaps(NamedTuple):
    """Where parts and tables of one kind of change lie; sets of gamma's attributes in binary."""

    masks: IntArray
    part_at: IntArray
    part_cells: int
    sizes: IntArray
    start: IntArray
    cells: IntArray
    table_cells: int
    stride: IntArray


# The same marginals are selected again and again.
@lru_cache(maxsize=1024)
def _overlaps(
    taus: tuple[AttributeSet, ...], gamma: AttributeSet, sizes: tuple[int, ...]
) -> _Overlaps:
    bit = {i: 1 << j for j, i in enumerate(gamma)}
    masks = [sum(bit[i] for i in tau) for tau in taus]
    part_at = np.cumsum([0, *(math.prod(sizes[i] for i in tau) for tau in taus)])
    start, cells = np.zeros((2, 1 << len(gamma)), dtype=np.int64)
    stride = np.zeros((1 << len(gamma), len(sizes) + 1), dtype=np.int64)
    end = 0
    for code in range(1 << len(gamma)):
        if all(mask & ~code for mask in masks):
            continue
        step = 1
        for i in reversed([i for i in gamma if bit[i] & code]):
            stride[code, i] = step
            step *= sizes[i]
        start[code], cells[code] = end, step
        end += step
    own = np.array([sizes[i] for i in gamma], dtype=np.int64)
    at = part_at[:-1]
    return _Overlaps(np.array(masks), at, int(part_at[-1]), own, start, cells, end, stride)


def sum_of_parts(
    residuals: Mapping[AttributeSet, FloatArray], gamma: AttributeSet, sizes: tuple[int, ...]
) -> FloatArray:
    """Sum the reconstructions over gamma; axes that nothing varies along keep one slice."""
    shape = tuple(sizes[i] for i in gamma)
    total: FloatArray | None = None
    # Small ones first: the sum grows to full shape only when a part needs it.
    for tau in sorted(residuals, key=lambda t: (len(t), t)):
        part = part_of(residuals[tau], tau, gamma, shape)
        total = part if total is None else total + part
    return np.zeros((1,) * len(gamma)) if total is None else total
