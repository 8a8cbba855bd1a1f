"""The exact samplers draw from the laws that a release is charged for, and from no other (T5, T6).

Randomness is the operating system's, so nothing repeats: ``EXACT_ALPHA`` is the chance that correct
code fails one check in one run. Where a check has to refuse a wrong law, the wrong law is so far
off that the chance not to refuse it is below ``EXACT_ALPHA`` too: what is compared lies at least
six of its own standard deviations beyond the bar. The numbers beside a check say how many.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from engine import exact_draws
from engine.exact_noise import GridScores
from engine.noise import probabilities
from tests.reference import exact_noise as twin
from tests.statistical.p_values import frequency_p_value, variance_p_value
from tests.statistical.test_selection_law import permute_and_flip

EXACT_ALPHA = 1e-9
DRAWS = 200_000
VARIANCES = [
    Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(4),
    Fraction(25), Fraction(331, 3), Fraction(1000), Fraction(123_456, 7), Fraction(10**5),
    Fraction(10**6),
]  # fmt: skip


def pmf_p_value(draws: np.ndarray, variance: float) -> float:
    """Chi² test of whole numbers against the discrete Gaussian; bins of 20 or more expected."""
    reach = int(40 * variance**0.5) + 10
    support = np.arange(-reach, reach + 1)
    # Bins wide enough that there are about 200 of them.
    width = max(1, int(variance**0.5 / 16))
    law = probabilities(-(support.astype(float) ** 2) / (2 * variance))
    at = (support + reach) // width
    drawn = np.clip(draws.astype(np.int64), -reach, reach)
    return frequency_p_value((drawn + reach) // width, np.bincount(at, law))


def squares_p_value(draws: np.ndarray, variance: float) -> float:
    """z-test of the mean square: the likelihood depends on the variance through it alone."""
    support = np.arange(int(40 * variance**0.5) + 10).astype(float)
    law = probabilities(-(support**2) / (2 * variance))
    law[1:] *= 2
    law /= law.sum()
    mean = float((law * support**2).sum())
    spread = float((law * (support**2 - mean) ** 2).sum() / len(draws)) ** 0.5
    found = float((draws.astype(float) ** 2).mean())
    return 2 * float(stats.norm.sf(abs(found - mean) / spread))


def law_p_value(draws: np.ndarray, variance: float) -> float:
    """The shape by chi², the scale by the mean square, which is far sharper where bins are many."""
    return 2 * min(pmf_p_value(draws, variance), squares_p_value(draws, variance))


def gaussian(variance: Fraction, count: int = DRAWS) -> np.ndarray:
    """Draws of the engine's own sampler."""
    return exact_draws.discrete_gaussian(count, variance=variance)


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_discrete_gaussian_numbers_follow_their_law_and_five_percent_off_is_refused(
    variance: Fraction,
) -> None:
    drawn = gaussian(variance)
    assert drawn.dtype == np.int64
    # Of the smallest variance one draw in ten thousand is not 0: little is seen of its square.
    small = variance < Fraction(1, 10)
    p_value = pmf_p_value if small else law_p_value
    assert p_value(drawn, float(variance)) > EXACT_ALPHA
    # 200,000 mean squares are 15.8 standard deviations off, the bar is at 6.2: 9 to spare.
    for off in (1.5,) if small else (1.05, 1 / 1.05):
        assert p_value(drawn, float(variance) * off) < EXACT_ALPHA
    signs = stats.binomtest(int((drawn > 0).sum()), int((drawn != 0).sum()))
    assert signs.pvalue > EXACT_ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_a_million_discrete_gaussian_numbers_follow_their_law_and_two_percent_off_is_refused(
    variance: Fraction,
) -> None:
    drawn = gaussian(variance, 1_000_000)
    small = variance < Fraction(1, 10)
    p_value = pmf_p_value if small else law_p_value
    assert p_value(drawn, float(variance)) > EXACT_ALPHA
    # 14.1 standard deviations off: 8 beyond the bar.
    assert p_value(drawn, float(variance) * (1.2 if small else 1.02)) < EXACT_ALPHA
    for quantile in (1e-3, 1e-4, 1e-5):
        bound = stats.norm.isf(quantile / 2) * float(variance) ** 0.5
        support = np.arange(int(bound * 8) + 40)
        law = probabilities(-(support.astype(float) ** 2) / (2 * float(variance)))
        law[1:] *= 2
        expected = float((law / law.sum())[support >= bound].sum())
        found = int((np.abs(drawn) >= bound).sum())
        assert stats.binomtest(found, len(drawn), expected).pvalue > EXACT_ALPHA


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1)], ids=str)
def test_rounded_normal_numbers_are_refused(variance: Fraction) -> None:
    normal = np.random.default_rng(0).normal(0, float(variance) ** 0.5, DRAWS)
    assert pmf_p_value(np.rint(normal), float(variance)) < EXACT_ALPHA


