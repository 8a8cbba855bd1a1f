"""How much a file may hold; each limit is checked before the memory it guards is taken."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes that a file must keep to.

    Args:
        file: Most bytes of the file, and most that it may unpack to. The default takes a "50 MB"
            upload in either way of counting and a little over.
        line: Most bytes of one line of text.
        field: Most bytes of one cell.
        columns: Most columns.
        cells: Most cells; it stops a tiny compressed file that declares billions of them.
    """

    file: int = 51 << 20
    line: int = 1 << 20
    field: int = 64 << 10
    columns: int = 20_000
    cells: int = 60_000_000


def megabytes(size: int) -> str:
    """Write a number of bytes for people.

    >>> megabytes(53_477_376), megabytes(1536)
    ('51.0 MB', '1.5 kB')
    """
    return f"{size / (1 << 20):,.1f} MB" if size >= 1 << 20 else f"{size / 1024:,.1f} kB"
