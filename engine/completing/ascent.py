"""The loops of GReM-LNN over all cells (compiled with numba): sums of prices, and what they move.

Marginals lie as in ``layout``. A subset of a marginal's axes is a number: bit j stands for axis j
in memory order, and padding counts as inside. Row k of ``at`` says where the table over each proper
subset of marginal k starts in ``sums``; -1 where there is none.
"""

from __future__ import annotations

import numpy as np

from engine.compiling import compiled
from engine.types import FloatArray, IntArray


@compiled
def _around(sizes: IntArray, mask: int, axis: int) -> tuple[int, int]:
    """Cells of the subset's table before and after an axis that is not in it."""
    before, after = 1, 1
    for other in range(sizes.shape[0]):
        if (mask >> other) & 1:
            if other < axis:
                before *= sizes[other]
            else:
                after *= sizes[other]
    return before, after


@compiled
def _missing(mask: int) -> int:
    """The first axis that is not in the subset."""
    axis = 0
    while (mask >> axis) & 1:
        axis += 1
    return axis


@compiled
def subset_sums(
    flat: FloatArray,
    offsets: IntArray,
    axis_size: IntArray,
    at: IntArray,
    sums: FloatArray,
    first: int,
    last: int,
) -> None:
    """Sum marginals first .. last - 1 over every proper subset of their axes, into ``sums``.

    Each table is summed from one with one axis more.
    """
    full = at.shape[1] - 1
    for k in range(first, last):
        for mask in range(full - 1, -1, -1):
            start = at[k, mask]
            if start < 0:
                continue
            axis = _missing(mask)
            above = mask | (1 << axis)
            before, after = _around(axis_size[k], mask, axis)
            size = axis_size[k, axis]
            source = flat[offsets[k] :] if above == full else sums[at[k, above] :]
            if after == 1:
                for b in range(before):
                    total = 0.0
                    for i in range(size):
                        total += source[b * size + i]
                    sums[start + b] = total
                continue
            for b in range(before):
                line = sums[start + b * after : start + (b + 1) * after]
                line[:] = 0.0
                for i in range(size):
                    row = source[(b * size + i) * after : (b * size + i + 1) * after]
                    for a in range(after):
                        line[a] += row[a]


@compiled
def gather(
    sums: FloatArray,
    at: IntArray,
    cells: IntArray,
    below: IntArray,
    below_at: IntArray,
    push: FloatArray,
) -> None:
    """Add up in ``push`` what all marginals sum to over a set, spread evenly over their others.

    ``below[k, subset]`` numbers the set it is; set t lies at ``below_at[t]`` in ``push``.
    """
    push[:] = 0.0
    for k in range(at.shape[0]):
        for mask in range(at.shape[1] - 1):
            t = below[k, mask]
            if t >= 0:
                start, end = below_at[t], below_at[t + 1]
                share = (end - start) / cells[k]
                line = sums[at[k, mask] : at[k, mask] + end - start]
                target = push[start:end]
                for c in range(end - start):
                    target[c] += share * line[c]


@compiled
def _scale(
    sizes: IntArray,
    at: IntArray,
    below: IntArray,
    below_at: IntArray,
    moved: FloatArray,
    own: float,
    sums: FloatArray,
) -> None:
    """Turn the sums of a marginal's prices into what each subset moves every cell by."""
    degree, cells = sizes.shape[0], 1
    for axis in range(degree):
        cells *= sizes[axis]
    for mask in range(at.shape[0] - 1):
        if at[mask] < 0:
            continue
        # Centering along every axis is a sum over subsets with alternating signs.
        count, sign = cells, 1.0
        for axis in range(degree):
            if not (mask >> axis) & 1:
                count //= sizes[axis]
                sign = -sign
        share = count / cells
        table = sums[at[mask] : at[mask] + count]
        for c in range(count):
            table[c] *= sign * own * share
        t = below[mask]
        if t >= 0:
            line = moved[below_at[t] : below_at[t] + count]
            for c in range(count):
                table[c] += line[c] * share


