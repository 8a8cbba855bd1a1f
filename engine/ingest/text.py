"""Delimited text as a table: encoding, separator, header and records, each found or as chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from engine.errors import DataError
from engine.ingest import content, delimited, dialect, encoding, structure
from engine.ingest.choices import Choices
from engine.ingest.columns import Columns
from engine.ingest.delimited import Chunk, Progress
from engine.ingest.draft import Draft
from engine.ingest.limits import Limits
from engine.ingest.notes import Note, counted


def read_text(data: bytes, asked: Choices, limits: Limits, progress: Progress | None) -> Draft:
    """Read delimited text."""
    # Long: the steps of reading a text, each with what the one before found.
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
        names=shape.names,
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
    return Draft(
        names, columns, lines, notes, choices, alternatives, delimited.preview_lines(data, found)
    )


def _text_structure(
    sample: list[str], skip: int, spoken: dialect.Dialect, asked: Choices
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


# -- notes --------------------------------------------------------------------------------------


def _encoding_notes(found: encoding.Encoding, asked: Choices) -> list[Note]:
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
    spoken: dialect.Dialect, possible: tuple[str, ...], asked: Choices, declared: str | None
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
    spoken: dialect.Dialect, asked: Choices, shape: structure.Structure,
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
