"""What is asked for: a table, its attributes, and the tables of counts over them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import engine
from engine import charts, views
from pages.parts.drawing import figures, form, text
from pages.parts.visit import samples, study

WEIGHTS = {
    "much less accurate": 0.25,
    "less accurate": 0.5,
    "like the others": 1.0,
    "more accurate": 2.0,
    "much more accurate": 4.0,
}
MOST_IN_GRID = 20


def domain() -> engine.Domain | None:
    """Choose table and attributes; no domain if none is chosen."""
    form.table()
    form.attributes()
    if not study.attributes():
        st.error("No attribute is chosen; at least one is needed. Choose one above.")
        return None
    return samples.domain(study.here().sample).select(*study.attributes())


def ask(domain: engine.Domain) -> None:
    """Choose the tables asked for."""
    now = study.here()
    st.session_state["plan_kind"] = "my own list" if now.listed else "all of one size"
    st.segmented_control(
        "Which tables", ["all of one size", "my own list"], key="plan_kind", required=True,
        on_change=_change_kind,
    )  # fmt: skip
    if now.listed:
        _own_list(domain)
    else:
        form.degree()


def _change_kind() -> None:
    """Switch the kind; the first own list starts from the tables asked for until then."""
    now = study.here()
    now.listed = st.session_state["plan_kind"] == "my own list"
    if now.listed and not study.asked():
        study.add_all(now.degree)


def _own_list(domain: engine.Domain) -> None:
    """Any table, each with a weight; by keyboard here, by a click in the grid beside."""
    asked, sample = study.asked(), study.here().sample
    st.caption("Add or remove any table here, or click on squares of the grid.")
    left, right = st.columns(2)
    with left:
        wanted = st.multiselect(
            "One table over", list(domain.names), key=f"one_table_{sample}", max_selections=6,
            persist_state="session", placeholder="Choose its attributes", format_func=form.named,
        )  # fmt: skip
    with right:
        word = st.select_slider(
            "It should be", list(WEIGHTS), value="like the others", key="weight_word",
            persist_state="session",
            help="How the error is shared out among the tables. The privacy is that of ε alone: "
            "a weight protects nobody more or less.",
        )  # fmt: skip
        st.caption("less accurate ↔ more accurate")
    names = tuple(name for name in domain.names if name in wanted)
    with st.container(horizontal=True):
        st.button(
            "Change it" if names in asked else "Add it", key="own_add", disabled=not names,
            icon=":material/add:", on_click=_put, args=(names, WEIGHTS[word]),
        )  # fmt: skip
        st.button(
            "Remove it", key="own_remove", disabled=names not in asked, icon=":material/remove:",
            on_click=_take, args=(names,),
        )  # fmt: skip
        for degree in (1, 2, 3):
            st.button(
                f"All {form.KWAYS[degree]}", key=f"own_all_{degree}", on_click=study.add_all,
                args=(degree,), disabled=degree > len(domain),
                help="Adds those that are not there yet.",
            )  # fmt: skip
        st.button("None", key="own_none", on_click=asked.clear, disabled=not asked)
    _listed(asked, domain)


def _put(names: tuple[str, ...], weight: float) -> None:
    study.asked()[names] = weight


def _take(names: tuple[str, ...]) -> None:
    study.asked().pop(names, None)


def _listed(asked: dict[tuple[str, ...], float], domain: engine.Domain) -> None:
    waiting = [names for names in asked if not set(names) <= set(domain.names)]
    there = len(asked) - len(waiting)
    if not there:
        st.error("No table is asked for; at least one is needed. Add one, or all pairs.")
    if waiting:
        st.info(
            f"{len(waiting):,} tables of your list wait: an attribute of theirs is not chosen now. "
            "They are kept."
        )
    if there:
        words = {weight: word for word, weight in WEIGHTS.items()}
        with st.expander(f"Your list: {there:,} tables", key="own_listed"):
            lines = [
                " × ".join(text.plain(form.named(name)) for name in names)
                + f" · {words.get(weight, f'weight {weight:g}')}"
                for names, weight in asked.items()
                if names not in waiting
            ]
            st.markdown("\n".join(f"- {line}" for line in lines[:100]))
            if len(lines) > 100:
                st.caption(f"and {len(lines) - 100:,} more")


def grid(domain: engine.Domain, workload: engine.Workload | None) -> None:
    """Attributes by attributes: what is asked for, and what is within it."""
    if len(domain) > MOST_IN_GRID:
        st.caption(f"The grid of pairs is drawn for at most {MOST_IN_GRID} attributes.")
        return
    own = study.here().listed
    frame = views.asked(domain, workload.weights if workload else {})
    # A click is an event, not a state: a fresh chart after each one.
    key = f"asked_{st.session_state.setdefault('asked_clicks', 0)}"
    figure = charts.asked(frame, domain.names, pick=own)
    figures.draw(figure, key, on_pick=_clicked if own else None)


def _clicked() -> None:
    """Add the squares clicked on, or remove them if they are there."""
    names_now = study.attributes()
    for square in figures.picked(f"asked_{st.session_state['asked_clicks']}"):
        positions = sorted({int(square["first"]), int(square["second"])})
        names = tuple(names_now[i] for i in positions if i < len(names_now))
        if names in study.asked():
            _take(names)
        else:
            _put(names, 1.0)
    st.session_state["asked_clicks"] += 1


def workload(domain: engine.Domain) -> engine.Workload | None:
    """The workload, or what is wrong with it and a way out."""
    now = study.here()
    tables = tuple((a, w) for a, w in study.asked().items() if set(a) <= set(domain.names))
    if now.listed and not tables:
        return None
    wanted = study.Settings(
        now.sample, domain.names, now.degree, marginals=tables if now.listed else ()
    )
    try:
        return wanted.workload(domain)
    except engine.EngineError as error:
        st.error(text.plain(error, longest=600), icon=":material/error:")
        if not now.listed:
            _remedy(wanted, domain)
        return None


def _remedy(settings: study.Settings, domain: engine.Domain) -> None:
    """Offer the largest degree that is possible."""
    for degree in range(min(settings.degree, len(domain) + 1) - 1, 0, -1):
        try:
            workload = replace(settings, degree=degree).workload(domain)
        except engine.EngineError:
            continue
        st.button(
            f"Ask for all {form.KWAYS[degree]} tables instead ({workload.cells:,} cells)",
            key="plan_remedy", on_click=study.put, args=("degree", degree),
        )  # fmt: skip
        return
