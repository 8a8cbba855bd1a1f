"""Pictures of what a round does: pour water, choose, rewrite, grow its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.showing.figure import (
    Figure,
    Sources,
    axis_above,
    axis_with,
    finished,
    legend_with,
)
from engine.showing.palette import BLUE, GREY, ORANGE, RED, SKY
from engine.showing.sentences import percent
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd


def vessels(frame: pd.DataFrame, *, level: float, budget: float) -> Figure:
    """Draw the plan as water in vessels.

    Args:
        frame: One row a residual: label, width, bottom, top (heights), known, added, share.
        level: Height of the water.
        budget: C, the water poured in.
    """
    import altair as alt
    import pandas as pd

    sources = Sources()
    right = np.cumsum(frame["width"].to_numpy(dtype=float))
    data = frame.assign(
        x=right - frame["width"], x2=right, name=distinct(frame["label"], longest=14), zero=0.0,
        middle=right - frame["width"] / 2, wet=frame["top"] > frame["bottom"] + 1e-12,
        text=[percent(s) if s > 0 else "dry" for s in frame["share"]],
    )  # fmt: skip
    ceiling = max(float(frame["bottom"].max()), level) * 1.18 + 1e-9
    x_scale = alt.Scale(domain=[0, float(right[-1])], nice=False)
    y_scale = alt.Scale(domain=[0, ceiling], nice=False)
    no_labels = axis_with(labels=False, ticks=False)
    x = alt.X("x:Q", title="width: cost of one unit of height", axis=no_labels, scale=x_scale)
    y_axis = axis_with(format="~g", grid=True, gridOpacity=0.2, tickCount=5)
    title = "height: precision ÷ r"
    y = alt.Y("zero:Q", title=title, scale=y_scale, axis=y_axis)
    tooltip = [
        alt.Tooltip("name:N", title="residual"),
        alt.Tooltip("known:Q", title="known precision", format=".3g"),
        alt.Tooltip("added:Q", title="added", format=".3g"),
        alt.Tooltip("share:Q", title="share of the budget", format=".1%"),
    ]
    colour = alt.Color(
        "what:N", title=None, legend=legend_with(),
        scale=alt.Scale(domain=["known before", "poured in now"], range=["#A0A0A0", SKY]),
    )  # fmt: skip
    base = sources.chart(data.assign(what="known before"))
    water = sources.chart(data.assign(what="poured in now"))
    line = sources.chart(pd.DataFrame({"zero": [level], "text": [f"level {level:.3g}"]}))
    layers = [
        base.mark_rect().encode(x=x, x2="x2", y=y, y2="bottom", color=colour, tooltip=tooltip),
        water.mark_rect().encode(
            x=x, x2="x2", y=alt.Y("bottom:Q", title=title, scale=y_scale), y2="top", color=colour,
            tooltip=tooltip,
        ),
        base.mark_rule(color=GREY, strokeWidth=2).encode(x=alt.X("x2:Q", scale=x_scale)),
        water.transform_filter(alt.datum.wet)
        .mark_text(baseline="top", dy=5, fontSize=12 if len(frame) <= 4 else 10, color="#1a1a1a")
        .encode(
            x=alt.X("middle:Q", scale=x_scale), y=alt.Y("top:Q", scale=y_scale), text="text:N"
        ),
        line.mark_rule(color=RED, strokeWidth=2.5, strokeDash=[6, 4]).encode(y=y),
        line.mark_text(color=RED, align="right", baseline="bottom", dy=-4, fontSize=13,
                       fontWeight=600).encode(
            x=alt.value("width"), y=y, text="text:N"
        ),
        base.mark_text(baseline="bottom", dy=-4, fontSize=13, fontWeight=600, color="#1a1a1a",
                       angle=270 if len(frame) > 4 else 0,
                       align="left" if len(frame) > 4 else "center").encode(
            x=alt.X("middle:Q", scale=x_scale), y=alt.Y("zero:Q", scale=y_scale),
            text="name:N",
        ),
    ]  # fmt: skip
    dry = int((~data["wet"]).sum())
    sentence = (
        f"The water stands at {level:.4g}. {len(data) - dry} of {len(data)} vessels hold some; "
        f"their water adds up to the budget, {float((data['share']).sum()) * budget:.6g}."
    )
    columns = ["label", "known", "added", "share", "isotropic"]
    table = frame[columns].set_axis(
        ["residual", "precision before", "added by CRP", "share of the budget",
         "added by equal noise"],
        axis=1,
    )  # fmt: skip
    return finished(
        alt.layer(*layers), sources, "Budget as water", sentence, "public", table, height=300
    )


def chances(frame: pd.DataFrame, *, epsilon: float) -> Figure:
    """Draw the exponential mechanism's chances.

    Args:
        frame: label, score and probability.
        epsilon: What it spends.
    """
    import altair as alt

    sources = Sources()
    data = frame.assign(
        name=distinct(frame["label"]),
        text=[percent(p) for p in frame["probability"]],
        best=["the worst known" if s == frame["score"].max() else "others" for s in frame["score"]],
    )
    order = data["name"].tolist()
    y = alt.Y("name:N", title=None, sort=order, axis=axis_above(),
              scale=alt.Scale(paddingInner=0.6))  # fmt: skip
    axis = axis_with(format=".0%", grid=True, gridOpacity=0.25, tickCount=5)
    x = alt.X("probability:Q", title="chance", axis=axis, scale=alt.Scale(domain=[0, 1.12]))
    colour = alt.Color(
        "best:N", title=None, legend=legend_with(),
        scale=alt.Scale(domain=["the worst known", "others"], range=[BLUE, SKY]),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("name:N", title="table"),
        alt.Tooltip("score:Q", title="score", format=",.4g"),
        alt.Tooltip("probability:Q", title="chance", format=".2%"),
    ]
    base = sources.chart(data).encode(x=x, y=y)
    layers = [
        base.mark_bar(height=16).encode(color=colour, tooltip=tooltip),
        base.mark_text(align="left", dx=5, fontSize=13, fontWeight=600, color=GREY).encode(
            text="text:N"
        ),
    ]
    top = frame.iloc[int(frame["score"].argmax())]
    sentence = (
        f"With ε = {epsilon:.3g} the table known worst, {top['label']}, is chosen with a chance of "
        f"{percent(float(top['probability']))}; pure chance would be {percent(1 / len(frame))}."
    )
    table = frame[["label", "score", "probability"]].set_axis(["table", "score", "chance"], axis=1)
    return finished(
        alt.layer(*layers), sources, "Who is chosen?", sentence, "public", table,
        height=42 * len(order),
    )  # fmt: skip


def work(frame: pd.DataFrame) -> Figure:
    """Draw cells rewritten in each round, lazily, beside what a full update would rewrite.

    Args:
        frame: round, lazy and full (cells).
    """
    import altair as alt

    sources = Sources()
    long = frame.melt(id_vars="round", value_vars=["lazy", "full"], var_name="how",
                      value_name="cells")  # fmt: skip
    x = alt.X("round:O", title="round", axis=axis_with(labelAngle=0, labelOverlap=True))
    y = alt.Y("cells:Q", title="cells rewritten",
              axis=axis_with(format="~s", grid=True, gridOpacity=0.25, tickCount=5))  # fmt: skip
    names = ["lazy: rewritten", "full: all of them"]
    colour = alt.Color(
        "name:N", title=None, legend=legend_with(),
        scale=alt.Scale(domain=names, range=[BLUE, ORANGE]),
    )  # fmt: skip
    base = sources.chart(long.assign(name=np.where(long["how"] == "lazy", *names)))
    tooltip = [
        alt.Tooltip("round:O", title="round"), alt.Tooltip("name:N", title="update"),
        alt.Tooltip("cells:Q", title="cells", format=","),
    ]  # fmt: skip
    bars = base.transform_filter(alt.datum.how == "lazy").mark_bar().encode(
        x=x, y=y, color=colour, tooltip=tooltip
    )  # fmt: skip
    marks = base.transform_filter(alt.datum.how == "full").mark_tick(thickness=3).encode(
        x=x, y=y, color=colour, tooltip=tooltip
    )  # fmt: skip
    lazy, full = int(frame["lazy"].sum()), int(frame["full"].sum())
    sentence = (
        f"In {len(frame)} rounds the lazy update rewrote {lazy:,} cells, a full one {full:,}: "
        f"{percent(lazy / full)}."
    )
    table = frame.set_axis(["round", "rewritten lazily", "rewritten by a full update"], axis=1)
    return finished(
        alt.layer(bars, marks), sources, "Work in each round", sentence, "released", table,
        height=230,
    )  # fmt: skip


def members(frame: pd.DataFrame, *, sentence: str) -> Figure:
    """Draw all tables of a workload, and which of them hold a residual.

    Args:
        frame: label and holds.
        sentence: What is to be seen.
    """
    import altair as alt

    sources = Sources()
    across = 24 if len(frame) > 60 else 12
    data = frame.assign(
        x=[k % across for k in range(len(frame))], y=[k // across for k in range(len(frame))],
        name=distinct(frame["label"], longest=60),
        state=np.where(frame["holds"], "rewritten", "left alone"),
    )  # fmt: skip
    colour = alt.Color(
        "state:N", title=None, legend=legend_with(),
        scale=alt.Scale(domain=["rewritten", "left alone"], range=[BLUE, "#80808040"]),
    )  # fmt: skip
    base = sources.chart(data).encode(
        x=alt.X("x:O", title="the tables, in order", axis=axis_with(labels=False, ticks=False)),
        y=alt.Y("y:O", title=None, axis=None),
        tooltip=[alt.Tooltip("name:N", title="table"), alt.Tooltip("state:N", title="is")],
    )
    squares = base.mark_rect(stroke=GREY, strokeWidth=1).encode(color=colour)
    marks = base.transform_filter(alt.datum.holds).mark_point(
        shape="diamond", filled=True, color="white", size=26, opacity=1
    )
    table = frame.set_axis(["table", "rewritten"], axis=1)
    return finished(
        alt.layer(squares, marks), sources, "Which tables hold this residual?", sentence, "public",
        table, height=24 * (int(data["y"].max()) + 1) + 4,
    )  # fmt: skip


def annealing(frame: pd.DataFrame) -> Figure:
    """Draw how far each round moved its answer, beside what noise alone moves it.

    Args:
        frame: round, change, threshold (records), annealed and sigma.
    """
    import altair as alt

    sources = Sources()
    state = np.where(
        frame["last"], "last round", np.where(frame["annealed"], "no more than noise: budget × 4",
                                              "more than noise: go on")
    )  # fmt: skip
    names = ["more than noise: go on", "no more than noise: budget × 4", "last round"]
    x = alt.X("round:O", title="round", axis=axis_with(labelAngle=0, labelOverlap=True))
    scale = alt.Scale(type="log", nice=False, padding=12)
    axis = axis_with(format="~s", grid=True, gridOpacity=0.25, tickCount=5)
    y = alt.Y("change:Q", title="records, L1 (log)", scale=scale, axis=axis)
    base = sources.chart(frame.assign(state=state))
    tooltip = [
        alt.Tooltip("round:O", title="round"),
        alt.Tooltip("change:Q", title="moved", format=",.1f"),
        alt.Tooltip("threshold:Q", title="noise alone", format=",.1f"),
        alt.Tooltip("sigma:Q", title="σ of the round", format=",.3g"),
        alt.Tooltip("state:N", title="so"),
    ]
    shapes = alt.Scale(domain=names, range=["circle", "triangle-up", "square"])
    shape = alt.Shape("state:N", title=None, legend=legend_with(columns=1), scale=shapes)
    colour = alt.Color("state:N", title=None, legend=legend_with(columns=1),
                       scale=alt.Scale(domain=names, range=[BLUE, ORANGE, GREY]))  # fmt: skip
    layers = [
        base.mark_rule(color=GREY, opacity=0.4).encode(x=x, y=y, y2="threshold"),
        base.mark_tick(color=RED, thickness=2.5, width=22).encode(
            x=x, y=alt.Y("threshold:Q", title="records, L1 (log)", scale=scale, axis=axis)
        ),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=tooltip
        ),
    ]
    grew = int(frame["annealed"].sum())
    sentence = (
        f"In {grew} of {len(frame)} rounds the answer moved no further than noise moves it (red "
        f"tick), and the budget of a round grew fourfold; σ went from {frame['sigma'].iloc[0]:.3g} "
        f"to {frame['sigma'].iloc[-1]:.3g} records."
    )
    columns = ["round", "change", "threshold", "sigma", "annealed"]
    table = frame[columns].set_axis(
        ["round", "moved (records)", "noise alone", "σ", "budget × 4 after it"], axis=1
    )
    return finished(
        alt.layer(*layers), sources, "When does a round get more?", sentence, "released", table,
        height=260,
    )  # fmt: skip
