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

from engine import threads
from engine.completing import ascent
from engine.domain import Domain, closure, subsets
from engine.grem import Reconstruction
from engine.layout import Layout
from engine.released import Belief, Beliefs
from engine.residuals import decompose_all
from engine.types import AttributeSet, FloatArray, IntArray

_PARALLEL_CELLS = 200_000
"""Cells below which a second thread costs more than it brings."""
_STEP_ROUNDS = 20
"""Enlarging the steps further gains nothing that shows."""


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
        beliefs: What was measured; their precisions stay. One of infinite precision does not move.
        domain: Of the attributes.
        marginals: Which are to be non-negative.
        iterations: Most steps of the accelerated dual ascent. Millions of cells with much below
            zero can take more than the default; then the last step's answer is returned.
        tolerance: It stops once the negative cells of every marginal sum to no more than this
            share of the estimated total, and the log likelihood is this close to its optimum,
            relative to what it lost (absolutely, if it lost less than 1).

    Returns:
        Beliefs with the same precisions, to be answered by ``grem.estimate``. The total moves too.

    Source:
        Mullins et al. 2024; accelerated as by Nesterov, with one step size for each marginal.
    """
    prices = Prices(beliefs, domain, _largest(beliefs, marginals))
    total = max(float(beliefs[()].values), 1.0) if () in beliefs else 1.0
    momentum = 1.0
    for step in range(iterations):
        if step:
            following = (1.0 + math.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
            prices.rise((momentum - 1.0) / following)
            momentum = following
        negative, gap, lost = prices.move()
        if negative <= tolerance * total and abs(gap) <= tolerance * max(lost, 1.0):
            break
    return prices.moved_beliefs()


def _largest(beliefs: Beliefs, marginals: Iterable[AttributeSet]) -> list[AttributeSet]:
    """The marginals within no other: where these are non-negative, so are all within them.

    Those within which nothing was measured are zero, and left out.
    """
    wanted = dict.fromkeys(marginals)
    within = {tau for gamma in wanted for tau in subsets(gamma) if tau != gamma}
    return [
        gamma
        for gamma in wanted
        if gamma not in within and any(tau in beliefs for tau in subsets(gamma))
    ]


class Prices:
    """A price for each cell, and the cells that follow from them.

    With a price p on the cells, residual tau moves by (1 / precision) times the centered sum over
    all marginals of p, spread evenly over a marginal's other attributes. The residual of a marginal
    itself moves with that marginal's prices alone, since no other holds it.

    Shapes:
        cells, ahead, _prices: (cells of all marginals,), as they lie in the layout.
        _at, _below: (marginals, 2^degree), for each subset of a marginal's axes where its sums
            lie, and which of the residuals below it is (see ``ascent``).
    """

    def __init__(self, beliefs: Beliefs, domain: Domain, marginals: list[AttributeSet]) -> None:
        self._beliefs = beliefs
        self.layout = Layout(domain.sizes, marginals)
        wanted = set(marginals)
        moving = [tau for tau in closure(marginals) if tau in beliefs and tau not in wanted]
        self._lower = Layout(domain.sizes, moving)
        self._at, self._below, size = _places(self.layout, self._lower)
        self._own: FloatArray = np.array(
            [1.0 / beliefs[g].precision if g in beliefs else 0.0 for g in marginals]
        )
        self.steps = self._safe_steps()
        raw = Reconstruction(self.layout)
        raw.rebuild(beliefs)
        self._base = raw.flat
        self.cells: FloatArray = np.zeros_like(self._base)
        self._prices: FloatArray = np.zeros_like(self._base)
        self.ahead: FloatArray = np.zeros_like(self._base)
        self._sums: FloatArray = np.zeros(size)
        self._parts = threads.parts(self.layout.cells, at_least=_PARALLEL_CELLS)

    def _safe_steps(self) -> FloatArray:
        """One step size for each marginal, such that the dual ascent cannot overshoot.

        It cannot if, for every residual, the sum over the marginals that hold it of step / spread
        is at most its precision. From any steps, enlarging each by the least slack of its
        residuals keeps to that.
        """
        every = [*self._lower.sets, *self.layout.sets]
        precision = np.array([self._beliefs.precision(tau) or math.inf for tau in every])
        below = self._below.copy()
        below[:, -1] = len(self._lower) + np.arange(len(self.layout))
        marginal, subset = np.nonzero(below >= 0)
        tau = below[marginal, subset]
        spread = (
            self.layout.cells[marginal]
            / np.concatenate([self._lower.cells, self.layout.cells])[tau]
        )
        steps: FloatArray = np.ones(len(self.layout))
        for _ in range(_STEP_ROUNDS):
            slack = precision / np.bincount(tau, steps[marginal] / spread)
            least = np.full(len(steps), math.inf)
            np.minimum.at(least, marginal, slack[tau])
            # What only certain residuals hold cannot move, at whatever price.
            steps *= np.where(np.isfinite(least), least, 1.0)
        return steps

    def move(self) -> tuple[float, float, float]:
        """Set the cells to what the prices looked ahead to make of them.

        Returns:
            The largest sum of negative cells of a marginal; the sum of prices times cells, which
            is how far the log likelihood can be from its optimum; what it lost so far.
        """
        layout, lower = self.layout, self._lower
        told: FloatArray = np.zeros((len(layout), 3))

        def add(first: int, last: int) -> None:
            ascent.subset_sums(
                self.ahead, layout.offsets, layout.axis_size, self._at, self._sums, first, last
            )

        def push(first: int, last: int) -> None:
            ascent.move(
                self._base, self.ahead, layout.offsets, layout.axis_size, self._at, self._sums,
                self._below, lower.offsets, moved, self._own, self.cells, told, first, last,
            )  # fmt: skip

        threads.in_threads(add, self._parts)
        moved: FloatArray = np.zeros(lower.total_cells)
        ascent.gather(self._sums, self._at, layout.cells, self._below, lower.offsets, moved)
        for k, tau in enumerate(lower.sets):
            view = lower.view(moved, k)
            view[...] = _centered(view) / self._beliefs[tau].precision
        threads.in_threads(push, self._parts)
        _, gap, lost = told.sum(axis=0).tolist()
        return float(told[:, 0].max(initial=0.0)), gap, lost / 2.0

    def rise(self, momentum: float) -> None:
        """Step up the slope of the dual: prices rise where cells are negative."""

        def up(first: int, last: int) -> None:
            ascent.rise(
                self._prices, self.ahead, self.cells, self.layout.offsets, self.steps,
                momentum, first, last,
            )  # fmt: skip

        threads.in_threads(up, self._parts)

    def moved_beliefs(self) -> Beliefs:
        """The residuals of the cells, with the precisions they had."""
        found: dict[AttributeSet, Belief] = {}
        for k, gamma in enumerate(self.layout.sets):
            for tau, values in decompose_all(self.layout.view(self.cells, k), gamma).items():
                if tau in self._beliefs and tau not in found:
                    found[tau] = Belief(values, self._beliefs[tau].precision)
        return Beliefs({tau: found.get(tau, belief) for tau, belief in self._beliefs.items()})


def _places(layout: Layout, lower: Layout) -> tuple[IntArray, IntArray, int]:
    """Where each marginal's sums over each subset lie, which set of ``lower`` that is, the end."""
    degree = layout.axis_attr.shape[1]
    at, below = np.full((2, len(layout), 1 << degree), -1, dtype=np.int64)
    end = 0
    for k, (axes, gamma) in enumerate(zip(layout.axis_attr.tolist(), layout.sets, strict=True)):
        bit = {i: 1 << axis for axis, i in enumerate(axes)}
        padding = (1 << (degree - len(gamma))) - 1
        for tau in subsets(gamma)[:-1]:
            mask = padding + sum(bit[i] for i in tau)
            at[k, mask], below[k, mask] = end, lower.index.get(tau, -1)
            end += math.prod(layout.sizes[i] for i in tau)
    return at, below, end


def _centered(table: FloatArray) -> FloatArray:
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
