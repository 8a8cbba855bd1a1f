"""Tables made to agree: exactly, the nearest ones, and without losing the total."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import engine
from engine.domain import subsets
from tests.reference import consistency as reference
from tests.reference import dense
from tests.strategies import domains, numbers
from tests.support import make_domain, random_codes

EXACT = 1e-9
"""Relative to the largest cell given: what rounding leaves of a disagreement."""


@st.composite
def families(draw: Any, *, values: int = 4) -> list[engine.Estimate]:
    """Tables of any numbers over some sets of a domain, of degree 0 to 4, repeats included."""
    domain = draw(domains(values=values))
    possible = subsets(tuple(range(len(domain))))
    chosen = draw(st.lists(st.sampled_from(possible), min_size=1, max_size=6))
    return [table(domain, attrs, draw) for attrs in chosen]


def table(domain: engine.Domain, attrs: tuple[int, ...], draw: Any) -> engine.Estimate:
    values = draw(hnp.arrays(np.float64, domain.shape(attrs), elements=numbers))
    return engine.Estimate(domain, attrs, values, None, (), "maxent")


def estimates(found: engine.Consistent) -> dict[tuple[int, ...], np.ndarray]:
    return {estimate.attrs: estimate.values for estimate in found.estimates()}


def scale(tables: list[engine.Estimate]) -> float:
    return max(1.0, *(float(np.abs(t.values).sum()) for t in tables))


def summed(values: np.ndarray, attrs: tuple[int, ...], to: tuple[int, ...]) -> np.ndarray:
    return np.asarray(values.sum(axis=tuple(k for k, i in enumerate(attrs) if i not in to)))


def random_family(
    seed: int, sizes: tuple[int, ...], degree: int, *, total: float = 1000.0
) -> list[engine.Estimate]:
    """Skewed tables without negative cells, of one total, that do not agree."""
    rng = np.random.default_rng(seed)
    domain, made = make_domain(sizes), []
    for attrs in combinations(range(len(sizes)), degree):
        cells = rng.exponential(size=domain.shape(attrs)) ** 4
        made.append(engine.Estimate(domain, attrs, cells * (total / cells.sum()), None))
    return made


# -- the projection ------------------------------------------------------------------------------


@given(families())
def test_every_marginal_that_two_tables_share_is_the_same_in_both(
    tables: list[engine.Estimate],
) -> None:
    found = engine.consistent(tables)
    answers = estimates(found)
    for (a, one), (b, other) in combinations(answers.items(), 2):
        shared = tuple(i for i in a if i in b)
        gap = summed(one, a, shared) - summed(other, b, shared)
        assert np.abs(gap).max(initial=0.0) <= EXACT * scale(tables)
        assert np.allclose(
            found.estimate(*shared).values, summed(one, a, shared), atol=EXACT * scale(tables)
        )


@given(families(values=3), st.data())
def test_the_answer_is_the_nearest_as_dense_least_squares_finds_it(
    tables: list[engine.Estimate], data: Any
) -> None:
    weights = {t.attrs: data.draw(st.floats(0.01, 100.0)) for t in tables}
    found = estimates(engine.consistent(tables, weights=weights))
    expected = reference.nearest(
        [(t.attrs, t.values) for t in tables], weights, tables[0].domain.sizes
    )
    for attrs, values in found.items():
        assert np.allclose(values, expected[attrs], atol=1e-8 * scale(tables))


@given(families())
def test_tables_that_agree_stay_as_they_are(tables: list[engine.Estimate]) -> None:
    once = list(engine.consistent(tables).estimates())
    for before, after in zip(once, engine.consistent(once).estimates(), strict=True):
        assert np.allclose(before.values, after.values, rtol=0, atol=EXACT * scale(tables))


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_a_total_that_all_tables_have_stays(degree: int) -> None:
    tables = random_family(degree, (3, 1, 4, 2, 5), degree)
    for nonnegative in (False, True):
        found = engine.consistent(tables, nonnegative=nonnegative)
        assert found.estimate().values == pytest.approx(1000.0, rel=1e-12)
        for estimate in found.estimates():
            assert estimate.values.sum() == pytest.approx(1000.0, rel=1e-9)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4])
def test_the_squared_error_over_all_tables_never_grows(degree: int) -> None:
    sizes = [3, 1, 4, 2]
    rng = np.random.default_rng(degree)
    exact = engine.Private(
        engine.Table.from_codes(random_codes(rng, sizes, rows=400), make_domain(sizes))
    )
    for seed in range(20):
        tables = random_family(seed, tuple(sizes), degree, total=200.0)
        before = sum(np.square(t.values - exact.marginal(t.attrs).values).sum() for t in tables)
        after = sum(
            np.square(t.values - exact.marginal(t.attrs).values).sum()
            for t in engine.consistent(tables).estimates()
        )
        assert after <= before * (1 + 1e-12)


def test_one_table_alone_stays_as_it_is() -> None:
    (one,) = random_family(0, (3, 4, 2), 3)
    (answer,) = engine.consistent([one]).estimates()
    assert np.allclose(answer.values, one.values, rtol=0, atol=1e-10)
    assert answer.completion == "consistent"


def test_two_tables_of_the_same_set_meet_in_the_middle() -> None:
    domain = make_domain([2])
    two = [engine.Estimate(domain, (0,), np.array(v), None) for v in ([1.0, 5.0], [3.0, 1.0])]
    (answer,) = engine.consistent(two).estimates()
    assert answer.values.tolist() == [2.0, 3.0]


# -- without negative cells ----------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_without_negative_cells_they_still_agree_and_hold_no_more_than_the_tolerance(
    degree: int,
) -> None:
    for seed in range(5):
        tables = random_family(seed, (3, 1, 4, 2, 5), degree)
        answer = engine.consistent(tables, nonnegative=True)
        found = estimates(answer)
        for (a, one), (b, other) in combinations(found.items(), 2):
            shared = tuple(i for i in a if i in b)
            assert np.allclose(summed(one, a, shared), summed(other, b, shared), atol=1e-6)
        for values in found.values():
            assert -np.minimum(values, 0.0).sum() <= answer.negative() <= 1e-3 * 1000.0 + 1e-9


def test_without_negative_cells_the_answer_is_that_of_a_convex_solver() -> None:
    sizes = (3, 2, 4)
    tables = random_family(3, sizes, 2)
    assert any((t.values < -1).any() for t in engine.consistent(tables).estimates())
    joint = cp.Variable(math.prod(sizes))
    seen = {t.attrs: dense.marginal_matrix(sizes, t.attrs) @ joint for t in tables}
    off = sum(cp.sum_squares(seen[t.attrs] - t.values.ravel()) for t in tables)
    limits = [cp.sum(joint) == 1000.0, *(cells >= 0 for cells in seen.values())]
    cp.Problem(cp.Minimize(off), limits).solve(solver=cp.CLARABEL)
    for estimate in engine.consistent(tables, nonnegative=True).estimates():
        assert np.allclose(estimate.values.ravel(), seen[estimate.attrs].value, atol=2.0)


def test_a_total_of_zero_or_less_gives_zeros() -> None:
    domain = make_domain([2, 3])
    tables = [engine.Estimate(domain, (k,), np.full(n, -1.0), None) for k, n in enumerate((2, 3))]
    for estimate in engine.consistent(tables, nonnegative=True).estimates():
        assert not estimate.values.any()


# -- a release -----------------------------------------------------------------------------------


def release_of(completion: str) -> engine.Release:
    sizes = [3, 4, 2, 3]
    domain = make_domain(sizes)
    codes = np.minimum(
        np.random.default_rng(0).geometric(0.5, size=(500, 4)) - 1, np.array(sizes) - 1
    )
    workload = engine.Workload({(0, 1, 2): 5.0, (1, 2, 3): 1.0, (0, 3): 2.0}, domain)
    mechanism = engine.AimGrem(completion=completion)
    run = engine.run(
        mechanism, engine.Table.from_codes(codes, domain), workload,
        epsilon=1.0, delta=1e-9, seed=1,
    )  # fmt: skip
    return run.release


def test_a_release_counts_its_tables_as_its_workload_does() -> None:
    release = release_of("maxent")
    found, said = engine.consistent(release), list(release.estimates())
    same = engine.consistent(said, weights=release.workload.weights)
    for one, other in zip(found.estimates(), same.estimates(), strict=True):
        assert np.array_equal(one.values, other.values)
    assert [e.attrs for e in found.estimates()] == list(release.workload.weights)
    for answer, before in zip(found.estimates(), said, strict=True):
        assert answer.completion == "maxent, consistent"
        assert answer.variance is None
        assert answer.unmeasured == before.unmeasured


def test_answers_of_grem_agree_already_and_stay() -> None:
    release = release_of("none")
    for answer, before in zip(
        engine.consistent(release).estimates(), release.estimates(), strict=True
    ):
        assert np.allclose(answer.values, before.values, atol=1e-9)


# -- mistakes ------------------------------------------------------------------------------------


def test_mistakes_are_refused_with_what_to_do() -> None:
    one, other = random_family(0, (2, 3), 1)
    broken = engine.Estimate(one.domain, (0,), np.array([1.0, np.nan]), None)
    elsewhere = engine.Estimate(make_domain([2]), (0,), np.ones(2), None)
    with pytest.raises(engine.WorkloadError, match="at least one"):
        engine.consistent([])
    with pytest.raises(engine.OptionError, match="estimates are needed"):
        engine.consistent([np.ones(2)])  # type: ignore[list-item]
    with pytest.raises(engine.DataError, match="not finite"):
        engine.consistent([broken])
    with pytest.raises(engine.DomainError, match="another domain"):
        engine.consistent([one, elsewhere])
    for weights in ({}, {(0,): 0.0}, {(0,): math.inf}, {(0,): math.nan}):
        with pytest.raises(engine.WorkloadError, match="positive number") as caught:
            engine.consistent([one], weights=weights)
        assert caught.value.code == "E_WEIGHT"
    with pytest.raises(engine.WorkloadError, match="none of the 2 tables"):
        engine.consistent([one, other]).estimate("a0", "a1")
