"""Which values of an attribute a picture has room for, and the cells that are left.

A picture of two thousand values shows nothing, and takes a browser seconds. Beyond what can be told
apart, the values with the largest counts are drawn, and the sentence says how many are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.framed import Plain
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd

MOST_TICKS = 60
"""Values of an attribute along a side of a heatmap."""
MOST_BARS = 120
"""Values of an attribute drawn as bars."""
Codes = tuple[tuple[int, ...], ...]
"""For each attribute, the codes of the values that are drawn, in order."""


def foremost(frame: pd.DataFrame) -> Codes:
    """Return which values of each attribute of a table a picture has room for.

    All of them where there are few, else those with the largest counts (in all, without their
    signs), in the attribute's own order.
    """
    read = Plain(frame)
    sides = [k for k in (0, 1) if f"i{k}" in read]
    most = MOST_TICKS if len(sides) == 2 else MOST_BARS
    found = []
    for k in sides:
        values, place = np.unique(read.array(f"i{k}"), return_inverse=True)
        if len(values) > most:
            weight = np.abs(np.nan_to_num(read.array("released")))
            sums = np.bincount(place, weights=weight)
            values = np.sort(values[np.argsort(-sums, kind="stable")[:most]])
        found.append(tuple(values.tolist()))
    return tuple(found)


class Cells:
    """The cells of a table that are drawn.

    Args:
        frame: ``views.released`` or ``views.comparison`` of one or two attributes.
        codes: The values to draw; by default those there is room for.
    """

    __slots__ = ("_among", "_read", "codes")

    def __init__(self, frame: pd.DataFrame, codes: Codes | None) -> None:
        self._read, self.codes = Plain(frame), codes or foremost(frame)
        among = np.ones(len(frame), dtype=bool)
        for k, chosen in enumerate(self.codes):
            among &= np.isin(self._read.array(f"i{k}"), chosen)
        self._among = None if among.all() else among

    def __contains__(self, name: str) -> bool:
        return name in self._read

    def __len__(self) -> int:
        return len(self._read) if self._among is None else int(self._among.sum())

    def array(self, name: str) -> Any:
        """Return a column of what is drawn."""
        whole = self._read.array(name)
        return whole if self._among is None else whole[self._among]

    def numbers(self, name: str) -> Any:
        """Return a column of all cells, drawn or not, as floats."""
        return self._read.array(name).astype(float)

    def ticks(self, k: int, *, longest: int = 24) -> dict[int, str]:
        """Return the label of each code of an attribute, in the order of the codes."""
        codes, first = np.unique(self.array(f"i{k}"), return_index=True)
        texts = self.array(f"c{k}")[first].tolist()
        return dict(zip(codes.tolist(), distinct(texts, longest=longest), strict=True))

    def left_out(self, names: Sequence[str]) -> str:
        """Say which values are not drawn; nothing where all are."""
        if self._among is None:
            return ""
        parts = []
        for k, name in enumerate(names):
            count, drawn = len(np.unique(self._read.array(f"i{k}"))), len(self.codes[k])
            if count > drawn:
                parts.append(
                    f"the {drawn} values of {name} with the largest counts; {count - drawn:,} of "
                    f"{count:,} are not shown"
                )
        return f" Drawn are {', and '.join(parts)}."
