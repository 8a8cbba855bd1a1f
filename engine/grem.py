"""GReM-MLE: marginals from beliefs about residuals, kept up to date lazily (paper, section 4).

The estimate of a marginal is the sum of the reconstructed residual estimates within it: the maximum
likelihood estimate of everything measured so far. When a residual's estimate moves by Delta, only
marginals that contain it move, by the reconstruction of Delta.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from engine.domain import Domain, subsets
from engine.layout import Layout
from engine.released import Beliefs, Estimate
from engine.residuals import part_of, privacy_cost, reconstruct
from engine.types import AttributeSet, FloatArray, IntArray


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
    """

    __slots__ = ("_views", "flat", "layout")

    def __init__(self, layout: Layout, flat: FloatArray | None = None) -> None:
        self.layout = layout
        self.flat: FloatArray = np.zeros(layout.total_cells) if flat is None else flat
        self._views = [layout.view(self.flat, k) for k in range(len(layout))]

    def view(self, attrs: AttributeSet) -> FloatArray:
        """The marginal over ``attrs`` in domain order, a view."""
        return self._views[self.layout.index[attrs]]

    def update(self, changes: Mapping[AttributeSet, FloatArray]) -> IntArray:
        """Add the changes of residual estimates to every marginal that contains one of them.

        Marginals with the same overlap with the changed attributes change by the same table, spread
        over their other attributes: it is reconstructed once for each overlap.

        Returns:
            Positions of the marginals touched, in increasing order.
        """
        touched = []
        for overlap, members in self._overlaps(changes):
            within = {tau: z for tau, z in changes.items() if set(tau) <= set(overlap)}
            if not within:
                continue
            change = sum_of_parts(within, overlap, self.layout.sizes)
            self._add(change, overlap, members)
            touched.append(members)
        return np.sort(np.concatenate(touched)) if touched else np.empty(0, np.int64)

    def rebuild(self, beliefs: Beliefs, start: NDArray[np.float64] | float = 0.0) -> IntArray:
        """Reconstruct every marginal anew from its residuals: what the lazy update avoids."""
        self.flat[:] = start
        for attrs, view in zip(self.layout.sets, self._views, strict=True):
            sizes = [self.layout.sizes[i] for i in attrs]
            for tau in subsets(attrs):
                if tau in beliefs:
                    view += reconstruct(beliefs[tau].values, tau, attrs, sizes)
        return np.arange(len(self.layout))

    def _overlaps(
        self, changes: Mapping[AttributeSet, FloatArray]
    ) -> Iterable[tuple[AttributeSet, IntArray]]:
        """Group the marginals by which of the changed attributes they hold."""
        union = sorted({i for tau in changes for i in tau})
        held: NDArray[np.bool_] = self.layout.members[:, union]
        if len(union) > 62:
            codes = np.ravel(np.unique(held, axis=0, return_inverse=True)[1])
        else:
            codes = held @ (np.int64(1) << np.arange(len(union), dtype=np.int64))
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        for members in np.split(order, starts[1:]):
            yield tuple(compress(union, held[members[0]])), members

    def _add(self, change: FloatArray, overlap: AttributeSet, members: IntArray) -> None:
        sizes, sets = self.layout.sizes, self.layout.sets
        inside = set(overlap)
        for k in members.tolist():
            attrs = sets[k]
            spread = 1
            shape = []
            axis = 0
            for i in attrs:
                if i in inside:
                    shape.append(change.shape[axis])
                    axis += 1
                else:
                    shape.append(1)
                    spread *= sizes[i]
            part = change if spread == 1 else change / spread
            view = self._views[k]
            np.add(view, part.reshape(shape), out=view)


def sum_of_parts(
    residuals: Mapping[AttributeSet, FloatArray], gamma: AttributeSet, sizes: tuple[int, ...]
) -> FloatArray:
    """Sum the reconstructions over gamma; axes that nothing varies along keep one slice."""
    size_of = {i: sizes[i] for i in gamma}
    total: FloatArray | None = None
    # Small ones first: the sum grows to full shape only when a part needs it.
    for tau in sorted(residuals, key=lambda t: (len(t), t)):
        part = part_of(residuals[tau], tau, gamma, size_of)
        total = part if total is None else total + part
    return np.zeros((1,) * len(gamma)) if total is None else total
