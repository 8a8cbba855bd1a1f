"""For the front of a room: presentation mode, and predict-then-reveal on the Rounds page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

import engine
from pages.parts.drawing import text
from pages.parts.visit import session, study

PRESENT, PREDICT = "presentation", "predict"
SCALE = 1.45
_SCALED = {
    "fontSize", "labelFontSize", "titleFontSize", "subtitleFontSize", "labelLimit", "titleLimit",
    "symbolSize", "strokeWidth", "thickness", "labelOffset", "titlePadding", "labelPadding",
    "subtitlePadding", "gradientLength", "dx", "dy", "size", "height", "xOffset", "yOffset",
    "lineHeight",
}  # fmt: skip
_TITLE, _LARGEST = 16, 20
"""A chart's title has the size of a line already; larger, it is cut where three stand in a row."""
_STYLE = """<style>
html { font-size: 20px !important; }
[data-testid="stCaptionContainer"] { font-size: 0.95rem; }
[data-testid="stMainBlockContainer"] { max-width: 1800px; padding-top: 3.9rem; }
[class*="st-key-why_"] p, [class*="st-key-banner_"] p { font-size: 1rem; }
.said { font-size: 0.9rem; }
.st-key-player .st-key-first, .st-key-player .st-key-last { display: none; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: 0.4rem; }
</style>"""


def class_run() -> study.Settings:
    """What a class watches: one table, one mechanism and one seed for every screen and step."""
    return replace(study.usual("titanic"), seed=7)


def toggles(*, where: str = "") -> None:
    """The two switches; in the sidebar, and once more where a lecture is prepared."""
    if linked("lecture", ("1",)):
        st.session_state[PRESENT] = st.session_state[PREDICT] = True
    helps = {
        PRESENT: ("Presentation mode", "For a projector: larger chart text, thicker lines, less "
                  "prose."),
        PREDICT: ("Predict, then reveal", "On Rounds, each new round first asks which table it "
                  "chose."),
    }  # fmt: skip
    for name, (label, about) in helps.items():
        key = f"{name}_{where}" if where else f"{name}_switch"
        st.session_state[key] = bool(st.session_state.get(name, False))
        st.toggle(label, key=key, help=about, on_change=_switch, args=(name, key))


def projector() -> None:
    """The same switch as a button in sight."""
    on = presenting()
    pressed = st.button(
        "Leave projector" if on else "Projector", key="projector",
        icon=":material/present_to_all:", type="primary" if on else "secondary",
        help="For a room: larger text and charts, thicker lines, less prose.",
    )  # fmt: skip
    if pressed:
        st.session_state[PRESENT] = not on
        st.rerun()  # the whole page: its style sheet is drawn outside the player's fragment


def _switch(name: str, key: str) -> None:
    st.session_state[name] = bool(st.session_state[key])


def linked(name: str, choices: Collection[str]) -> str | None:
    """What the address asks for under this name: once in a session, and only if it is a choice."""
    asked = st.query_params.get(name)
    if asked not in choices or st.session_state.get(f"linked_{name}") == asked:
        return None
    st.session_state[f"linked_{name}"] = asked
    return asked


def presenting() -> bool:
    """Whether presentation mode is on."""
    return bool(st.session_state.get(PRESENT, False))


def style() -> None:
    """Make the page's text larger while presenting; once a page."""
    if presenting():
        st.html(_STYLE)


def prose(markdown: str) -> None:
    """Write what lecturers say themselves: left out while presenting."""
    if not presenting():
        st.markdown(markdown)


def enlarged(spec: Any) -> Any:
    """Return a chart's description with larger text, thicker lines and room for both."""
    if isinstance(spec, list):
        return [enlarged(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    out = {}
    for key, value in spec.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if key == "datasets":
            out[key] = value
        elif key == "fontSize" and number and value >= _TITLE:
            out[key] = _LARGEST
        elif key in _SCALED and number:
            out[key] = round(value * SCALE, 2)
        elif key == "columns" and number:
            out[key] = min(value, 2)  # of a legend: larger entries need the width of two
        else:
            out[key] = enlarged(value)
    return out


# -- predict, then reveal --------------------------------------------------------------------------


@dataclass(slots=True)
class Guesses:
    """What the room said, run by run: (run, round) -> guess, or None where it only looked."""

    made: dict[tuple[int, int], tuple[int, ...] | None] = field(default_factory=dict)
    right: int = 0


def guesses() -> Guesses:
    """This visitor's guesses."""
    found = st.session_state.get("guesses")
    if not isinstance(found, Guesses):
        found = st.session_state["guesses"] = Guesses()
    return found


def asks(run: session.Watched, view: int) -> bool:
    """Ask for a prediction before a round is shown; says whether it still waits for one."""
    event = run.moments[view].event
    selected = getattr(event, "selected", None)
    if not st.session_state.get(PREDICT, False) or selected is None:
        return False
    here = (run.number, view)
    if here in guesses().made:
        _reveal(run, view)
        return False
    session.visit().playing = False
    with st.container(border=True):
        st.markdown(f"**Round {view} has chosen a table. Which one?**")
        options = list(run.workload.closure[1:])
        guess = st.selectbox(
            "Your prediction", options, index=None, format_func=run.domain.label,
            key=f"guess_{run.number}_{view}", placeholder="the table known worst for its noise",
        )  # fmt: skip
        with st.container(horizontal=True):
            st.button(
                "Reveal", type="primary", key="reveal", disabled=guess is None,
                on_click=_guessed, args=(here, guess, guess == selected),
            )  # fmt: skip
            st.button("Show without a guess", key="no_guess", on_click=_guessed, args=(here, None))
    return True


def _guessed(here: tuple[int, int], guess: tuple[int, ...] | None, was_right: bool = False) -> None:
    if here not in guesses().made:
        guesses().made[here] = guess
        guesses().right += was_right


def _reveal(run: session.Watched, view: int) -> None:
    guess = guesses().made[run.number, view]
    tried = sum(g is not None for g in guesses().made.values())
    event = run.moments[view].event
    assert isinstance(event, engine.RoundEnded)
    assert event.selected is not None
    if guess is None:
        return
    chosen = text.plain(run.domain.label(event.selected))
    said = text.plain(run.domain.label(guess))
    word = "Right" if guess == event.selected else "Not this time"
    st.info(
        f"{word}: you said **{said}**, chosen was **{chosen}**. {guesses().right} of {tried} right "
        "so far. The choice is random: even the most probable table is often not taken.",
        icon=":material/how_to_vote:",
    )
