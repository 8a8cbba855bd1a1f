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

from engine.types import AttributeSet, IntArray


class Layout:
    """Where each marginal of a fixed list lies in one flat array.

    Args:
        sizes: Number of values of every attribute of the domain.
        sets: The attribute sets, each once.

    Shapes:
        offsets: (K + 1,), where each set's cells start, and the end.
        cells: (K,), number of cells of each set.
        axis_attr, axis_size: (K, largest degree), each set's attributes and sizes in memory order,
            padded in front with the attribute d, of size 1, which no set holds.
        members: (d, K), whether attribute i is in set k.
    """

    __slots__ = (
        "_containing",
        "_perm",
        "_shape",
        "axis_attr",
        "axis_size",
        "cells",
        "index",
        "members",
        "offsets",
        "sets",
        "sizes",
    )

    def __init__(self, sizes: Sequence[int], sets: Sequence[AttributeSet]) -> None:
        self.sizes = tuple(sizes)
        self.sets = tuple(sets)
        self.index = {attrs: k for k, attrs in enumerate(self.sets)}
        by_size = sorted(range(len(sizes)), key=lambda i: (sizes[i], i))
        rank = {i: r for r, i in enumerate(by_size)}
        axes = [tuple(sorted(attrs, key=rank.__getitem__)) for attrs in self.sets]
        self._shape = [tuple(sizes[i] for i in memory) for memory in axes]
        # For a view in domain order: where each attribute of the set stands in memory.
        self._perm = [
            tuple(memory.index(i) for i in attrs)
            for attrs, memory in zip(self.sets, axes, strict=True)
        ]
        cells = [math.prod(shape) for shape in self._shape]
        self.offsets: IntArray = np.concatenate([[0], np.cumsum(cells, dtype=np.int64)])
        self.cells: IntArray = np.diff(self.offsets)
        self._containing: dict[AttributeSet, IntArray] = {}
        degree = max([1, *map(len, self.sets)])
        # Padded in front: the last column is always the axis that varies fastest.
        self.axis_attr: IntArray = np.array(
            [(len(sizes),) * (degree - len(memory)) + memory for memory in axes], dtype=np.int64
        ).reshape(-1, degree)
        self.axis_size: IntArray = np.append(sizes, 1)[self.axis_attr]
        self.members: NDArray[np.bool_] = np.zeros((len(sizes) + 1, len(axes)), dtype=np.bool_)
        for column in self.axis_attr.T:
            self.members[column, np.arange(len(axes))] = True
        self.members = self.members[:-1]

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def total_cells(self) -> int:
        """Number of cells of all sets."""
        return int(self.offsets[-1])

    def slice(self, k: int) -> slice:
        """Where set k lies in the flat array."""
        return slice(int(self.offsets[k]), int(self.offsets[k + 1]))

    def containing(self, tau: AttributeSet) -> IntArray:
        """Positions of the sets that contain tau, in increasing order."""
        found = self._containing.get(tau)
        if found is None:
            if tau:  # those that hold all but the last attribute are few, and mostly known
                most = self.containing(tau[:-1])
                found = most[self.members[tau[-1]][most]]
            else:
                found = np.arange(len(self.sets))
            # Small ones are asked for again and again, and there are few of them.
            if len(tau) <= 2:
                self._containing[tau] = found
        return found

    def view(self, flat: NDArray[Any], k: int) -> NDArray[Any]:
        """Set k within the flat array as a marginal in domain order (a view)."""
        return self.in_domain_order(flat[self.slice(k)], k)

    def in_domain_order(self, cells: NDArray[Any], k: int) -> NDArray[Any]:
        """Give the cells of set k, in memory order, the shape of its marginal (a view)."""
        return cells.reshape(self._shape[k]).transpose(self._perm[k])
