"""Counting records that come in batches: memory for the counts and one batch, whatever there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from engine import counting
from engine.domain import Domain
from engine.errors import DataError
from engine.exact import Exact
from engine.layout import Layout
from engine.odometer import Odometer
from engine.sources.coded import CodedBatch, coded, columns_of, missing_columns
from engine.types import AttributeSet

BATCH_ROWS = 262_144
"""Records of a batch: their codes stay near the cache, and a call's cost is spread over many."""
MOST_CELLS = 200_000_000
"""Cells that are counted ahead in one pass; past it, each marginal asked for is a pass."""
Progress: TypeAlias = Callable[[int], object]


class BatchSource(Exact):
    """Records that are read again for each pass over them, counted as they come.

    A run asks for many marginals one after the other. So that not each of them is a pass, all that
    its workload needs is counted ahead in one (``foresee``), where the counts fit.

    Args:
        batches: Gives the batches of one pass, from the first record on, the same each time.
        domain: Declared attributes; each has a column of its name, or says of which it is made.
        missing: What else means "missing" in this source, besides the empty cell and null.
        count_column: Column that says how many persons a row stands for.
        progress: Called with the number of rows read so far in this pass.
        most_cells: Most cells that may be counted ahead.
    """

    def __init__(
        self,
        batches: Callable[[], Iterable[pa.RecordBatch]],
        domain: Domain,
        *,
        missing: Sequence[str] = (),
        count_column: str | None = None,
        progress: Progress | None = None,
        most_cells: int = MOST_CELLS,
    ) -> None:
        self._batches, self._domain = batches, domain
        self._missing, self._count_column = tuple(missing), count_column
        self._progress, self._most_cells = progress, most_cells
        self._records: int | None = None
        self._ahead: tuple[Layout, NDArray[Any]] | None = None
        self.odometer = Odometer()
        self.passes = 0

    @property
    def domain(self) -> Domain:
        """The declared domain."""
        return self._domain

    def records(self) -> int:
        """Return the number of persons: private. The first call is a pass."""
        if self._records is None:
            self._records = sum(batch.records() for batch in self._pass())
        return self._records

    def undeclared(self) -> dict[str, int]:
        """Return how many cells of each attribute were no declared value: private. A pass."""
        total = np.zeros(len(self._domain), np.int64)
        for batch in self._pass():
            total += batch.undeclared
        return dict(zip(self._domain.names, total.tolist(), strict=True))

    def foresee(self, sets: Sequence[AttributeSet]) -> None:
        """Count all of these in one pass and keep them, if their cells are not too many."""
        layout = Layout(self._domain.sizes, sets)
        if layout.total_cells > self._most_cells or self._holds(layout):
            return
        counts = np.empty(layout.total_cells, np.min_scalar_type(self.records()))
        self._count(layout, counts)
        self._ahead = layout, counts

    def count_into(self, layout: Layout, counts: NDArray[Any]) -> None:
        """Write the exact counts of every set of the layout where the layout says."""
        if self._ahead is not None and self._holds(layout):
            known, kept = self._ahead
            for k, attrs in enumerate(layout.sets):
                counts[layout.slice(k)] = kept[known.slice(known.index[attrs])]
            return
        self._count(layout, counts)

    def _holds(self, layout: Layout) -> bool:
        return self._ahead is not None and all(s in self._ahead[0].index for s in layout.sets)

    def _count(self, layout: Layout, counts: NDArray[Any]) -> None:
        counts[:] = 0
        for batch in self._pass():
            if batch.persons is not None:
                _add_weighted(layout, batch, counts)
            else:
                counting.add_counts(layout, batch.codes, counts)

    def _pass(self) -> Iterator[CodedBatch]:
        """Read everything once, batch by batch."""
        self.passes += 1
        wanted, rows = columns_of(self._domain, self._count_column), 0
        for batch in self._batches():
            missing_columns(wanted, batch.schema.names)
            for start in range(0, batch.num_rows, BATCH_ROWS):
                part = batch.slice(start, BATCH_ROWS)
                yield coded(
                    part,
                    self._domain,
                    before=rows,
                    missing=self._missing,
                    count_column=self._count_column,
                )
                rows += part.num_rows
            if self._progress is not None:
                self._progress(rows)


def _add_weighted(layout: Layout, batch: CodedBatch, counts: NDArray[Any]) -> None:
    """Add rows that stand for several persons each; whole numbers below 2^53 add up exactly."""
    assert batch.persons is not None
    if batch.persons.sum() >= 2**53:
        raise DataError(
            "The counts add up to more than 2^53 persons. Correct the column.", code="E_VALUE"
        )
    for k in range(len(layout)):
        real = layout.axis_attr[k] < len(layout.sizes)
        cells = np.zeros(batch.codes.shape[1], np.int64)
        for attribute, size in zip(
            layout.axis_attr[k, real].tolist(), layout.axis_size[k, real].tolist(), strict=True
        ):
            cells = cells * size + batch.codes[attribute]
        found = np.bincount(cells, weights=batch.persons, minlength=int(layout.cells[k]))
        counts[layout.slice(k)] += found.astype(counts.dtype)
