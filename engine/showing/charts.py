"""Every chart of the explorer, described once for pages, notebooks and reports.

A chart comes as a ``Figure``: the Altair description, a sentence that says what it shows, a badge
that says whether it may be seen outside, and the table behind it. Colours are Okabe and Ito's, so
that no reading rests on telling red from green; shapes, heights or dashes repeat what colour says.
Altair is imported when the first chart is made.
"""

from __future__ import annotations

import json
import math
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from engine.showing import pictures
from engine.showing.views import POINTS, percent

if TYPE_CHECKING:
    import pandas as pd

Scale = Literal["linear", "symlog", "log"]
Badge = Literal["released", "public", "not private (never released)"]
NOT_PRIVATE: Badge = "not private (never released)"

BLUE, SKY, ORANGE, GREEN, RED, PINK = (
    "#1F82C4", "#56B4E9", "#E69F00", "#009E73", "#D55E00", "#CC79A7",
)  # fmt: skip
GREY = "#808080"
"""Readable on white and on near-black alike."""
DIVERGING = ("#1B4F9C", "#6FA3D8", "#F2F0EB", "#F0A860", "#B35806")
"""Blue to orange; its middle stands for zero."""

_MARKS = {"released": "●", "public": "■", NOT_PRIVATE: "▲"}
_BADGE_COLOURS = {"released": GREEN, "public": "#2E86C1", NOT_PRIVATE: RED}
_LONGEST = 32
_ZERO_WIDTH = "\u200b"


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A chart with what it needs to be understood without seeing it.

    Args:
        title: A few words.
        chart: The Altair chart.
        alt: One sentence that says what is to be seen.
        badge: Whether it may be seen outside.
        frame: The numbers, with column names for people; texts in it are as users wrote them.
    """

    title: str
    chart: Any
    alt: str
    badge: Badge
    frame: pd.DataFrame

    @property
    def private(self) -> bool:
        """Whether true values can be read from it."""
        return self.badge == NOT_PRIVATE

    def spec(self) -> dict[str, Any]:
        """Return the Vega-Lite description, not checked against its schema.

        The check is most of the time a chart takes; the tests make it for every kind of chart.
        """
        bare = self.chart.copy(deep=False)
        bare.datasets = {}
        content: dict[str, Any] = bare.to_dict(validate=False)
        return {**content, "datasets": self.chart.datasets}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return pictures.mimebundle(self)


# -- users' texts ---------------------------------------------------------------------------------


def safe(text: str, *, longest: int = _LONGEST) -> str:
    """Make a user's text harmless as a label in Vega.

    Line breaks become spaces, long texts end in an ellipsis, and a zero-width space in front keeps
    texts such as ``constructor`` from being taken for a name in JavaScript.
    """
    line = " ".join(str(text).split()) or "(no name)"
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    if any(unicodedata.bidirectional(character) in ("R", "AL") for character in line):
        line = (
            f"\u2068{line}\u2069"  # isolated, so that it does not turn around what stands beside it
        )
    return _ZERO_WIDTH + line


def distinct(texts: Iterable[str], *, longest: int = _LONGEST) -> list[str]:
    """Make texts safe and keep different ones different, numbered where shortening joined them."""
    seen: dict[str, int] = {}
    labels = []
    for text in texts:
        label = safe(text, longest=longest)
        seen[label] = seen.get(label, 0) + 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels


# -- the budget ------------------------------------------------------------------------------------


def ledger(frame: pd.DataFrame, *, at: int) -> Figure:
    """Draw ``views.budget``: a bar whose segments add up, to one scale with what is left."""
    import altair as alt

    sources = _Sources()
    data = frame.assign(
        name=["not spent" if p == "left" else f"{p}" for p in frame["part"]],
        opacity=[1.0 if r in (at, -1) else 0.55 for r in frame["round"]],
        when=[_when(r) for r in frame["round"]],
    )
    x = alt.X("start:Q", title="budget in ρ (zCDP)", axis=_axis(format="~g", tickCount=5))
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
        legend=_legend(),
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
        f"{percent(spent / total)} of the budget ρ = {total:.6g} is spent {_after(at)}; "
        "segments and what is left add up to the total."
    )
    table = data[["when", "name", "rho", "exact"]].set_axis(
        ["when", "for", "ρ", "ρ as an exact fraction"], axis=1
    )
    return _figure(
        alt.layer(*layers), sources, "Privacy budget spent", sentence, "released", table, height=64
    )


def _when(number: int) -> str:
    return {0: "before round 1", -1: "left"}.get(number, f"round {number}")


def _after(number: int) -> str:
    return "before the first round" if number == 0 else f"after round {number}"


# -- one round -------------------------------------------------------------------------------------


def selection(frame: pd.DataFrame, *, others: int, others_probability: float) -> Figure:
    """Draw ``views.selection``: how wrong each candidate looked, less what noise would leave."""
    import altair as alt

    sources = _Sources()
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
    y = alt.Y("row:N", title=None, sort=order, scale=scale, axis=_axis_above())
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(
            domain=["error term", "less the noise term", "score"], range=[SKY, ORANGE, RED]
        ),
        legend=_legend(),
    )
    x = alt.X("from:Q", title="weighted L1 error (records × weight)", axis=_axis(format="~s"))
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
    return _figure(
        alt.layer(wide, thin, score),
        sources,
        "Which marginal is worst?",
        sentence,
        NOT_PRIVATE,
        table,
        height=height,
    )


def lattice(frame: pd.DataFrame, *, title: str = "What the round paid for") -> Figure:
    """Draw ``views.allocation``: subsets by size, joined where one holds the other.

    A disc's area grows with the precision after the round, on a log scale; the ring inside is the
    precision before.
    """
    import altair as alt
    import pandas as pd

    sources = _Sources()
    letters = int(frame["degree"].max()) > 3
    keys = _keys(frame) if letters else {}
    nodes = frame.assign(
        x=[(p + 0.5) / n for p, n in zip(frame["place"], frame["places"], strict=True)],
        name=[_node(names, keys) for names in frame["names"]],
        full=distinct(frame["label"], longest=60),
        state=np.where(frame["added"] > 0, "measured now", "known before"),
        sigma=[_sigma_text(s) for s in frame["sigma_now"]],
        before=[_sigma_text(s) for s in frame["sigma_before"]],
    )
    sizes = _areas(nodes)
    nodes = nodes.assign(area=sizes["after"], ring=sizes["known"])
    edges = pd.DataFrame(_edges(nodes), columns=["x", "y", "x2", "y2"])
    top = int(frame["degree"].max())
    y_scale = alt.Scale(domain=[top + 0.55, -0.5])
    axis = _axis(values=list(range(top + 1)), format="d", grid=False)
    y_title = "attributes in the residual"
    y = alt.Y("degree:Q", title=y_title, scale=y_scale, axis=axis)
    x = alt.X("x:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1]))
    tooltip = [
        alt.Tooltip("full:N", title="residual"),
        alt.Tooltip("before:N", title="σ before"),
        alt.Tooltip("sigma:N", title="σ now"),
        alt.Tooltip("share:Q", title="share of the round", format=".1%"),
    ]
    lines = (
        sources.chart(edges)
        .mark_rule(color=GREY, opacity=0.45)
        .encode(
            x, alt.X2("x2"), alt.Y("y:Q", title=y_title, scale=y_scale, axis=axis), alt.Y2("y2")
        )
    )
    colour = alt.Color(
        "state:N",
        title=None,
        scale=alt.Scale(domain=["measured now", "known before"], range=[SKY, "#A0A0A0"]),
        legend=_legend(),
    )
    area = alt.Size("area:Q", scale=None, legend=None)
    base = sources.chart(nodes)
    discs = base.mark_circle(opacity=1, stroke=GREY, strokeWidth=0.5).encode(
        x=x, y=y, size=area, color=colour, tooltip=tooltip
    )
    rings = (
        base.transform_filter(alt.datum.ring > 0)
        .mark_point(filled=False, color="#1a1a1a", strokeWidth=1.8, opacity=1)
        .encode(x=x, y=y, size=alt.Size("ring:Q", scale=None), tooltip=tooltip)
    )
    # Mid-grey is legible on a light and on a dark page.
    text = {"color": GREY, "fontSize": 12, "baseline": "top"}
    names = base.mark_text(dy=24, fontWeight=600, lineBreak="\n", **text).encode(
        x=x, y=y, text=alt.Text("name:N")
    )
    sigmas = base.mark_text(dy=-36, **text).encode(x=x, y=y, text=alt.Text("sigma:N"))
    bought = frame[frame["added"] > 0]
    sentence = (
        f"{len(bought)} of {len(frame)} residuals were measured in this round. "
        "Disc: precision after the round; ring: precision before; both on a log scale."
    )
    if keys:
        sentence += " " + ", ".join(f"{v} = {k}" for k, v in keys.items()) + "."
    table = _allocation_table(frame)
    return _figure(
        alt.layer(lines, discs, rings, names, sigmas),
        sources,
        title,
        sentence,
        "released",
        table,
        height=118 * (top + 1) + 10,
    )


def _keys(frame: pd.DataFrame) -> dict[str, str]:
    names = max(frame["names"], key=len)
    return {name: chr(ord("A") + k) for k, name in enumerate(names)}


def _node(names: tuple[str, ...], keys: dict[str, str]) -> str:
    if not names:
        return "total"
    if keys:
        return "·".join(keys[name] for name in names)
    return "\n".join(
        ("" if k == 0 else "× ") + safe(name, longest=15) for k, name in enumerate(names)
    )


def _sigma_text(sigma: float) -> str:
    return f"σ {sigma:,.3g}" if math.isfinite(sigma) else "not measured"


def _areas(frame: pd.DataFrame) -> dict[str, list[float]]:
    """Areas in square pixels, growing with log precision; 0 where nothing is known."""
    known = np.concatenate([frame["known"], frame["after"]])
    positive = known[known > 0]
    if not len(positive):
        return {"known": [0.0] * len(frame), "after": [20.0] * len(frame)}
    low, high = math.log(positive.min()), math.log(positive.max())
    span = max(high - low, 1e-9)

    def area(precision: float) -> float:
        return 120 + 1180 * (math.log(precision) - low) / span if precision > 0 else 0.0

    return {
        "known": [area(p) for p in frame["known"]],
        "after": [max(area(p), 20.0) for p in frame["after"]],
    }


def _edges(nodes: pd.DataFrame) -> list[tuple[float, int, float, int]]:
    points = {
        names: (x, degree)
        for names, x, degree in zip(nodes["names"], nodes["x"], nodes["degree"], strict=True)
    }
    return [
        (*points[names], *points[smaller])
        for names in points
        for smaller in points
        if len(smaller) == len(names) - 1 and set(smaller) <= set(names)
    ]


def _allocation_table(frame: pd.DataFrame) -> pd.DataFrame:
    columns = ["label", "known", "added", "share", "sigma_before", "sigma_now", "sigma_equal"]
    return frame[columns].set_axis(
        ["residual", "precision before", "added", "share of the round", "σ before", "σ now",
         "σ if split equally"],
        axis=1,
    )  # fmt: skip


def measured(frame: pd.DataFrame) -> Figure:
    """Draw ``views.measured``: every measured value in units of its own noise."""
    import altair as alt
    import pandas as pd

    sources = _Sources()
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
    axis = _axis(values=values, format="~s", labelOverlap=True)
    band = (
        sources.chart(pd.DataFrame({"low": [-1.96], "high": [1.96]}))
        .mark_rect(color=GREY, opacity=0.25)
        .encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high"))
    )
    y = alt.Y(
        "row:N", title=None, sort=order, axis=_axis_above(), scale=alt.Scale(paddingInner=0.5)
    )
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(domain=["within ±1.96 σ", "beyond ±1.96 σ"], range=[GREY, BLUE]),
        legend=_legend(),
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
    return _figure(
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


def touched(frame: pd.DataFrame, names: Sequence[str], *, threshold: float | None) -> Figure:
    """Draw ``views.touched``: which answers a round changed, and how far."""
    sources = _Sources()
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
    return _figure(chart, sources, title, sentence, "released", table, height=height)


def _pair_grid(sources: _Sources, frame: pd.DataFrame, names: Sequence[str]) -> tuple[Any, int]:
    import altair as alt

    labels = distinct(names, longest=18)
    data = frame.assign(
        x=[labels[i] for i in frame["first"]],
        y=[labels[i] for i in frame["second"]],
        name=distinct(frame["label"], longest=60),
        state=_states(frame),
    )
    x = alt.X(
        "x:N", title="attribute", sort=labels[:-1], axis=_axis(labelAngle=-35, labelLimit=110)
    )
    y = alt.Y("y:N", title=None, sort=labels[1:], axis=_axis(labelLimit=120))
    base = sources.chart(data).encode(x=x, y=y, tooltip=_touched_tooltip())
    return alt.layer(*_squares(base)), 34 * (len(names) - 1) + 10


def _moved_bars(sources: _Sources, frame: pd.DataFrame, threshold: float | None) -> tuple[Any, int]:
    import altair as alt
    import pandas as pd

    names = distinct(frame["label"], longest=44)
    rows = [("◆ " if s else "") + n for n, s in zip(names, frame["selected"], strict=True)]
    data = frame.assign(row=rows, name=names, state=_states(frame))
    order = [r for _, r in sorted(zip(-frame["moved"], rows, strict=True), key=lambda p: p[0])]
    y = alt.Y(
        "row:N", title=None, sort=order, axis=_axis_above(), scale=alt.Scale(paddingInner=0.6)
    )
    colour = alt.Color(
        "state:N",
        title=None,
        scale=alt.Scale(domain=["rewritten", "untouched"], range=[BLUE, GREY]),
        legend=_legend(),
    )
    x = alt.X("moved:Q", title="how far the answer moved (L1, records)", axis=_axis(format="~s"))
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


def _tiles(sources: _Sources, frame: pd.DataFrame) -> tuple[Any, int]:
    import altair as alt

    across = 24
    data = frame.assign(
        x=[k % across for k in range(len(frame))],
        y=[k // across for k in range(len(frame))],
        name=distinct(frame["label"], longest=60),
        state=_states(frame),
    )
    axis = _axis(labels=False, grid=False)
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
        legend=_legend(format="~s", gradientLength=160, tickCount=4),
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


# -- one marginal ----------------------------------------------------------------------------------


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

    sources = _Sources()
    across, down = (0, 1) if frame["i0"].nunique() <= frame["i1"].nunique() else (1, 0)
    ticks = {k: _tick_labels(frame, k) for k in (0, 1)}
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
        axis=_axis(
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
        axis=_axis(
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
        legend=_legend(labelExpr="format(datum.value, '~s')", gradientLength=150, tickCount=4),
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
    return _figure(
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


def _tick_labels(frame: pd.DataFrame, k: int) -> list[str]:
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
    titles = [f"{name}{_ZERO_WIDTH * k}" for k, name in enumerate(names)]
    return frame[[*columns, column]].set_axis([*titles, f"{column.split('_')[0]} ({unit})"], axis=1)


def bars(frame: pd.DataFrame, name: str, *, title: str, scale: Scale = "linear") -> Figure:
    """Draw one attribute: released counts with ±1.96 σ, and true ones where the frame has them."""
    import altair as alt

    sources = _Sources()
    ticks = _tick_labels(frame, 0)
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
        legend=_legend(),
    )
    where = alt.X if long else alt.Y
    axis = _axis(labelAngle=-40, labelLimit=80) if long else _axis(labelLimit=120)
    category = where("row:N", title=safe(name), sort=ticks, axis=axis)
    value, second = (alt.Y, alt.Y2) if long else (alt.X, alt.X2)
    kind = alt.Scale(type="symlog" if scale == "symlog" else "linear")
    count = value(
        "released:Q", title="records", scale=kind, axis=_axis(format="~s", grid=True, tickCount=6)
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
    return _figure(alt.layer(*layers), sources, title, sentence, badge, table, height=height)


# -- the whole run ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Ghost:
    """Another run's ``views.errors``, to be drawn dashed beside this one's."""

    label: str
    frame: pd.DataFrame


def error_curve(
    frame: pd.DataFrame, *, at: int, normalized: bool = True, ghosts: Sequence[Ghost] = ()
) -> Figure:
    """Draw ``views.errors`` with a cursor at one round, and other runs' curves as ghosts."""
    import altair as alt

    sources = _Sources()
    unit = "mean L1 error ÷ N" if normalized else "mean L1 error (records)"
    last = int(max(f["round"].max() for f in (frame, *(g.frame for g in ghosts))))
    ticks = None if last > 20 else list(range(last + 1))
    axis = _axis(format="d", tickMinStep=1, **({} if ticks is None else {"values": ticks}))
    x = alt.X("round:Q", title="round", scale=alt.Scale(domain=[0, max(last, 1)]), axis=axis)
    y = alt.Y("error:Q", title=unit, scale=alt.Scale(zero=True), axis=_axis(format="~g", grid=True))
    tooltip = [
        alt.Tooltip("round:Q", title="round"),
        alt.Tooltip("error:Q", title=unit, format=".4g"),
    ]
    base = sources.chart(frame).encode(x=x, y=y, tooltip=tooltip)
    line = base.mark_line(color=BLUE, strokeWidth=2.5)
    points = base.mark_circle(color=BLUE, size=26 if last > 40 else 46, opacity=1)
    here = base.transform_filter(alt.datum.round == at)
    cursor = here.mark_rule(color=RED, strokeDash=[5, 4], strokeWidth=2).encode(
        x=x, y=alt.value(0), y2=alt.value("height")
    )
    dot = here.mark_point(color=RED, shape="diamond", size=150, filled=True, opacity=1)
    now = float(frame.loc[frame["round"] == at, "error"].iloc[0])
    first = float(frame["error"].iloc[0])
    sentence = f"The {unit} is {now:.3g} {_after(at)}; it was {first:.3g} before the first round."
    layers = [cursor, line, points, dot]
    if ghosts:
        layers.insert(0, _ghost_lines(sources, ghosts, x, y, unit))
        ends = (f"{g.label} ends at {g.frame['error'].iloc[-1]:.3g}" for g in ghosts)
        sentence += f" Dashed: {'; '.join(ends)}."
    return _figure(
        alt.layer(*layers), sources, "True error, round by round", sentence,
        NOT_PRIVATE, _error_table(frame, ghosts, unit), height=210,
    )  # fmt: skip


