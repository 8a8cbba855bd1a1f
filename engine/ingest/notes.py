"""What a reader has to be told about a file that was understood: a stable code and a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SHOWN = 5
"""Line numbers named in a sentence; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One answer to a note, which a page offers as a button.

    Args:
        label: What the button says.
        choices: Choices of ``read`` that it sets; the file is then read again.
        column: Label of the column whose attribute it changes instead.
        change: What it changes there: ``compare``, ``missing_codes``, ``outside``, ``reading``,
            ``keep``, or ``split``; for "" whose row it is: ``person`` and ``rows``.
    """

    label: str
    choices: Mapping[str, Any] = field(default_factory=dict)
    column: str = ""
    change: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """One warning: what was seen, what was done about it, how to undo it.

    Args:
        code: Stable, such as ``W_SHORT_ROWS``.
        sentence: For people; it names lines, columns and counts, never a cell's value.
        lines: Line numbers concerned, the first few.
        columns: Ids of the columns concerned, the first few.
        choice: The choice of ``read`` that changes what was done, if there is one.
        offers: Answers, the likeliest first.
    """

    code: str
    sentence: str
    lines: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    choice: str | None = None
    offers: tuple[Offer, ...] = ()

    @property
    def message(self) -> str:
        """The sentence, under the name that errors use."""
        return self.sentence

    def __str__(self) -> str:
        return self.sentence


def lines_text(lines: Sequence[int], total: int | None = None) -> str:
    """Name line numbers for people.

    >>> lines_text([4]), lines_text([4, 9]), lines_text(range(1, 9))
    ('line 4', 'lines 4 and 9', 'lines 1, 2, 3, 4, 5 and 3 more')
    """
    total = len(lines) if total is None else total
    shown = [f"{line:,}" for line in lines[:SHOWN]]
    if total == 1:
        return f"line {shown[0]}"
    if total > len(shown):
        return f"lines {', '.join(shown)} and {total - len(shown):,} more"
    return f"lines {', '.join(shown[:-1])} and {shown[-1]}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Count things for people.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def were(number: int, one: str = "was", many: str = "were") -> str:
    """Choose the verb for a number of things.

    >>> were(1), were(2), were(1, "holds", "hold")
    ('was', 'were', 'holds')
    """
    return one if number == 1 else many


def ordinal(number: int) -> str:
    """Write an ordinal number.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    teen = 10 <= number % 100 <= 20
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
