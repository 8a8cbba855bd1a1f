"""p-values: each test here accepts the truth and refuses what is 10 % off."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats


def variance_p_value(draws: np.ndarray, variance: float) -> float:
    """Two-sided chi² test that independent draws of mean 0 have this variance."""
    law = stats.chi2(draws.size)
    found = float((draws**2).sum()) / variance
    return 2 * min(float(law.cdf(found)), float(law.sf(found)))


def mean_p_value(draws: np.ndarray, mean: float) -> float:
    """Two-sided z-test of the mean, with the draws' own standard error."""
    z = (float(draws.mean()) - mean) / (float(draws.std(ddof=1)) / math.sqrt(draws.size))
    return 2 * float(stats.norm.sf(abs(z)))


def covariance_p_value(draws: np.ndarray, covariance: np.ndarray) -> float:
    """Likelihood-ratio test that rows of draws (of mean 0) have this covariance."""
    count, d = draws.shape
    white = np.linalg.solve(np.linalg.cholesky(covariance), draws.T)
    found = white @ white.T / count
    _, log_det = np.linalg.slogdet(found)
    statistic = count * (np.trace(found) - log_det - d)
    return float(stats.chi2(d * (d + 1) // 2).sf(statistic))


def zero_p_value(one: np.ndarray, other: np.ndarray) -> float:
    """Test that two blocks of white draws (rows are repetitions) are uncorrelated."""
    count = len(one)
    products = one.T @ other / math.sqrt(count)
    return float(stats.chi2(products.size).sf((products**2).sum()))


def frequency_p_value(chosen: np.ndarray, probabilities: np.ndarray) -> float:
    """Chi² test of choices; rare ones are put together so that each is expected 20 times."""
    count = len(chosen)
    found = np.bincount(chosen, minlength=len(probabilities)).astype(float)
    expected = probabilities * count
    rare = expected < 20
    if rare.any():
        found = np.append(found[~rare], found[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0
    statistic = float(((found - expected)[kept] ** 2 / expected[kept]).sum())
    return float(stats.chi2(int(kept.sum()) - 1).sf(statistic))
