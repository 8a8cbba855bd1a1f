"""GReM-LNN: optimal among non-negative answers, and consistent."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine import grem
from engine.completing.nonnegative import Prices, nonnegative
from engine.domain import subsets
from engine.released import Belief, Beliefs
from tests.reference import nonnegative as reference
from tests.strategies import domains
from tests.support import RELATIVE, make_domain, relative_error


def noisy_beliefs(seed: int, sizes: tuple[int, ...], noise: float) -> Beliefs:
    """Every residual of a sparse table, measured with noise."""
    rng = np.random.default_rng(seed)
    gamma = tuple(range(len(sizes)))
    truth = rng.poisson(3.0 * rng.exponential(size=sizes) ** 3).astype(float)
    measured = []
    for tau in subsets(gamma):
        table = truth.sum(axis=tuple(k for k in gamma if k not in tau))
        z = engine.decompose(table + rng.normal(0, noise, table.shape), tau, tau)
        measured.append(engine.Measurement(tau, z, 1 / noise**2))
    return Beliefs().combined(measured)


def test_what_is_not_negative_stays_as_it_was() -> None:
    beliefs = Beliefs().combined([engine.Measurement((), np.array(40.0), 1.0)])
    found = nonnegative(beliefs, make_domain((2, 3)), [(0, 1)])
    assert found[()].values == pytest.approx(40.0)


def test_the_answer_is_that_of_a_convex_solver() -> None:
    sizes = (2, 3)
    domain, beliefs = make_domain(sizes), noisy_beliefs(1, sizes, 4.0)
    found = nonnegative(beliefs, domain, [(0, 1)], iterations=20000, tolerance=1e-9)
    answer = grem.marginal(found, domain, (0, 1))
    # On one marginal: minimise over non-negative tables, residual by residual in its own metric.
    table = cp.Variable(sizes, nonneg=True)
    loss = 0.0
    for tau in subsets((0, 1)):
        n = [sizes[i] for i in tau]
        mean = [np.eye(k) - np.full((k, k), 1 / k) for k in sizes]
        sums = [mean[i] if i in tau else np.ones((1, sizes[i])) for i in range(2)]
        target = engine.reconstruct(beliefs[tau].values, tau, tau, n)
        seen = sums[0] @ table @ sums[1].T
        loss += beliefs[tau].precision * cp.sum_squares(
            seen - np.asarray(target).reshape(seen.shape)
        )
    cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    assert np.allclose(answer, table.value, atol=1e-3)


def test_answers_are_nearly_without_negative_cells_and_consistent() -> None:
    sizes = (3, 2, 4)
    domain, beliefs = make_domain(sizes), noisy_beliefs(2, sizes, 5.0)
    pairs = [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    found = nonnegative(beliefs, domain, pairs, iterations=5000, tolerance=1e-4)
    whole = grem.marginal(found, domain, (0, 1, 2))
    raw = grem.marginal(beliefs, domain, (0, 1, 2))
    assert -np.minimum(raw, 0).sum() > 1.0
    assert -np.minimum(whole, 0).sum() <= 1e-4 * max(float(beliefs[()].values), 1.0) + 1e-9
    assert np.allclose(whole.sum(2), grem.marginal(found, domain, (0, 1)))


# -- the compiled loops --------------------------------------------------------------------------


@st.composite
def priced(draw: Any) -> tuple[engine.Domain, Beliefs, Prices]:
    """Some residuals measured, some marginals of mixed degree, and a price for each cell."""
    domain = draw(domains(values=4))
    possible = subsets(tuple(range(len(domain))))
    measured = draw(st.lists(st.sampled_from(possible), min_size=1, unique=True))
    wanted = draw(st.lists(st.sampled_from(possible), min_size=1, unique=True))
    wanted = [g for g in wanted if not any(set(g) < set(other) for other in wanted)]
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    beliefs = Beliefs(
        {
            tau: Belief(rng.normal(size=[domain.sizes[i] - 1 for i in tau]), rng.exponential())
            for tau in measured
        }
    )
    prices = Prices(beliefs, domain, wanted)
    prices.ahead[:] = rng.exponential(size=len(prices.ahead))
    return domain, beliefs, prices


@given(priced())
def test_prices_move_the_cells_as_plain_numpy_says(
    case: tuple[engine.Domain, Beliefs, Prices],
) -> None:
    domain, beliefs, prices = case
    layout = prices.layout
    expected = reference.moved_cells(
        {tau: (np.asarray(b.values), b.precision) for tau, b in beliefs.items()},
        {gamma: layout.view(prices.ahead, k) for k, gamma in enumerate(layout.sets)},
        domain.sizes,
    )
    negative, gap, lost = prices.move()
    for k, gamma in enumerate(layout.sets):
        assert relative_error(layout.view(prices.cells, k), expected[gamma]) <= RELATIVE
    assert negative == pytest.approx(
        max(-float(np.minimum(cells, 0).sum()) for cells in expected.values())
    )
    assert gap == pytest.approx(float(prices.ahead @ prices.cells), rel=1e-9, abs=1e-9)
    start = Prices(beliefs, domain, list(layout.sets))
    start.move()
    assert lost == pytest.approx(
        float(prices.ahead @ (prices.cells - start.cells)) / 2, rel=1e-9, abs=1e-9
    )


@given(priced())
def test_no_step_overshoots(
    case: tuple[engine.Domain, Beliefs, Prices],
) -> None:
    domain, beliefs, _ = case
    prices = Prices(beliefs, domain, list(case[2].layout.sets))
    prices.move()
    still = prices.cells.copy()
    moves = []
    for cell in range(len(still)):
        prices.ahead[:] = 0.0
        prices.ahead[cell] = 1.0
        prices.move()
        moves.append(prices.cells - still)
    root = np.sqrt(np.repeat(prices.steps, prices.layout.cells))
    curvature = np.linalg.eigvalsh(root[:, None] * np.array(moves) * root)
    assert curvature.max() <= 1 + 1e-9


def test_what_is_certain_does_not_move_at_all() -> None:
    sizes = (3, 4)
    beliefs = noisy_beliefs(4, sizes, 6.0)
    certain = Beliefs({**beliefs, (): Belief(np.array(50.0), np.inf)})
    found = nonnegative(certain, make_domain(sizes), [(0, 1)], tolerance=1e-6, iterations=5000)
    assert found[()].values == pytest.approx(50.0, rel=1e-12)
    assert found[()].precision == np.inf
    assert -np.minimum(grem.marginal(found, make_domain(sizes), (0, 1)), 0).sum() <= 1e-4


def test_a_marginal_within_another_needs_no_prices_of_its_own() -> None:
    sizes = (3, 4)
    domain, beliefs = make_domain(sizes), noisy_beliefs(5, sizes, 6.0)
    alone = nonnegative(beliefs, domain, [(0, 1)])
    both = nonnegative(beliefs, domain, [(0,), (0, 1), (0, 1), ()])
    for tau, belief in alone.items():
        assert np.array_equal(belief.values, both[tau].values)


def test_where_nothing_was_measured_nothing_moves() -> None:
    beliefs = noisy_beliefs(6, (3,), 2.0)
    away = Beliefs({(0,): beliefs[(0,)]})
    found = nonnegative(away, make_domain((3, 2)), [(1,)])
    assert np.array_equal(found[(0,)].values, beliefs[(0,)].values)
