"""GReM-MLE: marginals from beliefs about residuals, kept up to date lazily (paper, section 4).

The estimate of a marginal is the sum of the reconstructed residual estimates within it: the maximum
likelihood estimate of everything measured so far. When a residual's estimate moves by Delta, only
marginals that contain it move, by the reconstruction of Delta.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from engine import kernels
from engine.domain import Domain, subsets
from engine.layout import Layout
from engine.released import Beliefs, Estimate
from engine.residuals import part_of, privacy_cost
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
    for tau in subsets(gamma):
        cost = privacy_cost(domain.shape(tau))
        if cost == 0:
            continue
        precision = beliefs.precision(tau)
        if precision:
            spread = domain.cells(gamma) // domain.cells(tau)
            variance += float(cost) / precision / spread / spread
        else:
            unmeasured.append(tau)
    return variance, tuple(unmeasured)


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
        overlaps = subsets(gamma)
        tables = [_table(changes, overlap, self.layout.sizes) for overlap in overlaps]
        cells = np.array([0 if table is None else table.size for table in tables])
        # Overlaps in binary: bit j says whether the j-th attribute of gamma is in it.
        binary = [sum(1 << gamma.index(i) for i in overlap) for overlap in overlaps]
        table_at, table_cells = np.empty_like(cells), np.empty_like(cells)
        table_at[binary] = np.where(cells > 0, np.cumsum(cells) - cells, -1)
        table_cells[binary] = cells
        stride = np.zeros((len(overlaps), len(self.layout.sizes) + 1), dtype=np.int64)
        for number, overlap in zip(binary, overlaps, strict=True):
            step = 1
            for i in reversed(overlap):
                stride[number, i] = step
                step *= self.layout.sizes[i]
        flat_tables = np.concatenate([table.ravel() for table in tables if table is not None])
        touched = self._containing(changes)
        code = np.zeros(len(touched), dtype=np.int64)
        for j, i in enumerate(gamma):
            code |= self.layout.members[i][touched].astype(np.int64) << j

        def add(first: int, last: int) -> None:
            kernels.add_tables(
                self.flat,
                self.layout.offsets,
                self.layout.axis_attr,
                self.layout.axis_size,
                touched,
                code,
                flat_tables,
                table_at,
                table_cells,
                stride,
                self.l1,
                first,
                last,
            )

        work = self.layout.cells()[touched]
        kernels.in_threads(add, kernels.parts(work, at_least=_PARALLEL_CELLS))
        return touched

    def _containing(self, taus: Iterable[AttributeSet]) -> IntArray:
        """Positions of the marginals that contain at least one of these residuals."""
        contain = np.zeros(len(self.layout), dtype=np.bool_)
        for tau in taus:
            contain |= np.logical_and.reduce(self.layout.members[list(tau)], axis=0)
        return np.flatnonzero(contain)

    def _sum(self) -> None:
        def add_up(first: int, last: int) -> None:
            kernels.absolute_sums(self.flat, self.layout.offsets, self.l1, first, last)

        bounds = kernels.parts(self.layout.cells(), at_least=_PARALLEL_CELLS)
        kernels.in_threads(add_up, bounds)


def _table(
    changes: Mapping[AttributeSet, FloatArray], overlap: AttributeSet, sizes: tuple[int, ...]
) -> FloatArray | None:
    """The change of the marginal over ``overlap``, or None if none of its residuals changed."""
    within = {tau: z for tau, z in changes.items() if set(tau) <= set(overlap)}
    if not within:
        return None
    table = sum_of_parts(within, overlap, sizes)
    return np.broadcast_to(table, tuple(sizes[i] for i in overlap))


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
