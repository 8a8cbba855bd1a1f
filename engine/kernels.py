"""The loops over all cells, compiled (numba): in-axis steps, and adding small tables to marginals.

NumPy needs a call for each marginal, which for ten thousands of small ones is most of the time.
Here one call serves them all, without the interpreter lock, so two threads can share the work.
Every function has a plain NumPy twin in ``tests/reference``.

Marginals are described by arrays (see ``layout``): ``axis_attr`` and ``axis_size`` hold one row for
each marginal, its attributes and sizes in memory order, padded in front with size 1.
"""

from __future__ import annotations

import numpy as np

from engine.compiling import compiled
from engine.types import FloatArray, IntArray

_TILE = 512
"""Columns handled together, so that a second pass over them finds them in the cache."""


@compiled
def _subtract_within(
    source: FloatArray, spare: FloatArray, sizes: IntArray, out: FloatArray
) -> None:
    """Subtract the first slice along every axis, going back and forth between two buffers."""
    before, after = 1, source.shape[0]
    for axis in range(sizes.shape[0]):
        size = sizes[axis]
        after //= size
        kept = size - 1
        target = out if axis == sizes.shape[0] - 1 else spare
        for b in range(before):
            first, to = b * size * after, b * kept * after
            # Slices: their index is seen to be in range, so the inner loops vectorise.
            if after == 1:
                head, rest, line = source[first], source[first + 1 :], target[to:]
                for j in range(kept):
                    line[j] = rest[j] - head
                continue
            top = source[first : first + after]
            for j in range(kept):
                rest = source[first + (j + 1) * after : first + (j + 2) * after]
                line = target[to + j * after : to + (j + 1) * after]
                for a in range(after):
                    line[a] = rest[a] - top[a]
        source, spare = target, source
        before *= kept


@compiled
def subtract_axes(values: FloatArray, sizes: IntArray, out: FloatArray) -> None:
    """Subtract the first slice along every axis: (n, ...) -> (n - 1, ...), flat arrays.

    Slice by slice of the first axis: each stays in the cache while the other axes follow.
    """
    block = values.shape[0] // sizes[0]
    kept = out.shape[0] // (sizes[0] - 1)
    one, other = np.empty(block), np.empty(block)
    top = values[:block]
    for i in range(sizes[0] - 1):
        rest = values[(i + 1) * block : (i + 2) * block]
        target = out[i * kept : (i + 1) * kept]
        if sizes.shape[0] == 1:
            target[0] = rest[0] - top[0]
            continue
        for a in range(block):
            one[a] = rest[a] - top[a]
        _subtract_within(one, other, sizes[1:], target)


@compiled
def _center_block(block: FloatArray, size: int, after: int) -> None:
    """Center rows 1 .. size - 1, each ``after`` long, and fill row 0."""
    for left in range(0, after, _TILE):
        width = min(_TILE, after - left)
        top = block[left : left + width]
        top[:] = 0.0
        # Four rows at a time: fewer passes over the sum. Slices let the inner loops vectorise.
        whole = 1 + (size - 1) // 4 * 4
        for j in range(1, whole, 4):
            first = block[left + j * after : left + j * after + width]
            second = block[left + (j + 1) * after : left + (j + 1) * after + width]
            third = block[left + (j + 2) * after : left + (j + 2) * after + width]
            fourth = block[left + (j + 3) * after : left + (j + 3) * after + width]
            for a in range(width):
                top[a] -= (first[a] + second[a]) + (third[a] + fourth[a])
        for j in range(whole, size):
            row = block[left + j * after : left + j * after + width]
            for a in range(width):
                top[a] -= row[a]
        for a in range(width):
            top[a] /= size
        for j in range(1, size):
            row = block[left + j * after : left + j * after + width]
            for a in range(width):
                row[a] += top[a]