@pytest.mark.parametrize("variance", [Fraction(10) ** 12, Fraction(10**16, 3), Fraction(2) ** 71])
def test_large_variances_are_drawn_in_64_bits(variance: Fraction) -> None:
    drawn = gaussian(variance, 50_000).astype(float)
    assert variance_p_value(drawn, float(variance)) > EXACT_ALPHA
    assert variance_p_value(drawn, 1.1 * float(variance)) < EXACT_ALPHA
    assert stats.kstest(drawn / float(variance) ** 0.5, "norm").pvalue > EXACT_ALPHA
    assert len(np.unique(drawn.astype(np.int64) % 256)) == 256, "the last bits are drawn too"


@pytest.mark.parametrize("variance", [Fraction(1, 10**4), Fraction(10) ** 40])
def test_variances_beyond_64_bits_are_drawn_one_by_one(variance: Fraction) -> None:
    drawn = gaussian(variance, 2_000)
    assert drawn.dtype == object
    if variance < 1:
        assert set(drawn.tolist()) == {0}
    else:
        assert variance_p_value(drawn.astype(float), float(variance)) > EXACT_ALPHA
        assert variance_p_value(drawn.astype(float), 1.5 * float(variance)) < EXACT_ALPHA


def two_sample_p_value(one: np.ndarray, other: np.ndarray) -> float:
    """Chi² test that two lists of whole numbers have one law."""
    both = np.concatenate([one, other]).astype(np.int64)
    edges = np.unique(np.quantile(both, np.linspace(0, 1, 30)).astype(np.int64))
    table = [np.histogram(x, [-(2**62), *edges, 2**62])[0] for x in (one, other)]
    kept = np.array(table)[:, np.sum(table, axis=0) > 0]
    return float(stats.chi2_contingency(kept).pvalue)


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(5, 2), Fraction(12_345, 67)])
def test_the_sampler_and_its_slow_twin_have_one_law(variance: Fraction) -> None:
    slow = np.array([twin.discrete_gaussian(variance) for _ in range(4_000)])
    assert two_sample_p_value(gaussian(variance, 40_000), slow) > EXACT_ALPHA
    assert two_sample_p_value(gaussian(variance * 2, 40_000), slow) < EXACT_ALPHA


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(25), Fraction(10**6, 7)])
def test_the_sampler_and_opendp_s_have_one_law(variance: Fraction) -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    opendp = dp.m.make_gaussian(*space, scale=float(variance) ** 0.5)
    theirs = np.array(opendp([0] * 20_000))
    assert pmf_p_value(theirs, float(variance)) > EXACT_ALPHA
    assert two_sample_p_value(gaussian(variance, 60_000), theirs) > EXACT_ALPHA
    assert two_sample_p_value(gaussian(variance * Fraction(3, 2), 60_000), theirs) < EXACT_ALPHA


# -- Bernoulli(exp(-x)) ----------------------------------------------------------------------------

Bounds = Callable[[Fraction], tuple[int, int]]


