"""Making attributes for a table: from typed bounds, pasted lists, or a proposal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from engine.attributes import DATE_PARTS, DatePart, Derived, Part
from engine.domain import Attribute, Domain, Missing, Outside
from engine.domain import Source as DomainSource
from engine.errors import DomainError
from engine.ingest import readings
from engine.ingest.kinds import MAX_VALUES, Proposal, Reading
from engine.ingest.preview import Preview

WHOLE_RANGE = 200
"""Whole numbers over a longer range are binned."""
BINS = 10


def equal_width(low: float, high: float, bins: int) -> tuple[float, ...]:
    """Return the edges of bins of equal width between two typed bounds.

    Raises:
        DomainError: If the bounds or the number of bins make no bins.

    >>> equal_width(0, 100, 4)
    (0.0, 25.0, 50.0, 75.0, 100.0)
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise DomainError(
            f"The bounds are {low:g} and {high:g}; two numbers, the smaller first, are needed. "
            "Type "
            "bounds that are publicly known."
        )
    if not 1 <= bins <= 10_000:
        raise DomainError(
            f"The number of bins is {bins:,}; from 1 to 10,000 are possible. Choose fewer."
        )
    width = (high - low) / bins
    digits = max(0, 6 - math.floor(math.log10(max(abs(low), abs(high), 1e-12))))
    inner = [round(low + width * i, digits) for i in range(1, bins)]
    edges = (float(low), *inner, float(high))
    if any(a >= b for a, b in pairwise(edges)):
        edges = (float(low), *(low + width * i for i in range(1, bins)), float(high))
    return edges


