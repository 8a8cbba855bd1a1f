"""Exact draws from the operating system's randomness: whole numbers and fractions throughout.

Everything rests on one comparison. A real number x is known to lie between two multiples of 2^-40,
and a uniform number U is drawn bit by bit: mostly 40 bits decide whether U < x. Where they do not,
x is computed as a fraction and U gets more bits until they do. So the answer is exact, and many
numbers are compared at once.

Source:
    Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), Algorithms 1 to 3.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import BudgetError
from engine.types import IntArray

BITS = 40
"""Bits of a uniform number that are compared first."""
_ONE = 1 << BITS
_MOST = 64
"""Factors exp(-1) that are drawn at once; what remains after them is drawn one by one."""
_FAR = _MOST << BITS
_FINE = 24
"""Bits after the point of the root of an exponent: its square then has 48, of which 40 are kept."""
_AT_ONCE, _AT_LEAST = 1 << 15, 512
_VECTOR_RANGE = (Fraction(1, 1 << 12), Fraction(1 << 72))
"""Variances for which all steps fit into 64-bit integers; others are drawn one by one."""


# -- bits -----------------------------------------------------------------------------------------


def _bits(count: int, bits: int) -> IntArray:
    """Uniform whole numbers below 2^bits, at most 62 bits."""
    words = np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
    return (words >> np.uint64(64 - bits)).astype(np.int64)


def _below(limit: int, count: int) -> IntArray:
    """Uniform whole numbers below a limit: drawn again where they are not."""
    if limit == 1:
        return np.zeros(count, dtype=np.int64)
    bits = (limit - 1).bit_length()
    drawn = _bits(count, bits)
    over = np.flatnonzero(drawn >= limit)
    while len(over):
        drawn[over] = _bits(len(over), bits)
        over = over[drawn[over] >= limit]
    return drawn


def _less(u: int, bits: int, below: Callable[[int], tuple[int, int]]) -> bool:
    """Whether U < x, where U starts with these bits and gets more until that is decided.

    ``below(n)`` returns whole numbers around 2^n x: the largest known not above it, and the least
    known not below it.
    """
    while True:
        low, high = below(bits)
        if u + 1 <= low:
            return True
        if u >= high:
            return False
        u, bits = (u << 62) | int(_bits(1, 62)[0]), bits + 62


def _around(x: Fraction) -> Callable[[int], tuple[int, int]]:
    def below(n: int) -> tuple[int, int]:
        return (x.numerator << n) // x.denominator, -((-x.numerator << n) // x.denominator)

    return below


def _around_exp(n: int) -> tuple[int, int]:
    """Whole numbers around 2^n exp(-1), which is irrational, from its alternating series."""
    total, k, sign = Fraction(0), 0, 1
    while math.factorial(k) >> (n + 2) == 0:
        total += Fraction(sign, math.factorial(k))
        k, sign = k + 1, -sign
    error = Fraction(1, math.factorial(k))
    return math.floor((total - error) * 2**n), math.ceil((total + error) * 2**n)


_EXP_LOW, _EXP_HIGH = _around_exp(62)


# -- Bernoulli ------------------------------------------------------------------------------------


def _exp_one(count: int) -> NDArray[np.bool_]:
    """Bernoulli(exp(-1)), each by itself."""
    u = _bits(count, 62)
    yes = u < _EXP_LOW
    for i in np.flatnonzero(~yes & (u < _EXP_HIGH)).tolist():
        yes[i] = _less(int(u[i]), 62, _around_exp)
    return yes


def _survivors(factors: IntArray) -> NDArray[np.bool_]:
    """Bernoulli(exp(-k)), k as given: k times Bernoulli(exp(-1))."""
    alive = np.ones(len(factors), dtype=np.bool_)
    ahead, done = np.flatnonzero(factors > 0), 0
    while len(ahead):
        yes = _exp_one(len(ahead))
        alive[ahead[~yes]] = False
        done += 1
        ahead = ahead[yes]
        ahead = ahead[factors[ahead] > done]
    return alive


def bernoulli_exp(
    low: IntArray, high: IntArray, exact: Callable[[int], Fraction]
) -> NDArray[np.bool_]:
    """Draw Bernoulli(exp(-x)) for many x of 0 or more, each by itself.

    Args:
        low: Whole numbers not above 2^40 x; where x is 64 or more, 64 * 2^40 is enough.
        high: Whole numbers not below 2^40 x; where ``low`` says 64 or more they say nothing.
        exact: Gives x itself by its place; asked for where the bounds do not decide.
    """
    low, high = low.copy(), high.copy()
    far = low >= _FAR
    for i in np.flatnonzero(~far & (high - (low >> BITS << BITS) > _ONE)).tolist():
        low[i], high[i] = _around(exact(i))(BITS)
        far[i] = low[i] >= _FAR
    whole = np.minimum(low >> BITS, _MOST)
    yes = _survivors(whole)
    for i in np.flatnonzero(yes & far).tolist():
        yes[i] = _bernoulli_exp_one(exact(i) - _MOST)
    near = np.flatnonzero(yes & ~far)
    shift = whole[near] << BITS
    yes[near] = _bernoulli_exp_small(
        low[near] - shift, high[near] - shift, lambda j: exact(int(near[j])) - int(whole[near[j]])
    )
    return yes


def _bernoulli_exp_small(
    low: IntArray, high: IntArray, exact: Callable[[int], Fraction]
) -> NDArray[np.bool_]:
    """Bernoulli(exp(-f)) for f in [0, 1]: trials of f/1, f/2, ... until the K-th fails; K odd."""
    yes = np.zeros(len(low), dtype=np.bool_)
    ahead, k = np.arange(len(low)), 1
    while len(ahead):
        # U < f / k is k U < f: k times the bits drawn, or of those plus one, against the bounds.
        u = _bits(len(ahead), BITS)
        goes_on = (u + 1) * k <= low[ahead]
        for j in np.flatnonzero(~goes_on & (u * k < high[ahead])).tolist():
            goes_on[j] = _less(int(u[j]), BITS, _around(exact(int(ahead[j])) / k))
        yes[ahead[~goes_on]] = k % 2 == 1
        ahead, k = ahead[goes_on], k + 1
    return yes


def _bernoulli_exp_one(x: Fraction) -> bool:
    """Bernoulli(exp(-x)) for one x of 0 or more, however large."""
    for _ in range(math.floor(x)):
        if not _exp_one(1)[0]:
            return False
    k, f = 1, x % 1
    while _less(0, 0, _around(f / k)):
        k += 1
    return k % 2 == 1


# -- discrete Laplace and Gaussian ----------------------------------------------------------------


def _geometric(count: int) -> IntArray:
    """Successes of Bernoulli(exp(-1)) before the first failure."""
    found = np.zeros(count, dtype=np.int64)
    ahead = np.arange(count)
    while len(ahead):
        ahead = ahead[_exp_one(len(ahead))]
        found[ahead] += 1
    return found


def _laplace(scale: int, count: int) -> IntArray:
    """Some discrete Laplace numbers, P(x) proportional to exp(-|x| / scale), from so many tries."""
    u = _below(scale, count)
    # 2^40 u / scale in two steps, each within 64 bits.
    first, rest = np.divmod(u << 20, scale)
    second, rest = np.divmod(rest << 20, scale)
    low = (first << 20) + second
    kept = bernoulli_exp(low, low + (rest > 0), lambda i: Fraction(int(u[i]), scale))
    size = u[kept]
    size += scale * _geometric(len(size))
    negative = _bits(len(size), 1) == 1
    # Zero has one sign, not two.
    once = ~(negative & (size == 0))
    signed: IntArray = np.where(negative, -size, size)[once]
    return signed


@dataclass(frozen=True, slots=True)
class _Gaussian:
    """What accepting a discrete Laplace number needs, in whole numbers.

    The exponent (|x| - sigma²/t)² / (2 sigma²) is the square of |x| slope - middle, with
    slope = 1 / (sigma sqrt 2) and middle = sigma / (t sqrt 2).

    Args:
        variance: sigma².
        scale: t.
        coarse: Last bits of |x| that are left out.
        slope: Whole number not above 2^(coarse + shift) slope, and its successor not below it.
        shift: See there.
        middle: Whole number not above 2^24 middle, and its successor not below it.
    """

    variance: Fraction
    scale: int
    coarse: int
    slope: int
    shift: int
    middle: int

    @classmethod
    def of(cls, variance: Fraction) -> _Gaussian:
        above, below = variance.as_integer_ratio()
        scale = math.isqrt(above // below) + 1
        coarse = max(0, scale.bit_length() + 5 - 31)
        # The slope gets 31 bits.
        shift = 0
        while _root(below << 2 * (coarse + shift + 8), 2 * above) >> 8 < 1 << 30:
            shift += 1
        slope = _root(below << 2 * (coarse + shift), 2 * above)
        middle = _root(above << 2 * _FINE, 2 * below * scale**2)
        return cls(variance, scale, coarse, slope, shift, middle)

    def accepts(self, x: IntArray) -> NDArray[np.bool_]:
        """Bernoulli(exp(-(|x| - sigma²/t)² / (2 sigma²))), each by itself."""
        size = np.abs(x)
        low, high = self.bounds(size)
        return bernoulli_exp(low, high, lambda i: self.exponent(int(size[i])))

    def bounds(self, size: IntArray) -> tuple[IntArray, IntArray]:
        """Whole numbers around 2^40 times the exponents; 64 * 2^40 stands for 64 and more."""
        coarse = size >> self.coarse
        far = coarse >= 1 << 31
        coarse = np.where(far, 0, coarse)
        drop = self.shift - _FINE
        low = (coarse * self.slope >> drop) - (self.middle + 1)
        high = ((coarse + (self.coarse > 0)) * (self.slope + 1) >> drop) + 1 - self.middle
        least = np.maximum(np.maximum(low, -high), 0)
        most = np.maximum(high, -low)
        far |= least >= 8 << _FINE
        least, most = np.where(far, 0, least), np.where(far, 0, most)
        low = np.where(far, _FAR, least**2 >> 2 * _FINE - BITS)
        high = np.where(far, _FAR, (most**2 >> 2 * _FINE - BITS) + 1)
        return low, high

    def exponent(self, size: int) -> Fraction:
        """The exponent of one number, exactly."""
        return (size - self.variance / self.scale) ** 2 / (2 * self.variance)


def _root(above: int, below: int) -> int:
    """Largest whole number whose square is not above a quotient."""
    return math.isqrt(above // below)


def discrete_gaussian(
    count: int, *, variance: Fraction, between: Callable[[int], None] | None = None
) -> NDArray[Any]:
    """Draw independent whole numbers, P(x) proportional to exp(-x² / (2 variance)).

    Args:
        count: How many.
        variance: The parameter sigma².
        between: Called from time to time with how many are drawn; what it raises ends the draw.

    Returns:
        int64, or Python integers where the variance is beyond what fits.

    Raises:
        BudgetError: If the variance is not above 0 (``E_VARIANCE``).
    """
    if not isinstance(variance, Fraction) or variance <= 0:
        raise BudgetError(
            "The noise variance is no fraction above 0; one is needed.", code="E_VARIANCE"
        )
    if not _VECTOR_RANGE[0] <= variance <= _VECTOR_RANGE[1]:
        return np.array(list(_one_by_one(count, variance, between)), dtype=object)
    law, found, missing = _Gaussian.of(variance), [np.empty(0, dtype=np.int64)], count
    while missing > 0:
        # Always many at once, so that the time taken says little of any one number.
        tries = min(max(2 * missing, _AT_LEAST), _AT_ONCE)
        proposed = _laplace(law.scale, tries)
        found.append(proposed[law.accepts(proposed)][:missing])
        missing -= len(found[-1])
        if between is not None:
            between(count - missing)
    return np.concatenate(found)


def _one_by_one(
    count: int, variance: Fraction, between: Callable[[int], None] | None
) -> Iterator[int]:
    for done in range(1, count + 1):
        yield _gaussian_one(variance)
        if between is not None:
            between(done)


def _gaussian_one(variance: Fraction) -> int:
    """One number, in Python's own integers: for variances beyond 64 bits."""
    scale = math.isqrt(variance.numerator // variance.denominator) + 1
    while True:
        u = _below_any(scale)
        if not _bernoulli_exp_one(Fraction(u, scale)):
            continue
        size = u + scale * int(_geometric(1)[0])
        negative = bool(_bits(1, 1)[0])
        if negative and size == 0:
            continue
        if _bernoulli_exp_one((size - variance / scale) ** 2 / (2 * variance)):
            return -size if negative else size


def _below_any(limit: int) -> int:
    """A uniform whole number below any limit."""
    bits = (limit - 1).bit_length()
    while True:
        drawn = int.from_bytes(os.urandom(bits // 8 + 1), "little") & ((1 << bits) - 1)
        if drawn < limit:
            return drawn


# -- softmax --------------------------------------------------------------------------------------


def softmax(units: NDArray[Any], rate: Fraction) -> int:
    """Draw a position with probability proportional to exp(rate * units), exactly.

    Positions are tried uniformly and kept with probability exp(-rate * (most - unit)); the first
    one kept follows the softmax.
    """
    most = max(units.tolist())
    above, below = rate.as_integer_ratio()
    gaps = [(most - unit) * above for unit in units.tolist()]
    low = np.array([min((gap << BITS) // below, _FAR) for gap in gaps], dtype=np.int64)
    high = low + 1
    tries = min(max(2 * len(gaps), _AT_LEAST), _AT_ONCE)
    while True:
        tried = _below(len(gaps), tries)
        exact = partial(_gap, gaps, tried, below)
        kept = bernoulli_exp(low[tried], high[tried], exact)
        if kept.any():
            return int(tried[kept.argmax()])


def _gap(gaps: Sequence[int], tried: IntArray, below: int, i: int) -> Fraction:
    return Fraction(gaps[int(tried[i])], below)
