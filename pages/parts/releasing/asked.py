"""What is asked for: a table that is not shown, its declared domain, marginals, budget."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import streamlit as st

import engine
from engine import views
from engine.exact import Exact
from engine.ingest import Choices
from engine.releasing import words
from engine.showing import fields
from pages.parts.drawing import form, text
from pages.parts.navigation import host
from pages.parts.releasing import only
from pages.parts.setup.spending import tiny
from pages.parts.visit import samples, study

OWN, SAMPLE = "A table of your own", "An example (public)"
MOST_MB = 50
_TABLE = "release_table"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Asked(Exact):
    """Everything a release is asked with, but for the account."""

    table: engine.Table
    workload: engine.Workload
    epsilon: float
    delta: float
    rho: float
    mechanism: str
    own: bool
    name: str
    marked: bytes = b""

    def make(self) -> Any:
        """The mechanism."""
        return next(entry for entry in words.offered() if entry.key == self.mechanism).make()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Held(Exact):
    """A table with its declared domain, and what to call it."""

    table: engine.Table
    name: str
    marked: bytes = b""


def asked() -> Asked | None:
    """All of it; None as long as something is missing, and the page says what."""
    st.subheader("1 · The table", divider="gray")
    kind = st.segmented_control(
        "Release", [OWN, SAMPLE], default=OWN, required=True, key="release_kind",
        persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    held = _sample() if kind == SAMPLE else _own()
    if held is None:
        return None
    st.subheader("2 · What is asked, and the promise", divider="gray")
    table = _attributes(held.table)
    left, middle, right = st.columns(3)
    with left:
        workload = None if table is None else _workload(table.domain)
    with middle:
        epsilon = st.number_input(
            "ε", value=1.0, step=0.5, format="%g", key="release_epsilon", persist_state="session",
            help=fields.EPSILON.help,
        )  # fmt: skip
    with right:
        delta = st.text_input(
            "δ",
            "1e-9",
            key="release_delta",
            persist_state="session",
            help="How much may slip through. Far below 1 ÷ people.",
        )
    mechanism = st.selectbox(
        "Mechanism", [entry.key for entry in words.offered()], format_func=study.mechanism_name,
        key="release_mechanism", persist_state="session",
    )  # fmt: skip
    budget = _budget(epsilon, delta)
    if table is None or workload is None or budget is None:
        return None
    _promise(*budget, table.domain)
    return Asked(table, workload, *budget, mechanism, kind == OWN, held.name, held.marked)


# -- the table ------------------------------------------------------------------------------------


def _sample() -> _Held:
    cards = samples.cards()
    name = st.selectbox(
        "Example", list(cards), format_func=lambda name: cards[name].title,
        key="release_sample", persist_state="session",
    )  # fmt: skip
    table = samples.shipped_table(name)
    # Its own licence says where it was published, so pages may go on showing it.
    table.declare_public(f"published: {cards[name].origin}, {cards[name].attribution}")
    st.caption("Public already: to try a release out. Its account is charged all the same.")
    return _Held(table, name)


def _own() -> _Held | None:
    if host.is_class():
        st.info(host.UPLOADS_OFF, icon=":material/school:")
        return None
    if not only.may_release():
        return None
    held = st.session_state.get(_TABLE)
    if isinstance(held, _Held):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/lock: A table with {len(held.table.domain)} declared attributes. No "
                "row of it is shown.",
                width="content",
            )
            st.button("Take another", key="release_forget", on_click=_forget)
        return held
    _read_files()
    return None


def _forget() -> None:
    st.session_state.pop(_TABLE, None)


def _read_files() -> None:
    left, right = st.columns(2)
    domain_file = left.file_uploader(
        "Its domain, declared", type="json", key="release_domain", max_upload_size=5,
        help="A .domain.json file. The Data page saves one of names alone, without any row.",
    )  # fmt: skip
    table_file = right.file_uploader(
        "The table", key="release_file", max_upload_size=MOST_MB,
        help="CSV, Excel, Parquet and others. It stays in this session's memory on this computer.",
    )  # fmt: skip
    if domain_file is None or table_file is None:
        st.caption(
            "A release needs both: the records, of which nothing will be shown, and the values "
            "they may hold, written down without looking at them."
        )
        return
    try:
        held = _read(domain_file.getvalue(), table_file.getvalue())
    except engine.EngineError as error:
        st.error(text.plain(error, longest=900), icon=":material/error:")
        return
    st.session_state[_TABLE] = held
    st.rerun()


def _read(declared: bytes, records: bytes) -> _Held:
    try:
        content = json.loads(declared)
        choices = Choices.from_dict(content.get("reading", {}))
    except (ValueError, RecursionError, AttributeError):
        raise engine.DomainError(
            "The domain file is no JSON object. Take one that was saved here.", code="E_DOMAIN"
        ) from None
    domain = engine.Domain.from_dict(content)
    if domain.read_from_data:
        raise engine.DomainError(
            "Parts of this domain were read from the records, which alone can reveal a person. "
            "Declare every attribute's values from what is known without looking.",
            code="E_DOMAIN_REQUIRED",
        )
    # One without rows is released like another: that there are any is not said.
    table = engine.Table.from_file(records, domain, choices=choices)
    return _Held(table, domain.title, only.mark(records))


# -- marginals and budget -------------------------------------------------------------------------


def _attributes(table: engine.Table) -> engine.Table | None:
    names = list(table.domain.names)
    chosen = st.multiselect(
        "Attributes", names, names, key=f"release_attributes_{table.domain.hash[:8]}", wrap=True,
        format_func=form.named, persist_state="session",
    )  # fmt: skip
    if not chosen:
        st.info("Choose at least one attribute.", icon=":material/info:")
        return None
    picked = set(chosen)
    return table.select(*(name for name in names if name in picked))


def _workload(domain: engine.Domain) -> engine.Workload | None:
    degree = st.selectbox(
        "Tables over", list(form.KWAYS), min(1, len(domain) - 1), key="release_degree",
        format_func=form.KWAYS.__getitem__, persist_state="session",
    )  # fmt: skip
    try:
        return study.held(engine.Workload.all_kway(domain, degree))
    except engine.EngineError as error:
        st.error(text.plain(error, longest=600), icon=":material/error:")
        return None


def _budget(epsilon: float | None, written: str) -> tuple[float, float, float] | None:
    try:
        delta = float(written)
        rho = engine.rho_from(epsilon=epsilon, delta=delta)  # type: ignore[arg-type]
    except ValueError:
        st.error("δ is no number; write one, for example 1e-9.", icon=":material/error:")
        return None
    except engine.EngineError as error:
        st.error(text.plain(error, longest=600), icon=":material/error:")
        return None
    assert epsilon is not None
    return float(epsilon), delta, rho


def _promise(epsilon: float, delta: float, rho: float, domain: engine.Domain) -> None:
    """The promise in words and odds."""
    k = domain.rows_per_person
    with st.container(border=True, key="release_promise"):
        prior = st.slider(
            "Somebody's earlier belief that a certain person is in the table", 1, 99, 10,
            key="release_prior", format="%d %%", persist_state="session",
        )  # fmt: skip
        odds = views.odds(prior=prior / 100, epsilon=epsilon, rho=rho)
        st.markdown(
            f"Whatever else is known, this release moves that belief from **{prior} %** to **at "
            f"most {views.percent(odds.most)}** (and at least {views.percent(odds.least)})."
        )
        st.caption(
            f"The odds grow by e^ε = {math.exp(min(epsilon, 700)):.3g} at most, but in outcomes "
            f"with a probability of {tiny(odds.exception)} together. It costs a person "
            f"ρ = {rho:.4g}; (ε, δ) = ({epsilon:g}, {tiny(delta)}). Protected is a person with "
            + (f"up to {k:,} rows" if k > 1 else "one row")
            + f", where a row is {text.plain(domain.row or 'one person')}; with or without them "
            "the tables are neighbours."
        )
