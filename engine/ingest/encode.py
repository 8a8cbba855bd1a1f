"""From a preview and a declared domain to the engine's table of codes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from engine import codes as coded_as
from engine.attributes import DATE_PARTS, DatePart, Derived, Missing
from engine.codes import DROP, MISSING, OUTSIDE
from engine.coding import canonical
from engine.coding import plain as plain_text
from engine.domain import Attribute, Domain
from engine.errors import DataError
from engine.exact import Exact
from engine.ingest import persons, readings
from engine.ingest.persons import Order, random_order
from engine.ingest.preview import Preview
from engine.tables import Table
from engine.types import IntArray

BoolArray: TypeAlias = NDArray[np.bool_]
__all__ = ["Encoded", "PrivateCounts", "encode", "encode_counted", "random_order"]
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
    order: Order | None = None, seed: int | None = None,
) -> Table:  # fmt: skip
    """Make the table of a domain; ``encode_counted`` tells how many cells its rules changed.

    Raises:
        DataError: See ``encode_counted``.
    """
    return encode_counted(preview, domain, person=person, order=order, seed=seed).table


def encode_counted(
    preview: Preview, domain: Domain, *, person: str | None = None,
    order: Order | None = None, seed: int | None = None,
) -> Encoded:  # fmt: skip
    """Make the table of a domain, and count what its rules changed.

    An attribute is read from the column that it says it is derived from, or from the one with its
    name; "born (year)" is the year of the dates of "born" where no column has that name.

    Args:
        preview: The table as understood.
        domain: Declared attributes; each must have a column.
        person: Label of the column that says whose row it is; by default that of the preview's
            choices. At most ``domain.rows_per_person`` rows of each person are kept.
        order: Gives a random order of n rows; the first rows of each person in it are kept.
        seed: Without an order: the rows kept are those with the smallest hashes of this seed, the
            person and the row's place among the person's rows. By default that of the choices.

    Raises:
        DataError: If an attribute has no column (``E_COLUMN``), a value is undeclared and its rule
            is to refuse (``E_VALUE``), or a cell is missing without a rule (``E_MISSING``).
    """
    rows = len(preview.frame)
    keep = np.ones(rows, dtype=np.bool_)
    person = preview.choices.get("person") if person is None else person
    if person is not None:
        seed = int(preview.choices.get("seed", 0)) if seed is None else seed
        keep = persons.kept_rows(preview, person, domain.rows_per_person, order=order, seed=seed)
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
    column, derived = _column(preview, attribute)
    coded = preview.texts(column).combine_chunks().dictionary_encode()
    texts = cast("list[str]", coded.dictionary.to_pylist())
    if not texts:
        return np.zeros(0, np.int64), np.zeros(0, np.bool_)
    plain = _plain_texts(preview, attribute, column, texts, derived)
    said = preview.choices.get("missing", ())
    found = coded_as.encode(attribute, plain, decimal=_decimal(preview), missing=said)
    places = np.asarray(coded.indices)
    return found.codes[places], found.undeclared[places]


def _column(preview: Preview, attribute: Attribute) -> tuple[str, Derived | None]:
    derived = attribute.derived
    if derived is not None:
        return preview.column(derived.column), derived
    if attribute.name not in preview.labels:
        found = _PART.fullmatch(attribute.name)  # as domain files said it before they named columns
        if found and found["label"] in preview.labels:
            derived = Derived(found["label"], cast("DatePart", found["part"]))
            return preview.column(found["label"]), derived
    return preview.column(attribute.name), None


def _decimal(preview: Preview) -> str:
    return str(preview.choices.get("decimal", "."))


def _plain_texts(
    preview: Preview, attribute: Attribute, column: str, texts: Sequence[str],
    derived: Derived | None,
) -> list[str]:  # fmt: skip
    """Put the part of a date, or the yes or no of an answer, in the cell's place."""
    if derived is None:
        return list(texts)
    day_first = derived.part is not None and bool(
        preview.attributes(preview.labels[int(column[1:])])[0].day_first
    )
    said = preview.choices.get("missing", ())
    return derived_texts(attribute, derived, texts, missing=said, day_first=day_first)


def derived_texts(
    attribute: Attribute, derived: Derived, texts: Sequence[str], *,
    missing: Sequence[str] = (), day_first: bool = False,
) -> list[str]:  # fmt: skip
    """Return what an attribute is told of each cell text of the column it is made from.

    Args:
        attribute: Whose rule for missing cells holds.
        derived: What is taken: a part of a date, a yes or no, or the text itself.
        texts: Cell texts.
        missing: What else means "missing" in this file.
        day_first: Whether 03/04/2020 is in April.
    """
    if derived.contains is not None:
        wanted, mark = plain_text(derived.contains), derived.separator
        held = [{plain_text(piece) for piece in text.split(mark)} for text in texts]
        return ["yes" if wanted in pieces else "no" for pieces in held]
    if derived.part is None:
        return list(texts)
    stay = {canonical(c) for c in (*missing, *(attribute.missing or Missing()).codes)}
    part = derived.part
    return [
        t if not t or canonical(t) in stay else _date_text(t, part, day_first=day_first)
        for t in texts
    ]


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
    def where(at: int) -> str:
        line = int(preview.lines[at]) if len(preview.lines) == len(codes) else 0
        return f"first on line {line:,}" if line else f"first in record {at + 1:,}"

    refuse_bad(attribute, codes, where)


def refuse_bad(attribute: Attribute, codes: IntArray, where: Callable[[int], str]) -> None:
    """Refuse codes that stand for a missing cell without a rule, or for an undeclared value.

    Args:
        attribute: Whose codes they are.
        codes: Codes of the records that are kept.
        where: Says where a position stands in the source: "first on line 7".

    Raises:
        DataError: ``E_MISSING`` or ``E_VALUE``.
    """
    for problem, code in ((MISSING, "E_MISSING"), (OUTSIDE, "E_VALUE")):
        hit = codes == problem
        if not hit.any():
            continue
        place = where(int(hit.argmax()))
        if code == "E_MISSING":
            raise DataError(
                f"Attribute {attribute.name!r} has a missing cell ({place}) and its domain has no "
                "rule for it. Give missing cells a category of their own, leave such records out, "
                "or replace them.",
                code=code,
            )
        raise DataError(
            f"Attribute {attribute.name!r} has a value outside its declared domain ({place}). "
            "Declare it, or say what undeclared values become: Other, or the nearest bound.",
            code=code,
        )
