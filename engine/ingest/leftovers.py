"""Rows and columns of a file that are no records and no attributes: headers again, further tables.

Nothing here goes in silence: each finding is a note with the choice that undoes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.coding import plain
from engine.ingest import readings
from engine.ingest.notes import SHOWN, Note, Offer, lines_text, were
from engine.ingest.structure import filled, text_over_numbers

Names = Sequence[str]
Cells = Sequence[pa.ChunkedArray]
_LOOKED_AT, _MOST_LINES, _MOST_GAPS = 300, 4, 40
_RULE = re.compile(r":?[-=_+*~─]{2,}:?")
_IMPORT_ID = re.compile(r"\{.*\}", re.DOTALL)


def rows(columns: Cells, first: int, number: int) -> list[list[str]]:
    """Return some records as lists of texts."""
    parts = [column.slice(first, number).to_pylist() for column in columns]
    return [list(row) for row in zip(*parts, strict=True)]


# -- further lines of the header ----------------------------------------------------------------


def header_lines(names: Names, columns: Cells) -> tuple[int, bool]:
    """Count the first records that are further header lines, and tell whether that is sure.

    Sure are question texts, import ids, rules ("-----") and names that fill the header's gaps;
    units ("cm", "kg") could be a record.
    """
    looked = rows(columns, 0, _LOOKED_AT)
    number, sure = 0, False
    for i, row in enumerate(looked[:_MOST_LINES]):
        below = looked[i + 1 :]
        if len(below) < 2:
            break
        if (
            _are_import_ids(row)
            or _are_rules(row)
            or _are_questions(row, below)
            or (i == 0 and fills_gaps(names, row, below))
        ):
            number, sure = i + 1, True
        elif not _are_names(row, below):
            break
        elif number == i:
            number = i + 1
    return number, sure or number > 1


def _are_import_ids(row: Names) -> bool:
    held = [cell for cell in row if cell.strip()]
    return bool(held) and all(_IMPORT_ID.fullmatch(cell.strip()) for cell in held)


def _are_rules(row: Names) -> bool:
    """Tell a rule below the header, as tables printed by databases and Markdown have."""
    held = [cell.strip() for cell in row if cell.strip()]
    return bool(held) and all(_RULE.fullmatch(cell) for cell in held)


def fills_gaps(names: Names, row: Names, below: Sequence[Names]) -> bool:
    """Tell names below a header of groups: they stand where it has none, with a gap elsewhere.

    ``id, income, , hours,`` above ``, 2019, 2020, 2019, 2020``: a record would have an id.
    """
    gaps = [j for j, name in enumerate(names) if not name.strip()]
    if not gaps or gaps == [0] or not all(row[j].strip() for j in gaps):
        return False
    # A name may reach down to this line; that of another column is a value.
    own = [(name.strip(), cell.strip()) for name, cell in zip(names, row, strict=True)]
    open_ = [j for j, (name, cell) in enumerate(own) if name and cell in ("", name)]
    return any(sum(bool(r[j].strip()) for r in below) >= 0.9 * len(below) for j in open_)


def group_names(names: Names, row: Names) -> tuple[str, ...]:
    """Name columns by the header of their group and the line below it: "income 2019".

    >>> group_names(["id", "income", "", "town"], ["", "2019", "2020", "Open-Ended Response"])
    ('id', 'income 2019', 'income 2020', 'town')
    """
    made, group = [], ""
    for j, (name, own) in enumerate(zip(names, row, strict=True)):
        group = name.strip() or group
        grouped = not name.strip() or (j + 1 < len(names) and not names[j + 1].strip())
        own = own.strip()
        made.append(f"{group} {own}".strip() if grouped and own != group else name.strip() or group)
    return tuple(made)


def _are_questions(row: Names, below: Sequence[Names]) -> bool:
    """Tell long texts that stand once above cells that repeat, or that hold no texts."""
    long = [j for j, cell in enumerate(row) if len(cell) > 15 and " " in cell.strip()]
    if len(long) < max(1, filled(row) // 2):
        return False
    above = 0
    for j in long:
        held = [other[j] for other in below if other[j].strip()]
        if row[j] in held:
            return False
        brief = [cell for cell in held if len(cell) < 0.6 * len(row[j])]
        above += len(brief) >= 0.9 * len(held) and len(set(held)) <= max(2, 0.7 * len(held))
    asks = sum(row[j].rstrip().endswith("?") for j in long)
    return above >= max(1, len(long) // 2) and (asks > 0 or len(below) >= 8)


def _are_names(row: Names, below: Sequence[Names]) -> bool:
    texts = [cell for cell in row if cell.strip() and not readings.is_missing_token(cell)]
    if not texts or any(readings.is_number(cell) or readings.is_date(cell) for cell in texts):
        return False
    return text_over_numbers(row, below)


def second_header_note(line: int, after: int) -> Note:
    """Say that the first record may be units or a second header."""
    return Note(
        "W_SECOND_HEADER",
        f"The first row below the header (line {line:,}) holds only texts where the others hold "
        "numbers: units or a second header, perhaps. It was kept as a row.",
        lines=(line,),
        choice="first_line",
        offers=(Offer(f"Leave line {line:,} out", {"first_line": after}),),
    )


def header_lines_note(left_out: Sequence[int]) -> Note:
    """Say that further lines of the header were left out."""
    where = lines_text(left_out).capitalize()
    return Note(
        "W_HEADER_LINES",
        f"{where} below the header {were(len(left_out), 'holds', 'hold')} no record but names, "
        f"questions or ids, and {were(len(left_out))} left out. Say on which line the data begin "
        "if that is wrong.",
        lines=tuple(left_out[:SHOWN]),
        choice="first_line",
        offers=(Offer("Count them as rows", {"first_line": left_out[0]}),),
    )


# -- the header again ---------------------------------------------------------------------------


def repeated_headers(names: Names, columns: Cells) -> NDArray[np.bool_]:
    """Tell which records repeat the header, as in exports pasted below each other."""
    held = [(plain(name).lower(), column) for name, column in zip(names, columns, strict=True)]
    hit: pa.ChunkedArray | None = None
    for name, column in held:
        trimmed = pc.utf8_lower(pc.utf8_trim_whitespace(column))
        equal = pc.equal(pc.utf8_normalize(trimmed, "NFC"), name)
        hit = equal if hit is None else pc.and_(hit, equal)
        if not pc.any(hit).as_py():
            break
    if hit is None or not any(name for name, _ in held):
        return np.zeros(len(columns[0]) if columns else 0, dtype=np.bool_)
    return np.asarray(hit.combine_chunks(), dtype=np.bool_)


def repeated_note(lines: Sequence[int], *, kept: bool) -> Note:
    """Say which lines repeat the header."""
    where = lines_text(lines)
    done = "kept as rows, as chosen" if kept else "left out"
    offers = () if kept else (Offer("Keep them as rows", {"repeated_headers": "kept"}),)
    return Note(
        "W_REPEATED_HEADER",
        f"{where[0].upper()}{where[1:]} {were(len(lines), 'repeats', 'repeat')} the header (files "
        f"pasted together, perhaps) and {were(len(lines))} {done}.",
        lines=tuple(lines[:SHOWN]),
        choice="repeated_headers",
        offers=offers,
    )


# -- another table below ------------------------------------------------------------------------


def second_table(
    names: Names, columns: Cells, lines: NDArray[np.int32], blanks: Sequence[int],
    irregular: Sequence[int],
) -> tuple[int, int] | None:  # fmt: skip
    """Find a second table below blank lines: its own header, and other values below that.

    Args:
        names: Names of the first table's columns.
        columns: All records.
        lines: The line of each.
        blanks: Lines that are blank.
        irregular: Lines of records that are too long or too short for the first table.

    Returns:
        How many records the first table has and the position of the other header, or None.
    """
    if len(names) < 2:
        return None
    gaps = np.unique(np.searchsorted(lines, np.asarray(blanks[:_MOST_GAPS], np.int32)))
    odd = set(irregular)
    at_once = _texts_below_numbers(columns)
    if at_once and at_once not in gaps and _other_kind(names, columns, at_once):
        return at_once, at_once
    for first in (int(gap) for gap in gaps if 2 <= gap < len(lines) - 2):
        near = rows(columns, first, 3)
        header = next((i for i, row in enumerate(near) if filled(row) > 1), None)
        if header is None:
            continue
        after = lines[first + header :].tolist()
        if _begins_a_table(names, columns, first, first + header, all(at in odd for at in after)):
            return first, first + header
    return None


def _texts_below_numbers(columns: Cells) -> int:
    """Return the first record that has a text where all before it have numbers; 0 if none has."""
    found = 0
    for column in columns[:_LOOKED_AT]:
        numbers = pc.match_substring_regex(column, r"^[^A-Za-z]*[0-9][^A-Za-z]*$")
        first = pc.index(numbers, False).as_py()
        if first >= _MOST_LINES and (not found or first < found):
            found = int(first)
    return found


def _other_kind(names: Names, columns: Cells, first: int) -> bool:
    """Tell a header without a gap before it: texts in numbers' places, each unlike its column."""
    row = [plain(cell) for cell in rows(columns, first, 1)[0]]
    below = rows(columns, first + 1, _LOOKED_AT)
    number = typed = 0
    for j, cell in enumerate(row):
        above = [r[j] for r in rows(columns, max(0, first - 50), min(first, 50))]
        numbers = sum(map(readings.is_number, above)) >= 0.8 * len(above)
        number += numbers and not readings.is_number(cell)
        typed += numbers
    return (
        all(cell and not readings.is_missing_token(cell) for cell in row)
        and number == typed > 0
        and len(below) >= 2
        and _begins_a_table(names, columns, first, first, all_odd=False)
    )