def _ghost_lines(sources: _Sources, ghosts: Sequence[Ghost], x: Any, y: Any, unit: str) -> Any:
    import altair as alt
    import pandas as pd

    labels = distinct((ghost.label for ghost in ghosts), longest=60)
    data = pd.concat([g.frame.assign(run=n) for g, n in zip(ghosts, labels, strict=True)])
    dashes = [[7, 4], [2, 3], [9, 3, 2, 3]]
    n = len(labels)
    kind = alt.Scale(domain=labels, range=[ORANGE, GREEN, PINK][:n])
    dash = alt.Scale(domain=labels, range=dashes[:n])
    legend = _legend(columns=1, labelLimit=320, symbolType="stroke", symbolSize=260)
    return (
        sources.chart(data)
        .mark_line(strokeWidth=2.2)
        .encode(
            x=x,
            y=y,
            color=alt.Color("run:N", title=None, scale=kind, legend=legend),
            strokeDash=alt.StrokeDash("run:N", title=None, scale=dash, legend=legend),
            tooltip=[
                alt.Tooltip("run:N", title="run"),
                alt.Tooltip("round:Q", title="round"),
                alt.Tooltip("error:Q", title=unit, format=".4g"),
            ],
        )
    )


def _error_table(frame: pd.DataFrame, ghosts: Sequence[Ghost], unit: str) -> pd.DataFrame:
    """One row a round, one column a run."""
    table = frame.set_index("round")[["error"]].set_axis([unit], axis=1)
    for ghost in ghosts:
        column = ghost.frame.set_index("round")[["error"]]
        table = table.join(column.set_axis([f"{unit}, {ghost.label}"], axis=1), how="outer")
    return table.reset_index()


