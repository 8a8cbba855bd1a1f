"""Charts of the Learn page: small pictures of one idea each, with the numbers written in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.charts import (
    BLUE,
    DIVERGING,
    GREY,
    ORANGE,
    RED,
    SKY,
    Badge,
    Figure,
    _axis,
    _axis_above,
    _figure,
    _legend,
    _Sources,
    distinct,
)
from engine.showing.views import percent
from engine.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd


# -- little tables of numbers ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stage:
    """One little table in a row of them.

    Args:
        caption: What it is, a word or two.
        values: Shape (rows, columns).
        before: What stands between it and the one before: an operation, a plus, an equals sign.
    """

    caption: str
    values: FloatArray
    before: str = ""


_GAP, _ABOVE = 1.15, 0.75


def stages(
    content: Sequence[Stage], *, title: str, sentence: str, badge: Badge = "public", across: int = 3
) -> Figure:
    """Draw little tables one after the other, with what leads from each to the next.

    Args:
        content: The tables.
        title: What it shows.
        sentence: What is to be seen.
        badge: Whether the numbers may be seen outside.
        across: How many stand in a line.
    """
    import altair as alt
    import pandas as pd

    sources = _Sources()
    cells, words = _placed(content, across)
    reach = max((abs(c["value"]) for c in cells), default=1.0) or 1.0
    width = max([c["x2"] for c in cells] + [w["x"] for w in words]) + 0.05
    depth = max(c["y2"] for c in cells)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.05, width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[depth + 0.05, 0], nice=False))
    scale = alt.Scale(
        domain=[-reach, -reach / 2, 0, reach / 2, reach], range=list(DIVERGING), interpolate="rgb"
    )
    base = sources.chart(pd.DataFrame(cells))
    tiles = base.mark_rect(stroke=GREY, strokeWidth=0.8, cornerRadius=2).encode(
        x=x, x2="x2", y=y, y2="y2", color=alt.Color("value:Q", scale=scale, legend=None)
    )
    ink = alt.condition("datum.dark", alt.value("white"), alt.value("#1a1a1a"))
    numbers = base.mark_text(fontSize=13, fontWeight=600).encode(
        x=alt.X("cx:Q", axis=None), y=alt.Y("cy:Q", axis=None), text="text:N", color=ink
    )
    said = sources.chart(pd.DataFrame(words)).encode(x=x, y=y, text="text:N")
    captions = said.transform_filter(alt.datum.kind == "caption").mark_text(
        align="left", baseline="middle", fontSize=12, color=GREY
    )
    between = said.transform_filter(alt.datum.kind == "between").mark_text(
        fontSize=13, fontWeight=600, color=ORANGE, lineBreak="\n"
    )
    table = pd.DataFrame([{"table": s.caption, "numbers": _written(s.values)} for s in content])
    return _figure(
        alt.layer(tiles, numbers, captions, between), sources, title, sentence, badge, table,
        height=round(38 * depth),
    )  # fmt: skip


def _placed(
    content: Sequence[Stage], across: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Tiles and words with their places; the unit is one tile."""
    reach = max(float(np.abs(s.values).max()) for s in content) or 1.0
    cells: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    first = _GAP if len(content) > across else 0.0  # in line with what follows an operation
    top, left, lowest = 0.0, first, 0.0
    for k, stage in enumerate(content):
        if k and k % across == 0:
            top, left = lowest + 0.35, 0.0
        rows, columns = stage.values.shape
        if stage.before:
            words.append({"kind": "between", "x": left + _GAP / 2, "y": top + _ABOVE + 1,
                          "text": stage.before})  # fmt: skip
            left += _GAP
        words.append({"kind": "caption", "x": left, "y": top + _ABOVE / 2, "text": stage.caption})
        for (i, j), value in np.ndenumerate(stage.values):
            cells += [_tile(float(value), left + j, top + _ABOVE + i, reach)]
        left += columns
        lowest = max(lowest, top + _ABOVE + rows)
    return cells, words


def _tile(value: float, x: float, y: float, reach: float) -> dict[str, Any]:
    return {
        "x": x, "x2": x + 1, "y": y, "y2": y + 1, "cx": x + 0.5, "cy": y + 0.5, "value": value,
        "text": short(value), "dark": abs(value) > 0.72 * reach,
    }  # fmt: skip


