"""The samplers of Canonne, Kamath, Steinke 2020, word for word: fractions, one number at a time.

Slow (some thousand numbers a second) and obviously right: what ``engine.exact_noise`` is held to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import SystemRandom

_random = SystemRandom()


def bernoulli(p: Fraction) -> bool:
    """True with probability p."""
    return _random.randrange(p.denominator) < p.numerator


def bernoulli_exp(gamma: Fraction) -> bool:
    """True with probability exp(-gamma): Algorithm 1."""
    if gamma <= 1:
        k = 1
        while bernoulli(gamma / k):
            k += 1
        return k % 2 == 1
    return all(bernoulli_exp(Fraction(1)) for _ in range(math.floor(gamma))) and bernoulli_exp(
        gamma - math.floor(gamma)
    )


def discrete_laplace(t: int) -> int:
    """P(x) proportional to exp(-|x| / t): Algorithm 2 with s = 1."""
    while True:
        u = _random.randrange(t)
        if not bernoulli_exp(Fraction(u, t)):
            continue
        v = 0
        while bernoulli_exp(Fraction(1)):
            v += 1
        x, negative = u + t * v, bernoulli(Fraction(1, 2))
        if not (negative and x == 0):
            return -x if negative else x


def discrete_gaussian(variance: Fraction) -> int:
    """P(x) proportional to exp(-x² / (2 variance)): Algorithm 3."""
    t = math.isqrt(math.floor(variance)) + 1
    while True:
        y = discrete_laplace(t)
        if bernoulli_exp((abs(y) - variance / t) ** 2 / (2 * variance)):
            return y


def softmax(scores: Sequence[Fraction]) -> int:
    """A position with probability proportional to exp(score)."""
    most = max(scores)
    while True:
        k = _random.randrange(len(scores))
        if bernoulli_exp(most - scores[k]):
            return k