# -- many runs -----------------------------------------------------------------------------------


def trials(frame: pd.DataFrame, *, normalized: bool = True) -> Figure:
    """Draw true errors of repeated runs against epsilon, one line a mechanism. Not private.

    Args:
        frame: One row a run: mechanism, epsilon, seed and error (mean L1).
        normalized: Whether errors are divided by N.
    """
    import altair as alt
    import pandas as pd

    sources = _Sources()
    unit = "mean L1 error ÷ N" if normalized else "mean L1 error (records)"
    grouped = frame.groupby(["mechanism", "epsilon"], sort=False)["error"]
    ends = {"low": grouped.quantile(0.1), "error": grouped.median(), "high": grouped.quantile(0.9)}
    data = pd.DataFrame({**ends, "trials": grouped.size()}).reset_index()
    names = list(frame["mechanism"].unique())
    legend = dict(zip(names, distinct(names, longest=44), strict=True))
    data["name"] = [legend[name] for name in data["mechanism"]]
    shown = list(legend.values())
    colours = [BLUE, RED, GREEN, ORANGE, PINK, SKY, GREY]
    colour = alt.Color(
        "name:N", title=None, legend=_legend(columns=2, symbolOpacity=1),
        scale=alt.Scale(domain=shown, range=[colours[k % 7] for k in range(len(shown))]),
    )  # fmt: skip
    shape = alt.Shape(
        "name:N",
        title=None,
        scale=alt.Scale(domain=shown),
        legend=_legend(columns=2, symbolOpacity=1),
    )
    ticks = sorted(float(e) for e in data["epsilon"].unique())
    x = alt.X(
        "epsilon:Q", title="ε (log scale): less private to the right",
        scale=alt.Scale(type="log", nice=False, padding=18), axis=_axis(values=ticks, format="~g"),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("name:N", title="mechanism"),
        alt.Tooltip("epsilon:Q", title="ε"),
        alt.Tooltip("error:Q", title=unit, format=".4g"),
        alt.Tooltip("trials:Q", title="runs"),
    ]
    base = sources.chart(data).encode(x=x, color=colour, tooltip=tooltip)
    # A line at the bottom says nothing about which is lower: past a factor of 20, a log scale.
    wide = float(data["low"].min()) > 0 and float(data["high"].max() / data["low"].min()) > 20
    scale = alt.Scale(type="log", nice=True) if wide else alt.Scale(zero=True)
    title = f"{unit} (log scale)" if wide else unit
    axis = _axis(format="~g", grid=True, tickCount=6)
    y = alt.Y("error:Q", title=title, scale=scale, axis=axis)
    reach = base.mark_rule(strokeWidth=7, opacity=0.3).encode(
        y=alt.Y("low:Q", title=title, scale=scale, axis=axis), y2=alt.Y2("high")
    )
    line = base.mark_line(strokeWidth=2).encode(y=y)
    points = base.mark_point(size=90, filled=True, opacity=1).encode(y=y, shape=shape)
    best = data.sort_values(["epsilon", "error"]).drop_duplicates("epsilon")
    won = "; ".join(
        f"at ε = {row.epsilon:g} {row.mechanism} is lowest ({row.error:.3g})"
        for row in best.itertuples()
    )
    sentence = (
        f"Points are medians over seeds, bars reach from the 10 % to the 90 % quantile: {won}."
    )
    table = data[["mechanism", "epsilon", "trials", "low", "error", "high"]].set_axis(
        ["mechanism", "ε", "runs", "10 %", "median", "90 %"], axis=1
    )
    return _figure(
        alt.layer(reach, line, points), sources, "Error against ε", sentence, NOT_PRIVATE, table,
        height=260,
    )  # fmt: skip


