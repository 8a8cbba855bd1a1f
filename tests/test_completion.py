"""Post-processing: nearest table without negative cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

import engine
from engine.completing.projection import projected
from tests.strategies import numbers
from tests.support import make_domain

cells = hnp.arrays(np.float64, st.integers(1, 12), elements=numbers)


def estimate(values: np.ndarray) -> engine.Estimate:
    """An estimate over one attribute with these cells."""
    return engine.Estimate(make_domain([len(values)]), (0,), np.asarray(values, float), 1.0)


@given(cells)
def test_both_give_non_negative_cells_with_the_estimated_total(values: np.ndarray) -> None:
    for complete in (engine.clip, engine.simplex):
        found = complete(estimate(values)).values
        assert (found >= 0).all()
        total = max(float(values.sum()), 0.0)
        assert found.sum() == pytest.approx(total, abs=1e-6 * (1 + np.abs(values).sum()))
        if values.sum() <= 0:
            assert not found.any()


@given(cells)
def test_the_simplex_projection_meets_its_optimality_conditions(values: np.ndarray) -> None:
    if values.sum() <= 1e-3:
        return
    found = engine.simplex(estimate(values)).values
    # values - found is one number where found > 0, and no more than it elsewhere.
    cut = values - found
    slack = 1e-7 * (1 + np.abs(values).max())
    assert np.ptp(cut[found > 0]) <= slack
    assert (cut[found == 0] <= cut[found > 0].max() + slack).all()


@given(cells)
def test_the_simplex_projection_is_found_by_root_finding_too(values: np.ndarray) -> None:
    total = float(values.sum())
    if total <= 1e-3:
        return
    cut = optimize.brentq(
        lambda t: np.maximum(values - t, 0).sum() - total,
        float(values.min()) - total,
        float(values.max()),
        xtol=1e-13,
    )
    expected = np.maximum(values - cut, 0)
    found = engine.simplex(estimate(values)).values
    np.testing.assert_allclose(found, expected, atol=1e-6 * (1 + np.abs(values).max()))


@given(cells)
def test_projecting_twice_is_projecting_once(values: np.ndarray) -> None:
    for complete in (engine.clip, engine.simplex):
        once = complete(estimate(values))
        twice = complete(once)
        np.testing.assert_allclose(twice.values, once.values, atol=1e-6)


def test_a_table_without_negative_cells_stays_as_it_is() -> None:
    values = np.array([0.0, 2.0, 5.5])
    for complete in (engine.clip, engine.simplex):
        np.testing.assert_allclose(complete(estimate(values)).values, values, rtol=1e-15)


def test_clip_keeps_proportions_and_simplex_differences() -> None:
    values = np.array([-2.0, 4.0, 8.0])
    np.testing.assert_allclose(engine.clip(estimate(values)).values, [0, 10 / 3, 20 / 3])
    np.testing.assert_allclose(engine.simplex(estimate(values)).values, [0, 3, 7])


def test_a_tiny_total_beside_huge_cells_is_no_crash() -> None:
    # No cell passes the cut in double precision: the largest gets what there is.
    found = engine.simplex(estimate(np.array([1e17, -1e17, 1.0]))).values
    assert (found >= 0).all()
    assert np.isfinite(found).all()


def test_the_simplex_projection_leaves_out_one_cell_at_a_time_to_the_end() -> None:
    # Each cell is below the mean of those above it: 150 passes, where 100 were once the most.
    values = np.concatenate([[1.0], -np.float_power(200.0, np.arange(-20, 110))])
    found = projected(values, 0.5)
    np.testing.assert_allclose(found, [0.5, *np.zeros(130)])


def test_a_completed_estimate_has_no_variance_and_says_what_was_done() -> None:
    before = estimate(np.array([-1.0, 3.0]))
    for complete, name in ((engine.clip, "clip"), (engine.simplex, "simplex")):
        after = complete(before)
        assert after.variance is None
        assert after.std is None
        assert after.completion == name
        assert after.attrs == before.attrs
        assert not after.values.flags.writeable
    assert before.variance == 1.0


def test_the_total_alone_is_completed_to_no_less_than_zero() -> None:
    domain = make_domain([2])
    for value in (-3.0, 0.0, 4.0):
        for complete in (engine.clip, engine.simplex):
            found = complete(engine.Estimate(domain, (), np.array(value), 1.0))
            assert float(found.values) == max(value, 0.0)
