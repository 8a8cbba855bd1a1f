"""What many runs prove: a lower bound on rho and epsilon, wrong with a small probability only.

Each run on two neighbouring tables has scores. Only how often a score passes a threshold is used:
with p on one table and q on the other, rho-zCDP bounds how far apart they can be. Both are bounded
by Clopper and Pearson (1934); score and threshold are chosen on the first half of the runs, and
judged on the second. One threshold wastes most of a score, so that half as much noise can pass: the
divergence over ten bins of the last score, which rho bounds too, sees more. Absence of evidence
proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from engine.types import FloatArray

QUANTILES = np.linspace(0.02, 0.98, 49)
BINS = 10
ORDERS = (1.01, 1.1, 1.3, 1.6, 2.0, 3.0, 5.0, 9.0, 17.0)


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    Args:
        runs: On each table.
        promised: rho of one record.
        least: What rho is at least, at the false-alarm rate ``alpha``.
        epsilon: What was promised, with ``delta``.
        least_epsilon: What epsilon is at least, likewise.
        divergence: What the Kullback-Leibler divergence over ten bins is at least, likewise; rho
            is at least that.
        alpha: Chance that a correct mechanism is accused.
        passed: How often scores passed rho's threshold in the second half of the runs, on the
            larger and the smaller table.
    """

    runs: int
    promised: float
    least: float
    epsilon: float
    delta: float
    least_epsilon: float
    divergence: float
    alpha: float
    passed: tuple[int, int]

    @property
    def caught(self) -> bool:
        """Whether more is given away than was promised."""
        most = max(self.least, self.divergence)
        return most > self.promised or self.least_epsilon > self.epsilon


def judged(
    scores: FloatArray, *, promised: float, epsilon: float, delta: float, alpha: float
) -> Audit:
    """Choose score and threshold on the first half of the runs, and bound on the second.

    Args:
        scores: Of every run on the larger and on the smaller table; the last one is of everything.
        promised: rho of one record.
        epsilon: What was promised, with ``delta``.
        delta: Its other half.
        alpha: Chance that a correct mechanism is accused.

    Shapes:
        scores: (2 tables, runs, kinds of score).
    """
    half = scores.shape[1] // 2
    first, second = scores[:, :half], scores[:, half:]
    tried = [
        (kind, threshold)
        for kind in range(scores.shape[2])
        for threshold in np.unique(np.quantile(first[:, :, kind], QUANTILES)).tolist()
    ]
    # Both thresholds and the bins share the chance of a false alarm.
    passed, (least, _) = _best(0, tried, first, second, alpha=alpha / 4, delta=delta)
    _, (_, least_epsilon) = _best(1, tried, first, second, alpha=alpha / 4, delta=delta)
    larger, smaller = second[0, :, -1], second[1, :, -1]
    divergence = max(
        _divergence(first[:, :, -1], larger, smaller, alpha=alpha / 4),
        _divergence(first[:, :, -1], smaller, larger, alpha=alpha / 4),
    )
    return Audit(
        scores.shape[1], promised, least, epsilon, delta, least_epsilon, divergence, alpha, passed
    )


def _best(
    which: int,
    tried: Sequence[tuple[int, float]],
    first: FloatArray,
    second: FloatArray,
    *,
    alpha: float,
    delta: float,
) -> tuple[tuple[int, int], tuple[float, float]]:
    """Choose what shows most of rho (0) or epsilon (1) on one half, and judge it on the other."""

    def least(scores: FloatArray, kind: int, threshold: float) -> tuple[float, float]:
        return _least(_counts(scores[:, :, kind], threshold), scores.shape[1], alpha, delta)

    kind, threshold = max(tried, key=lambda one: least(first, *one)[which])
    return _counts(second[:, :, kind], threshold), least(second, kind, threshold)


def _divergence(chosen: FloatArray, one: FloatArray, other: FloatArray, *, alpha: float) -> float:
    """Bound KL(one || other) from below, over bins of equal share in ``chosen``.

    Bins put together what lies in them, which only lessens the divergence; so does adding one
    count to each. What is left of the estimate's bias, half a count a bin, is taken off twice.
    """
    edges = np.unique(np.quantile(chosen, np.linspace(0, 1, BINS + 1)[1:-1]))
    p, q = (
        np.bincount(np.searchsorted(edges, scores), minlength=len(edges) + 1) + 1.0
        for scores in (one, other)
    )
    count = float(len(one))
    p, q = p / p.sum(), q / q.sum()
    ratio = np.log(p / q)
    found = float((p * ratio).sum())
    spread = (float((p * ratio**2).sum()) - found**2 + float((p**2 / q).sum()) - 1.0) / count
    slack = float(special.ndtri(1 - alpha)) * math.sqrt(spread)
    return max(0.0, found - len(edges) / count - slack)


def _counts(scores: FloatArray, threshold: float) -> tuple[int, int]:
    larger, smaller = (int((row >= threshold).sum()) for row in scores)
    return larger, smaller


def _least(
    passed: tuple[int, int], runs: int, alpha: float, delta: float = 0.0
) -> tuple[float, float]:
    """What rho and epsilon are at least, if so many of the runs passed on either table."""
    # One sided each, so that both hold with probability 1 - alpha.
    p = _low(passed[0], runs, alpha / 2)
    q = 1.0 - _low(runs - passed[1], runs, alpha / 2)
    if p <= q:
        return 0.0, 0.0
    rho = max(_renyi(p, q, order) / order for order in ORDERS)
    return rho, max(0.0, math.log(max(p - delta, 1e-300) / q))


def _low(successes: int, runs: int, alpha: float) -> float:
    """Clopper and Pearson's lower bound of a probability."""
    return float(special.betaincinv(successes, runs - successes + 1, alpha)) if successes else 0.0


def _renyi(p: float, q: float, order: float) -> float:
    """Divergence of two coins."""
    heads = order * math.log(p) + (1 - order) * math.log(q)
    tails = order * math.log1p(-p) + (1 - order) * math.log1p(-q) if p < 1 else -math.inf
    return float(np.logaddexp(heads, tails)) / (order - 1)
