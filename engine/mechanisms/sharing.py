"""Share a budget by what every residual would take off the L1 error that is left.

A completed table multiplies what its levels say: an error of a residual tau, relative to the
predicted table over tau, is passed on to every table that holds tau. So relative variances add up
over the residuals within a marginal. A residual's own is 1 / (1/noise + 1/size): what noise hides
costs its own size (``sizes``), not the noise. A cell of a table much larger than the number of
records costs at most twice what it holds. The sum over cells of sqrt(2/pi) q sqrt(relative
variance) is what a plan would leave: the noise's own where noise is small, the distance of the
table from its model where noise hides all of it.

Cells are taken together in groups that hold about the same share of roots of counts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.completing.completed import Completed
from engine.completing.sizes import Sizes
from engine.domain import subsets
from engine.selection import EXPECTED_ABSOLUTE
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload

GROUPS = 16
SAMPLED_CELLS = 512
"""Most cells of a table that are looked at."""
STEPS = 60
TINY = 1e-6
"""Records in a cell that is predicted to hold none."""
NEGLIGIBLE = 1e-4
"""Shares of less than this, relative to an even share, are left out."""
MOST = 4.0 / EXPECTED_ABSOLUTE**2
"""Largest relative variance of a cell: twice what it holds is the most that can be lost on it."""


class Forecast:
    """The weighted L1 error that precisions would leave, after post-processing.

    Shapes (k residuals, m marginals, e pairs of a marginal and a residual within it):
        cost: (k,). _records: (m, GROUPS). _column: (e,). _noise: (e, GROUPS). _prior: (worlds, e,
        GROUPS).
    """

    def __init__(self, workload: Workload, tables: Completed, sizes: Sizes) -> None:
        sides = workload.domain.sizes
        at = {tau: j for j, tau in enumerate(sizes.taus)}
        self.cost = np.array(
            [math.prod((sides[i] - 1) / sides[i] for i in tau) for tau in sizes.taus]
        )
        self._weight = math.fsum(workload.weights.values())
        records, held, column, starts = [], [], [], [0]
        for gamma, weight in workload.weights.items():
            within = [tau for tau in subsets(gamma) if tau in at]
            table = tables.table(gamma) + TINY
            # Completed tables may add up to next to nothing where noise hides the total.
            table *= sizes.total / table.sum()
            own, means = _grouped(table, gamma, within)
            records.append(weight * own)
            held += means
            column += [at[tau] for tau in within]
            starts.append(len(column))
        self._records = np.array(records)
        self._starts = np.array(starts[:-1])
        self._row = np.repeat(np.arange(len(records)), np.diff(starts))
        self._column, cells = np.array(column), np.array(held)
        self._noise = self.cost[self._column, None] / cells**2
        structure, sampling = (s[:, self._column, None] for s in (sizes.structure, sizes.sampling))
        self._prior = structure + sampling / cells

    def error(self, precision: FloatArray) -> float:
        """Weighted mean L1 error over the workload, in records."""
        return self._error(precision)[0]

    def _error(self, precision: FloatArray) -> tuple[float, FloatArray]:
        known = precision[self._column][:, None] / self._noise
        error, worth = 0.0, np.zeros(len(precision))
        scale = EXPECTED_ABSOLUTE / self._weight / len(self._prior)
        for prior in self._prior:
            left = 1.0 / (known + 1.0 / prior)
            whole = np.add.reduceat(left, self._starts, axis=0)
            capped = whole / (1.0 + whole / MOST)
            error += scale * float((self._records * np.sqrt(capped)).sum())
            slope = 0.5 * scale * self._records / np.sqrt(capped) / (1.0 + whole / MOST) ** 2
            each = (slope[self._row] * left**2 / self._noise).sum(axis=1)
            worth += np.bincount(self._column, weights=each, minlength=len(precision))
        return error, worth

    def share(
        self,
        known: FloatArray,
        budget: float,
        among: NDArray[np.bool_] | None = None,
        steps: int = STEPS,
    ) -> FloatArray:
        """Precisions to add, of cost ``budget`` in all, that leave the least error.

        At the optimum, what a unit of budget is worth is the same wherever any is spent. Shares
        are multiplied by the root of that worth again and again.

        Args:
            known: Precision of every residual so far.
            budget: In units of cost x precision (twice rho).
            among: Which residuals may be measured; None: all.
            steps: How often; fewer are enough for what is only told.

        Shapes:
            known, among and the result: (k,), as the sizes' residuals.
        """
        allowed = np.ones(len(known), dtype=np.bool_) if among is None else among
        spent = np.where(allowed, budget / allowed.sum(), 0.0)
        for _ in range(steps):
            worth = self._error(known + spent / self.cost)[1] / self.cost
            spent = spent * np.sqrt(worth)
            spent *= budget / spent.sum()
        spent[spent < NEGLIGIBLE * budget / len(known)] = 0.0
        added: FloatArray = spent * (budget / spent.sum()) / self.cost
        return added


def _grouped(
    table: FloatArray, gamma: AttributeSet, within: list[AttributeSet]
) -> tuple[FloatArray, list[FloatArray]]:
    """Cells in groups of like counts: records of each, and what cells over each tau hold there.

    The latter is a geometric mean, each cell counted by its records. Of a large table some cells
    stand for all, the likelier the larger the root of their count.
    """
    cells = table.ravel()
    at = np.arange(cells.size)
    root = np.sqrt(cells)
    if cells.size > SAMPLED_CELLS:
        reach = np.cumsum(root)
        marks = (np.arange(SAMPLED_CELLS) + 0.5) / SAMPLED_CELLS * reach[-1]
        at = np.minimum(np.searchsorted(reach, marks), cells.size - 1)
    at = at[np.argsort(-cells[at], kind="stable")]
    held = cells[at]
    # A cell stands for as many as make equal shares of the roots.
    weight = held if cells.size <= SAMPLED_CELLS else np.sqrt(held) * (root.sum() / len(at))
    share = np.cumsum(weight / np.sqrt(held))
    cuts = np.searchsorted(share, np.arange(1, GROUPS) / GROUPS * share[-1])
    edges = np.unique(np.concatenate([[0], cuts]))
    edges = edges[edges < len(at)]
    records = np.add.reduceat(weight, edges)
    where = np.unravel_index(at, table.shape) if gamma else ()
    means = []
    for tau in within:
        axes = [k for k, i in enumerate(gamma) if i in tau]
        others = tuple(k for k in range(len(gamma)) if k not in axes)
        below = table.sum(axis=others)
        log = np.log(below[tuple(where[k] for k in axes)])
        means.append(_padded(np.exp(np.add.reduceat(weight * log, edges) / records), 1.0))
    return _padded(records, 0.0), means


def _padded(groups: FloatArray, value: float) -> FloatArray:
    """To ``GROUPS`` entries; a group without records adds nothing, whatever else stands there."""
    return np.concatenate([groups, np.full(GROUPS - len(groups), value)])
