"""Which plan the default will take, and what each would leave: a small bar for each."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import streamlit as st

import engine
from engine.mechanisms import outlook
from pages.parts.visit import session, study

PLANNING = ("aim_grem", "aim_grem_rounds")
"""Keys of the mechanism that compares plans, and of its rounds for whoever wants to watch them."""


@st.cache_data(show_spinner=False, max_entries=32)
def _before(
    _workload: engine.Workload, asked: tuple[object, ...], rho: Fraction, rows: int
) -> outlook.Ahead:
    """Kept by what is public: sizes, tables asked for with their weights, budget and rows."""
    return outlook.before(_workload, rho, records=rows)


def show(workload: engine.Workload, rho: float, rows: int | None) -> None:
    """Show the plans, if AIM+GReM is chosen."""
    chosen = study.here().mechanism
    if chosen not in PLANNING or not rows:
        return
    asked = (workload.domain.sizes, tuple(workload.weights.items()))
    st.subheader("Which plan AIM+GReM takes, if it chooses", anchor=False)
    if chosen != PLANNING[0]:
        st.markdown("Here rounds are chosen, to be watched. Left to itself, it would go:")
    _plans(_before(workload, asked, Fraction(rho), rows), rows)
    run = session.visit().run
    state = run.moments[0].state if run is not None else None
    if isinstance(state, engine.AimState) and state.workload == workload and not state.finished:
        st.markdown(":blue-badge[■ released] The same after the first answers of the run made:")
        _plans(outlook.after(workload, state.beliefs, state.ledger.left), rows)


def _plans(ahead: outlook.Ahead, rows: int) -> None:
    st.markdown(ahead.why)
    if not ahead.alternatives:
        return
    shares = [plan.left / rows for plan in ahead.alternatives]
    frame = pd.DataFrame(
        {
            "if it measures": [plan.name for plan in ahead.alternatives],
            "expected to be left": shares,
        }
    )
    st.dataframe(
        frame, hide_index=True, alt="What each plan is expected to leave, as a share of the rows",
        column_config={
            "expected to be left": st.column_config.ProgressColumn(
                format="percent", min_value=0.0, max_value=max(*shares, 1e-9)
            )
        },
    )  # fmt: skip
    st.caption(
        "Mean L1 error of a table as a share of the rows declared. "
        + ("It follows from what was released. " if ahead.released else
           "Before any answer, usual tables are assumed: it can be off by a factor of two. ")
        + "Rounds can be chosen below; they spend a tenth of the budget on selecting."
    )  # fmt: skip
