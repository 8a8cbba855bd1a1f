"""True errors of completed tables, for selection: private, refreshed only where a table changed."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from engine.completed import Completed
from engine.released import Beliefs
from engine.selection import EXPECTED_ABSOLUTE
from engine.tables import Private
from engine.types import AttributeSet, FloatArray, IntArray
from engine.workload import Workload


class CompletedCandidates:
    """Like ``selection.Candidates``, with errors relative to the completed tables.

    Private: it holds errors, and lives in the workspace of ``Private`` between steps. It can always
    be rebuilt from the beliefs. The completed tables themselves are functions of the beliefs alone.

    Shapes:
        l1: (K,), the L1 error of every set of the closure.
    """

    __slots__ = (
        "_counts",
        "_rebuild_always",
        "_tables",
        "beliefs",
        "expected_noise",
        "l1",
        "weights",
        "workload",
    )

    def __init__(
        self,
        private: Private,
        workload: Workload,
        beliefs: Beliefs,
        *,
        rebuild_always: bool = False,
    ) -> None:
        self.workload, self.beliefs = workload, beliefs
        self.weights = workload.candidate_weights()
        self.expected_noise = self.weights * (EXPECTED_ABSOLUTE * workload.layout.cells)
        self._counts, self._rebuild_always = private.counts(workload.layout), rebuild_always
        self._tables = Completed(workload.layout, beliefs)
        self.l1: FloatArray = np.zeros(len(workload.layout))
        self._score(np.arange(len(workload.layout)))

    def advance(self, beliefs: Beliefs, changes: Collection[AttributeSet]) -> IntArray:
        """Move to newer beliefs, given what changed; returns the positions of what was scored."""
        self.beliefs = beliefs
        if self._rebuild_always:
            self._tables = Completed(self.workload.layout, beliefs)
            touched = np.arange(len(self.workload.layout))
        else:
            touched = self._tables.advance(beliefs, changes)
        self._score(touched)
        return touched

    def _score(self, positions: IntArray) -> None:
        self._tables.l1_from(self._counts, positions, self.l1)
