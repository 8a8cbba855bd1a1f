"""True errors: private values with no way out."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import engine
from engine import grem
from engine.demonstrating import metrics
from tests.reference import dense
from tests.support import make_domain, random_case


@pytest.mark.parametrize("seed", range(20))
def test_error_measures_are_unweighted_means_and_maxima(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain, codes, workload = random_case(rng)
    table = engine.Table.from_codes(codes, domain)
    release = engine.run(engine.ResidualPlanner(), table, workload, rho=1, seed=seed).release
    found = engine.evaluate(release, table)
    l1, l2 = [], []
    for gamma in workload.marginals:
        exact = dense.counts(codes, domain.sizes, gamma)
        difference = grem.marginal(release.beliefs, domain, gamma) - exact
        l1.append(np.abs(difference).sum())
        l2.append(math.sqrt((difference**2).sum()))
        assert found.per_marginal[gamma].l1 == pytest.approx(l1[-1])
        assert found.per_marginal[gamma].l2 == pytest.approx(l2[-1])
    assert found.mean_l1 == pytest.approx(np.mean(l1))
    assert found.mean_l2 == pytest.approx(np.mean(l2))
    assert found.max_l1 == pytest.approx(np.max(l1))
    n = len(codes)
    normalised = (found.mean_l1_normalized, found.mean_l2_normalized, found.max_l1_normalized)
    for value, plain in zip(normalised, (found.mean_l1, found.mean_l2, found.max_l1), strict=True):
        assert value == pytest.approx(plain / n) if n else math.isnan(value)


def test_no_records_give_nan_for_the_normalised_errors() -> None:
    domain = make_domain([2, 2])
    table = engine.Table.from_codes([], domain)
    workload = engine.Workload.all_kway(domain, 2)
    found = engine.evaluate(
        engine.run(engine.AimGrem(completion="none"), table, workload, rho=1).release, table
    )
    assert math.isfinite(found.mean_l1)
    assert math.isnan(found.mean_l1_normalized)
    assert math.isnan(found.mean_l2_normalized)
    assert math.isnan(found.max_l1_normalized)


def test_a_comparison_is_the_released_less_the_exact(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    release = engine.run(engine.EqualSplit(), table, workload, rho=1, seed=0).release
    found = engine.compare(release.estimate("age", "sex"), table)
    exact = dense.counts(table.codes.T, table.domain.sizes, (0, 1))
    np.testing.assert_array_equal(found.exact, exact)
    np.testing.assert_allclose(found.difference, found.released - exact)
    assert found.std == release.estimate("age", "sex").std


def test_post_processing_is_applied_before_comparing(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    release = engine.run(engine.ResidualPlanner(), table, workload, rho=0.01, seed=0).release
    plain, projected = (
        engine.evaluate(release, table, postprocess=p) for p in (None, engine.simplex)
    )
    assert projected.mean_l2 < plain.mean_l2


def test_what_is_computed_from_the_records_is_neither_pickled_nor_copied(
    table: engine.Table,
) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    private, aim = engine.Private(table), engine.AimGrem(completion="none")
    state, _ = aim.start(private, workload, rho=Fraction(1), rng=engine.rehearsal_noise(0))
    release = aim.release(state)
    values = [
        engine.evaluate(release, private),
        engine.compare(release.estimate("age"), private),
        engine.insight(aim, state, private),
    ]
    inside = [values[0].per_marginal[(0, 1)], aim.scores(state, private)]
    for value in values + inside:
        for leave in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled"):
                leave(value)
    for value in values:
        text = repr(value)
        assert "not for release" in text
        assert "31" not in text
        assert "array" not in text
        for export in ("to_json", "to_dict", "to_frame", "to_csv", "save"):
            assert not hasattr(value, export)


def test_a_table_of_another_domain_is_refused(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    release = engine.run(engine.Uniform(), table, workload, rho=1, seed=0).release
    other = engine.Table.from_codes([[0]], make_domain([2]))
    with pytest.raises(engine.OptionError, match="different domains"):
        engine.evaluate(release, other)
    with pytest.raises(engine.OptionError, match="different domains"):
        engine.compare(release.estimate(), other)


def test_single_attributes_and_ranges_are_judged_by_the_sums_of_an_answer() -> None:
    rng = np.random.default_rng(1)
    exact, answer = rng.integers(0, 9, (3, 4, 2)).astype(float), rng.normal(4, 2, (3, 4, 2))
    found, off = metrics.distance(answer, exact), answer - exact
    ones = [np.abs(off.sum(axis=axes)).sum() for axes in ((1, 2), (0, 2), (0, 1))]
    assert found.one_way == pytest.approx(np.mean(ones))
    assert found.l1 == pytest.approx(np.abs(off).sum())
    assert found.l2 == pytest.approx(np.linalg.norm(off))
    # Every box is a range of values along each axis: their errors lie between these.
    every = [
        abs(off[a : b + 1, c : d + 1, e : f + 1].sum())
        for a in range(3) for b in range(a, 3)
        for c in range(4) for d in range(c, 4)
        for e in range(2) for f in range(e, 2)
    ]  # fmt: skip
    assert min(every) < found.ranges < max(every)
    moved = answer.copy()
    moved[0, 0, 0] += 1.0
    moved[0, 1, 0] -= 1.0
    assert metrics.distance(moved, answer).ranges < 1.0
    one = metrics.distance(answer[:, 0, 0], exact[:, 0, 0])
    assert one.one_way == pytest.approx(one.l1)
    total = metrics.distance(np.array(5.0), np.array(3.0))
    assert (total.l1, total.l2, total.one_way, total.ranges) == (2.0, 2.0, 2.0, 2.0)
