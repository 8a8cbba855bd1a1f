"""How much may be spent: epsilon, delta and rho, and what they mean for one person."""

from __future__ import annotations

import math
from dataclasses import dataclass

import streamlit as st

import engine
from engine import views
from pages.parts.drawing import form, text
from pages.parts.visit import samples, study

# Ten stops a decade, evenly apart on a log scale.
STOPS = [round(base * 10.0**power, 6) for power in (-2, -1, 0, 1)
         for base in (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)] + [100.0]  # fmt: skip
CAUTION, ALMOST_NONE = 5.0, 10.0
"""Cautioned against above these; small ones never are."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent."""

    epsilon: float
    delta: float
    rho: float


def budget() -> Budget | None:
    """Epsilon by slider or number, delta, and rho in both directions; None if one is refused."""
    epsilon = study.here().epsilon
    st.session_state["epsilon_stop"] = _nearest(float(epsilon or 1.0))
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.caption("← more private", width="content")
        st.caption("more accurate →", width="content")
    st.select_slider(
        "ε (log scale)", STOPS, key="epsilon_stop", format_func=lambda stop: f"{stop:g}",
        on_change=_from_slider, label_visibility="collapsed",
    )  # fmt: skip
    first, second, third = st.columns(3)
    with first:
        form.epsilon()
    with second:
        form.delta()
    budget, refusal = _read(epsilon, study.here().delta)
    with third:
        st.session_state["rho"] = budget.rho if budget else None
        st.number_input(
            "ρ (zCDP)", format="%.6g", key="rho", on_change=_from_rho, step=None,
            help="What the mechanism spends. It follows from ε and δ; written here, ε follows.",
        )  # fmt: skip
    refused = st.session_state.pop("rho_refused", None)
    for message in filter(None, (refusal, refused)):
        st.error(text.plain(message, longest=600), icon=":material/error:")
    return budget


def _nearest(epsilon: float) -> float:
    if not epsilon > 0:
        return STOPS[0]
    return min(STOPS, key=lambda stop: abs(math.log(stop / epsilon)))


def _from_slider() -> None:
    study.here().epsilon = st.session_state["epsilon_stop"]


def _from_rho() -> None:
    """The epsilon of the rho that was written; a refusal leaves epsilon as it is."""
    try:
        rho, delta = st.session_state["rho"], float(study.here().delta)
        epsilon = engine.epsilon_from(rho=rho, delta=delta)
        engine.rho_from(epsilon=epsilon, delta=delta)
        study.here().epsilon = epsilon
    except (engine.EngineError, ValueError) as error:
        st.session_state["rho_refused"] = str(error)


def _read(epsilon: float | None, written: str) -> tuple[Budget | None, str | None]:
    try:
        delta = float(written)
    except ValueError:
        return None, "δ is no number; write one, for example 1e-9."
    try:
        rho = engine.rho_from(epsilon=epsilon, delta=delta)  # type: ignore[arg-type]
    except engine.EngineError as error:
        return None, str(error)
    assert epsilon is not None
    return Budget(float(epsilon), delta, rho), None


def risk(budget: Budget, sample: str) -> None:
    """Say in odds what an onlooker can learn, for a person with one row or several."""
    card = samples.choices()[sample]
    st.session_state.setdefault("prior", 10)
    prior = st.slider(
        "Somebody's earlier belief that a certain person is in the table", 1, 99,
        key="prior", format="%d %%", persist_state="session",
    )  # fmt: skip
    st.session_state.setdefault("rows_each", 1)
    each = st.number_input(
        "Rows of one person, at most", min_value=1, max_value=100, step=1, key="rows_each",
        persist_state="session",
        help="The guarantee is for one row. k rows of one person cost k² times the ρ.",
    )  # fmt: skip
    try:
        rho = budget.rho * each**2
        epsilon = budget.epsilon if each == 1 else engine.epsilon_from(rho=rho, delta=budget.delta)
    except engine.EngineError as error:
        st.error(text.plain(error))
        return
    _odds(views.odds(prior=prior / 100, epsilon=epsilon, rho=rho), prior, epsilon, budget)
    who = f"Protected: one row, {text.plain(card.row_is)}, added or removed."
    if each > 1:
        who += f" A person with {each} rows has ρ = {rho:.4g} and ε = {epsilon:.3g}."
    st.caption(who)
    if epsilon >= ALMOST_NONE:
        st.error(f"ε = {epsilon:.3g} offers almost no protection.", icon=":material/lock_open:")
    elif epsilon > CAUTION:
        st.warning(
            f"ε = {epsilon:.3g} protects little: odds may grow {math.exp(epsilon):,.0f}-fold.",
            icon=":material/lock_open:",
        )


def tiny(number: float) -> str:
    """Write 1e-9 as people do."""
    return f"{number:.1g}".replace("e-0", "e-")


def _odds(odds: views.Odds, prior: int, epsilon: float, budget: Budget) -> None:
    """How far a belief can be moved, and how sure that is."""
    with st.container(border=True, key="risk"):
        st.markdown(
            f"From **{prior} %** to **at most {views.percent(odds.most)}** "
            f"(and at least {views.percent(odds.least)}): so far can everything released move "
            "that belief, whatever else is known."
        )
        st.caption(
            f"The odds grow by e^ε = {math.exp(min(epsilon, 700)):.3g} at most. This bound fails "
            f"only in outcomes with a probability of {tiny(odds.exception)} together; δ = "
            f"{tiny(budget.delta)} is the slack of the (ε, δ) promise."
        )
