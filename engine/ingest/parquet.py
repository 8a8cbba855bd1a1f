"""Parquet files and columns of Arrow: from bytes to texts, and to a table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from engine.coding import text_of
from engine.errors import DataError
from engine.exact import Exact
from engine.ingest.choices import Choices
from engine.ingest.delimited import Progress
from engine.ingest.draft import Draft
from engine.ingest.limits import Limits
from engine.ingest.notes import Note, counted


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
        return pc.fill_null(_undictionary(column), "")
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_string(kind):
        column = column.cast(pa.large_string())
    elif pa.types.is_timestamp(kind):
        column = _timestamps(column)
    elif pa.types.is_date(kind):
        column = column.cast(pa.date32()).cast(pa.large_string())
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        column = pa.chunked_array([_decoded(chunk) for chunk in column.chunks], pa.large_string())
    elif pa.types.is_float32(kind) or pa.types.is_float16(kind):
        # The shortest decimal of this precision: 0.7 is no 0.699999988.
        parts = [[text_of(v) for v in c.to_numpy(zero_copy_only=False)] for c in column.chunks]
        column = pa.chunked_array(
            [pa.array(p, pa.large_string()) for p in parts], pa.large_string()
        )
    elif not pa.types.is_large_string(kind):
        column = pa.chunked_array(
            [
                pa.array([_plain(v) for v in c.to_pylist()], pa.large_string())
                for c in column.chunks
            ],
            pa.large_string(),
        )
    return pc.fill_null(column, "")


def _undictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    # Not by a cast: there is none from the views of texts that Polars' categories are.
    parts = [
        as_texts(pa.chunked_array([chunk.dictionary])).combine_chunks().take(chunk.indices)
        for chunk in column.chunks
    ]
    return pa.chunked_array(parts, pa.large_string())


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


def read_parquet(data: bytes, asked: Choices, limits: Limits, progress: Progress | None) -> Draft:
    """Read a Parquet file."""
    table = ParquetTable(data, limits)
    columns = []
    for j, column in enumerate(table.columns()):
        columns.append(column)
        if progress is not None:
            progress(j / len(table.names))
    if asked.trim:
        columns = [pc.utf8_trim_whitespace(column) for column in columns]
    lines = np.arange(1, table.rows + 1, dtype=np.int32)
    choices = {"format": "parquet", "trim": asked.trim}
    return Draft(table.names, columns, lines, table.notes(), choices, {"trim": (True, False)})
