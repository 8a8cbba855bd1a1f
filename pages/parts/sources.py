"""Which tables a visitor can work on: those that come with the explorer, and his own."""

from __future__ import annotations

import streamlit as st

import engine
from pages.parts import samples

OWN = "(own table)"


def names() -> list[str]:
    """Every table there is, the visitor's own last."""
    own = [OWN] if isinstance(st.session_state.get("table"), engine.Table) else []
    return [*samples.cards(), *own]


def title(name: str) -> str:
    """What to call it."""
    if name == OWN:
        return f"Your table: {st.session_state.get('table_name', '')}"
    return samples.cards()[name].title


def domain(name: str) -> engine.Domain:
    """Its declared domain."""
    if name == OWN:
        found: engine.Domain = _own().domain
        return found
    return samples.domain(name)


def default_attributes(name: str) -> list[str]:
    """A few, for readable pictures."""
    if name == OWN:
        return list(domain(name).names[:5])
    return list(samples.cards()[name].default_attributes)


def columns(name: str, attributes: tuple[str, ...]) -> engine.Table:
    """Its records, some of its attributes only.

    Raises:
        engine.DomainError: If there is none, or one is not the table's.
    """
    if name != OWN:
        return samples.columns(name, attributes)
    whole = _own()
    return whole.select(*attributes)


def _own() -> engine.Table:
    table = st.session_state.get("table")
    if not isinstance(table, engine.Table):
        raise engine.DataError("There is no table of your own here yet. Load one on the Data page.")
    return table
