"""Six exercises that check themselves; the answers travel in a link, no account is needed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import streamlit as st

from pages.parts.drawing import text
from pages.parts.navigation import links

CLOSE = 0.01
"""Answers this close, relative to the right one, are right."""
_LONGEST = 40
_NAME = "answers"


@dataclass(frozen=True, slots=True)
class Exercise:
    """A question with a number for an answer.

    Args:
        title: A few words.
        task: The question.
        answer: The number.
        hint: Shown after a wrong answer.
        why: Shown after the right one.
        section: Of Learn, where it is to be seen.
    """

    title: str
    task: str
    answer: float
    hint: str
    why: str
    section: str


EXERCISES = (
    Exercise(
        "Noise for a budget",
        "A count is released once with ρ = 0.5 (sensitivity 1). How large is σ of its Gaussian "
        "noise?",
        1.0, "ρ = Δ² / (2σ²).", "σ² = 1 / (2 · 0.5) = 1.", "noise",
    ),
    Exercise(
        "Adding up",
        "Before round 1 ρ = 0.02 is spent; five rounds each spend 0.001 to choose and 0.009 to "
        "measure. What is spent in all?",
        0.07, "Costs add up; choosing costs too.", "0.02 + 5 · (0.001 + 0.009) = 0.07.", "tour",
    ),
    Exercise(
        "How many numbers",
        "The marginal over a (4 values) and b (3 values) has 12 cells. How many numbers has the "
        "residual over a × b?",
        6.0, "n − 1 along each attribute.", "(4 − 1) · (3 − 1) = 6.", "apart",
    ),
    Exercise(
        "The chance of the better",
        "Two tables have scores 0 and 2. The exponential mechanism chooses with ε = 1 and "
        "sensitivity 1. How probable is the one with score 2?",
        math.e / (1 + math.e), "exp(ε q / 2Δ) for each, divided by the sum.",
        "e¹ / (e⁰ + e¹) = 0.731: the worse one is taken in a quarter of the rounds.", "choose",
    ),
    Exercise(
        "Without negative counts",
        "Released are −1, 3 and 4. Move to the nearest table without negative cells and the same "
        "total: what becomes of the 4?",
        3.5, "The total is 6. Subtract one number from all that stay positive.",
        "0, 2.5 and 3.5: the error of the first cell is spread over the others.", "negative",
    ),
    Exercise(
        "A person with three rows",
        "A release costs ρ = 0.1 for one row. What does it cost a person with three rows?",
        0.9, "Three rows move every count three times as far, and ρ grows with the square.",
        "3² · 0.1 = 0.9.", "lab",
    ),
)  # fmt: skip


def show() -> None:
    """All six, the score, and the link with the answers."""
    linked()
    given = [str(st.session_state.get(_key(k)) or "") for k in range(len(EXERCISES))]
    right = sum(is_right(k, said) for k, said in enumerate(given))
    st.markdown(f"**{right} of {len(EXERCISES)} right.** Numbers to about 1 %; fractions are fine.")
    for k, exercise in enumerate(EXERCISES):
        with st.container(border=True):
            st.markdown(f"**{k + 1}. {exercise.title}**  \n{exercise.task}")
            said = st.text_input(
                f"Answer {k + 1}", key=_key(k), max_chars=_LONGEST, persist_state="session",
                label_visibility="collapsed", placeholder="a number, for example 0.25 or 1/4",
            )  # fmt: skip
            _check(k, exercise, said or "")
    if any(given):
        st.markdown("**Hand it in: the link with these answers**")
        st.code(links.address("learn", query(given)), language=None, wrap_lines=True)
        st.caption("Whoever opens it sees these answers checked. It holds nothing else.")


def _key(k: int) -> str:
    return f"exercise_{k}"


def _check(k: int, exercise: Exercise, said: str) -> None:
    if not said.strip():
        return
    if number(said) is None:
        st.warning(f"{text.plain(said)} is no number. Write one, for example 0.25 or 1/4.")
    elif is_right(k, said):
        st.success(f"Right. {exercise.why}", icon=":material/check:")
    else:
        st.warning(f"Not yet. {exercise.hint}", icon=":material/close:")


def number(said: str) -> float | None:
    """Read a number or a fraction, with a point or a comma; None if it is none."""
    top, slash, below = said.strip().replace(",", ".").partition("/")
    try:
        value = float(top) / (float(below) if slash else 1.0)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def is_right(k: int, said: str) -> bool:
    """Whether this answers exercise k."""
    value = number(said)
    return value is not None and math.isclose(value, EXERCISES[k].answer, rel_tol=CLOSE)


def query(given: list[str]) -> dict[str, str]:
    """What an address says of these answers."""
    return {"section": "exercises", _NAME: ";".join(s.replace(";", " ") for s in given)}


def linked() -> None:
    """Take the answers that the address brings along, once."""
    said = st.query_params.get(_NAME)
    if said is None or said == st.session_state.get("exercises_followed"):
        return
    st.session_state["exercises_followed"] = said
    for k, answer in enumerate(said.split(";")[: len(EXERCISES)]):
        st.session_state[_key(k)] = answer[:_LONGEST]


def of_section(section: str) -> list[int]:
    """Numbers of the exercises about a section, counted from 1."""
    return [k for k, exercise in enumerate(EXERCISES, 1) if exercise.section == section]
