"""The tables that come with the explorer; public, so they alone may be cached for everybody."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

import engine

FOLDER = Path(__file__).parents[2] / "sample_data"
FIRST = ("adult", "titanic", "penguins", "anes96", "ucb_admissions", "hair_eye_color")
"""Shown first and in this order; others follow."""


@dataclass(frozen=True, slots=True)
class Card:
    """What there is to know of a sample before it is opened."""

    name: str
    title: str
    row_is: str
    default_attributes: tuple[str, ...]
    origin: str
    licence: str
    attribution: str
    table: str
    domain: str
    rows: int


@st.cache_resource(show_spinner=False)
def cards() -> dict[str, Card]:
    """Every sample's card by name."""
    found = {path.name.split(".")[0]: path for path in sorted(FOLDER.glob("*.card.json"))}
    order = [*(n for n in FIRST if n in found), *(n for n in found if n not in FIRST)]
    return {name: _card(json.loads(found[name].read_text("utf-8"))) for name in order}


def _card(content: dict[str, Any]) -> Card:
    fields = {name: content[name] for name in Card.__slots__}
    fields["default_attributes"] = tuple(content["default_attributes"])
    return Card(**fields)


@st.cache_resource(show_spinner=False)
def domain(name: str) -> engine.Domain:
    """A sample's declared domain."""
    return engine.Domain.from_json(FOLDER / cards()[name].domain)


@st.cache_resource(show_spinner=False)
def table(name: str) -> engine.Table:
    """A sample's records."""
    return engine.Table.from_csv(FOLDER / cards()[name].table, domain(name))


def columns(name: str, attributes: tuple[str, ...]) -> engine.Table:
    """A sample's records, some of its attributes only.

    Raises:
        engine.DomainError: If there is none, or one is not the table's.
    """
    whole = table(name)
    kept = whole.domain.select(*attributes)
    positions = [whole.domain.names.index(attribute) for attribute in attributes]
    return engine.Table.from_codes(whole.codes[positions].T, kept)