def _begins_a_table(names: Names, columns: Cells, first: int, header: int, all_odd: bool) -> bool:
    row = rows(columns, header, 1)[0]
    held = [j for j, cell in enumerate(row) if cell.strip()]
    cells = [plain(row[j]) for j in held]
    typed = any(
        readings.is_number(cell) or readings.is_date(cell) or readings.is_missing_token(cell)
        for cell in cells
    )
    if typed or len(set(cells)) < len(cells) or len(held) < min(2, len(names)):
        return False
    if cells == [plain(names[j]) for j in held]:
        return False  # the header again
    above = rows(columns, max(0, first - _LOOKED_AT), min(first, _LOOKED_AT))
    below = rows(columns, header + 1, _LOOKED_AT)
    if len(below) < 2:
        return False
    over_numbers = apart = 0
    for j in held:
        before = {plain(other[j]) for other in above if other[j].strip()}
        after = [plain(other[j]) for other in below if other[j].strip()]
        if plain(row[j]) in before or plain(row[j]) in after:
            return False
        over_numbers += bool(after) and sum(map(readings.is_number, after)) >= 0.8 * len(after)
        apart += not before & set(after)
    return all_odd or 2 * over_numbers >= len(held) or apart == len(held)


def second_table_note(line: int, last: int, end: int) -> Note:
    """Say that a second table was left out."""
    return Note(
        "W_SECOND_TABLE",
        f"A second table with a header of its own begins on line {line:,}; the first one, up to "
        f"line {last:,}, was read. Save the tables as files of their own to read the other.",
        lines=(line,),
        choice="last_line",
        offers=(Offer("Read all lines as one table", {"last_line": end}),),
    )