# -- what every chart has --------------------------------------------------------------------------


def _figure(
    chart: Any,
    sources: _Sources,
    title: str,
    sentence: str,
    badge: Badge,
    frame: pd.DataFrame,
    *,
    height: int,
) -> Figure:
    """Add title, badge and the settings that hold for all charts."""
    import altair as alt

    heading = alt.TitleParams(
        text=textwrap.wrap(title, 40) or [title],
        subtitle=f"{_MARKS[badge]} {badge}",
        subtitleColor=_BADGE_COLOURS[badge],
        subtitleFontSize=13,
        subtitlePadding=4,
        fontSize=16,
        anchor="start",
        frame="bounds",
        offset=10,
    )
    # Set on the finished chart: each of Altair's own ways would copy and check everything again.
    chart.title = heading
    chart.height = height
    # The width is the page's, the height that of the plot alone: axes and legend come on top.
    chart.autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
    chart.padding = {"left": 0, "right": 6, "top": 2, "bottom": 2}
    chart.config = alt.Config(view=alt.ViewConfig(stroke=None))
    chart.usermeta = {"embedOptions": {"actions": False}}
    chart.datasets = sources.datasets
    return Figure(title, chart, sentence, badge, frame.reset_index(drop=True))


class _Sources:
    """The records behind a chart, kept aside until it is finished.

    Altair copies a chart, its records included, at every step of its making.
    """

    __slots__ = ("datasets",)

    def __init__(self) -> None:
        self.datasets: dict[str, list[dict[str, Any]]] = {}

    def chart(self, frame: pd.DataFrame) -> Any:
        """Start a chart on plain records: no row limit, NaN and infinity as null."""
        import altair as alt

        name = f"rows{len(self.datasets)}"
        columns = [column for column in frame.columns if column != "names"]
        text = frame[columns].to_json(orient="records", double_precision=15)
        self.datasets[name] = json.loads(text)
        return alt.Chart(alt.NamedData(name=name))


