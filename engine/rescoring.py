"""True errors of completed tables, for selection: private, refreshed only where a table changed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.completed import Completed
from engine.released import Beliefs
from engine.selection import Rescored
from engine.tables import Private
from engine.types import AttributeSet, FloatArray, IntArray
from engine.workload import Workload


class CompletedCandidates(Rescored):
    """Candidates with errors relative to completed tables, functions of the beliefs alone.

    Args: as for ``selection.Candidates``.
    """

    __slots__ = ("_counts", "_l1", "_rebuild_always", "_tables")

    def __init__(
        self,
        private: Private,
        workload: Workload,
        beliefs: Beliefs,
        *,
        rebuild_always: bool = False,
    ) -> None:
        super().__init__(workload, beliefs)
        self._counts, self._rebuild_always = private.counts(workload.layout), rebuild_always
        self._tables = Completed(workload.layout, beliefs)
        self._l1: FloatArray = np.zeros(len(workload.layout))
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
