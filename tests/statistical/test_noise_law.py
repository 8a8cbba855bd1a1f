"""The noise that is drawn is the noise that is claimed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import engine
from engine import grem
from engine.measure import measure_marginal, measure_residuals
from engine.released import Allocation
from tests.reference import dense
from tests.statistical.p_values import (
    covariance_p_value,
    mean_p_value,
    variance_p_value,
    zero_p_value,
)
from tests.support import ALPHA, make_domain

DRAWS = 12_000
OFF = 1.1
SHAPES = [(2,), (3,), (2, 2), (3, 4), (2, 3, 5)]


def case(sizes: tuple[int, ...]) -> tuple[engine.Private, tuple[int, ...]]:
    """A table of a few records over these sizes."""
    domain = make_domain(sizes)
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, n, size=23) for n in sizes], axis=1)
    return engine.Private(engine.Table.from_codes(codes, domain)), tuple(range(len(sizes)))


@pytest.mark.parametrize("variance", [1e-6, 0.25, 4.0, 1e9])
def test_the_source_s_noise_is_normal_with_the_variance_asked_for(variance: float) -> None:
    noise = engine.rehearsal_noise(11).gaussian((DRAWS,), variance=variance)
    assert variance_p_value(noise, variance) > ALPHA
    assert variance_p_value(noise, OFF * variance) < ALPHA
    assert variance_p_value(noise, variance / OFF) < ALPHA
    assert mean_p_value(noise, 0.0) > ALPHA
    assert stats.kstest(noise / np.sqrt(variance), "norm").pvalue > ALPHA
    # Teeth: a uniform or a Laplace law of the same variance is seen.
    rng = np.random.default_rng(0)
    for other in (rng.uniform(-np.sqrt(3), np.sqrt(3), DRAWS), rng.laplace(0, 0.5**0.5, DRAWS)):
        assert stats.kstest(other, "norm").pvalue < ALPHA


def test_neighbouring_draws_are_independent() -> None:
    noise = engine.rehearsal_noise(12).gaussian((DRAWS,), variance=1.0)
    for lag in (1, 2, 7):
        assert zero_p_value(noise[:-lag, None], noise[lag:, None]) > ALPHA
        mixed = noise[lag:] + 0.1 * noise[:-lag]
        assert zero_p_value(noise[:-lag, None], mixed[:, None] / np.sqrt(1.01)) < ALPHA


@pytest.mark.parametrize("shape", SHAPES)
def test_a_measured_residual_has_covariance_sigma_squared_v(shape: tuple[int, ...]) -> None:
    private, tau = case(shape)
    precision = 0.25  # sigma² = 4
    rho = engine.privacy_cost(shape) * Fraction(precision) / 2
    _, measured = measure_residuals(
        private,
        [Allocation(tau, 0.0, precision, rho)] * DRAWS,
        ledger=engine.Ledger(rho * DRAWS),
        rng=engine.rehearsal_noise(21),
    )
    exact = dense.decompose(private.marginal(tau).values, tau, tau)
    noise = np.stack([(m.values - exact).ravel() for m in measured])
    claimed = dense.covariance(shape) / precision
    assert covariance_p_value(noise, claimed) > ALPHA
    assert covariance_p_value(noise, OFF * claimed) < ALPHA
    assert covariance_p_value(noise, claimed / OFF) < ALPHA
    # Its shape too: independent noise on the coordinates is refused.
    if claimed.size > 1:
        assert covariance_p_value(noise, np.diag(np.diag(claimed))) < ALPHA
    white = np.linalg.solve(np.linalg.cholesky(claimed), noise.T)
    assert stats.chi2(white.shape[0]).sf(DRAWS * (white.mean(axis=1) ** 2).sum()) > ALPHA


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 2)])
def test_an_isotropic_marginal_s_residuals_have_their_claimed_precisions_and_are_independent(
    shape: tuple[int, ...],
) -> None:
    private, gamma = case(shape)
    rho = Fraction(1, 8)  # sigma² = 4
    rng, taken = engine.rehearsal_noise(31), []
    for _ in range(DRAWS // 4):
        _, measured = measure_marginal(private, gamma, rho=rho, ledger=engine.Ledger(rho), rng=rng)
        taken.append(measured)
    white = {}
    for k, first in enumerate(taken[0]):
        tau = first.attrs
        exact = dense.decompose(private.marginal(gamma).values, gamma, tau)
        noise = np.stack([(m[k].values - exact).ravel() for m in taken])
        claimed = dense.covariance([shape[i] for i in tau]) / first.precision
        assert covariance_p_value(noise, claimed) > ALPHA
        white[tau] = np.linalg.solve(np.linalg.cholesky(claimed), noise.T).T
    everything = np.concatenate(list(white.values()), axis=1)
    whole = np.eye(everything.shape[1])
    assert covariance_p_value(everything, OFF * whole) < ALPHA
    taus = list(white)
    for k, tau in enumerate(taus):
        for other in taus[k + 1 :]:
            assert zero_p_value(white[tau], white[other]) > ALPHA / len(taus) ** 2


@pytest.mark.parametrize("mechanism", [engine.ResidualPlanner(), engine.EqualSplit()], ids=repr)
def test_each_cell_s_variance_and_the_expected_l1_error_are_as_predicted(
    mechanism: engine.ResidualPlanner | engine.EqualSplit,
) -> None:
    private, gamma = case((2, 3, 2))
    domain = private.domain
    workload = engine.Workload.all_kway(domain, 2)
    rho = Fraction(1, 2)
    predicted = mechanism.predict(workload, rho=rho)
    rng = engine.rehearsal_noise(41)
    errors: dict[tuple[int, ...], list[np.ndarray]] = {g: [] for g in workload.marginals}
    start, _ = mechanism.start(private, workload, rho=rho, rng=rng)
    for _ in range(3_000):
        state, _ = mechanism.step(start, private, rng)
        for g, found in errors.items():
            found.append(grem.marginal(state.beliefs, domain, g) - private.marginal(g).values)
    assert gamma
    for g, found in errors.items():
        stacked = np.stack(found).reshape(len(found), -1)
        variance = predicted.cell_variance[g]
        cells = stacked.shape[1]
        for column in stacked.T:  # each cell, not their sum (MATH section 4)
            assert variance_p_value(column, variance) > ALPHA / cells
        squares = (stacked**2).mean(axis=1)
        assert mean_p_value(squares, variance) > ALPHA
        assert mean_p_value(squares, OFF * variance) < ALPHA
        assert mean_p_value(squares, variance / OFF) < ALPHA
        l1 = np.abs(stacked).sum(axis=1)
        assert mean_p_value(l1, predicted.expected_l1[g]) > ALPHA
        assert mean_p_value(l1, OFF**2 * predicted.expected_l1[g]) < ALPHA


def test_combined_measurements_have_the_summed_precision() -> None:
    private, tau = case((3, 2))
    precisions = (0.5, 2.0, 0.1)
    p = engine.privacy_cost((3, 2))
    planned = [Allocation(tau, 0.0, x, p * Fraction(x) / 2) for x in precisions]
    repeats = DRAWS // 4
    _, measured = measure_residuals(
        private,
        planned * repeats,
        ledger=engine.Ledger(sum((a.rho for a in planned), Fraction(0)) * repeats),
        rng=engine.rehearsal_noise(51),
    )
    exact = dense.decompose(private.marginal(tau).values, tau, tau)
    noise = []
    for k in range(0, len(measured), 3):
        belief = engine.Beliefs().combined(measured[k : k + 3])[tau]
        assert belief.precision == pytest.approx(2.6)
        noise.append((belief.values - exact).ravel())
    claimed = dense.covariance((3, 2)) / 2.6
    assert covariance_p_value(np.stack(noise), claimed) > ALPHA
    assert covariance_p_value(np.stack(noise), OFF**2 * claimed) < ALPHA
