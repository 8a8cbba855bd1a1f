"""What the engine refuses, said beside the field that caused it."""

from __future__ import annotations

import streamlit as st

import engine
from engine.showing.fields import SEEDED as SEEDED
from pages.parts.drawing import figures, lecture, text
from pages.parts.visit import session

_FIELDS = {
    "E_EPSILON": "epsilon",
    "E_RHO": "epsilon",
    "E_DELTA": "delta",
    "E_SEED": "seed",
    "E_WORKLOAD": "degree",
    "E_WEIGHT": "degree",
    "E_TOO_LARGE": "attributes",
    "E_DOMAIN": "attributes",
}
BANNER = "This page shows the real data. Nothing here is private. Do not share screenshots."
SHAREABLE = "Only released values are on this page."
NEGATIVE = (
    "Negative counts are no mistake: noise goes both ways, and cutting it off biases every sum."
)
COMPLETED = (
    "Completed by maximum entropy: what was not measured is filled in, what was is shrunk towards "
    "it, and no count is negative."
)


def banner() -> None:
    """Say what may be seen on this page, in one line that stays."""
    run = session.visit().run
    if figures.hidden():
        with st.container(key="banner_released"):
            st.markdown(f":material/verified_user: {SHAREABLE}")
        return
    new = run is not None and run.settings.seed is None
    seeded = "" if new or lecture.presenting() else f" {SEEDED}"
    with st.container(key="banner_private"):
        st.markdown(f":material/visibility: {BANNER}{seeded}")


def keep(error: engine.EngineError) -> None:
    """Remember a refusal until the settings are tried again."""
    session.visit().refusal = (_FIELDS.get(error.code, "settings"), str(error))


def beside(field: str) -> None:
    """Show the refusal that belongs to this field, if there is one."""
    refusal = session.visit().refusal
    if refusal is not None and refusal[0] == field:
        st.error(text.plain(refusal[1], longest=600), icon=":material/error:")


def rerun_sentence(run: session.Watched) -> str | None:
    """Say what several runs on the same table cost together."""
    count, spent = session.spent_on(run.settings.sample, run.settings.table)
    if count < 2:
        return None
    delta = run.settings.delta
    spent *= run.domain.rows_per_person**2
    epsilon = engine.epsilon_from(rho=spent, delta=delta)
    return (
        f"This is run {count} on this table. Together they cost ρ = {float(spent):.4g}, "
        f"ε = {epsilon:.3g} at δ = {delta:g}."
    )
