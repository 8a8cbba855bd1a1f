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
