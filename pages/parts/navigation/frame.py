"""Which pages there are, and the way to them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.navigation import strip

PAGES = [
    ("start", "Start", ":material/home:"),
    ("data", "Data", ":material/table:"),
    ("plan", "Setup", ":material/tune:"),
    ("rounds", "Rounds", ":material/replay:"),
    ("marginals", "Marginals", ":material/grid_on:"),
    ("compare", "Compare", ":material/balance:"),
    ("what_if", "What if", ":material/alt_route:"),
    ("learn", "Learn", ":material/school:"),
    ("export", "Export", ":material/download:"),
    ("release", "Release", ":material/verified_user:"),
    ("about", "About", ":material/info:"),
]
"""File name, title and icon, in order of use; the first is the one opened without a name."""


def navigation(*, icons: bool = True) -> Any:
    """Lay out the navigation and return the page asked for."""
    pages = [
        st.Page(
            f"pages/{name}.py", title=title, icon=icon if icons else None,
            default=name == PAGES[0][0],
        )
        for name, title, icon in PAGES
    ]  # fmt: skip
    return st.navigation(pages, position="top")


def through_app() -> None:
    """Go through app.py if this page was opened without it.

    Streamlit takes a folder called ``pages`` for its first page system until ``st.navigation`` was
    called once, so the first visitor of a fresh server who follows a link to a page gets that page
    without its frame.
    """
    if strip.SLOT not in st.session_state:
        st.session_state[strip.SLOT] = None  # once: a page run alone, in a test, has no frame
        # Without app.py's icon the browser would fetch the page's from a font server elsewhere.
        navigation(icons=False)
        st.rerun()
