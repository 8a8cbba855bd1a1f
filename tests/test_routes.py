"""Unmeasured pairs: the compiled loop against matrix products, in every memory order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.completing import routes
from engine.completing.completed import Completed
from engine.domain import subsets
from engine.layout import Layout
from engine.released import Belief, Beliefs
from tests.reference import routes as twin
from tests.support import RELATIVE


@given(st.integers(0, 10_000))
def test_routes_are_those_of_the_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 8))
    information = np.triu(rng.random((d, d)) * (rng.random((d, d)) < 0.4), 1)
    information += information.T
    assert np.array_equal(routes.strongest(information), twin.strongest(information))


@pytest.mark.parametrize(
    "sizes", [(3, 2, 4), (2, 3, 4), (4, 3, 2), (3, 4, 2), (2, 2, 2), (1, 3, 2)]
)
@pytest.mark.parametrize("scale", [1.0, 0.0])
def test_pairs_by_way_of_each_attribute_are_those_of_the_twin(
    sizes: tuple[int, ...], scale: float
) -> None:
    rng = np.random.default_rng(sum(sizes))
    known = Beliefs({(): Belief(np.array(90.0), 1e30)})  # the total: 90, and no less
    tables = Completed(Layout(sizes, subsets((0, 1, 2))), known)
    tables._flat[:] = scale * rng.exponential(size=tables._flat.size)
    for i, n in enumerate(sizes):
        tables._ones[i][...] = 90.0 * rng.dirichlet(np.ones(n))
    for a, x, c in ((0, 1, 2), (0, 2, 1), (1, 0, 2)):
        expected = twin.by_way(tables._pair(a, x).copy(), tables._pair(x, c).copy(), 90.0)
        if expected is None:
            expected = np.outer(tables._ones[a], tables._ones[c]) / 90.0
        before = tables._pair(a, c).copy()
        tables._through[a, c] = x
        tables._complete(np.array([[a, c]]))
        assert np.allclose(tables._pair(a, c), expected, rtol=RELATIVE, atol=0)
        tables._pair(a, c)[...] = before