def short(value: float) -> str:
    """Write a number in at most five signs or so."""
    if abs(value) < 5e-3:
        return "0"
    if abs(value) >= 100 or abs(value - round(value)) < 5e-3:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


def _written(values: FloatArray) -> str:
    return "; ".join("  ".join(f"{v:.6g}" for v in row) for row in values.tolist())


# -- noise -----------------------------------------------------------------------------------------


def cloud(draws: FloatArray, covariance: FloatArray, *, sentence: str) -> Figure:
    """Draw pairs of residual entries that are noise only, with the ellipse that holds 95 %.

    Shapes:
        draws: (m, 2). covariance: (2, 2), the theory's.
    """
    import altair as alt
    import pandas as pd

    sources = _Sources()
    angles = np.linspace(0, 2 * math.pi, 73)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    edge = (np.linalg.cholesky(covariance) @ circle * math.sqrt(-2 * math.log(0.05))).T
    reach = float(np.abs(np.concatenate([draws, edge])).max()) * 1.05
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = _axis(grid=True, gridOpacity=0.25, format="~s", tickCount=5)
    x = alt.X("x:Q", title="entry 1 (value 2 less value 1)", scale=scale, axis=axis)
    y = alt.Y("y:Q", title="entry 2", scale=scale, axis=axis)
    points = sources.chart(pd.DataFrame(draws, columns=["x", "y"]))
    ring = sources.chart(pd.DataFrame(edge, columns=["x", "y"]).assign(k=range(len(edge))))
    layers = [
        points.mark_circle(color=BLUE, opacity=0.45, size=26).encode(x=x, y=y),
        ring.mark_line(color=ORANGE, strokeWidth=2.5, strokeDash=[6, 3]).encode(
            x=x, y=y, order="k:Q"
        ),
    ]
    found = np.cov(draws.T)
    table = pd.DataFrame(
        {
            "": ["variance of entry 1", "variance of entry 2", "covariance"],
            "theory, σ²V": [covariance[0, 0], covariance[1, 1], covariance[0, 1]],
            "in these draws": [found[0, 0], found[1, 1], found[0, 1]],
        }
    )
    return _figure(
        alt.layer(*layers), sources, "Noise in two entries", sentence, "public", table, height=300
    )


# -- water filling ---------------------------------------------------------------------------------