def tight(x: Fraction) -> tuple[int, int]:
    """The best bounds."""
    return int(x * 2**40), -int(-x * 2**40 // 1)


def loose(x: Fraction) -> tuple[int, int]:
    """Bounds that decide nothing: everything is settled by fractions."""
    low = max(int(x * 2**40) - 2**39, 0)
    return (low, int(x * 2**40) + 2**39) if x < 63 else tight(x)


@pytest.mark.parametrize("bounds", [tight, loose], ids=["tight", "loose"])
@pytest.mark.parametrize(
    "x", [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(3, 2), Fraction(3)], ids=str
)
def test_bernoulli_exp_succeeds_with_probability_exp_minus_x(x: Fraction, bounds: Bounds) -> None:
    count = 40_000 if bounds is tight else 8_000
    low, high = (np.full(count, b, dtype=np.int64) for b in bounds(x))
    yes = int(exact_draws.bernoulli_exp(low, high, lambda _: x).sum())
    assert stats.binomtest(yes, count, float(np.exp(-float(x)))).pvalue > EXACT_ALPHA
    if x > Fraction(1, 2):  # at least 8 standard deviations beyond the bar
        assert stats.binomtest(yes, count, float(np.exp(-1.4 * float(x)))).pvalue < EXACT_ALPHA


def test_bernoulli_exp_of_a_large_number_is_drawn_factor_by_factor() -> None:
    # 64 factors at once, then the rest: patched so that the first 64 always succeed.
    x, count = Fraction(129, 2), 4_000
    low = np.full(count, 64 << 40, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_draws, "_survivors", lambda f: np.ones(len(f), dtype=bool))
        yes = int(exact_draws.bernoulli_exp(low, low, lambda _: x).sum())
    assert stats.binomtest(yes, count, float(np.exp(-0.5))).pvalue > EXACT_ALPHA
    assert not exact_draws.bernoulli_exp(low, low, lambda _: x).any()


# -- choices (T6) ----------------------------------------------------------------------------------

# With what times the rate is refused: 9 to 12 standard deviations beyond the bar.
SCORES = [
    ([1, 0, 0], Fraction(1, 2), 3.0), ([5, 4, 0, -1000], Fraction(1), 0.5),
    (list(range(40)), Fraction(1, 20), 2.0), ([10**15, 10**15 - 2, 0], Fraction(1, 3), 3.0),
]  # fmt: skip


@pytest.mark.parametrize(("units", "rate", "off"), SCORES, ids=["three", "four", "forty", "huge"])
def test_exact_choices_follow_the_softmax(units: list[int], rate: Fraction, off: float) -> None:
    draws = 3_000
    scores = np.array(units)
    found = np.array([exact_draws.softmax(scores, rate) for _ in range(draws)])
    law = probabilities((scores - scores.max()) * float(rate))
    assert frequency_p_value(found, law) > EXACT_ALPHA
    slow = np.array([twin.softmax([u * rate for u in units]) for _ in range(1_000)])
    assert frequency_p_value(slow, law) > EXACT_ALPHA
    other = probabilities((scores - scores.max()) * float(rate) * off)
    assert frequency_p_value(found, other) < EXACT_ALPHA


@pytest.mark.slow
def test_many_exact_choices_refuse_permute_and_flip_and_an_epsilon_three_percent_off() -> None:
    units, rate = np.array([1, 0, 0]), Fraction(1, 2)
    found = np.array([exact_draws.softmax(units, rate) for _ in range(10_000)])
    law = probabilities(units * 0.5)
    assert frequency_p_value(found, law) > EXACT_ALPHA
    assert frequency_p_value(permute_and_flip(units * 0.5, seed=2), law) < EXACT_ALPHA
    # One good candidate among a hundred shows the most of the rate for each draw: 8 standard
    # deviations beyond the bar.
    best, count = np.array([5] + [0] * 99), 40_000
    chosen = np.array([exact_draws.softmax(best, Fraction(1)) for _ in range(count)])
    assert frequency_p_value(chosen, probabilities(best * 1.0)) > EXACT_ALPHA
    for off, passes in ((1.0, True), (1.03, False), (1 / 1.03, False)):
        law = probabilities(best * off)
        p_value = stats.binomtest(int((chosen == 0).sum()), count, float(law[0])).pvalue
        assert (p_value > EXACT_ALPHA) == passes


def test_exact_choices_and_opendp_s_have_one_law() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=False)
    opendp = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=2.0)
    theirs = np.array([opendp([3, 0, 1]) for _ in range(4_000)])
    ours = np.array([exact_draws.softmax(np.array([3, 0, 1]), Fraction(1, 2)) for _ in theirs])
    law = probabilities(np.array([1.5, 0.0, 0.5]))
    for found in (theirs, ours):
        assert frequency_p_value(found, law) > EXACT_ALPHA
        assert frequency_p_value(found, probabilities(np.array([3.0, 0.0, 1.0]))) < EXACT_ALPHA
    # Both say that it costs epsilon² / 8.
    scores = GridScores(np.array([3, 0, 1]), 1, Fraction(1))
    assert opendp.map(1) == pytest.approx(float(scores.rho), rel=1e-9)
