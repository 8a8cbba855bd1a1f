"""True errors of completed tables, for selection: private, refreshed only where a table changed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.completing.completed import Completed
from engine.released import Beliefs
from engine.selection import Rescored
from engine.types import AttributeSet, FloatArray, IntArray


class CompletedCandidates(Rescored):
    """Candidates with errors relative to completed tables, functions of the beliefs alone."""

    __slots__ = ("_l1", "_tables")

    def _begin(self) -> None:
        self._tables = Completed(self.workload.layout, self.beliefs)
        self._l1: FloatArray = np.zeros(len(self.workload.layout))
        self._tables.l1_from(self._counts, np.arange(len(self._l1)), self._l1)

    @property
    def l1(self) -> FloatArray:
        """True L1 error of every set of the closure, shape (K,)."""
        return self._l1

    def _refresh(self, beliefs: Beliefs, changes: Mapping[AttributeSet, FloatArray]) -> IntArray:
        if self._rebuild_always:
            self._tables = Completed(self.workload.layout, beliefs)
            touched = np.arange(len(self._l1))
        else:
            touched = self._tables.advance(beliefs, changes)
        self._tables.l1_from(self._counts, touched, self._l1)
        return touched
