"""Measuring with exact noise: on whole numbers, at the cost charged, with the precision claimed.

T4 (covariance), T7 (every released number lies on a public lattice) and the wrong ways to do it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import engine
from engine import axes, exact_draws, measure
from engine.exact_noise import ExactNoise
from engine.measure import centred, measure_error, measure_marginal, measure_residuals
from engine.noise import RandomSource
from engine.released import Allocation
from tests.reference import dense
from tests.statistical.p_values import covariance_p_value, zero_p_value
from tests.statistical.test_exact_law import EXACT_ALPHA
from tests.statistical.test_noise_law import case
from tests.strategies import subset_of, tables
from tests.support import make_domain

DRAWS = 2_000
Source = Callable[[], RandomSource]


@given(tables(), st.data())
def test_the_centred_marginal_is_whole_and_moves_by_prod_n_n_minus_1(
    table: engine.Table, data: st.DataObject
) -> None:
    domain = table.domain
    tau = data.draw(subset_of(tuple(range(len(domain)))))
    counts = engine.Private(table).marginal(tau).values
    found, shape = centred(counts), domain.shape(tau)
    matrix = np.ones((1, 1))
    for n in shape:
        matrix = np.kron(matrix, n * np.eye(n) - np.ones((n, n)))
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found.ravel(), (matrix @ counts.ravel()))
    moved = (matrix**2).sum(axis=0)
    assert (moved == math.prod(n * (n - 1) for n in shape)).all()
    # What is released of it without noise is the residual.
    if all(n > 1 for n in shape):
        residual = axes.sub_all(found.astype(float)) / math.prod(shape)
        np.testing.assert_allclose(residual, dense.decompose(counts, tau, tau), atol=1e-9)


def measured_often(
    shape: tuple[int, ...], precision: float, rng: RandomSource
) -> tuple[np.ndarray, np.ndarray]:
    """Noise of many measurements of one residual, and the covariance claimed."""
    private, tau = case(shape)
    rho = engine.privacy_cost(shape) * Fraction(precision) / 2
    _, measured = measure_residuals(
        private,
        [Allocation(tau, 0.0, precision, rho)] * DRAWS,
        ledger=engine.Ledger(rho * DRAWS),
        rng=rng,
    )
    exact = dense.decompose(private.marginal(tau).values, tau, tau)
    noise = np.stack([(m.values - exact).ravel() for m in measured])
    return noise, dense.covariance(shape) / precision


@pytest.mark.parametrize("shape", [(2,), (3,), (2, 2), (3, 4), (2, 3, 5)])
def test_an_exactly_measured_residual_has_covariance_sigma_squared_v(
    shape: tuple[int, ...],
) -> None:
    noise, claimed = measured_often(shape, 0.25, ExactNoise())
    assert covariance_p_value(noise, claimed) > EXACT_ALPHA
    # At least six of the statistic's standard deviations beyond the bar, for one number too.
    for off in (1.8, 1 / 1.8):
        assert covariance_p_value(noise, off * claimed) < EXACT_ALPHA
    white = np.linalg.solve(np.linalg.cholesky(claimed), noise.T)
    assert stats.chi2(white.shape[0]).sf(DRAWS * (white.mean(axis=1) ** 2).sum()) > EXACT_ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2,), (3,), (2, 2), (3, 4), (2, 3, 5), (10, 10)])
def test_a_covariance_a_few_percent_off_is_refused(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.test_exact_measure.DRAWS", 100_000)
    noise, claimed = measured_often(shape, 0.25, ExactNoise())
    assert covariance_p_value(noise, claimed) > EXACT_ALPHA
    # So far off that a chi² of this noncentrality passes with probability below 1e-15: 7 % for one
    # number, 2 % for 81, at this many draws.
    d = noise.shape[1]
    moved = 200 + 14 * math.sqrt(d * (d + 1))
    off = 1 + math.sqrt(2 * moved / (DRAWS * d))
    assert covariance_p_value(noise, off * claimed) < EXACT_ALPHA


def test_different_residuals_measured_exactly_are_independent() -> None:
    private, _ = case((3, 2))
    taus = [(), (0,), (1,), (0, 1)]
    plan = [
        Allocation(t, 0.0, 0.25, engine.privacy_cost(private.domain.shape(t)) / 8) for t in taus
    ]
    ledger = engine.Ledger(sum((a.rho for a in plan), Fraction(0)) * DRAWS)
    _, measured = measure_residuals(private, plan * DRAWS, ledger=ledger, rng=ExactNoise())
    white = []
    for k, tau in enumerate(taus):
        exact = dense.decompose(private.marginal(tau).values, tau, tau)
        noise = np.stack([(m.values - exact).ravel() for m in measured[k :: len(taus)]])
        covariance = dense.covariance(private.domain.shape(tau)) / 0.25
        white.append(np.linalg.solve(np.linalg.cholesky(covariance), noise.T).T)
    for k, one in enumerate(white):
        for other in white[k + 1 :]:
            assert zero_p_value(one, other) > EXACT_ALPHA


# -- the price of each way -------------------------------------------------------------------------


def gaussian_log(variance: float, reach: int = 60) -> np.ndarray:
    """Logarithms of the discrete Gaussian's probabilities on -reach .. reach."""
    log_weights = -(np.arange(-reach, reach + 1.0) ** 2) / (2 * variance)
    return log_weights - special.logsumexp(log_weights)


