"""GReM-LNN: optimal among non-negative answers, and consistent."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import engine
from engine import grem
from engine.domain import subsets
from engine.nonnegative import nonnegative
from engine.released import Beliefs
from tests.support import make_domain


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
