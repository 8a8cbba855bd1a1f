"""How far an answer is from the truth, in the ways people ask about. Not private.

Beside the L1 error: L2, the error of the counts of single attributes that a table adds up to, and
that of ranges. The same functions judge trials on the Compare page and the benchmarks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.exact import Exact
from engine.types import FloatArray

METRICS: Mapping[str, str] = {
    "mean_l1": "mean L1 error ÷ N",
    "max_l1": "largest L1 error ÷ N",
    "mean_l2": "mean L2 error ÷ N",
    "one_way": "L1 error of single attributes ÷ N",
    "ranges": "error of a range's count ÷ N",
}
"""What a set of answers is judged by, and what a chart calls it."""
BOXES = 20
"""Ranges that are looked at in each marginal."""


class NotReleased(Exact):
    """Base of values computed from the records: shown on a demonstration's screen, never saved."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MarginalError(NotReleased):
    """How far one answer is from the truth, in records. Not private, no export.

    Args:
        l1: Sum of absolute differences of cells.
        l2: Root of the sum of their squares.
        one_way: L1 error of the answer's sums over all but one attribute, mean over its attributes;
            of a marginal over one attribute the L1 error itself.
        ranges: Mean absolute error of the counts of ``BOXES`` boxes: a range of values of every
            attribute, the same for all tables of a shape.
    """

    l1: float
    l2: float
    one_way: float
    ranges: float


def distance(answer: FloatArray, exact: NDArray[Any]) -> MarginalError:
    """Compare an answer with the exact table, both of shape (n_i for i in gamma).

    >>> distance(np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 0.0], [0.0, 2.0]])).one_way
    2.0
    """
    off = np.asarray(answer, dtype=np.float64) - exact
    ones = [
        float(np.abs(off.sum(axis=tuple(k for k in range(off.ndim) if k != axis))).sum())
        for axis in range(off.ndim)
    ]
    l1, boxes = float(np.abs(off).sum()), _boxes(off.shape)
    return MarginalError(
        l1=l1,
        l2=float(np.sqrt(np.square(off).sum())),
        one_way=float(np.mean(ones)) if ones else l1,
        ranges=float(np.mean([abs(float(off[box].sum())) for box in boxes])),
    )


@lru_cache(maxsize=4096)
def _boxes(shape: tuple[int, ...]) -> tuple[tuple[slice, ...], ...]:
    """Ranges of values along every axis, the same for each shape; none is empty.

    Their ends are spread evenly: multiples of roots of primes, less whole numbers (Weyl).
    """
    boxes = []
    for number in range(1, BOXES + 1):
        box = []
        for axis, n in enumerate(shape):
            ends = sorted(int(n * (number * math.sqrt(_prime(2 * axis + k)) % 1)) for k in (0, 1))
            box.append(slice(ends[0], ends[1] + 1))
        boxes.append(tuple(box))
    return tuple(boxes)


def _prime(position: int) -> int:
    """The prime at this place, from 2 at 0 on."""
    found: list[int] = []
    number = 2
    while len(found) <= position:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found[-1]
