"""The four in-axis operations (paper, Table 1), each along one axis that is kept.

They know shapes, not attributes. ``sum`` and ``sub`` shrink an axis, ``smear`` and ``center`` undo
them: smear after sum keeps the axis total, and sub after center is the identity.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.types import FloatArray


def sum(array: NDArray[np.float64], axis: int) -> FloatArray:
    """Add the slices: n -> 1, the matrix 1ᵀ.

    >>> sum(np.array([1.0, 2.0, 4.0]), 0)
    array([7.])
    """
    total: FloatArray = np.add.reduce(array, axis=axis, keepdims=True)
    return total


def sub(array: NDArray[np.float64], axis: int) -> FloatArray:
    """Subtract the first slice from the others: n -> n - 1, the matrix S = [-1 | I].

    >>> sub(np.array([1.0, 2.0, 4.0]), 0)
    array([1., 3.])
    """
    rest, first = _split(array, axis)
    differences: FloatArray = rest - first
    return differences


def center(array: NDArray[np.float64], axis: int) -> FloatArray:
    """Put a zero slice in front and subtract the mean: n - 1 -> n, the matrix S⁺.

    An empty axis (a residual over an attribute with one value) becomes one zero slice.

    >>> center(np.array([1.0, 3.0]), 0)
    array([-1.33333333, -0.33333333,  1.66666667])
    """
    shape = list(array.shape)
    shape[axis] += 1
    out: FloatArray = np.empty(shape)
    rest, first = _split(out, axis)
    np.add.reduce(array, axis=axis, keepdims=True, out=first)
    first /= -shape[axis]
    np.add(array, first, out=rest)
    return out


def smear(array: NDArray[np.float64], axis: int, size: int) -> FloatArray:
    """Spread one slice evenly over ``size``: 1 -> n, the matrix 1/n; a read-only broadcast view.

    >>> smear(np.array([6.0]), 0, 3)
    array([2., 2., 2.])
    """
    shape = list(array.shape)
    shape[axis] = size
    return np.broadcast_to(array / size, shape)


def _split(
    array: NDArray[np.float64], axis: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Views of the slices after the first, and of the first, along the axis."""
    before = (slice(None),) * axis
    return array[(*before, slice(1, None))], array[(*before, slice(0, 1))]
