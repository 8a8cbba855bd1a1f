"""Excel workbooks: from bytes to texts, and to a table."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import python_calamine as calamine

from engine.errors import DataError
from engine.exact import Exact
from engine.ingest import content, structure
from engine.ingest.choices import Choices
from engine.ingest.columns import Columns
from engine.ingest.content import check_zip
from engine.ingest.delimited import CELLS_AT_ONCE, Chunk, Progress
from engine.ingest.draft import Draft, any_text
from engine.ingest.limits import Limits
from engine.ingest.notes import Note, Offer, counted, were


class Workbook(Exact):
    """One sheet of a workbook as records of texts.

    Args:
        data: The file.
        sheet: Name of the sheet, or its position from 0; None takes the first that is not hidden
            and has several columns and rows, or the first that holds anything.
        limits: Sizes to keep to.
        merged: Whether merged cells that reach over several rows give each its value.

    Raises:
        DataError: If the workbook cannot be opened (``E_FORMAT``), holds nothing (``E_EMPTY``), has
            no such sheet (``E_SHEET``), or is too large (``E_TOO_LARGE``).
    """

    def __init__(
        self, data: bytes, sheet: str | int | None, limits: Limits, *, merged: bool = True
    ) -> None:
        if data[:2] == b"PK":
            check_zip(data, limits)
        with _opening():
            self._book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [
            found
            for found in self._book.sheets_metadata
            if found.typ == calamine.SheetTypeEnum.WorkSheet
        ]
        self.names = tuple(found.name for found in sheets)
        seen = calamine.SheetVisibleEnum.Visible
        self._hidden = {found.name for found in sheets if found.visible != seen}
        if not self.names:
            raise _unreadable("without a sheet of cells")
        self._sheet, self.name = self._open(sheet, limits)
        self.width = self._sheet.width
        self.notes = self._notes(sheet)
        spans = (self._sheet.merged_cell_ranges or []) if merged else []
        left = (self._sheet.start or (0, 0))[1]  # rows above the table come too, columns do not
        self.merged = sorted(
            (first, column - left, last)
            for (first, column), (last, _) in spans
            if last > first and column >= left
        )

    def _open(self, sheet: str | int | None, limits: Limits) -> tuple[calamine.CalamineSheet, str]:
        if sheet is None:
            first: tuple[calamine.CalamineSheet, str] | None = None
            for name in sorted(self.names, key=lambda name: name in self._hidden):
                found = self._load(name, limits)
                if found.height > 1 and found.width > 1:
                    return found, name
                first = first or ((found, name) if found.height else None)
            if first is not None:
                return first
            raise DataError(
                "No sheet of the workbook holds anything; a table needs at least a row of names. "
                "Choose another file.",
                code="E_EMPTY",
            )
        if isinstance(sheet, int) and not isinstance(sheet, bool) and 0 <= sheet < len(self.names):
            sheet = self.names[sheet]
        if sheet not in self.names:
            raise DataError(
                "The workbook has no sheet of that name; it has "
                f"{counted(len(self.names), 'sheet')}. "
                "Choose one of them.",
                code="E_SHEET",
            )
        return self._load(str(sheet), limits), str(sheet)

    def _load(self, name: str, limits: Limits) -> calamine.CalamineSheet:
        with _opening():
            found = self._book.get_sheet_by_name(name)
        if found.width * found.height > limits.cells or found.width > limits.columns:
            raise DataError(
                f"The sheet spans {found.height:,} rows and {found.width:,} columns; at most "
                f"{limits.cells:,} cells and {limits.columns:,} columns can be read. Delete "
                "empty rows "
                "and columns after the table, or save it as CSV.",
                code="E_TOO_LARGE",
            )
        return found

    def _notes(self, asked: str | int | None) -> list[Note]:
        if asked is not None or len(self.names) == 1:
            return []
        position = self.names.index(self.name) + 1
        return [
            Note(
                "W_SHEETS",
                f"The workbook has {len(self.names)} sheets; sheet {position} was read. Another "
                "one can "
                "be chosen.",
                choice="sheet",
                offers=tuple(
                    Offer(f"Read sheet {i + 1} ({name[:40]})", {"sheet": name})
                    for i, name in enumerate(self.names)
                    if name != self.name and name not in self._hidden
                )[:4],
            )
        ]

    def __iter__(self) -> Iterator[Chunk]:
        rows: list[list[str]] = []
        number = max(1, CELLS_AT_ONCE // max(1, self.width))
        line = 1  # rows above the first used one come too, so lines are those a person sees
        filled = self._filled()
        for place, cells in enumerate(self._sheet.iter_rows()):
            rows.append([text(cell) for cell in cells])
            if self.merged:
                filled(place, rows[-1])
            if len(rows) == number:
                yield Chunk(rows, range(line, line + len(rows)))
                line += len(rows)
                rows = []
        if rows:
            yield Chunk(rows, range(line, line + len(rows)))

    def _filled(self) -> Callable[[int, list[str]], None]:
        """Return a function that gives a row the values of merged cells that began above it."""
        waiting = list(reversed(self.merged))
        open_: dict[int, tuple[int, str]] = {}  # column: last row, value

        def fill(place: int, row: list[str]) -> None:
            for column, (last, value) in list(open_.items()):
                if place > last:
                    del open_[column]
                elif column < len(row) and not row[column]:
                    row[column] = value
            while waiting and waiting[-1][0] <= place:
                _, column, last = waiting.pop()
                if column < len(row):
                    open_[column] = (last, row[column])

        return fill

    def merged_note(self, header_line: int) -> list[Note]:
        """Say that merged cells below the header were repeated."""
        number = sum(last >= header_line for _, _, last in self.merged)
        if not number:
            return []
        return [
            Note(
                "W_MERGED",
                f"{counted(number, 'merged cell')} {were(number, 'reaches', 'reach')} over several "
                "rows: each of these rows was given the value.",
                choice="merged",
                offers=(Offer("Leave all but the first row empty", {"merged": "first"}),),
            )
        ]


def text(cell: object) -> str:
    """Write a spreadsheet's value as text: whole numbers without ".0", dates as ISO 8601.

    >>> text(3.0), text(0.5), text(dt.datetime(2024, 1, 31)), text(True)
    ('3', '0.5', '2024-01-31', 'TRUE')
    """
    if isinstance(cell, str):
        return cell.replace("\0", "").replace("_x000D_", "\r") if cell else ""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, dt.datetime):
        midnight = cell.time() == dt.time()
        return cell.date().isoformat() if midnight else cell.isoformat(sep=" ")
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    return "" if cell is None else str(cell)


@contextmanager
def _opening() -> Iterator[None]:
    """Turn whatever the reader raises on a damaged workbook into a refusal."""
    try:
        yield
    except calamine.PasswordError:
        raise _unreadable("protected by a password") from None
    except (calamine.CalamineError, ValueError, OSError):
        raise _unreadable("damaged") from None
    except BaseException as error:
        # A panic of the Rust reader is no Exception, so that nobody swallows it by mistake.
        if type(error).__name__ == "PanicException":
            raise _unreadable("damaged") from None
        raise


def _unreadable(state: str) -> DataError:
    return DataError(
        f"The Excel file is {state}; its sheets cannot be read. Save it again as .xlsx or as CSV.",
        code="E_FORMAT",
    )


# -- as a table ---------------------------------------------------------------------------------


def read_workbook(data: bytes, asked: Choices, limits: Limits, progress: Progress | None) -> Draft:
    """Read one sheet of a workbook."""
    book = Workbook(data, asked.sheet, limits, merged=asked.merged == "repeated")
    sample: list[structure.Record] = []
    for chunk in book:
        sample += zip(chunk.lines, chunk.rows, strict=True)
        if len(sample) >= 1000:
            break
    if not any(structure.filled(row) for _, row in sample):
        raise content.empty()
    shape = structure.find(sample[:1000], header_line=asked.header_line, padded=True)
    width = max(len(shape.names), book.width)
    names = shape.names + ("",) * (width - len(shape.names))
    table = Columns(
        width, limits, padded=True, trim=asked.trim, last_line=asked.last_line, names=names
    )
    table.add(_after(book, max(shape.header_line, shape.first_line)))
    columns, lines, notes = table.finish()
    names, columns = _without_phantoms(names, columns)
    choices = {
        "format": "excel", "sheet": book.name, "header_line": shape.header_line, "trim": asked.trim,
        "last_line": int(lines[-1]) if len(lines) else shape.header_line, "merged": asked.merged,
    }  # fmt: skip
    if asked.last_line is not None:
        choices["last_line"] = asked.last_line
    alternatives: dict[str, tuple[Any, ...]] = {
        "sheet": book.names, "header_line": (0, *shape.candidates), "trim": (True, False)
    }  # fmt: skip
    first = tuple(" | ".join(row)[:500] for _, row in sample[:12])
    notes = [*book.merged_note(shape.header_line), *notes]
    return Draft(
        names, columns, lines, [*book.notes, *shape.notes, *notes], choices, alternatives, first
    )


def _after(chunks: Any, line: int) -> Any:
    for chunk in chunks:
        keep = [i for i, at in enumerate(chunk.lines) if at > line]
        if keep:
            yield Chunk(chunk.rows[keep[0] :], chunk.lines[keep[0] :])


def _without_phantoms(
    names: tuple[str, ...], columns: list[pa.ChunkedArray]
) -> tuple[tuple[str, ...], list[pa.ChunkedArray]]:
    """Drop columns after the last that has a name or a cell: only their format reached so far."""
    width = len(names)
    while width > 1 and not names[width - 1].strip() and not any_text(columns[width - 1]):
        width -= 1
    return names[:width], columns[:width]
