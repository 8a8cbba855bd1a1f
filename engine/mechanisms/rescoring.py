"""True errors of completed tables, for selection: private, refreshed only where a table changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from engine.completing.completed import Completed
from engine.completing.totals import LOWERED, UNBIASED, Total
from engine.released import Beliefs
from engine.selection import Rescored, rounding_of_sums
from engine.types import AttributeSet, FloatArray, IntArray


class CompletedCandidates(Rescored):
    """Candidates with errors relative to completed tables, functions of the beliefs alone."""

    __slots__ = ("_l1", "_most_cells", "_tables")
    total: ClassVar[Total] = UNBIASED

    def _begin(self) -> None:
        self._most_cells = int(self.workload.layout.cells.max())
        self._tables = Completed(self.workload.layout, self.beliefs, self.total)
        self._l1: FloatArray = np.zeros(len(self.workload.layout))
        self._compare(np.arange(len(self._l1)))

    @property
    def l1(self) -> FloatArray:
        """True L1 error of every set of the closure, shape (K,)."""
        return self._l1

    @property
    def most_l1(self) -> float:
        """What errors are cut off at: twice the most two tables with the estimated total have."""
        total = self.beliefs.get(())
        std = 0.0 if total is None else total.precision**-0.5
        return 4.0 * (self._tables.total + 8.0 * std + 1.0)

    @property
    def l1_rounding(self) -> float:
        """Most that products of factors, differences from counts and their sum are rounded by."""
        return rounding_of_sums(self._most_cells, self.most_l1, self._tables.total)

    def _compare(self, touched: IntArray) -> None:
        self._tables.l1_from(self._counts, touched, self._l1)
        self._l1[touched] = np.minimum(self._l1[touched], self.most_l1)

    def _refresh(self, beliefs: Beliefs, changes: Mapping[AttributeSet, FloatArray]) -> IntArray:
        if self._rebuild_always:
            self._tables = Completed(self.workload.layout, beliefs, self.total)
            touched = np.arange(len(self._l1))
        else:
            touched = self._tables.advance(beliefs, changes)
        self._compare(touched)
        return touched


class LoweredCandidates(CompletedCandidates):
    """The same with a lowered total: a class of its own, so that neither is lent for the other."""

    __slots__ = ()
    total = LOWERED
