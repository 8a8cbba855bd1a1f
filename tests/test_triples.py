"""The loop behind scores: its twin, what it may leave out, and how far that is from the end."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import compiling
from engine.completing import fitting, triples
from tests.reference.fitting import nearly_fitted
from tests.support import RELATIVE

ATTRIBUTES = (0, 1, 2)
OUTSIDE = 7
PAIRS = ((0, 1), (0, 2), (1, 2))


def distance(pairs: list[np.ndarray], ways: list[int], counts: np.ndarray) -> float:
    """What the loop sets for one triple over attributes 0, 1, 2."""
    flat = np.concatenate([pair.ravel() for pair in pairs])
    at, by = np.zeros((3, 3), dtype=np.int64), np.zeros((3, 3), dtype=np.int64)
    start = 0
    for pair, (i, j), way in zip(pairs, PAIRS, ways, strict=True):
        at[i, j], by[i, j] = start, way
        start += pair.size
    l1 = np.full(1, np.nan)
    triples.distances(
        flat, at, by, np.array([ATTRIBUTES]), np.array([counts.shape]),
        np.array([0, counts.size]), counts.ravel(), np.array([0]), l1, 0, 1,
    )  # fmt: skip
    return float(l1[0])


def random_pairs(rng: np.random.Generator, shape: tuple[int, ...]) -> list[np.ndarray]:
    """Pair tables of one total that contradict each other a little, with zeros."""
    truth = rng.exponential(size=shape) ** 2
    pairs = [truth.sum(2), truth.sum(1), truth.sum(0)]
    noisy = [p * rng.uniform(0.9, 1.1, p.shape) * (rng.random(p.shape) < 0.9) for p in pairs]
    return [1000.0 * p / max(p.sum(), 1e-300) for p in noisy]


@pytest.mark.parametrize("free", [0, np.inf], ids=["compiled", "interpreted"])
@given(seed=st.integers(0, 10_000))
def test_the_loop_is_its_twin(free: float, seed: int) -> None:
    with compiling.free_work(free):
        check_the_loop(seed)


def check_the_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Sizes grow towards the last axis, as in memory; every remainder of four rows.
    shape = tuple(int(n) for n in np.sort(rng.integers(1, 11, size=3)))
    pairs = random_pairs(rng, shape)
    counts = rng.integers(0, 9, size=shape).astype(np.uint16)
    choices = [triples.MEASURED, triples.PRODUCT, OUTSIDE]
    ways = [int(rng.choice([*choices, third])) for third in (2, 1, 0)]
    table = nearly_fitted(*pairs, ways)
    assert np.isfinite(table).all()
    found = distance(pairs, ways, counts)
    assert found == pytest.approx(np.abs(table - counts).sum(), rel=RELATIVE)


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 5), (4, 5, 6), (1, 3, 3)])
def test_consistent_pairs_are_fitted_within_the_stated_tolerance(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(sum(shape))
    truth = np.exp(0.5 * rng.normal(size=shape))
    truth *= 1000.0 / truth.sum()
    pairs = [truth.sum(2), truth.sum(1), truth.sum(0)]
    found = nearly_fitted(*pairs, [triples.MEASURED] * 3)
    assert np.abs(found - fitting.fit_three(*pairs)).sum() <= 3 * triples.TOLERANCE * 1000.0


@pytest.mark.parametrize("shared", ATTRIBUTES)
def test_a_pair_that_the_others_imply_needs_no_sweep(shared: int) -> None:
    rng = np.random.default_rng(shared)
    others = [i for i in ATTRIBUTES if i != shared]
    shape = (2, 3, 4)
    x = rng.dirichlet(np.ones(shape[shared]))
    tables = [rng.dirichlet(np.ones(shape[i]), size=len(x)) for i in others]
    truth = 1000.0 * np.einsum("x,xi,xj->xij", x, *tables)
    truth = truth.transpose(np.argsort([shared, *others]))
    pairs = [truth.sum(2), truth.sum(1), truth.sum(0)]
    ways = [triples.MEASURED] * 3
    ways[PAIRS.index((others[0], others[1]))] = shared
    assert distance(pairs, ways, truth) <= RELATIVE * 1000.0
    assert np.allclose(nearly_fitted(*pairs, ways), truth)


@pytest.mark.parametrize("measured", [None, 0, 1, 2])
def test_products_need_no_sweep(measured: int | None) -> None:
    rng = np.random.default_rng(0)
    a, b, c = (rng.dirichlet(np.ones(n)) for n in (2, 3, 4))
    truth = 1000.0 * np.einsum("i,j,k->ijk", a, b, c)
    ways = [triples.PRODUCT] * 3
    if measured is not None:
        ways[measured] = triples.MEASURED
    pairs = [truth.sum(2), truth.sum(1), truth.sum(0)]
    assert distance(pairs, ways, truth) <= RELATIVE * 1000.0


@pytest.mark.parametrize("ways", list(product([-2, -1, 7], repeat=3))[::4])
def test_a_total_of_nothing_is_nothing(ways: tuple[int, ...]) -> None:
    pairs = [np.zeros((2, 3)), np.zeros((2, 4)), np.zeros((3, 4))]
    assert distance(pairs, list(ways), np.ones((2, 3, 4))) == 24.0
