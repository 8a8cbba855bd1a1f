"""Excel workbooks and Parquet files: from bytes to texts."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import python_calamine as calamine

from engine.errors import DataError
from engine.exact import Exact
from engine.ingest.content import check_zip
from engine.ingest.delimited import CELLS_AT_ONCE, Chunk
from engine.ingest.limits import Limits
from engine.ingest.notes import Note, counted


class Workbook(Exact):
    """One sheet of a workbook as records of texts.

    Args:
        data: The file.
        sheet: Name of the sheet, or its position from 0; None takes the first that holds anything.
        limits: Sizes to keep to.

    Raises:
        DataError: If the workbook cannot be opened (``E_FORMAT``), holds nothing (``E_EMPTY``), has
            no such sheet (``E_SHEET``), or is too large (``E_TOO_LARGE``).
    """

    def __init__(self, data: bytes, sheet: str | int | None, limits: Limits) -> None:
        if data[:2] == b"PK":
            check_zip(data, limits)
        with _opening():
            self._book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        self.names = tuple(
            found.name
            for found in self._book.sheets_metadata
            if found.typ == calamine.SheetTypeEnum.WorkSheet
        )
        if not self.names:
            raise _unreadable("without a sheet of cells")
        self._sheet, self.name = self._open(sheet, limits)
        self.width = self._sheet.width
        self.notes = self._notes(sheet)

    def _open(self, sheet: str | int | None, limits: Limits) -> tuple[calamine.CalamineSheet, str]:
        if sheet is None:
            for name in self.names:
                found = self._load(name, limits)
                if found.height:
                    return found, name
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
            )
        ]

    def __iter__(self) -> Iterator[Chunk]:
        rows: list[list[str]] = []
        number = max(1, CELLS_AT_ONCE // max(1, self.width))
        line = 1  # rows above the first used one come too, so lines are those a person sees
        for cells in self._sheet.iter_rows():
            rows.append([text(cell) for cell in cells])
            if len(rows) == number:
                yield Chunk(rows, range(line, line + len(rows)))
                line += len(rows)
                rows = []
        if rows:
            yield Chunk(rows, range(line, line + len(rows)))


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


# -- Parquet ------------------------------------------------------------------------------------


class ParquetTable(Exact):
    """The columns of a Parquet file as texts; names come from its schema.

    Raises:
        DataError: If the file is damaged (``E_FORMAT``), too large (``E_TOO_LARGE``), or holds
            nested columns only.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        try:
            self._file = pq.ParquetFile(pa.BufferReader(data))
            about = self._file.metadata
            schema = self._file.schema_arrow
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _bad_parquet() from error
        self.names = tuple(schema.names)
        rows, columns = about.num_rows, len(self.names)
        unpacked = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if (
            rows * max(1, columns) > limits.cells
            or columns > limits.columns
            or unpacked > 4 * limits.file
        ):
            raise DataError(
                f"The Parquet file declares {rows:,} rows and {columns:,} columns; at most "
                f"{limits.cells:,} cells can be read. Keep only the columns that are needed.",
                code="E_TOO_LARGE",
            )
        if not columns:
            raise DataError(
                "The Parquet file has no column; a table needs at least one. Choose another file.",
                code="E_EMPTY",
            )
        self.rows = rows
        self._nested = [f.name for f in schema if pa.types.is_nested(f.type)]
        self._index = [i for i, f in enumerate(schema) if _is_saved_index(f.name)]

    def columns(self) -> Iterator[pa.ChunkedArray]:
        """Yield each column as texts; a missing value is an empty text."""
        for j in range(len(self.names)):
            try:
                column = self._read(j)
                yield as_texts(column)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise _bad_parquet() from error

    def _read(self, j: int) -> pa.ChunkedArray:
        # By position: two columns of one name are two columns.
        leaves = [i for i in range(len(self._file.schema)) if self._root(i) == j]
        reader = self._file.reader
        return reader.read_all(column_indices=leaves, use_threads=False).column(0)

    def _root(self, leaf: int) -> int:
        if not self._nested:
            return leaf
        path = self._file.schema.column(leaf).path.split(".")[0]
        return self.names.index(path)

    def notes(self) -> list[Note]:
        """Say what a person should know about the columns."""
        found = []
        if self._nested:
            found.append(
                Note(
                    "W_NESTED",
                    f"{counted(len(self._nested), 'column')} of lists or structures; each of these "
                    "is shown as one text.",
                )
            )
        return found


def _is_saved_index(name: str) -> bool:
    return name.startswith("__index_level_") and name.endswith("__")


def as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write any column as texts; a missing value becomes an empty one."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_string(kind):
        column = column.cast(pa.large_string())
    elif pa.types.is_timestamp(kind):
        column = _timestamps(column)
    elif pa.types.is_date(kind):
        column = column.cast(pa.date32()).cast(pa.large_string())
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        column = pa.chunked_array([_decoded(chunk) for chunk in column.chunks], pa.large_string())
    elif not pa.types.is_large_string(kind):
        column = pa.chunked_array(
            [
                pa.array([_plain(v) for v in c.to_pylist()], pa.large_string())
                for c in column.chunks
            ],
            pa.large_string(),
        )
    return pc.fill_null(column, "")


def _timestamps(column: pa.ChunkedArray) -> pa.ChunkedArray:
    texts = column.cast(pa.large_string())
    # A day kept as a moment reads better as the day.
    days = pc.all(pc.match_substring_regex(texts, r" 00:00:00(\.0+)?$")).as_py()
    return pc.utf8_slice_codeunits(texts, 0, 10) if days else texts


def _decoded(chunk: pa.Array) -> pa.Array:
    return pa.array(
        [
            None if value is None else value.decode("utf-8", "replace")
            for value in chunk.to_pylist()
        ],
        pa.large_string(),
    )


def _plain(value: object) -> str | None:
    if value is None or value != value:  # a NaN is no answer
        return None
    return repr(value) if isinstance(value, float) else str(value)


def _bad_parquet() -> DataError:
    return DataError(
        "The Parquet file is damaged or of a version that cannot be read. Write it again, or "
        "save the "
        "table as CSV.",
        code="E_FORMAT",
    )
