"""The loops over all cells, compiled (numba): counting, and adding small tables to many marginals.

NumPy needs a call for each marginal, which for ten thousands of small ones is most of the time;
here one call serves them all, without the interpreter lock, so two threads can share the work.
Every function has a plain NumPy twin in ``tests/reference``.

Marginals are described by arrays (see ``layout``): ``axis_attr`` and ``axis_size`` hold one row for
each marginal, its attributes and sizes in memory order, padded in front with size 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from engine.types import FloatArray, IntArray

F = TypeVar("F", bound=Callable[..., Any])
_THREADS = min(2, os.cpu_count() or 1)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="engine")


if hasattr(os, "register_at_fork"):
    # A forked child has none of the parent's threads, and must not wait for them.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _compiled(function: F) -> F:
    # Sums may be reassociated (that is what makes them fast); nothing else is relaxed.
    options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "nsz"}}
    try:
        return cast("F", numba.njit(cache=True, **options)(function))
    except RuntimeError:  # nowhere to keep the compiled code: compile in each process
        return cast("F", numba.njit(**options)(function))


@_compiled
def add_tables(
    flat: FloatArray,
    offsets: IntArray,
    axis_attr: IntArray,
    axis_size: IntArray,
    code: IntArray,
    tables: FloatArray,
    table_at: IntArray,
    table_cells: IntArray,
    stride: IntArray,
    l1: FloatArray,
    first: int,
    last: int,
) -> None:
    """Add to each marginal first .. last - 1 its table, spread evenly over its other attributes.

    Marginal k gets table ``code[k]``, which starts at ``table_at`` of it in ``tables`` (negative:
    none) and has ``stride[code, attribute]`` along each attribute (0: none). ``l1[k]`` becomes the
    sum of absolute values of the result, in the same pass.
    """
    degree = axis_attr.shape[1]
    index = np.zeros(degree, dtype=np.int64)
    for k in range(first, last):
        c = code[k]
        position = table_at[c]
        if position < 0:
            continue
        cell, end = offsets[k], offsets[k + 1]
        scale = table_cells[c] / (end - cell)
        inner = axis_size[k, degree - 1]
        step = stride[c, axis_attr[k, degree - 1]]
        index[:] = 0
        total = 0.0
        while cell < end:
            if step == 0:
                change = tables[position] * scale
                for j in range(inner):
                    value = flat[cell + j] + change
                    flat[cell + j] = value
                    total += abs(value)
            else:
                for j in range(inner):
                    value = flat[cell + j] + tables[position + j * step] * scale
                    flat[cell + j] = value
                    total += abs(value)
            cell += inner
            axis = degree - 2
            while axis >= 0:
                along = stride[c, axis_attr[k, axis]]
                index[axis] += 1
                position += along
                if index[axis] < axis_size[k, axis]:
                    break
                position -= index[axis] * along
                index[axis] = 0
                axis -= 1
        l1[k] = total


@_compiled
def absolute_sums(
    flat: FloatArray, offsets: IntArray, l1: FloatArray, first: int, last: int
) -> None:
    """Set ``l1`` of marginals first .. last - 1 to the sums of their absolute values."""
    for k in range(first, last):
        total = 0.0
        for cell in range(offsets[k], offsets[k + 1]):
            total += abs(flat[cell])
        l1[k] = total


@_compiled
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
    """Count records into marginals ``order[first:last]``, zeroed before.

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
            counts[start] = records
            continue
        size = axis_size[k, degree - 1]
        for r in range(records):
            counts[start + prefix[r] * size + codes[attribute, r]] += 1


def in_threads(call: Callable[[int, int], None], bounds: list[int]) -> None:
    """Run ``call(first, last)`` for each pair of neighbouring bounds, on both cores."""
    pairs = list(pairwise(bounds))
    if len(pairs) < 2 or _THREADS < 2:
        for first, last in pairs:
            call(first, last)
        return
    for done in [_pool().submit(call, first, last) for first, last in pairs]:
        done.result()


def parts(work: IntArray, *, at_least: int) -> list[int]:
    """Cut a list of work items into contiguous parts of about equal work, at most a few a thread.

    Args:
        work: Cost of each item.
        at_least: Work below which threads cost more than they bring.
    """
    total = int(work.sum())
    if total < at_least or _THREADS < 2 or len(work) < 2:
        return [0, len(work)]
    count = 4 * _THREADS
    targets = total * np.arange(1, count) // count
    cuts = np.searchsorted(np.cumsum(work), targets, side="left") + 1
    return [0, *sorted({int(cut) for cut in cuts if 0 < cut < len(work)}), len(work)]
