"""GReM-MLE against generalised least squares, and lazy updates against rebuilding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine import grem
from engine.domain import subsets
from engine.grem import Reconstruction
from tests.reference import dense
from tests.strategies import domains, measurements
from tests.support import RELATIVE, make_domain, relative_error

GLS = 1e-7
"""Least squares on the full table squares the condition number."""


@given(domains(attributes=3, values=4), st.data())
def test_the_estimate_is_the_generalised_least_squares_solution(
    domain: engine.Domain, data: st.DataObject
) -> None:
    taken = data.draw(measurements(domain))
    beliefs = engine.Beliefs().combined(taken)
    full = dense.maximum_likelihood([(m.attrs, m.values, m.precision) for m in taken], domain.sizes)
    for gamma in subsets(tuple(range(len(domain)))):
        found = grem.estimate(beliefs, domain, gamma).values
        expected = dense.project(full, gamma)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(found, expected, atol=GLS * scale)


@given(domains(), st.data())
def test_the_order_of_combining_does_not_matter(domain: engine.Domain, data: st.DataObject) -> None:
    taken = data.draw(measurements(domain))
    shuffled = data.draw(st.permutations(taken))
    one, other = engine.Beliefs().combined(taken), engine.Beliefs().combined(shuffled)
    assert set(one) == set(other)
    for tau in one:
        assert one[tau].precision == pytest.approx(other[tau].precision, rel=1e-12)
        np.testing.assert_allclose(one[tau].values, other[tau].values, atol=1e-9 * 1e3)


@given(domains(), st.data())
def test_a_belief_is_the_precision_weighted_mean_of_its_measurements(
    domain: engine.Domain, data: st.DataObject
) -> None:
    taken = data.draw(measurements(domain))
    beliefs = engine.Beliefs().combined(taken)
    for tau, belief in beliefs.items():
        mine = [m for m in taken if m.attrs == tau]
        precision = sum(m.precision for m in mine)
        mean = sum(m.values * m.precision for m in mine) / precision
        assert belief.precision == pytest.approx(precision, rel=1e-12)
        np.testing.assert_allclose(belief.values, mean, atol=1e-9 * 1e3)


@given(domains(), st.data())
def test_estimates_are_consistent_with_each_other(
    domain: engine.Domain, data: st.DataObject
) -> None:
    beliefs = engine.Beliefs().combined(data.draw(measurements(domain)))
    everything = tuple(range(len(domain)))
    whole = grem.estimate(beliefs, domain, everything).values
    for gamma in subsets(everything):
        found = grem.estimate(beliefs, domain, gamma).values
        np.testing.assert_allclose(dense.project(whole, gamma), found, atol=1e-6)


@given(domains(values=4), st.data())
def test_the_variance_of_an_estimate_is_its_dense_covariance_s_diagonal(
    domain: engine.Domain, data: st.DataObject
) -> None:
    beliefs = engine.Beliefs().combined(data.draw(measurements(domain)))
    gamma = tuple(range(len(domain)))[:3]
    estimate = grem.estimate(beliefs, domain, gamma)
    precisions = {t: b.precision for t, b in beliefs.items() if set(t) <= set(gamma)}
    expected = dense.cell_variance(precisions, gamma, domain.sizes)
    assert estimate.variance == pytest.approx(expected, rel=1e-9)
    real = {t for t in subsets(gamma) if all(domain.sizes[i] > 1 for i in t)}
    assert set(estimate.unmeasured) == real - set(beliefs)
    assert estimate.std == pytest.approx(np.sqrt(expected), rel=1e-9)


def test_nothing_measured_is_estimated_as_zero_with_everything_unmeasured() -> None:
    domain = make_domain([2, 1, 3])
    estimate = grem.estimate(engine.Beliefs(), domain, (0, 1, 2))
    assert not estimate.values.any()
    assert estimate.variance == 0.0
    # Residuals over the one-valued attribute are empty, and count as known.
    assert estimate.unmeasured == ((), (0,), (2,), (0, 2))


@given(domains(), st.data())
def test_lazy_updates_equal_a_rebuild_and_touch_what_contains_a_measured_residual(
    domain: engine.Domain, data: st.DataObject
) -> None:
    workload = engine.Workload.all_kway(domain, len(domain))
    layout = workload.layout
    lazy, beliefs = Reconstruction(layout), engine.Beliefs()
    for _ in range(data.draw(st.integers(1, 4))):
        taken = data.draw(measurements(domain))
        after = beliefs.combined(taken)
        changes = after.changes_since(beliefs, [m.attrs for m in taken])
        touched = [layout.sets[int(k)] for k in lazy.update(changes)]
        expected = [g for g in layout.sets if any(set(t) <= set(g) for t in changes)]
        assert touched == expected
        beliefs = after
    for gamma in layout.sets:
        rebuilt = grem.marginal(beliefs, domain, gamma)
        np.testing.assert_allclose(lazy.view(gamma), rebuilt, atol=1e-6, rtol=1e-9)


@pytest.mark.parametrize("sizes", [[2, 3, 4], [1, 2, 1, 3], [5, 5, 5, 5], [97, 41, 2]])
def test_lazy_equals_full_in_relative_norm_after_many_updates(sizes: list[int]) -> None:
    rng = np.random.default_rng(len(sizes))
    domain = make_domain(sizes)
    layout = engine.Workload.all_kway(domain, len(sizes)).layout
    taus = [t for t in layout.sets if all(sizes[i] > 1 for i in t)]
    lazy, beliefs = Reconstruction(layout), engine.Beliefs()
    for _ in range(400):
        tau = taus[int(rng.integers(len(taus)))]
        values = rng.normal(size=[sizes[i] - 1 for i in tau]) * 100 + 50
        after = beliefs.combined([engine.Measurement(tau, values, float(rng.uniform(0.1, 9)))])
        lazy.update(after.changes_since(beliefs, [tau]))
        beliefs = after
    full = Reconstruction(layout)
    full.rebuild(beliefs)
    for gamma in layout.sets:
        rebuilt = grem.marginal(beliefs, domain, gamma)
        assert relative_error(lazy.view(gamma), rebuilt) <= RELATIVE
        assert relative_error(full.view(gamma), rebuilt) <= RELATIVE


def test_changes_of_several_residuals_at_once_equal_one_by_one() -> None:
    rng = np.random.default_rng(0)
    domain = make_domain([2, 3, 4, 2])
    layout = engine.Workload.all_kway(domain, 3).layout
    shape = {t: [domain.sizes[i] - 1 for i in t] for t in layout.sets}
    changes = {t: rng.normal(size=shape[t]) for t in [(), (1,), (0, 2), (1, 2, 3)]}
    together, apart = Reconstruction(layout), Reconstruction(layout)
    together.update(changes)
    for tau, change in changes.items():
        apart.update({tau: change})
    for gamma in layout.sets:
        np.testing.assert_allclose(together.view(gamma), apart.view(gamma), atol=1e-10)


def test_no_change_touches_nothing() -> None:
    layout = engine.Workload.all_kway(make_domain([2, 2]), 2).layout
    assert len(Reconstruction(layout).update({})) == 0


def test_released_arrays_cannot_be_written() -> None:
    domain = make_domain([3])
    measurement = engine.Measurement((0,), np.array([1.0, 2.0]), 1.0)
    beliefs = engine.Beliefs().combined([measurement])
    estimate = grem.estimate(beliefs, domain, (0,))
    for values in (measurement.values, beliefs[(0,)].values, estimate.values):
        assert values.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0.0


@pytest.mark.parametrize("precision", [0.0, -1.0, float("nan"), float("inf")])
def test_a_measurement_without_a_positive_precision_is_refused(precision: float) -> None:
    with pytest.raises(engine.DomainError) as caught:
        engine.Measurement((0,), np.array([1.0]), precision)
    assert caught.value.code == "E_SHAPE"


def test_shapes_that_do_not_fit_are_refused() -> None:
    domain = make_domain([3])
    with pytest.raises(engine.DomainError):
        engine.Measurement((0,), np.zeros((1, 1)), 1.0)
    with pytest.raises(engine.DomainError):
        engine.Estimate(domain, (0,), np.zeros(2), None)
    with pytest.raises(engine.DomainError):
        engine.Belief(np.zeros(2), 1.0).combine(engine.Belief(np.zeros(3), 1.0))


def test_equal_measurements_stay_exactly_equal() -> None:
    belief = engine.Belief(np.array([0.1, 1 / 3]), 0.7)
    combined = belief
    for _ in range(50):
        combined = combined.combine(belief)
    np.testing.assert_array_equal(combined.values, belief.values)


def test_a_frame_of_an_estimate_has_one_row_a_cell_in_domain_order() -> None:
    domain = engine.Domain(
        (engine.Attribute("x", values=("u", "v")), engine.Attribute("count", values=("p", "q")))
    )
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    frame = engine.Estimate(domain, (0, 1), values, 4.0).to_frame()
    assert frame["x"].tolist() == ["u", "u", "v", "v"]
    assert frame["count"].tolist() == ["p", "q", "p", "q"]
    assert frame["count_"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert frame["std"].tolist() == [2.0] * 4
    total = engine.Estimate(domain, (), np.array(5.0), None).to_frame()
    assert total["count"].tolist() == [5.0]
    assert "std" not in total
