"""Pictures of what a round does: pour water, choose, rewrite, grow its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.figure import Figure, columns, drawn
from engine.showing.guides import (
    SHORT,
    as_part,
    axis_above,
    axis_with,
    legend_with,
    light_grid,
    scale_of,
    source,
    tips,
)
from engine.showing.palette import BLUE, GREY, INK, ORANGE, RED, SKY, STEEL
from engine.showing.sentences import percent
from engine.showing.template import form, slots
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd

# -- water filling ---------------------------------------------------------------------------------


def vessels(frame: pd.DataFrame, *, level: float, budget: float, pick: bool = False) -> Figure:
    """Draw the plan as water in vessels.

    Args:
        frame: One row a residual: label, width, bottom, top (heights), known, added, share.
        level: Height of the water.
        budget: C, the water poured in.
        pick: Whether vessels can be clicked on (parameter ``pick``, field place).
    """
    width = frame["width"].to_numpy(dtype=float)
    bottom, top = (frame[name].to_numpy(dtype=float) for name in ("bottom", "top"))
    share = frame["share"].to_numpy(dtype=float)
    right, wet = np.cumsum(width), top > bottom + 1e-12
    shown = columns(
        len(frame), place=range(len(frame)), x=right - width, x2=right,
        middle=right - width / 2, zero=0.0, bottom=bottom,
        top=top, name=distinct(frame["label"], longest=14), wet=wet, known=frame["known"],
        added=frame["added"], share=share, width=width, isotropic=frame["isotropic"],
        text=[percent(s) if s > 0 else "dry" for s in share.tolist()],
    )  # fmt: skip
    sentence = (
        f"The water stands at {level:.4g}. {int(wet.sum())} of {len(frame)} vessels hold some; "
        f"their water adds up to the budget, {float(share.sum()) * budget:.6g}."
    )

    def table() -> pd.DataFrame:
        return frame[["label", "known", "added", "share", "isotropic"]].set_axis(
            ["residual", "precision before", "added by CRP", "share of the budget",
             "added by equal noise"],
            axis=1,
        )  # fmt: skip

    return drawn(
        _vessels(many=len(frame) > 4, pick=pick), title="Budget as water",
        sentence=sentence, of=[frame], table=table, height=300, across=[0.0, float(right[-1])],
        down=[0.0, max(float(bottom.max()), level) * 1.18 + 1e-9],
        data={"vessels": shown, "level": {"zero": [level], "text": [f"level {level:.3g}"]}},
    )  # fmt: skip


@form
def _vessels(*, many: bool, pick: bool) -> Any:
    # Long: one picture, layer by layer.
    import altair as alt

    across = alt.Scale(domain=slots("across"), nice=False)
    down = alt.Scale(domain=slots("down"), nice=False)
    title = "height: precision ÷ r"
    x = alt.X("x:Q", title="width: cost of one unit of height", scale=across,
              axis=axis_with(labels=False, ticks=False))  # fmt: skip
    y = alt.Y("zero:Q", title=title, scale=down,
              axis=axis_with(format="~g", grid=True, gridOpacity=0.2, tickCount=5))  # fmt: skip
    middle = alt.X("middle:Q", scale=across)
    tooltip = tips(
        name=("residual", None), known=("known precision", ".3g"), added=("added", ".3g"),
        share=("share of the budget", ".1%"),
    )  # fmt: skip
    kinds = ["known before", "poured in now"]
    looks = scale_of(kinds, [STEEL, SKY])

    base, level = source("vessels"), source("level")
    boxes = base.mark_rect(cursor="pointer" if pick else "default")
    boxes = boxes.encode(x=x, x2="x2", tooltip=tooltip)
    share = base.transform_filter(alt.datum.wet).mark_text(
        baseline="top", dy=5, fontSize=10 if many else 12, color=INK
    )
    said = level.mark_text(
        color=RED, align="right", baseline="bottom", dy=-4, fontSize=13, fontWeight=600
    )
    name = base.mark_text(
        baseline="bottom", dy=-4, fontSize=13, fontWeight=600, color=INK,
        angle=270 if many else 0, align="left" if many else "center",
    )  # fmt: skip
    water = alt.Y("bottom:Q", title=title, scale=down)
    whole = []
    if pick:  # a click anywhere in a vessel: a pane over all of its height
        pane = base.mark_rect(opacity=0, cursor="pointer").encode(x=x, x2="x2", tooltip=tooltip)
        point = alt.selection_point(name="pick", fields=["place"], empty=False)
        whole = [pane.encode(y=alt.value(0), y2=alt.value("height")).add_params(point)]
    return alt.layer(
        as_part(boxes.encode(y=y, y2="bottom"), kinds[0], looks),
        as_part(boxes.encode(y=water, y2="top"), kinds[1], looks),
        base.mark_rule(color=GREY, strokeWidth=2).encode(x=alt.X("x2:Q", scale=across)),
        share.encode(x=middle, y=alt.Y("top:Q", scale=down), text="text:N"),
        level.mark_rule(color=RED, strokeWidth=2.5, strokeDash=[6, 4]).encode(y=y),
        said.encode(x=alt.value("width"), y=y, text="text:N"),
        name.encode(x=middle, y=alt.Y("zero:Q", scale=down), text="name:N"),
        *whole,
    )


# -- choosing --------------------------------------------------------------------------------------


def chances(frame: pd.DataFrame, *, epsilon: float) -> Figure:
    """Draw the exponential mechanism's chances.

    Args:
        frame: label, score and probability.
        epsilon: What it spends.
    """
    names = distinct(frame["label"])
    score, probability = frame["score"].to_numpy(), frame["probability"].tolist()
    shown = columns(
        len(frame), name=names, score=score, probability=probability,
        text=[percent(p) for p in probability],
        best=np.where(score == score.max(), _WORST[0], _WORST[1]),
    )  # fmt: skip
    top = frame.iloc[int(score.argmax())]
    sentence = (
        f"With ε = {epsilon:.3g} the table known worst, {top['label']}, is chosen with a chance of "
        f"{percent(float(top['probability']))}; pure chance would be {percent(1 / len(frame))}."
    )

    def table() -> pd.DataFrame:
        kept = frame[["label", "score", "probability"]]
        return kept.set_axis(["table", "score", "chance"], axis=1)

    return drawn(
        _chances(), title="Who is chosen?", sentence=sentence, of=[frame], table=table,
        height=42 * len(names), data={"tables": shown}, order=names,
    )  # fmt: skip


_WORST = ["the worst known", "others"]


@form
def _chances() -> Any:
    import altair as alt

    y = alt.Y("name:N", title=None, sort=slots("order"), axis=axis_above(),
              scale=alt.Scale(paddingInner=0.6))  # fmt: skip
    axis = light_grid(format=".0%", tickCount=5)
    x = alt.X("probability:Q", title="chance", axis=axis, scale=alt.Scale(domain=[0, 1.12]))
    colour = alt.Color(
        "best:N", title=None, legend=legend_with(), scale=scale_of(_WORST, [BLUE, SKY])
    )
    tooltip = tips(name=("table", None), score=("score", ",.4g"), probability=("chance", ".2%"))
    base = source("tables").encode(x=x, y=y)
    text = base.mark_text(align="left", dx=5, fontSize=13, fontWeight=600, color=GREY)
    bars = base.mark_bar(height=16).encode(color=colour, tooltip=tooltip)
    return alt.layer(bars, text.encode(text="text:N"))


# -- rewriting -------------------------------------------------------------------------------------


def work(frame: pd.DataFrame) -> Figure:
    """Draw cells rewritten in each round, lazily, beside what a full update would rewrite.

    Args:
        frame: round, lazy and full (cells).
    """
    lazy, full = int(frame["lazy"].sum()), int(frame["full"].sum())
    sentence = (
        f"In {len(frame)} rounds the lazy update rewrote {lazy:,} cells, a full one {full:,}: "
        f"{percent(lazy / full)}."
    )
    return drawn(
        _work(), title="Work in each round", sentence=sentence, of=[frame],
        table=lambda: frame.set_axis(
            ["round", "rewritten lazily", "rewritten by a full update"], axis=1
        ),
        height=230,
        data={"rounds": columns(len(frame), **{name: frame[name] for name in _WORK})},
    )  # fmt: skip


_WORK = ("round", "lazy", "full")


@form
def _work() -> Any:
    import altair as alt

    x = alt.X("round:O", title="round", axis=axis_with(labelAngle=0, labelOverlap=True))
    axis = light_grid(**SHORT, tickCount=5)
    names = ["lazy: rewritten", "full: all of them"]
    looks = scale_of(names, [BLUE, ORANGE])
    tooltip = [
        alt.Tooltip("round:O", title="round"),
        *tips(lazy=("lazy: cells", ","), full=("full: cells", ",")),
    ]
    base = source("rounds").encode(x=x, tooltip=tooltip)

    marks = (base.mark_bar(), base.mark_tick(thickness=3))
    cells = [alt.Y(f"{field}:Q", title="cells rewritten", axis=axis) for field in _WORK[1:]]
    return alt.layer(
        *(as_part(marks[k].encode(y=cells[k]), names[k], looks) for k in range(len(names)))
    )


def members(frame: pd.DataFrame, *, sentence: str) -> Figure:
    """Draw all tables of a workload, and which of them hold a residual.

    Args:
        frame: label and holds.
        sentence: What is to be seen.
    """
    count = len(frame)
    across = 24 if count > 60 else 12
    holds = frame["holds"].tolist()
    shown = columns(
        count, x=[k % across for k in range(count)], y=[k // across for k in range(count)],
        name=distinct(frame["label"], longest=60), holds=holds,
        state=[_HELD[0] if held else _HELD[1] for held in holds],
    )  # fmt: skip
    return drawn(
        _members(), title="Which tables hold this residual?", sentence=sentence, of=[frame],
        table=lambda: frame.set_axis(["table", "rewritten"], axis=1),
        height=24 * ((count - 1) // across + 1) + 4, data={"tables": shown},
    )  # fmt: skip


_HELD = ["rewritten", "left alone"]


@form
def _members() -> Any:
    import altair as alt

    colour = alt.Color(
        "state:N", title=None, legend=legend_with(), scale=scale_of(_HELD, [BLUE, "#80808040"])
    )
    base = source("tables").encode(
        x=alt.X("x:O", title="the tables, in order", axis=axis_with(labels=False, ticks=False)),
        y=alt.Y("y:O", title=None, axis=None),
        tooltip=tips(name=("table", None), state=("is", None)),
    )
    marks = base.transform_filter(alt.datum.holds).mark_point(
        shape="diamond", filled=True, color="white", size=26, opacity=1
    )
    return alt.layer(base.mark_rect(stroke=GREY, strokeWidth=1).encode(color=colour), marks)


# -- a round's budget ------------------------------------------------------------------------------


def annealing(frame: pd.DataFrame) -> Figure:
    """Draw how far each round moved its answer, beside what noise alone moves it.

    Args:
        frame: round, change, threshold (records), annealed, last and sigma.
    """
    state = np.where(frame["last"], _NEXT[2], np.where(frame["annealed"], _NEXT[1], _NEXT[0]))
    kept = ("round", "change", "threshold", "sigma", "annealed", "last")
    sigma = frame["sigma"].tolist()
    sentence = (
        f"In {int(frame['annealed'].sum())} of {len(frame)} rounds the answer moved no further "
        "than noise moves it (red tick), and the budget of a round grew fourfold; σ went from "
        f"{sigma[0]:.3g} to {sigma[-1]:.3g} records."
    )
    return drawn(
        _annealing(), title="When does a round get more?", sentence=sentence, of=[frame],
        table=lambda: frame[[*kept[:5]]].set_axis(
            ["round", "moved (records)", "noise alone", "σ", "budget × 4 after it"], axis=1
        ),
        height=260,
        data={"rounds": columns(len(frame), state=state, **{name: frame[name] for name in kept})},
    )  # fmt: skip


_NEXT = ["more than noise: go on", "no more than noise: budget × 4", "last round"]


@form
def _annealing() -> Any:
    import altair as alt

    title = "records, L1 (log)"
    scale = alt.Scale(type="log", nice=False, padding=12)
    axis = light_grid(**SHORT, tickCount=5)
    x = alt.X("round:O", title="round", axis=axis_with(labelAngle=0, labelOverlap=True))
    y = alt.Y("change:Q", title=title, scale=scale, axis=axis)
    tooltip = [
        alt.Tooltip("round:O", title="round"),
        *tips(
            change=("moved", ",.1f"), threshold=("noise alone", ",.1f"),
            sigma=("σ of the round", ",.3g"), state=("so", None),
        ),
    ]  # fmt: skip
    legend = legend_with(columns=1)
    shape = alt.Shape(
        "state:N", title=None, legend=legend,
        scale=scale_of(_NEXT, ["circle", "triangle-up", "square"]),
    )  # fmt: skip
    colour = alt.Color(
        "state:N", title=None, legend=legend, scale=scale_of(_NEXT, [BLUE, ORANGE, GREY])
    )
    base = source("rounds").encode(x=x)
    noise = base.mark_tick(color=RED, thickness=2.5, width=22)
    points = base.mark_point(filled=True, size=110, opacity=1)
    return alt.layer(
        base.mark_rule(color=GREY, opacity=0.4).encode(y=y, y2="threshold"),
        noise.encode(y=alt.Y("threshold:Q", title=title, scale=scale, axis=axis)),
        points.encode(y=y, color=colour, shape=shape, tooltip=tooltip),
    )
