"""A visitor's own table: the file, how it was read, and the domain being declared for it.

Everything lives in this visitor's session and nowhere else. Widgets show it and change it through
callbacks, so it outlives a change of page, which widgets do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from engine import ingest
from engine.attributes import DatePart, Part
from engine.domain import Attribute, Domain
from engine.errors import DataError, DomainError, EngineError
from engine.exact import Exact
from engine.ingest.domains import date_name
from engine.ingest.kinds import Reading
from engine.tables import Table
from pages.parts.visit import samples, session, study

MOST_ATTRIBUTES = 15
"""More attributes than this make no readable page."""
UPLOAD_MB = 50


# -- what other pages read ----------------------------------------------------------------------


def put(
    table: Table | None, domain: Domain, *, name: str, source: str, sample: str | None = None
) -> None:
    """Hand a table over to the other pages; ``table`` None is schema-only, for planning.

    Args:
        table: The records, private.
        domain: Its declared domain.
        name: What to call it, for people.
        source: ``declared``, ``public default`` or ``data`` (a demonstration then).
        sample: The sample's name, if it is one; None for the visitor's own.
    """
    st.session_state["table_sample"] = sample
    st.session_state["table"] = table
    st.session_state["domain"] = domain
    st.session_state["table_name"] = name
    st.session_state["domain_source"] = source
    st.session_state["table_number"] = st.session_state.get("table_number", 0) + 1
    session.put_away()
    study.use(sample or samples.OWN)


def source_of(domain: Domain) -> str:
    """Say where a domain came from: the least trustworthy of its attributes decides."""
    sources = {attribute.source for attribute in domain}
    return next(s for s in ("data", "public default", "declared") if s in sources)


# -- the table being prepared -------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False)
class Drafted(Exact):
    """One attribute being declared: how its column is read, and what it says so far."""

    reading: Reading
    attribute: Attribute | None
    part: DatePart = "year"
    problem: str = ""
    counted: tuple[Attribute, ingest.Encoded] | None = None
    split: tuple[Attribute, ...] = ()
    """The yes-or-no attributes in its place, where a cell holds several answers."""


@dataclass(slots=True, eq=False, repr=False)
class Upload(Exact):
    """A file and everything decided about it.

    Args:
        name: The file's name; shown, never used as a path.
        data: Its content, kept so that a choice can be changed.
        version: Counts readings; part of every widget's key, so that none shows an older file's.
        choices: What the visitor chose about reading it; the rest is found.
        preview: The table as understood, None while it cannot be read.
        problem: Why it cannot be read.
        chosen: Labels of the columns to be attributes.
        drafts: The attribute being declared for a column, by label.
        answered: Notes that were answered about a column: their codes and the column's id.
        handed: Whether the other pages have this table, as it was when it was used last.
    """

    name: str
    data: bytes
    version: int = 0
    choices: dict[str, Any] = field(default_factory=dict)
    preview: ingest.Preview | None = None
    problem: EngineError | None = None
    chosen: list[str] = field(default_factory=list)
    drafts: dict[str, Drafted] = field(default_factory=dict)
    row: str = "one person"
    rows_per_person: int = 1
    person: str | None = None
    used: ingest.PrivateCounts | None = None
    refused: str = ""
    answered: set[tuple[str, str]] = field(default_factory=set)
    handed: bool = False

    def read(self, progress: Callable[[float], object] | None = None) -> None:
        """Read the file again with the choices made; the old table stays if nothing changed."""
        try:
            self.preview = ingest.read(self.data, name=self.name, progress=progress, **self.choices)
            self.problem = None
        except DataError as error:
            self.preview, self.problem = None, error
            return
        self.used, self.refused = None, ""
        self.version += 1
        for drafted in self.drafts.values():
            drafted.counted = None
        self._keep_decisions()

    def _keep_decisions(self) -> None:
        """Carry over what was decided for columns that are still there; propose the others."""
        assert self.preview is not None
        labels = set(self.preview.labels)
        stale = [label for label in self.drafts if label not in labels]
        for label in stale:
            del self.drafts[label]
        kept = [label for label in self.chosen if label in labels]
        if not kept:
            looked = self.preview.labels[:200]
            kept = [p.label for p in self.preview.attributes(*looked) if p.keep]
        self.chosen = kept[:MOST_ATTRIBUTES]
        if self.person not in labels:
            self.person = None

    def draft(self, label: str) -> Drafted:
        """Return what is declared for a column, drafted from the data if nothing is yet."""
        if label not in self.drafts:
            self.redraft(label)
        return self.drafts[label]

    def redraft(self, label: str, reading: Reading | None = None, part: DatePart = "year") -> None:
        """Draft a column's attribute from the data, under another reading if one is given."""
        assert self.preview is not None
        proposal = self.preview.attributes(label)[0]
        kind = reading or proposal.kind
        try:
            made = ingest.proposed_attribute(proposal, reading=kind, part=part)
            self.drafts[label] = Drafted(kind, made, part)
        except DomainError as error:
            self.drafts[label] = Drafted(kind, None, part, str(error))

    def change(self, label: str, **fields: Any) -> None:
        """Change some fields of a column's attribute; a refusal is kept beside it."""
        drafted = self.draft(label)
        try:
            if drafted.attribute is None:
                drafted.attribute = Attribute(label, **fields)
            else:
                drafted.attribute = replace(drafted.attribute, **fields)
            drafted.problem = ""
        except DomainError as error:
            drafted.problem = str(error)
        self.used = None

    def declare(self, label: str, *parts: Part, **fields: Any) -> None:
        """Change fields that somebody typed: these parts no longer come from the rows."""
        self.change(label, **fields)
        drafted = self.draft(label)
        if drafted.attribute is not None and not drafted.problem:
            drafted.attribute = drafted.attribute.known(*parts)

    def questions(self) -> tuple[ingest.Note, ...]:
        """Return what there is to check and was not answered yet."""
        if self.preview is None:
            return ()
        return tuple(
            note
            for note in self.preview.warnings
            if not note.columns or (note.code, note.columns[0]) not in self.answered
        )

    def answer(self, note: ingest.Note, offer: ingest.Offer) -> None:
        """Do what an answer to a note says."""
        assert self.preview is not None
        if offer.choices:
            self.choices.update(offer.choices)
            self.read()
            return
        change = dict(offer.change)
        if "person" in change:
            self.person, self.rows_per_person = change["person"], change["rows"]
            self.chosen = [label for label in self.chosen if label != self.person]
        elif "missing_codes" in change:
            self._take_as_missing(offer.column, tuple(change["missing_codes"]))
        elif "split" in change:
            proposal = self.preview.attributes(offer.column)[0]
            self.draft(offer.column).split = ingest.split_answers(proposal)
        elif "compare" in change:
            drafted = self.draft(offer.column)
            if drafted.attribute is not None:
                proposal = self.preview.attributes(offer.column)[0]
                drafted.attribute = ingest.folded_attribute(proposal, drafted.attribute)
        else:
            self.change(offer.column, **change)
        if note.columns:
            self.answered.add((note.code, note.columns[0]))
        self.used = None
        self.version += 1

    def _take_as_missing(self, label: str, codes: tuple[str, ...]) -> None:
        """Draft a column again with codes that mean missing: they are then none of its values."""
        assert self.preview is not None
        drafted = self.draft(label)
        proposal = self.preview.proposal(label, missing=codes)
        made = ingest.proposed_attribute(proposal, part=drafted.part)
        self.drafts[label] = Drafted(proposal.kind, made, drafted.part)

    def domain(self) -> Domain:
        """Return the domain as declared so far.

        Raises:
            DomainError: If no attribute is chosen, or one is not declared yet.
        """
        if not self.chosen:
            raise DomainError("No column is chosen; at least one is needed. Choose one above.")
        attributes: list[Attribute] = []
        for label in self.chosen:
            drafted = self.draft(label)
            if drafted.split:
                attributes += drafted.split
                continue
            if drafted.attribute is None:
                raise DomainError(drafted.problem)
            attributes.append(drafted.attribute)
        return Domain(
            # Without a title: a release carries the domain, and must not carry a file's name.
            tuple(attributes),
            row=self.row,
            rows_per_person=self.rows_per_person,
        )

    def take_reading(self, choices: ingest.Choices) -> None:
        """Read the file again as a saved domain file says, if it says anything."""
        said = choices.to_dict()
        self.person = said.pop("person", self.person)
        said.pop("seed", None)
        if said:
            self.choices.update(said)
            self.read()

    def take(self, domain: Domain) -> list[str]:
        """Take over a declared domain; return the names that no column has."""
        assert self.preview is not None
        columns = {label: label for label in self.preview.labels}
        for label in self.preview.labels:
            for part in ingest.DATE_PARTS:
                columns.setdefault(date_name(label, part), label)
        for attribute in domain:
            made = attribute.derived
            if made is not None and made.column in self.preview.labels:
                columns[attribute.name] = made.column
        unknown = [name for name in domain.names if name not in columns]
        known = [attribute for attribute in domain if attribute.name in columns]
        for attribute in known:
            self.drafts.pop(columns[attribute.name], None)
        for attribute in known:
            self._take_attribute(columns[attribute.name], attribute)
        if known:
            chosen = dict.fromkeys(columns[attribute.name] for attribute in known)
            self.chosen = list(chosen)[:MOST_ATTRIBUTES]
        self.row, self.rows_per_person = domain.row, domain.rows_per_person
        self.version += 1
        self.used = None
        return unknown

    def _take_attribute(self, label: str, attribute: Attribute) -> None:
        made = attribute.derived
        if made is not None and made.contains is not None:
            before = self.drafts.get(label)
            split = (*(before.split if before else ()), attribute)
            self.drafts[label] = Drafted("categorical", attribute, split=split)
        elif made is not None and made.part is not None:
            self.drafts[label] = Drafted("date", attribute, made.part)
        elif attribute.name != label:
            part = attribute.name.removeprefix(f"{label} (").removesuffix(")")
            self.drafts[label] = Drafted("date", attribute, part)  # type: ignore[arg-type]
        else:
            self.drafts[label] = Drafted(attribute.kind, attribute)

    def saved(self) -> dict[str, Any]:
        """Return the domain file's content, with how this file is read.

        Raises:
            DomainError: If no attribute is chosen, or one is not declared yet.
        """
        choices = dict(self.choices)
        if self.person is not None:
            choices["person"] = self.person
        reading = ingest.Choices(**choices).to_dict()
        content = self.domain().to_dict()
        return content | ({"reading": reading} if reading else {})

    def use(self) -> bool:
        """Encode the table and hand it over; False leaves the reason in ``refused``."""
        assert self.preview is not None
        try:
            domain = self.domain()
            if any(note.code == "W_COUNTED" for note in self.preview.warnings):
                raise DataError(
                    "The table may be counted already. Say above whether a row is one person or "
                    "as many as it says.",
                    code="E_CHOICE",
                )
            if self.preview.schema_only:
                put(None, domain, name=self.name, source=source_of(domain))
                self.used = ingest.PrivateCounts({}, 0)
            else:
                person = self.person if self.rows_per_person > 1 or self.person else None
                encoded = ingest.encode_counted(self.preview, domain, person=person)
                put(encoded.table, domain, name=self.name, source=source_of(domain))
                self.used = encoded.counts
        except EngineError as error:
            self.refused, self.used = str(error), None
            return False
        self.refused, self.handed = "", True
        return True


