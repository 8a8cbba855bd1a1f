"""How much of a noisy table to believe: posterior means, with priors learned from the table.

Two priors serve every table. Cells of a 1-way marginal are drawn from one gamma distribution, whose
shape says how spiky the marginal is. Interactions (what a table adds to the one predicted from its
smaller marginals) are drawn from a normal distribution whose spread follows the predicted cell. The
free numbers are averaged over by how likely they make the noisy table, so where noise dominates the
answer is the prediction, and where it does not the answer is what was measured. For interactions
the tables also learn from each other how large they are (``learned``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from engine.completing import shrinking
from engine.types import FloatArray, IntArray

_SHAPES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 6.0, 12.0, 25.0, 50.0, 100.0, 200.0)
"""Gamma shapes tried, each about twice the one before: one value holds all, to all values alike."""
_POWERS = np.array([0.0, 0.5, 1.0])
"""How an interaction's spread follows the predicted cell: not at all, as Poisson, in proportion."""
_RATIOS = np.exp(np.linspace(-4.0, 40.0, 45))
"""Prior variance of smooth deviations tried, in units of the noise variance."""
RELATIVES = np.exp(np.linspace(-20.0, 8.0, 57))
"""Squared size of an interaction relative to the predicted table: 0.005 % to 50 times it."""
_ALIKE = np.ones((len(_POWERS), len(RELATIVES)))
_MADE_UP = 3.0
"""Interactions of every size alike that are thought of beside those measured."""
_LEARNING = 30
_BENDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
_SMOOTH_FROM = 5
_CENTERINGS = 4
_AT_ONCE = 1024
"""Cells handled together where each needs a row of its own."""
_FEW = 512
"""Size of an attribute below which its priors are kept: at most a megabyte each."""
_NEAR = 15.0
"""Standard deviations beyond which the prior is smooth over the noise: no integral is needed."""
_BEYOND = 2 * _NEAR + 40.0
"""Standard deviations from zero beyond which a low cell has likelihood zero in double precision."""


def counts(noisy: FloatArray, *, mean: float, variance: float) -> FloatArray:
    """Return the posterior mean of counts that are zero or more, from a noisy 1-way table.

    The prior is a gamma distribution with this mean; its shape is the most likely of a fixed list,
    "all cells equal" included.

    Args:
        noisy: Measured cells.
        mean: Mean of a cell: the estimated total divided by the number of cells.
        variance: Noise variance of a cell.

    Shapes:
        noisy and the result: (n,), records.
    """
    if mean <= 0:
        return np.zeros_like(noisy)
    if variance <= 0:
        clipped: FloatArray = np.maximum(noisy, 0.0)
        return clipped
    std = float(np.sqrt(variance))
    cells, masses, moments = _gamma_masses()
    # Beyond the last node kept the likelihood of every low cell is zero in double precision.
    last = int(np.searchsorted(cells, _BEYOND * std / mean)) + 1
    nodes, masses, moments = mean * cells[:last], masses[:, :last], moments[:, :last]
    low = noisy <= _NEAR * std
    near = noisy[low]
    means, total = np.empty((len(near), len(_SHAPES))), np.zeros(len(_SHAPES))
    for at in range(0, len(near), _AT_ONCE):  # cells times nodes would be too many at once
        exponent = -0.5 * ((near[at : at + _AT_ONCE, None] - nodes) / std) ** 2
        top = exponent.max(axis=1, keepdims=True, initial=-np.inf)
        likelihood = np.exp(exponent - top)
        evidence = np.maximum(shrinking.inner(likelihood, masses), 1e-300)  # (cells, shapes)
        total += np.log(evidence).sum(axis=0) + top.sum()
        means[at : at + _AT_ONCE] = mean * shrinking.inner(likelihood, moments) / evidence
    high = noisy[~low]
    total += _log_gamma(high, mean).sum(axis=0) + len(high) * np.log(std * np.sqrt(2.0 * np.pi))
    posterior = np.empty((len(noisy), len(_SHAPES)))
    posterior[low] = means
    # Tweedie: the noisy value plus variance times the slope of the log density there.
    a = np.array(_SHAPES)
    posterior[~low] = high[:, None] + variance * ((a - 1.0) / high[:, None] - a / mean)
    even = -0.5 * float(np.sum((noisy - mean) ** 2)) / variance
    smooth, gain = _smooth(noisy - mean, variance * len(noisy) / max(len(noisy) - 1, 1))
    logs = np.concatenate([[even, even + gain], total - np.log(len(_SHAPES))])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    answer = mean * weights[0] + (mean + smooth) * weights[1] + posterior @ weights[2:]
    found: FloatArray = np.maximum(answer, 0.0)
    return found


def _smooth(deviation: FloatArray, variance: float) -> tuple[FloatArray, float]:
    """Posterior mean if neighbouring cells are alike, and its log likelihood over "all equal".

    The k-th cosine coefficient has prior variance t / (1 + (k / k0)²)².
    """
    n = len(deviation)
    if n < _SMOOTH_FROM:
        return np.zeros(n), 0.0
    from scipy import fft

    coefficients = fft.dct(deviation, norm="ortho")
    coefficients[0] = 0.0
    energy = np.square(coefficients[1:]) / variance
    blocks = [(at, min(at + _AT_ONCE, n)) for at in range(1, n, _AT_ONCE)]
    gain = np.zeros((len(_RATIOS), len(_BENDS)))
    for first, last in blocks:
        kept, cost = _smooth_priors(first, last)
        gain += 0.5 * (np.einsum("rbk,k->rb", kept, energy[first - 1 : last - 1]) - cost)
    weights = np.exp(gain - gain.max())
    evidence = float(gain.max() + np.log(weights.mean()))
    weights /= weights.sum()
    for first, last in blocks:
        kept, _ = _smooth_priors(first, last)
        coefficients[first:last] *= np.einsum("rb,rbk->k", weights, kept)
    smoothed: FloatArray = fft.idct(coefficients, norm="ortho")
    return smoothed, evidence