def pasted_values(text: str) -> tuple[str, ...]:
    r"""Read a pasted list of values: one a line, or on one line set apart by tabs, ; or commas.

    Blanks around values, empty entries and repetitions go; the order stays.

    >>> pasted_values("low\nmedium\nhigh\n"), pasted_values("a, b, a")
    (('low', 'medium', 'high'), ('a', 'b'))
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        mark = next((m for m in ("\t", ";", ",") if m in lines[0]), None)
        lines = lines[0].split(mark) if mark else lines
    values = (line.strip().strip('"').strip() for line in lines)
    return tuple(dict.fromkeys(value for value in values if value))


def typed_edges(text: str, decimal: str = ".") -> tuple[float, ...]:
    """Read typed bin edges, set apart by blanks, semicolons or line ends (or commas).

    Raises:
        DomainError: If one is no number, or they do not increase.

    >>> typed_edges("0, 18, 65, 120")
    (0.0, 18.0, 65.0, 120.0)
    """
    pieces = re.split(r"[;\s]+" if decimal == "," else r"[;,\s]+", text.strip())
    edges = []
    for place, piece in enumerate(filter(None, pieces), start=1):
        number = readings.number(piece, decimal)
        if number is None or not math.isfinite(number):
            raise DomainError(
                f"Edge {place} is no number; edges are numbers set apart by spaces, such as 0 18 "
                "65 "
                "120. Correct it."
            )
        edges.append(number)
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
        raise DomainError(
            f"There are {len(edges)} edges; at least two, each larger than the one before, are "
            "needed. "
            "Type them in order."
        )
    return tuple(edges)


def top_list(
    name: str, values: Sequence[str], *, other: str = "(other)", missing: Missing | None = None
) -> Attribute:
    """Declare a list of values with everything else counted as "Other".

    >>> top_list("job", ["nurse", "teacher"]).labels
    ('nurse', 'teacher', '(other)')
    """
    return Attribute(name, values=tuple(values), outside="other", other=other, missing=missing)


def date_name(label: str, part: DatePart, *, taken: Iterable[str] = ()) -> str:
    """Name the attribute that holds a part of a date, apart from every column's own name.

    >>> date_name("born", "year"), date_name("born", "year", taken=["born (year)"])
    ('born (year)', 'born (year of the date)')
    """
    return _free_name(f"{label} ({part})", f"{label} ({part} of the date)", taken)


def _free_name(first: str, second: str, taken: Iterable[str]) -> str:
    held, number = set(taken), 2
    name = first if first not in held else second
    while name in held:
        name, number = f"{second[:-1]}, {number})", number + 1
    return name


def proposed_attribute(
    proposal: Proposal,
    *,
    reading: Reading | None = None,
    part: DatePart = "year",
    bins: int = BINS,
    outside: Outside | None = None,
) -> Attribute:
    """Turn a proposal into an attribute whose values are read from the data, and marked so.

    Args:
        proposal: What was proposed for a column.
        reading: Another reading than the proposed one.
        part: The part of a date to keep.
        bins: Number of bins, where numbers have to be binned.
        outside: What undeclared values do; the default refuses them, and clamps numbers.

    Raises:
        DomainError: If the column has no values that the reading could list.
    """
    kind = reading or proposal.kind
    if proposal.declared is not None and kind == proposal.kind:
        return proposal.declared
    numbers = kind in ("integer", "numeric")
    if kind == "date":
        return _date_attribute(proposal, part, outside)
    missing = _missing(proposal, numbers)
    if numbers and proposal.bounds is not None:
        return _number_attribute(proposal, kind, bins, missing, outside)
    values = tuple(v for v in proposal.values if missing is None or v not in missing.codes)
    if not values:
        raise DomainError(
            f"Column {proposal.label!r} has {proposal.distinct:,} different values; at most "
            f"{MAX_VALUES:,} can be listed from the data. Declare a list of values with Other."
        )
    return Attribute(
        proposal.label,
        "ordinal" if kind == "ordinal" else "categorical",
        values=values,
        outside=outside or "refuse",
        missing=missing,
        source="data",
    )


def folded_attribute(proposal: Proposal, attribute: Attribute) -> Attribute:
    """Return an attribute in which spellings that differ in capitals or blanks are one value.

    The commonest spelling of each stays.
    """
    others = {value for group in proposal.variants for value in group[1:]}
    values = tuple(value for value in attribute.values or () if value not in others)
    return replace(attribute, values=values or attribute.values, compare="folded")


def split_answers(proposal: Proposal) -> tuple[Attribute, ...]:
    """Split a column that holds several answers a cell into one yes-or-no attribute an answer.

    An empty cell is an answer to none of them.

    Raises:
        DomainError: If the column holds single answers only.
    """
    if not proposal.answers:
        raise DomainError(
            f"Column {proposal.label!r} holds no several answers in one cell. Use it as it is."
        )
    made: list[Attribute] = []
    for answer in proposal.answers:
        taken = [*proposal.columns, *(attribute.name for attribute in made)]
        label = f"{proposal.label}: {answer}"
        attribute = Attribute(
            _free_name(label, f"{label} (answer)", taken), values=("no", "yes"), source="data",
            declared=("missing",),
            derived=Derived(proposal.label, contains=answer, separator=proposal.answers_by),
        )  # fmt: skip
        made.append(attribute)
    return tuple(made)


def _missing(proposal: Proposal, as_numbers: bool) -> Missing | None:
    # Among categories a code for "missing" is a category; among numbers it would be out of place.
    codes = proposal.missing_codes if as_numbers else ()
    codes = tuple(dict.fromkeys((*codes, *proposal.said_missing)))
    if not proposal.has_missing and not codes:
        return None
    if len(codes) == 1 and not proposal.has_missing and not proposal.said_missing:
        return Missing(codes=codes, label=codes[0])
    taken = "(missing)" in proposal.values
    return Missing(codes=codes, label="(no answer)" if taken else "(missing)")


def _number_attribute(
    proposal: Proposal, kind: Reading, bins: int, missing: Missing | None, outside: Outside | None
) -> Attribute:
    low, high = proposal.bounds or (0.0, 1.0)
    rule: Outside = outside or "clamp"
    other = "(other)"
    if len(proposal.own_codes) == 1 and outside is None:
        rule, other = "other", proposal.own_codes[0]
    if kind == "integer" and high - low < WHOLE_RANGE:
        return Attribute(
            proposal.label, "integer", bounds=(math.floor(low), math.ceil(high)), outside=rule,
            other=other, missing=missing, source="data",
        )  # fmt: skip
    low, high = nice_bounds(low, high)
    return Attribute(
        proposal.label, "numeric", edges=equal_width(low, high, bins), outside=rule,
        other=other, missing=missing, source="data",
    )  # fmt: skip


def _date_attribute(proposal: Proposal, part: DatePart, outside: Outside | None) -> Attribute:
    """Make an attribute of a part of a date; the same one whether or not a row is empty."""
    name = date_name(proposal.label, part, taken=proposal.columns)
    codes = tuple(code for code in proposal.missing_codes if readings.is_missing_token(code))
    codes = tuple(dict.fromkeys((*codes, *proposal.said_missing)))
    missing, derived = Missing(codes=codes), Derived(proposal.label, part)
    undated = any(value not in codes for value in proposal.undated)
    other = "(no date)" if undated and outside in (None, "other") else "(other)"
    if undated:
        outside = outside or "other"
    values = DATE_PARTS[part]
    if values is not None:
        known: tuple[Part, ...] = ("values",)
        return Attribute(
            name, "ordinal", values=values, outside=outside or "refuse", other=other,
            missing=missing, source="data" if codes else "public default", declared=known,
            derived=derived,
        )  # fmt: skip
    years = [
        day.year
        for value in proposal.values
        if (day := readings.date(value, day_first=proposal.day_first)) is not None
    ]
    bounds = (min(years), max(years)) if years else (1900, 2100)
    return Attribute(
        name, "integer", bounds=bounds, outside=outside or "clamp", missing=missing, other=other,
        source="data" if years else "public default", declared=() if codes else ("missing",),
        derived=derived,
    )  # fmt: skip


def nice_bounds(low: float, high: float) -> tuple[float, float]:
    """Widen two bounds to round numbers, which give away less and read better.

    >>> nice_bounds(12285, 1484705), nice_bounds(0.13, 0.98)
    ((0.0, 1500000.0), (0.1, 1.0))
    """
    if not low < high:
        return low, low + 1
    step: float = 10.0 ** math.floor(math.log10(high - low))
    step = step / 10 if (high - low) / step < 2 else step
    scale = step if (high - low) / step > 5 else step / 2
    first, last = math.floor(low / scale) * scale, math.ceil(high / scale) * scale
    return round(first, 10), round(last, 10)


def draft_domain(
    preview: Preview, *labels: str, title: str = "", row: str = "one person"
) -> Domain:
    """Draft a domain from the data for a demonstration: the kept columns as proposed.

    Args:
        preview: The table.
        *labels: Columns to take; all that are proposed for keeping if none is named.
        title: What the table is. A release carries it, so it is never a file's name unasked.
        row: What one row is.

    Raises:
        DomainError: If no column could be an attribute.
    """
    proposals = preview.attributes(*labels)
    kept = [p for p in proposals if p.keep or p.label in labels]
    attributes = tuple(proposed_attribute(p) for p in kept)
    note = "Read from the data, for demonstration only."
    return Domain(attributes, title=title, row=row, note=note)


def with_source(attribute: Attribute, source: DomainSource) -> Attribute:
    """Return the attribute with another account of where its values came from."""
    return replace(attribute, source=source)
