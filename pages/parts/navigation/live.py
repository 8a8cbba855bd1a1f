"""Pages that go on by themselves: the browser asks again while nothing runs.

A fragment with ``run_every`` asks whatever happens. Where its request meets a click on the menu,
Streamlit joins the two into one, of the page left: the click is lost, or the page reached is empty.
So the browser's own clock presses a button out of sight, only while no script runs.
"""

from __future__ import annotations

import streamlit as st

KEY = "ask_again"


def ask_again(seconds: float) -> None:
    """Have the fragment that calls this run again after so many seconds, counted between starts."""
    st.button("Ask again", key=f"{KEY}_{round(1000 * seconds)}")
