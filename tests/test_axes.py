"""The four in-axis operations against their matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from engine import axes
from tests.reference import dense
from tests.strategies import marginals, numbers

ROUNDING = 1e-9
"""Sums of at most 625 numbers up to 1e3 in double precision."""


def along(matrix: np.ndarray, array: np.ndarray, axis: int) -> np.ndarray:
    """Apply a matrix along one axis."""
    return np.moveaxis(np.tensordot(matrix, array, axes=(1, axis)), 0, axis)


@given(marginals(), st.data())
def test_each_operation_along_an_axis_is_its_matrix(mu: np.ndarray, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, mu.ndim - 1))
    n = mu.shape[axis]
    for operation, matrix in (
        (axes.sum, dense.sum_matrix(n)),
        (axes.sub, dense.sub_matrix(n)),
        (axes.center, dense.center_matrix(n + 1)),
    ):
        found = operation(mu, axis)
        np.testing.assert_allclose(found, along(matrix, mu, axis), atol=ROUNDING)
    total = axes.sum(mu, axis)
    expected = along(dense.smear_matrix(4), total, axis)
    np.testing.assert_allclose(axes.smear(total, axis, 4), expected, atol=ROUNDING)


@given(marginals(), st.data())
def test_sub_undoes_center_and_sum_undoes_smear(mu: np.ndarray, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, mu.ndim - 1))
    np.testing.assert_allclose(axes.sub(axes.center(mu, axis), axis), mu, atol=ROUNDING)
    total = axes.sum(mu, axis)
    np.testing.assert_allclose(axes.sum(axes.smear(total, axis, 5), axis), total, atol=ROUNDING)


@given(marginals(), st.data())
def test_smear_of_the_sum_plus_center_of_the_differences_is_the_identity(
    mu: np.ndarray, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(0, mu.ndim - 1))
    level = axes.smear(axes.sum(mu, axis), axis, mu.shape[axis])
    shape = axes.center(axes.sub(mu, axis), axis)
    np.testing.assert_allclose(level + shape, mu, atol=ROUNDING)


@given(hnp.arrays(np.float64, st.integers(1, 6), elements=numbers))
def test_a_centred_axis_sums_to_zero(values: np.ndarray) -> None:
    assert abs(axes.center(values, 0).sum()) <= ROUNDING


def test_the_center_of_an_empty_axis_is_one_zero_slice() -> None:
    for shape in ((0,), (0, 3), (2, 0)):
        array = np.zeros(shape)
        axis = shape.index(0)
        centred = axes.center(array, axis)
        assert centred.shape == tuple(1 if n == 0 else n for n in shape)
        assert not centred.any()


def test_smear_is_a_view_that_cannot_be_written() -> None:
    spread = axes.smear(np.array([6.0]), 0, 3)
    with pytest.raises(ValueError, match="read-only"):
        spread[0] = 1.0


def test_operations_leave_their_argument_alone() -> None:
    mu = np.arange(6.0).reshape(2, 3)
    kept = mu.copy()
    for operation in (axes.sum, axes.sub, axes.center):
        operation(mu, 1)
    axes.smear(mu[:1], 0, 2)
    np.testing.assert_array_equal(mu, kept)
