"""Records at the end that are no data: totals, notes, empty rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.ingest import readings
from engine.ingest.notes import Note, counted, were
from engine.ingest.structure import Record, stripped

_BELOW = re.compile(
    r"\s*(grand[ _]total|sub-?total|totals?|total:.*|total rows.*|sum|sums?:.*|summe|gesamt|"
    r"insgesamt|somme|suma|totale|"
    r"average|mean|median|count|n|n ?=.*|notes?\b.*|sources?\b.*|quelle\b.*|footnotes?\b.*|"
    r"remarks?\b.*|"
    r"generated\b.*|exported\b.*|end of (file|report|data|table)\b.*|page \d+.*|©.*|\(c\) .*|\* .*|"
    r"\d+ rows?( .*)?|\(\d+ rows?( .*)?\)|rows?: ?\d+.*|copyright\b.*|"
    r"disclaimer\b.*|eof|---+.*|===+.*)\s*",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"\s*(grand[ _]total|sub-?total|totals?|sum|summe|gesamt|insgesamt|somme|suma|totale|average|"
    r"mean)\s*:?\s*",
    re.IGNORECASE,
)


def is_comment(row: Sequence[str]) -> bool:
    """Tell whether a record is one lone cell that begins with ``#``."""
    return len(row) == 1 and row[0].lstrip().startswith("#")


def footer_length(tail: Sequence[Record], width: int, *, padded: bool, blanks: set[int]) -> int:
    """Count the records at the end that are no data: totals, notes, empty rows.

    Args:
        tail: The last records, as they stand in the file (not padded).
        width: Number of columns.
        padded: Whether all records have the same width (a spreadsheet).
        blanks: Lines among them that are blank.
    """
    rows = [(line, stripped(row, padded)) for line, row in tail]
    best, odd = 0, True
    for i in range(len(rows) - 1, -1, -1):
        line, row = rows[i]
        after = rows[i + 1][0] if i + 1 < len(rows) else line
        if best < len(rows) - i - 1 and odd and any(line < blank < after for blank in blanks):
            best = len(rows) - i - 1  # odd rows set apart by a blank line
        odd = odd and _is_odd(row, width, padded)
        footer = _is_footer(row, width, padded)
        if footer and best == len(rows) - i - 1:
            best += 1
        if len(rows) - i > 12 or not (odd or footer):
            break
    return best


def _is_odd(row: Sequence[str], width: int, padded: bool) -> bool:
    """Tell whether a row is none that a table of this width would have."""
    used = [cell for cell in row if cell.strip()]
    if not used or (len(used) == 1 and width > 2):
        return True
    return (not padded and len(row) != width) or bool(_BELOW.fullmatch(used[0]))


def _is_footer(row: Sequence[str], width: int, padded: bool) -> bool:
    used = [cell for cell in row if cell.strip()]
    if not used:
        return bool(row)
    if width == 1 or row[0] != used[0]:
        return False
    if _TOTAL.fullmatch(used[0]) and _numbers_only(used[1:]):
        return True
    if len(row) == width and not padded and len(used) == width:
        return False
    if len(used) == 1 and (width > 2 or len(row) < width):
        sentence = len(used[0]) > 40 or " " in used[0].strip()
        return bool(_BELOW.fullmatch(used[0])) or (sentence and width > 2)
    return len(row) != width and bool(_BELOW.fullmatch(used[0]))


def _numbers_only(cells: Sequence[str]) -> bool:
    return bool(cells) and all(readings.is_number(cell) for cell in cells)


def footer_note(below: int, first: int) -> Note:
    """Say that records at the end were left out."""
    return Note(
        "W_FOOTER",
        f"{counted(below, 'row')} at the end (from line {first:,} on) {were(below)} left out: "
        f"{were(below, 'it looks', 'they look')} like a total, a note or nothing at all. Change "
        "the "
        "last data line to bring them back.",
        lines=(first,),
        choice="last_line",
    )
