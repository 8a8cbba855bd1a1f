"""Records that crowd into a few cells: tables with empty cells where smaller ones have none.

An interaction with a normal prior fills, a little, every cell that smaller marginals fill. Where
one attribute nearly follows from another, most of those cells are empty, and noise says so: a
table's own zeros are believed here. Every cell is a multiple of a scale that follows the predicted
cell (as its root, or in proportion); the multiples are drawn from a mixture of zero and of values a
factor two apart. How often each occurs is learned from the table, beside a few made-up cells. The
posterior means of this and of the normal interactions are averaged by how likely they make the
noisy table.

Source: nonparametric empirical Bayes, by expectation maximisation (Laird 1978); made-up cells keep
a value possible that the cells looked at did not show.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.completing.projection import projected
from engine.types import FloatArray, IntArray

POWERS = (0.5, 1.0)
"""How the scale follows the predicted cell."""
MULTIPLES: FloatArray = np.concatenate([[0.0], 2.0 ** np.arange(-13.0, 18.0)])
"""Of the scale, that a cell can be; each but zero stands for values about it."""
WIDTH = 0.35
"""Standard deviation of those values, relative to the multiple."""
MADE_UP = 3.0
"""Cells thought of beside those seen: half of them zero, the others of every multiple alike."""
ITERATIONS = 15
SAMPLED = 512
"""Most cells that the mixture is learned from."""
LEARNING_COSTS = 6.0
"""Log likelihood that a mixture learned from the table must be ahead, having seen it."""
NEGLIGIBLE = 1e-3
"""Share of the average that is left out."""
FEWEST = 4
"""Free numbers of an interaction from which on a mixture is learned."""
MOST = 1 << 17
"""Cells of a table beyond which its zeros are not looked for: it would take too long."""
LEAST = 1e-9
"""Records in a cell that is predicted to hold none."""
_AT_ONCE = 1 << 11
_FAR = 60.0
_CERTAIN = 200.0


class Answer(NamedTuple):
    """A table, and the share of it that took its own zeros for what they are."""

    table: FloatArray
    share: float


def averaged(
    noisy: FloatArray,
    predicted: FloatArray,
    normal: FloatArray,
    *,
    normal_gain: float,
    variance: float,
    freedom: int,
) -> Answer:
    """Average the table that a normal interaction gives with those of mixtures, by likelihood.

    Args:
        noisy: The prediction plus the measured interaction.
        predicted: The table that smaller marginals predict; zero or more.
        normal: The completed table under normal interactions.
        normal_gain: Their log likelihood, over no interaction at all.
        variance: Noise variance of a cell of ``noisy``, above zero.
        freedom: Dimension of the residual, prod (n_i - 1): the cells are not independent.

    Shapes:
        noisy, predicted, normal and the table: (n_i for i in gamma), records. The table has the
        total of ``normal``.
    """
    total = float(normal.sum())
    if freedom < FEWEST or normal.size > MOST or total <= 0:
        return Answer(normal, 0.0)
    y, q = noisy.ravel(), np.maximum(predicted.ravel(), LEAST)
    at, each = _sample(q)
    none = -0.5 * np.square(y - q) / variance
    independent = freedom / y.size
    weights, found = [1.0], [normal.ravel()]
    for power in POWERS:
        scale = q**power * float(q.mean()) ** (1.0 - power)
        shares, likely = _learned(y[at], scale[at], each, variance)
        ahead = independent * y.size * float(np.mean(each * (likely - none[at])))
        if ahead < normal_gain:
            continue  # as far as some cells tell: all of them take much longer
        mixture = _mixture(y, scale, variance, shares)
        gain = independent * (mixture.likelihood - float(none.sum())) - LEARNING_COSTS
        weights.append(float(np.exp(min(gain - normal_gain, _CERTAIN))))
        found.append(mixture.means)
    share = 1.0 - 1.0 / sum(weights)
    if share < NEGLIGIBLE:
        return Answer(normal, 0.0)
    table = np.einsum("k,kc->c", np.array(weights) / sum(weights), np.array(found))
    summed = float(table.sum())
    if summed <= 0:
        return Answer(projected(noisy, total), share)
    return Answer((table * (total / summed)).reshape(normal.shape), share)


class _Mixture(NamedTuple):
    """How often each multiple is, and what that says of a table.

    Shapes:
        means: (cells,), posterior. ``likelihood``: a log, up to a constant.
    """

    likelihood: float
    means: FloatArray


def _learned(
    y: FloatArray, scale: FloatArray, each: FloatArray, variance: float
) -> tuple[FloatArray, FloatArray]:
    """How often each multiple is, from some cells that stand for ``each`` as many.

    Returns:
        The shares, (multiples,), and the log likelihood of each of these cells.
    """
    usual = np.full(len(MULTIPLES), 0.5 / (len(MULTIPLES) - 1))
    usual[0] = 0.5
    likely, top, _ = _components(y, scale, variance)
    shares = usual
    for _ in range(ITERATIONS):
        # Not by BLAS, which would start threads beside other work.
        odds = each / np.einsum("cj,j->c", likely, shares)
        shares = shares * np.einsum("cj,c->j", likely, odds) + MADE_UP * usual
        shares /= shares.sum()
    return shares, np.log(np.einsum("cj,j->c", likely, shares)) + top


def _mixture(y: FloatArray, scale: FloatArray, variance: float, shares: FloatArray) -> _Mixture:
    means, likelihood = np.empty(y.size), 0.0
    for first in range(0, y.size, _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        likely, top, of_each = _components(y[part], scale[part], variance)
        likely *= shares
        whole = likely.sum(axis=1)
        likelihood += float((np.log(whole) + top).sum())
        means[part] = np.einsum("cj,cj->c", likely, of_each) / whole
    return _Mixture(likelihood, means)


def _components(
    y: FloatArray, scale: FloatArray, variance: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Likelihood of each cell under each multiple, relative to its best; its log; posterior means.

    Shapes:
        (cells, multiples), (cells,), (cells, multiples).
    """
    middle = scale[:, None] * MULTIPLES
    spread = np.square(WIDTH * middle)
    log = -0.5 * np.square(y[:, None] - middle) / (variance + spread)
    log -= 0.5 * np.log1p(spread / variance)
    top = log.max(axis=1)
    means = (middle * variance + spread * y[:, None]) / (variance + spread)
    return np.exp(np.maximum(log - top[:, None], -_FAR)), top, np.maximum(means, 0.0)


def _sample(q: FloatArray) -> tuple[IntArray, FloatArray]:
    """Cells that stand for all, and for how many each, relative to their mean.

    Half of the chances are alike, half follow the root of what a cell is predicted to hold.
    """
    if q.size <= SAMPLED:
        return np.arange(q.size), np.ones(q.size)
    root = np.sqrt(q)
    chance = np.cumsum(root + root.mean())
    marks = (np.arange(SAMPLED) + 0.5) / SAMPLED * chance[-1]
    at = np.minimum(np.searchsorted(chance, marks), q.size - 1)
    each = 1.0 / (root[at] + root.mean())
    return at, each * (SAMPLED / each.sum())
