"""What a person may choose about the reading of a file; what is left None is found."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from engine.domain_file import content_of
from engine.errors import DataError

LongRows = Literal["refuse", "skip", "widen"]


@dataclass(frozen=True, slots=True)
class Choices:
    """How a file is read. The app, a domain file and the command line hold the same ones.

    Args:
        encoding: Character encoding of a text.
        separator: What stands between cells; "" for a single column.
        decimal: Decimal mark of its numbers, ``"."`` or ``","``.
        header_line: Line of the header, counted from 1; 0 if there is none.
        first_line: Line of the first record, where other lines stand below the header.
        last_line: Last line that holds data.
        quoting: Quote character; "" if quotes are plain text.
        escape: Escape character inside quotes; "" for none.
        missing: Cell texts that mean "missing", besides the empty one.
        sheet: Sheet of a workbook, by name or by position from 0.
        long_rows: What becomes of rows with more cells than the header has names: ``"refuse"``,
            ``"skip"``, or ``"widen"`` (keep the extra cells in columns without a name).
        trim: Whether blanks around cells are removed.
        format: ``"text"``, ``"excel"``, ``"parquet"`` or ``"survey"``; checked against the content.
        merged: What becomes of merged cells of a workbook that reach over several rows: each row is
            given their value (``"repeated"``), or the first one only (``"first"``).
        repeated_headers: Whether lines that repeat the header are ``"left out"`` or ``"kept"``.
        counts: Label of the column that says how many persons a row stands for; "" if each row is
            one person whatever its columns are called.
        person: Label of the column that says whose row it is: of each person, at most
            ``rows_per_person`` rows of the domain are kept.
        dates: Which part of 3/4/2020 is the day: ``"day first"`` or ``"month first"``.
        seed: Says which: those with the smallest hashes of seed, person and place among their rows.

    Raises:
        DataError: If a choice is none (``E_CHOICE``).
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header_line: int | None = None
    first_line: int | None = None
    last_line: int | None = None
    quoting: str | None = None
    escape: str | None = None
    missing: tuple[str, ...] | None = None
    sheet: str | int | None = None
    long_rows: LongRows = "refuse"
    trim: bool = True
    format: str | None = None
    repeated_headers: Literal["left out", "kept"] = "left out"
    merged: Literal["repeated", "first"] = "repeated"
    counts: str | None = None
    person: str | None = None
    seed: int = 0
    dates: Literal["day first", "month first"] | None = None

    def __post_init__(self) -> None:
        separator = {"tab": "\t", "\\t": "\t"}.get(str(self.separator), self.separator)
        object.__setattr__(self, "separator", separator)
        if isinstance(self.missing, list):
            object.__setattr__(self, "missing", tuple(self.missing))
        self._check()

    @classmethod
    def from_dict(cls, found: object) -> Choices:
        """Make choices of plain JSON values, as a domain file holds them under "reading".

        Raises:
            DataError: If one is no choice (``E_CHOICE``).
        """
        known = {field.name for field in fields(cls)}
        if not isinstance(found, dict) or set(found) - known:
            raise DataError(
                "The reading choices of the domain file cannot be read; their entries are "
                f"{', '.join(sorted(known))}. Correct or remove them.",
                code="E_CHOICE",
            )
        return cls(**found)

    @classmethod
    def from_json(cls, path: str | Path) -> Choices:
        """Return the reading choices that a domain file holds beside the domain, if any.

        Raises:
            DomainError: If the file is missing or no JSON.
            DataError: If a choice is none (``E_CHOICE``).
        """
        found = content_of(path)
        return cls.from_dict(found.get("reading", {}) if isinstance(found, dict) else {})

    def to_dict(self) -> dict[str, Any]:
        """Return what was chosen as plain JSON values; ``from_dict`` reads it back equal."""
        said = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            f.name: list(said[f.name]) if isinstance(said[f.name], tuple) else said[f.name]
            for f in fields(self)
            if said[f.name] != f.default
        }

    def _check(self) -> None:
        """Refuse what no file could fit.

        Raises:
            DataError: If a choice is none (``E_CHOICE``).
        """
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
            ("first_line", _is_line(self.first_line, 1), "a line number, from 1"),
            ("long_rows", self.long_rows in ("refuse", "skip", "widen"), "refuse, skip or widen"),
            ("repeated_headers", self.repeated_headers in ("left out", "kept"), "left out or kept"),
            ("merged", self.merged in ("repeated", "first"), "repeated or first"),
            ("dates", self.dates in (None, "day first", "month first"), "day first or month first"),
            ("counts", isinstance(self.counts, str | None), "a column's label"),
            ("person", isinstance(self.person, str | None), "a column's label"),
            ("seed", _is_line(self.seed, 0), "a whole number"),
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
