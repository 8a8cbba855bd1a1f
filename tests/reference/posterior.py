"""Twin of the posterior means behind completed tables: one prior after the other, cell by cell.

Written from engine/COMPLETION_NOTES.md. Constants are written down again on purpose: a twin that
imported them would agree with any value of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from tests.reference import shrinking

SHAPES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 6.0, 12.0, 25.0, 50.0, 100.0, 200.0)
BENDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
RATIOS = [math.exp(k) for k in range(-4, 41)]
"""Prior variance of smooth deviations relative to the noise: 45, a factor e apart."""
POWERS = (0.0, 0.5, 1.0)
RELATIVES = [math.exp(-20.0 + k / 2) for k in range(57)]
NEAR = 15.0
"""Standard deviations beyond which a cell's gamma prior needs no integral (Tweedie)."""
EDGES = np.concatenate([[0.0], np.geomspace(1e-6, 1e5, 700)])
"""Of the grid of cells relative to the mean on which a gamma prior's mass lies."""
MASSES = {shape: np.diff(special.gammainc(shape, shape * EDGES)) for shape in SHAPES}
MADE_UP = 3.0
LEARNING = 30
CENTERINGS = 4


def counts(noisy: np.ndarray, *, mean: float, variance: float) -> np.ndarray:
    """Posterior mean of the counts of a 1-way table, averaged over all its priors."""
    if mean <= 0:
        return np.zeros(len(noisy))
    priors = [all_equal(noisy, mean, variance), smooth(noisy, mean, variance)]
    logs = [log for log, _ in priors]
    for shape in SHAPES:
        log, answer = gamma(noisy, mean, variance, shape)
        priors.append((log, answer))
        logs.append(log - math.log(len(SHAPES)))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    answer = sum(w * cells for w, (_, cells) in zip(weights, priors, strict=True))
    return np.maximum(answer, 0.0)


def all_equal(noisy: np.ndarray, mean: float, variance: float) -> tuple[float, np.ndarray]:
    """Every cell is the mean."""
    return -0.5 * float(((noisy - mean) ** 2).sum()) / variance, np.full(len(noisy), mean)


def smooth(noisy: np.ndarray, mean: float, variance: float) -> tuple[float, np.ndarray]:
    """Neighbours are alike: coefficient k of the cosines has variance t / (1 + (k/b)^2)^2."""
    n = len(noisy)
    equal, flat = all_equal(noisy, mean, variance)
    if n < 5:
        return equal, flat
    of_coefficient = variance * n / (n - 1)
    waves = np.array([[wave(k, i, n) for i in range(n)] for k in range(1, n)])
    found = waves @ (noisy - mean)
    gains, kept = [], []
    for ratio in RATIOS:
        for bend in BENDS:
            prior = ratio / (1.0 + (np.arange(1, n) / bend) ** 2) ** 2
            share = prior / (1.0 + prior)
            gains.append(0.5 * float((share * found**2 / of_coefficient - np.log1p(prior)).sum()))
            kept.append(share)
    weights = np.exp(np.array(gains) - max(gains))
    gain = max(gains) + math.log(weights.mean())
    share = np.average(kept, axis=0, weights=weights)
    return equal + gain, mean + (share * found) @ waves


def wave(k: int, i: int, n: int) -> float:
    """Cell i of the k-th cosine, of length one."""
    return math.sqrt(2.0 / n) * math.cos(math.pi * (2 * i + 1) * k / (2 * n))


def gamma(
    noisy: np.ndarray, mean: float, variance: float, shape: float
) -> tuple[float, np.ndarray]:
    """Cells are drawn from a gamma distribution of this mean and shape."""
    mass, nodes = MASSES[shape], mean * (EDGES[1:] + EDGES[:-1]) / 2.0
    std = math.sqrt(variance)
    log, answer = 0.0, np.empty(len(noisy))
    for i, y in enumerate(noisy):
        if y <= NEAR * std:
            exponent = -0.5 * ((y - nodes) / std) ** 2
            top = exponent.max()
            likely = np.exp(exponent - top) * mass
            log += top + math.log(max(likely.sum(), 1e-300))
            answer[i] = (likely * nodes).sum() / max(likely.sum(), 1e-300)
        else:
            rate = shape / mean
            density = shape * math.log(rate) - special.gammaln(shape)
            density += (shape - 1.0) * math.log(y) - rate * y
            log += density + math.log(std * math.sqrt(2.0 * math.pi))
            answer[i] = y + variance * ((shape - 1.0) / y - rate)
    return log, answer


def evidence(
    noisy: np.ndarray, predicted: np.ndarray, *, variance: float, freedom: int
) -> tuple[np.ndarray, np.ndarray]:
    """Log likelihood of each power and size of an interaction, and prior variances per cell."""
    return shrinking.evidence(
        noisy, predicted, variance, freedom, np.array(POWERS), np.array(RELATIVES)
    )


def learned(gains: Sequence[np.ndarray]) -> np.ndarray:
    """Shares of each power and size among interactions, three made-up even ones beside them."""
    number = gains[0].size
    likelihoods = [np.exp(gain - gain.max()).ravel() for gain in gains]
    shares = np.full(number, 1.0 / number)
    for _ in range(LEARNING):
        total = np.full(number, MADE_UP / number)
        for likelihood in likelihoods:
            total += likelihood * shares / (likelihood * shares).sum()
        shares = total / (len(gains) + MADE_UP)
    return shares.reshape(gains[0].shape)


def interaction(
    noisy: np.ndarray, gain: np.ndarray, ratio: np.ndarray, prior: np.ndarray | None
) -> np.ndarray:
    """Posterior mean of an interaction."""
    logs = gain if prior is None else gain + np.log(prior)
    return shrinking.shrunk(noisy, logs, ratio, np.array(RELATIVES), CENTERINGS)
