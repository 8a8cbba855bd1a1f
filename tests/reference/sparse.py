"""Twin of tables with zeros of their own: one cell and one multiple after the other.

Written from engine/COMPLETION_NOTES.md; constants are written down again on purpose.
"""

from __future__ import annotations

import math

import numpy as np

MULTIPLES = [0.0, *(2.0**k for k in range(-13, 18))]
USUAL = [0.5, *([0.5 / 31] * 31)]
WIDTH, MADE_UP, ROUNDS, COSTS = 0.35, 3.0, 15, 6.0
FEWEST, MOST, LOOKED_AT, LEAST = 4, 1 << 17, 512, 1e-9


def averaged(
    noisy: np.ndarray, predicted: np.ndarray, normal: np.ndarray, normal_gain: float,
    variance: float, freedom: int,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """The table under normal interactions, averaged with the mixtures' by likelihood."""
    total = normal.sum()
    if freedom < FEWEST or normal.size > MOST or total <= 0:
        return normal, 0.0
    q = np.maximum(predicted, LEAST).ravel()
    y = noisy.ravel()
    if y.size > LOOKED_AT:
        raise ValueError("the twin looks at every cell")
    none = -0.5 * sum((y - q) ** 2) / variance
    tables, weights = [normal.ravel()], [1.0]
    for power in (0.5, 1.0):
        scale = q**power * q.mean() ** (1 - power)
        shares = learned(y, scale, variance)
        log, means = posterior(y, scale, variance, shares)
        gain = freedom / y.size * (log - none)
        if gain >= normal_gain:
            weights.append(math.exp(min(gain - COSTS - normal_gain, 200.0)))
            tables.append(means)
    share = 1.0 - 1.0 / sum(weights)
    if share < 1e-3:
        return normal, 0.0
    mean = sum(w * t for w, t in zip(weights, tables, strict=True)) / sum(weights)
    return (mean * total / mean.sum()).reshape(normal.shape), share


def densities(cell: float, unit: float, variance: float) -> tuple[np.ndarray, float]:
    """Of a cell under each multiple, relative to the best, no less than e^-60; the best's log."""
    logs = []
    for multiple in MULTIPLES:
        spread = (WIDTH * multiple * unit) ** 2
        off = (cell - multiple * unit) ** 2
        logs.append(-0.5 * off / (variance + spread) - 0.5 * math.log(1.0 + spread / variance))
    return np.array([math.exp(max(log - max(logs), -60.0)) for log in logs]), max(logs)


def learned(y: np.ndarray, scale: np.ndarray, variance: float) -> np.ndarray:
    """How often each multiple is: expectation and maximisation in turn."""
    cells = [densities(cell, unit, variance)[0] for cell, unit in zip(y, scale, strict=True)]
    shares = np.array(USUAL)
    for _ in range(ROUNDS):
        seen = MADE_UP * np.array(USUAL)
        for density in cells:
            seen = seen + shares * density / (shares * density).sum()
        shares = seen / seen.sum()
    return shares


def posterior(
    y: np.ndarray, scale: np.ndarray, variance: float, shares: np.ndarray
) -> tuple[float, np.ndarray]:
    """Log likelihood of all cells, up to a constant, and each cell's mean."""
    log, means = 0.0, []
    for cell, unit in zip(y, scale, strict=True):
        density, top = densities(cell, unit, variance)
        odds = shares * density
        answers = []
        for multiple in MULTIPLES:
            middle, spread = multiple * unit, (WIDTH * multiple * unit) ** 2
            kept = spread / (spread + variance)
            answers.append(max(middle + kept * (cell - middle), 0.0))
        log += math.log(odds.sum()) + top
        means.append(float(odds @ answers) / odds.sum())
    return log, np.array(means)
