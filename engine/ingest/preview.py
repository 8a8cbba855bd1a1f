"""From bytes to a preview of what was understood, every choice of which can be changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.errors import DataError
from engine.exact import Exact
from engine.ingest import content, delimited, dialect, encoding, readings, spreadsheet, structure
from engine.ingest.columns import Columns, LongRows
from engine.ingest.delimited import Chunk, Progress
from engine.ingest.kinds import Proposal, propose
from engine.ingest.limits import Limits, megabytes
from engine.ingest.notes import Note, counted, were

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO

_MANY_COLUMNS = 1000
_TEXT = pd.StringDtype(storage="pyarrow", na_value=np.nan)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Preview(Exact):
    """A table as it was understood. Its rows are private: it prints no cell.

    Args:
        frame: Cells as texts, one record a row; columns ``c0``, ``c1``, ... An empty text is a
            missing cell.
        labels: The columns' names as a person sees them, in order, all different.
        warnings: What was noticed, each with a stable code and a sentence.
        choices: What was decided; ``read(source, **preview.choices)`` decides the same again.
        alternatives: Other values that some of the choices could take.
        first_lines: The first lines as decoded, before any guess.
        lines: The line of the file that each record begins on.
        name: The file's name, for people.
    """

    frame: pd.DataFrame
    labels: tuple[str, ...]
    warnings: tuple[Note, ...]
    choices: Mapping[str, Any]
    alternatives: Mapping[str, tuple[Any, ...]]
    first_lines: tuple[str, ...] = ()
    lines: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    name: str = ""
    _proposals: dict[str, Proposal] = field(default_factory=dict)

    @property
    def schema_only(self) -> bool:
        """Whether there are columns and no records, which is enough to plan with."""
        return len(self.frame) == 0

    def column(self, label: str) -> str:
        """Return the id (``c0`` ...) of the column with this label.

        Raises:
            DataError: If no column has it (``E_COLUMN``).
        """
        if label not in self.labels:
            raise DataError(
                f"The table has no column {label!r}; it has {counted(len(self.labels), 'column')}. "
                "Name one of them.",
                code="E_COLUMN",
            )
        return f"c{self.labels.index(label)}"

    def texts(self, column: str) -> pa.ChunkedArray:
        """Return a column's cells as an Arrow array of texts."""
        return as_arrow(self.frame[column])

    def attributes(self, *labels: str) -> tuple[Proposal, ...]:
        """Propose how each column may be read, with the reason; columns are named by label.

        Identifiers, constants, empty columns and free text are offered for leaving out
        (``proposal.keep`` is False); nothing is left out or made an attribute in silence.
        """
        wanted = [self.column(label) for label in labels] or list(self.frame.columns)
        for column in wanted:
            if column not in self._proposals:
                label = self.labels[int(column[1:])]
                self._proposals[column] = propose(
                    self.texts(column), column=column, label=label, choices=self.choices
                )
        return tuple(self._proposals[column] for column in wanted)

    def __repr__(self) -> str:
        return (
            f"Preview({self.name!r}, {len(self.labels)} columns, {len(self.warnings)} warnings; "
            "the records are private)"
        )


def as_arrow(column: pd.Series[str]) -> pa.ChunkedArray:
    """Return a text column as an Arrow array, without copying where pandas keeps it as one."""
    return pa.chunked_array(pa.array(column, type=pa.large_string(), from_pandas=True))


