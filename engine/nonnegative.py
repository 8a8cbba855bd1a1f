"""GReM-LNN: the likeliest residuals whose marginals have no negative cells (arXiv 2410.01091).

GReM's estimate minimises the sum over residuals of precision times squared distance from what was
measured. Here the same is minimised under "every workload marginal is non-negative", by dual
ascent: each cell has a price that rises while the cell is negative, and prices push the residuals.
Answers stay consistent with each other, as GReM's are, which completion and projection give up;
what was never measured stays zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from engine.domain import Domain, subsets
from engine.released import Belief, Beliefs
from engine.residuals import decompose, part_of
from engine.types import AttributeSet, FloatArray


def nonnegative(
    beliefs: Beliefs,
    domain: Domain,
    marginals: Iterable[AttributeSet],
    *,
    iterations: int = 500,
    tolerance: float = 1e-3,
) -> Beliefs:
    """Move the measured residuals as little as their noise allows until no cell is negative.

    Args:
        beliefs: What was measured; their precisions stay.
        domain: Of the attributes.
        marginals: Which are to be non-negative.
        iterations: Most steps of the accelerated dual ascent.
        tolerance: It stops once the negative cells of every marginal sum to no more than this
            share of the estimated total, and the log likelihood is this close to its optimum.

    Returns:
        Beliefs with the same precisions, to be answered by ``grem.estimate``. The total moves too.

    Source:
        Mullins et al. 2024; accelerated as by Nesterov, with one step size for each marginal.
    """
    wanted = [gamma for gamma in marginals if any(tau in beliefs for tau in subsets(gamma))]
    start = {tau: _table(belief.values, domain.shape(tau)) for tau, belief in beliefs.items()}
    holders = {tau: sum(set(tau) <= set(gamma) for gamma in wanted) for tau in start}
    steps = [_step(gamma, beliefs, domain, holders) for gamma in wanted]
    prices = [np.zeros(domain.shape(gamma)) for gamma in wanted]
    ahead, momentum = [p.copy() for p in prices], 1.0
    total = max(float(beliefs[()].values), 1.0) if () in beliefs else 1.0
    moved = start
    for _ in range(iterations):
        moved = _moved(start, beliefs, domain, wanted, ahead)
        worst, gap = 0.0, 0.0
        following = (1.0 + math.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        for k, gamma in enumerate(wanted):
            cells = _sum(moved, gamma, domain)
            worst = max(worst, -float(np.minimum(cells, 0.0).sum()))
            gap += float(np.abs(ahead[k] * cells).sum())
            new = np.maximum(ahead[k] - steps[k] * cells, 0.0)
            ahead[k] = new + (momentum - 1.0) / following * (new - prices[k])
            prices[k] = new
        momentum = following
        if worst <= tolerance * total and gap <= tolerance:
            break
    return Beliefs(
        {
            tau: Belief(decompose(table, tau, tau), beliefs[tau].precision)
            for tau, table in moved.items()
        }
    )


def _table(residual: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """A residual as a table over its own attributes, every axis of which sums to zero."""
    every = tuple(range(len(shape)))
    return part_of(np.asarray(residual), every, every, shape)


def _step(
    gamma: AttributeSet, beliefs: Beliefs, domain: Domain, holders: dict[AttributeSet, int]
) -> float:
    """One over a bound on how much a price of gamma moves gamma, all marginals moving at once."""
    curvature = [
        holders[tau] / beliefs[tau].precision * domain.cells(tau) / domain.cells(gamma)
        for tau in subsets(gamma)
        if tau in holders
    ]
    return 1.0 / max(curvature)


def _moved(
    start: dict[AttributeSet, FloatArray],
    beliefs: Beliefs,
    domain: Domain,
    wanted: list[AttributeSet],
    prices: list[FloatArray],
) -> dict[AttributeSet, FloatArray]:
    """Residuals pushed by prices: noise variance times the centered sum of what holds them."""
    push = {tau: np.zeros(table.shape) for tau, table in start.items()}
    for gamma, price in zip(wanted, prices, strict=True):
        if not price.any():
            continue
        for tau in subsets(gamma):
            if tau in push:
                others = tuple(k for k, i in enumerate(gamma) if i not in tau)
                spread = domain.cells(gamma) // domain.cells(tau)
                push[tau] += price.sum(axis=others) / spread
    return {
        tau: table + _centered(push[tau]) / beliefs[tau].precision for tau, table in start.items()
    }


def _sum(tables: dict[AttributeSet, FloatArray], gamma: AttributeSet, domain: Domain) -> FloatArray:
    cells = np.zeros(domain.shape(gamma))
    for tau in subsets(gamma):
        if tau in tables:
            shape = [domain.sizes[i] if i in tau else 1 for i in gamma]
            spread = domain.cells(gamma) // domain.cells(tau)
            cells += tables[tau].reshape(shape) / spread
    return cells


def _centered(table: FloatArray) -> FloatArray:
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
