"""The loops over cells behind shrinkage, compiled: one pass each, without the interpreter lock.

Those that small runs spend their time in have a NumPy form (``shrinking_small``), which serves
where nothing is compiled. The plain twins of both are in ``tests/reference/shrinking.py``.
"""

from __future__ import annotations

import numpy as np

from engine.compiling import compiled, compiled_beside
from engine.completing import shrinking_small as small
from engine.completing.shrinking_small import BINS, BINS_PER_OCTAVE, NEGLIGIBLE, OCTAVES
from engine.types import FloatArray, IntArray

_MOST_RAKINGS = 50
_RAKED = 1e-8


def centered(table: FloatArray) -> FloatArray:
    """Return the part of a table that no smaller marginal shows: every axis sums to zero."""
    found = np.array(table, dtype=np.float64, order="C")
    _center(found.reshape(-1), np.array(found.shape, dtype=np.int64))
    return found


def centered_by(table: FloatArray, weight: FloatArray, times: int) -> FloatArray:
    """Return weight * (table - shifts), the shifts such that every axis sums to zero.

    One shift for each cell of each smaller marginal, found axis by axis, ``times`` over.
    """
    found = np.array(table, dtype=np.float64, order="C")
    weights = np.ascontiguousarray(weight, dtype=np.float64).reshape(-1)
    _center_by(found.reshape(-1), weights, np.array(found.shape, dtype=np.int64), times)
    return found


