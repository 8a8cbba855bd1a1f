"""The compiled loops over cells against their plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import shrinking
from tests.reference import shrinking as twin
from tests.support import RELATIVE, relative_error

SHAPES = [(1,), (7,), (1, 1), (3, 1), (1, 4), (6, 9), (2, 3, 4), (5, 1, 3), (2, 2, 3, 2), (41, 97)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_centering_is_that_of_the_twins(shape: tuple[int, ...], order: str) -> None:
    rng = np.random.default_rng(sum(shape))
    table = np.asarray(rng.normal(size=shape) * 100.0, order=order)  # type: ignore[call-overload]
    weight = rng.random(shape) * (rng.random(shape) < 0.8)
    kept = table.copy()
    scale = np.linalg.norm(table)
    off = shrinking.centered(table) - twin.centered(table)
    assert np.linalg.norm(off) <= RELATIVE * scale
    off = shrinking.centered_by(table, weight, 4) - twin.centered_by(table, weight, 4)
    assert np.linalg.norm(off) <= RELATIVE * scale
    assert np.array_equal(table, kept)


@given(st.integers(0, 10_000))
def test_projection_is_that_of_the_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 9, size=rng.integers(1, 4)))
    table = rng.normal(size=shape) * rng.exponential(10.0)
    total = float(rng.exponential(20.0))
    found = shrinking.projected(table, total)
    assert found.sum() == pytest.approx(total, rel=RELATIVE)
    assert (found >= 0).all()
    assert relative_error(found, twin.projected(table, total)) <= 1e-6


def test_groups_add_up_their_cells() -> None:
    rng = np.random.default_rng(0)
    group, noisy, size = rng.integers(0, 4, 60), rng.normal(size=(6, 10)), rng.random(60)
    energy, number, sizes = shrinking.grouped(group, 5, noisy, size)
    assert np.allclose(energy, np.bincount(group, noisy.ravel() ** 2, minlength=5))
    assert np.array_equal(number, np.bincount(group, minlength=5))
    assert np.allclose(sizes, np.bincount(group, size, minlength=5))


@given(st.integers(0, 10_000))
def test_raking_is_that_of_the_twin_and_meets_the_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 8, size=2))
    truth = rng.exponential(10.0, shape) * (rng.random(shape) < 0.7)
    rows, columns = truth.sum(axis=1), truth.sum(axis=0)
    start = truth * rng.exponential(1.0, shape)
    found = shrinking.raked(start, rows, columns)
    assert (found >= 0).all()
    # The columns come last: exact. The rows as far as 50 rakings bring them.
    assert np.allclose(found.sum(axis=0), columns, rtol=1e-9, atol=1e-9)
    off = np.abs(found.sum(axis=1) - rows).sum()
    assert off <= 0.05 * rows.sum()
    if off <= 1e-9 * rows.sum():
        assert relative_error(found, twin.raked(start, rows, columns, 50)) <= 1e-6


def test_raking_fills_a_row_that_was_empty_and_must_not_be() -> None:
    found = shrinking.raked(
        np.array([[0.0, 0.0], [5.0, 5.0]]), np.array([4.0, 6.0]), np.array([3.0, 7.0])
    )
    assert found.sum(axis=1) == pytest.approx([4.0, 6.0], rel=1e-6)
    assert found.sum(axis=0) == pytest.approx([3.0, 7.0], rel=1e-9)


def test_gains_and_what_is_kept_are_those_of_the_twins() -> None:
    rng = np.random.default_rng(0)
    ratio, relatives = rng.exponential(1.0, (3, 20)), np.exp(np.linspace(-9, 9, 13))
    energy, cells = rng.exponential(5.0, 20), rng.integers(1, 9, 20).astype(float)
    expected = twin.gains(ratio, relatives, energy, cells)
    assert np.allclose(shrinking.gains(ratio, relatives, energy, cells), expected, rtol=1e-9)
    weights = rng.dirichlet(np.ones(39)).reshape(3, 13)
    expected = twin.kept_of(ratio, relatives, weights)
    assert np.allclose(shrinking.kept_of(ratio, relatives, weights), expected, rtol=1e-9)
