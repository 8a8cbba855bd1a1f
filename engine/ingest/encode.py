"""From a preview and a declared domain to the engine's table of codes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from engine.domain import Attribute, Domain
from engine.errors import DataError
from engine.exact import Exact
from engine.ingest import readings
from engine.ingest.domains import DATE_PARTS, DatePart
from engine.ingest.preview import Preview
from engine.tables import Table, encode_texts
from engine.types import FloatArray, IntArray

BoolArray: TypeAlias = NDArray[np.bool_]
Order: TypeAlias = Callable[[int], NDArray[np.intp]]
_DROP, _OUTSIDE, _MISSING = -1, -2, -3
_PART = re.compile(rf"(?P<label>.*) \((?P<part>{'|'.join(DATE_PARTS)})\)", re.DOTALL)


class PrivateCounts(Exact):
    """How many cells of each attribute were undeclared, and how many records were left out.

    The counts are private, as all that is exact.
    """

    __slots__ = ("dropped", "outside")

    def __init__(self, outside: dict[str, int], dropped: int) -> None:
        self.outside, self.dropped = outside, dropped


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Encoded(Exact):
    """A table, and the private counts of what its domain's rules changed."""

    table: Table
    counts: PrivateCounts


def encode(
    preview: Preview, domain: Domain, *, person: str | None = None,
    order: Order | None = None,
) -> Table:  # fmt: skip
    """Make the table of a domain; ``encode_counted`` tells how many cells its rules changed.

    Raises:
        DataError: See ``encode_counted``.
    """
    return encode_counted(preview, domain, person=person, order=order).table


def encode_counted(
    preview: Preview, domain: Domain, *, person: str | None = None,
    order: Order | None = None,
) -> Encoded:  # fmt: skip
    """Make the table of a domain, and count what its rules changed.

    An attribute is read from the column with its label; "born (year)" from the dates of "born".

    Args:
        preview: The table as understood.
        domain: Declared attributes; each must have a column.
        person: Label of the column that says whose row it is. At most ``domain.rows_per_person``
            rows of each person are kept, chosen at random.
        order: Gives a random order of n rows, for that choice; operating-system entropy by default.

    Raises:
        DataError: If an attribute has no column (``E_COLUMN``), a value is undeclared and its rule
            is to refuse (``E_VALUE``), or a cell is missing without a rule (``E_MISSING``).
    """
    rows = len(preview.frame)
    keep = np.ones(rows, dtype=np.bool_)
    if person is not None:
        keep = _kept_of_each(preview, person, domain.rows_per_person, order or random_order)
    columns: list[IntArray] = []
    outside: dict[str, int] = {}
    for attribute in domain:
        codes, undeclared = _codes(preview, attribute)
        outside[attribute.name] = int(np.count_nonzero(undeclared & keep))
        columns.append(codes)
    for codes in columns:
        keep &= codes != _DROP
    for attribute, codes in zip(domain, columns, strict=True):
        _check(preview, attribute, np.where(keep, codes, 0))
    shaped = np.stack([codes[keep] for codes in columns], axis=1)
    return Encoded(
        Table.from_codes(shaped, domain), PrivateCounts(outside, rows - int(np.count_nonzero(keep)))
    )


def _codes(preview: Preview, attribute: Attribute) -> tuple[IntArray, BoolArray]:
    """Return each record's code, and whether its cell was undeclared."""
    # Every distinct text is understood once, however many records hold it.
    column, part = _column(preview, attribute)
    coded = preview.texts(column).combine_chunks().dictionary_encode()
    texts = cast("list[str]", coded.dictionary.to_pylist())
    if not texts:
        return np.zeros(0, np.int64), np.zeros(0, np.bool_)
    plain = _plain_texts(preview, attribute, column, texts, part)
    codes, undeclared = meanings(attribute, plain, _decimal(preview))
    places = np.asarray(coded.indices)
    return codes[places], undeclared[places]


def _column(preview: Preview, attribute: Attribute) -> tuple[str, DatePart | None]:
    if attribute.name in preview.labels:
        return preview.column(attribute.name), None
    found = _PART.fullmatch(attribute.name)
    if found and found["label"] in preview.labels:
        return preview.column(found["label"]), cast("DatePart", found["part"])
    return preview.column(attribute.name), None  # refuses


def _decimal(preview: Preview) -> str:
    return str(preview.choices.get("decimal", "."))


def _plain_texts(
    preview: Preview, attribute: Attribute, column: str, texts: Sequence[str], part: DatePart | None
) -> list[str]:
    """Put "" for what a person said is missing, and the part asked for in a date's place."""
    declared = set(attribute.values or ())
    said = set(preview.choices.get("missing", ())) - declared
    plain = ["" if text in said else text for text in texts] if said else list(texts)
    if part is None:
        return plain
    day_first = preview.attributes(preview.labels[int(column[1:])])[0].day_first
    stay = {"", *(attribute.missing.codes if attribute.missing else ())}
    return [t if t in stay else _date_text(t, part, day_first=day_first) for t in plain]