def _axis(**settings: Any) -> Any:
    import altair as alt

    defaults: dict[str, Any] = {
        "labelFontSize": 13,
        "titleFontSize": 14,
        "titlePadding": 6,
        "labelPadding": 4,
        "grid": False,
    }
    return alt.Axis(**(defaults | settings))


def _axis_above() -> Any:
    """Write each row's label above its bar: the bars then have the whole width, on a phone too."""
    return _axis(
        orient="left",
        labelAlign="left",
        labelBaseline="middle",
        labelPadding=-1,
        labelOffset=-18,
        labelLimit=330,
        labelOverlap=False,
        ticks=False,
        domain=False,
        zindex=1,
    )


def _legend(**settings: Any) -> Any:
    import altair as alt

    defaults: dict[str, Any] = {
        "orient": "bottom",
        "labelFontSize": 13,
        "titleFontSize": 13,
        "symbolSize": 120,
        "labelLimit": 200,
        "columns": 3,
        "offset": 6,
    }
    return alt.Legend(**(defaults | settings))


# -- before a run: public --------------------------------------------------------------------------

PLANNER, SPLIT = "ResidualPlanner", "equal split"


def asked(frame: pd.DataFrame, names: Sequence[str], *, pick: bool = False) -> Figure:
    """Draw ``views.asked``: which pairs are asked for; attributes alone are the diagonal.

    Args:
        frame: The grid.
        names: The attributes' names.
        pick: Whether squares can be clicked on (parameter ``pick``, fields first and second).
    """
    import altair as alt

    sources = _Sources()
    labels = distinct(names, longest=18)
    wanted, held = frame["weight"] > 0, frame["holding"] > 0
    data = frame[["first", "second", "cells", "weight", "holding"]].assign(
        x=[labels[i] for i in frame["first"]],
        y=[labels[i] for i in frame["second"]],
        name=distinct(frame["label"], longest=60),
        state=np.select([wanted, held], _ASKED[:2], _ASKED[2]),
        mark=[
            ("●" if w == 1 else f"×{w:g}") if w > 0 else ("+" if h else "")
            for w, h in zip(frame["weight"], frame["holding"], strict=True)
        ],
        ink=np.where(wanted, "white", GREY),
    )
    angle = -35 if len(labels) < 8 else -60
    axis = _axis(labelAngle=angle, labelLimit=104, labelOverlap=False)
    x = alt.X("x:N", title="attribute", sort=labels, axis=axis)
    y = alt.Y("y:N", title=None, sort=labels, axis=_axis(labelLimit=104, labelOverlap=False))
    colour = alt.Fill(
        "state:N",
        title=None,
        scale=alt.Scale(domain=list(_ASKED), range=[BLUE, "#56B4E955", "#80808022"]),
        legend=_legend(columns=2, symbolType="square", symbolStrokeColor=GREY, symbolStrokeWidth=1),
    )
    tooltip = [
        alt.Tooltip("name:N", title="table"),
        alt.Tooltip("state:N", title="state"),
        alt.Tooltip("weight:Q", title="weight", format="g"),
        alt.Tooltip("holding:Q", title="larger tables that hold it"),
        alt.Tooltip("cells:Q", title="cells", format=","),
    ]
    base = sources.chart(data).encode(x=x, y=y, tooltip=tooltip)
    squares = base.mark_rect(stroke=GREY, strokeWidth=1, cursor="pointer" if pick else "default")
    squares = squares.encode(fill=colour)
    if pick:
        point = alt.selection_point(name="pick", fields=["first", "second"], empty=False)
        squares = squares.add_params(point)
    signs = base.mark_text(fontSize=13, fontWeight=600, cursor="pointer" if pick else "default")
    signs = signs.encode(text="mark:N", color=alt.Color("ink:N", scale=None, legend=None))
    count = int(wanted.sum())
    within = int((~wanted & held).sum())
    sentence = (
        f"Of the {len(frame):,} tables of one or two attributes {count:,} are asked for by "
        f"themselves, and {within:,} more come with a larger table asked for."
    )
    table = frame[["label", "cells", "weight", "holding"]].set_axis(
        ["table", "cells", "weight (0: not asked for)", "larger tables that hold it"], axis=1
    )
    return _figure(
        alt.layer(squares, signs), sources, "Which tables are asked for", sentence, "public",
        table, height=30 * len(names) + 6,
    )  # fmt: skip


