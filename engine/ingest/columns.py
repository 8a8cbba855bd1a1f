"""From records to columns of texts, with every record accounted for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.errors import DataError
from engine.exact import Exact
from engine.ingest.choices import LongRows
from engine.ingest.delimited import Chunk, long_field
from engine.ingest.footer import footer_length, footer_note, is_comment
from engine.ingest.leftovers import second_table, second_table_note
from engine.ingest.limits import Limits
from engine.ingest.notes import SHOWN, Note, counted, lines_text, were
from engine.ingest.structure import Record

_TAIL = 40
"""Records at the end that are looked at for totals and notes."""
_WIDE = 256
_BLANK = re.compile(r"\s")
_POOL = pa.system_memory_pool()
"""What stays is allocated apart from what passes, so that the latter can be given back whole."""
_SMALL_PARTS, _SMALL_PART = 4, 1000


@dataclass(slots=True, eq=False, repr=False)
class Columns(Exact):
    """Collects records of one width; what does not fit is padded, kept apart, or refused.

    Args:
        width: Number of columns.
        limits: Sizes to keep to.
        padded: Whether all records come with the same width (a spreadsheet).
        long_rows: What becomes of a record with more cells than columns.
        trim: Whether blanks around a cell are removed.
        last_line: Line after which nothing is data; None finds it.
        names: The header's cells, to tell it from another table's.
    """

    width: int
    limits: Limits
    padded: bool = False
    long_rows: LongRows = "refuse"
    trim: bool = True
    last_line: int | None = None
    names: tuple[str, ...] = ()
    rows: int = 0
    trimmed: int = 0
    _parts: list[list[pa.Array]] = field(default_factory=list)
    _lines: list[NDArray[np.int32]] = field(default_factory=list)
    _short: list[int] = field(default_factory=list)
    _long: list[tuple[int, int]] = field(default_factory=list)
    _cut: list[int] = field(default_factory=list)
    _blank: list[int] = field(default_factory=list)
    _comments: list[int] = field(default_factory=list)
    _beyond: int = 0
    _named: int = 0
    _tail: list[Record] = field(default_factory=list)
    _pending: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.width > self.limits.columns:
            raise DataError(
                f"The table has {self.width:,} columns; at most {self.limits.columns:,} can be "
                "read. "
                "Keep only the columns that are needed.",
                code="E_TOO_LARGE",
            )
        self._parts = [[] for _ in range(self.width)]
        self._named = self.width

    # -- taking records in ----------------------------------------------------------------------

    def add(self, chunks: Iterable[Chunk]) -> None:
        """Take all records in."""
        for chunk in chunks:
            self._remember(chunk)
            if self._regular(chunk):
                self._store(chunk.rows, chunk.lines)
            else:
                self._sort_out(chunk)
            chunk.rows.clear()  # whoever made it holds it still, and the next needs the room

    def _regular(self, chunk: Chunk) -> bool:
        if self.last_line is not None and chunk.lines[-1] > self.last_line:
            return False
        if self._pending or set(map(len, chunk.rows)) != {self.width}:
            return False
        # One blank cell is all a blank line of a one-column table has; the general way decides.
        return not self.padded and (self.width > 1 or not any(map(str.isspace, _first(chunk.rows))))

    def _remember(self, chunk: Chunk) -> None:
        tail = _TAIL if self.width <= _WIDE else 4
        recent = list(zip(chunk.lines[-tail:], chunk.rows[-tail:], strict=True))
        self._tail = (self._tail + recent)[-tail:]

    def _sort_out(self, chunk: Chunk) -> None:
        rows: list[list[str]] = []
        lines: list[int] = []
        for line, row in zip(chunk.lines, chunk.rows, strict=True):
            kept = self._fitted(line, row)
            if kept is not None:
                # In one column a blank line is a missing cell, unless it only ends the file.
                rows += [[""] for _ in self._pending]
                lines += self._pending
                self._blank += self._pending
                self._pending.clear()
                rows.append(kept)
                lines.append(line)
        if rows:
            self._store(rows, lines)

    def _fitted(self, line: int, row: list[str]) -> list[str] | None:
        if self.last_line is not None and line > self.last_line:
            self._beyond += bool(row)
            return None
        if not row or ((len(row) < self.width or self.padded) and not any(map(str.strip, row))):
            (self._pending if self.width == 1 and not self.padded else self._blank).append(line)
            return None
        if len(row) < self.width:
            if is_comment(row):
                self._comments.append(line)
                return None
            if len(row) < self._named:
                self._short.append(line)
            return row + [""] * (self.width - len(row))
        if len(row) > self.width:
            return self._overlong(line, row)
        return row

    def _overlong(self, line: int, row: list[str]) -> list[str] | None:
        if not any(map(str.strip, row[self.width :])):
            self._cut.append(line)
            return row[: self.width]
        self._long.append((line, len(row)))
        if self.long_rows == "widen":
            self._widen(len(row))
            return row
        # Kept for now with what fits, so that a note at the end can be told from a record.
        return row[: self.width]

    def _widen(self, width: int) -> None:
        if width > self.limits.columns:
            raise DataError(
                f"A row has {width:,} cells; at most {self.limits.columns:,} columns can be "
                "read. Leave "
                "such rows out.",
                code="E_TOO_LARGE",
            )
        for _ in range(width - self.width):
            parts = [pa.nulls(self.rows, pa.large_string()).fill_null("")] if self.rows else []
            self._parts.append(parts)
        self.width = width

    def _store(self, rows: list[list[str]], lines: Sequence[int]) -> None:
        if self.long_rows == "widen":
            rows = [row + [""] * (self.width - len(row)) for row in rows]
        if (self.rows + len(rows)) * self.width > self.limits.cells:
            raise DataError(
                f"The table has more than {self.limits.cells:,} cells. Keep only the columns "
                "that are "
                "needed, or take a part of the rows.",
                code="E_TOO_LARGE",
            )
        plain = self.width > _WIDE and self._is_plain(rows)
        for parts, cells in zip(self._parts, zip(*rows, strict=True), strict=True):
            array = _array(cells)
            parts.append(array if plain else self._checked(array, lines))
            _merge(parts)
        self._lines.append(np.asarray(lines, dtype=np.int32))
        if not len(self._lines) % 32:
            pa.default_memory_pool().release_unused()
        self.rows += len(rows)

    def _is_plain(self, rows: list[list[str]]) -> bool:
        """Tell at one go, for a table of many columns, that no cell is long or holds a blank."""
        longest = max(max(map(len, row)) for row in rows)
        return 4 * longest <= self.limits.field and not any(
            _BLANK.search("".join(row)) for row in rows
        )

    def _checked(self, array: pa.Array, lines: Sequence[int]) -> pa.Array:
        sizes = pc.binary_length(array)
        if (pc.max(sizes).as_py() or 0) > self.limits.field:
            at = int(np.argmax(np.asarray(sizes) > self.limits.field))
            raise long_field(lines[at], self.limits)
        if not self.trim:
            return array
        trimmed = pc.utf8_trim_whitespace(array)
        changed = pc.sum(pc.not_equal(pc.binary_length(trimmed), sizes)).as_py()
        if not changed:
            return array
        self.trimmed += int(changed)
        return trimmed

    # -- the end --------------------------------------------------------------------------------

    def finish(self) -> tuple[list[pa.ChunkedArray], NDArray[np.int32], list[Note]]:
        """Return the columns, the line of each record, and what was noticed.

        Raises:
            DataError: If records have more cells than there are columns and nobody has said what
                to do with them (``E_CSV_SHAPE``).
        """
        lines = np.concatenate(self._lines) if self._lines else np.zeros(0, np.int32)
        notes: list[Note] = []
        columns = [pa.chunked_array(parts, pa.large_string()) for parts in self._parts]
        self._parts = []
        other = self._other_table(columns, lines)
        if other is not None:
            last, end = int(lines[other[0] - 1]), int(lines[-1])
            notes.append(second_table_note(int(lines[other[1]]), last, end))
            lines = self._cut_off(lines, other[0])
        elif below := self._below(lines):
            notes.append(footer_note(below, int(lines[len(lines) - below])))
            lines = self._cut_off(lines, len(lines) - below)
        columns = [column.slice(0, len(lines)) for column in columns]
        columns, lines, found = self._without_long(columns, lines)
        notes += found + self._notes(lines)
        return columns, lines, notes

    def _cut_off(self, lines: NDArray[np.int32], number: int) -> NDArray[np.int32]:
        """Keep the first records, and only what was noticed of these."""
        first = int(lines[number])
        for irregular in (self._short, self._cut):
            irregular[:] = [line for line in irregular if line < first]
        self._long = [(line, cells) for line, cells in self._long if line < first]
        self._blank = [line for line in self._blank if line < first]
        return lines[:number]

    def _other_table(
        self, columns: list[pa.ChunkedArray], lines: NDArray[np.int32]
    ) -> tuple[int, int] | None:
        if self.last_line is not None:
            return None
        blank = sorted([*self._blank, *_empty(columns, lines)])
        irregular = [*self._short, *(line for line, _ in self._long)]
        names = self.names or ("",) * len(columns)
        names = names + ("",) * (len(columns) - len(names))
        return second_table(names, columns, lines, blank, irregular)

    def _below(self, lines: NDArray[np.int32]) -> int:
        """Count the records at the end that are totals, notes or empty."""
        if self.last_line is not None or not len(lines) or (self.width == 1 and not self.padded):
            return 0
        kept = set(lines[-_TAIL:].tolist())
        tail = [(line, row) for line, row in self._tail if line in kept]
        found = footer_length(
            tail, self.width, padded=self.padded, blanks=set(self._blank[-_TAIL:])
        )
        return min(found, len(lines))

    def _without_long(
        self, columns: list[pa.ChunkedArray], lines: NDArray[np.int32]
    ) -> tuple[list[pa.ChunkedArray], NDArray[np.int32], list[Note]]:
        if not self._long:
            return columns, lines, []
        numbers = [line for line, _ in self._long]
        where = lines_text(numbers)
        if self.long_rows == "refuse":
            widest = max(cells for _, cells in self._long)
            raise DataError(
                f"{counted(len(numbers), 'row')} ({where}) "
                f"{'has' if len(numbers) == 1 else 'have'} up "
                f"to {widest:,} cells; the header has {self.width:,} names. Put quotes around "
                "cells that "
                "hold the separator, or choose to leave these rows out or to keep their extra "
                "cells in "
                "columns of their own.",
                code="E_CSV_SHAPE",
            )
        if self.long_rows == "widen":
            sentence = (
                f"{where[0].upper()}{where[1:]} had more cells than the header has names; the "
            )
            sentence += "extra cells are kept in columns without a name, at the end."
            return columns, lines, [_long_note(sentence, numbers)]
        keep = ~np.isin(lines, np.array(numbers, dtype=np.int32))
        mask = pa.array(keep)
        sentence = f"{where[0].upper()}{where[1:]} had more cells than the header has names; "
        sentence += f"{counted(len(numbers), 'row')} left out, as chosen."
        columns = [column.filter(mask) for column in columns]
        return columns, lines[keep], [_long_note(sentence, numbers)]

    def _notes(self, lines: NDArray[np.int32]) -> list[Note]:
        # Long: one sentence for each thing that was left out or mended.
        found = []
        last = int(lines[-1]) if len(lines) else 0
        if self._short:
            found.append(
                Note(
                    "W_SHORT_ROWS",
                    f"{counted(len(self._short), 'row')} ({lines_text(self._short)}) had fewer "
                    "cells "
                    f"than the {self.width:,} columns; empty cells were added at the end.",
                    lines=tuple(self._short[:SHOWN]),
                )
            )
        if self._cut:
            found.append(
                Note(
                    "W_TRAILING_SEPARATOR",
                    f"{counted(len(self._cut), 'row')} ended in more separators than there are "
                    "columns; "
                    "nothing stood there, so nothing is lost.",
                    lines=tuple(self._cut[:SHOWN]),
                )
            )
        inside = [line for line in self._blank if line < last]
        if inside:
            kept = "kept as empty cells" if self.width == 1 and not self.padded else "left out"
            found.append(
                Note(
                    "W_BLANK_LINES",
                    f"{counted(len(inside), 'blank line')} between the rows ({lines_text(inside)}) "
                    f"{were(len(inside))} {kept}.",
                    lines=tuple(inside[:SHOWN]),
                )
            )
        if self._comments:
            found.append(
                Note(
                    "W_COMMENTS",
                    f"{counted(len(self._comments), 'line')} beginning with # "
                    f"({lines_text(self._comments)}) {were(len(self._comments))} taken for "
                    "comments "
                    "and left out.",
                    lines=tuple(self._comments[:SHOWN]),
                )
            )
        if self._beyond:
            found.append(
                Note(
                    "W_LAST_LINE",
                    f"{counted(self._beyond, 'line')} after line {self.last_line:,} left out, as "
                    "chosen.",
                    choice="last_line",
                )
            )
        if self.trimmed:
            found.append(
                Note(
                    "W_TRIMMED",
                    f"Blanks around {counted(self.trimmed, 'cell')} were removed.",
                    choice="trim",
                )
            )
        return found


def _array(cells: Sequence[str]) -> pa.Array:
    try:
        return pa.array(cells, pa.large_string(), memory_pool=_POOL)
    except UnicodeEncodeError:
        mended = [cell.encode("utf-8", "replace").decode() for cell in cells]
        return pa.array(mended, pa.large_string(), memory_pool=_POOL)


def _merge(parts: list[pa.Array]) -> None:
    """Join the last parts where they are many and small: each costs more than its cells."""
    if len(parts) >= _SMALL_PARTS and len(parts[-_SMALL_PARTS]) < _SMALL_PART >= len(parts[-1]):
        parts[-_SMALL_PARTS:] = [pa.concat_arrays(parts[-_SMALL_PARTS:])]


def _first(rows: Iterable[Sequence[str]]) -> Iterable[str]:
    return (row[0] for row in rows)


def _empty(columns: list[pa.ChunkedArray], lines: NDArray[np.int32]) -> list[int]:
    """Return the lines of records that hold separators only: a gap between two tables, perhaps."""
    if len(columns) == 1 or not len(lines):
        return []
    empty = pc.equal(columns[0], "")
    for column in columns[1:]:
        if not pc.any(empty).as_py():
            return []
        empty = pc.and_(empty, pc.equal(column, ""))
    found: list[int] = lines[np.asarray(empty.combine_chunks(), dtype=np.bool_)].tolist()
    return found


def _long_note(sentence: str, numbers: Sequence[int]) -> Note:
    return Note("W_LONG_ROWS", sentence, lines=tuple(numbers[:SHOWN]), choice="long_rows")
