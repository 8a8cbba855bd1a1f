"""The slim line at the top of every page: which data, which budget, which round."""

from __future__ import annotations

import streamlit as st

from pages.parts import session, text

SLOT = "strip_slot"


def draw() -> None:
    """Make room for the line and fill it."""
    st.session_state[SLOT] = st.empty()
    refresh()


def refresh() -> None:
    """Fill the line anew; fragments call this when the round changes."""
    slot = st.session_state.get(SLOT)
    if slot is not None:
        slot.markdown(_line())


def _line() -> str:
    run = session.visit().run
    if run is None:
        return ":small[:gray[No run yet] · :orange-badge[TEACHING]]"
    settings, view = run.settings, session.visit().view
    most = f"{run.most_rounds}" if run.finished else f"at most {run.most_rounds}"
    parts = [
        f"**{text.plain(run.title)}**",
        f"ε {settings.epsilon:g}, δ {settings.delta:g}, ρ {float(run.rho):.4g}",
        f"round **{view}** of {most}",
        f"seed {settings.seed}",
        ":orange-badge[TEACHING]",
    ]
    return f":small[{' · '.join(parts)}]"
