"""Weighted marginals, their closure and their weights as candidates."""

from __future__ import annotations

import time
import tracemalloc
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.domain import subsets
from tests.strategies import domains, subset_of


@given(domains(), st.data())
def test_the_closure_is_every_subset_of_a_workload_marginal(
    domain: engine.Domain, data: st.DataObject
) -> None:
    everything = tuple(range(len(domain)))
    sets = data.draw(st.lists(subset_of(everything), min_size=1, max_size=4))
    workload = engine.Workload(sets, domain)
    assert set(workload.closure) == {t for s in sets for t in subsets(s)}
    assert list(workload.closure) == sorted(workload.closure, key=lambda s: (len(s), s))
    assert set(workload.marginals) == set(sets)


@given(domains(), st.data())
def test_candidate_weights_are_the_summed_overlaps(
    domain: engine.Domain, data: st.DataObject
) -> None:
    everything = tuple(range(len(domain)))
    weights = data.draw(
        st.dictionaries(subset_of(everything), st.floats(0.01, 100), min_size=1, max_size=4)
    )
    workload = engine.Workload(weights, domain)
    expected = [
        sum(c * len(set(gamma) & set(s)) for s, c in weights.items()) for gamma in workload.closure
    ]
    np.testing.assert_allclose(workload.candidate_weights(), expected, rtol=1e-12)
    assert workload.candidate_weights()[0] == 0


@given(domains())
def test_all_kway_holds_every_set_of_that_degree(domain: engine.Domain) -> None:
    d = len(domain)
    for k in range(d + 1):
        workload = engine.Workload.all_kway(domain, k)
        assert workload.marginals == tuple(combinations(range(d), k))
        assert set(workload.weights.values()) == {1.0}
        explicit = engine.Workload(list(combinations(range(d), k)), domain)
        assert workload == explicit
        assert hash(workload) == hash(explicit)


def test_the_same_set_in_another_order_counts_once_with_the_weights_added(
    domain: engine.Domain,
) -> None:
    workload = engine.Workload({("sex", "age"): 2.0, ("age", "sex"): 0.5}, domain)
    assert dict(workload.weights) == {(0, 1): 2.5}


@pytest.mark.parametrize(
    "weight",
    [0, -1, 0.0, float("nan"), float("inf"), 1e300, 1e-300, "1", True, None, 1j, [1.0]],
)
def test_a_weight_that_is_no_positive_number_is_refused(domain: engine.Domain, weight: Any) -> None:
    with pytest.raises(engine.WorkloadError, match="needed") as caught:
        engine.Workload({("age",): weight}, domain)
    assert caught.value.code == "E_WEIGHT"
    assert repr(weight) in str(caught.value)


@pytest.mark.parametrize(
    ("sets", "named"),
    [
        ([], "no marginal"),
        ({}, "no marginal"),
        ([("age", "age")], "twice"),
        ([("age", 0)], "twice"),
        ([("nobody",)], "'nobody'"),
        ([("age",), ("land", "nobody")], "'nobody'"),
        (["age"], "'age'"),
        ("age", "'age'"),
        ([3], "3"),
        ([("age", None)], "None"),
        ([("age", 9)], "9"),
    ],
)
def test_sets_that_are_none_are_refused(domain: engine.Domain, sets: Any, named: str) -> None:
    with pytest.raises(engine.WorkloadError) as caught:
        engine.Workload(sets, domain)
    assert caught.value.code == "E_WORKLOAD"
    assert named in str(caught.value)


@pytest.mark.parametrize("sets", [None, 5])
def test_something_that_holds_no_sets_is_refused(domain: engine.Domain, sets: Any) -> None:
    with pytest.raises(engine.WorkloadError) as caught:
        engine.Workload(sets, domain)
    assert caught.value.code == "E_WORKLOAD"


@pytest.mark.parametrize("k", [-1, 5, 2.0, "2", True, None])
def test_a_degree_that_is_none_is_refused(domain: engine.Domain, k: Any) -> None:
    with pytest.raises(engine.WorkloadError, match="degree") as caught:
        engine.Workload.all_kway(domain, k)
    assert caught.value.code == "E_WORKLOAD"


def too_large() -> dict[str, Any]:
    """Workloads that no machine can hold, by what makes them so."""
    huge = engine.Domain.from_sizes({f"a{i}": 1_000 for i in range(4)})
    overflow = engine.Domain.from_sizes({f"a{i}": 100 for i in range(20)})
    wide = engine.Domain.from_sizes({f"a{i}": 2 for i in range(200)})
    ones = engine.Domain.from_sizes({f"a{i}": 1 for i in range(64)})
    return {
        "a marginal of 10^12 cells": (lambda: engine.Workload([range(4)], huge), "1,000,000,0"),
        "all 4-way of it": (lambda: engine.Workload.all_kway(huge, 4), "1,000,000,000,000"),
        "more cells than int64 counts": (
            lambda: engine.Workload([range(20)], overflow),
            "10,000,000,000,000,000,000,000,000,000,000,000,000,000",
        ),
        "all 20-way of it": (lambda: engine.Workload.all_kway(overflow, 20), "cells"),
        "100 attributes of all 200": (lambda: engine.Workload([range(100)], wide), "sets"),
        "all 4-way over 200 attributes": (lambda: engine.Workload.all_kway(wide, 4), "sets"),
        "64 one-valued attributes in a set": (
            lambda: engine.Workload([range(64)], ones),
            f"{2**64:,}",
        ),
        "all 64-way of them": (lambda: engine.Workload.all_kway(ones, 64), f"{2**64:,}"),
    }


@pytest.mark.parametrize("name", list(too_large()))
def test_what_cannot_be_held_is_refused_from_sizes_alone(name: str) -> None:
    make, named = too_large()[name]
    tracemalloc.start()
    began = time.perf_counter()
    try:
        with pytest.raises(engine.WorkloadError) as caught:
            make()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.code == "E_TOO_LARGE"
    assert named in str(caught.value)
    assert "can be held" in str(caught.value)
    # Far below one array of the cells, and one set an entry; refused at once.
    assert peak < 1 << 20
    assert time.perf_counter() - began < 2.0


def test_all_3way_over_200_attributes_is_held_or_refused_before_it_is_listed() -> None:
    # 1,333,501 sets: within the limit if their cells are, refused from sizes if not.
    coarse = engine.Domain.from_sizes({f"a{i}": 50 for i in range(200)})
    tracemalloc.start()
    try:
        with pytest.raises(engine.WorkloadError) as caught:
            engine.Workload.all_kway(coarse, 3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.code == "E_TOO_LARGE"
    assert "1,333,501 sets" in str(caught.value)
    assert peak < 1 << 20


def test_a_workload_of_six_one_valued_attributes_works() -> None:
    domain = engine.Domain.from_sizes({f"a{i}": 1 for i in range(6)})
    workload = engine.Workload([range(6)], domain)
    assert len(workload.closure) == 64
    assert workload.cells == 1


def test_a_representation_shows_public_figures_only(domain: engine.Domain) -> None:
    assert "2-way" in repr(engine.Workload.all_kway(domain, 2))
