"""The loops over cells behind shrinkage, compiled: one pass each, without the interpreter lock.

Their plain twins are in ``tests/reference/shrinking.py``.
"""

from __future__ import annotations

import numpy as np

from engine.kernels import compiled
from engine.types import FloatArray, IntArray

_MOST_CUTS = 100
_MOST_RAKINGS = 50
_RAKED = 1e-8
_NEGLIGIBLE = 1e-12
"""Weights that no sum of them would show."""


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


def projected(table: FloatArray, total: float) -> FloatArray:
    """Return the nearest table without negative cells that has this total, above zero.

    Source:
        One number is subtracted from all cells before they are cut at zero; it is found by leaving
        out what falls below, again and again (Michelot 1986).
    """
    found = np.array(table, dtype=np.float64, order="C")
    _project(found.reshape(-1), total)
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


def grouped(
    group: IntArray, groups: int, noisy: FloatArray, size: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the sum of squares, the number and the sum of sizes of the cells of each group."""
    sums = np.zeros((3, groups))
    _group(group, np.ascontiguousarray(noisy).reshape(-1), size, sums)
    return sums[0], sums[1], sums[2]


def inner(rows: FloatArray, others: FloatArray) -> FloatArray:
    """Return rows @ others.T on this thread alone.

    BLAS starts threads from about ten thousand products on: beside other work that takes longer
    than the products.
    """
    found = np.empty((len(rows), len(others)))
    _inner(np.ascontiguousarray(rows), np.ascontiguousarray(others), found)
    return found


def gains(
    ratio: FloatArray, relatives: FloatArray, energy: FloatArray, cells: FloatArray
) -> FloatArray:
    """Return the sum over groups of energy p / (1 + p) - cells log(1 + p), p = relative² ratio.

    Shapes:
        ratio: (powers, groups); relatives: (relatives,); energy, cells: (groups,); the result:
            (powers, relatives).
    """
    found = np.empty((len(ratio), len(relatives)))
    _gains(ratio, relatives, energy, cells, found)
    return found


def kept_of(ratio: FloatArray, relatives: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the mean of p / (1 + p), p = relative² ratio, under these weights, for each group.

    Shapes:
        As ``gains``; weights: (powers, relatives); the result: (groups,).
    """
    found = np.zeros(ratio.shape[1])
    _kept_of(ratio, relatives, weights, found)
    return found


@compiled
def _gains(
    ratio: FloatArray, relatives: FloatArray, energy: FloatArray, cells: FloatArray, out: FloatArray
) -> None:
    for p in range(ratio.shape[0]):
        row = ratio[p]
        for r in range(len(relatives)):
            relative, total = relatives[r], 0.0
            for g in range(len(row)):
                prior = relative * row[g]
                total += energy[g] * (prior / (1.0 + prior)) - cells[g] * np.log(1.0 + prior)
            out[p, r] = total


@compiled
def _kept_of(
    ratio: FloatArray, relatives: FloatArray, weights: FloatArray, out: FloatArray
) -> None:
    for p in range(ratio.shape[0]):
        row = ratio[p]
        for r in range(len(relatives)):
            relative, weight = relatives[r], weights[p, r]
            if weight < _NEGLIGIBLE:
                continue
            for g in range(len(row)):
                prior = relative * row[g]
                out[g] += weight * (prior / (1.0 + prior))


@compiled
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


@compiled
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


@compiled
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
def _project(cells: FloatArray, total: float) -> None:
    n = len(cells)
    excess, number = -total, n
    for k in range(n):
        excess += cells[k]
    cut = excess / n
    for _ in range(_MOST_CUTS):
        kept, excess = 0, -total
        for k in range(n):
            if cells[k] > cut:
                kept += 1
                excess += cells[k]
        if kept == number or kept == 0:
            break
        number, cut = kept, excess / kept
    for k in range(n):
        cells[k] = max(cells[k] - cut, 0.0)


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


@compiled
def _group(group: IntArray, noisy: FloatArray, size: FloatArray, sums: FloatArray) -> None:
    energy, number, sizes = sums[0], sums[1], sums[2]
    for k in range(len(group)):
        g = group[k]
        energy[g] += noisy[k] * noisy[k]
        number[g] += 1.0
        sizes[g] += size[k]
