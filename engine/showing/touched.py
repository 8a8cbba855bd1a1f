"""Which answers a round changed: a grid of pairs, bars, or tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.showing.figure import (
    Figure,
    Sources,
    axis_above,
    axis_with,
    finished,
    legend_with,
)
from engine.showing.palette import BLUE, GREY, RED
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd


def touched(frame: pd.DataFrame, names: Sequence[str], *, threshold: float | None) -> Figure:
    """Draw ``views.touched``: which answers a round changed, and how far."""
    sources = Sources()
    changed = int(frame["touched"].sum())
    rest = "; the others stand as they were" if changed < len(frame) else ""
    sentence = (
        f"{changed:,} of {len(frame):,} answers hold a measured residual and were rewritten{rest}."
    )
    table = frame[["label", "cells", "touched", "moved"]].set_axis(
        ["marginal", "cells", "rewritten", "moved (L1, records)"], axis=1
    )
    pairs = bool((frame["degree"] == 2).all()) and 3 < len(names) <= 20
    if pairs and len(frame) == len(names) * (len(names) - 1) // 2:
        chart, height = _pair_grid(sources, frame, names)
    elif len(frame) <= 24:
        chart, height = _moved_bars(sources, frame, threshold)
        if threshold is not None:
            sentence += f" Dashed: {threshold:,.0f} records, what noise alone moves the chosen one."
    else:
        chart, height = _tiles(sources, frame)
    title = "Which answers changed"
    return finished(chart, sources, title, sentence, "released", table, height=height)


def _pair_grid(sources: Sources, frame: pd.DataFrame, names: Sequence[str]) -> tuple[Any, int]:
    import altair as alt

    labels = distinct(names, longest=18)
    data = frame.assign(
        x=[labels[i] for i in frame["first"]],
        y=[labels[i] for i in frame["second"]],
        name=distinct(frame["label"], longest=60),
        state=_states(frame),
    )
    x = alt.X(
        "x:N", title="attribute", sort=labels[:-1], axis=axis_with(labelAngle=-35, labelLimit=110)
    )
    y = alt.Y("y:N", title=None, sort=labels[1:], axis=axis_with(labelLimit=120))
    base = sources.chart(data).encode(x=x, y=y, tooltip=_touched_tooltip())
    return alt.layer(*_squares(base)), 34 * (len(names) - 1) + 10


def _moved_bars(sources: Sources, frame: pd.DataFrame, threshold: float | None) -> tuple[Any, int]:
    import altair as alt
    import pandas as pd

    names = distinct(frame["label"], longest=44)
    rows = [("◆ " if s else "") + n for n, s in zip(names, frame["selected"], strict=True)]
    data = frame.assign(row=rows, name=names, state=_states(frame))
    order = [r for _, r in sorted(zip(-frame["moved"], rows, strict=True), key=lambda p: p[0])]
    y = alt.Y("row:N", title=None, sort=order, axis=axis_above(), scale=alt.Scale(paddingInner=0.6))
    colour = alt.Color(
        "state:N",
        title=None,
        scale=alt.Scale(domain=["rewritten", "untouched"], range=[BLUE, GREY]),
        legend=legend_with(),
    )
    x = alt.X(
        "moved:Q", title="how far the answer moved (L1, records)", axis=axis_with(format="~s")
    )
    base = sources.chart(data).encode(y=y, color=colour, tooltip=_touched_tooltip())
    bars = base.mark_bar(height=13).encode(x=x)
    still = base.transform_filter(~alt.datum.touched).mark_point(
        shape="circle", filled=False, size=50, opacity=1
    )
    layers = [bars, still.encode(x=x)]
    if threshold is not None:
        rule = sources.chart(pd.DataFrame({"moved": [threshold]}))
        dashed = rule.mark_rule(strokeDash=[5, 4], color=RED, strokeWidth=2, opacity=0.6)
        layers.insert(0, dashed.encode(x=x))
    return alt.layer(*layers), 38 * len(frame) + 8


def _tiles(sources: Sources, frame: pd.DataFrame) -> tuple[Any, int]:
    import altair as alt

    across = 24
    data = frame.assign(
        x=[k % across for k in range(len(frame))],
        y=[k // across for k in range(len(frame))],
        name=distinct(frame["label"], longest=60),
        state=_states(frame),
    )
    axis = axis_with(labels=False, grid=False)
    x = alt.X("x:O", title=f"the {len(frame):,} answers, in order", axis=axis)
    y = alt.Y("y:O", title=None, axis=None)
    base = sources.chart(data).encode(x=x, y=y, tooltip=_touched_tooltip())
    return alt.layer(*_squares(base)), 20 * (int(data["y"].max()) + 1) + 10


def _states(frame: pd.DataFrame) -> list[str]:
    return ["rewritten" if t else "untouched" for t in frame["touched"]]


def _squares(base: Any) -> list[Any]:
    """Colour by distance; untouched answers stay empty, the chosen one has a diamond."""
    import altair as alt

    colour = alt.Color(
        "moved:Q",
        title="moved (L1, records)",
        scale=alt.Scale(scheme="viridis", zero=True),
        legend=legend_with(format="~s", gradientLength=160, tickCount=4),
    )
    empty = base.mark_rect(stroke=GREY, strokeWidth=1, color=GREY, opacity=0.15)
    filled = base.transform_filter(alt.datum.touched).mark_rect(stroke=GREY, strokeWidth=1)
    marks = base.transform_filter(alt.datum.selected).mark_point(
        shape="diamond", size=110, filled=True, color=RED, opacity=1
    )
    return [empty, filled.encode(color=colour), marks]


def _touched_tooltip() -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("name:N", title="marginal"),
        alt.Tooltip("state:N", title="answer"),
        alt.Tooltip("moved:Q", title="moved by (records)", format=",.0f"),
        alt.Tooltip("cells:Q", title="cells", format=","),
    ]
