"""Where a frame gets its badge; pandas is imported when a frame is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.showing.badges import Badge

if TYPE_CHECKING:
    from engine.showing.frame import Frame


def framed(data: Any, badge: Badge) -> Frame:
    """Return a table with its badge.

    Args:
        data: Rows, columns, or a DataFrame.
        badge: Who may see it: decided by what the numbers were made from.
    """
    from engine.showing.frame import Frame

    return Frame(data, badge)
