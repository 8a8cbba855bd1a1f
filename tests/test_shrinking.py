"""The compiled loops over cells against their plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.completing import shrinking
from engine.completing.projection import projected
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
    found = projected(table, total)
    assert found.sum() == pytest.approx(total, rel=RELATIVE)
    assert (found >= 0).all()
    assert relative_error(found, twin.projected(table, total)) <= 1e-6


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


@pytest.mark.parametrize("shape", [(2, 2), (6, 9), (2, 3, 4), (41, 97), (1, 5)], ids=str)
@pytest.mark.parametrize("predicted", ["spiky", "even", "zero", "one cell"])
def test_evidence_and_what_is_shrunk_are_those_of_the_twins(
    shape: tuple[int, ...], predicted: str
) -> None:
    rng = np.random.default_rng(sum(shape))
    table = {
        "spiky": rng.gamma(0.2, 100.0, shape),
        "even": np.full(shape, 7.0),
        "zero": np.zeros(shape),
        "one cell": np.eye(np.prod(shape), 1).reshape(shape) * 50.0,
    }[predicted]
    noisy = shrinking.centered(rng.normal(size=shape) * 30.0)
    powers, relatives = np.array([0.0, 0.5, 1.0]), np.exp(np.linspace(-9, 6, 13))
    freedom = int(np.prod([n - 1 for n in shape]))
    gain, ratio, group = shrinking.evidence(
        noisy, table, variance=40.0, freedom=freedom, powers=powers, relatives=relatives
    )
    plain, of_cells = twin.evidence(noisy, table, 40.0, freedom, powers, relatives)
    np.testing.assert_allclose(gain, plain, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ratio[:, group], of_cells, rtol=1e-9)
    prior = rng.dirichlet(np.ones(39)).reshape(3, 13)
    options = {"relatives": relatives, "times": 4}
    found = shrinking.shrunk(noisy, gain, ratio, group, prior=prior, **options)  # type: ignore[arg-type]
    expected = twin.shrunk(noisy, plain + np.log(prior), of_cells, **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)
