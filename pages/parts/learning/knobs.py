"""What bounds, bins and weights do: one control, one picture, one sentence each."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.demonstrating import knobs
from engine.showing import knobs as drawings
from engine.views import percent
from pages.parts.drawing import figures, lecture

TOP = 200.0
KINDS = {"bounds": "Bounds and clamping", "bins": "How many bins", "weights": "Weights"}


def show() -> None:
    """One of the three at a time."""
    lecture.prose(
        "Choices made before a run bias or blur every answer, whatever is spent afterwards. The "
        "numbers here are invented: 2,000 incomes, many small and few large."
    )
    linked = lecture.linked("knob", KINDS)
    if linked:
        st.session_state["knob"] = linked
    kind = st.segmented_control(
        "Knob", list(KINDS), default="bounds", required=True, key="knob",
        format_func=KINDS.__getitem__, label_visibility="collapsed", persist_state="session",
    ) or "bounds"  # fmt: skip
    {"bounds": bounds, "bins": bins, "weights": weights}[kind]()


def bounds() -> None:
    """Narrow bounds have little noise and much bias."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        low, high = st.slider(
            "Bounds declared for income (thousand)", 0, int(TOP), (0, 60), key="knob_bounds",
            persist_state="session",
        )  # fmt: skip
        rho = st.select_slider("ρ", [0.001, 0.01, 0.1, 1.0], value=0.01, key="knob_rho",
                               persist_state="session")  # fmt: skip
        high = max(high, low + 1)
        found = knobs.clamped(knobs.incomes(), float(low), float(high), float(rho))
        st.markdown(
            f"**Bias {found.bias:+.2f}**, noise σ **{found.noise:.2f}**. The mean is "
            f"{found.true:.1f}; after clamping it is {found.clamped:.1f}, before any noise: "
            f"{percent(found.outside)} of the people are moved to a bound."
        )
        st.caption(
            "More budget makes the noise smaller, never the bias. Wider bounds do the reverse. "
            "Bounds must not be read off the data: choose them from what is known before."
        )
    with right:
        frame = knobs.binned(knobs.incomes(), float(low), float(high), 30, float(rho))
        figures.draw(drawings.histogram(frame, title="After clamping"), "knob_bounds_figure")


def bins() -> None:
    """Few bins are coarse, many are noisy."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        count = st.slider("Number of bins", 2, 200, 20, key="knob_bins", persist_state="session")
        rho = st.select_slider("ρ", [0.001, 0.01, 0.1, 1.0], value=0.001, key="knob_bins_rho",
                               persist_state="session")  # fmt: skip
        found = knobs.binned(knobs.incomes(), 0.0, TOP, int(count), float(rho))
        st.markdown(
            f"The noise of all bins together is **{percent(found.noise)}** of the people; a "
            f"value is on average **{percent(found.coarse)}** of the range away from the middle "
            "of its bin."
        )
        st.caption(
            "Each bin gets the same noise, whatever it counts: twice as many bins are twice as "
            "much noise in all, and half as coarse."
        )
    with right:
        figures.draw(drawings.histogram(found, title="Counts and their noise"), "knob_bins_figure")


def weights() -> None:
    """A weight moves accuracy from one table to others; privacy stays."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        weight = st.select_slider(
            "Weight of age × sex", [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0], value=4.0,
            key="knob_weight", persist_state="session",
        )  # fmt: skip
        st.caption("less accurate ↔ more accurate; never more or less private")
    with right:
        now, alike = knobs.weighted(float(weight), 0.05), knobs.weighted(1.0, 0.05)
        frame = pd.DataFrame(
            {
                "table": list(now),
                "expected error": [f"{v:,.1f}" for v in now.values()],
                "with equal weights": [f"{v:,.1f}" for v in alike.values()],
                "change": [f"{now[name] / alike[name] - 1:+.0%}" for name in now],
            }
        )
        figures.rows(frame)
        st.caption(
            "ResidualPlanner at ρ = 0.05; L1 errors in records. The ρ is the same in both columns: "
            "a weight shares accuracy out, it protects nobody."
        )
