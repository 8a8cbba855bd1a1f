"""Fit tables to their smaller marginals by iterative proportional fitting (compiled with numba).

A table that fits given pair tables and says nothing else is a product of one factor for each
pair, T_abc = A_ab B_ac C_bc. Fitting needs only the factors: the marginal over (a, b) is
A_ab (B C')_ab, a matrix product, so the table itself is written once, at the end, or never.

Stopping rule: the gap is the L1 distance of the first marginal from its target, relative to the
total. After a sweep over all pairs, stop if it is at most 1e-10. From eight sweeps on, stop too if
it shrank by less than a hundredth: the targets then contradict each other, and no table fits them.
At most 100 sweeps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from engine.compiling import compiled, compiled_beside
from engine.types import AttributeSet, FloatArray

TOLERANCE = 1e-10
STALLED = 0.99
MIN_SWEEPS = 8
MAX_SWEEPS = 100
TINY = 1e-100
HUGE = 1e60
"""Where a target is zero and another is not, factors drift to extremes; they stop here."""


@compiled
def _scale(target: FloatArray, sums: FloatArray, factor: FloatArray) -> None:
    """Set factor = target / sums, zero where nothing can be scaled."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            below = sums[i, j]
            value = target[i, j] / below if below > TINY else 0.0
            factor[i, j] = min(value, HUGE)


def _fit_with_numpy(
    ab: FloatArray, ac: FloatArray, bc: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray
) -> int:
    """``_fit`` with one call a step, for runs too small to be compiled."""
    fb[:], fc[:] = 1.0 / ac.shape[1], 1.0
    fa[:] = 0.0
    total, before, sweep = float(ab.sum()), math.inf, 0
    while True:
        sums = np.einsum("ik,jk->ij", fb, fc)
        gap = float(np.abs(fa * sums - ab).sum())
        _scale_with_numpy(ab, sums, fa)
        close = gap <= TOLERANCE * total
        if sweep > 0 and (close or (sweep >= MIN_SWEEPS and gap > STALLED * before)):
            return sweep
        if sweep == MAX_SWEEPS:
            return sweep
        before = gap if sweep > 0 else math.inf
        sweep += 1
        _scale_with_numpy(ac, np.einsum("ij,jk->ik", fa, fc), fb)
        _scale_with_numpy(bc, np.einsum("ij,ik->jk", fa, fb), fc)


def _scale_with_numpy(target: FloatArray, sums: FloatArray, factor: FloatArray) -> None:
    factor[:] = 0.0
    np.divide(target, sums, out=factor, where=sums > TINY)
    np.minimum(factor, HUGE, out=factor)


@compiled_beside(_fit_with_numpy)
def _fit(
    ab: FloatArray, ac: FloatArray, bc: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray
) -> int:
    """Fit the three factors; returns the number of sweeps."""
    # Long: one loop, compiled as a whole.
    na, nb = ab.shape
    nc = ac.shape[1]
    sums_ab, sums_ac, sums_bc = np.empty_like(ab), np.empty_like(ac), np.empty_like(bc)
    fb[:], fc[:] = 1.0 / nc, 1.0
    total = ab.sum()
    fa[:] = 0.0
    before = np.inf
    sweep = 0
    while True:
        gap = 0.0
        for i in range(na):
            for j in range(nb):
                s = 0.0
                for k in range(nc):
                    s += fb[i, k] * fc[j, k]
                sums_ab[i, j] = s
                gap += abs(fa[i, j] * s - ab[i, j])
        _scale(ab, sums_ab, fa)
        if sweep > 0 and (
            gap <= TOLERANCE * total or (sweep >= MIN_SWEEPS and gap > STALLED * before)
        ):
            return sweep
        if sweep == MAX_SWEEPS:
            return sweep
        before = gap if sweep > 0 else np.inf
        sweep += 1
        sums_ac[:] = 0.0
        for i in range(na):
            row = sums_ac[i]
            for j in range(nb):
                factor, other = fa[i, j], fc[j]
                for k in range(nc):
                    row[k] += factor * other[k]
        _scale(ac, sums_ac, fb)
        sums_bc[:] = 0.0
        for i in range(na):
            other = fb[i]
            for j in range(nb):
                factor, row = fa[i, j], sums_bc[j]
                for k in range(nc):
                    row[k] += factor * other[k]
        _scale(bc, sums_bc, fc)


def fit_three(ab: FloatArray, ac: FloatArray, bc: FloatArray) -> FloatArray:
    """Return the table of maximum entropy with these three pair marginals.

    Exact where the targets are consistent and the table of maximum entropy has no zero that they
    do not show; see the module for when the fitting stops.

    Shapes:
        ab: (n_a, n_b); ac: (n_a, n_c); bc: (n_b, n_c); the result: (n_a, n_b, n_c). Unit: records.
    """
    ab, ac, bc = (np.ascontiguousarray(t, dtype=np.float64) for t in (ab, ac, bc))
    fa, fb, fc = np.empty_like(ab), np.empty_like(ac), np.empty_like(bc)
    _fit(ab, ac, bc, fa, fb, fc)
    table: FloatArray = fa[:, :, None] * (fb[:, None, :] * fc)
    return table


def fit(shape: tuple[int, ...], targets: Mapping[AttributeSet, FloatArray]) -> FloatArray:
    """Return the table of maximum entropy with these marginals, of any degree.

    Args:
        shape: Of the table.
        targets: By axes, in order: each a marginal of it, zero or more.
    """
    table = np.ones(shape)
    if not targets:
        return table
    others = {axes: tuple(k for k in range(len(shape)) if k not in axes) for axes in targets}
    before = np.inf
    for sweep in range(MAX_SWEEPS):
        gap = 0.0
        for position, (axes, target) in enumerate(targets.items()):
            sums = table.sum(axis=others[axes])
            if position == 0 and sweep > 0:
                gap = float(np.abs(sums - target).sum())
                stalled = sweep >= MIN_SWEEPS and gap > STALLED * before
                if gap <= TOLERANCE * float(target.sum()) or stalled:
                    return _scaled(table, target, sums, others[axes])
                before = gap
            table = _scaled(table, target, sums, others[axes])
    return table


def _scaled(
    table: FloatArray, target: FloatArray, sums: FloatArray, others: tuple[int, ...]
) -> FloatArray:
    factor = np.divide(target, sums, out=np.zeros_like(sums), where=sums > TINY)
    scaled: FloatArray = table * np.expand_dims(factor, others)
    return scaled
