"""One attribute: a name for people, and the values a record may have there."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from engine.errors import DomainError

Kind = Literal["categorical", "ordinal", "integer", "numeric"]
Outside = Literal["refuse", "clamp", "other"]
MissingRule = Literal["category", "drop", "replace"]
Source = Literal["declared", "public default", "data"]
Compare = Literal["value", "text", "folded"]
Part = Literal["values", "lowest", "highest", "edges", "missing"]
DatePart = Literal["year", "quarter", "month", "weekday"]

MAX_SIZE = 10_000_000
"""Most values one attribute may have: past this a table over it alone is no table."""
_KINDS, _OUTSIDE = ("categorical", "ordinal", "integer", "numeric"), ("refuse", "clamp", "other")
_RULES = ("category", "drop", "replace")
_SOURCES = ("declared", "public default", "data")
_COMPARE = ("value", "text", "folded")
DATE_PARTS: dict[DatePart, tuple[str, ...] | None] = {
    "year": None,
    "quarter": ("Q1", "Q2", "Q3", "Q4"),
    "month": (
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ),
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}  # fmt: skip
"""Parts of a date that an attribute may hold, with their values where those are public."""
PARTS: dict[str, tuple[Part, ...]] = {
    "categorical": ("values", "missing"),
    "ordinal": ("values", "missing"),
    "integer": ("lowest", "highest", "missing"),
    "numeric": ("lowest", "highest", "edges", "missing"),
}
"""What of an attribute may have been read from the rows, by its kind; ``missing`` is its rule."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What a missing cell is and what becomes of it.

    Args:
        codes: Cell texts that mean "missing", such as ``"?"``; an empty cell always does.
        rule: ``"category"`` gives missing cells a value of their own (the last one),
            ``"drop"`` leaves the record out, ``"replace"`` counts it as ``value``.
        label: Name of the category under the rule ``"category"``.
        value: Cell text used under the rule ``"replace"``.
    """

    codes: tuple[str, ...] = ()
    rule: MissingRule = "category"
    label: str = "(missing)"
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """The column that an attribute is made from, where it is not the one of its own name.

    Exactly one of ``part`` (of a date) and ``contains`` (an answer among several in one cell) may
    be given; with neither the attribute is that column under another name.

    Args:
        column: Label of the column.
        part: Part of its dates that is the attribute's value.
        contains: The attribute is "yes" where a cell holds this answer, "no" where it does not.
        separator: What stands between the answers of a cell.
    """

    column: str
    part: DatePart | None = None
    contains: str | None = None
    separator: str = ";"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: a name for people, and the values a record may have there.

    Exactly one of ``values`` (categorical, ordinal), ``bounds`` (integer: first and last) or
    ``edges`` (numeric: k + 1 increasing edges for k bins, each holding its left edge, the last bin
    holding both) declares the values.

    Args:
        name: Label, unique in the domain. Identity is the position, never the name.
        kind: How cells are read: ``categorical``, ``ordinal``, ``integer`` or ``numeric``.
        values: Cell texts in order.
        bounds: Smallest and largest integer, both included.
        edges: Bin edges, increasing.
        outside: What an undeclared value does: ``refuse`` the table, ``clamp`` to the nearest
            (integer, numeric), or count as ``other``.
        other: Label of the extra value that undeclared cells fall into (rule ``other``).
        missing: What a missing cell is; None means a missing cell refuses the table.
        description: One line for people.
        source: Where this attribute's values came from; ``data`` if any part did.
        declared: With the source ``data``: its parts (``PARTS``) that are known without looking at
            the rows all the same. An edit of one part leaves the mark on the others.
        compare: When a cell is one of the values: ``value`` (as texts in Unicode NFC, numbers by
            value; the rules are in ``engine.coding``), ``text`` (as texts only), or ``folded`` (as
            ``value``, and neither capitals nor blanks count).
        derived: The column it is made from, where that has another name.

    Raises:
        DomainError: If the declaration does not describe at least one value, or repeats one.
    """

    name: str
    kind: Kind = "categorical"
    values: tuple[str, ...] | None = None
    bounds: tuple[int, int] | None = None
    edges: tuple[float, ...] | None = None
    outside: Outside = "refuse"
    other: str = "(other)"
    missing: Missing | None = None
    description: str = ""
    source: Source = "declared"
    declared: tuple[Part, ...] = ()
    compare: Compare = "value"
    derived: Derived | None = None
    labels: Sequence[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DomainError(
                f"An attribute's name is {self.name!r}, which is no text. Give it a name."
            )
        check_text(self.name, [self.name, self.other, self.description])
        _check_choice(self.name, "kind", self.kind, _KINDS)
        _check_choice(self.name, "outside", self.outside, _OUTSIDE)
        _check_choice(self.name, "source", self.source, _SOURCES)
        _check_choice(self.name, "compare", self.compare, _COMPARE)
        _check_declaration(self)
        _settle_source(self)
        labels = _declared_labels(self)
        if self.outside == "other":
            labels = (*labels, self.other)
        if self.missing is not None and self.missing.rule == "category":
            labels = (*labels, self.missing.label)
        if not 1 <= len(labels) <= MAX_SIZE:
            raise DomainError(
                f"Attribute {self.name!r} has {len(labels):,} values; between 1 and {MAX_SIZE:,} "
                "are possible. Declare its values, or use wider bins."
            )
        check_text(self.name, labels)
        check_distinct(self.name, labels)
        object.__setattr__(self, "labels", labels)

    @property
    def size(self) -> int:
        """Number of values, n_i; "other" and "missing" are values too."""
        return len(self.labels)

    @property
    def read_from_data(self) -> tuple[Part, ...]:
        """The parts that came from the rows; a release made with any is a demonstration."""
        if self.source != "data":
            return ()
        return tuple(part for part in PARTS[self.kind] if part not in self.declared)

    def known(self, *parts: Part) -> Attribute:
        """Return the attribute with these parts (or all) declared: known without the rows.

        >>> drafted = Attribute("age", "integer", bounds=(17, 90), source="data")
        >>> drafted.known("lowest").read_from_data
        ('highest', 'missing')
        """
        wanted = parts or PARTS[self.kind]
        return replace(self, declared=tuple(dict.fromkeys((*self.declared, *wanted))))


# -- checks -------------------------------------------------------------------------------------


def _check_choice(name: str, what: str, found: object, allowed: Sequence[str]) -> None:
    if found not in allowed:
        raise DomainError(
            f"Attribute {name!r} has {what} {found!r}; it must be one of {', '.join(allowed)}. "
            "Correct the domain file."
        )


def _settle_source(attribute: Attribute) -> None:
    """Keep one way to say it: nothing is listed unless something else came from the rows."""
    for part in attribute.declared:
        _check_choice(attribute.name, "declared part", part, sum(PARTS.values(), ()))
    parts = [part for part in PARTS[attribute.kind] if part in attribute.declared]
    if attribute.source == "data" and len(parts) == len(PARTS[attribute.kind]):
        object.__setattr__(attribute, "source", "declared")
    settled = tuple(parts) if attribute.source == "data" else ()
    object.__setattr__(attribute, "declared", settled)


def _check_declaration(attribute: Attribute) -> None:
    name, kind = attribute.name, attribute.kind
    wanted = {"integer": "bounds", "numeric": "edges"}.get(kind, "values")
    given = [f for f in ("values", "bounds", "edges") if getattr(attribute, f) is not None]
    if given != [wanted]:
        raise DomainError(
            f"Attribute {name!r} of kind {kind} declares {' and '.join(given) or 'nothing'}; "
            f"it needs {wanted} and nothing else. Correct the domain file."
        )
    if attribute.outside == "clamp" and wanted == "values":
        raise DomainError(
            f"Attribute {name!r} of kind {kind} cannot clamp: its values have no nearest one. "
            "Use refuse or other."
        )
    _check_derived(attribute)
    missing = attribute.missing
    if missing is not None:
        _check_choice(name, "missing rule", missing.rule, _RULES)
        check_text(name, [missing.label, *missing.codes])
        if missing.value is not None:
            check_text(name, [missing.value])
        if missing.rule == "replace" and missing.value is None:
            raise DomainError(
                f"Attribute {name!r} replaces missing cells but says not by what. "
                'Add "value" to its missing rule.'
            )


def _check_derived(attribute: Attribute) -> None:
    made = attribute.derived
    if made is None:
        return
    check_text(attribute.name, [made.column, made.contains or "", made.separator])
    if made.part is not None:
        _check_choice(attribute.name, "part", made.part, tuple(DATE_PARTS))
    if made.contains is not None and (made.part is not None or not made.separator):
        raise DomainError(
            f"Attribute {attribute.name!r} is made of a column in two ways, or of answers that "
            "nothing sets apart. Give either a part of a date, or an answer and a separator."
        )


def _declared_labels(attribute: Attribute) -> Sequence[str]:
    if attribute.values is not None:
        if isinstance(attribute.values, str):
            raise DomainError(
                f"Attribute {attribute.name!r} has one text as its values; a list of texts is "
                "needed. Put it into brackets."
            )
        listed = isinstance(attribute.values, Iterable)
        if not listed or not all(isinstance(value, str) for value in attribute.values):
            raise DomainError(
                f"Attribute {attribute.name!r} lists a value that is no text; a list of texts is "
                'needed. Write values=("f", "m").'
            )
        return attribute.values
    if attribute.bounds is not None:
        if not isinstance(attribute.bounds, Sequence) or len(attribute.bounds) != 2:
            raise DomainError(
                f"Attribute {attribute.name!r} has bounds {attribute.bounds!r}; the first and the "
                "last value are needed, as in (0, 99). Correct them."
            )
        return _integer_labels(attribute.name, *attribute.bounds)
    try:
        numbers = [float(edge) for edge in attribute.edges or ()]
    except (TypeError, ValueError):
        numbers = []
    increasing = all(a < b for a, b in pairwise(numbers))
    if len(numbers) < 2 or not increasing or not all(map(math.isfinite, numbers)):
        raise DomainError(
            f"Attribute {attribute.name!r} needs at least two finite, increasing bin edges. "
            "Correct them."
        )
    texts = [f"{edge:g}" if float(f"{edge:g}") == edge else repr(edge) for edge in numbers]
    pairs = list(pairwise(texts))
    return (*(f"[{a}, {b})" for a, b in pairs[:-1]), f"[{pairs[-1][0]}, {pairs[-1][1]}]")


def _integer_labels(name: str, first: int, last: int) -> Sequence[str]:
    whole = all(isinstance(b, int) and not isinstance(b, bool) for b in (first, last))
    if not whole or last < first or last - first >= MAX_SIZE:
        raise DomainError(
            f"Attribute {name!r} has bounds {first!r} to {last!r}; two whole numbers, the smaller "
            f"first and at most {MAX_SIZE:,} apart, are needed. Correct them."
        )
    return tuple(str(value) for value in range(first, last + 1))


def check_text(name: str, texts: Sequence[object]) -> None:
    """Refuse what is no proper text, naming the attribute (or the domain, for a name of "")."""
    owner = f"Attribute {name!a}" if name else "The domain"
    for text in texts:
        if not isinstance(text, str):
            raise DomainError(f"{owner} has {text!r} where a text is needed. Quote it.")
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise DomainError(
                f"{owner} has a name or value that is no proper text (it holds a lone surrogate). "
                "Read the file with the right encoding."
            )


def check_distinct(owner: str, labels: Sequence[str], *, what: str = "value") -> None:
    """Refuse two texts that are the same to a reader."""
    # Two spellings of one text (composed and decomposed accents) look the same to every reader.
    seen: set[str] = set()
    for label in labels:
        key = label if label.isascii() else unicodedata.normalize("NFC", label)
        if key in seen:
            raise DomainError(
                f"{owner if owner == 'the domain' else f'Attribute {owner!r}'} lists the {what} "
                f"{label!r} twice; each may stand there once. Remove or rename one."
            )
        seen.add(key)