@compiled
def center_axes(values: FloatArray, sizes: IntArray, out: FloatArray) -> None:
    """Put a zero slice in front, subtract the mean, along every axis: (n - 1, ...) -> (n, ...).

    The values move to where all indices are 1 or more, and are centered along the last axis on the
    way; the other axes follow in place, each filling its first slice.
    """
    degree = sizes.shape[0]
    stride = np.empty(degree, dtype=np.int64)
    step = 1
    for axis in range(degree - 1, -1, -1):
        stride[axis] = step
        step *= sizes[axis]
    index = np.ones(degree, dtype=np.int64)
    for axis in range(degree - 1, -1, -1):
        size, after = sizes[axis], stride[axis]
        start, blocks = 0, 1
        for k in range(axis):
            index[k] = 1
            start += stride[k]
            blocks *= sizes[k] - 1
        for block in range(blocks):
            if axis == degree - 1:
                row = values[block * (size - 1) : (block + 1) * (size - 1)]
                line = out[start + 1 : start + size]
                total = 0.0
                for j in range(size - 1):
                    total += row[j]
                mean = total / size
                out[start] = -mean
                for j in range(size - 1):
                    line[j] = row[j] - mean
            else:
                _center_block(out[start : start + size * after], size, after)
            k = axis - 1
            while k >= 0:
                index[k] += 1
                start += stride[k]
                if index[k] < sizes[k]:
                    break
                start -= (sizes[k] - 1) * stride[k]
                index[k] = 1
                k -= 1


@compiled
def fill(
    cost: FloatArray, ratio: FloatArray, known: FloatArray, budget: float, added: FloatArray
) -> None:
    """Raise vessels that stand at ``known`` to one level of water (see ``planner.water_fill``).

    If all share the budget, the level is too high, and vessels above it are none of those that get
    water: they are left out, and the rest shares again, until all are below the level.
    """
    lowest = np.inf
    for k in range(len(cost)):
        if ratio[k] > 0.0 and cost[k] > 0.0:
            lowest = min(lowest, known[k] / ratio[k])
    height = np.empty(len(cost))
    for k in range(len(cost)):
        height[k] = np.inf
        if ratio[k] > 0.0 and cost[k] > 0.0:
            height[k] = known[k] / ratio[k] - lowest
    level, sharing = np.inf, len(cost) + 1
    while True:
        left, water, width = 0, budget, 0.0
        for k in range(len(cost)):
            if height[k] < level:
                left += 1
                width += cost[k] * ratio[k]
                water += cost[k] * ratio[k] * height[k]
        if left == 0 or left >= sharing:
            break
        level, sharing = water / width, left
    for k in range(len(cost)):
        added[k] = max(0.0, ratio[k] * (level - height[k])) if height[k] < level else 0.0


@compiled
def _add_part(
    part: FloatArray, mask: int, code: int, sizes: IntArray, scale: float, table: FloatArray
) -> None:
    """Add a part over the axes in ``mask`` to the table over those in ``code``, spread evenly."""
    degree = len(sizes)
    index, step = np.zeros(degree, dtype=np.int64), np.zeros(degree, dtype=np.int64)
    along, last = 1, -1
    for axis in range(degree - 1, -1, -1):
        if mask >> axis & 1:
            step[axis] = along
            along *= sizes[axis]
        if last < 0 and code >> axis & 1:
            last = axis
    inner = sizes[last] if last >= 0 else 1
    position = 0
    for cell in range(0, len(table), inner):
        row = table[cell : cell + inner]
        # The last axis of the overlap is the part's last too, or none of its axes.
        if last >= 0 and step[last] == 1:
            line = part[position : position + inner]
            for k in range(inner):
                row[k] += line[k] * scale
        else:
            for k in range(inner):
                row[k] += part[position] * scale
        for axis in range(last - 1, -1, -1):
            if not code >> axis & 1:
                continue
            index[axis] += 1
            position += step[axis]
            if index[axis] < sizes[axis]:
                break
            position -= index[axis] * step[axis]
            index[axis] = 0


@compiled
def _centered(values: FloatArray, mask: int, sizes: IntArray) -> tuple[int, FloatArray]:
    """The part that starts at the first of these values, and how many belong to it."""
    own, axes, held, size = np.empty(len(sizes), dtype=np.int64), 0, 1, 1
    for axis in range(len(sizes)):
        if mask >> axis & 1:
            own[axes] = sizes[axis]
            axes += 1
            held *= sizes[axis] - 1
            size *= sizes[axis]
    part = np.zeros(size)
    if axes == 0:
        part[0] = values[0]
    elif held:
        center_axes(values[:held], own[:axes], part)
    return held, part


@compiled
def add_parts(values: FloatArray, masks: IntArray, sizes: IntArray, table: FloatArray) -> None:
    """Add the reconstructions of residuals to a marginal with these sizes.

    ``values`` holds (n - 1 for its axes) of each, one after the other; ``masks`` their axes in
    binary.
    """
    at, every = 0, (1 << len(sizes)) - 1
    for mask in masks:
        held, part = _centered(values[at:], mask, sizes)
        _add_part(part, mask, every, sizes, len(part) / len(table), table)
        at += held