_ASKED = ("● asked for", "+ within a larger table", "not asked for")


def predicted(frame: pd.DataFrame) -> Figure:
    """Draw ``views.predicted``: expected errors of both batch mechanisms, table by table."""
    import altair as alt

    sources = _Sources()
    few = len(frame) <= 16
    names = distinct(frame["label"], longest=60)
    shown = frame.assign(row=names if few else range(1, len(frame) + 1), name=names)
    if len(shown) > POINTS:
        keep = np.unique(np.linspace(0, len(shown) - 1, POINTS).round().astype(int))
        shown = shown.iloc[keep]
    parts = shown[["row", "name", "cells", "planner", "split"]].melt(
        id_vars=["row", "name", "cells"], var_name="by", value_name="error"
    )
    parts["by"] = parts["by"].map({"planner": PLANNER, "split": SPLIT})
    colour, shape = _two_mechanisms()
    unit = "expected L1 error (records)"
    value = alt.X if few else alt.Y
    error = value(
        "error:Q", title=unit, scale=_log_scale(parts["error"]),
        axis=_axis(format="~s", grid=True, values=_log_ticks(parts["error"])),
    )  # fmt: skip
    where: Any
    if few:
        where = alt.Y(
            "row:N", title=None, sort=names, axis=_axis_above(), scale=alt.Scale(paddingInner=0.6)
        )
    else:
        title = f"the {len(frame):,} tables, by ResidualPlanner's error"
        where = alt.X("row:Q", title=title, axis=_axis(format="d"), scale=alt.Scale(nice=False))
    tooltip = [
        alt.Tooltip("name:N", title="table"),
        alt.Tooltip("by:N", title="mechanism"),
        alt.Tooltip("error:Q", title=unit, format=",.0f"),
        alt.Tooltip("cells:Q", title="cells", format=","),
    ]
    base = sources.chart(parts).encode(where, error, tooltip=tooltip)
    points = base.mark_point(filled=True, opacity=1, size=90 if few else 22)
    layers = [points.encode(color=colour, shape=shape)]
    if few:
        line = sources.chart(shown[["row", "planner", "split"]]).mark_rule(color=GREY, opacity=0.6)
        layers.insert(0, line.encode(where, alt.X("planner:Q", title=unit), alt.X2("split")))
    sentence = (
        f"Expected of {PLANNER}: a mean error of {frame['planner'].mean():,.0f} records a table; "
        f"of an {SPLIT}: {frame['split'].mean():,.0f}. Known from sizes alone."
    )
    if len(shown) < len(frame):
        sentence += f" {POINTS} of {len(frame):,} tables are drawn, evenly spaced."
    table = frame[["label", "cells", "weight", "planner", "split"]].set_axis(
        ["table", "cells", "weight", f"{PLANNER} (L1, records)", f"{SPLIT} (L1, records)"], axis=1
    )
    height = 38 * len(frame) + 8 if few else 260
    title = "Expected error of each table"
    return _figure(alt.layer(*layers), sources, title, sentence, "public", table, height=height)


