"""How large are the interactions? Learned from released values, with what is left unknown.

What a marginal's table loses when a residual is not measured is that residual's own size. Two parts
are told apart, since they lie differently over the cells (q: what smaller marginals predict):

* structure, of variance proportional to q²: relative² is their ratio;
* the sampling of N records, which every table of N records has, whatever they are drawn from: of
  variance about q (Poisson).

What relative² are usual is learned: interactions of as many attributes that were measured, however
noisily, each say how likely they make every value, and the shares under which all of them are
likely are the prior of each, beside a few made-up ones of usual sizes. Those that were not measured
have that prior alone. What is left unknown stays so: instead of one size, each residual has a few
plausible ones, equally likely, and in each of a few worlds every residual has one of its own.

Source: empirical Bayes by expectation maximisation (Dempster, Laird, Rubin 1977); engine/README.md,
"Which plan".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from engine import axes
from engine.completing import shrinkage
from engine.completing.completed import Completed
from engine.released import Beliefs
from engine.types import AttributeSet, FloatArray

_NORMAL = NormalDist()
USUAL = {2: 0.05, 3: 0.01}
"""Relative² of an interaction in the middle, before anything is seen; beyond three as at three."""
SPREAD = 2.0
"""Standard deviation of its logarithm."""
WORLDS = 5
"""Plausible sizes of each residual that are looked at."""
MADE_UP = 3.0
"""Interactions of usual sizes that are thought of beside those measured."""
ITERATIONS = 30
SAMPLED = 0.7
"""Share of the sampling energy: completed tables follow some of it."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Plausible sizes of residuals: variances of cells relative to the predicted table.

    A cell predicted to hold q records is off by variance ``structure`` q² + ``sampling`` q.
    ``total`` is the number of records, a standard deviation high.

    Shapes:
        structure, sampling: (WORLDS, k): in every world, one for each of ``taus``.
    """

    taus: tuple[AttributeSet, ...]
    structure: FloatArray
    sampling: FloatArray
    total: float


def learned(tables: Completed, taus: tuple[AttributeSet, ...]) -> Sizes:
    """Return plausible sizes of these residuals, as far as released values tell them."""
    sizes, beliefs = tables.layout.sizes, tables.beliefs
    total = _total(beliefs)
    levels = _levels(len(taus))
    shares = np.array([math.prod((sizes[i] - 1) / sizes[i] for i in tau) for tau in taus])
    structure, sampling = np.ones((WORLDS, len(taus))), SAMPLED * shares
    squares = np.array([_squares(beliefs, i, n, total) for i, n in enumerate(sizes)])
    degrees = np.array([len(tau) for tau in taus])
    for j in np.flatnonzero(degrees == 1):
        found = squares[taus[j][0]][levels[:, j]]
        structure[:, j] = 1.0 - 1.0 / sizes[taus[j][0]] / found
    for degree in range(2, int(degrees.max(initial=0)) + 1):
        at = np.flatnonzero(degrees == degree)
        gains = {j: tables.gain(taus[j]) for j in at if taus[j] in beliefs}
        prior = _shares(list(gains.values()), degree)
        for j in at:
            posterior = prior
            if j in gains:
                posterior = prior * np.exp(gains[j] - gains[j].max())
            cumulated = np.cumsum(posterior.sum(axis=0))
            at_level = (np.arange(WORLDS) + 0.5) / WORLDS * cumulated[-1]
            found = shrinkage.RELATIVES[np.searchsorted(cumulated, at_level)]
            structure[:, j] = found[levels[:, j]] * shares[j]
    # What was learned holds the sampling of records too.
    energy = total * np.array([math.prod(squares[i].mean() for i in tau) for tau in taus])
    sampling = np.maximum(sampling - structure * energy, 0.05 * sampling)
    return Sizes(taus, structure + 1e-9, sampling, total)


def _levels(number: int) -> NDArray[np.intp]:
    """Which of the ordered plausible values each residual has in every world, (WORLDS, number)."""
    # Worlds are five, a prime: each stride visits every value once, in an order of its own.
    residual, world = np.arange(number), np.arange(WORLDS)[:, None]
    stride, shift = 1 + residual % (WORLDS - 1), residual // (WORLDS - 1)
    return (world * stride + shift) % WORLDS


def _total(beliefs: Beliefs) -> float:
    """Number of records, a standard deviation high."""
    belief = beliefs.get(())
    return 1.0 if belief is None else max(float(belief.values) + belief.precision**-0.5, 1.0)


def _squares(beliefs: Beliefs, i: int, n: int, total: float) -> FloatArray:
    """Plausible energies of a 1-way table relative to all records in one cell, (WORLDS,)."""
    levels = (np.arange(WORLDS) + 0.5) / WORLDS
    most = 1.0 - 1.0 / n
    belief = beliefs.get((i,))
    if belief is None or n == 1:
        return 1.0 / n + most * levels
    noise = (n - 1) / belief.precision / total**2
    raw = float(np.square(axes.center_all(belief.values)).sum()) / total**2 - noise
    deviation = math.sqrt((2 * noise + 4 * max(raw, 0.0)) / belief.precision) / total
    ends = [_NORMAL.cdf((end - raw) / deviation) for end in (0.0, most)]
    if ends[1] - ends[0] < 1e-9:
        found = np.full(WORLDS, raw)
    else:
        inside = (ends[0] + levels * (ends[1] - ends[0])).tolist()
        found = raw + deviation * np.array([_NORMAL.inv_cdf(share) for share in inside])
    squares: FloatArray = 1.0 / n + np.clip(found, 1e-6, most)
    return squares


@cache
def _usual(degree: int) -> FloatArray:
    """How often each k and relative² occurs before anything is seen, (powers, relatives)."""
    off = (np.log(shrinkage.RELATIVES) - math.log(USUAL[min(degree, 3)])) / SPREAD
    weights = np.exp(-0.5 * off**2)
    shares: FloatArray = np.full((3, 1), 1 / 3) * (weights / weights.sum())
    return shares


def _shares(gains: list[FloatArray], degree: int) -> FloatArray:
    """How often each occurs among interactions of one degree, as far as they tell: by EM."""
    usual = _usual(degree)
    if not gains:
        return usual
    likelihood = np.exp([gain - gain.max() for gain in gains])
    shares = usual
    for _ in range(ITERATIONS):
        weight = likelihood * shares
        weight /= weight.sum(axis=(1, 2), keepdims=True)
        shares = (weight.sum(axis=0) + MADE_UP * usual) / (len(gains) + MADE_UP)
    return shares