def read(
    source: Source,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    header_line: int | None = None,
    last_line: int | None = None,
    quoting: str | None = None,
    escape: str | None = None,
    missing: tuple[str, ...] | None = None,
    sheet: str | int | None = None,
    long_rows: LongRows = "refuse",
    trim: bool = True,
    format: str | None = None,
    name: str | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Preview:
    r"""Read any table a person has and say how it was understood.

    Every choice left None is found from the content; the name of the file decides nothing.

    Args:
        source: Path, bytes, or a binary file.
        encoding: Character encoding of a text.
        separator: What stands between cells; "" for a single column.
        decimal: Decimal mark of its numbers, ``"."`` or ``","``.
        header_line: Line of the header, counted from 1; 0 if there is none.
        last_line: Last line that holds data.
        quoting: Quote character; "" if quotes are plain text.
        escape: Escape character inside quotes; "" for none.
        missing: Cell texts that mean "missing", besides the empty one.
        sheet: Sheet of a workbook, by name or by position from 0.
        long_rows: What becomes of rows with more cells than the header has names: ``"refuse"``,
            ``"skip"``, or ``"widen"`` (keep the extra cells in columns without a name).
        trim: Whether blanks around cells are removed.
        format: ``"text"``, ``"excel"`` or ``"parquet"``; checked against the content.
        name: The file's name, for people; taken from a path.
        limits: Sizes to keep to.
        progress: Called now and then with the share that is done, 0 to 1.

    Raises:
        DataError: If no table can be had: ``E_FILE``, ``E_FORMAT``, ``E_EMPTY``, ``E_TOO_LARGE``,
            ``E_CSV_SHAPE``, ``E_ENCODING``, ``E_SHEET`` or ``E_CHOICE``.

    >>> preview = read(b"age;city\n31;Oslo\n4;Rome\n")
    >>> preview.labels, preview.frame["c0"].tolist(), preview.choices["separator"]
    (('age', 'city'), ['31', '4'], ';')
    """
    limits = limits or Limits()
    asked = _Asked(
        encoding, separator, decimal, header_line, last_line, quoting, escape, missing, sheet,
        long_rows, trim,
    )  # fmt: skip
    asked.check()
    data, name = _bytes(source, limits, name)
    kind = content.kind_of(data)
    packed = kind == "gzip"
    if packed:
        data = content.gunzip(data, limits)
        kind = content.kind_of(data)
        if kind == "gzip":
            raise content.refused("an archive inside an archive")
    if format is not None and format != kind:
        raise DataError(
            f"The file holds {kind}, not {format}. Leave the format to be found from the content.",
            code="E_FORMAT",
        )
    read_as = {"text": _read_text, "excel": _read_workbook, "parquet": _read_parquet}[kind]
    try:
        draft = read_as(data, asked, limits, progress)
    except UnicodeError:
        raise DataError(
            "The text cannot be read in the encoding asked for. Choose another encoding.",
            code="E_ENCODING",
        ) from None
    del data  # before the columns are put together: they need the room
    if progress is not None:
        progress(1.0)
    return draft.preview(asked, name)


@dataclass(slots=True)
class _Asked:
    """What a person chose; None is "find it"."""

    encoding: str | None
    separator: str | None
    decimal: str | None
    header_line: int | None
    last_line: int | None
    quoting: str | None
    escape: str | None
    missing: tuple[str, ...] | None
    sheet: str | int | None
    long_rows: LongRows
    trim: bool

    def check(self) -> None:
        """Refuse what no file could fit.

        Raises:
            DataError: If a choice is none (``E_CHOICE``).
        """
        self.separator = {"tab": "\t", "\\t": "\t"}.get(self.separator or "", self.separator)
        if self.missing is not None:
            self.missing = tuple(self.missing)
        for what, fine, needed in (
            ("separator", _is_mark(self.separator), "one character that is no quote or line end"),
            (
                "quoting",
                self.quoting in (None, '"', "'", ""),
                "a double quote, a single one or none",
            ),
            ("escape", self.escape in (None, "\\", ""), "a backslash or none"),
            ("decimal", self.decimal in (None, ".", ","), "a point or a comma"),
            ("header_line", _is_line(self.header_line, 0), "a line number, or 0 for no header"),
            ("last_line", _is_line(self.last_line, 1), "a line number, from 1"),
            ("long_rows", self.long_rows in ("refuse", "skip", "widen"), "refuse, skip or widen"),
            ("missing", _are_texts(self.missing), "a list of texts"),
        ):
            if not fine:
                raise DataError(
                    f"The choice {what!r} cannot be what was given; {needed} is needed. Correct "
                    "it, "
                    "or leave it to be found.",
                    code="E_CHOICE",
                )


def _is_mark(separator: str | None) -> bool:
    if separator is None or separator == "":
        return True
    return isinstance(separator, str) and len(separator) == 1 and separator not in "\"'\r\n\0\x1e\\"


def _is_line(line: object, least: int) -> bool:
    whole = isinstance(line, int) and not isinstance(line, bool)
    return line is None or (whole and line >= least)  # type: ignore[operator]


def _are_texts(texts: object) -> bool:
    return texts is None or (isinstance(texts, tuple) and all(isinstance(t, str) for t in texts))


def _bytes(source: Source, limits: Limits, name: str | None) -> tuple[bytes, str]:
    """Return the file's content, its size checked before it is read."""
    if isinstance(source, bytes | bytearray | memoryview):
        data = source if isinstance(source, bytes) else None
        size = len(source) if not isinstance(source, memoryview) else source.nbytes
        if size > limits.file:
            raise content.too_large(size, limits)
        return data if data is not None else bytes(source), name or ""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            size = path.stat().st_size
            if size > limits.file:
                raise content.too_large(size, limits)
            return path.read_bytes(), name or path.name
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no path"
            raise DataError(
                f"The file cannot be read ({reason}). Give the path of a file that exists and is "
                "readable.",
                code="E_FILE",
            ) from None
    data = source.read(limits.file + 1)
    if len(data) > limits.file:
        raise DataError(
            f"The file is larger than {megabytes(limits.file)}, the most that can be read. Keep "
            "only "
            "the columns that are needed, or take a part of the rows.",
            code="E_TOO_LARGE",
        )
    return data, name or str(getattr(source, "name", "") or "")


# -- the kinds of file --------------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False)
class _Draft(Exact):
    """A table on its way to becoming a preview."""

    names: tuple[str, ...]
    columns: list[pa.ChunkedArray]
    lines: NDArray[np.int32]
    notes: list[Note]
    choices: dict[str, Any]
    alternatives: dict[str, tuple[Any, ...]]
    first_lines: tuple[str, ...] = ()

    def preview(self, asked: _Asked, name: str) -> Preview:
        labels, notes = structure.label_columns(self.names)
        self.notes += notes
        self.notes += _table_notes(labels, self.columns, len(self.lines))
        self._choose_decimal(asked)
        self._choose_missing(asked)
        return Preview(
            _frame(self.columns, len(self.lines)),
            labels,
            tuple(self.notes),
            MappingProxyType(self.choices),
            MappingProxyType(self.alternatives),
            self.first_lines,
            self.lines,
            name,
        )

    def _choose_decimal(self, asked: _Asked) -> None:
        found, note = _decimal(self.columns, self.choices.get("separator"))
        self.choices["decimal"] = asked.decimal or found
        self.alternatives["decimal"] = (".", ",")
        if asked.decimal is None and note is not None:
            self.notes.append(note)

    def _choose_missing(self, asked: _Asked) -> None:
        tokens = _missing_tokens(self.columns)
        self.choices["missing"] = asked.missing if asked.missing is not None else ()
        self.alternatives["missing"] = tuple(tokens)
        if asked.missing is None and tokens:
            number = sum(tokens.values())
            named = ", ".join(f'"{token}"' for token in list(tokens)[:6])
            self.notes.append(
                Note(
                    "W_MISSING_TOKENS",
                    f"{counted(number, 'cell')} {were(number, 'holds', 'hold')} what often means "
                    f"missing ({named}). Nothing is changed until you say that this means missing.",
                    choice="missing",
                )
            )


def _read_text(data: bytes, asked: _Asked, limits: Limits, progress: Progress | None) -> _Draft:
    data = delimited.text_of(data)
    found = encoding.chosen(asked.encoding, data) if asked.encoding else encoding.detect(data)
    sample, _ = delimited.first_lines(data, found, limits)
    declared = dialect.declared(sample[0]) if sample else None
    skip = 1 if declared else 0
    if not "".join(sample[skip:]).strip("\ufeff \t\r\n,;|\"'") and not declared:
        raise content.empty()
    # Lines above a header that a person named are not parsed: they may hold anything.
    top = max(skip, (asked.header_line or 1) - 1)
    spoken, possible = dialect.detect(
        sample[top:] or sample,
        separator=asked.separator if asked.separator is not None else declared,
        quoting=asked.quoting, escape=asked.escape,
    )  # fmt: skip
    spoken = replace(spoken, trim=asked.trim)
    shape = _text_structure(sample, skip, spoken, asked)
    reader = delimited.Reader(
        data, found, spoken, limits, skip=max(skip, shape.first_line), width=len(shape.names),
        trusted=asked.quoting is not None, progress=progress,
    )  # fmt: skip
    if shape.header_line:
        # The header may itself run over several lines; it is parsed again and dropped.
        reader = delimited.Reader(
            data, found, spoken, limits, skip=shape.header_line - 1, width=len(shape.names),
            trusted=asked.quoting is not None, progress=progress,
        )  # fmt: skip
    table = Columns(
        len(shape.names),
        limits,
        long_rows=asked.long_rows,
        trim=asked.trim,
        last_line=asked.last_line,
    )
    table.add(_below_header(reader, shape.header_line))
    columns, lines, notes = table.finish()
    names = shape.names + ("",) * (table.width - len(shape.names))
    choices = {
        "format": "text", "encoding": found.name, "separator": spoken.separator,
        "quoting": spoken.quoting, "escape": spoken.escape, "header_line": shape.header_line,
        "last_line": int(lines[-1]) if len(lines) else shape.header_line,
        "long_rows": asked.long_rows, "trim": asked.trim,
    }  # fmt: skip
    if asked.last_line is not None:
        choices["last_line"] = asked.last_line
    alternatives: dict[str, tuple[Any, ...]] = {
        "encoding": encoding.COMMON,
        "separator": tuple(dict.fromkeys((*possible, *dialect.STRONG, " ", ""))),
        "quoting": ('"', "'", ""),
        "escape": ("", "\\"),
        "header_line": (0, *shape.candidates),
        "long_rows": ("refuse", "skip", "widen"),
        "trim": (True, False),
    }
    notes = [
        *_encoding_notes(found, asked), *_separator_notes(spoken, possible, asked, declared),
        *_one_column_notes(spoken, asked, shape, columns),
        *shape.notes, *reader.notes(), *notes,
    ]  # fmt: skip
    return _Draft(
        names, columns, lines, notes, choices, alternatives, delimited.preview_lines(data, found)
    )


def _text_structure(
    sample: list[str], skip: int, spoken: dialect.Dialect, asked: _Asked
) -> structure.Structure:
    records: list[structure.Record] = []
    line = skip + 1
    start = line
    if asked.header_line:
        line = start = asked.header_line
    for row in dialect.records(sample[start - 1 :], spoken):
        records.append((line, row))
        line += 1 + sum(len(cell.splitlines()) - 1 for cell in row if "\n" in cell or "\r" in cell)
    if not any(structure.filled(row) for _, row in records):
        if asked.header_line:
            raise DataError(
                f"There is nothing on line {asked.header_line:,} or after it; the header is needed "
                "there. Choose another line.",
                code="E_EMPTY",
            )
        raise content.empty()
    found = structure.find(records, header_line=asked.header_line, padded=False)
    if not found.header_line and found.first_line < skip:
        return structure.Structure(0, skip, found.names, found.notes, found.candidates)
    return found


def _below_header(reader: Any, header_line: int) -> Any:
    """Yield the chunks without the header record."""
    for chunk in reader:
        if header_line and chunk.lines[0] <= header_line:
            kept = [i for i, line in enumerate(chunk.lines) if line > header_line]
            # Blank lines above a header that was asked for come with it.
            first = kept[0] if kept else len(chunk.rows)
            chunk = Chunk(chunk.rows[first:], chunk.lines[first:])
        if chunk.rows:
            yield chunk


def _read_workbook(data: bytes, asked: _Asked, limits: Limits, progress: Progress | None) -> _Draft:
    book = spreadsheet.Workbook(data, asked.sheet, limits)
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
    table = Columns(width, limits, padded=True, trim=asked.trim, last_line=asked.last_line)
    table.add(_after(book, max(shape.header_line, shape.first_line)))
    columns, lines, notes = table.finish()
    names, columns = _without_phantoms(names, columns)
    choices = {
        "format": "excel", "sheet": book.name, "header_line": shape.header_line, "trim": asked.trim,
        "last_line": int(lines[-1]) if len(lines) else shape.header_line,
    }  # fmt: skip
    if asked.last_line is not None:
        choices["last_line"] = asked.last_line
    alternatives: dict[str, tuple[Any, ...]] = {
        "sheet": book.names, "header_line": (0, *shape.candidates), "trim": (True, False)
    }  # fmt: skip
    first = tuple(" | ".join(row)[:500] for _, row in sample[:12])
    return _Draft(
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
    while width > 1 and not names[width - 1].strip() and not _any_text(columns[width - 1]):
        width -= 1
    return names[:width], columns[:width]


def _any_text(column: pa.ChunkedArray) -> bool:
    return bool((pc.max(pc.binary_length(column)).as_py() or 0) > 0)


def _read_parquet(data: bytes, asked: _Asked, limits: Limits, progress: Progress | None) -> _Draft:
    table = spreadsheet.ParquetTable(data, limits)
    columns = []
    for j, column in enumerate(table.columns()):
        columns.append(column)
        if progress is not None:
            progress(j / len(table.names))
    if asked.trim:
        columns = [pc.utf8_trim_whitespace(column) for column in columns]
    lines = np.arange(1, table.rows + 1, dtype=np.int32)
    choices = {"format": "parquet", "trim": asked.trim}
    return _Draft(table.names, columns, lines, table.notes(), choices, {"trim": (True, False)})


# -- notes on the whole -------------------------------------------------------------------------


def _encoding_notes(found: encoding.Encoding, asked: _Asked) -> list[Note]:
    if found.bad:
        return [
            Note(
                "W_BAD_BYTES",
                f"{counted(found.bad, 'character')} could not be read as {found.name}; a "
                "question mark in a diamond stands there. Try another encoding.",
                choice="encoding",
            )
        ]
    if asked.encoding is None and not found.sure:
        return [
            Note(
                "W_ENCODING",
                f"The text is not UTF-8; it was read as {found.name}. Check letters with "
                "accents, and "
                "choose another encoding if they look wrong.",
                choice="encoding",
            )
        ]
    if asked.encoding is None and found.name.startswith("utf-16"):
        return [
            Note("W_UTF16", "The text is UTF-16, as Excel's Unicode text is.", choice="encoding")
        ]
    return []


def _separator_notes(
    spoken: dialect.Dialect, possible: tuple[str, ...], asked: _Asked, declared: str | None
) -> list[Note]:
    name = dialect.NAMES.get(spoken.separator, "the character found")
    if declared and asked.separator is None:
        return [
            Note(
                "W_SEP_LINE",
                f'The first line says which separator is used ("sep=", {name}); it is no data.',
                lines=(1,),
                choice="separator",
            )
        ]
    if asked.separator is None and spoken.separator not in (",", "\t", ";", ""):
        return [Note("W_SEPARATOR", f"The cells are set apart by: {name}.", choice="separator")]
    return []


def _one_column_notes(
    spoken: dialect.Dialect, asked: _Asked, shape: structure.Structure,
    columns: list[pa.ChunkedArray],
) -> list[Note]:  # fmt: skip
    """Say so where every line of a single column holds what may set cells apart after all."""
    if spoken.separator or asked.separator is not None or len(columns) != 1:
        return []
    cells = [*shape.names, *columns[0].slice(0, 200).to_pylist()]
    if len(cells) < 2:
        return []
    marks = [mark for mark in (*dialect.STRONG, ":", "  ") if all(mark in c for c in cells)]
    if not marks:
        return []
    return [
        Note(
            "W_ONE_COLUMN",
            "Everything was read as one column, yet every line holds a sign that may set cells "
            "apart. "
            "Choose a separator if there are several columns (or remove quotes around whole "
            "lines).",
            choice="separator",
        )
    ]


def _table_notes(labels: tuple[str, ...], columns: list[pa.ChunkedArray], rows: int) -> list[Note]:
    found = []
    if rows == 0:
        found.append(
            Note(
                "W_HEADER_ONLY",
                "There are names and no rows: enough to declare a domain and to plan, with nothing "
                "to measure.",
            )
        )
        return found
    empty = [j for j, column in enumerate(columns) if not _any_text(column)]
    if empty:
        found.append(
            Note(
                "W_EMPTY_COLUMNS",
                f"{counted(len(empty), 'column')} {were(len(empty), 'holds', 'hold')} nothing at "
                "all; leaving such columns out is offered.",
                columns=tuple(f"c{j}" for j in empty[:5]),
            )
        )
    if len(labels) > _MANY_COLUMNS:
        found.append(
            Note(
                "W_MANY_COLUMNS",
                f"The table has {len(labels):,} columns; choose the 15 or fewer that matter.",
            )
        )
    return found


def _decimal(columns: list[pa.ChunkedArray], separator: object) -> tuple[str, Note | None]:
    """Find the decimal mark from the cells that hold one."""
    comma = point = either = 0
    for column in columns[:200]:
        held = column.slice(0, 20_000)
        held = held.filter(pc.match_substring_regex(held, r"^[^A-Za-z]*\d[.,]\d[^A-Za-z]*$"))
        votes = readings.decimal_votes(held.slice(0, 500).to_pylist())
        comma, point, either = comma + votes[0], point + votes[1], either + votes[2]
    commas = comma > point or (comma == point == 0 and either > 0 and separator == ";")
    if not commas:
        return ".", None
    return ",", Note(
        "W_DECIMAL_COMMA",
        "Numbers seem to be written with a decimal comma (1,5 is one and a half). Say so if the "
        "comma "
        "separates thousands.",
        choice="decimal",
    )


def _missing_tokens(columns: list[pa.ChunkedArray]) -> dict[str, int]:
    tokens = pa.array(sorted(readings.MISSING_TOKENS), pa.large_string())
    found: dict[str, int] = {}
    for column in columns[:2000]:
        hit = column.filter(pc.is_in(column, value_set=tokens))
        if len(hit):
            for entry in pc.value_counts(hit).to_pylist():
                found[entry["values"]] = found.get(entry["values"], 0) + entry["counts"]
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _frame(columns: list[pa.ChunkedArray], rows: int) -> pd.DataFrame:
    # The arrays themselves, in pieces as they are: joining or casting them takes twice the room.
    made = {f"c{j}": _text_array(column) for j, column in enumerate(columns)}
    pa.default_memory_pool().release_unused()
    return pd.DataFrame(made, index=pd.RangeIndex(rows), copy=False)


def _text_array(column: pa.ChunkedArray) -> pd.arrays.ArrowStringArray:
    # The stubs do not know the dtype argument yet.
    return pd.arrays.ArrowStringArray(column, dtype=_TEXT)  # type: ignore[call-arg]
