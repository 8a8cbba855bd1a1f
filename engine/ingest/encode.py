"""From a preview and a declared domain to the engine's table of codes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, cast

import numpy as np

from engine.domain import Attribute, Domain
from engine.errors import DataError
from engine.ingest import readings
from engine.ingest.domains import DATE_PARTS, DatePart
from engine.ingest.preview import Preview
from engine.tables import Table, encode_texts
from engine.types import IntArray

_DROP, _OUTSIDE, _MISSING = -1, -2, -3
_PART = re.compile(rf"(?P<label>.*) \((?P<part>{'|'.join(DATE_PARTS)})\)", re.DOTALL)


class PrivateCounts:
    """How many cells of each attribute were undeclared, and how many records were left out.

    The counts are private: they do not print and do not pickle.
    """

    __slots__ = ("dropped", "outside")

    def __init__(self, outside: dict[str, int], dropped: int) -> None:
        self.outside, self.dropped = outside, dropped

    def __repr__(self) -> str:
        return "PrivateCounts(private)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Counts of undeclared values are private and are not copied out.")


@dataclass(frozen=True, slots=True)
class Encoded:
    """A table, and the private counts of what its domain's rules changed."""

    table: Table
    counts: PrivateCounts


def encode(
    preview: Preview, domain: Domain, *, person: str | None = None,
    rng: np.random.Generator | None = None,
) -> Table:  # fmt: skip
    """Make the table of a domain; ``encode_counted`` tells how many cells its rules changed.

    Raises:
        DataError: See ``encode_counted``.
    """
    return encode_counted(preview, domain, person=person, rng=rng).table


def encode_counted(
    preview: Preview, domain: Domain, *, person: str | None = None,
    rng: np.random.Generator | None = None,
) -> Encoded:  # fmt: skip
    """Make the table of a domain, and count what its rules changed.

    An attribute is read from the column with its label; "born (year)" from the dates of "born".

    Args:
        preview: The table as understood.
        domain: Declared attributes; each must have a column.
        person: Label of the column that says whose row it is. At most ``domain.rows_per_person``
            rows of each person are kept, chosen at random.
        rng: Source of that choice; operating-system entropy by default.

    Raises:
        DataError: If an attribute has no column (``E_COLUMN``), a value is undeclared and its rule
            is to refuse (``E_VALUE``), or a cell is missing without a rule (``E_MISSING``).
    """
    rows = len(preview.frame)
    keep = np.ones(rows, dtype=np.bool_)
    if person is not None:
        keep = _kept_of_each(preview, person, domain.rows_per_person, rng)
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


def _codes(
    preview: Preview, attribute: Attribute
) -> tuple[IntArray, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    # Every distinct text is understood once, however many records hold it.
    column, part = _column(preview, attribute)
    coded = preview.texts(column).combine_chunks().dictionary_encode()
    texts = cast("list[str]", coded.dictionary.to_pylist())
    places = np.asarray(coded.indices)
    meant = _meanings(preview, attribute, column, texts, part)
    codes = np.fromiter(meant, np.int64, len(texts))
    strict = codes
    if attribute.outside != "refuse":
        refusing = replace(attribute, outside="refuse")
        strict = np.fromiter(
            _meanings(preview, refusing, column, texts, part), np.int64, len(texts)
        )
    if not len(texts):
        return np.zeros(0, np.int64), np.zeros(0, np.bool_)
    return codes[places], (strict == _OUTSIDE)[places]


def _column(preview: Preview, attribute: Attribute) -> tuple[str, DatePart | None]:
    if attribute.name in preview.labels:
        return preview.column(attribute.name), None
    found = _PART.fullmatch(attribute.name)
    if found and found["label"] in preview.labels:
        return preview.column(found["label"]), cast("DatePart", found["part"])
    return preview.column(attribute.name), None  # refuses


def _meanings(
    preview: Preview, attribute: Attribute, column: str, texts: Sequence[str], part: DatePart | None
) -> list[int]:
    day_first = True
    if part is not None:
        label = preview.labels[int(column[1:])]
        day_first = preview.attributes(label)[0].day_first
    declared = set(attribute.labels) if attribute.kind in ("categorical", "ordinal") else set()
    codes = set(attribute.missing.codes) if attribute.missing else set()
    said = set(preview.choices.get("missing", ())) - declared
    decimal = str(preview.choices.get("decimal", "."))
    plain = []
    for text in texts:
        if text in said:
            plain.append("")
        elif not text or text in codes or text in declared:
            plain.append(text)
        elif part is not None:
            plain.append(_date_text(text, part, day_first=day_first))
        elif attribute.kind in ("integer", "numeric"):
            plain.append(_number_text(text, decimal))
        else:
            plain.append(text)
    meaning = encode_texts(attribute, set(plain))
    return [meaning[text] for text in plain]


def _number_text(text: str, decimal: str) -> str:
    if decimal == "." and readings.is_plain_number(text):
        return text
    number = readings.number(text, decimal)
    # What is no number must not be taken for one by another reader ("1,5" is not 15, "1_0" not 10).
    return "(no number)" if number is None else repr(number)


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
                f"Attribute {attribute.name!r} has a missing cell ({where}) and its domain has no rule "
                "for it. Give missing cells a category of their own, leave such records out, or "
                "replace them.",
                code=code,
            )
        raise DataError(
            f"Attribute {attribute.name!r} has a value outside its declared domain ({where}). Declare "
            "it, or say what undeclared values become: Other, or the nearest bound.",
            code=code,
        )


def _kept_of_each(
    preview: Preview, person: str, most: int, rng: np.random.Generator | None
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Keep at most so many rows of each person, chosen at random."""
    coded = preview.texts(preview.column(person)).combine_chunks().dictionary_encode()
    who = np.asarray(coded.indices, dtype=np.int64)
    if "" in coded.dictionary.to_pylist():
        raise DataError(
            f"Column {person!r} says whose row it is, and some of its cells are empty; every row needs "
            "one. Fill them in, or choose another column.",
            code="E_MISSING",
        )
    shuffled = (rng or np.random.default_rng()).permutation(len(who))
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
