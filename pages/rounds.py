"""What happens in each round, and why? A run, stepped, played and looked back on."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.drawing import form, lecture, messages, text
from pages.parts.navigation import links, strip, style
from pages.parts.navigation.frame import through_app
from pages.parts.rounds import closely, cockpit, fork, player
from pages.parts.visit import session, study


def first_run() -> bool:
    """Start the study's run if none is watched; says whether there is one."""
    if session.visit().run is not None:
        return True
    if study.here().awaits:
        return False
    if form.start():
        strip.refresh()
        return True
    refusal = session.visit().refusal
    if refusal is not None:
        st.error(text.plain(refusal[1], longest=600), icon=":material/error:")
    return False


@st.fragment
def watch() -> None:
    """The player and everything about the round it stands at; one fragment."""
    here = session.visit()
    player.run_to_end(here)
    fork.if_asked(here)
    player.tick(here)
    assert here.run is not None
    messages.banner()
    player.controls(here, here.run)
    player.go_on(here)
    strip.refresh()
    links.keep_address("rounds")
    if lecture.asks(here.run, here.view):
        return
    cockpit.show(here.run, here.view)
    closely.show(here.run, here.view)


def other_settings() -> None:
    """The study's form, a start on request, and the same again with other noise."""
    with st.expander("Table, workload and budget", icon=":material/tune:", key="settings"):
        form.whole()
        if form.start_button("start_run"):
            links.forget()
            st.rerun()
    run = session.visit().run
    if run is None:
        return
    seed = run.settings.seed
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Run again with new noise" if seed is None else "Run again with another seed",
            icon=":material/casino:", key="again", on_click=_other_noise,
            help="Draws new noise: with real data this would spend the budget again.",
        )  # fmt: skip
        st.page_link("pages/export.py", label="Take it away", icon=":material/download:")


def _other_noise() -> None:
    run = session.visit().run
    assert run is not None
    seed = run.settings.seed
    session.start(replace(run.settings, seed=None if seed is None else seed + 1))
    links.forget()


through_app()
style.unseen_title("Rounds")
if first_run():
    watch()
if not study.here().awaits:
    other_settings()