def meanings(
    attribute: Attribute, texts: Sequence[str], decimal: str = "."
) -> tuple[IntArray, BoolArray]:
    """Return the code of each text, and whether it was undeclared (whatever its rule made of it).

    Numbers are binned all at once; every other text goes to ``engine.tables.encode_texts``.
    """
    codes = np.empty(len(texts), np.int64)
    undeclared = np.zeros(len(texts), np.bool_)
    values, others = _numbers(attribute, texts, decimal)
    if len(values):
        at = ~np.isnan(values)
        codes[at], undeclared[at] = _number_codes(attribute, values[at])
    spoken = list(texts)
    if attribute.kind in ("integer", "numeric"):
        # What is no number in this file must not be taken for one by another reader ("1.5" under a
        # decimal comma).
        codes_said = set(attribute.missing.codes) if attribute.missing else set()
        for i in others:
            if spoken[i] and spoken[i] not in codes_said:
                spoken[i] = "(no number)"
    held = {spoken[i] for i in others}
    meaning = encode_texts(attribute, held)
    strict = meaning
    if attribute.outside != "refuse":
        strict = encode_texts(replace(attribute, outside="refuse"), held)
    for i in others:
        codes[i] = meaning[spoken[i]]
        undeclared[i] = strict[spoken[i]] == _OUTSIDE
    return codes, undeclared


def _numbers(
    attribute: Attribute, texts: Sequence[str], decimal: str
) -> tuple[FloatArray, list[int]]:
    """Read the texts as numbers where the attribute holds such; NaN and a position for the rest."""
    if attribute.kind not in ("integer", "numeric"):
        return np.zeros(0), list(range(len(texts)))
    codes = set(attribute.missing.codes) if attribute.missing else set()
    values = np.full(len(texts), np.nan)
    others = []
    for i, text in enumerate(texts):
        number = None if text in codes else readings.number(text, decimal)
        if number is None:
            others.append(i)
        else:
            values[i] = number
    return values, others


def _number_codes(attribute: Attribute, values: FloatArray) -> tuple[IntArray, BoolArray]:
    if attribute.edges is not None:
        edges = np.array(attribute.edges)
        low, high = edges[0], edges[-1]
        fine = (values >= low) & (values <= high)
    else:
        low, high = attribute.bounds or (0, 0)
        fine = (values >= low) & (values <= high) & (values == np.floor(values))
        edges = None
    nearest = np.clip(values, low, high) if attribute.outside == "clamp" else values
    inside = (nearest >= low) & (nearest <= high)
    if edges is not None:
        bins = np.searchsorted(edges, nearest, side="right") - 1
        codes = np.minimum(bins, len(edges) - 2)
    else:
        inside &= nearest == np.floor(nearest)
        codes = np.where(inside, nearest - low, 0).astype(np.int64)
    own = attribute.missing is not None and attribute.missing.rule == "category"
    beyond = attribute.size - own - 1 if attribute.outside == "other" else _OUTSIDE
    return np.where(inside, codes, beyond), ~fine


def _date_text(text: str, part: DatePart, *, day_first: bool) -> str:
    day = readings.date(text, day_first=day_first)
    if day is None:
        return "(no date)"
    values = DATE_PARTS[part]
    if values is None:
        return str(day.year)
    index = {"quarter": (day.month - 1) // 3, "month": day.month - 1, "weekday": day.weekday()}[
        part
    ]
    return values[index]


def _check(preview: Preview, attribute: Attribute, codes: IntArray) -> None:
    for problem, code in ((_MISSING, "E_MISSING"), (_OUTSIDE, "E_VALUE")):
        hit = codes == problem
        if not hit.any():
            continue
        line = int(preview.lines[int(hit.argmax())]) if len(preview.lines) == len(codes) else 0
        where = f"first on line {line:,}" if line else f"first in record {int(hit.argmax()) + 1:,}"
        if code == "E_MISSING":
            raise DataError(
                f"Attribute {attribute.name!r} has a missing cell ({where}) and its domain has "
                "no rule "
                "for it. Give missing cells a category of their own, leave such records out, or "
                "replace them.",
                code=code,
            )
        raise DataError(
            f"Attribute {attribute.name!r} has a value outside its declared domain ({where}). "
            "Declare "
            "it, or say what undeclared values become: Other, or the nearest bound.",
            code=code,
        )


def random_order(number: int) -> NDArray[np.intp]:
    """Return 0 .. number - 1 in a random order, from the operating system's entropy."""
    order: NDArray[np.intp] = np.argsort(np.frombuffer(os.urandom(8 * number), np.uint64))
    return order


def _kept_of_each(preview: Preview, person: str, most: int, order: Order) -> BoolArray:
    """Keep at most so many rows of each person, chosen at random."""
    coded = preview.texts(preview.column(person)).combine_chunks().dictionary_encode()
    who = np.asarray(coded.indices, dtype=np.int64)
    if "" in coded.dictionary.to_pylist():
        raise DataError(
            f"Column {person!r} says whose row it is, and some of its cells are empty; every row "
            "needs "
            "one. Fill them in, or choose another column.",
            code="E_MISSING",
        )
    shuffled = order(len(who))
    by_person = shuffled[np.argsort(who[shuffled], kind="stable")]
    grouped = who[by_person]
    starts = (
        np.r_[0, np.flatnonzero(np.diff(grouped)) + 1] if len(grouped) else np.zeros(0, np.int64)
    )
    sizes = np.diff(np.r_[starts, len(grouped)])
    rank = np.arange(len(grouped)) - np.repeat(starts, sizes)
    keep = np.zeros(len(who), dtype=np.bool_)
    keep[by_person[rank < most]] = True
    return keep
