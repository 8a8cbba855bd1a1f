"""Counting records into marginals: one compiled loop, and the same with NumPy for small tables.

Marginals are described by arrays, as in ``kernels``. Counts are whole numbers: both give the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import threads
from engine.compiling import compiled_beside
from engine.layout import Layout
from engine.types import IntArray


def _count_with_numpy(
    codes: NDArray[Any],
    axis_attr: IntArray,
    axis_size: IntArray,
    offsets: IntArray,
    order: IntArray,
    counts: NDArray[Any],
    prefix: NDArray[Any],
    first: int,
    last: int,
) -> None:
    """``count_cells`` with one ``bincount`` a marginal; the prefix is not used."""
    for k in order[first:last].tolist():
        real = axis_attr[k] < codes.shape[0]
        sizes = tuple(axis_size[k, real].tolist())
        cell = np.zeros(codes.shape[1], dtype=np.int64)
        for attribute, size in zip(axis_attr[k, real].tolist(), sizes, strict=True):
            cell = cell * size + codes[attribute]
        cells = math.prod(sizes)
        counts[offsets[k] : offsets[k] + cells] += np.bincount(cell, minlength=cells).astype(
            counts.dtype
        )


@compiled_beside(_count_with_numpy, integers=True)
def count_cells(
    codes: NDArray[Any],
    axis_attr: IntArray,
    axis_size: IntArray,
    offsets: IntArray,
    order: IntArray,
    counts: NDArray[Any],
    prefix: NDArray[Any],
    first: int,
    last: int,
) -> None:
    """Add the counts of records to marginals ``order[first:last]``.

    ``prefix`` (one entry a record) holds the cell number over all axes but the last; sets that
    follow each other with the same leading attributes share it.
    """
    degree = axis_attr.shape[1]
    records = codes.shape[1]
    pad = codes.shape[0]
    previous = -1
    for position in range(first, last):
        k = order[position]
        fresh = previous < 0
        if not fresh:
            for axis in range(degree - 1):
                fresh = fresh or axis_attr[k, axis] != axis_attr[previous, axis]
        if fresh:
            for r in range(records):
                prefix[r] = 0
            for axis in range(degree - 1):
                attribute = axis_attr[k, axis]
                if attribute < pad:
                    size = axis_size[k, axis]
                    for r in range(records):
                        prefix[r] = prefix[r] * size + codes[attribute, r]
        previous = k
        start = offsets[k]
        attribute = axis_attr[k, degree - 1]
        if attribute == pad:  # the total
            counts[start] += records
            continue
        size = axis_size[k, degree - 1]
        for r in range(records):
            counts[start + prefix[r] * size + codes[attribute, r]] += 1


_PARALLEL_ROWS = 500_000
"""Records counted (rows times sets) below which a second thread costs more than it brings."""


def add_counts(layout: Layout, codes: NDArray[Any], counts: NDArray[Any]) -> None:
    """Add records to the counts of every set of the layout, on both cores where there are enough.

    Cell numbers are combined attribute by attribute, so sets that share their leading attributes
    in memory share that work.

    Shapes:
        codes: (attributes, records), each 0 .. size - 1.
        counts: (cells of the layout,), any integer type that holds them.
    """
    order: IntArray = np.lexsort(layout.axis_attr.T[::-1]).astype(np.int64)
    rows = codes.shape[1]
    cell = np.int32 if int(layout.cells.max(initial=0)) < 2**31 else np.int64

    def count(first: int, last: int) -> None:
        count_cells(
            codes,
            layout.axis_attr,
            layout.axis_size,
            layout.offsets,
            order,
            counts,
            np.empty(rows, dtype=cell),
            first,
            last,
        )

    threads.in_threads(
        count, threads.parts(np.full(len(order), max(rows, 1)), at_least=_PARALLEL_ROWS)
    )
