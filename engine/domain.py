"""Attributes, their values in order, and the sets of them that marginals are over.

A domain is a declaration: it must come from public knowledge, never from the private rows. Where it
was read from the data after all, ``source`` says so, and every release made with it bears the mark.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal, cast

from engine.errors import DomainError
from engine.types import AttributeSet

Kind = Literal["categorical", "ordinal", "integer", "numeric"]
Outside = Literal["refuse", "clamp", "other"]
MissingRule = Literal["category", "drop", "replace"]
Source = Literal["declared", "public default", "data"]

FORMAT = "aim-grem-domain/1"
MAX_SIZE = 10_000_000
"""Most values one attribute may have: past this a table over it alone is no table."""
_KINDS, _OUTSIDE = ("categorical", "ordinal", "integer", "numeric"), ("refuse", "clamp", "other")
_RULES = ("category", "drop", "replace")
_SOURCES = ("declared", "public default", "data")


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
        source: Where this attribute's values came from.

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
    labels: Sequence[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DomainError(
                f"An attribute's name is {self.name!r}, which is no text. Give it a name."
            )
        _check_text(self.name, [self.name, self.other, self.description])
        _check_choice(self.name, "kind", self.kind, _KINDS)
        _check_choice(self.name, "outside", self.outside, _OUTSIDE)
        _check_choice(self.name, "source", self.source, _SOURCES)
        _check_declaration(self)
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
        _check_text(self.name, labels)
        _check_distinct(self.name, labels)
        object.__setattr__(self, "labels", labels)

    @property
    def size(self) -> int:
        """Number of values, n_i; "other" and "missing" are values too."""
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class Domain:
    """The attributes in order; an attribute's identity is its position.

    Args:
        attributes: At least one.
        title: What the table is, for people.
        row: What one row is ("one person"), for people.
        note: Where the declaration comes from.
        rows_per_person: Most rows that one person may have; k rows cost k squared in rho.

    Raises:
        DomainError: If there is no attribute, two share a name, or nobody may have a row.

    >>> domain = Domain.from_sizes({"age": 4, "sex": 2, "income": 3})
    >>> domain.attrs("income", "age")
    (0, 2)
    >>> domain.label((0, 2)), domain.cells((0, 2))
    ('age × income', 12)
    """

    attributes: tuple[Attribute, ...]
    title: str = ""
    row: str = "one person"
    note: str = ""
    rows_per_person: int = 1
    sizes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _positions: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        _check_text("", [self.title, self.row, self.note])
        if not self.attributes:
            raise DomainError("The domain has no attribute; at least one is needed. Declare one.")
        names = [attribute.name for attribute in self.attributes]
        _check_distinct("the domain", names, what="attribute name")
        _check_rows(self.rows_per_person)
        object.__setattr__(self, "sizes", tuple(a.size for a in self.attributes))
        object.__setattr__(self, "_positions", {name: i for i, name in enumerate(names)})

    # -- making one -----------------------------------------------------------------------------

    @classmethod
    def from_sizes(cls, sizes: Mapping[str, int], *, title: str = "") -> Domain:
        """Make a domain of coded attributes: name -> number of values, codes 0 .. size - 1.

        Raises:
            DomainError: If a size is not a whole number of at least 1.
        """
        return cls(tuple(_coded(name, size) for name, size in sizes.items()), title=title)

    @classmethod
    def from_json(cls, path: str | Path) -> Domain:
        """Read a domain file; the format is described in engine/README.md.

        Raises:
            DomainError: If the file is missing, is no JSON, or declares no domain.
        """
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise DomainError(
                f"The domain file {Path(path).name!r} cannot be read ({error.strerror}). "
                "Give the path of a .domain.json file."
            ) from None
        if len(content) > 5 << 20:
            raise DomainError("The domain file is larger than 5 MiB. Declare fewer values.")
        try:
            declared = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DomainError(f"The domain file is no JSON: {error}. Mend it there.") from None
        return cls.from_dict(declared)

    @classmethod
    def from_dict(cls, declared: object) -> Domain:
        """Make a domain from the content of a domain file.

        Raises:
            DomainError: If the content does not declare a domain.
        """
        if not isinstance(declared, dict) or declared.get("format") != FORMAT:
            raise DomainError(
                f'The domain does not say "format": "{FORMAT}". Use a file that this engine wrote, '
                "or one of sample_data as a pattern."
            )
        entries = declared.get("attributes")
        if not isinstance(entries, list):
            raise DomainError('The domain has no list "attributes". Add one entry an attribute.')
        attributes = tuple(_attribute_from(entry, i) for i, entry in enumerate(entries, start=1))
        texts = {key: declared.get(key, "") for key in ("title", "note")}
        row, rows = str(declared.get("row", "one person")), declared.get("rows_per_person", 1)
        return cls(attributes, row=row, rows_per_person=rows, **texts)

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain JSON values; ``from_dict`` reads it back equal."""
        entry: dict[str, Any] = {
            "format": FORMAT,
            "title": self.title,
            "row": self.row,
            "note": self.note,
        }
        if self.rows_per_person != 1:
            entry["rows_per_person"] = self.rows_per_person
        entry["attributes"] = [_attribute_to(attribute) for attribute in self.attributes]
        return entry

    def to_json(self, path: str | Path) -> None:
        """Write the domain file (UTF-8)."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @property
    def hash(self) -> str:
        """SHA-256 of the declaration, which a release carries to say what it was made for."""
        text = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def read_from_data(self) -> bool:
        """Whether some values were read from the rows: a demonstration then, no release."""
        return any(attribute.source == "data" for attribute in self.attributes)

    # -- using it -------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names in order."""
        return tuple(self._positions)

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __getitem__(self, attribute: int | str) -> Attribute:
        return self.attributes[self._position(attribute)]

    def attrs(self, *attributes: str | int) -> AttributeSet:
        """Return the set of the named attributes (or positions), in domain order.

        Raises:
            DomainError: If one is unknown or named twice.
        """
        positions = sorted(self._position(attribute) for attribute in attributes)
        if len(set(positions)) < len(positions):
            raise DomainError(
                f"The set {attributes!r} names an attribute twice; each may stand in it once. "
                "Remove the repetition."
            )
        return tuple(positions)

    def label(self, attrs: AttributeSet) -> str:
        """Name a set of attributes for people; the empty set is the total."""
        return " × ".join(self.attributes[i].name for i in attrs) if attrs else "total"

    def shape(self, attrs: AttributeSet) -> tuple[int, ...]:
        """Shape of the marginal over ``attrs``."""
        return tuple(self.sizes[i] for i in attrs)

    def cells(self, attrs: AttributeSet) -> int:
        """Number of cells n_gamma, a Python integer of any size."""
        return math.prod(self.sizes[i] for i in attrs)

    def select(self, *attributes: str | int) -> Domain:
        """Return the domain of some of the attributes, in the order given here."""
        self.attrs(*attributes)  # refuses unknown and repeated ones
        kept = tuple(self[attribute] for attribute in attributes)
        return replace(self, attributes=kept)

    def _position(self, attribute: str | int) -> int:
        if isinstance(attribute, str) and attribute in self._positions:
            return self._positions[attribute]
        if isinstance(attribute, int) and not isinstance(attribute, bool):
            if 0 <= attribute < len(self.attributes):
                return attribute
            raise DomainError(
                f"There is no attribute at position {attribute}; the domain has "
                f"{len(self.attributes)}, counted from 0."
            )
        raise DomainError(
            f"There is no attribute {attribute!r}. The domain has "
            f"{', '.join(map(repr, list(self._positions)[:20]))}"
            f"{', ...' if len(self._positions) > 20 else ''}. Name one of these."
        )