def difference_log(one: np.ndarray) -> np.ndarray:
    """The same for the difference of two independent numbers of a symmetric law."""
    reach = len(one) // 2
    pairs = one[:, None] + one[None, :]
    shifts = np.arange(len(one))[:, None] - np.arange(len(one))[None, :]
    return np.array([special.logsumexp(pairs[shifts == d]) for d in range(-reach, reach + 1)])


def cost(log_law: np.ndarray) -> float:
    """The least rho for which moving by 1 is rho-zCDP, over some orders."""
    p, q = log_law[1:], log_law[:-1]
    orders = (1.01, 1.2, 1.5, 2.0, 4.0)
    return max(float(special.logsumexp(a * p + (1 - a) * q)) / (a - 1) / a for a in orders)


@pytest.mark.parametrize(("variance", "excess"), [(0.25, 0.10), (0.5, 0.001)])
def test_decomposed_noisy_cells_cost_more_than_a_residual_is_charged(
    variance: float, excess: float
) -> None:
    """The shortcut that is not taken: whole noise on two cells, and their difference released."""
    charged = float(engine.privacy_cost((2,))) / (2 * variance)
    assert cost(difference_log(gaussian_log(variance))) > (1 + excess) * charged
    # The way that is taken: noise of variance 4 sigma² on (a - b, b - a), each moved by 1.
    assert 2 * cost(gaussian_log(4 * variance)) <= (1 + 1e-9) * charged


def test_a_shortcut_through_noisy_cells_is_refused_by_the_source() -> None:
    private, tau = case((2, 3))
    precision = 4.0
    rho = engine.privacy_cost((2, 3)) * Fraction(precision) / 2

    def shortcut(exact: np.ndarray, tau: tuple[int, ...], precision: float, rng: object) -> object:
        noisy = rng.noisy(exact, variance=1 / Fraction(precision), sensitivity=1)  # type: ignore[attr-defined]
        return engine.Measurement(tau, axes.sub_all(noisy.astype(float)), precision)

    allocation = [Allocation(tau, 0.0, precision, rho)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "_measure_exactly", shortcut)
        with pytest.raises(engine.BudgetError, match="Charge before drawing"):
            measure_residuals(private, allocation, ledger=engine.Ledger(rho), rng=ExactNoise())
    measure_residuals(private, allocation, ledger=engine.Ledger(rho), rng=ExactNoise())


def test_what_is_drawn_costs_exactly_what_is_charged() -> None:
    private, _ = case((3, 4, 1))
    rng = ExactNoise()
    ledger = engine.Ledger(Fraction(10))
    ledger, _ = measure_marginal(private, (0, 1, 2), rho=Fraction(1, 3), ledger=ledger, rng=rng)
    p = engine.privacy_cost((3, 4))
    plan = [Allocation((0, 1), 0.0, 0.3, p * Fraction(0.3) / 2)]
    ledger, _ = measure_residuals(private, plan, ledger=ledger, rng=rng)
    ledger, error = measure_error(private, 7, rho=Fraction(1, 7), ledger=ledger, rng=rng)
    assert error == int(error)
    assert rng._unspent == 0
    assert ledger.spent == Fraction(1, 3) + Fraction(1, 7) + plan[0].rho


