"""How a delimited text is written: separator, quotes and escapes, found from its first lines.

Every candidate separator is tried with the csv module itself, on the first lines. Two things judge
it: do the records have one width? And do the cells look like values (a number, a date, a word),
and not like two values glued together? That is the consistency measure of CleverCSV with a
fixed, small set of candidates; engine/ingest/README.md tells why it is not CleverCSV that runs.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

STRONG = (",", ";", "\t", "|")
WEAK = ("\x1f", "\x01", "^", "~", "¦", "§")
NAMES = {
    ",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space", "": "none (one column)",
    "\x1f": "unit separator", "\x01": "control-A",
}  # fmt: skip
_UNUSED = "\x1e"
_PLAIN = re.compile(
    r"[-+]?[\d.,'\u00a0\u202f ]*\d[%€$£]?|"
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T][\d:.]+Z?)?|\d\d?:\d\d(:\d\d)?"
)
_SINGLE_QUOTED = re.compile(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|]|\s*$)", re.MULTILINE)
_SEP_LINE = re.compile(r'^\ufeff?"?sep=(.|\\t)"?[,;\t|]*\s*$', re.IGNORECASE)


class CsvReader(Protocol):
    """What ``csv.reader`` returns."""

    @property
    def line_num(self) -> int:
        """Lines read so far."""
        ...

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """How cells are set apart and quoted; ``separator`` "" is one column, ``quoting`` "" no quotes.

    ``trim`` lets a blank stand before an opening quote.
    """

    separator: str = ","
    quoting: str = '"'
    escape: str = ""
    trim: bool = True

    def reader(self, lines: Iterable[str], *, strict: bool) -> CsvReader:
        """Return the csv module's reader for this dialect."""
        return csv.reader(
            lines,
            delimiter=self.separator or _UNUSED,
            quotechar=self.quoting or None,
            quoting=csv.QUOTE_MINIMAL if self.quoting else csv.QUOTE_NONE,
            escapechar=self.escape or None,
            doublequote=True,
            skipinitialspace=bool(self.trim and self.separator.strip() and self.quoting),
            strict=strict,
        )


def declared(first_line: str) -> str | None:
    """Return the separator that Excel's ``sep=`` line declares, or None if the line is none.

    >>> declared("sep=;"), declared("a;b")
    (';', None)
    """
    found = _SEP_LINE.match(first_line)
    if not found:
        return None
    return "\t" if found[1] == "\\t" else found[1]


def detect(
    lines: Sequence[str], *, separator: str | None, quoting: str | None, escape: str | None
) -> tuple[Dialect, tuple[str, ...]]:
    """Find the dialect of some first lines; what is given is kept.

    Returns:
        The dialect, and the separators that the lines would also allow, the best first.
    """
    if quoting is None:
        quoting = _quote(lines)
    if escape is None:
        escape = _escape(lines, separator, quoting)
    scores = {sep: _score(lines, Dialect(sep, quoting, escape)) for sep in STRONG}
    if not any(scores.values()):
        scores |= {sep: _score(lines, Dialect(sep, quoting, escape)) for sep in WEAK}
    if not any(scores.values()):
        scores[" "] = _space_score(lines, Dialect(" ", quoting, escape))
    possible = tuple(sorted((s for s in scores if scores[s] > 0), key=lambda s: -scores[s]))
    if separator is None:
        separator = possible[0] if possible else ""
    return Dialect(separator, quoting, escape), possible


def records(lines: Sequence[str], dialect: Dialect) -> list[list[str]]:
    """Parse some lines leniently; for looking at them only."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(
            dialect.reader(lines, strict=False)
        )  # a cell without an end; what came before is enough to judge by
    return rows


def _quote(lines: Sequence[str]) -> str:
    text = "".join(lines)
    if '"' not in text and len(_SINGLE_QUOTED.findall(text)) >= max(2, len(lines) // 2):
        return "'"
    return '"'


def _escape(lines: Sequence[str], separator: str | None, quoting: str) -> str:
    if not quoting or not any("\\" + quoting in line for line in lines):
        return ""
    # A backslash before a quote escapes it only where the text makes no sense otherwise.
    plain = max(
        _misfits(lines, Dialect(s, quoting)) == 0 for s in ([separator] if separator else STRONG)
    )
    return "" if plain else "\\"


def _misfits(lines: Sequence[str], dialect: Dialect) -> int:
    reader = dialect.reader(lines, strict=True)
    misfits = 0
    while True:
        try:
            next(reader)
        except StopIteration:
            return misfits
        except csv.Error:
            misfits += 1


def _score(lines: Sequence[str], dialect: Dialect) -> float:
    scores = [_consistency(lines, dialect)]
    if dialect.quoting and _misfits(lines, dialect):
        # A quote that never closes swallows the lines that would tell the separator.
        scores.append(_consistency(lines, Dialect(dialect.separator, "", dialect.escape)))
    return max(scores)


def _consistency(lines: Sequence[str], dialect: Dialect) -> float:
    rows = [row for row in records(lines, dialect) if any(cell.strip() for cell in row)]
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not widths:
        return 0.0
    width, number = max(widths.items(), key=lambda item: (item[1], item[0]))
    first = next(i for i, row in enumerate(rows) if len(row) == width)
    body = rows[first:]
    whole, below = number / len(rows), number / len(body)
    if (number < 2 and len(rows) > 1) or below < 0.4 or (whole < 0.5 and number < 3):
        return 0.0
    if len(rows[0]) == 1 and not rows[0][0].startswith("#") and _prose(lines, dialect.separator):
        return 0.0
    cells = [cell.strip() for row in body[:200] if len(row) == width for cell in row]
    likely = sum(map(_plausible, cells)) / len(cells)
    return whole * below**3 * likely * (1 - 0.25 / width)


def _prose(lines: Sequence[str], separator: str) -> bool:
    # "Smith, Jane" under the one name "name": the commas belong to the text.
    if separator not in ",;":
        return False
    holding = [line for line in lines if separator in line]
    return all(line.count(separator) == line.count(separator + " ") for line in holding)


def _plausible(cell: str) -> float:
    if not cell or _PLAIN.fullmatch(cell):
        return 1.0
    if any(sep in cell for sep in STRONG):
        return 0.3
    return 0.8 if '"' not in cell else 0.2


def _space_score(lines: Sequence[str], dialect: Dialect) -> float:
    rows = [row for row in records(lines, dialect) if any(cell.strip() for cell in row)]
    if len(rows) < 2 or len(rows[-1]) < 2:
        return 0.0
    width = len(rows[-1])
    # R writes one name fewer than there are cells where it saves the row names.
    if len(rows[0]) not in (width, width - 1) or any(len(row) != width for row in rows[1:]):
        return 0.0
    cells = [cell for row in rows[1:200] for cell in row]
    numbers = sum(_PLAIN.fullmatch(cell) is not None for cell in cells)
    return float(2 * numbers >= len(cells))