# -- columns ------------------------------------------------------------------------------------


def empty_columns_note(positions: Sequence[int], width: int) -> Note:
    """Say that columns without a name and without a cell were left out."""
    ends = {*range(len(positions)), *range(width - len(positions), width)}
    between = any(j not in ends for j in positions)
    shown = ", ".join(str(j + 1) for j in positions[:SHOWN])
    shown += " and others" if len(positions) > SHOWN else ""
    many = len(positions) > 1
    where = (
        "two tables side by side, perhaps: take the columns of one only"
        if between
        else "separators at the lines' ends, perhaps"
    )
    return Note(
        "W_EMPTY_COLUMNS",
        f"{'Columns' if many else 'Column'} {shown} {'have' if many else 'has'} no name and "
        f"hold{'' if many else 's'} nothing: {where}. Left out.",
    )


# -- totals ----------------------------------------------------------------------------------------


def totals_inside(columns: Cells) -> NDArray[np.intp]:
    """Return the records that begin with a word such as "Subtotal" and hold numbers only."""
    if len(columns) < 2:
        return np.zeros(0, np.intp)
    begin = pc.match_substring_regex(columns[0], r"(?i)^\s*(grand |sub-?)?(total|summe|somme)\b")
    places = np.flatnonzero(np.asarray(begin.combine_chunks()))[:_LOOKED_AT]
    held = [[column[int(place)].as_py() for column in columns[1:]] for place in places]
    fine = [all(not c.strip() or readings.is_number(c) for c in cells) for cells in held]
    kept: NDArray[np.intp] = places[np.asarray(fine, np.bool_)]
    return kept


def totals_note(lines: Sequence[int]) -> Note:
    """Say that records inside the table seem to be totals."""
    where = lines_text(lines)
    return Note(
        "W_TOTALS_INSIDE",
        f"{where[0].upper()}{where[1:]} {were(len(lines), 'begins', 'begin')} with a word for a "
        "total: no person, perhaps, yet counted as one. Delete such lines from the file.",
        lines=tuple(lines[:SHOWN]),
    )