@compiled
def _merge(sizes: IntArray, at: IntArray, sums: FloatArray) -> None:
    """Add small tables to one with one axis more, until only those without one axis are left."""
    full = at.shape[0] - 1
    for mask in range(full):
        axis = _missing(mask)
        above = mask | (1 << axis)
        if at[mask] < 0 or above == full:
            continue
        before, after = _around(sizes, mask, axis)
        size = sizes[axis]
        for b in range(before):
            line = sums[at[mask] + b * after : at[mask] + (b + 1) * after]
            for i in range(size):
                to = at[above] + (b * size + i) * after
                target = sums[to : to + after]
                for a in range(after):
                    target[a] += line[a]


@compiled
def move(
    base: FloatArray,
    prices: FloatArray,
    offsets: IntArray,
    axis_size: IntArray,
    at: IntArray,
    sums: FloatArray,
    below: IntArray,
    below_at: IntArray,
    moved: FloatArray,
    own: FloatArray,
    cells: FloatArray,
    told: FloatArray,
    first: int,
    last: int,
) -> None:
    """Set ``cells`` of marginals first .. last - 1 to ``base`` plus what prices move them by.

    That is ``moved`` of every set below, and the centered prices of the marginal itself times
    ``own``, the noise variance of its own residual. Uses up ``sums``, which held the sums of the
    prices. ``told`` becomes, for each marginal, the negative cells' sum, the sum of prices times
    cells and that of prices times their movement.
    """
    # Long: one loop, compiled as a whole: a call inside it would cost more than its steps.
    full, degree = at.shape[1] - 1, axis_size.shape[1]
    index = np.zeros(degree, dtype=np.int64)
    for k in range(first, last):
        start, end = offsets[k], offsets[k + 1]
        _scale(axis_size[k], at[k], below[k], below_at, moved, own[k], sums)
        _merge(axis_size[k], at[k], sums)
        inner = axis_size[k, degree - 1]
        flat_at = at[k, full ^ (1 << (degree - 1))]
        index[:] = 0
        negative, worth, pushed = 0.0, 0.0, 0.0
        for row in range((end - start) // inner):
            place = start + row * inner
            line, price = cells[place : place + inner], prices[place : place + inner]
            even = sums[flat_at + row] if flat_at >= 0 else 0.0
            for a in range(inner):
                line[a] = even + own[k] * price[a]
            for axis in range(degree - 1):
                table_at = at[k, full ^ (1 << axis)]
                if table_at < 0:
                    continue
                position = 0
                for other in range(degree - 1):
                    if other != axis:
                        position = position * axis_size[k, other] + index[other]
                table = sums[table_at + position * inner : table_at + (position + 1) * inner]
                for a in range(inner):
                    line[a] += table[a]
            level = base[place : place + inner]
            for a in range(inner):
                pushed += price[a] * line[a]
                line[a] += level[a]
                worth += price[a] * line[a]
                negative -= min(line[a], 0.0)
            axis = degree - 2
            while axis >= 0:
                index[axis] += 1
                if index[axis] < axis_size[k, axis]:
                    break
                index[axis] = 0
                axis -= 1
        told[k, 0], told[k, 1], told[k, 2] = negative, worth, pushed


@compiled
def rise(
    prices: FloatArray,
    ahead: FloatArray,
    cells: FloatArray,
    offsets: IntArray,
    steps: FloatArray,
    momentum: float,
    first: int,
    last: int,
) -> None:
    """Raise prices where cells are negative, lower them elsewhere, and look ahead (Nesterov)."""
    for k in range(first, last):
        for c in range(offsets[k], offsets[k + 1]):
            new = max(ahead[c] - steps[k] * cells[c], 0.0)
            ahead[c] = new + momentum * (new - prices[c])
            prices[c] = new