def raked(table: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the table scaled, row by row and column by column, to these sums.

    Until the rows are met to 1e-8 of the total, or 50 times. The sums themselves, taken as
    independent, count a billionth as much as the table: so no cell is zero that must not be.

    Shapes:
        table and the result: (rows, columns), zero or more. rows and columns: with one sum.

    Source:
        Iterative proportional fitting (Deming and Stephan 1940).
    """
    found = np.outer(rows, columns)
    found *= 1e-9 / max(float(rows.sum()), 1e-300)
    found += table
    _rake(found, rows, columns)
    return found


def inner(rows: FloatArray, others: FloatArray) -> FloatArray:
    """Return rows @ others.T on this thread alone.

    BLAS lacks this: from about ten thousand products on it starts threads, which beside other work
    takes longer than the products, and how it adds up follows from how many there are.
    threadpoolctl sets their number for the whole process, so for other runs too, at 6 microseconds
    a call: as much as most of these products take.
    """
    found = np.empty((len(rows), len(others)))
    _inner(np.ascontiguousarray(rows), np.ascontiguousarray(others), found)
    return found


def evidence(
    noisy: FloatArray,
    predicted: FloatArray,
    *,
    variance: float,
    freedom: int,
    powers: FloatArray,
    relatives: FloatArray,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return gain, ratio and group of ``shrinkage.Evidence``.

    The likelihood sees cells of about the same predicted size only through their sum of squares, so
    few groups say it all.
    """
    group = np.empty(noisy.size, dtype=np.int64)
    gain = np.empty((len(powers), len(relatives)))
    ratio = np.empty((len(powers), BINS + 1))
    groups = _evidence(
        np.ascontiguousarray(noisy).reshape(-1),
        np.ascontiguousarray(predicted).reshape(-1),
        variance,
        0.5 * freedom / noisy.size,
        powers,
        relatives,
        group,
        ratio,
        gain,
    )
    return gain, ratio[:, :groups].copy(), group


def shrunk(
    noisy: FloatArray,
    gain: FloatArray,
    ratio: FloatArray,
    group: IntArray,
    *,
    relatives: FloatArray,
    prior: FloatArray,
    times: int,
) -> FloatArray:
    """Return the cells weighed by what is kept of their group, so that every axis sums to zero.

    What is kept is the mean of p / (1 + p), p = relative² ratio, with weights prior x exp(gain).
    The multipliers of the sums are found axis by axis, ``times`` over; equal weights need none.
    """
    found = np.array(noisy, dtype=np.float64, order="C")
    shape = np.array(found.shape, dtype=np.int64)
    _shrunk(found.reshape(-1), gain, ratio, group, relatives, prior, shape, times)
    return found


@compiled
def _log_one_plus(value: float) -> float:
    """log(1 + value) for values of 0 or more."""
    if value < 1e-5:  # its series, to double precision: half of the values, and much faster
        return value * (1.0 - value * (0.5 - value * (1.0 / 3.0)))
    return float(np.log(1.0 + value))


@compiled_beside(small.gains)
def _gains(
    ratio: FloatArray, relatives: FloatArray, energy: FloatArray, cells: FloatArray, out: FloatArray
) -> None:
    """Sum over groups of energy p / (1 + p) - cells log(1 + p), p = relative² ratio."""
    energies, numbers = energy.sum(), cells.sum()
    for p in range(ratio.shape[0]):
        row = ratio[p]
        alike = row.min() == row.max()  # where the spread does not follow the predicted cell
        for r in range(len(relatives)):
            relative, total = relatives[r], 0.0
            if alike:
                prior = relative * row[0]
                out[p, r] = energies * (prior / (1.0 + prior)) - numbers * _log_one_plus(prior)
                continue
            for g in range(len(row)):
                prior = relative * row[g]
                total += energy[g] * (prior / (1.0 + prior)) - cells[g] * _log_one_plus(prior)
            out[p, r] = total


@compiled_beside(small.evidence)
def _evidence(
    noisy: FloatArray,
    predicted: FloatArray,
    variance: float,
    independent: float,
    powers: FloatArray,
    relatives: FloatArray,
    group: IntArray,
    ratio: FloatArray,
    gain: FloatArray,
) -> int:
    """Fill group, ratio and gain; returns the number of groups.

    ``independent`` is half the share of independent cells.
    """
    # Long: one loop, compiled as a whole.
    cells = len(noisy)
    largest = predicted.max()
    # Sums of squares, numbers and sizes, by predicted size.
    sums = np.zeros((3, BINS + 1))
    for k in range(cells):
        size = max(predicted[k] / largest, 2.0**-OCTAVES) if largest > 0 else 1.0
        which = int((np.log2(size) + OCTAVES) * BINS_PER_OCTAVE)
        group[k] = which
        sums[0, which] += noisy[k] * noisy[k]
        sums[1, which] += 1.0
        sums[2, which] += size
    rank = np.zeros(BINS + 1, dtype=np.int64)
    groups = 0
    for which in range(BINS + 1):
        if sums[1, which] > 0:
            rank[which] = groups
            for kind in range(3):
                sums[kind, groups] = sums[kind, which]
            groups += 1
    for k in range(cells):
        group[k] = rank[group[k]]
    energy, number = sums[0, :groups] / variance, sums[1, :groups]
    square = 0.0
    for k in range(cells):
        square += predicted[k] * predicted[k]
    for p in range(len(powers)):
        row, mean = ratio[p, :groups], 0.0
        for g in range(groups):
            row[g] = (sums[2, g] / number[g]) ** (2.0 * powers[p])
            mean += row[g] * (number[g] / cells)
        for g in range(groups):
            row[g] *= square / cells / variance / mean
    _gains(ratio[:, :groups], relatives, energy, number, gain)
    for p in range(len(powers)):
        for r in range(len(relatives)):
            gain[p, r] *= independent
    return groups


@compiled_beside(small.kept_of)
def _kept_of(
    ratio: FloatArray, relatives: FloatArray, weights: FloatArray, out: FloatArray
) -> None:
    """Add up the mean of p / (1 + p) for each group."""
    for p in range(ratio.shape[0]):
        row = ratio[p]
        for r in range(len(relatives)):
            relative, weight = relatives[r], weights[p, r]
            if weight < NEGLIGIBLE:
                continue
            for g in range(len(row)):
                prior = relative * row[g]
                out[g] += weight * (prior / (1.0 + prior))


@compiled_beside(small.inner)
def _inner(rows: FloatArray, others: FloatArray, out: FloatArray) -> None:
    whole = len(others) // 4 * 4
    for i in range(len(rows)):
        row = rows[i]
        for j in range(0, whole, 4):
            o0, o1, o2, o3 = others[j], others[j + 1], others[j + 2], others[j + 3]
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for k in range(len(row)):
                value = row[k]
                s0 += value * o0[k]
                s1 += value * o1[k]
                s2 += value * o2[k]
                s3 += value * o3[k]
            out[i, j], out[i, j + 1], out[i, j + 2], out[i, j + 3] = s0, s1, s2, s3
        for j in range(whole, len(others)):
            other = others[j]
            s = 0.0
            for k in range(len(row)):
                s += row[k] * other[k]
            out[i, j] = s


@compiled_beside(small.center)
def _center(cells: FloatArray, shape: IntArray) -> None:
    after = len(cells)
    mean = np.empty(len(cells))
    for axis in range(len(shape)):
        n = shape[axis]
        block = after
        after //= n
        for start in range(0, len(cells), block):
            if after == 1:
                row = cells[start : start + n]
                total = 0.0
                for j in range(n):
                    total += row[j]
                total /= n
                for j in range(n):
                    row[j] -= total
                continue
            sums = mean[:after]
            sums[:] = 0.0
            for j in range(n):
                row = cells[start + j * after : start + (j + 1) * after]
                for k in range(after):
                    sums[k] += row[k]
            for k in range(after):
                sums[k] /= n
            for j in range(n):
                row = cells[start + j * after : start + (j + 1) * after]
                for k in range(after):
                    row[k] -= sums[k]


@compiled_beside(small.center_by)
def _center_by(cells: FloatArray, weights: FloatArray, shape: IntArray, times: int) -> None:
    spare, total = np.empty(len(cells)), np.empty(len(cells))
    for _ in range(times):
        after = len(cells)
        for axis in range(len(shape)):
            n = shape[axis]
            block = after
            after //= n
            for start in range(0, len(cells), block):
                if after == 1:
                    row, weight = cells[start : start + n], weights[start : start + n]
                    off, whole = 0.0, 0.0
                    for j in range(n):
                        off += weight[j] * row[j]
                        whole += weight[j]
                    off = off / whole if whole > 0 else 0.0
                    for j in range(n):
                        row[j] -= off
                    continue
                offs, wholes = spare[:after], total[:after]
                offs[:], wholes[:] = 0.0, 0.0
                for j in range(n):
                    first = start + j * after
                    row, weight = cells[first : first + after], weights[first : first + after]
                    for k in range(after):
                        offs[k] += weight[k] * row[k]
                        wholes[k] += weight[k]
                for k in range(after):
                    offs[k] = offs[k] / wholes[k] if wholes[k] > 0 else 0.0
                for j in range(n):
                    row = cells[start + j * after : start + (j + 1) * after]
                    for k in range(after):
                        row[k] -= offs[k]
    for k in range(len(cells)):
        cells[k] *= weights[k]


@compiled
def _rake(cells: FloatArray, rows: FloatArray, columns: FloatArray) -> None:
    wanted = rows.sum()
    sums = np.empty(len(columns))
    for _ in range(_MOST_RAKINGS):
        gap = 0.0
        sums[:] = 0.0
        for i in range(len(rows)):
            row, total = cells[i], 0.0
            for j in range(len(row)):
                total += row[j]
            gap += abs(total - rows[i])
            factor = rows[i] / total if total > 0 else 0.0
            for j in range(len(row)):
                row[j] *= factor
                sums[j] += row[j]
        for j in range(len(columns)):
            sums[j] = columns[j] / sums[j] if sums[j] > 0 else 0.0
        for i in range(len(rows)):
            row = cells[i]
            for j in range(len(row)):
                row[j] *= sums[j]
        if gap <= _RAKED * wanted:
            break


@compiled_beside(small.shrunk)
def _shrunk(
    cells: FloatArray,
    gain: FloatArray,
    ratio: FloatArray,
    group: IntArray,
    relatives: FloatArray,
    prior: FloatArray,
    shape: IntArray,
    times: int,
) -> None:
    top, total = gain.max(), 0.0
    weights = np.empty(gain.shape)
    for p in range(gain.shape[0]):
        for r in range(gain.shape[1]):
            weights[p, r] = np.exp(gain[p, r] - top) * prior[p, r]
            total += weights[p, r]
    for p in range(gain.shape[0]):
        for r in range(gain.shape[1]):
            weights[p, r] /= total
    kept = np.zeros(ratio.shape[1])
    _kept_of(ratio, relatives, weights, kept)
    if kept.min() == kept.max():
        for k in range(len(cells)):
            cells[k] *= kept[0]
        return
    of_cell = np.empty(len(cells))
    for k in range(len(cells)):
        of_cell[k] = kept[group[k]]
    _center_by(cells, of_cell, shape, times)
