"""Drawing a ``Figure``: the chart, its badge and what it says, the table beneath."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import pyarrow as pa
import streamlit as st

from engine.charts import Figure
from pages.parts.drawing import lecture, text

HIDE = "hide_not_private"
_MOST_ROWS = 200
_KEPT = "kept"
# The buttons over a chart cannot be left out by an option; "fullscreen" stays.
_WAYS_OUT = ("Show data", "Download as PNG", "Copy Vega-Lite spec")
_STYLE = ", ".join(f'[class*="st-key-{_KEPT}_"] button[aria-label^="{way}"]' for way in _WAYS_OUT)


def without_ways_out() -> None:
    """Take the download buttons from charts that are not private; once a page."""
    st.html(f"<style>{_STYLE} {{ display: none; }}</style>")


def hidden() -> bool:
    """Whether charts that are not private are hidden."""
    return bool(st.session_state.get(HIDE, False))


def draw(
    figure: Figure,
    key: str,
    *,
    table: bool = True,
    keep: bool = False,
    said: bool = True,
    height: int | None = None,
    on_pick: Callable[[], None] | None = None,
) -> None:
    """Draw a figure, unless it is not private and such figures are hidden.

    Args:
        figure: What to draw.
        key: Unlike any other on the page.
        table: Whether its numbers can be opened beneath it.
        keep: Give no way out though it is released: a colour scale shared with the truth says
            how large the truth is.
        said: Whether its sentence is written beneath it; readers of screens hear it anyway.
        height: Another height than its own, in pixels.
        on_pick: Called when something in a figure that can be clicked on was; see ``picked``.
    """
    if figure.private and hidden():
        st.caption(f"{figure.title}: hidden, since it is computed from the records.")
        return
    with st.container(key=f"{_KEPT if figure.private or keep else 'released'}_{key}"):
        more: dict[str, Any] = {}
        if on_pick is not None:
            more = {"on_select": on_pick, "selection_mode": "pick"}
        form = lecture.enlarged(figure.form()) if lecture.presenting() else figure.form()
        spec = {**form, "datasets": _arrow(figure)} if figure.columns else form
        if height is not None:
            spec["height"] = round(height * (lecture.SCALE if lecture.presenting() else 1))
        st.vega_lite_chart(spec, width="stretch", alt=figure.alt, key=key, **more)
    if said and not lecture.presenting():
        st.caption(text.plain(figure.alt, longest=600))
    if table:
        _table(figure, key)


def _arrow(figure: Figure) -> dict[str, bytes]:
    """The figure's numbers as Arrow, column by column: what the browser gets, made once."""
    sources = {}
    for name, columns in figure.columns.items():
        table = pa.table({field: _column(values) for field, values in columns.items()})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        sources[name] = sink.getvalue().to_pybytes()
    return sources


def _column(values: list[Any]) -> pa.Array:
    if all(value is None for value in values):  # numbers, none of them known
        return pa.array(values, pa.float64())
    return pa.array(values)


def picked(key: str) -> list[dict[str, Any]]:
    """What is clicked on in the figure with this key: the fields of each mark."""
    state: Any = st.session_state.get(key)
    return list(state["selection"].get("pick", [])) if state else []


def rows(frame: Any) -> None:
    """Show a small table beside a chart: texts escaped, no download."""
    st.table(frame.rename(columns=text.plain).map(_cell), hide_index=True, border="horizontal")


def _table(figure: Figure, key: str) -> None:
    box = st.expander("Numbers", key=f"{key}_table", on_change="rerun", type="compact")
    if not box.open:
        return
    with box:
        _rows(figure)


def table(figure: Figure) -> None:
    """Show the numbers of a figure without drawing it, unless they are hidden."""
    st.markdown(f"**{text.plain(figure.title)}**")
    if figure.private and hidden():
        st.caption("Hidden, since it is computed from the records.")
        return
    st.caption(text.plain(figure.alt, longest=600))
    _rows(figure)


def _rows(figure: Figure) -> None:
    with st.container():
        shown = figure.frame.head(_MOST_ROWS)
        if len(shown) < len(figure.frame):
            st.caption(f"The first {_MOST_ROWS} of {len(figure.frame):,} rows.")
        # st.table reads Markdown and has no download; every text in it is escaped.
        escaped = shown.rename(columns=text.plain).map(_cell)
        height: Literal["content"] | int = "content" if len(escaped) <= 14 else 420
        st.table(escaped, hide_index=True, border="horizontal", height=height)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "—"
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.5g}"
    return text.plain(value)
