"""Many marginals in one contiguous array.

One allocation instead of thousands, and passes over all cells without a Python call for each
marginal. Within a marginal the attribute with the most values varies fastest: adding an array
that is constant along the other axes then runs in long inner loops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.types import AttributeSet, FloatArray, IntArray


class Layout:
    """Where each marginal of a fixed list lies in one flat array.

    Args:
        sizes: Number of values of every attribute of the domain.
        sets: The attribute sets, each once.
    """

    __slots__ = ("_axes", "_perm", "_shape", "index", "members", "offsets", "sets", "sizes")

    def __init__(self, sizes: Sequence[int], sets: Sequence[AttributeSet]) -> None:
        self.sizes = tuple(sizes)
        self.sets = tuple(sets)
        self.index = {attrs: k for k, attrs in enumerate(self.sets)}
        by_size = sorted(range(len(sizes)), key=lambda i: (sizes[i], i))
        rank = {i: r for r, i in enumerate(by_size)}
        self._axes = [tuple(sorted(attrs, key=rank.__getitem__)) for attrs in self.sets]
        self._shape = [tuple(sizes[i] for i in axes) for axes in self._axes]
        # For a view in domain order: where each attribute of the set stands in memory.
        self._perm = [
            tuple(axes.index(i) for i in attrs)
            for attrs, axes in zip(self.sets, self._axes, strict=True)
        ]
        cells = [math.prod(shape) for shape in self._shape]
        self.offsets: IntArray = np.concatenate([[0], np.cumsum(cells, dtype=np.int64)])
        self.members: NDArray[np.bool_] = np.zeros((len(self.sets), len(sizes)), dtype=np.bool_)
        for k, attrs in enumerate(self.sets):
            self.members[k, list(attrs)] = True

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def total_cells(self) -> int:
        """Number of cells of all sets."""
        return int(self.offsets[-1])

    def cells(self) -> IntArray:
        """Number of cells of each set, shape (K,)."""
        counts: IntArray = np.diff(self.offsets)
        return counts

    def axes(self, k: int) -> AttributeSet:
        """Attributes of set k in memory order, the one with the most values last."""
        return self._axes[k]

    def slice(self, k: int) -> slice:
        """Where set k lies in the flat array."""
        return slice(int(self.offsets[k]), int(self.offsets[k + 1]))

    def view(self, flat: NDArray[Any], k: int) -> NDArray[Any]:
        """Set k within the flat array as a marginal in domain order (a view)."""
        return self.in_domain_order(flat[self.slice(k)], k)

    def in_domain_order(self, cells: NDArray[Any], k: int) -> NDArray[Any]:
        """Give the cells of set k, in memory order, the shape of its marginal (a view)."""
        return cells.reshape(self._shape[k]).transpose(self._perm[k])

    def sums(self, flat: FloatArray) -> FloatArray:
        """Sum over each set's cells, shape (K,)."""
        return np.add.reduceat(flat, self.offsets[:-1])
