"""Which records are the table: lines above the header, the header, row names, lines below.

Everything here works on records (lists of cell texts with the line each begins on), so that a text
file and a spreadsheet are judged by one set of rules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.ingest import readings
from engine.ingest.notes import Note, counted, lines_text, were

Record = tuple[int, list[str]]
"""The line a record begins on, counted from 1, and its cells."""

_COMMENT = re.compile(r"\s*(#|//|%|--|\*\*)")
_HEADER_SEARCH = 60


@dataclass(frozen=True, slots=True)
class Structure:
    """Where the table's records begin and what its columns are called.

    Args:
        header_line: Line of the header; 0 if there is none.
        first_line: Line after which data may stand (0: from the top).
        names: The header's cells as they stand, one for each column; "" where there is none.
        notes: What was noticed.
        columns: Other lines the header could be on.
    """

    header_line: int
    first_line: int
    names: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    candidates: tuple[int, ...] = ()
    row_names: bool = False


def filled(row: Sequence[str]) -> int:
    """Count the cells that hold something."""
    return sum(1 for cell in row if cell and not cell.isspace())


def find(sample: Sequence[Record], *, header_line: int | None, padded: bool) -> Structure:
    """Find the header among the first records.

    Args:
        sample: The first records, the blank ones included.
        header_line: What a person chose: a line, or 0 for "there is no header".
        padded: Whether every record has the same width (a spreadsheet), so that only the filled
            cells tell how far one reaches.
    """
    rows = [(line, stripped(row, padded)) for line, row in sample]
    rows = [(line, row) for line, row in rows if filled(row)]
    width = _body_width([row for _, row in rows], padded)
    if header_line == 0:
        return _without_header(rows, width, start=0, notes=())
    if header_line is not None:
        row = next((row for line, row in rows if line >= header_line), [])
        at = next((line for line, row in rows if line >= header_line), header_line)
        below = [r for line, r in rows if line > at]
        return _with_header(at, row, below, padded, (), _candidates(rows, width))
    position = _header_position(rows, width, sample)
    line, row = rows[position]
    below = [r for _, r in rows[position + 1 :]]
    notes = _preamble_notes(rows[:position], line)
    if below and looks_like_data(row, below):
        start = rows[position - 1][0] if position else 0
        return _without_header(rows, width, start=start, notes=notes)
    if not below and len(rows) == 1 and all(map(readings.is_number, filter(None, row))):
        return _without_header(rows, width, start=0, notes=notes)
    return _with_header(line, row, below, padded, notes, _candidates(rows, width))


def stripped(row: list[str], padded: bool) -> list[str]:
    """Return the cells without blanks around them, a padded record without its empty end."""
    cells = [cell.strip() for cell in row]
    while padded and cells and not cells[-1]:
        cells.pop()
    return cells


def _body_width(rows: Sequence[Sequence[str]], padded: bool) -> int:
    if padded:
        return max(map(len, rows))
    body = rows[len(rows) // 4 :] or rows
    widths = Counter(map(len, body))
    return max(widths.items(), key=lambda item: (item[1], item[0]))[0]


def _candidates(rows: Sequence[Record], width: int) -> tuple[int, ...]:
    return tuple(line for line, row in rows[:12] if filled(row) >= max(1, width // 2))


# -- the header ---------------------------------------------------------------------------------


def _header_position(rows: Sequence[Record], width: int, sample: Sequence[Record]) -> int:
    counts = sorted(filled(row) for _, row in rows[len(rows) // 4 :])
    typical = min(width, counts[len(counts) // 2])
    enough = max(1, (typical + 1) // 2)
    if width == 1:
        return _single_column(rows)
    possible = [
        i
        for i, (_, row) in enumerate(rows[:_HEADER_SEARCH])
        if filled(row) >= enough and len(row) >= min(width - 1, 2)
    ]
    if not possible:
        return 0
    marked = [i for i in possible if _COMMENT.match(rows[i][1][0])]
    unmarked = [i for i in possible if i not in marked]
    if not unmarked:
        return possible[0]
    position = unmarked[0]
    # "#chrom  start  end": a header that begins with the comment sign.
    above = [i for i in marked if i == position - 1 and len(rows[i][1]) == len(rows[position][1])]
    if above and looks_like_data(rows[position][1], [r for _, r in rows[position + 1 :]]):
        return above[0]
    return _after_title(rows, position, unmarked, width, sample)


def _single_column(rows: Sequence[Record]) -> int:
    unmarked = [i for i, (_, row) in enumerate(rows) if not _COMMENT.match(row[0])]
    return unmarked[0] if unmarked and unmarked[0] < _HEADER_SEARCH else 0


def _after_title(
    rows: Sequence[Record], position: int, possible: Sequence[int], width: int,
    sample: Sequence[Record],
) -> int:  # fmt: skip
    """Move past a title that happens to reach far enough to pass for a header."""
    blank = {line for line, row in sample if not filled(row)}
    for nxt in [i for i in possible if i > position][:5]:
        row, below = rows[nxt][1], [r for _, r in rows[nxt + 1 :]]
        apart = any(rows[nxt - 1][0] < b < rows[nxt][0] for b in blank)
        fuller = filled(row) > filled(rows[position][1])
        if not (apart or (width <= 3 and filled(rows[position][1]) == 1 and fuller)):
            continue
        names = filled(row) == len(row) and len(set(row)) == len(row)
        typed = below and names and text_over_numbers(row, below)
        first_typed = text_over_numbers(rows[position][1], [r for _, r in rows[position + 1 :]])
        wider = len(row) > len(rows[position][1])
        if typed and (fuller or wider or not first_typed or len(rows[position][1]) != width):
            return nxt
        if names and fuller and apart and below and len(row) == width:
            return nxt
    return position


def looks_like_data(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Tell whether a row in the header's place is a record like those below it.

    A text above numbers is a name. A number above numbers, or a text that the column repeats, is a
    record; where nothing tells, the row is taken for names.
    """
    row = [cell.strip() for cell in row]
    if text_over_numbers(row, below):
        return False
    numbers = [cell for cell in row if cell and readings.is_number(cell)]
    if numbers and _successive(numbers) and len(numbers) < filled(row):
        return False  # country, 2019, 2020: years as names
    typed = repeated = 0
    for j, cell in enumerate(row):
        column = _column(below, j)
        if not cell or not column:
            continue
        if _kind(cell) != "text" and _share(column, _kind(cell)) >= 0.8:
            typed += 1
        elif _kind(cell) == "text" and column.count(cell) >= max(1, len(column) // 500):
            repeated += 1
    return typed > 0 or (repeated > 0 and repeated >= filled(row) / 2) or repeated > 1


def text_over_numbers(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Tell whether a text stands above a column of numbers or dates."""
    for j, cell in enumerate(row):
        column = _column(below, j)
        if (
            column
            and cell.strip()
            and _kind(cell) == "text"
            and not readings.is_missing_token(cell)
        ):
            rest = [c for c in column if not readings.is_missing_token(c)]
            if rest and sum(_kind(c) != "text" for c in rest) >= 0.8 * len(rest):
                return True
    return False


def _kind(cell: str) -> str:
    cell = cell.strip()
    if readings.is_number(cell):
        return "number"
    return "date" if readings.is_date(cell) else "text"


def _share(column: Sequence[str], kind: str) -> float:
    return sum(_kind(cell) == kind for cell in column) / len(column)


def _column(rows: Sequence[Sequence[str]], j: int) -> list[str]:
    return [row[j].strip() for row in rows[:300] if len(row) > j and row[j].strip()]


def _successive(cells: Sequence[str]) -> bool:
    """Tell whether numbers are years or a count: names of columns then, no values."""
    if len(cells) < 2 or not all(re.fullmatch(r"\d{1,4}", cell) for cell in cells):
        return False
    values = [int(cell) for cell in cells]
    steps = {b - a for a, b in pairwise(values)}
    years = all(1800 <= value <= 2100 for value in values)
    return len(steps) == 1 and steps != {0} and (years or (len(cells) > 2 and steps == {1}))


def _with_header(
    line: int, row: list[str], below: Sequence[Sequence[str]], padded: bool,
    notes: Sequence[Note], candidates: tuple[int, ...],
) -> Structure:  # fmt: skip
    names, found = list(row), list(notes)
    widths = {len(r) for r in below}
    common = _body_width(below, padded) if below else len(names)
    row_names = False
    if padded:
        names += [""] * (common - len(names))
    elif below and common == len(names) + 1 and _all_longer(names, below):
        names.insert(0, "")
        row_names = True
        found.append(_row_names_note(line))
    elif below and names and max(widths) < len(names):
        while len(names) > max(widths) and not names[-1]:
            names.pop()
    return Structure(line, line, tuple(names), tuple(found), candidates, row_names)


def _all_longer(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    longer = [row for row in below if len(row) == len(names) + 1]
    # One cell too many that is always empty is a separator at the line's end, no row name.
    if len(longer) < 0.9 * len(below) or not any(row[-1] for row in longer):
        return False
    if len(names) > 1:
        return True
    first = [row[0] for row in longer]
    return len(set(first)) == len(first)


def _row_names_note(line: int) -> Note:
    return Note(
        "W_ROW_NAMES",
        f"Every row has one cell more than line {line} has names: the first column holds saved row "
        "names. It is kept as a column without a name; leave it out if it only numbers the rows.",
        lines=(line,),
        columns=("c0",),
        choice="header_line",
    )


def _without_header(
    rows: Sequence[Record], width: int, *, start: int, notes: Sequence[Note]
) -> Structure:
    note = Note(
        "W_NO_HEADER",
        "The first row looks like data, not like names, so the columns have no names yet. Say on "
        "which line the header stands if there is one.",
        lines=(start + 1,),
        choice="header_line",
    )
    width = max(width, 1)
    return Structure(0, start, ("",) * width, (*notes, note), _candidates(rows, width))


def _preamble_notes(above: Sequence[Record], line: int) -> tuple[Note, ...]:
    if not above:
        return ()
    lines = tuple(at for at, _ in above)
    return (
        Note(
            "W_PREAMBLE",
            f"{counted(len(above), 'line')} above the header ({lines_text(lines)}) "
            f"{were(len(above))} taken for a title or comments and left out; the header is on "
            f"line {line:,}.",
            lines=lines[:5],
            choice="header_line",
        ),
    )
