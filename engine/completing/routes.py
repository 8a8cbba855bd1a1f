"""Pairs never measured, completed through an attribute that both were measured with (compiled).

Independence of a and c given x says q_ac = sum over x of q_ax q_xc / q_x; where no x says anything
of both, q_ac is the product of its 1-way tables.
"""

from __future__ import annotations

import math

import numpy as np

from engine.compiling import compiled
from engine.completing.fitting import TINY
from engine.types import FloatArray, IntArray


@compiled
def strongest(information: FloatArray) -> IntArray:
    """For each pair, the attribute whose weaker information about the two is largest; -1: none.

    Shapes:
        information and the result: (d, d), symmetric; information is 0 on the diagonal.
    """
    d = len(information)
    through = np.full((d, d), -1, dtype=np.int64)
    for a in range(d):
        for c in range(a + 1, d):
            one, other = information[a], information[c]
            best = 0.0
            for x in range(d):
                weaker = min(one[x], other[x])
                if weaker > best:
                    best = weaker
                    through[a, c] = through[c, a] = x
    return through


@compiled
def _stride(a: int, c: int, sizes: IntArray, rank: IntArray) -> int:
    """Step along the first attribute of the table over a and c, which lies with its larger last."""
    return sizes[c] if rank[a] < rank[c] else 1


@compiled
def _set_product(
    first: FloatArray, second: FloatArray, total: float, out: FloatArray, along: int, across: int
) -> None:
    scale = 1.0 / max(total, 1e-300)
    for i in range(len(first)):
        value = first[i] * scale
        for j in range(len(second)):
            out[i * along + j * across] = value * second[j]


@compiled
def _given(table: FloatArray, along: int, across: int, out: FloatArray) -> None:
    """Shares of the second attribute for each value of the first: rows divided by their sums."""
    for i in range(out.shape[0]):
        row = out[i]
        total = 0.0
        for j in range(len(row)):
            row[j] = table[i * along + j * across]
            total += row[j]
        share = 1.0 / total if total > TINY else 0.0
        for j in range(len(row)):
            row[j] *= share


@compiled
def complete(
    pairs: FloatArray,
    pair_at: IntArray,
    ones: FloatArray,
    one_at: IntArray,
    sizes: IntArray,
    rank: IntArray,
    through: IntArray,
    total: float,
    which: IntArray,
    first: int,
    last: int,
) -> None:
    """Complete the pairs ``which[first:last]`` through their attribute, or as products.

    Of q_x, which the two tables know a little differently, that of (a, x) is kept; the result has
    the estimated total.

    Shapes:
        pairs, ones: tables end to end, starting at ``pair_at`` (d, d) and ``one_at`` (d,).
        rank: (d,), place of each attribute in memory order; which: (pairs, 2).
    """
    # Long: one loop, compiled as a whole.
    # Scratch for the largest table completed here, not for the largest there could be.
    most, longest = 0, 0
    for m in range(first, last):
        x = through[which[m, 0], which[m, 1]]
        if x >= 0:
            longest = max(longest, sizes[which[m, 1]])
            most = max(most, sizes[x] * sizes[which[m, 1]])
    space, row = np.empty(most), np.empty(longest)
    for m in range(first, last):
        a, c = which[m, 0], which[m, 1]
        na, nc, x = sizes[a], sizes[c], through[a, c]
        along, across = _stride(a, c, sizes, rank), _stride(c, a, sizes, rank)
        out = pairs[pair_at[a, c] : pair_at[a, c] + na * nc]
        kept = 0.0
        if x >= 0:
            nx = sizes[x]
            start = pair_at[a, x]
            down, right = _stride(a, x, sizes, rank), _stride(x, a, sizes, rank)
            given = space[: nx * nc].reshape(nx, nc)
            _given(
                pairs[pair_at[x, c] : pair_at[x, c] + nx * nc],
                _stride(x, c, sizes, rank),
                _stride(c, x, sizes, rank),
                given,
            )
            sums = row[:nc]
            for i in range(na):
                sums[:] = 0.0
                for k in range(nx):
                    value, line = pairs[start + i * down + k * right], given[k]
                    for j in range(nc):
                        sums[j] += value * line[j]
                for j in range(nc):
                    out[i * along + j * across] = sums[j]
                    kept += sums[j]
        if kept > 0:
            scale = total / kept
            for cell in range(na * nc):
                out[cell] *= scale
        else:
            one, other = ones[one_at[a] : one_at[a] + na], ones[one_at[c] : one_at[c] + nc]
            _set_product(one, other, total, out, along, across)


def mutual_information(table: FloatArray) -> float:
    """Information of a two-way table about its independence, in nats a record."""
    total = float(table.sum())
    if total <= 0:
        return 0.0
    joint, apart = _x_log_x(table), _x_log_x(table.sum(axis=0)) + _x_log_x(table.sum(axis=1))
    return max((joint - apart) / total + math.log(total), 0.0)


def _x_log_x(cells: FloatArray) -> float:
    return float(np.vdot(cells, np.log(np.maximum(cells, 1e-300))))
