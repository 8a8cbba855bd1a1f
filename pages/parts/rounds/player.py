"""Controls and position in one row: step, play, look back; twice the same step is made once."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st

from pages.parts.drawing import figures, lecture
from pages.parts.navigation import live
from pages.parts.rounds import fork
from pages.parts.visit import session

SPEEDS = {"slow": 3.0, "normal": 1.6, "fast": 0.8}


def controls(here: session.Visit, run: session.Watched) -> None:
    """First, back, play, next, last, the round looked at, and what is seldom needed."""
    token, view = run.token, here.view
    at_end = run.finished and view == run.rounds
    with st.container(horizontal=True, vertical_alignment="center", key="player", gap="small"):
        _button("First", "first_page", "F", _go, (0,), disabled=view == 0)
        _button("Back", "chevron_left", "B or ←", _go, (view - 1,), disabled=view == 0)
        if here.playing:
            _button("Pause", "pause", "P or Space", _play, (), key="play")
        else:
            _button("Play", "play_arrow", "P or Space", _play, (), key="play")
        _button(
            "Next", "chevron_right", "N or →", _forward, (token, view), disabled=at_end, main=True
        )
        _button("Last", "last_page", "L", _ask_for_end, (), disabled=at_end)
        if run.rounds:
            st.session_state["round"] = view
            st.slider(
                "Round looked at (looking back draws no new noise)", 0, run.rounds, key="round",
                on_change=_seek, label_visibility="collapsed",
            )  # fmt: skip
        if not lecture.presenting():
            _hide()
        lecture.projector()
        # Without on_change: closed by a click on the menu, its rerun would meet the next page.
        more = st.popover("More", icon=":material/more_horiz:", key="more")
    with more:
        if lecture.presenting():
            _hide()
        st.segmented_control(
            "Speed of play", list(SPEEDS), default="normal", required=True, key="speed",
            persist_state="session",
        )  # fmt: skip
        fork.offers(run, view)


def _hide() -> None:
    st.toggle("Hide what is not private", key=figures.HIDE, persist_state="session")


def _button(
    label: str,
    icon: str,
    hint: str,
    action: Callable[..., None],
    args: tuple[object, ...],
    *,
    key: str | None = None,
    disabled: bool = False,
    main: bool = False,
) -> None:
    # The page's own handler presses it by key (style.py): a shortcut here is dead beside a slider.
    st.button(
        label, icon=f":material/{icon}:", on_click=action, args=args, help=f"Key: {hint}",
        key=key or label.lower(), disabled=disabled, type="primary" if main else "secondary",
    )  # fmt: skip


def _go(view: int) -> None:
    here = session.visit()
    here.look_at(view)
    here.playing = False


def _seek() -> None:
    here, wanted = session.visit(), int(st.session_state["round"])
    if not here.is_echo(wanted):
        _go(wanted)


def _forward(token: session.Token, view: int) -> None:
    """Look at the round after ``view``; made now if it is not yet. Twice the same is once."""
    here = session.visit()
    here.playing = False
    _to(here, token, view + 1)


def _to(here: session.Visit, token: session.Token, target: int) -> None:
    assert here.run is not None
    if target > here.run.rounds:
        session.advance(token)
    here.look_at(min(target, here.run.rounds))


def _play() -> None:
    here = session.visit()
    assert here.run is not None
    here.playing = not here.playing
    if here.playing and here.run.finished and here.view == here.run.rounds:
        here.look_at(0)  # once more from the beginning
    here.ticked = time.monotonic()


def tick(here: session.Visit) -> None:
    """While playing: go on by one round when it is time."""
    assert here.run is not None
    if not here.playing:
        return
    now = time.monotonic()
    if now - here.ticked >= 0.9 * _pace():
        here.ticked = now
        _to(here, here.run.token, here.view + 1)
    if here.run.finished and here.view == here.run.rounds:
        here.playing = False


def go_on(here: session.Visit) -> None:
    """While playing: have the next round asked for when it is time."""
    if here.playing:
        live.ask_again(_pace())


def _pace() -> float:
    """Seconds between two rounds while playing."""
    return SPEEDS[st.session_state.get("speed") or "normal"]


def _ask_for_end() -> None:
    here = session.visit()
    here.to_end, here.playing = True, False


def run_to_end(here: session.Visit) -> None:
    """Make all the rounds left, with progress; another click stops it and keeps what was made."""
    if not here.to_end:
        return
    here.to_end = False
    assert here.run is not None
    slot, shown = st.empty(), 0.0
    while not here.run.finished:
        session.advance(here.run.token)
        here.look_at(here.run.rounds)
        if time.monotonic() - shown > 0.15:
            shown = time.monotonic()
            spent = float(here.run.release(here.run.rounds).ledger.spent / here.run.rho)
            slot.progress(min(spent, 1.0), f"Round {here.run.rounds}… (any click stops here)")
    here.look_at(here.run.rounds)
    slot.empty()
