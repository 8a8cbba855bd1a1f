"""From a preview and a declared domain to the engine's table of codes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from engine import coding
from engine.coding import DROP, MISSING, OUTSIDE
from engine.domain import Attribute, Domain
from engine.errors import DataError
from engine.exact import Exact
from engine.ingest import readings
from engine.ingest.domains import DATE_PARTS, DatePart
from engine.ingest.preview import Preview
from engine.tables import Table
from engine.types import IntArray

BoolArray: TypeAlias = NDArray[np.bool_]
Order: TypeAlias = Callable[[int], NDArray[np.intp]]
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
            is to refuse (``E_VALUE``), or a cell is missing without a rule (``EMISSING``).
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
        keep &= codes != DROP
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
    said = preview.choices.get("missing", ())
    found = coding.encode(attribute, plain, decimal=_decimal(preview), missing=said)
    places = np.asarray(coded.indices)
    return found.codes[places], found.undeclared[places]


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
    """Put the part asked for in a date's place."""
    if part is None:
        return list(texts)
    day_first = preview.attributes(preview.labels[int(column[1:])])[0].day_first
    stay = {"", *(attribute.missing.codes if attribute.missing else ())}
    return [t if t in stay else _date_text(t, part, day_first=day_first) for t in texts]


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
    for problem, code in ((MISSING, "E_MISSING"), (OUTSIDE, "E_VALUE")):
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