def test_a_ledger_that_refuses_does_so_before_exact_noise_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    private, rng = case((3, 4))[0], ExactNoise()
    monkeypatch.setattr(exact_draws.os, "urandom", lambda _: pytest.fail("drawn"))
    with pytest.raises(engine.BudgetError):
        measure_marginal(
            private, (0,), rho=Fraction(1), ledger=engine.Ledger(Fraction(1, 2)), rng=rng
        )
    assert rng._unspent == 0


def test_a_residual_too_large_for_64_bits_is_refused_before_it_is_charged() -> None:
    domain = make_domain([6_000, 6_000])
    private = engine.Private(engine.Table.from_codes([[1, 2]], domain))
    ledger = engine.Ledger(Fraction(1))
    plan = [Allocation((0, 1), 0.0, 1e-3, Fraction(1, 10**4))]
    with pytest.raises(engine.WorkloadError) as caught:
        measure_residuals(private, plan, ledger=ledger, rng=ExactNoise())
    assert caught.value.code == "E_TOO_LARGE"


# -- T7: the lattice, and the attack on floating-point noise ---------------------------------------


def on_lattice(measured: tuple[engine.Measurement, ...], domain: engine.Domain) -> bool:
    """Whether each number is the nearest float to a whole number over prod n."""
    for m in measured:
        scale = math.prod(domain.shape(m.attrs))
        whole = np.rint(m.values * scale)
        if not np.array_equal(whole / scale, m.values):
            return False
    return True


@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(1), Fraction(40)], ids=str)
def test_every_released_number_times_prod_n_is_whole(rho: Fraction) -> None:
    domain = make_domain([3, 7, 5, 4])
    codes = np.random.default_rng(0).integers(0, [3, 7, 5, 4], size=(50, 4))
    private = engine.Private(engine.Table.from_codes(codes, domain))
    workload = engine.Workload.all_kway(domain, 3)
    for mechanism in (engine.ResidualPlanner(), engine.EqualSplit(), engine.FixedSequence()):
        for rng, whole in ((ExactNoise(), True), (engine.rehearsal_noise(0), False)):
            *_, (state, _) = engine.rounds(mechanism, private, workload, rho=rho, rng=rng)
            measured = [
                engine.Measurement(attrs, b.values, b.precision)
                for attrs, b in state.beliefs.items()
            ]
            if isinstance(mechanism, engine.ResidualPlanner):  # one measurement each
                assert on_lattice(tuple(measured), domain) == whole
            started, *rest = [
                e for _, e in engine.rounds(mechanism, private, workload, rho=rho, rng=rng)
            ]
            events = [started, *rest[:-1]]
            assert all(
                on_lattice(e.measurements, domain) == whole for e in events if e.measurements
            )


def rules_out(released: float, count: int) -> bool:
    """Whether no floating-point noise added to this count gives this number (Mironov 2012)."""
    noise = released - count
    near = (noise, math.nextafter(noise, math.inf), math.nextafter(noise, -math.inf))
    return all(count + x != released for x in near)


def given_away(source: Source, *, records: int, draws: int = 3_000) -> float:
    """Share of released totals that by themselves say that there is not one record more."""
    domain = make_domain([2])
    private = engine.Private(engine.Table.from_codes([[0]] * records, domain))
    rho, rng, found = Fraction(1, 2), source(), 0
    for _ in range(draws):
        _, [total] = measure_residuals(
            private, [Allocation((), 0.0, 1.0, rho)], ledger=engine.Ledger(rho), rng=rng
        )
        found += rules_out(float(total.values), records + 1)
    return found / draws


@pytest.mark.parametrize(("records", "share"), [(0, 0.3), (1, 0.1)])
def test_the_attack_on_floating_point_noise_wins_on_a_rehearsal_and_never_on_a_release(
    records: int, share: float
) -> None:
    assert given_away(lambda: engine.rehearsal_noise(3), records=records) > share
    assert given_away(ExactNoise, records=records) == 0.0
