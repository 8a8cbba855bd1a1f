"""What many runs prove: a lower bound on rho and epsilon, wrong with a small probability only.

Each run on two neighbouring tables has scores. Only how often a score passes a threshold is used:
with p on one table and q on the other, rho-zCDP bounds how far apart they can be. Both are bounded
by Clopper and Pearson (1934); score and threshold are chosen on the first half of the runs, and
judged on the second. Absence of evidence proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from engine.types import FloatArray

QUANTILES = np.linspace(0.02, 0.98, 49)
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
        alpha: Chance that a correct mechanism is accused.
        passed: How often scores passed the threshold in the second half of the runs, on the larger
            and the smaller table.
    """

    runs: int
    promised: float
    least: float
    epsilon: float
    delta: float
    least_epsilon: float
    alpha: float
    passed: tuple[int, int]

    @property
    def caught(self) -> bool:
        """Whether more is given away than was promised."""
        return self.least > self.promised or self.least_epsilon > self.epsilon


def judged(
    scores: FloatArray, *, promised: float, epsilon: float, delta: float, alpha: float
) -> Audit:
    """Choose score and threshold on the first half of the runs, and bound on the second.

    Args:
        scores: Of every run on the larger and on the smaller table.
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
    kind, best = max(tried, key=lambda t: _least(_counts(first[:, :, t[0]], t[1]), half, alpha)[0])
    passed = _counts(second[:, :, kind], best)
    least, least_epsilon = _least(passed, second.shape[1], alpha, delta)
    return Audit(scores.shape[1], promised, least, epsilon, delta, least_epsilon, alpha, passed)


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
