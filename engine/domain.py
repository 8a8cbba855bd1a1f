"""Attributes, their values in order, and the sets of them that marginals are over.

A domain is a declaration: it must come from public knowledge, never from the private rows. Where it
was read from the data after all, ``source`` says so, and every release made with it bears the mark.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from engine import checking
from engine.attributes import (
    MAX_SIZE,
    Attribute,
    Derived,
    Kind,
    Missing,
    MissingRule,
    Outside,
    Source,
    check_distinct,
    check_text,
)
from engine.checking import expect
from engine.domain_file import FORMAT, attribute_from, attribute_to, content_of
from engine.errors import DomainError
from engine.types import AttributeSet

__all__ = [
    "FORMAT",
    "MAX_SIZE",
    "Attribute",
    "Derived",
    "Domain",
    "Kind",
    "Missing",
    "MissingRule",
    "Outside",
    "Source",
    "subsets",
]


_drafter: list[Callable[[], Callable[..., Domain]]] = []


def draft_with(drafter: Callable[[], Callable[..., Domain]]) -> None:
    """Say who proposes a domain for ``Domain.draft``: the room ``ingest``, which stands above."""
    _drafter[:] = [drafter]


@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        shown = ", ".join(f"{a.name[:30]!r}: {a.size:,}" for a in self.attributes[:6])
        more = f", … {len(self.attributes)} attributes" if len(self.attributes) > 6 else ""
        return f"Domain({{{shown}{more}}})"

    def __post_init__(self) -> None:
        remedy = 'Write Domain((Attribute("sex", values=("f", "m")),)).'
        expect(self.attributes, Iterable, "a tuple of attributes", remedy)
        object.__setattr__(self, "attributes", tuple(self.attributes))
        for attribute in self.attributes:
            expect(
                attribute, Attribute, "an Attribute", 'Write Attribute("sex", values=("f", "m")).'
            )
        check_text("", [self.title, self.row, self.note])
        if not self.attributes:
            raise DomainError("The domain has no attribute; at least one is needed. Declare one.")
        names = [attribute.name for attribute in self.attributes]
        check_distinct("the domain", names, what="attribute name")
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
        expect(sizes, Mapping, "a dict of sizes", 'Write from_sizes({"age": 4, "sex": 2}).')
        return cls(tuple(_coded(name, size) for name, size in sizes.items()), title=title)

    @classmethod
    def from_json(cls, path: str | Path) -> Domain:
        """Read a domain file; the format is described in engine/README.md.

        Raises:
            DomainError: If the file is missing, is no JSON, or declares no domain.
        """
        return cls.from_dict(content_of(path))

    @classmethod
    def draft(cls, source: Any, *columns: str, **choices: Any) -> Domain:
        """Propose a domain for a table, to be checked and declared by you.

        What it lists was read from the data, which alone can reveal a person: every attribute says
        so (``read_from_data``), and so does each run made with it. Look at it, correct it, and
        declare what is publicly known (``Attribute.known``).

        Args:
            source: A data frame of any library, a dict of columns, a list of records, or a file
                (its path or content).
            *columns: Only these; by default all.
            **choices: How cells are read, as in ``engine.ingest.read``.

        Raises:
            DataError: If it cannot be read, or has no such column.

        >>> import engine
        >>> frame = {"age": [31, 4, 50], "city": ["Oslo", "Rome", "Oslo"]}
        >>> domain = engine.Domain.draft(frame)
        >>> domain["city"].labels, domain.read_from_data
        (('Oslo', 'Rome'), True)
        >>> engine.Table.from_frame(frame, domain)
        Table(2 attributes; the records are private)
        """
        return _drafter[0]()(source, *columns, **choices)

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
        attributes = tuple(attribute_from(entry, i) for i, entry in enumerate(entries, start=1))
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
        entry["attributes"] = [attribute_to(attribute) for attribute in self.attributes]
        return entry

    def to_json(self, path: str | Path, *, reading: Mapping[str, Any] | None = None) -> None:
        """Write the domain file (UTF-8).

        Args:
            path: Where.
            reading: How the table's file is read (``engine.ingest.Choices.to_dict``), kept beside
                the declaration: releases do not carry it.
        """
        content = self.to_dict() | ({"reading": dict(reading)} if reading else {})
        text = json.dumps(content, ensure_ascii=False, indent=1)
        checking.path(path, "the domain file").write_text(text + "\n", encoding="utf-8")

    @property
    def hash(self) -> str:
        """SHA-256 of the declaration, which a release carries to say what it was made for.

        From which column an attribute is read is no part of it, nor are reading choices.
        """
        declared = self.to_dict()
        for entry in declared["attributes"]:
            entry.pop("from", None)
        text = json.dumps(declared, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def read_from_data(self) -> bool:
        """Whether some values were read from the rows: a demonstration then, no release.

        ``attribute.read_from_data`` names the parts.
        """
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
        if len(attributes) == 1 and isinstance(attributes[0], list | tuple):
            attributes = tuple(attributes[0])  # a set given as one list
        positions = sorted(self._position(attribute) for attribute in attributes)
        if len(set(positions)) < len(positions):
            raise DomainError(
                f"The set {attributes!r} names an attribute twice; each may stand in it once. "
                "Remove the repetition."
            )
        return tuple(positions)

    def label(self, attrs: AttributeSet) -> str:
        """Name a set of attributes for people; the empty set is the total."""
        try:
            return " × ".join(self.attributes[i].name for i in attrs) if attrs else "total"
        except (TypeError, IndexError):
            raise _no_set(attrs, self) from None

    def shape(self, attrs: AttributeSet) -> tuple[int, ...]:
        """Shape of the marginal over ``attrs``."""
        try:
            return tuple(self.sizes[i] for i in attrs)
        except (TypeError, IndexError):
            raise _no_set(attrs, self) from None

    def cells(self, attrs: AttributeSet) -> int:
        """Number of cells n_gamma, a Python integer of any size."""
        try:
            return math.prod(self.sizes[i] for i in attrs)
        except (TypeError, IndexError):
            raise _no_set(attrs, self) from None

    def select(self, *attributes: str | int) -> Domain:
        """Return the domain of some of the attributes, in the order given here."""
        self.attrs(*attributes)  # refuses unknown and repeated ones
        kept = tuple(self[attribute] for attribute in attributes)
        return replace(self, attributes=kept)

    def _position(self, attribute: str | int) -> int:
        if isinstance(attribute, str) and attribute in self._positions:
            return self._positions[attribute]
        if not isinstance(attribute, bool) and hasattr(attribute, "__index__"):
            position = operator.index(attribute)  # NumPy's integers are positions too
            if 0 <= position < len(self.attributes):
                return position
            raise DomainError(
                f"There is no attribute at position {position}; the domain has "
                f"{len(self.attributes)}, counted from 0."
            )
        raise DomainError(
            f"There is no attribute {attribute!r}. The domain has "
            f"{', '.join(map(repr, list(self._positions)[:20]))}"
            f"{', ...' if len(self._positions) > 20 else ''}. Name one of these."
        )


def _no_set(attrs: object, domain: Domain) -> DomainError:
    return DomainError(
        f"{attrs!r} is no set of positions; a tuple of numbers from 0 to {len(domain) - 1} is "
        f"needed. Make one of names: domain.attrs({domain.names[0]!r})."
    )


def subsets(attrs: AttributeSet) -> tuple[AttributeSet, ...]:
    """Return all subsets, by size and then in order, the empty set first.

    >>> subsets((0, 2))
    ((), (0,), (2,), (0, 2))
    """
    return tuple(s for k in range(len(attrs) + 1) for s in combinations(attrs, k))


def closure(sets: Iterable[AttributeSet]) -> tuple[AttributeSet, ...]:
    """Return every subset of one of these sets once, by size and then in order.

    >>> closure([(0, 2), (1,)])
    ((), (0,), (1,), (2,), (0, 2))
    """
    found = {tau for attrs in sets for tau in subsets(attrs)}
    return tuple(sorted(found, key=lambda tau: (len(tau), tau)))


def _check_rows(number: object) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 1_000_000:
        raise DomainError(
            f"The most rows a person may have is {number!r}; a whole number from 1 to 1,000,000 is "
            "needed. Correct it."
        )


def _coded(name: str, size: int) -> Attribute:
    if isinstance(size, bool) or not hasattr(size, "__index__") or not 1 <= size <= MAX_SIZE:
        raise DomainError(
            f"Attribute {name!r} has size {size!r}; a whole number between 1 and {MAX_SIZE:,} is "
            "needed. Correct it."
        )
    return Attribute(name, "integer", bounds=(0, int(size) - 1))
