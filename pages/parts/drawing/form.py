"""The fields of the study, the same on every page that asks for them."""

from __future__ import annotations

import streamlit as st

import engine
from engine.mechanisms import catalogue
from engine.showing import fields
from pages.parts.drawing import messages, text
from pages.parts.visit import samples, session, study

KWAYS = fields.DEGREES


def table() -> None:
    """Which table."""
    cards = samples.choices()
    st.selectbox(
        "Table", list(cards), format_func=lambda name: cards[name].title, **study.view("sample")
    )


def attributes() -> None:
    """Which of its attributes, with two short cuts."""
    sample = study.here().sample
    names, few = samples.domain(sample).names, samples.choices()[sample].default_attributes
    st.multiselect(
        fields.ATTRIBUTES.label, list(names), wrap=True, format_func=named,
        **study.attributes_view(),
    )  # fmt: skip
    with st.container(horizontal=True):
        st.button(
            f"All {len(names)} attributes", key="all_attributes", help="All of the table's.",
            on_click=study.choose_attributes, args=(sample, list(names)),
        )  # fmt: skip
        st.button(
            f"Only {len(few)}", key="few_attributes", help="The few that make readable pictures.",
            on_click=study.choose_attributes, args=(sample, list(few)),
        )  # fmt: skip
    messages.beside("attributes")


def named(name: str) -> str:
    """An attribute's name, of which one may be empty."""
    return name or "(no name)"


def degree() -> None:
    """Every table over how many attributes."""
    st.selectbox(
        fields.DEGREE.label, list(KWAYS), format_func=KWAYS.__getitem__,
        help=fields.DEGREE.help, **study.view("degree"),
    )  # fmt: skip
    messages.beside("degree")


def epsilon() -> None:
    """The budget."""
    st.number_input(
        fields.EPSILON.label, value=None, step=0.5, format="%g", help=fields.EPSILON.help,
        **study.view("epsilon"),
    )  # fmt: skip
    messages.beside("epsilon")


def delta() -> None:
    """Its other half."""
    st.text_input(fields.DELTA.label, help=fields.DELTA.help, **study.view("delta"))
    messages.beside("delta")


def seed() -> None:
    """Whether the noise can be repeated."""
    st.number_input(
        fields.SEED.label, value=None, min_value=0, step=1, placeholder="new noise",
        help=fields.SEED.help,
        **study.view("seed"),
    )  # fmt: skip
    messages.beside("seed")


def mechanism() -> None:
    """Which mechanism runs."""
    st.selectbox(
        fields.MECHANISM.label, [entry.key for entry in catalogue.entries("forms")],
        format_func=study.mechanism_name, **study.view("mechanism"),
    )  # fmt: skip


def whole() -> None:
    """All of them, in three rows."""
    table()
    card = samples.choices()[study.here().sample]
    licence = f" Licence: {card.licence}." if card.name != samples.OWN else ""
    st.caption(text.plain(f"A row is {card.row_is}. {card.origin}.{licence}", longest=600))
    attributes()
    first, second, third, fourth, fifth = st.columns([2, 2, 2, 2, 4])
    with first:
        degree()
        if study.here().listed:
            st.caption("Not used: your own list from Setup is.")
    with second:
        epsilon()
    with third:
        delta()
    with fourth:
        seed()
    with fifth:
        mechanism()
    messages.beside("settings")


def start_button(key: str) -> bool:
    """Start a run of the study on request; says whether the page is to be drawn again."""
    again, spends = st.columns([2, 3], vertical_alignment="center")
    begin = again.button("Start this run", type="primary", key=key, icon=":material/play_arrow:")
    spends.caption("A new run draws new noise: with real data it would spend again.")
    if begin:
        start()
    return begin


def start() -> bool:
    """Start a run of the study; refused, the reason is kept for the field that caused it."""
    try:
        with st.spinner("Counting, and measuring the first answers…"):
            session.start(study.settings())
    except engine.EngineError as error:
        messages.keep(error)
        return False
    return True
