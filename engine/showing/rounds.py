"""Charts of one round: the budget so far, how it selected, what it measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.showing.badges import NOT_PRIVATE
from engine.showing.figure import (
    Figure,
    Sources,
    axis_above,
    axis_with,
    finished,
    legend_with,
)
from engine.showing.palette import BLUE, GREY, ORANGE, RED, SKY
from engine.showing.sentences import after, percent
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd


def ledger(frame: pd.DataFrame, *, at: int) -> Figure:
    """Draw ``views.budget``: a bar whose segments add up, to one scale with what is left."""
    import altair as alt

    sources = Sources()
    data = frame.assign(
        name=["not spent" if p == "left" else f"{p}" for p in frame["part"]],
        opacity=[1.0 if r in (at, -1) else 0.55 for r in frame["round"]],
        when=[_when(r) for r in frame["round"]],
    )
    x = alt.X("start:Q", title="budget in ρ (zCDP)", axis=axis_with(format="~g", tickCount=5))
    tooltip = [
        alt.Tooltip("when:N", title="when"),
        alt.Tooltip("name:N", title="for"),
        alt.Tooltip("rho:Q", title="ρ", format=".4g"),
    ]
    colour = alt.Color(
        "name:N",
        title=None,
        scale=alt.Scale(
            domain=["select", "measure", "not spent"], range=[ORANGE, BLUE, "#80808055"]
        ),
        legend=legend_with(),
    )
    base = sources.chart(data).encode(x=x, x2=alt.X2("end"), color=colour, tooltip=tooltip)
    layers = []
    many = len(frame) > 90
    for part, height in (("left", 34), ("measure", 34), ("select", 20)):
        mark = base.transform_filter(alt.datum.part == part).mark_bar(
            height=height,
            stroke=None if many or part == "left" else "white",
            strokeWidth=0 if many else 0.6,
        )
        layers.append(mark.encode(opacity=alt.Opacity("opacity:Q", scale=None, legend=None)))
    spent = float(frame.loc[frame["part"] != "left", "rho"].sum())
    total = spent + float(frame.loc[frame["part"] == "left", "rho"].sum())
    sentence = (
        f"{percent(spent / total)} of the budget ρ = {total:.6g} is spent {after(at)}; "
        "segments and what is left add up to the total."
    )
    table = data[["when", "name", "rho", "exact"]].set_axis(
        ["when", "for", "ρ", "ρ as an exact fraction"], axis=1
    )
    return finished(
        alt.layer(*layers), sources, "Privacy budget spent", sentence, "released", table, height=64
    )


def _when(number: int) -> str:
    return {0: "before round 1", -1: "left"}.get(number, f"round {number}")


def selection(frame: pd.DataFrame, *, others: int, others_probability: float) -> Figure:
    """Draw ``views.selection``: how wrong each candidate looked, less what noise would leave."""
    import altair as alt

    sources = Sources()
    names = distinct(frame["label"], longest=44)
    rows = [
        f"{'◆ ' if chosen else ''}{percent(p)}  ·  {name}"
        for name, p, chosen in zip(names, frame["probability"], frame["chosen"], strict=True)
    ]
    rest = f"{percent(others_probability)}  ·  {others:,} others"
    data = frame.assign(row=rows, name=names)
    parts = data.melt(
        id_vars=["row", "name", "score", "probability"],
        value_vars=["error", "noise"],
        var_name="part",
        value_name="size",
    )
    is_error = parts["part"] == "error"
    parts["from"] = np.where(is_error, 0.0, parts["score"])
    parts["to"] = np.where(is_error, parts["size"], parts["score"] + parts["size"])
    parts["part"] = np.where(is_error, "error term", "less the noise term")
    order = [*rows, rest] if others else rows
    scale = alt.Scale(domain=order, paddingInner=0.62, paddingOuter=0.55)
    y = alt.Y("row:N", title=None, sort=order, scale=scale, axis=axis_above())
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(
            domain=["error term", "less the noise term", "score"], range=[SKY, ORANGE, RED]
        ),
        legend=legend_with(),
    )
    x = alt.X("from:Q", title="weighted L1 error (records × weight)", axis=axis_with(format="~s"))
    tooltip = [
        alt.Tooltip("name:N", title="marginal"),
        alt.Tooltip("part:N", title="part"),
        alt.Tooltip("size:Q", title="size", format=",.0f"),
        alt.Tooltip("score:Q", title="score", format=",.0f"),
        alt.Tooltip("probability:Q", title="probability", format=".2%"),
    ]
    bars = sources.chart(parts).encode(x=x, x2=alt.X2("to"), y=y, color=colour, tooltip=tooltip)
    wide = bars.transform_filter(alt.datum.part == "error term").mark_bar(height=13)
    thin = bars.transform_filter(alt.datum.part != "error term").mark_bar(height=6)
    score = (
        sources.chart(data.assign(part="score"))
        .mark_point(shape="diamond", filled=True, size=70, opacity=1)
        .encode(
            x=alt.X("score:Q"),
            y=y,
            color=alt.Color("part:N"),
            tooltip=[
                alt.Tooltip("name:N", title="marginal"),
                alt.Tooltip("score:Q", title="score", format=",.0f"),
                alt.Tooltip("probability:Q", title="probability", format=".2%"),
            ],
        )
    )
    top = frame.iloc[0]
    sentence = (
        f"{top['label']} was the most probable, with {percent(top['probability'])}; "
        f"{others:,} other candidates share {percent(others_probability)}."
    )
    table = data[["label", "l1", "weight", "error", "noise", "score", "probability"]].set_axis(
        ["marginal", "L1 error (records)", "weight", "error term", "noise term", "score",
         "probability"],
        axis=1,
    )  # fmt: skip
    height = 40 * len(order) + 8
    return finished(
        alt.layer(wide, thin, score),
        sources,
        "Which marginal is worst?",
        sentence,
        NOT_PRIVATE,
        table,
        height=height,
    )


def measured(frame: pd.DataFrame) -> Figure:
    """Draw ``views.measured``: every measured value in units of its own noise."""
    import altair as alt
    import pandas as pd

    sources = Sources()
    labels = dict(zip(frame["label"].unique(), distinct(frame["label"].unique()), strict=True))
    order = [labels[label] for label in frame["label"].unique()]
    data = frame.assign(
        row=[labels[label] for label in frame["label"]],
        part=np.where(frame["outside"], "beyond ±1.96 σ", "within ±1.96 σ"),
        length=np.where(frame["outside"], 18, 10),
    )
    reach = max(4.0, float(np.abs(frame["scaled"]).max()) if len(frame) else 4.0)
    ticks = [t for t in (2, 10, 100, 1000, 10_000, 100_000) if t <= reach]
    values = [*(-t for t in reversed(ticks)), 0, *ticks]
    scale = alt.Scale(type="symlog", constant=2, domain=[-reach * 1.1, reach * 1.1])
    axis = axis_with(values=values, format="~s", labelOverlap=True)
    band = (
        sources.chart(pd.DataFrame({"low": [-1.96], "high": [1.96]}))
        .mark_rect(color=GREY, opacity=0.25)
        .encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high"))
    )
    y = alt.Y("row:N", title=None, sort=order, axis=axis_above(), scale=alt.Scale(paddingInner=0.5))
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(domain=["within ±1.96 σ", "beyond ±1.96 σ"], range=[GREY, BLUE]),
        legend=legend_with(),
    )
    # Longer ticks where something shows: colour is not alone.
    ticks_mark = (
        sources.chart(data)
        .mark_tick(thickness=1.6, opacity=0.7)
        .encode(
            x=alt.X("scaled:Q", title="value ÷ its noise σ (symlog)", scale=scale, axis=axis),
            y=y,
            color=colour,
            size=alt.Size("length:Q", scale=None, legend=None),
            tooltip=[
                alt.Tooltip("row:N", title="residual"),
                alt.Tooltip("value:Q", title="records", format=",.1f"),
                alt.Tooltip("noise_sd:Q", title="noise σ", format=",.1f"),
            ],
        )
    )
    rows = frame.groupby("label", sort=False).agg(
        values=("of", "first"), noise=("noise_sd", "first"), beyond=("outside", "mean")
    )
    table = rows.reset_index().set_axis(
        ["residual", "values", "noise σ of a value (records)", "share beyond ±1.96 σ"], axis=1
    )
    thinned = frame.loc[frame["of"] > frame.groupby("label")["of"].transform("size"), "label"]
    sentence = (
        f"{percent(float(frame['outside'].mean()) if len(frame) else 0.0)} of the measured values "
        "lie beyond ±1.96 σ, where noise alone would put 5 %."
    )
    if len(thinned):
        sentence += f" Large residuals are shown by {_drawn(frame)} evenly spaced quantiles."
    return finished(
        alt.layer(band, ticks_mark),
        sources,
        "What was measured",
        sentence,
        "released",
        table,
        height=50 * max(len(order), 1) + 12,
    )


def _drawn(frame: pd.DataFrame) -> int:
    return int(frame.groupby("label").size().max())
