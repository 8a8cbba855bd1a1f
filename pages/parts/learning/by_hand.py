"""Water filling on paper-sized numbers: two residuals, exact fractions, every step written out."""

from __future__ import annotations

from fractions import Fraction

import streamlit as st

from engine.charts import Figure
from engine.demonstrating.pouring import Poured, pour
from engine.showing import learning_rounds
from engine.showing.badges import PUBLIC
from engine.showing.framed import framed
from pages.parts.drawing import figures

NAMES, WIDTHS = ("A", "B"), (Fraction(1), Fraction(2))
_QUARTERS = [Fraction(k, 4) for k in range(1, 17)]
_HALVES = [Fraction(k, 2) for k in range(7)]


def two() -> None:
    """Two vessels of widths 1 and 2, beside the arithmetic."""
    st.subheader("The same by hand: two residuals")
    first, second, third = st.columns(3)
    budget = first.select_slider("Budget C", _QUARTERS, value=Fraction(1), key="hand_c")
    floors = (
        second.select_slider("A is known up to", _HALVES, value=Fraction(1, 2), key="hand_a"),
        third.select_slider("B is known up to", _HALVES, value=Fraction(3), key="hand_b"),
    )
    found = pour(WIDTHS, floors, budget)
    left, right = st.columns([3, 2], gap="large")
    with left:
        figures.draw(_figure(found, floors, budget), "hand_water", table=False)
    with right:
        st.markdown("\n\n".join(steps(found, floors, budget)))


def _figure(found: Poured, floors: tuple[Fraction, ...], budget: Fraction) -> Figure:
    tops = [
        float(floor + water / width)
        for floor, water, width in zip(floors, found.poured, WIDTHS, strict=True)
    ]
    frame = framed(
        {
            "label": list(NAMES), "width": [float(w) for w in WIDTHS],
            "bottom": [float(f) for f in floors], "top": tops,
            "known": [float(f) for f in floors],
            "added": [top - float(f) for top, f in zip(tops, floors, strict=True)],
            "share": [float(w / budget) for w in found.poured],
            "isotropic": [float(budget / sum(WIDTHS))] * 2,
        },
        PUBLIC,
    )  # fmt: skip
    return learning_rounds.vessels(frame, level=float(found.level), budget=float(budget))


def steps(found: Poured, floors: tuple[Fraction, ...], budget: Fraction) -> list[str]:
    """Every attempt as an equation, and what each vessel gets."""
    lines = []
    for number, step in enumerate(found.steps, 1):
        water = " + ".join([f"{budget}", *(f"{WIDTHS[k]}·{floors[k]}" for k in step.among)])
        width = " + ".join(str(WIDTHS[k]) for k in step.among)
        who = "Everybody" if number == 1 else "Respend on the others"
        line = f"**{number}. {who}:** level = ({water}) / ({width}) = **{step.level}**."
        if step.omitted:
            names = " and ".join(NAMES[k] for k in step.omitted)
            line += f" The floor of {names} is higher: **omitted**, it would have to give back."
        lines.append(line)
    gets = ", ".join(
        f"{name} gets {width}·({found.level} − {floor}) = **{water}**" if water else
        f"{name} gets **0**"
        for name, width, floor, water in zip(NAMES, WIDTHS, floors, found.poured, strict=True)
    )  # fmt: skip
    total = " + ".join(map(str, found.poured))
    return [*lines, f"{gets}. Together {total} = {budget}, the budget, exactly."]
