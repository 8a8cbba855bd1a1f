"""Delimited text: from bytes to records with their line numbers.

The csv module of the standard library does the parsing, in strict mode first. A line whose quotes
do not fit is then read leniently and named; a quote that never closes stops everything, because
what follows it cannot be told apart any more.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from engine.errors import DataError
from engine.exact import Exact
from engine.ingest.dialect import CsvReader, Dialect
from engine.ingest.encoding import Encoding
from engine.ingest.limits import Limits, megabytes
from engine.ingest.notes import Note, counted, lines_text

CELLS_AT_ONCE = 1 << 16
"""Cells held as Python texts at a time: about 5 MB."""
_SAMPLE_LINES, _SAMPLE_SIZE = 1000, 1 << 20

Progress = Callable[[float], object]


@dataclass(slots=True, eq=False, repr=False)
class Chunk(Exact):
    """Some successive records; ``lines[i]`` is the line on which record i begins."""

    rows: list[list[str]]
    lines: Sequence[int]


class Lines(Exact):
    """The lines of a text as an iterator that counts them and refuses one without an end.

    NUL characters and byte order marks inside are removed and counted.
    """

    def __init__(
        self, data: bytes, encoding: Encoding, limits: Limits, progress: Progress | None = None
    ) -> None:
        self._raw = io.BytesIO(data)
        self._raw.seek(encoding.bom)
        # Lines end at \n, \r\n or \r, and keep their end: a cell may hold one.
        self._text = io.TextIOWrapper(
            self._raw, encoding=_codec(encoding.name), errors="replace", newline=""
        )
        self._size, self._limits, self._progress = max(1, len(data)), limits, progress
        self._nul = b"\0" in data
        self.count = self.nul = self.marks = 0
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        longest = self._limits.line
        for line in self._text:
            self.count += 1
            if self._nul and "\0" in line:
                self.nul += line.count("\0")
                line = line.replace("\0", "")
            if "\ufeff" in line:
                self.marks += line.count("\ufeff")
                line = line.replace("\ufeff", "")
            if len(line) > longest and len(line.encode(errors="replace")) > longest:
                raise _long_line(self.count, self._limits)
            self.last = line
            if self._progress is not None and (not self.count % 16384 or len(line) > 1 << 14):
                self._progress(self._raw.tell() / self._size)
            yield line


def _codec(name: str) -> str:
    # Five bytes of cp1252 have no meaning; other programs take them for control characters.
    return {"utf-8": "utf-8"}.get(name, name)


def text_of(data: bytes) -> bytes:
    """Mend what no parser expects: lines ending in two carriage returns, an end-of-file sign."""
    if b"\r\r\n" in data[: 1 << 16]:
        data = data.replace(b"\r\r\n", b"\r\n")
    return data[:-1] if data.endswith(b"\x1a") else data


def first_lines(data: bytes, encoding: Encoding, limits: Limits) -> tuple[list[str], bool]:
    """Return the first lines, and whether they are all there are.

    Raises:
        DataError: If they are no text (``E_FORMAT``) or one is too long (``E_CSV_SHAPE``).
    """
    lines, size = [], 0
    source = Lines(data, encoding, limits)
    for line in source:
        lines.append(line)
        size += len(line)
        if len(lines) >= _SAMPLE_LINES or size >= _SAMPLE_SIZE:
            break
    _check_text(lines, source.nul)
    whole = len(lines) < _SAMPLE_LINES and size < _SAMPLE_SIZE
    return lines, whole


def _check_text(lines: Sequence[str], nul: int) -> None:
    text = "".join(lines)
    odd = len(re.findall(r"[\x01-\x08\x0e-\x19\x1b\x7f\ufffd]", text)) + nul
    if odd > max(8, 0.02 * (len(text) + nul)):
        raise DataError(
            "The file is not text: many of its characters are control characters. CSV (or other "
            "delimited text), Excel and Parquet can be read; choose such a file, or another "
            "encoding.",
            code="E_FORMAT",
        )


def _long_line(number: int, limits: Limits) -> DataError:
    return DataError(
        f"Line {number:,} is longer than {megabytes(limits.line)}; at most that much can stand "
        "on one "
        "line. Check that the file is a table with one record a line.",
        code="E_CSV_SHAPE",
    )


class Reader(Exact):
    """Records of a delimited text in chunks.

    Args:
        data: The text's bytes.
        encoding: How they are encoded.
        dialect: How cells are set apart.
        limits: Sizes to keep to.
        skip: Lines at the top to leave out unparsed.
        width: Expected number of cells, which sets the size of a chunk.
        trusted: Whether a person said how cells are quoted; cells that run over many lines are then
            taken as they are.
        progress: Called with the share that is done.
    """

    def __init__(
        self, data: bytes, encoding: Encoding, dialect: Dialect, limits: Limits, *,
        skip: int = 0, width: int = 1, trusted: bool = False, progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self._source = (data, encoding, limits, progress)
        self._dialect, self._limits, self._skip = dialect, limits, skip
        self._width, self._trusted = width, trusted
        self.stray_quotes: list[int] = []
        self.nul = self.marks = 0

    def __iter__(self) -> Iterator[Chunk]:
        lines = Lines(*self._source)
        parser = self._parser(lines)
        number = max(1, CELLS_AT_ONCE // max(1, self._width))
        if self._width > 1024:
            number = max(number, 64)  # fewer would cost more in bookkeeping than they save
        line = self._skip + 1
        while True:
            try:
                rows = list(islice(parser, number))
            except csv.Error:
                # Read on from here record by record: the place of the fault has to be known.
                yield from self._carefully(line)
                return
            self.nul, self.marks = lines.nul, lines.marks
            if not rows:
                return
            after = self._skip + parser.line_num + 1
            yield Chunk(rows, self._numbered(rows, line, after))
            line = after

    def _parser(self, lines: Lines) -> CsvReader:
        kept = islice(iter(lines), self._skip, None)
        return self._dialect.reader(kept, strict=True)

    def _numbered(self, rows: list[list[str]], first: int, after: int) -> Sequence[int]:
        if after - first == len(rows):
            return range(first, after)
        lines, line = [], first
        for row in rows:
            lines.append(line)
            breaks = sum(map(_line_breaks, row))
            if breaks and not self._trusted:
                self._check_swallowed(row, line)
            line += 1 + breaks
        return lines

    def _check_swallowed(self, row: Sequence[str], line: int) -> None:
        """Refuse a cell that holds whole records: its quote was opened by mistake."""
        width = self._width
        for cell in row:
            inner = re.split(r"\r\n|\r|\n", cell)[1:-1] if len(cell) > 2 * width else []
            inner = [text for text in inner if text.strip()]
            separator = self._dialect.separator
            enough = separator and width > 1 and len(inner) >= (1 if width > 2 else 3)
            if enough and all(text.count(separator) == width - 1 for text in inner):
                raise self._unclosed(line, swallowed=len(inner))

    def _carefully(self, first_line: int) -> Iterator[Chunk]:
        """Read record by record from a known line on, noting the lines whose quotes do not fit."""
        lines = Lines(*self._source)
        parser = self._parser(lines)
        rows: list[list[str]] = []
        numbers: list[int] = []
        while True:
            line = self._skip + parser.line_num + 1
            try:
                row = next(parser)
            except StopIteration:
                break
            except csv.Error as error:
                row = self._mended(str(error), line, self._skip + parser.line_num, lines.last)
            self.nul, self.marks = lines.nul, lines.marks
            if line < first_line:
                continue
            if self._skip + parser.line_num > line and not self._trusted:
                self._check_swallowed(row, line)
            rows.append(row)
            numbers.append(line)
            if len(rows) * self._width >= CELLS_AT_ONCE:
                yield Chunk(rows, numbers)
                rows, numbers = [], []
        if rows:
            yield Chunk(rows, numbers)

    def _mended(self, error: str, line: int, last: int, text: str) -> list[str]:
        if "field larger" in error and last == line:
            raise long_field(line, self._limits)
        if "end of data" in error or "field larger" in error or last != line:
            raise self._unclosed(line)
        self.stray_quotes.append(line)
        return next(self._dialect.reader([text], strict=False))

    def _unclosed(self, line: int, *, swallowed: int = 0) -> DataError:
        held = (
            f" and holds {counted(swallowed, 'line')} that look like records" if swallowed else ""
        )
        return DataError(
            f"A quote is opened on line {line:,} and not closed where its cell ends{held}; every "
            "quoted "
            "cell needs a closing quote. Close it there, or read the file with quotes as plain "
            "text.",
            code="E_CSV_SHAPE",
        )

    def notes(self) -> list[Note]:
        """Say what was noticed while reading."""
        found = []
        if self.stray_quotes:
            found.append(
                Note(
                    "W_QUOTES",
                    f"Quotes on {lines_text(self.stray_quotes)} stand inside a quoted cell "
                    "without being "
                    "doubled; the cells were read as well as possible. Check them.",
                    lines=tuple(self.stray_quotes[:5]),
                    choice="quoting",
                )
            )
        if self.nul:
            found.append(
                Note("W_NUL", f"{counted(self.nul, 'NUL character')} in the text removed.")
            )
        if self.marks:
            found.append(
                Note(
                    "W_BOM",
                    f"{counted(self.marks, 'byte order mark')} inside the text removed: files "
                    "pasted together, perhaps.",
                )
            )
        return found


def _line_breaks(cell: str) -> int:
    if "\n" not in cell and "\r" not in cell:
        return 0
    return len(re.findall(r"\r\n|\r|\n", cell))


def long_field(line: int, limits: Limits) -> DataError:
    """Return the refusal of a cell beyond the limit."""
    return DataError(
        f"A cell on line {line:,} is longer than {megabytes(limits.field)}; no more fits one cell. "
        "Shorten it there, or check that a quote is not left open.",
        code="E_CSV_SHAPE",
    )


def preview_lines(data: bytes, encoding: Encoding, number: int = 12) -> tuple[str, ...]:
    """Return the first lines as decoded, before any guess, each cut to 500 characters."""
    text = codecs.decode(data[encoding.bom : encoding.bom + (1 << 15)], encoding.name, "replace")
    return tuple(line[:500] for line in re.split(r"\r\n|\r|\n", text)[:number])