def subsets(attrs: AttributeSet) -> tuple[AttributeSet, ...]:
    """Return all subsets, by size and then in order, the empty set first.

    >>> subsets((0, 2))
    ((), (0,), (2,), (0, 2))
    """
    return tuple(s for k in range(len(attrs) + 1) for s in combinations(attrs, k))


# -- checks -------------------------------------------------------------------------------------


def _check_choice(name: str, what: str, found: object, allowed: Sequence[str]) -> None:
    if found not in allowed:
        raise DomainError(
            f"Attribute {name!r} has {what} {found!r}; it must be one of {', '.join(allowed)}. "
            "Correct the domain file."
        )


def _check_rows(number: object) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 1_000_000:
        raise DomainError(
            f"The most rows a person may have is {number!r}; a whole number from 1 to 1,000,000 is "
            "needed. Correct it."
        )


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
    missing = attribute.missing
    if missing is not None:
        _check_choice(name, "missing rule", missing.rule, _RULES)
        _check_text(name, [missing.label, *missing.codes])
        if missing.value is not None:
            _check_text(name, [missing.value])
        if missing.rule == "replace" and missing.value is None:
            raise DomainError(
                f"Attribute {name!r} replaces missing cells but says not by what. "
                'Add "value" to its missing rule.'
            )


