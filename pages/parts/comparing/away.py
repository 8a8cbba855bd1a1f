"""What can be taken from a comparison: pictures, numbers, a notebook and its link.

Of the tables that come with the explorer only: true errors of a visitor's own table stay here.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from engine.charts import Figure
from engine.demonstrating import comparison
from engine.demonstrating.comparison import Trial
from engine.exporting.replay import assembled
from engine.showing import pictures
from pages.parts.comparing import address
from pages.parts.drawing import code
from pages.parts.visit import samples
from pages.parts.visit.asked import Compared

_WIDTH = 900


def offer(rows: list[Trial], asked: Compared, shown: Mapping[str, Figure]) -> None:
    """Pictures as SVG and PNG, all trials as CSV, code and link.

    Args:
        rows: The trials.
        asked: What was compared.
        shown: The pictures on the page, by their titles.
    """
    box = st.expander(
        "Take it away: pictures, numbers, notebook, link", icon=":material/download:",
        key="compare_away", on_change="rerun",
    )  # fmt: skip
    if not box.open:
        return
    with box:
        if asked.sample not in samples.cards():
            st.markdown(
                "True errors of your own table are not private, so they cannot be taken from here. "
                "Compare from Python instead (`engine.trials`), where your table is."
            )
            return
        _pictures(shown)
        with st.container(horizontal=True):
            st.download_button(
                "All trials (CSV)", lambda: numbers(rows), "comparison.csv", "text/csv",
                icon=":material/table:", key="compare_csv", on_click="ignore",
            )  # fmt: skip
            st.download_button(
                "Notebook that makes it again", lambda: notebook(asked), "comparison.ipynb",
                "application/x-ipynb+json", icon=":material/code:", key="compare_ipynb",
                on_click="ignore",
            )  # fmt: skip
        st.markdown("**Link to this comparison**")
        address.show(asked)


def _pictures(shown: Mapping[str, Figure]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = st.selectbox("Picture", list(shown), key="compare_picture", width=360)
        if not pictures.can_draw():
            st.caption("Pictures need vl-convert: install the extra “notebook”.")
            return
        figure = shown[title]
        name = "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())
        st.download_button(
            "SVG", lambda: pictures.svg(figure, width=_WIDTH), f"{name}.svg", "image/svg+xml",
            key="compare_svg", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            "PNG", lambda: pictures.png(figure, width=_WIDTH), f"{name}.png", "image/png",
            key="compare_png", on_click="ignore",
        )  # fmt: skip


def numbers(rows: list[Trial]) -> str:
    """All trials, one a row: errors divided by the number of records."""
    written: str = comparison.frame(rows).to_csv(index=False)
    return written


def notebook(asked: Compared) -> str:
    """The comparison as a notebook that makes it again."""
    opening = (
        "# A comparison, made again\n\nEvery trial compares with the true table: this is a "
        "simulation on a public sample, and nothing of it is private."
    )
    return assembled([("markdown", opening), ("code", code.comparison(asked))])
