"""The slim line at the top of every page: which data, which budget, which round.

Where the settings have moved on since the run, it says so and offers to run them.
"""

from __future__ import annotations

import streamlit as st

import engine
from pages.parts.drawing import messages, text
from pages.parts.navigation import links
from pages.parts.visit import samples, session, study

SLOT, PAGE = "strip_slot", "strip_page"
TEACHING, RELEASE = ":orange-badge[TEACHING]", ":green-badge[RELEASE]"


def draw(page: str) -> None:
    """Make room for the line and fill it."""
    st.session_state[PAGE] = page
    st.session_state[SLOT] = st.empty()
    refresh()
    if page == "release":  # it has a study of its own
        return
    if study.here().awaits:
        _ask_for_the_file()
    else:
        _offer()


def refresh() -> None:
    """Fill the line again; fragments call this when the round changes."""
    slot = st.session_state.get(SLOT)
    if slot is not None and st.session_state.get(PAGE) == "release":
        slot.markdown(f":small[No true value is shown on this page. · {RELEASE}]")
    elif slot is not None:
        slot.markdown(f":small[{' · '.join([*_line(), TEACHING])}]")


def _line() -> list[str]:
    run, here = session.visit().run, study.here()
    if here.awaits:
        return ["**Your own file**, to be chosen again", f"ε {here.epsilon:g}, δ {here.delta}"]
    if run is None:
        return [*_of_the_study(), "no run yet"]
    if study.differences(run.settings) and st.session_state.get(PAGE) not in links.RUN_PAGES:
        return _of_the_study()
    made, view = run.settings, session.visit().view
    most = f"{run.most_rounds}" if run.finished else f"at most {run.most_rounds}"
    return [
        f"**{text.plain(run.title)}**",
        f"ε {made.epsilon:g}, δ {study.written(made.delta)}, ρ {float(run.rho):.4g}",
        text.plain(study.mechanism_name(made.mechanism)),
        f"round **{view}** of {most}",
        _seed(made.seed),
    ]


def _of_the_study() -> list[str]:
    now = study.here()
    return [
        f"**{text.plain(samples.choices()[now.sample].title)}**",
        f"ε {now.epsilon:g}, δ {text.plain(now.delta)}" if now.epsilon is not None else "no ε",
        text.plain(study.mechanism_name(now.mechanism)),
        _seed(now.seed),
    ]


def _seed(seed: int | None) -> str:
    return "new noise each time" if seed is None else f"seed {seed}"


def _offer() -> None:
    """Say how the settings differ from the run, with one button that runs them."""
    run = session.visit().run
    changed = study.differences(run.settings) if run is not None else []
    if run is None or not changed:
        return
    what = ", ".join(text.plain(words, longest=60) for words in changed[:4])
    if st.session_state.get(PAGE) in links.RUN_PAGES:
        said = f"The settings are others now: **{what}**."
    else:
        said = f"The run of {text.plain(run.title, longest=60)} was made before: now **{what}**."
    with st.container(horizontal=True, vertical_alignment="center", key="strip_offer"):
        st.markdown(f":orange[{said}]", width="content")
        st.button(
            "Run these settings", key="run_study", icon=":material/play_arrow:", on_click=_run
        )


def _run() -> None:
    try:
        session.start(study.settings())
        links.forget()
    except engine.EngineError as error:
        messages.keep(error)
        st.session_state[_REFUSED] = str(error)


_REFUSED = "strip_refused"


def say_refusal() -> None:
    """Why the settings could not be run, once."""
    refused = st.session_state.pop(_REFUSED, None)
    if refused:
        st.error(text.plain(refused, longest=600), icon=":material/error:")


def _ask_for_the_file() -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="strip_offer"):
        st.markdown(
            ":orange[**Your own file** is kept nowhere and was forgotten. Choose it again.]",
            width="content",
        )
        st.page_link("pages/data.py", label="Choose the file", icon=":material/upload_file:")
        st.button("Go on with an example", key="no_own", on_click=study.give_up_waiting)