def _declared_labels(attribute: Attribute) -> Sequence[str]:
    if attribute.values is not None:
        if isinstance(attribute.values, str):
            raise DomainError(
                f"Attribute {attribute.name!r} has one text as its values; a list of texts is "
                "needed. Put it into brackets."
            )
        if not all(isinstance(value, str) for value in attribute.values):
            raise DomainError(
                f"Attribute {attribute.name!r} lists a value that is no text. Quote its values."
            )
        return attribute.values
    if attribute.bounds is not None:
        if len(attribute.bounds) != 2:
            raise DomainError(
                f"Attribute {attribute.name!r} has {len(attribute.bounds)} bounds; the first and "
                "the last value are needed. Correct them."
            )
        return _integer_labels(attribute.name, *attribute.bounds)
    edges = attribute.edges or ()
    numbers = [float(edge) for edge in edges]
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


def _check_text(name: str, texts: Sequence[object]) -> None:
    owner = f"Attribute {name!a}" if name else "The domain"
    for text in texts:
        if not isinstance(text, str):
            raise DomainError(f"{owner} has {text!r} where a text is needed. Quote it.")
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise DomainError(
                f"{owner} has a name or value that is no proper text (it holds a lone surrogate). "
                "Read the file with the right encoding."
            )


def _check_distinct(owner: str, labels: Sequence[str], *, what: str = "value") -> None:
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


# -- to and from JSON ---------------------------------------------------------------------------


def _coded(name: str, size: int) -> Attribute:
    if isinstance(size, bool) or not hasattr(size, "__index__") or not 1 <= size <= MAX_SIZE:
        raise DomainError(
            f"Attribute {name!r} has size {size!r}; a whole number between 1 and {MAX_SIZE:,} is "
            "needed. Correct it."
        )
    return Attribute(name, "integer", bounds=(0, int(size) - 1))


def _attribute_from(entry: object, number: int) -> Attribute:
    if not isinstance(entry, dict) or "name" not in entry:
        raise DomainError(f'Entry {number} of the domain\'s attributes has no "name". Give it one.')
    known = {
        "name", "kind", "values", "bounds", "edges", "outside", "other", "missing",
        "description", "source",
    }  # fmt: skip
    unknown = sorted(set(map(str, entry)) - known)
    if unknown:
        raise DomainError(
            f"Attribute {entry['name']!r} has the unknown entry {unknown[0]!r}. Known are "
            f"{', '.join(sorted(known))}. Remove or correct it."
        )
    fields = dict(entry)
    for key in ("values", "bounds", "edges"):
        if fields.get(key) is not None:
            fields[key] = _as_tuple(entry["name"], key, fields[key])
    if fields.get("missing") is not None:
        fields["missing"] = _missing_from(entry["name"], fields["missing"])
    try:
        return Attribute(**fields)
    except TypeError as error:
        raise DomainError(f"Attribute {entry['name']!r} cannot be read: {error}.") from None


def _as_tuple(name: object, key: str, found: object) -> tuple[Any, ...]:
    if not isinstance(found, list | tuple):
        raise DomainError(f"Attribute {name!r} needs a list as {key!r}. Correct the domain file.")
    if key == "edges":
        try:
            return tuple(float(edge) for edge in found)
        except (TypeError, ValueError):
            raise DomainError(f"Attribute {name!r} has a bin edge that is no number.") from None
    return tuple(found)


def _missing_from(name: object, found: object) -> Missing:
    if not isinstance(found, dict) or set(found) - {"codes", "rule", "label", "value"}:
        raise DomainError(
            f"Attribute {name!r} has a missing rule that cannot be read; codes, rule, label and "
            "value are its entries. Correct it."
        )
    codes = _as_tuple(name, "codes", found.get("codes", ()))
    return Missing(**{**found, "codes": tuple(map(str, codes))})


def _attribute_to(attribute: Attribute) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
    for key in ("values", "bounds", "edges"):
        declared = cast("Iterable[Any] | None", getattr(attribute, key))
        if declared is not None:
            entry[key] = list(declared)
    if attribute.outside != "refuse":
        entry["outside"] = attribute.outside
    if attribute.outside == "other":
        entry["other"] = attribute.other
    if attribute.missing is not None:
        missing = attribute.missing
        entry["missing"] = {"codes": list(missing.codes), "rule": missing.rule}
        if missing.rule == "category":
            entry["missing"]["label"] = missing.label
        if missing.rule == "replace":
            entry["missing"]["value"] = missing.value
    if attribute.description:
        entry["description"] = attribute.description
    if attribute.source != "declared":
        entry["source"] = attribute.source
    return entry
