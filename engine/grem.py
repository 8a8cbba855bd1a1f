"""GReM-MLE: marginals from beliefs about residuals, kept up to date lazily (paper, section 4).

The estimate of a marginal is the sum of the reconstructed residual estimates within it: the maximum
likelihood estimate of everything measured so far. When a residual's estimate moves by Delta, only
marginals that contain it move, by the reconstruction of Delta.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import kernels, threads
from engine.domain import Domain, subsets
from engine.layout import Layout
from engine.released import Beliefs, Estimate
from engine.residuals import cell_variance
from engine.types import AttributeSet, FloatArray, IntArray

_PARALLEL_CELLS = 300_000
"""Cells below which a second thread costs more than it brings."""
FINEST = 2.0**-200
"""A grid so fine that rounding to it leaves a number as it is."""


def estimate(beliefs: Beliefs, domain: Domain, gamma: AttributeSet) -> Estimate:
    """Return the estimate of one marginal with the variance of its measured residuals."""
    values = marginal(beliefs, domain, gamma)
    variance, unmeasured = noise_of(beliefs, domain, gamma)
    return Estimate(domain, gamma, values, variance, unmeasured)


def marginal(beliefs: Beliefs, domain: Domain, gamma: AttributeSet) -> FloatArray:
    """Reconstruct one marginal from everything believed: shape (n_i for i in gamma), records."""
    values = {tau: beliefs[tau].values for tau in subsets(gamma) if tau in beliefs}
    return sum_of_parts(values, gamma, domain.sizes)


def noise_of(
    beliefs: Beliefs, domain: Domain, gamma: AttributeSet
) -> tuple[float, tuple[AttributeSet, ...]]:
    """Return the cell variance from measured residuals, and the residuals never measured.

    Residuals over an attribute with one value are empty: known, without variance.
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
        unit: What is added to a cell is a multiple of it (a power of two). On a coarse grid every
            sum is exact, whatever the cells hold, which selection needs of its errors.

    Shapes:
        flat: (cells of all sets,), records.
        l1: (K,), the sum of absolute values of each marginal.
    """

    __slots__ = ("flat", "l1", "layout", "unit")

    def __init__(
        self, layout: Layout, flat: FloatArray | None = None, *, unit: float = FINEST
    ) -> None:
        self.layout, self.unit = layout, unit
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
        """Reconstruct every marginal from all its residuals: what the lazy update avoids."""
        self.flat[:] = start
        for attrs in self.layout.sets:
            values = {tau: beliefs[tau].values for tau in subsets(attrs) if tau in beliefs}
            view = self.view(attrs)
            whole = sum_of_parts(values, attrs, self.layout.sizes)
            if self.unit != FINEST:
                whole = np.rint(whole / self.unit) * self.unit
            np.add(view, whole, out=view)
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

        def add(first: int, last: int) -> None:
            kernels.add_tables(
                self.flat,
                layout.offsets,
                layout.axis_attr,
                layout.axis_size,
                touched,
                tables.place,
                tables.flat,
                tables.start,
                tables.cells,
                tables.stride,
                self.unit,
                self.l1,
                first,
                last,
            )

        work = layout.cells[touched]
        threads.in_threads(add, threads.parts(work, at_least=_PARALLEL_CELLS))
        return touched

    def _containing(self, taus: Iterable[AttributeSet]) -> IntArray:
        """Positions of the marginals that contain at least one of these residuals."""
        small_first = sorted(map(set, taus), key=len)
        # What contains a set contains its subsets: only the smallest ones count.
        smallest = [
            tau for k, tau in enumerate(small_first) if not any(s <= tau for s in small_first[:k])
        ]
        found = [self.layout.containing(tuple(sorted(tau))) for tau in smallest]
        if len(found) == 1:
            return found[0]
        every = np.sort(np.concatenate(found))
        distinct: IntArray = every[np.append(True, every[1:] != every[:-1])]
        return distinct

    def _sum(self) -> None:
        def add_up(first: int, last: int) -> None:
            kernels.absolute_sums(self.flat, self.layout.offsets, self.l1, first, last)

        bounds = threads.parts(self.layout.cells, at_least=_PARALLEL_CELLS)
        threads.in_threads(add_up, bounds)


class _Tables(NamedTuple):
    """What marginals change by, one table for each overlap with gamma, end to end.

    Overlaps are sets of gamma's attributes in binary.

    Shapes:
        place: (d + 1,), where each attribute of the domain stands in gamma; behind all if nowhere.
        flat: (cells of all tables,).
        start, cells: (2^|gamma|,), where each overlap's table is; none where ``cells`` is 0.
        stride: (2^|gamma|, |gamma| + 1), along each attribute of gamma; 0 outside the overlap.
    """

    place: IntArray
    flat: FloatArray
    start: IntArray
    cells: IntArray
    stride: IntArray


def _tables(
    changes: Mapping[AttributeSet, FloatArray], gamma: AttributeSet, sizes: tuple[int, ...]
) -> _Tables:
    degree = len(gamma)
    # In the order of the layout, so that rows of tables and of marginals run along the same axis.
    order = sorted(gamma, key=lambda i: (sizes[i], i))
    place = np.full(len(sizes) + 1, degree)
    place[order] = range(degree)
    shape = np.array([sizes[i] for i in order], dtype=np.int64)
    values, masks = _packed(changes, order)
    # Every subset of gamma may get a table: the product of its sizes each, this many cells in all.
    flat = np.empty(math.prod(sizes[i] + 1 for i in gamma))
    start, cells = np.empty((2, 1 << degree), dtype=np.int64)
    stride = np.empty((1 << degree, degree + 1), dtype=np.int64)
    kernels.overlap_tables(values, masks, shape, start, cells, stride, flat)
    return _Tables(place, flat, start, cells, stride)


def sum_of_parts(
    residuals: Mapping[AttributeSet, FloatArray], gamma: AttributeSet, sizes: tuple[int, ...]
) -> FloatArray:
    """Sum the reconstructions of residuals over the marginal: shape (n_i for i in gamma)."""
    shape = tuple(sizes[i] for i in gamma)
    total = np.zeros(shape)
    if residuals:
        values, masks = _packed(residuals, gamma)
        kernels.add_parts(values, masks, np.array(shape, dtype=np.int64), total.reshape(-1))
    return total


def change_of(changes: Mapping[AttributeSet, FloatArray], sizes: tuple[int, ...]) -> float:
    """L1 distance by which changes of residuals move every marginal that contains them all.

    Spreading a table evenly over further attributes does not change the sum of absolute values.
    """
    union = tuple(sorted({i for tau in changes for i in tau}))
    return float(np.abs(sum_of_parts(changes, union, sizes)).sum())


def _packed(
    residuals: Mapping[AttributeSet, FloatArray], order: Sequence[int]
) -> tuple[FloatArray, IntArray]:
    """All values end to end, axes in this order, and each residual's own in binary by place."""
    place = {i: j for j, i in enumerate(order)}
    values, masks = [], []
    for tau, z in residuals.items():
        own = [place[i] for i in tau]
        turned = z if own == sorted(own) else z.transpose(np.argsort(own))
        values.append(turned.reshape(-1))
        masks.append(sum([1 << j for j in own]))
    return np.concatenate(values), np.array(masks, dtype=np.int64)
