"""Names for the arrays and keys that every module shares."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

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


class SameValues:
    """Equality of frozen values with arrays inside: same type, same fields, same numbers.

    A dataclass's own comparison asks an array for one truth value, which it has not.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def _compared(self) -> tuple[object, ...]:
        """Every field, arrays as shape and bytes; -0.0 and 0.0 are told apart by nobody."""
        return tuple(
            (value.shape, (value + 0.0).tobytes()) if isinstance(value, np.ndarray) else value
            for value in (getattr(self, name) for name in self.__dataclass_fields__)
        )

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, SameValues)
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())
