"""Small random domains, tables and residual problems for Hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import engine
from engine.domain import subsets
from tests.support import make_domain


def sizes(*, attributes: int = 4, values: int = 5, least: int = 1) -> st.SearchStrategy[list[int]]:
    """Sizes of 1 to 4 attributes of 1 to 5 values."""
    return st.lists(st.integers(least, values), min_size=1, max_size=attributes)


def domains(**limits: int) -> st.SearchStrategy[engine.Domain]:
    """Domains of coded attributes."""
    return sizes(**limits).map(make_domain)


@st.composite
def tables(draw: Any, *, rows: int = 40, **limits: int) -> engine.Table:
    """Tables of 0 to 40 rows."""
    domain = draw(domains(**limits))
    n = draw(st.integers(0, rows))
    columns = [
        draw(hnp.arrays(np.int64, n, elements=st.integers(0, size - 1))) for size in domain.sizes
    ]
    return engine.Table.from_codes(np.stack(columns, axis=1), domain)


numbers = st.floats(-1e3, 1e3, allow_nan=False, width=32)
"""Values of noisy residuals: single-precision inputs keep shrinking readable."""


@st.composite
def marginals(draw: Any, *, attributes: int = 4, values: int = 5) -> np.ndarray:
    """A marginal of real numbers over gamma = (0, 1, ...)."""
    shape = tuple(draw(sizes(attributes=attributes, values=values)))
    return draw(hnp.arrays(np.float64, shape, elements=numbers))


@st.composite
def measurements(draw: Any, domain: engine.Domain, *, most: int = 8) -> list[engine.Measurement]:
    """Noisy residuals of a domain, some of them of the same residual."""
    d = len(domain)
    possible = [t for t in subsets(tuple(range(d))) if all(domain.sizes[i] > 1 for i in t)]
    taus = draw(st.lists(st.sampled_from(possible), min_size=1, max_size=most))
    return [
        engine.Measurement(
            tau,
            draw(hnp.arrays(np.float64, tuple(domain.sizes[i] - 1 for i in tau), elements=numbers)),
            draw(st.floats(1e-3, 1e3)),
        )
        for tau in taus
    ]


@st.composite
def subset_of(draw: Any, attrs: tuple[int, ...]) -> tuple[int, ...]:
    """A subset of an attribute set, in order."""
    return tuple(i for i in attrs if draw(st.booleans()))