def current() -> Upload | None:
    """This visitor's upload, if there is one."""
    found = st.session_state.get("upload")
    return found if isinstance(found, Upload) else None


def keep(upload: Upload | None) -> None:
    """Put an upload in the place of the one before."""
    st.session_state["upload"] = upload
    st.session_state["upload_number"] = st.session_state.get("upload_number", 0) + 1


def setting(name: str, default: Any) -> Any:
    """A setting of the Data page that outlives a change of page."""
    kept: dict[str, Any] = st.session_state.setdefault("data_page", {})
    return kept.setdefault(name, default)


def remember(name: str, key: str) -> None:
    """Keep a widget's value as a setting (a callback)."""
    st.session_state.setdefault("data_page", {})[name] = st.session_state[key]


def index(options: Any, value: Any) -> int:
    """Position of a value among options, 0 if it is none."""
    found = list(options)
    return found.index(value) if value in found else 0


def sizes(domain: Domain) -> Mapping[str, int]:
    """Cells of everything that could be asked for, from the declared sizes alone."""
    product = domain.cells(tuple(range(len(domain))))
    total = pairs = triples = 0
    for n in domain.sizes:
        triples, pairs, total = triples + n * pairs, pairs + n * total, total + n
    return {"one": total, "two": pairs, "three": triples, "all": product}


def typed_domain(text: str) -> Domain:
    r"""Read a domain typed by hand, one attribute a line, for planning without rows.

    >>> typed_domain("sex: f, m\nage: 0..99\nregion: 16").sizes
    (2, 100, 16)

    Raises:
        DomainError: If a line does not say what its attribute's values are.
    """
    attributes = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, mark, values = (piece.strip() for piece in line.rpartition(":"))
        if not mark or not name or not values:
            raise DomainError(
                f"Line {number} has no name and values; something like age: 0..99, sex: f, m or "
                "region: 16 is needed. Correct it."
            )
        attributes.append(_typed_attribute(name, values))
    return Domain(tuple(attributes), title="Typed domain")


def _typed_attribute(name: str, values: str) -> Attribute:
    first, dots, last = (piece.strip() for piece in values.partition(".."))
    if dots and first.lstrip("-").isdecimal() and last.lstrip("-").isdecimal():
        return Attribute(name, "integer", bounds=(int(first), int(last)))
    if values.isdecimal():
        return Domain.from_sizes({name: int(values)}).attributes[0]
    return Attribute(name, values=ingest.pasted_values(values))
