"""How far completed tables over three attributes are from exact counts: the loop behind scores.

The table of maximum entropy with three given pair tables is T_abc = A_ab B_ac C_bc (``fitting``).
A score needs only its distance from the counts, not the table, and not ten digits of it:

* Where the pairs imply the table, no sweep is made. If (a, b) was completed through c, or two of
  the three are products, then T = ac bc / c or the same with other letters. The tables of pairs
  contradict each other a little, each being shrunk by its own noise; the third one is then met up
  to that.
* Elsewhere the sweeps start from T = ab ac bc / (a b c): where three attributes interact no more
  than their pairs do, this is the answer up to products of interactions. The gap is the largest L1
  distance of a pair from its target, relative to the total. Sweeps stop when it is 1e-4, when it
  shrinks by less than a fifth (where targets contradict each other), or after 20 sweeps.

Either way the result is a function of the pair tables alone, whatever was fitted before. What is
released is fitted to the end. ``tests/reference/fitting.py`` has the twin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiling import compiled
from engine.completing.fitting import HUGE, TINY
from engine.types import FloatArray, IntArray

TOLERANCE = 1e-4
STALLED = 0.8
MAX_SWEEPS = 20
MEASURED, PRODUCT = -2, -1
"""How a pair was completed, where it was not through an attribute (0 or more)."""


@compiled
def _ratio(target: float, below: float) -> float:
    """Quotient, zero where nothing can be scaled."""
    return min(target / below, HUGE) if below > TINY else 0.0


@compiled
def _fit_row(
    ab: FloatArray, ac: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray, row: FloatArray
) -> tuple[float, float]:
    """Fit the factors of one value of a to (a, b), then to (a, c); returns the gaps before.

    Shapes:
        ab, fa: (n_b,); ac, fb, row (scratch): (n_c,); fc: (n_b, n_c).
    """
    nb, nc = fc.shape
    gap_ab, gap_ac = 0.0, 0.0
    row[:] = 0.0
    # Four rows at a time: what they share is read and written once. Slices let loops vectorise.
    whole = nb // 4 * 4
    for j in range(0, whole, 4):
        c0, c1, c2, c3 = fc[j], fc[j + 1], fc[j + 2], fc[j + 3]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for k in range(nc):
            value = fb[k]
            s0 += value * c0[k]
            s1 += value * c1[k]
            s2 += value * c2[k]
            s3 += value * c3[k]
        gap_ab += abs(fa[j] * s0 - ab[j]) + abs(fa[j + 1] * s1 - ab[j + 1])
        gap_ab += abs(fa[j + 2] * s2 - ab[j + 2]) + abs(fa[j + 3] * s3 - ab[j + 3])
        f0, f1 = _ratio(ab[j], s0), _ratio(ab[j + 1], s1)
        f2, f3 = _ratio(ab[j + 2], s2), _ratio(ab[j + 3], s3)
        fa[j], fa[j + 1], fa[j + 2], fa[j + 3] = f0, f1, f2, f3
        for k in range(nc):
            row[k] += (f0 * c0[k] + f1 * c1[k]) + (f2 * c2[k] + f3 * c3[k])
    for j in range(whole, nb):
        line = fc[j]
        s = 0.0
        for k in range(nc):
            s += fb[k] * line[k]
        gap_ab += abs(fa[j] * s - ab[j])
        f = _ratio(ab[j], s)
        fa[j] = f
        for k in range(nc):
            row[k] += f * line[k]
    for k in range(nc):
        gap_ac += abs(fb[k] * row[k] - ac[k])
        fb[k] = _ratio(ac[k], row[k])
    return gap_ab, gap_ac


@compiled
def _sweep(
    ab: FloatArray,
    ac: FloatArray,
    bc: FloatArray,
    fa: FloatArray,
    fb: FloatArray,
    fc: FloatArray,
    row: FloatArray,
    sums: FloatArray,
) -> float:
    """Fit the factors to (a, b), (a, c) and (b, c) in turn; returns the largest gap met.

    Fitting the first two for one value of a needs nothing of its other values, so one pass over
    them does both and adds up what the third needs.

    Shapes:
        row, sums: (n_c,) and (n_b, n_c), scratch.
    """
    na, nb = ab.shape
    nc = ac.shape[1]
    gap_ab, gap_ac, gap_bc = 0.0, 0.0, 0.0
    _fill(0.0, sums)
    whole = na // 4 * 4
    for i in range(na):
        one, other = _fit_row(ab[i], ac[i], fa[i], fb[i], fc, row)
        gap_ab += one
        gap_ac += other
        if i >= whole:
            b0 = fb[i]
            for j in range(nb):
                f0, line = fa[i, j], sums[j]
                for k in range(nc):
                    line[k] += f0 * b0[k]
        elif i % 4 == 3:
            b0, b1, b2, b3 = fb[i - 3], fb[i - 2], fb[i - 1], fb[i]
            for j in range(nb):
                f0, f1, f2, f3 = fa[i - 3, j], fa[i - 2, j], fa[i - 1, j], fa[i, j]
                line = sums[j]
                for k in range(nc):
                    line[k] += (f0 * b0[k] + f1 * b1[k]) + (f2 * b2[k] + f3 * b3[k])
    for j in range(nb):
        factor, target, line = fc[j], bc[j], sums[j]
        for k in range(nc):
            gap_bc += abs(factor[k] * line[k] - target[k])
            factor[k] = _ratio(target[k], line[k])
    return max(gap_ab, gap_ac, gap_bc)


@compiled
def _fit_first(ab: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray) -> None:
    """Fit the first factor: the table ends with (a, b) met, as the one released does."""
    for i in range(ab.shape[0]):
        line = fb[i]
        for j in range(ab.shape[1]):
            other = fc[j]
            s = 0.0
            for k in range(len(line)):
                s += line[k] * other[k]
            fa[i, j] = _ratio(ab[i, j], s)


@compiled
def _copy(source: FloatArray, out: FloatArray) -> None:
    """Copy a table: as an assignment of slices it would take numba seconds to compile."""
    for i in range(source.shape[0]):
        line, target = source[i], out[i]
        for k in range(len(line)):
            target[k] = line[k]


@compiled
def _fill(value: float, out: FloatArray) -> None:
    """Set every cell to one value."""
    for i in range(out.shape[0]):
        line = out[i]
        for k in range(len(line)):
            line[k] = value


@compiled
def _row_shares(table: FloatArray, out: FloatArray) -> None:
    """Each row divided by its sum."""
    for i in range(table.shape[0]):
        row, line = table[i], out[i]
        total = 0.0
        for k in range(len(row)):
            total += row[k]
        share = _ratio(1.0, total)
        for k in range(len(row)):
            line[k] = row[k] * share


@compiled
def _column_shares(table: FloatArray, sums: FloatArray, out: FloatArray) -> None:
    """Each column divided by its sum; ``sums`` is scratch."""
    sums[:] = 0.0
    for i in range(table.shape[0]):
        row = table[i]
        for k in range(len(sums)):
            sums[k] += row[k]
    for k in range(len(sums)):
        sums[k] = _ratio(1.0, sums[k])
    for i in range(table.shape[0]):
        row, line = table[i], out[i]
        for k in range(len(sums)):
            line[k] = row[k] * sums[k]


@compiled
def _start(
    ab: FloatArray,
    ac: FloatArray,
    bc: FloatArray,
    fa: FloatArray,
    fb: FloatArray,
    fc: FloatArray,
    row: FloatArray,
) -> float:
    """Set the factors to T = ab ac bc / (a b c); returns the total."""
    _column_shares(bc, row, fc)
    total = 0.0
    for j in range(bc.shape[0]):
        target = bc[j]
        for k in range(len(target)):
            total += target[k]
    for j in range(fc.shape[0]):
        line, target = fc[j], bc[j]
        s = 0.0
        for k in range(len(line)):
            s += target[k]
        lift = _ratio(total, s)
        for k in range(len(line)):
            line[k] *= lift
    _row_shares(ac, fb)
    _copy(ab, fa)
    return total


@compiled
def _implied(
    ab: FloatArray,
    ac: FloatArray,
    bc: FloatArray,
    fa: FloatArray,
    fb: FloatArray,
    fc: FloatArray,
    row: FloatArray,
    shared: int,
) -> None:
    """Set the factors to what two pairs imply: ab ac / a (0), ab bc / b (1) or ac bc / c (2)."""
    if shared == 0:
        _copy(ab, fa)
        _row_shares(ac, fb)
        _fill(1.0, fc)
    elif shared == 1:
        _copy(ab, fa)
        _fill(1.0, fb)
        _row_shares(bc, fc)
    else:
        _fill(1.0, fa)
        _copy(ac, fb)
        _column_shares(bc, row, fc)


@compiled
def _shared(ab: int, ac: int, bc: int, a: int, b: int, c: int) -> int:
    """Which attribute (0, 1, 2) two pairs share that imply the table; -1 if it must be fitted.

    ``ab``, ``ac``, ``bc`` say how each pair was completed.
    """
    if bc == a:
        return 0
    if ac == b:
        return 1
    if ab == c:
        return 2
    # As whole numbers: interpreted, the sum of two truth values of NumPy is one truth value.
    products = int(ab == PRODUCT) + int(ac == PRODUCT) + int(bc == PRODUCT)
    if products < 2:
        return -1
    return 0 if bc == PRODUCT else 1


@compiled
def fit(
    ab: FloatArray,
    ac: FloatArray,
    bc: FloatArray,
    fa: FloatArray,
    fb: FloatArray,
    fc: FloatArray,
    row: FloatArray,
    sums: FloatArray,
    shared: int,
) -> int:
    """Set the three factors (see the module); returns the number of sweeps."""
    if shared >= 0:
        _implied(ab, ac, bc, fa, fb, fc, row, shared)
        return 0
    total = _start(ab, ac, bc, fa, fb, fc, row)
    before = np.inf
    done = 0
    while done < MAX_SWEEPS:
        gap = _sweep(ab, ac, bc, fa, fb, fc, row, sums)
        done += 1
        if gap <= TOLERANCE * total or gap > STALLED * before:
            break
        before = gap
    _fit_first(ab, fa, fb, fc)
    return done


@compiled
def distance(fa: FloatArray, fb: FloatArray, fc: FloatArray, counts: NDArray[Any]) -> float:
    """L1 distance of the product of three factors from counts, flat in the same order."""
    total = 0.0
    cell = 0
    nb, nc = fc.shape
    for i in range(fa.shape[0]):
        line = fb[i]
        for j in range(nb):
            factor, other, exact = fa[i, j], fc[j], counts[cell : cell + nc]
            for k in range(nc):
                total += abs(factor * line[k] * other[k] - np.float64(exact[k]))
            cell += nc
    return total


@compiled
def _table(flat: FloatArray, start: int, rows: int, columns: int) -> FloatArray:
    return flat[start : start + rows * columns].reshape(rows, columns)


@compiled
def distances(
    pairs: FloatArray,
    pair_at: IntArray,
    completed_by: IntArray,
    axis_attr: IntArray,
    axis_size: IntArray,
    offsets: IntArray,
    counts: NDArray[Any],
    which: IntArray,
    l1: FloatArray,
    first: int,
    last: int,
) -> None:
    """Set ``l1`` of the triples ``which[first:last]`` to their distances from exact counts.

    The pair (i, j), i before j in memory order, starts at ``pair_at[i, j]`` of ``pairs`` and was
    completed by ``completed_by[i, j]``: measured, a product, or through an attribute.

    Shapes:
        pair_at, completed_by: (d, d); axis_attr, axis_size, offsets, counts: as in ``layout``.
    """
    end = axis_attr.shape[1]
    most, longest = 0, 0
    for m in range(first, last):
        nb, nc = axis_size[which[m], end - 2], axis_size[which[m], end - 1]
        most, longest = max(most, nb * nc), max(longest, nc)
    # The sizes grow towards the last axis: no pair is larger than the last one.
    space_a, space_b, space_c = np.empty(most), np.empty(most), np.empty(most)
    space, spare = np.empty(most), np.empty(longest)
    for m in range(first, last):
        s = which[m]
        a, b, c = axis_attr[s, end - 3], axis_attr[s, end - 2], axis_attr[s, end - 1]
        na, nb, nc = axis_size[s, end - 3], axis_size[s, end - 2], axis_size[s, end - 1]
        fa, fb = _table(space_a, 0, na, nb), _table(space_b, 0, na, nc)
        fc = _table(space_c, 0, nb, nc)
        fit(
            _table(pairs, pair_at[a, b], na, nb),
            _table(pairs, pair_at[a, c], na, nc),
            _table(pairs, pair_at[b, c], nb, nc),
            fa,
            fb,
            fc,
            spare[:nc],
            _table(space, 0, nb, nc),
            _shared(completed_by[a, b], completed_by[a, c], completed_by[b, c], a, b, c),
        )
        l1[s] = distance(fa, fb, fc, counts[offsets[s] : offsets[s + 1]])
