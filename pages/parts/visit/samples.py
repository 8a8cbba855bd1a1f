"""The tables that come with the explorer; public, so they alone may be cached for everybody."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import streamlit as st

import engine
from engine.samples import sample_folder

OWN = "own"
"""Stands for the visitor's own table where a sample's name would: in the study, in runs, in files
of sessions and in addresses."""
FOLDER = sample_folder()
FIRST = ("adult", "titanic", "penguins", "anes96", "ucb_admissions", "hair_eye_color")
"""Shown first and in this order; others follow."""


@dataclass(frozen=True, slots=True)
class Card:
    """What there is to know of a sample before it is opened."""

    name: str
    title: str
    rows: int
    row_is: str
    default_attributes: tuple[str, ...]
    origin: str
    licence: str
    attribution: str
    questions: tuple[str, ...]
    table: str
    domain: str


@st.cache_resource(show_spinner=False)
def cards() -> dict[str, Card]:
    """Every sample's card by name."""
    found = {path.name.split(".")[0]: path for path in sorted(FOLDER.glob("*.card.json"))}
    order = [*(n for n in FIRST if n in found), *(n for n in found if n not in FIRST)]
    return {name: _card(json.loads(found[name].read_text("utf-8"))) for name in order}


def _card(content: dict[str, Any]) -> Card:
    fields = {name: content[name] for name in Card.__slots__}
    fields["default_attributes"] = tuple(content["default_attributes"])
    fields["questions"] = tuple(question["text"] for question in content["questions"])
    return Card(**fields)


@st.cache_resource(show_spinner=False)
def shipped_domain(name: str) -> engine.Domain:
    """A sample's declared domain."""
    return engine.Domain.from_json(FOLDER / cards()[name].domain)


@st.cache_resource(show_spinner=False)
def shipped_table(name: str) -> engine.Table:
    """A sample's records."""
    return engine.Table.from_csv(FOLDER / cards()[name].table, shipped_domain(name))


# -- the visitor's own table stands beside them, in this session only ------------------------------


def choices() -> dict[str, Card]:
    """Everything there is to choose from: the samples, and the visitor's own table if any."""
    own = st.session_state.get("domain")
    if own is None or st.session_state.get("table_sample") is not None:
        return cards()
    return {OWN: _own_card(own), **cards()}


def _own_card(own: engine.Domain) -> Card:
    return Card(
        name=OWN,
        title=str(st.session_state.get("table_name") or "My own table"),
        rows=1000,  # to be declared by the visitor; never counted
        row_is=own.row,
        default_attributes=_readable(own),
        origin="Your own table, in this session only",
        licence="yours",
        attribution="",
        questions=(),
        table="",
        domain="",
    )


def _readable(own: engine.Domain) -> tuple[str, ...]:
    """The five attributes with the fewest values, in order: small pictures."""
    few = sorted(range(len(own)), key=lambda i: (own.sizes[i], i))[:5]
    return tuple(own.names[i] for i in sorted(few))


def domain(name: str) -> engine.Domain:
    """The declared domain of a sample, or of the visitor's own table."""
    if name == OWN and st.session_state.get("domain") is not None:
        own: engine.Domain = st.session_state["domain"]
        return own
    return shipped_domain(name)


def number(name: str) -> int:
    """Which of the visitor's own tables it is, counted from 1; 0 for a sample."""
    return int(st.session_state.get("table_number", 1)) if name == OWN else 0


def has_rows(name: str) -> bool:
    """Whether there are records, and not names only."""
    return name != OWN or st.session_state.get("table") is not None


def columns(name: str, attributes: tuple[str, ...]) -> engine.Table:
    """A table's records, some of its attributes only.

    Raises:
        engine.DomainError: If there is none, or one is not the table's.
        engine.DataError: If only names were declared, without rows.
    """
    whole = st.session_state.get("table") if name == OWN else shipped_table(name)
    if whole is None:
        raise engine.DataError(
            "Only names and values were declared, no rows; a run needs rows. Load a table on the "
            "Data page, or stay on Setup to plan.",
            code="E_NO_ROWS",
        )
    chosen: engine.Table = whole.select(*attributes)
    return chosen
