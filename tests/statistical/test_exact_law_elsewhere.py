"""The exact samplers at parameters that no other test uses, and on numbers far from 0 (T5).

``EXACT_ALPHA`` = 1e-9 is the chance that correct code fails one check in one run; there are about
50 here, so that a run of this file fails for nothing once in twenty million. Each wrong sampler
below lies at least six standard deviations beyond the bar: the chance to miss it is as small.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from engine import exact_draws
from engine.accounting import Charge
from engine.exact_noise import ExactNoise
from tests.statistical.test_exact_law import (
    EXACT_ALPHA,
    law_p_value,
    pmf_p_value,
    probabilities,
    two_sample_p_value,
)

AWKWARD = [
    Fraction(97, 1009), Fraction(355, 1130), Fraction(2, 5), Fraction(97, 101),
    Fraction(1_000_003, 999_983), Fraction(2**61 - 1, 2**59 + 7),
    Fraction(12_345_678_901, 987_654_321), Fraction(7919, 3), Fraction(2**40 + 15, 2**29 - 3),
]  # fmt: skip
"""Below 1 and above, with denominators that divide nothing."""
COUNT = 60_000


@pytest.mark.parametrize("variance", AWKWARD, ids=str)
def test_awkward_variances_are_drawn_by_their_law_and_ten_percent_off_is_refused(
    variance: Fraction,
) -> None:
    drawn = exact_draws.discrete_gaussian(COUNT, variance=variance)
    assert law_p_value(drawn, float(variance)) > EXACT_ALPHA
    for off in (1.1, 1 / 1.1):
        assert law_p_value(drawn, float(variance) * off) < EXACT_ALPHA


@pytest.mark.parametrize("variance", [AWKWARD[0], AWKWARD[4], AWKWARD[7]], ids=str)
def test_one_number_at_a_time_has_the_law_of_many_at_once(variance: Fraction) -> None:
    """The two paths of the engine itself: whole arrays, and Python's integers."""
    scalar = np.array([exact_draws._gaussian_one(variance) for _ in range(3_000)])
    assert pmf_p_value(scalar, float(variance)) > EXACT_ALPHA
    many = exact_draws.discrete_gaussian(COUNT, variance=variance)
    assert two_sample_p_value(many, scalar) > EXACT_ALPHA


def test_the_probabilities_compared_with_are_exact() -> None:
    """Double precision against 60 digits: the reference of all these tests."""
    with mpmath.workdps(60):
        for variance in AWKWARD:
            ratio = mpmath.mpf(variance.numerator) / variance.denominator
            support = range(-60, 61)
            weights = [mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * ratio)) for k in support]
            total = mpmath.fsum(weights)
            exact = np.array([float(weight / total) for weight in weights])
            said = probabilities(-(np.arange(-60, 61.0) ** 2) / (2 * float(variance)))
            assert np.allclose(said, exact, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(
    "variance", [Fraction(1, 1 << 12), Fraction((1 << 72) - 1), Fraction((1 << 72) + 1)], ids=str
)
def test_at_the_ends_of_64_bits_the_law_is_the_same_on_both_sides(variance: Fraction) -> None:
    small = variance < 1
    drawn = exact_draws.discrete_gaussian(20_000 if variance <= 1 << 72 else 600, variance=variance)
    if small:
        assert not drawn.any(), "the chance of any other number is e^-2048"
        return
    squares = (drawn.astype(float) / float(variance) ** 0.5) ** 2
    spread = (2 / len(drawn)) ** 0.5
    assert abs(squares.mean() - 1) < 6.2 * spread
    last = np.bincount(np.array([int(k) % 16 for k in drawn]), minlength=16)
    assert abs(last - len(drawn) / 16).max() < 6.5 * (len(drawn) / 16) ** 0.5


@pytest.mark.parametrize("at", [0, -1, 2**53 + 1, -(2**60) - 1, 2**60 + 1])
def test_noise_on_numbers_far_from_zero_is_the_same_noise_to_the_last_digit(at: int) -> None:
    variance, rng = Fraction(101, 97), ExactNoise()
    rng.paid([Charge("measure", (0,), 1 / (2 * variance))])
    exact = np.full(COUNT, at, dtype=np.int64)
    noisy = rng.noisy(exact, variance=variance, sensitivity=1)
    assert noisy.dtype == np.int64
    assert law_p_value(noisy - at, float(variance)) > EXACT_ALPHA
    if abs(at) > 2**53:
        # What goes through floating-point numbers on the way is another law.
        through = (exact.astype(float) + (noisy - at).astype(float)).astype(np.int64) - at
        assert law_p_value(through, float(variance)) < EXACT_ALPHA


# -- wrong samplers --------------------------------------------------------------------------------


def signed_zeros(scale: int, count: int) -> np.ndarray:
    """Planted: zero has two signs, and comes twice as often as it should."""
    u = exact_draws._below(scale, count)
    law = [Fraction(int(k), scale) for k in range(scale)]
    low = np.array([int(x * 2**40) for x in law])[u]
    kept = exact_draws.bernoulli_exp(low, low + 1, lambda i: law[int(u[i])])
    size = u[kept] + scale * exact_draws._geometric(int(kept.sum()))
    return np.where(exact_draws._bits(len(size), 1) == 1, -size, size)


def test_these_tests_refuse_samplers_that_are_a_little_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = Fraction(7, 3)

    def refused() -> bool:
        drawn = exact_draws.discrete_gaussian(COUNT, variance=right)
        return law_p_value(drawn, float(right)) < EXACT_ALPHA

    assert not refused()
    with monkeypatch.context() as patch:
        patch.setattr(exact_draws, "_laplace", signed_zeros)
        assert refused(), "zero twice as often"
    bounds = exact_draws._Gaussian.bounds
    with monkeypatch.context() as patch:  # the centre of the exponent is forgotten
        patch.setattr(exact_draws._Gaussian, "exponent",
                      lambda law, x: Fraction(x * x) / (2 * law.variance))  # fmt: skip
        patch.setattr(exact_draws._Gaussian, "bounds",
                      lambda law, x: (np.zeros_like(x), np.full_like(x, 1 << 62)))  # fmt: skip
        assert refused(), "exp(-x²/2 sigma²) of Laplace numbers"
    with monkeypatch.context() as patch:  # numbers are proposed from a neighbouring scale
        laplace = exact_draws._laplace
        patch.setattr(exact_draws, "_laplace", lambda scale, count: laplace(scale + 1, count))
        assert refused(), "another proposal"
    with monkeypatch.context() as patch:  # bounds that decide wrongly by a half
        patch.setattr(exact_draws._Gaussian, "bounds", lambda law, x: tuple(
            b >> 1 for b in bounds(law, x)))  # fmt: skip
        assert refused(), "exponents half as large"
