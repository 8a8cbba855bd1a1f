"""The four in-axis operations (paper, Table 1), each along one axis that is kept.

They know shapes, not attributes. ``sum`` and ``sub`` shrink an axis, ``smear`` and ``center`` undo
them: smear after sum keeps the axis total, and sub after center is the identity. ``sub_all`` and
``center_all`` run along every axis in one pass of compiled code.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine import kernels
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
    before = (slice(None),) * axis
    rest, first = array[(*before, slice(1, None))], array[(*before, slice(0, 1))]
    differences: FloatArray = rest - first
    return differences


def center(array: NDArray[np.float64], axis: int) -> FloatArray:
    """Put a zero slice in front and subtract the mean: n - 1 -> n, the matrix S⁺.

    An empty axis (a residual over an attribute with one value) becomes one zero slice.

    >>> center(np.array([1.0, 3.0]), 0)
    array([-1.33333333, -0.33333333,  1.66666667])
    """
    shape = array.shape
    out: FloatArray = np.zeros((*shape[:axis], shape[axis] + 1, *shape[axis + 1 :]))
    out[(slice(None),) * axis + (slice(1, None),)] = array
    out -= np.add.reduce(out, axis=axis, keepdims=True) / out.shape[axis]
    return out


def smear(array: NDArray[np.float64], axis: int, size: int) -> FloatArray:
    """Spread one slice evenly over ``size``: 1 -> n, the matrix 1/n; a read-only broadcast view.

    >>> smear(np.array([6.0]), 0, 3)
    array([2., 2., 2.])
    """
    shape = list(array.shape)
    shape[axis] = size
    return np.broadcast_to(array / size, shape)


def sub_all(array: NDArray[np.float64]) -> FloatArray:
    """``sub`` along every axis."""
    shape = array.shape
    out = np.empty([n - 1 for n in shape])
    if not shape:
        return array.copy()
    if out.size:
        flat = np.ascontiguousarray(array).reshape(-1)
        kernels.subtract_axes(flat, np.array(shape), out.reshape(-1))
    return out


def center_all(array: NDArray[np.float64]) -> FloatArray:
    """``center`` along every axis."""
    shape = [n + 1 for n in array.shape]
    if not shape:
        return array.copy()
    if not array.size:
        return np.zeros(shape)
    out = np.empty(shape)
    flat = np.ascontiguousarray(array).reshape(-1)
    kernels.center_axes(flat, np.array(shape), out.reshape(-1))
    return out
