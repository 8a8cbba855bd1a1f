"""Where a frame gets its badge, and how charts read one; pandas is imported when one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.badges import Badge, Badged

if TYPE_CHECKING:
    import pandas as pd

    from engine.showing.frame import Frame


def framed(data: Any, badge: Badge) -> Frame:
    """Return a table with its badge.

    Args:
        data: Rows, columns, or a DataFrame.
        badge: Who may see it: decided by what the numbers were made from.
    """
    from engine.showing.frame import Frame

    if isinstance(data, list) and data:
        data = {name: [row[name] for row in data] for name in data[0]}
    frame = Frame(data, badge)
    if isinstance(data, dict) and all(isinstance(c, list | np.ndarray) for c in data.values()):
        frame.keep(data)
    return frame


class Plain:
    """The columns of a frame as lists and arrays.

    Taking a column out of a DataFrame costs more than all a chart does with it, so frames of
    ``engine.views`` keep the columns they were made from until somebody writes to them.
    """

    __slots__ = ("_count", "_frame", "_kept")

    def __init__(self, frame: pd.DataFrame) -> None:
        kept = getattr(frame, "kept", None) if isinstance(frame, Badged) else None
        self._frame, self._kept, self._count = frame, kept, len(frame)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, name: str) -> bool:
        return name in (self._frame.columns if self._kept is None else self._kept)

    def list(self, name: str) -> list[Any]:
        """Return a column as a list."""
        found: Any = self._frame[name] if self._kept is None else self._kept[name]
        return found if isinstance(found, list) else [*np.asarray(found).tolist()]

    def array(self, name: str) -> Any:
        """Return a column as an array; numbers stay numbers, all else are objects."""
        if self._kept is None:
            return self._frame[name].to_numpy()
        found = self._kept[name]
        return found if isinstance(found, np.ndarray) else np.asarray(found)
