"""Water filling: a round's budget poured into vessels that can be clicked on."""

from __future__ import annotations

import math

import streamlit as st

from engine.domain import subsets
from engine.showing import learning_rounds
from engine.views import percent
from pages.parts.drawing import figures, lecture
from pages.parts.learning import by_hand, lessons
from pages.parts.learning.pictures import try_this

WELL = 2.0
"""The precision of a residual that was marked as known."""


def water() -> None:
    """A round's budget poured into vessels, one for each residual."""
    lecture.prose(
        "A round has budget C for one table. How precise should each residual be? Each is a "
        "vessel: its floor is what is **known before**, its width what height costs. Pour the "
        "budget in: water finds its level, and residuals above it get nothing."
    )
    shape = st.segmented_control(
        "Table", list(lessons.SIZES), default="2 × 3", required=True, key="learn_shape",
        persist_state="session",
    ) or "2 × 3"  # fmt: skip
    sizes = lessons.SIZES[shape]
    taus = subsets(tuple(range(len(sizes))))
    with st.container(horizontal=True):
        st.button("Nothing known", key="learn_dry", on_click=_know, args=(shape, {}))
        st.button("The total known well", key="learn_total", on_click=_know, args=(shape, {(): 2}))
        # A 1-way measured at precision x is worth x on its attribute and x/n on the total.
        ones = {t: 1.0 for t in taus if len(t) == 1} | {(): sum(1 / n for n in sizes)}
        st.button("After the 1-ways", key="learn_ones", on_click=_know, args=(shape, ones))
    budget = st.slider("Budget C of the round", 0.1, 3.0, 1.0, 0.05, key="learn_c",
                       persist_state="session")  # fmt: skip
    known = _known(shape, taus)
    found = lessons.water(sizes, known, float(budget))
    left, right = st.columns([3, 2], gap="large")
    with left:
        key = f"learn_water_{shape}_{st.session_state.setdefault('water_clicks', 0)}"
        picture = learning_rounds.vessels(
            found.frame, level=found.level, budget=float(budget), pick=True
        )
        st.session_state["water_shown"] = (key, shape)
        figures.draw(picture, key, on_pick=_clicked)
        st.caption("Click on a vessel to mark it as known, and again to forget it.")
    with right:
        st.markdown(_water_words(found))
        st.markdown(_omitted_words(found))
    try_this("Raise the floor of one vessel above the level: its share runs into the others.")
    by_hand.two()


def _know(shape: str, known: dict[tuple[int, ...], float]) -> None:
    for tau in subsets(tuple(range(len(lessons.SIZES[shape])))):
        st.session_state[_slider(shape, tau)] = round(float(known.get(tau, 0.0)), 2)


def _clicked() -> None:
    """Mark the vessel clicked on as known, or forget what is known of it."""
    key, shape = st.session_state["water_shown"]
    taus = subsets(tuple(range(len(lessons.SIZES[shape]))))
    for place in {int(mark["place"]) for mark in figures.picked(key)}:
        slider = _slider(shape, taus[place])
        st.session_state[slider] = 0.0 if st.session_state.get(slider, 0.0) > 0 else WELL
    st.session_state["water_clicks"] += 1  # a click is an event: a fresh chart after each one


def _slider(shape: str, tau: tuple[int, ...]) -> str:
    return f"learn_known_{shape}_{lessons.name_of(tau)}"


def _known(shape: str, taus: tuple[tuple[int, ...], ...]) -> dict[tuple[int, ...], float]:
    st.caption("Precision known before, for each residual")
    known = {}
    with st.container(horizontal=True):
        for tau in taus:
            key = _slider(shape, tau)
            st.session_state.setdefault(key, 0.5 if len(tau) == 1 else 0.0)
            known[tau] = float(
                st.slider(lessons.name_of(tau), 0.0, 3.0, step=0.01, key=key, width=150,
                          persist_state="session")
            )  # fmt: skip
    return known


def _omitted_words(found: lessons.Water) -> str:
    """What was omitted, and that its share was spent again."""
    if len(found.steps) == 1:
        return "Nobody is **omitted**: the level is above every floor."
    first, last = found.steps[0], found.steps[-1]
    names = found.frame["label"].tolist()
    out = ", ".join(names[k] for k in first.among if k not in last.among)
    return (
        f"**Omitted**: {out}. For all together the level would be {float(first.level):.4g}, below "
        f"their floors, and water cannot be taken back. **Respent** on the others it stands at "
        f"{float(last.level):.4g}."
    )


def _water_words(found: lessons.Water) -> str:
    gain = 1 - found.after / found.after_isotropic
    same = abs(gain) < 1e-9
    versus = (
        "**Exactly what equal noise gives**: when nothing is known, the best plan is isotropic."
        if same
        else f"Equal noise on the whole table would leave {found.after_isotropic:.4g}: the plan is "
        f"**{percent(gain)} better**, only because of what was known."
    )
    before = "unbounded" if math.isinf(found.before) else f"{found.before:.4g}"
    return (
        f"Water level **{found.level:.4g}**.\n\nVariance of a cell: {before} before, "
        f"**{found.after:.4g}** after the round.\n\n{versus}"
    )
