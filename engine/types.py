"""Names for the arrays and keys that every module shares."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
AttributeSet: TypeAlias = tuple[int, ...]
"""Positions of attributes in the domain, sorted and distinct; the total is ``()``."""


def frozen(values: NDArray[np.float64]) -> FloatArray:
    """Return a read-only float64 view of the values; copied only if the type has to change."""
    array: FloatArray = np.asarray(values, dtype=np.float64).view()
    array.flags.writeable = False
    return array