def vessels(frame: pd.DataFrame, *, level: float, budget: float) -> Figure:
    """Draw the plan as water in vessels.

    Args:
        frame: One row a residual: label, width, bottom, top (heights), known, added, share.
        level: Height of the water.
        budget: C, the water poured in.
    """
    import altair as alt
    import pandas as pd

    sources = _Sources()
    right = np.cumsum(frame["width"].to_numpy(dtype=float))
    data = frame.assign(
        x=right - frame["width"], x2=right, name=distinct(frame["label"], longest=14), zero=0.0,
        middle=right - frame["width"] / 2, wet=frame["top"] > frame["bottom"] + 1e-12,
        text=[percent(s) if s > 0 else "dry" for s in frame["share"]],
    )  # fmt: skip
    ceiling = max(float(frame["bottom"].max()), level) * 1.18 + 1e-9
    x_scale = alt.Scale(domain=[0, float(right[-1])], nice=False)
    y_scale = alt.Scale(domain=[0, ceiling], nice=False)
    no_labels = _axis(labels=False, ticks=False)
    x = alt.X("x:Q", title="width: cost of one unit of height", axis=no_labels, scale=x_scale)
    y_axis = _axis(format="~g", grid=True, gridOpacity=0.2, tickCount=5)
    title = "height: precision ÷ r"
    y = alt.Y("zero:Q", title=title, scale=y_scale, axis=y_axis)
    tooltip = [
        alt.Tooltip("name:N", title="residual"),
        alt.Tooltip("known:Q", title="known precision", format=".3g"),
        alt.Tooltip("added:Q", title="added", format=".3g"),
        alt.Tooltip("share:Q", title="share of the budget", format=".1%"),
    ]
    colour = alt.Color(
        "what:N", title=None, legend=_legend(),
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
    return _figure(
        alt.layer(*layers), sources, "Budget as water", sentence, "public", table, height=300
    )


# -- choosing --------------------------------------------------------------------------------------


def chances(frame: pd.DataFrame, *, epsilon: float) -> Figure:
    """Draw the exponential mechanism's chances.

    Args:
        frame: label, score and probability.
        epsilon: What it spends.
    """
    import altair as alt

    sources = _Sources()
    data = frame.assign(
        name=distinct(frame["label"]),
        text=[percent(p) for p in frame["probability"]],
        best=["the worst known" if s == frame["score"].max() else "others" for s in frame["score"]],
    )
    order = data["name"].tolist()
    y = alt.Y("name:N", title=None, sort=order, axis=_axis_above(),
              scale=alt.Scale(paddingInner=0.6))  # fmt: skip
    axis = _axis(format=".0%", grid=True, gridOpacity=0.25, tickCount=5)
    x = alt.X("probability:Q", title="chance", axis=axis, scale=alt.Scale(domain=[0, 1.12]))
    colour = alt.Color(
        "best:N", title=None, legend=_legend(),
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
    return _figure(
        alt.layer(*layers), sources, "Who is chosen?", sentence, "public", table,
        height=42 * len(order),
    )  # fmt: skip


# -- rounds ----------------------------------------------------------------------------------------


def work(frame: pd.DataFrame) -> Figure:
    """Draw cells rewritten in each round, lazily, beside what a full update would rewrite.

    Args:
        frame: round, lazy and full (cells).
    """
    import altair as alt

    sources = _Sources()
    long = frame.melt(id_vars="round", value_vars=["lazy", "full"], var_name="how",
                      value_name="cells")  # fmt: skip
    x = alt.X("round:O", title="round", axis=_axis(labelAngle=0, labelOverlap=True))
    y = alt.Y("cells:Q", title="cells rewritten",
              axis=_axis(format="~s", grid=True, gridOpacity=0.25, tickCount=5))  # fmt: skip
    names = ["lazy: rewritten", "full: all of them"]
    colour = alt.Color(
        "name:N", title=None, legend=_legend(),
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
    return _figure(
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

    sources = _Sources()
    across = 24 if len(frame) > 60 else 12
    data = frame.assign(
        x=[k % across for k in range(len(frame))], y=[k // across for k in range(len(frame))],
        name=distinct(frame["label"], longest=60),
        state=np.where(frame["holds"], "rewritten", "left alone"),
    )  # fmt: skip
    colour = alt.Color(
        "state:N", title=None, legend=_legend(),
        scale=alt.Scale(domain=["rewritten", "left alone"], range=[BLUE, "#80808040"]),
    )  # fmt: skip
    base = sources.chart(data).encode(
        x=alt.X("x:O", title="the tables, in order", axis=_axis(labels=False, ticks=False)),
        y=alt.Y("y:O", title=None, axis=None),
        tooltip=[alt.Tooltip("name:N", title="table"), alt.Tooltip("state:N", title="is")],
    )
    squares = base.mark_rect(stroke=GREY, strokeWidth=1).encode(color=colour)
    marks = base.transform_filter(alt.datum.holds).mark_point(
        shape="diamond", filled=True, color="white", size=26, opacity=1
    )
    table = frame.set_axis(["table", "rewritten"], axis=1)
    return _figure(
        alt.layer(squares, marks), sources, "Which tables hold this residual?", sentence, "public",
        table, height=24 * (int(data["y"].max()) + 1) + 4,
    )  # fmt: skip


def annealing(frame: pd.DataFrame) -> Figure:
    """Draw how far each round moved its answer, beside what noise alone moves it.

    Args:
        frame: round, change, threshold (records), annealed and sigma.
    """
    import altair as alt

    sources = _Sources()
    state = np.where(
        frame["last"], "last round", np.where(frame["annealed"], "no more than noise: budget × 4",
                                              "more than noise: go on")
    )  # fmt: skip
    names = ["more than noise: go on", "no more than noise: budget × 4", "last round"]
    x = alt.X("round:O", title="round", axis=_axis(labelAngle=0, labelOverlap=True))
    scale = alt.Scale(type="log", nice=False, padding=12)
    axis = _axis(format="~s", grid=True, gridOpacity=0.25, tickCount=5)
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
    shape = alt.Shape("state:N", title=None, legend=_legend(columns=1), scale=shapes)
    colour = alt.Color("state:N", title=None, legend=_legend(columns=1),
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
    return _figure(
        alt.layer(*layers), sources, "When does a round get more?", sentence, "released", table,
        height=260,
    )  # fmt: skip


# -- below zero ------------------------------------------------------------------------------------


def below_zero(frame: pd.DataFrame, *, sentence: str) -> Figure:
    """Draw noisy counts of one draw with the true ones.

    Args:
        frame: label, true and noisy.
        sentence: What is to be seen.
    """
    import altair as alt

    sources = _Sources()
    data = frame.assign(
        name=distinct(frame["label"], longest=20),
        state=np.where(frame["noisy"] < 0, "below zero", "noisy count"),
    )
    names = ["noisy count", "below zero", "true count"]
    y = alt.Y("name:N", title=None, sort=data["name"].tolist(), axis=_axis(labelLimit=120))
    x = alt.X("noisy:Q", title="people", axis=_axis(format="~g", grid=True, gridOpacity=0.25))
    colour = alt.Color("state:N", title=None, legend=_legend(),
                       scale=alt.Scale(domain=names, range=[SKY, ORANGE, RED]))  # fmt: skip
    base = sources.chart(data)
    truth = sources.chart(data.assign(state="true count"))
    tooltip = [
        alt.Tooltip("name:N", title="value"),
        alt.Tooltip("noisy:Q", title="noisy", format=",.2f"),
        alt.Tooltip("true:Q", title="true", format=","),
    ]
    layers = [
        base.mark_bar(height=16).encode(x=x, y=y, color=colour, tooltip=tooltip),
        truth.mark_point(shape="diamond", filled=True, size=80, opacity=1).encode(
            x=alt.X("true:Q", title="people"), y=y, color=colour, tooltip=tooltip
        ),
    ]
    table = frame[["label", "true", "noisy", "clipped"]].set_axis(
        ["value", "true", "noisy", "cut off at zero"], axis=1
    )
    return _figure(
        alt.layer(*layers), sources, "One draw", sentence, "public", table,
        height=30 * len(frame),
    )  # fmt: skip


def bias(frame: pd.DataFrame, *, sentence: str) -> Figure:
    """Draw the sums of many draws: as they are, and with what is below zero cut off.

    Args:
        frame: sum and how.
        sentence: What is to be seen.
    """
    import altair as alt
    import pandas as pd

    sources = _Sources()
    names = ["as measured", "cut off at zero"]
    truth = float(frame.attrs["true"])
    colour = alt.Color("how:N", title=None, legend=_legend(),
                       scale=alt.Scale(domain=names, range=[SKY, ORANGE]))  # fmt: skip
    y = alt.Y("how:N", title=None, sort=names, axis=_axis_above(),
              scale=alt.Scale(paddingInner=0.6))  # fmt: skip
    axis = _axis(format="~g", grid=True, gridOpacity=0.25)
    x = alt.X("sum:Q", title="sum of all values in one draw (people)", axis=axis,
              scale=alt.Scale(zero=False))  # fmt: skip
    base = sources.chart(frame)
    means = frame.groupby("how", sort=False)["sum"].mean().reset_index()
    rule = sources.chart(pd.DataFrame({"sum": [truth]}))
    layers = [
        base.mark_tick(opacity=0.35, thickness=1.2, height=18).encode(x=x, y=y, color=colour),
        rule.mark_rule(color=RED, strokeDash=[5, 4], strokeWidth=2).encode(x=x),
        sources.chart(means).mark_point(
            shape="diamond", filled=True, size=140, opacity=1, stroke="#1a1a1a", strokeWidth=1
        ).encode(x=x, y=y, color=colour),
    ]  # fmt: skip
    table = means.assign(true=truth).set_axis(["", "mean of the sums", "true sum"], axis=1)
    return _figure(
        alt.layer(*layers), sources, "Sums, over many draws", sentence, "public", table, height=110
    )