def _log_scale(values: pd.Series[float]) -> Any:
    import altair as alt

    return alt.Scale(
        type="log", domain=[float(values.min()) / 1.25, float(values.max()) * 1.25], nice=False
    )


def _log_ticks(values: pd.Series[float]) -> list[float]:
    """Three ticks or more: powers of ten, else 1, 2, 5 within a decade, else every digit."""
    low, high = float(values.min()) / 1.25, float(values.max()) * 1.25
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5), tuple(range(1, 10))):
        ticks = [step * 10.0**power for power in powers for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= 3:
            break
    return inside


def _two_mechanisms() -> tuple[Any, Any]:
    import altair as alt

    domain = [PLANNER, SPLIT]
    colour = alt.Color(
        "by:N", title=None, scale=alt.Scale(domain=domain, range=[BLUE, ORANGE]), legend=_legend()
    )
    shape = alt.Shape(
        "by:N",
        title=None,
        scale=alt.Scale(domain=domain, range=["circle", "diamond"]),
        legend=_legend(),
    )
    return colour, shape


def predicted_curve(frame: pd.DataFrame, *, epsilon: float, at: tuple[float, float]) -> Figure:
    """Draw ``views.predicted_curve`` with a cursor at the epsilon chosen.

    Args:
        frame: The curve.
        epsilon: What is chosen.
        at: Both predictions there: ResidualPlanner's and the equal split's.
    """
    import altair as alt
    import pandas as pd

    sources = _Sources()
    parts = frame.melt(
        id_vars=["epsilon", "rho"], value_vars=["planner", "split"], var_name="by",
        value_name="error",
    )  # fmt: skip
    parts["by"] = parts["by"].map({"planner": PLANNER, "split": SPLIT})
    colour, _ = _two_mechanisms()
    legend = _legend(symbolType="stroke", symbolSize=400, symbolStrokeWidth=3)
    colour = colour.legend(legend)
    # By fill: on the lines' channel the points would draw themselves into the legend.
    fill = alt.Fill(
        "by:N", scale=alt.Scale(domain=[PLANNER, SPLIT], range=[BLUE, ORANGE]), legend=None
    )
    unit = "mean expected L1 error (records)"
    ticks = [0.01, 0.1, 1, 10, 100]
    x = alt.X(
        "epsilon:Q", title="ε (log scale): more private ← → more accurate",
        scale=alt.Scale(type="log", nice=False), axis=_axis(values=ticks, format="~g"),
    )  # fmt: skip
    y = alt.Y(
        "error:Q", title=unit, scale=_log_scale(parts["error"]),
        axis=_axis(format="~s", grid=True, values=_log_ticks(parts["error"])),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("by:N", title="mechanism"),
        alt.Tooltip("epsilon:Q", title="ε", format=".3g"),
        alt.Tooltip("rho:Q", title="ρ", format=".3g"),
        alt.Tooltip("error:Q", title=unit, format=",.3g"),
    ]
    base = sources.chart(parts).encode(x, y, tooltip=tooltip)
    dash = alt.StrokeDash(
        "by:N", title=None, scale=alt.Scale(domain=[PLANNER, SPLIT], range=[[1, 0], [6, 4]]),
        legend=legend,
    )  # fmt: skip
    lines = base.mark_line(strokeWidth=2.5).encode(color=colour, strokeDash=dash)
    here = pd.DataFrame({"epsilon": epsilon, "by": [PLANNER, SPLIT], "error": at})
    now = sources.chart(here)
    rule = now.mark_rule(color=RED, strokeDash=[5, 4], strokeWidth=2).encode(
        x, y=alt.value(0), y2=alt.value("height")
    )
    dots = [
        now.transform_filter(alt.datum.by == by)
        .mark_point(shape=shape, size=120, opacity=1, stroke=None)
        .encode(x, y, fill=fill)
        for by, shape in ((PLANNER, "circle"), (SPLIT, "diamond"))
    ]
    sentence = (
        f"At ε = {epsilon:.3g} the mean expected error is {at[0]:,.0f} records a table "
        f"({PLANNER}) and {at[1]:,.0f} ({SPLIT}); dashed: the ε chosen."
    )
    table = frame[["epsilon", "rho", "planner", "split"]].set_axis(
        ["ε", "ρ", f"{PLANNER} (mean L1, records)", f"{SPLIT} (mean L1, records)"], axis=1
    )
    return _figure(
        alt.layer(rule, lines, *dots), sources, "Expected error at other budgets", sentence,
        "public", table, height=240,
    )  # fmt: skip


# -- one marginal, looked at closely ---------------------------------------------------------------


def noise_shape(frame: pd.DataFrame) -> Figure:
    """Draw ``views.noise_shape``: do errors look like noise?"""
    import altair as alt

    sources = _Sources()
    data = frame.assign(
        middle=(frame["low"] + frame["high"]) / 2,
        part=np.where(frame["low"].abs().clip(lower=frame["high"].abs()) > 2, *_BINS),
        law="noise alone",
    )
    scale = alt.Scale(domain=[-4, 4])
    x = alt.X(
        "low:Q", title="error ÷ noise σ (outer bars: all beyond)", scale=scale,
        axis=_axis(values=list(range(-4, 5)), format="d"),
    )  # fmt: skip
    y = alt.Y("cells:Q", title="cells", axis=_axis(format="~s", grid=True, tickMinStep=1))
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(domain=[_BINS[1], _BINS[0], "noise alone"], range=[SKY, ORANGE, RED]),
        legend=_legend(),
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
    return _figure(
        alt.layer(columns, law), sources, "Does noise look like noise?", sentence, NOT_PRIVATE,
        table, height=190,
    )  # fmt: skip


_BINS = ("beyond 2 σ", "within 2 σ")
