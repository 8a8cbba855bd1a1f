"""May this be signed and filed? A private release: checked, accounted, and told in words."""

from __future__ import annotations

import streamlit as st

from engine.releasing import words
from pages.parts.drawing import text
from pages.parts.navigation.frame import through_app
from pages.parts.releasing import account, asked, running


def confirmed(wanted: asked.Asked) -> bool:
    """What only the custodian can know; every line has to be ticked."""
    st.subheader("4 · Before it starts", divider="gray")
    lines = words.to_confirm(wanted.workload.domain)
    ticked = [
        st.checkbox(text.plain(line), key=f"release_tick_{k}") for k, line in enumerate(lines)
    ]
    return all(ticked)


def ask() -> None:
    """Everything that is needed, step by step; then the button."""
    wanted = asked.asked()
    charged = account.table_account(wanted) if wanted is not None else None
    if wanted is None or charged is None:
        return
    running.unfinished(wanted, charged)
    ready = confirmed(wanted) and wanted.rho <= charged.left
    if st.button(
        "Release", key="release_start", icon=":material/verified_user:", disabled=not ready,
        type="primary" if ready else "secondary",
    ):  # fmt: skip
        running.begin(wanted, charged)
        st.rerun()
    st.caption("There is no seed and no second try: it is charged whether it pleases or not.")


through_app()
st.title("Release")
st.markdown(
    "May this be published? Everything else in this app is a rehearsal; here exact noise is drawn, "
    "once, and an account keeps what it cost. No row of the table is shown, before or after."
)
found = running.job()
if found is None:
    ask()
elif found.running:
    running.watch()
else:
    running.result(found)