@compiled
def overlap_tables(
    values: FloatArray,
    masks: IntArray,
    sizes: IntArray,
    start: IntArray,
    cells: IntArray,
    stride: IntArray,
    tables: FloatArray,
) -> None:
    """Like ``add_parts`` for each overlap of the marginal with others, given what lies within it.

    Overlaps are sets of axes in binary; one that contains no residual gets no table. Everything but
    ``values``, ``masks`` and ``sizes`` is filled here.

    Shapes:
        start, cells: (2^axes,), where each overlap's table is, and how large.
        stride: (2^axes, axes + 1), its step along each axis; 0 along others, and in the last
            column, which stands for all other attributes.
        tables: (cells of all,), the tables one after the other.
    """
    end = 0
    for code in range(len(cells)):
        start[code], cells[code], stride[code] = end, 0, 0
        for mask in masks:
            if not mask & ~code:
                cells[code] = 1
        along = 1
        for axis in range(len(sizes) - 1, -1, -1):
            if cells[code] and code >> axis & 1:
                stride[code, axis] = along
                along *= sizes[axis]
        cells[code] *= along
        end += cells[code]
    tables[:end] = 0.0
    at = 0
    for mask in masks:
        held, part = _centered(values[at:], mask, sizes)
        at += held
        for code in range(len(cells)):
            if cells[code] and not mask & ~code:
                table = tables[start[code] : start[code] + cells[code]]
                _add_part(part, mask, code, sizes, len(part) / cells[code], table)


@compiled
def add_tables(
    flat: FloatArray,
    offsets: IntArray,
    axis_attr: IntArray,
    axis_size: IntArray,
    which: IntArray,
    place: IntArray,
    tables: FloatArray,
    table_at: IntArray,
    table_cells: IntArray,
    stride: IntArray,
    unit: float,
    l1: FloatArray,
    first: int,
    last: int,
) -> None:
    """Add a small table to each marginal ``which[first:last]``, spread evenly over its other axes.

    What is added to a cell is rounded to a multiple of ``unit``, a power of two: sums of such
    multiples are exact in any order.

    Marginal ``which[m]`` gets the table of its overlap with the attributes that have a ``place``:
    number ``code`` in binary, from ``table_at[code]`` on, with step ``stride[code, place]`` along
    each attribute: 0 where it does not vary, and else 1 along the marginal's last axis. ``l1[k]``
    becomes the sum of absolute values of the result, in the same pass.
    """
    # Long: one loop over cells; split, its index would be passed about.
    degree, nowhere = axis_attr.shape[1], stride.shape[1] - 1
    index = np.zeros(degree, dtype=np.int64)
    for m in range(first, last):
        k, c = which[m], 0
        for axis in range(degree):
            if place[axis_attr[k, axis]] < nowhere:
                c |= 1 << place[axis_attr[k, axis]]
        position = table_at[c]
        cell, end = offsets[k], offsets[k + 1]
        scale = table_cells[c] / (end - cell) / unit
        inner = axis_size[k, degree - 1]
        step = stride[c, place[axis_attr[k, degree - 1]]]
        index[:] = 0
        total = 0.0
        while cell < end:
            row = flat[cell : cell + inner]
            if step == 0:
                change = np.rint(tables[position] * scale) * unit
                for j in range(inner):
                    row[j] += change
                    total += abs(row[j])
            else:
                line = tables[position : position + inner]
                for j in range(inner):
                    row[j] += np.rint(line[j] * scale) * unit
                    total += abs(row[j])
            cell += inner
            axis = degree - 2
            while axis >= 0:
                along = stride[c, place[axis_attr[k, axis]]]
                index[axis] += 1
                position += along
                if index[axis] < axis_size[k, axis]:
                    break
                position -= index[axis] * along
                index[axis] = 0
                axis -= 1
        l1[k] = total


@compiled
def absolute_sums(
    flat: FloatArray, offsets: IntArray, l1: FloatArray, first: int, last: int
) -> None:
    """Set ``l1`` of marginals first .. last - 1 to the sums of their absolute values."""
    for k in range(first, last):
        cells = flat[offsets[k] : offsets[k + 1]]
        total = 0.0
        for cell in range(len(cells)):
            total += abs(cells[cell])
        l1[k] = total
