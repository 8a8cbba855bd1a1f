"""A reading offered for a column, and what a person should be asked about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.attributes import Attribute
from engine.exact import Exact

Reading = Literal[
    "categorical", "ordinal", "yes/no", "integer", "numeric", "date", "identifier", "text",
    "constant", "empty",
]  # fmt: skip
READINGS: tuple[Reading, ...] = (
    "categorical", "ordinal", "yes/no", "integer", "numeric", "date", "identifier", "text",
    "constant", "empty",
)  # fmt: skip
LEFT_OUT = frozenset({"identifier", "text", "constant", "empty"})
"""Readings that are offered for leaving out."""

MAX_VALUES = 2000
"""Most values a proposal lists; a longer list is no category anybody declares by hand."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Proposal(Exact):
    """A reading offered for one column.

    Args:
        column: Its id, ``c0`` ...
        label: Its name as a person sees it.
        kind: The reading proposed.
        reason: Why, in one sentence.
        examples: Three of its values (private: for the person whose table it is).
        alternatives: Other readings that its cells would bear, the likeliest first.
        keep: Whether it is proposed as an attribute; False is an offer to leave it out.
        values: Its distinct values in order, where there are few enough to list.
        bounds: Smallest and largest number.
        missing_codes: Texts that would mean "missing" under this reading.
        has_missing: Whether a cell is empty.
        distinct: How many different values it has.
        own_codes: Texts among its numbers that are no blanks ("90+", "<5"): kept apart in a draft.
        said_missing: Values that were said to mean "missing" in this column.
        may_be_missing: Values that often stand for "missing": offered, never taken unasked.
        variants: Groups of values that differ in capitals or blanks only.
        rows_each: Most rows with one value, where the column seems to say whose row it is.
        answers: The answers of a column that holds several in one cell, and what sets them apart.
        decomposed: Cells whose accents are written as characters of their own.
        infinite: Values that are infinite, or too large for a number.
        columns: Labels of all columns: the name of a derived attribute is none of them.
        declared: What the file itself declares for the column (value labels of a survey's file).
        day_first: Whether its dates begin with the day.
        ambiguous: Whether nothing in its dates tells which part is the day.
        undated: Values among its dates that are no day (30 February, 00000000).
        short_years: Whether a year among its dates has two digits only.
        mixed_units: Whether its numbers have several currencies, or a percent sign here and there.
    """

    column: str
    label: str
    kind: Reading
    reason: str
    examples: tuple[str, ...]
    alternatives: tuple[Reading, ...]
    keep: bool
    values: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    missing_codes: tuple[str, ...] = ()
    has_missing: bool = False
    distinct: int = 0
    own_codes: tuple[str, ...] = ()
    said_missing: tuple[str, ...] = ()
    may_be_missing: tuple[str, ...] = ()
    variants: tuple[tuple[str, ...], ...] = ()
    rows_each: int = 0
    answers: tuple[str, ...] = ()
    answers_by: str = ""
    decomposed: int = 0
    infinite: int = 0
    columns: tuple[str, ...] = ()
    declared: Attribute | None = None
    day_first: bool = True
    ambiguous: bool = False
    undated: tuple[str, ...] = ()
    short_years: bool = False
    mixed_units: bool = False

    def __repr__(self) -> str:
        return f"Proposal({self.label!r}, {self.kind}, keep={self.keep}; its values are private)"
