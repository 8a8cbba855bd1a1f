"""Twins of the loops over cells behind shrinkage, axis by axis in NumPy."""

from __future__ import annotations

import numpy as np


def centered(table: np.ndarray) -> np.ndarray:
    """Subtract the mean along every axis."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def centered_by(table: np.ndarray, weight: np.ndarray, times: int) -> np.ndarray:
    """Subtract the weighted mean along every axis, so many times, then weigh."""
    for _ in range(times):
        for axis in range(table.ndim):
            off = (weight * table).sum(axis, keepdims=True)
            whole = weight.sum(axis, keepdims=True)
            table = table - np.divide(off, whole, out=np.zeros_like(off), where=whole > 0)
    return weight * table


def projected(table: np.ndarray, total: float) -> np.ndarray:
    """Subtract one number, found by bisection, and cut at zero."""
    low, high = table.min() - total, table.max()
    for _ in range(200):
        cut = (low + high) / 2
        low, high = (cut, high) if np.maximum(table - cut, 0).sum() > total else (low, cut)
    return np.maximum(table - low, 0.0)


def raked(table: np.ndarray, rows: np.ndarray, columns: np.ndarray, times: int) -> np.ndarray:
    """Scale rows, then columns, so many times."""
    table = table + 1e-9 * np.outer(rows, columns) / max(rows.sum(), 1e-300)
    for _ in range(times):
        for axis, wanted in ((1, rows), (0, columns)):
            sums = table.sum(axis, keepdims=True)
            factor = np.expand_dims(wanted, axis) / np.where(sums > 0, sums, 1.0)
            table = table * factor
    return table


def gains(
    ratio: np.ndarray, relatives: np.ndarray, energy: np.ndarray, cells: np.ndarray
) -> np.ndarray:
    """Sum over groups of energy p / (1 + p) - cells log(1 + p)."""
    prior = relatives[None, :, None] * ratio[:, None, :]
    return (energy * prior / (1.0 + prior) - cells * np.log1p(prior)).sum(axis=2)


def kept_of(ratio: np.ndarray, relatives: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mean of p / (1 + p) for each group."""
    prior = relatives[None, :, None] * ratio[:, None, :]
    return np.einsum("pr,prg->g", weights, prior / (1.0 + prior))


def evidence(
    noisy: np.ndarray,
    predicted: np.ndarray,
    variance: float,
    freedom: int,
    powers: np.ndarray,
    relatives: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Gain, and the ratio of every cell: cells in the same eighth of an octave share a size."""
    size = np.ones(predicted.size)
    if predicted.max() > 0:
        size = np.maximum(predicted.ravel() / predicted.max(), 2.0**-40)
    group = np.floor((np.log2(size) + 40) * 8).astype(int)
    mean = np.array([size[group == g].mean() for g in group])
    ratio = mean ** (2.0 * powers[:, None])
    ratio *= (predicted**2).mean() / variance / ratio.mean(axis=1, keepdims=True)
    cells = np.ones(predicted.size)
    gain = gains(ratio, relatives, noisy.ravel() ** 2 / variance, cells)
    return 0.5 * freedom / noisy.size * gain, ratio


def shrunk(
    noisy: np.ndarray, gain: np.ndarray, ratio: np.ndarray, relatives: np.ndarray, times: int
) -> np.ndarray:
    """Weigh every cell by what is kept of it, so that axes sum to zero."""
    weights = np.exp(gain - gain.max())
    kept = kept_of(ratio, relatives, weights / weights.sum()).reshape(noisy.shape)
    return centered_by(noisy, kept, times)
