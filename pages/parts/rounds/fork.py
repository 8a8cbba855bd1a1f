"""What if the budget doubled from here? A simulation beside the run; and the link to the round."""

from __future__ import annotations

import time

import streamlit as st

import engine
from engine import charts, views
from pages.parts.drawing import figures, text
from pages.parts.navigation import links
from pages.parts.visit import session

_HELP = (
    "Goes on from the round looked at with twice the ε, as a simulation: a dashed curve. For "
    "mechanisms with rounds, and not at the last one."
)


def offers(run: session.Watched, view: int) -> None:
    """The fork, the way back from it, and the link to this round."""
    here = session.visit()
    if not figures.hidden():
        st.button(
            "What if ε doubled from here?", icon=":material/call_split:", key="fork",
            on_click=_ask, disabled=not _possible(run, view), help=_HELP,
        )  # fmt: skip
        if here.ghosts:
            st.button(
                "Clear the dashed curves", icon=":material/close:", key="no_ghosts",
                on_click=_clear,
            )  # fmt: skip
    st.markdown("**Link to this round**")
    links.show(run, view, "rounds", here.marginal)


def _possible(run: session.Watched, view: int) -> bool:
    state = run.moments[view].state
    return not run.mechanism.done(state) and isinstance(run.mechanism, engine.Rebudgetable)


def _ask() -> None:
    here = session.visit()
    here.playing, here.fork = False, here.view


def _clear() -> None:
    session.visit().ghosts = ()


def if_asked(here: session.Visit) -> None:
    """Run the fork with progress; another click stops it and keeps nothing of it."""
    at, here.fork = here.fork, None
    if at is None or here.run is None or not _possible(here.run, at):
        return
    slot, shown, ghost = st.empty(), 0.0, None
    try:
        for ghost in session.forked(here.run, at, times=2.0):
            if time.monotonic() - shown > 0.15:
                shown = time.monotonic()
                share = min(ghost.last / max(here.run.most_rounds, 1), 1.0)
                slot.progress(share, f"Simulating round {ghost.last}… (any click stops here)")
    except engine.EngineError as error:
        slot.error(text.plain(error, longest=600))
        return
    slot.empty()
    if ghost is not None:
        here.ghosts = (*(g for g in here.ghosts if not g.fork), ghost)


def drawn(run: session.Watched, ghost: session.Ghost) -> charts.Ghost:
    """A ghost's curve as a chart takes it."""
    frame = views.errors(ghost.errors, run.records).assign(
        round=range(ghost.start, ghost.start + len(ghost.errors))
    )
    return charts.Ghost(ghost.label, frame)


def say() -> None:
    """What a dashed curve is, if there is one."""
    if any(ghost.fork for ghost in session.visit().ghosts):
        st.caption(
            "Simulation, no release: what was spent by then stays spent, all that was left grows "
            "by one factor (so does every round's budget), and the random numbers are the same."
        )