def _smooth_priors(first: int, last: int) -> tuple[FloatArray, FloatArray]:
    """Share of each of these coefficients kept, (ratios, bends, k), and the sum of log(1 + prior).

    Those of small attributes are kept.
    """
    return (_kept_priors if last < _FEW else _made_priors)(first, last)


def _made_priors(first: int, last: int) -> tuple[FloatArray, FloatArray]:
    bends = np.array(_BENDS)[:, None]
    prior = _RATIOS[:, None, None] / np.square(1.0 + np.square(np.arange(first, last) / bends))
    return prior / (1.0 + prior), np.log1p(prior).sum(axis=2)


_kept_priors = lru_cache(maxsize=256)(_made_priors)


@cache
def _gamma_masses() -> tuple[FloatArray, FloatArray, FloatArray]:
    """A fixed grid of cells relative to the mean; prior masses on it, and masses times cells.

    Shapes:
        (nodes,), (shapes, nodes), (shapes, nodes).
    """
    from scipy import special

    edges = np.concatenate([[0.0], np.geomspace(1e-6, 1e5, 700)])
    masses = np.array([np.diff(special.gammainc(shape, shape * edges)) for shape in _SHAPES])
    cells = (edges[1:] + edges[:-1]) / 2.0
    return cells, masses, masses * cells


def _log_gamma(cells: FloatArray, mean: float) -> FloatArray:
    """Log density of each cell under each shape: (cells, shapes)."""
    from scipy import special

    a = np.array(_SHAPES)
    rate, x = a / mean, cells[:, None]
    constant = a * np.log(rate) - special.gammaln(a)
    density: FloatArray = constant + (a - 1.0) * np.log(x) - rate * x
    return density


class Evidence(NamedTuple):
    """What a noisy interaction says of its own spread, and what is needed to shrink it.

    Prior: independent normal cells, under the condition that every axis sums to zero. The variance
    of a cell is relative² v, where v = predicted^(2 k), scaled to the mean of predicted².

    Args:
        gain: Log likelihood of each k and relative², over no interaction at all.
        ratio: Prior variance in units of the noise variance, for relative = 1.
        group: Of each cell; cells of about the same predicted size share what is kept of them.

    Shapes:
        gain: (powers, relatives); ratio: (powers, groups); group: (cells,).
    """

    gain: FloatArray
    ratio: FloatArray
    group: IntArray


def evidence(
    noisy: FloatArray, predicted: FloatArray, *, variance: float, freedom: int
) -> Evidence:
    """Return what a noisy interaction says of its own spread.

    Args:
        noisy: The measured top residual less the prediction's, reconstructed: sums to zero along
            every axis.
        predicted: The table that smaller marginals predict; zero or more.
        variance: Noise variance of each cell of ``noisy``, above zero.
        freedom: Dimension of the residual, prod (n_i - 1): the cells are not independent.

    Shapes:
        noisy and predicted: (n_i for i in gamma), records.
    """
    return Evidence(
        *shrinking.evidence(
            noisy,
            predicted,
            variance=variance,
            freedom=freedom,
            powers=_POWERS,
            relatives=RELATIVES,
        )
    )


def learned(gains: Sequence[FloatArray]) -> FloatArray:
    """Return how often each k and relative² occurs among many interactions, as a prior for each.

    The shares under which all of them together are most likely, a few made-up ones (``_MADE_UP``)
    that favour none included: with few interactions, or few cells in each, it is these shares that
    tell a typical interaction from noise.

    Args:
        gains: Of ``Evidence``; all of interactions of the same number of attributes.

    Shapes:
        gains: each (powers, relatives), as the result, which sums to one.

    Source:
        Expectation maximisation for the shares of a mixture (Dempster, Laird, Rubin 1977).
    """
    likelihood = np.exp([(gain - gain.max()).ravel() for gain in gains])
    even = 1.0 / likelihood.shape[1]
    shares = np.full(likelihood.shape[1], even)
    for _ in range(_LEARNING):
        weight = likelihood * shares
        weight /= weight.sum(axis=1, keepdims=True)
        shares = (weight.sum(axis=0) + _MADE_UP * even) / (len(gains) + _MADE_UP)
    return shares.reshape(gains[0].shape)


def likelihood(found: Evidence, prior: FloatArray | None = None) -> float:
    """Return how likely the priors make a noisy interaction, on average: a log, as ``gain`` is."""
    weights = _ALIKE if prior is None else prior
    top = float(found.gain.max())
    mean = float((weights * np.exp(found.gain - top)).sum() / weights.sum())
    return top + float(np.log(mean))


def interaction(noisy: FloatArray, found: Evidence, prior: FloatArray | None = None) -> FloatArray:
    """Return the posterior mean of an interaction: what the top residual adds to a prediction.

    Args:
        noisy: As ``evidence`` had it.
        found: Its evidence.
        prior: Of each k and relative², from ``learned``; None: all alike.

    Shapes:
        noisy and the result: (n_i for i in gamma), records.
    """
    return shrinking.shrunk(
        noisy,
        found.gain,
        found.ratio,
        found.group,
        relatives=RELATIVES,
        prior=_ALIKE if prior is None else prior,
        times=_CENTERINGS,
    )
