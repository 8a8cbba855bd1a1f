"""Decomposition and reconstruction: inverse of each other, and the Kronecker matrices."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.domain import subsets
from engine.residuals import decompose_all
from tests.reference import dense
from tests.strategies import marginals, sizes, subset_of
from tests.support import RELATIVE, relative_error

ROUNDING = 1e-9
"""Sums of at most 625 numbers up to 1e3 in double precision."""


@given(marginals(), st.data())
def test_decompose_and_reconstruct_are_the_kronecker_matrices(
    mu: np.ndarray, data: st.DataObject
) -> None:
    gamma = tuple(range(mu.ndim))
    tau = data.draw(subset_of(gamma))
    residual = engine.decompose(mu, gamma, tau)
    np.testing.assert_allclose(residual, dense.decompose(mu, gamma, tau), atol=ROUNDING)
    part = engine.reconstruct(residual, tau, gamma, mu.shape)
    expected = dense.reconstruct(residual, tau, gamma, mu.shape)
    np.testing.assert_allclose(part, expected, atol=ROUNDING)


@given(marginals(), st.data())
def test_decompose_after_reconstruct_is_the_identity_and_other_residuals_read_zero(
    mu: np.ndarray, data: st.DataObject
) -> None:
    gamma = tuple(range(mu.ndim))
    tau, other = data.draw(subset_of(gamma)), data.draw(subset_of(gamma))
    residual = engine.decompose(mu, gamma, tau)
    part = engine.reconstruct(residual, tau, gamma, mu.shape)
    read = engine.decompose(part, gamma, other)
    expected = residual if other == tau else np.zeros_like(read)
    np.testing.assert_allclose(read, expected, atol=ROUNDING)


@given(marginals())
def test_the_parts_of_all_residuals_add_up_to_the_marginal(mu: np.ndarray) -> None:
    gamma = tuple(range(mu.ndim))
    parts = [
        engine.reconstruct(engine.decompose(mu, gamma, tau), tau, gamma, mu.shape)
        for tau in subsets(gamma)
    ]
    np.testing.assert_allclose(np.sum(parts, axis=0), mu, atol=ROUNDING)


@given(marginals(), st.data())
def test_a_larger_marginal_has_the_same_residuals_as_its_sub_marginal(
    mu: np.ndarray, data: st.DataObject
) -> None:
    gamma = tuple(range(mu.ndim))
    between = data.draw(subset_of(gamma))
    tau = data.draw(subset_of(between))
    smaller = dense.project(mu, between)
    np.testing.assert_allclose(
        engine.decompose(smaller, between, tau), engine.decompose(mu, gamma, tau), atol=ROUNDING
    )


@given(marginals(), st.data())
def test_a_reconstructed_marginal_sums_to_its_reconstructed_sub_marginals(
    mu: np.ndarray, data: st.DataObject
) -> None:
    gamma = tuple(range(mu.ndim))
    tau, below = data.draw(subset_of(gamma)), data.draw(subset_of(gamma))
    residual = engine.decompose(mu, gamma, tau)
    summed = dense.project(engine.reconstruct(residual, tau, gamma, mu.shape), below)
    expected = np.zeros_like(summed)
    if set(tau) <= set(below):
        shape = [mu.shape[i] for i in below]
        expected = engine.reconstruct(residual, tau, below, shape)
    np.testing.assert_allclose(summed, expected, atol=ROUNDING)


@pytest.mark.parametrize("degree", range(6))
def test_the_inverse_holds_for_degrees_0_to_5_with_sizes_1_and_2_among_them(degree: int) -> None:
    rng = np.random.default_rng(degree)
    for _ in range(20):
        shape = tuple(int(n) for n in rng.integers(1, 5, size=degree))
        mu = rng.normal(size=shape) * 1e4
        gamma = tuple(range(degree))
        total = sum(
            engine.reconstruct(engine.decompose(mu, gamma, tau), tau, gamma, shape)
            for tau in subsets(gamma)
        )
        assert relative_error(total, mu) <= RELATIVE


@given(marginals())
def test_all_residuals_at_once_are_the_residuals_one_by_one(mu: np.ndarray) -> None:
    gamma = tuple(range(mu.ndim))
    together = decompose_all(mu, gamma)
    assert tuple(together) == subsets(gamma)
    for tau, residual in together.items():
        np.testing.assert_allclose(residual, engine.decompose(mu, gamma, tau), atol=ROUNDING)


@given(sizes())
def test_the_isotropic_marginal_costs_what_its_residuals_cost(gamma_sizes: list[int]) -> None:
    gamma = tuple(range(len(gamma_sizes)))
    total = sum(
        engine.privacy_cost([gamma_sizes[i] for i in tau])
        / math.prod(gamma_sizes[j] for j in gamma if j not in tau)
        for tau in subsets(gamma)
    )
    assert total == 1


@given(sizes(values=4, attributes=3))
def test_privacy_cost_is_the_most_a_record_can_move_the_whitened_residual(
    tau_sizes: list[int],
) -> None:
    # Exact algebra: max over records of Δᵀ V⁻¹ Δ, with V⁻¹ = ⊗ (I - 11ᵀ/n).
    tau = tuple(range(len(tau_sizes)))
    moves = []
    for cell in np.ndindex(*tau_sizes):
        record = np.zeros(tau_sizes)
        record[cell] = 1
        delta = dense.decompose(record, tau, tau)
        for k, n in enumerate(tau_sizes):
            inverse = np.eye(n - 1) - 1.0 / n
            delta = np.moveaxis(np.tensordot(inverse, delta, axes=(1, k)), 0, k)
        moves.append(float((delta * dense.decompose(record, tau, tau)).sum()))
    assert max(moves) == pytest.approx(float(engine.privacy_cost(tau_sizes)), abs=1e-12)
    assert min(moves) == pytest.approx(max(moves), abs=1e-12)


@given(sizes(values=4, attributes=3), st.data())
def test_cell_variance_is_each_diagonal_entry_of_the_reconstructed_covariance(
    gamma_sizes: list[int], data: st.DataObject
) -> None:
    gamma = tuple(range(len(gamma_sizes)))
    tau = data.draw(subset_of(gamma))
    found = engine.cell_variance(
        [gamma_sizes[i] for i in tau], [gamma_sizes[j] for j in gamma if j not in tau]
    )
    expected = dense.cell_variance({tau: 1.0}, gamma, gamma_sizes)
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_residual_over_a_one_valued_attribute_is_empty_and_free() -> None:
    assert engine.decompose(np.ones((3, 1)), (0, 1), (0, 1)).shape == (2, 0)
    assert engine.privacy_cost((3, 1)) == Fraction(0)
    assert engine.cell_variance((1,), (5,)) == 0.0
    assert not engine.reconstruct(np.zeros((2, 0)), (0, 1), (0, 1), (3, 1)).any()


def test_the_residual_of_the_total_is_the_total_and_not_the_same_memory() -> None:
    total = np.array(7.0)
    residual = engine.decompose(total, (), ())
    assert residual == 7.0
    assert not np.shares_memory(residual, total)
    assert engine.reconstruct(7.0, (), (), ()) == 7.0


@pytest.mark.parametrize(
    ("shape", "gamma", "tau"),
    [((2, 3), (0, 1), (2,)), ((2, 3), (0,), (0,)), ((2, 3), (0, 0), (0,)), ((2, 3), (0, 1), (1, 0)),
     ((2, 0), (0, 1), (0,)), ((2,), (0,), (0, 0))],
)  # fmt: skip
def test_a_residual_that_is_none_is_refused(
    shape: tuple[int, ...], gamma: tuple[int, ...], tau: tuple[int, ...]
) -> None:
    with pytest.raises(engine.DomainError) as caught:
        engine.decompose(np.zeros(shape), gamma, tau)
    assert caught.value.code == "E_SHAPE"


@pytest.mark.parametrize(
    ("shape", "tau", "gamma", "gamma_sizes"),
    [((2,), (0,), (0,), (2,)), ((1,), (0,), (0,), (2, 2)), ((1,), (1,), (0,), (2,)),
     ((), (), (0,), (0,)), ((1, 1), (0,), (0,), (2,))],
)  # fmt: skip
def test_a_shape_that_does_not_fit_is_refused(
    shape: tuple[int, ...], tau: tuple[int, ...], gamma: tuple[int, ...], gamma_sizes: tuple
) -> None:
    with pytest.raises(engine.DomainError) as caught:
        engine.reconstruct(np.zeros(shape), tau, gamma, gamma_sizes)
    assert caught.value.code == "E_SHAPE"
