"""What GReM-LNN's prices do, marginal by marginal in plain NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tests.reference import dense

Attrs = tuple[int, ...]


def moved_cells(
    beliefs: Mapping[Attrs, tuple[np.ndarray, float]],
    prices: Mapping[Attrs, np.ndarray],
    sizes: Sequence[int],
) -> dict[Attrs, np.ndarray]:
    """Every marginal after prices pushed the residuals: 1 / precision times the centered sums."""
    residuals = {}
    for tau, (values, precision) in beliefs.items():
        push = np.zeros([sizes[i] - 1 for i in tau])
        for gamma, price in prices.items():
            if set(tau) <= set(gamma):
                spread = math.prod(sizes[i] for i in gamma if i not in tau)
                push = push + dense.decompose(price, gamma, tau) / spread
        residuals[tau] = values + push / precision
    return {gamma: table(residuals, gamma, sizes) for gamma in prices}


def table(residuals: Mapping[Attrs, np.ndarray], gamma: Attrs, sizes: Sequence[int]) -> np.ndarray:
    """Sum of the reconstructions."""
    cells = np.zeros([sizes[i] for i in gamma])
    for tau, values in residuals.items():
        if set(tau) <= set(gamma):
            cells = cells + dense.reconstruct(values, tau, gamma, cells.shape)
    return cells
