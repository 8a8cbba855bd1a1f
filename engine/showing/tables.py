"""One marginal: a heatmap of two attributes, bars of one, and what its noise looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from engine.showing.badges import NOT_PRIVATE, Badge
from engine.showing.figure import (
    Figure,
    Sources,
    axis_with,
    finished,
    legend_with,
)
from engine.showing.palette import DIVERGING, GREY, ORANGE, RED, SKY
from engine.showing.sentences import percent
from engine.showing.texts import ZERO_WIDTH, distinct, safe

if TYPE_CHECKING:
    import pandas as pd

Scale = Literal["linear", "symlog", "log"]


def heatmap(
    frame: pd.DataFrame,
    column: str,
    names: tuple[str, str],
    *,
    title: str,
    limits: tuple[float, float] | None = None,
    small: bool = False,
    scale: Scale = "linear",
    pick: bool = False,
    marked: Sequence[tuple[int, int]] = (),
) -> Figure:
    """Draw one table of two attributes.

    Args:
        frame: ``views.released`` or ``views.comparison`` of two attributes.
        column: ``exact``, ``released``, ``difference`` or ``difference_sd``.
        names: The attributes' names, in the frame's order.
        title: What it is.
        limits: Ends of the colour scale, to share it with another table.
        small: Whether it is one frame of a strip.
        scale: How colours are spread; ``log`` needs counts above zero.
        pick: Whether cells can be clicked on (parameter ``pick``, fields i0 and i1).
        marked: Cells with a frame: those clicked on in any of several tables.
    """
    import altair as alt

    sources = Sources()
    across, down = (0, 1) if frame["i0"].nunique() <= frame["i1"].nunique() else (1, 0)
    ticks = {k: tick_labels(frame, k) for k in (0, 1)}
    # No other column: what is not private must not travel with a chart that may be saved.
    data = frame[["i0", "i1"]].assign(
        x=[ticks[across][i] for i in frame[f"i{across}"]],
        y=[ticks[down][i] for i in frame[f"i{down}"]],
        z=frame[column],
    )
    if pick:
        pairs, framed = zip(frame["i0"], frame["i1"], strict=True), set(marked)
        data["marked"] = [int(pair in framed) for pair in pairs]
    diverging = column.startswith("difference")
    unit = "noise σ" if column == "difference_sd" else "records"
    size = 11 if small else 12
    x = alt.X(
        "x:N",
        title=safe(names[across]),
        sort=ticks[across],
        axis=axis_with(
            labelAngle=-55,
            labelLimit=84,
            labelFontSize=size,
            labelOverlap=len(ticks[across]) > 18,
        ),
    )
    y = alt.Y(
        "y:N",
        title=safe(names[down]),
        sort=ticks[down],
        axis=axis_with(
            labelLimit=92,
            labelFontSize=size,
            labelOverlap=len(ticks[down]) > 26,
            labelFlush=False,
        ),
    )
    low, high = limits or _limits(frame[column], diverging=diverging)
    spread = (
        alt.Scale(
            domain=[low, low / 2, 0, high / 2, high], range=list(DIVERGING), interpolate="rgb"
        )
        if diverging
        else _spread(low, high, scale, smallest=float(frame[column].min()))
    )
    colour = alt.Color(
        "z:Q",
        title=unit,
        scale=spread,
        # By an expression: a format alone writes zero as "0k" beside thousands.
        legend=legend_with(labelExpr="format(datum.value, '~s')", gradientLength=150, tickCount=4),
    )
    tooltip = [
        alt.Tooltip("x:N", title=safe(names[across])),
        alt.Tooltip("y:N", title=safe(names[down])),
        alt.Tooltip("z:Q", title=unit, format=",.1f"),
    ]
    chart = sources.chart(data).mark_rect().encode(x=x, y=y, color=colour, tooltip=tooltip)
    if pick:
        chart = _pickable(chart)
    rows = len(ticks[down])
    height = min(max((15 if small else 20) * rows, 90), 520)
    badge: Badge = "released" if column == "released" else NOT_PRIVATE
    return finished(
        chart, sources, title, _heatmap_sentence(frame, column, title), badge,
        _cell_table(frame, column, names), height=height,
    )  # fmt: skip


def _spread(low: float, high: float, scale: Scale, *, smallest: float) -> Any:
    import altair as alt

    if scale == "log" and smallest > 0:
        return alt.Scale(type="log", domain=[max(low, smallest), high], scheme="cividis")
    kind: Literal["symlog", "linear"] = "symlog" if scale == "symlog" else "linear"
    return alt.Scale(type=kind, domain=[low, high], scheme="cividis")


def _pickable(chart: Any) -> Any:
    """Let cells be clicked on; those that are have a frame."""
    import altair as alt

    pick = alt.selection_point(name="pick", fields=["i0", "i1"], empty=False)
    framed = alt.when(pick | (alt.datum.marked == 1)).then(alt.value(RED))
    return chart.encode(
        stroke=framed.otherwise(alt.value(None)), strokeWidth=alt.value(3)
    ).add_params(pick)


def tick_labels(frame: pd.DataFrame, k: int) -> list[str]:
    """Return the values of an attribute as labels, in the order of their codes."""
    first = frame.drop_duplicates(f"i{k}").sort_values(f"i{k}")
    return distinct(first[f"c{k}"], longest=24)


def _limits(values: pd.Series[float], *, diverging: bool) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    low = float(finite.min()) if len(finite) else 0.0
    high = float(finite.max()) if len(finite) else 1.0
    if diverging:
        reach = max(-low, high, 1e-9)
        return -reach, reach
    return min(low, 0.0), max(high, min(low, 0.0) + 1e-9)


def shared_limits(frame: pd.DataFrame, *columns: str) -> tuple[float, float]:
    """Ends of one colour scale for several columns, zero included."""
    ends = [_limits(frame[column], diverging=False) for column in columns]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _heatmap_sentence(frame: pd.DataFrame, column: str, title: str) -> str:
    if column == "difference_sd":
        inside = float((frame[column].abs() <= 1.96).mean())
        return f"{title}: {percent(inside)} of the cells lie within ±1.96 of their noise σ."
    values = frame[column]
    if column == "difference":
        return f"{title}: the largest cell error is {values.abs().max():,.0f} records."
    negative = int((values < 0).sum())
    tail = f", {negative} cells below zero" if negative else ""
    low, high = (int(np.rint(end)) for end in (values.min(), values.max()))
    return f"{title}: cells from {low:,} to {high:,} records{tail}."


def _cell_table(frame: pd.DataFrame, column: str, names: tuple[str, ...]) -> pd.DataFrame:
    columns = [f"c{k}" for k in range(len(names))]
    unit = "noise σ" if column == "difference_sd" else "records"
    titles = [f"{name}{ZERO_WIDTH * k}" for k, name in enumerate(names)]
    return frame[[*columns, column]].set_axis([*titles, f"{column.split('_')[0]} ({unit})"], axis=1)


def bars(frame: pd.DataFrame, name: str, *, title: str, scale: Scale = "linear") -> Figure:
    """Draw one attribute: released counts with ±1.96 σ, and true ones where the frame has them."""
    import altair as alt

    sources = Sources()
    ticks = tick_labels(frame, 0)
    noise_known = bool((np.isfinite(frame["std"]) & (frame["std"] > 0)).all())
    released = "released, ±1.96 σ" if noise_known else "released"
    data = frame.assign(
        row=[ticks[i] for i in frame["i0"]],
        low=frame["released"] - 1.96 * frame["std"],
        high=frame["released"] + 1.96 * frame["std"],
        part=released,
    )
    long = len(ticks) > 24
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(
            domain=[released, *(["true"] if "exact" in frame else [])],
            range=[SKY, RED][: 2 if "exact" in frame else 1],
        ),
        legend=legend_with(),
    )
    where = alt.X if long else alt.Y
    axis = axis_with(labelAngle=-40, labelLimit=80) if long else axis_with(labelLimit=120)
    category = where("row:N", title=safe(name), sort=ticks, axis=axis)
    value, second = (alt.Y, alt.Y2) if long else (alt.X, alt.X2)
    kind = alt.Scale(type="symlog" if scale == "symlog" else "linear")
    count = value(
        "released:Q",
        title="records",
        scale=kind,
        axis=axis_with(format="~s", grid=True, tickCount=6),
    )
    tooltip = [
        alt.Tooltip("row:N", title=safe(name)),
        alt.Tooltip("released:Q", title="released", format=",.1f"),
        alt.Tooltip("std:Q", title="noise σ", format=",.1f"),
    ]
    has_truth = "exact" in frame
    if has_truth:
        tooltip.append(alt.Tooltip("exact:Q", title="true", format=","))
    base = sources.chart(data).encode(tooltip=tooltip)
    layers = [
        base.mark_bar(stroke=None).encode(category, count, color=colour),
    ]
    if noise_known:
        rule = base.mark_rule(color=GREY, strokeWidth=2)
        layers.append(rule.encode(category, value("low:Q", title="records"), second("high")))
    if has_truth:
        truth = sources.chart(data.assign(part="true")).mark_point(
            shape="diamond", filled=True, size=60, opacity=1
        )
        layers.append(truth.encode(category, value("exact:Q"), color=colour, tooltip=tooltip))
    badge: Badge = NOT_PRIVATE if has_truth else "released"
    columns = ["c0", "released", "std", *(["exact", "difference"] if has_truth else [])]
    titles = [name, "released (records)", "noise σ", *(["true", "difference"] if has_truth else [])]
    sentence = f"{title}: released counts with their 95 % noise interval."
    if not noise_known:
        sentence = f"{title}: counts without known noise, so without intervals."
    elif has_truth:
        inside = (frame["difference"].abs() <= 1.96 * frame["std"]).mean()
        sentence = f"{title}: {percent(float(inside))} of the true counts lie within ±1.96 σ."
    height = 260 if long else max(24 * len(ticks), 70)
    table = frame[columns].set_axis(titles, axis=1)
    return finished(alt.layer(*layers), sources, title, sentence, badge, table, height=height)


_BINS = ("beyond 2 σ", "within 2 σ")


def noise_shape(frame: pd.DataFrame) -> Figure:
    """Draw ``views.noise_shape``: do errors look like noise?"""
    import altair as alt

    sources = Sources()
    data = frame.assign(
        middle=(frame["low"] + frame["high"]) / 2,
        part=np.where(frame["low"].abs().clip(lower=frame["high"].abs()) > 2, *_BINS),
        law="noise alone",
    )
    scale = alt.Scale(domain=[-4, 4])
    x = alt.X(
        "low:Q", title="error ÷ noise σ (outer bars: all beyond)", scale=scale,
        axis=axis_with(values=list(range(-4, 5)), format="d"),
    )  # fmt: skip
    y = alt.Y("cells:Q", title="cells", axis=axis_with(format="~s", grid=True, tickMinStep=1))
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(domain=[_BINS[1], _BINS[0], "noise alone"], range=[SKY, ORANGE, RED]),
        legend=legend_with(),
    )
    tooltip = [
        alt.Tooltip("low:Q", title="from"),
        alt.Tooltip("high:Q", title="to"),
        alt.Tooltip("cells:Q", title="cells", format=","),
        alt.Tooltip("normal:Q", title="by noise alone", format=",.1f"),
    ]
    base = sources.chart(data)
    columns = base.mark_bar(stroke="white", strokeWidth=0.5).encode(
        x, y, alt.X2("high"), alt.Y2(datum=0), color=colour, tooltip=tooltip
    )
    law = base.mark_line(point=True, strokeWidth=2).encode(
        alt.X("middle:Q", scale=scale), alt.Y("normal:Q"), color=alt.Color("law:N"), tooltip=tooltip
    )
    total = int(frame["cells"].sum())
    beyond = int(data.loc[data["part"] == _BINS[0], "cells"].sum())
    sentence = (
        f"{beyond:,} of {total:,} cells err by more than 2 σ; noise alone would do so in "
        f"{0.0455 * total:,.0f}."
    )
    table = frame[["low", "high", "cells", "normal"]].set_axis(
        ["from (σ)", "to (σ)", "cells", "cells by noise alone"], axis=1
    )
    return finished(
        alt.layer(columns, law), sources, "Does noise look like noise?", sentence, NOT_PRIVATE,
        table, height=190,
    )  # fmt: skip
