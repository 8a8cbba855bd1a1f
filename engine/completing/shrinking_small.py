"""The loops over cells behind shrinkage once more, in NumPy: for runs too small to be compiled.

Each function does what the loop of its name in ``shrinking`` does, to the rounding of sums, and
says no more of it. No BLAS: how it adds up follows from how many threads there are.
"""

from __future__ import annotations

import numpy as np

from engine.types import FloatArray, IntArray

NEGLIGIBLE = 1e-12
"""Weights that no sum of them would show."""
OCTAVES, BINS_PER_OCTAVE = 40, 8
BINS = OCTAVES * BINS_PER_OCTAVE
"""Groups of cells by size, from 2^-40 of the largest on; the largest has one more."""


def gains(
    ratio: FloatArray, relatives: FloatArray, energy: FloatArray, cells: FloatArray, out: FloatArray
) -> None:
    """As ``shrinking._gains``. The groups come first: sums over the first axis are the quick ones.

    Shapes:
        prior: (groups, powers, relatives).
    """
    prior = ratio.T[:, :, None] * relatives
    kept = prior / (1.0 + prior)
    kept *= energy[:, None, None]
    kept -= cells[:, None, None] * np.log1p(prior)
    kept.sum(axis=0, out=out)


def evidence(
    noisy: FloatArray,
    predicted: FloatArray,
    variance: float,
    independent: float,
    powers: FloatArray,
    relatives: FloatArray,
    group: IntArray,
    ratio: FloatArray,
    gain: FloatArray,
) -> int:
    """As ``shrinking._evidence``."""
    largest = predicted.max()
    size = np.ones(len(noisy))
    if largest > 0:
        size = np.maximum(predicted / largest, 2.0**-OCTAVES)
    which = ((np.log2(size) + OCTAVES) * BINS_PER_OCTAVE).astype(np.int64)
    held = np.bincount(which, minlength=BINS + 1)
    filled = np.flatnonzero(held)
    rank = np.cumsum(held > 0) - 1
    group[:] = rank[which]
    groups = len(filled)
    number = held[filled].astype(np.float64)
    energy = np.bincount(group, weights=noisy * noisy, minlength=groups) / variance
    mean_size = np.bincount(group, weights=size, minlength=groups) / number
    rows = ratio[:, :groups]
    rows[:] = mean_size ** (2.0 * powers[:, None])
    mean = (rows * (number / len(noisy))).sum(axis=1, keepdims=True)
    rows *= (predicted * predicted).sum() / len(noisy) / variance / mean
    gains(rows, relatives, energy, number, gain)
    gain *= independent
    return groups


def kept_of(ratio: FloatArray, relatives: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """As ``shrinking._kept_of``."""
    power, relative = np.nonzero(weights >= NEGLIGIBLE)
    prior = relatives[relative, None] * ratio[power]
    prior /= 1.0 + prior
    prior *= weights[power, relative][:, None]
    out += prior.sum(axis=0)


def inner(rows: FloatArray, others: FloatArray, out: FloatArray) -> None:
    """As ``shrinking._inner``."""
    np.einsum("ik,jk->ij", rows, others, out=out)


def center(cells: FloatArray, shape: IntArray) -> None:
    """As ``shrinking._center``."""
    table = cells.reshape(shape)
    for axis, n in enumerate(table.shape):
        table -= table.sum(axis=axis, keepdims=True) / n


def center_by(cells: FloatArray, weights: FloatArray, shape: IntArray, times: int) -> None:
    """As ``shrinking._center_by``."""
    table, weight = cells.reshape(shape), weights.reshape(shape)
    wholes = [weight.sum(axis=axis, keepdims=True) for axis in range(table.ndim)]
    for whole in wholes:
        whole[whole <= 0.0] = np.inf  # nothing to shift
    for _ in range(times):
        for axis, whole in enumerate(wholes):
            table -= (weight * table).sum(axis=axis, keepdims=True) / whole
    table *= weight


def shrunk(
    cells: FloatArray,
    gain: FloatArray,
    ratio: FloatArray,
    group: IntArray,
    relatives: FloatArray,
    prior: FloatArray,
    shape: IntArray,
    times: int,
) -> None:
    """As ``shrinking._shrunk``."""
    weights = np.exp(gain - gain.max()) * prior
    weights /= weights.sum()
    kept = np.zeros(ratio.shape[1])
    kept_of(ratio, relatives, weights, kept)
    if kept.min() == kept.max():
        cells *= kept[0]
    else:
        center_by(cells, kept[group], shape, times)
