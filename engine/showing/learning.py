"""Pictures of one idea each, with the numbers written in them: tables, noise, counts below zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.badges import Badge
from engine.showing.figure import (
    Figure,
    Sources,
    axis_above,
    axis_with,
    finished,
    legend_with,
)
from engine.showing.palette import BLUE, DIVERGING, GREY, ORANGE, RED, SKY
from engine.showing.texts import distinct
from engine.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd


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

    sources = Sources()
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
    return finished(
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


def cloud(draws: FloatArray, covariance: FloatArray, *, sentence: str) -> Figure:
    """Draw pairs of residual entries that are noise only, with the ellipse that holds 95 %.

    Shapes:
        draws: (m, 2). covariance: (2, 2), the theory's.
    """
    import altair as alt
    import pandas as pd

    sources = Sources()
    angles = np.linspace(0, 2 * math.pi, 73)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    edge = (np.linalg.cholesky(covariance) @ circle * math.sqrt(-2 * math.log(0.05))).T
    reach = float(np.abs(np.concatenate([draws, edge])).max()) * 1.05
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = axis_with(grid=True, gridOpacity=0.25, format="~s", tickCount=5)
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
    return finished(
        alt.layer(*layers), sources, "Noise in two entries", sentence, "public", table, height=300
    )


def below_zero(frame: pd.DataFrame, *, sentence: str) -> Figure:
    """Draw noisy counts of one draw with the true ones.

    Args:
        frame: label, true and noisy.
        sentence: What is to be seen.
    """
    import altair as alt

    sources = Sources()
    data = frame.assign(
        name=distinct(frame["label"], longest=20),
        state=np.where(frame["noisy"] < 0, "below zero", "noisy count"),
    )
    names = ["noisy count", "below zero", "true count"]
    y = alt.Y("name:N", title=None, sort=data["name"].tolist(), axis=axis_with(labelLimit=120))
    x = alt.X("noisy:Q", title="people", axis=axis_with(format="~g", grid=True, gridOpacity=0.25))
    colour = alt.Color("state:N", title=None, legend=legend_with(),
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
    return finished(
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

    sources = Sources()
    names = ["as measured", "cut off at zero"]
    truth = float(frame.attrs["true"])
    colour = alt.Color("how:N", title=None, legend=legend_with(),
                       scale=alt.Scale(domain=names, range=[SKY, ORANGE]))  # fmt: skip
    y = alt.Y("how:N", title=None, sort=names, axis=axis_above(),
              scale=alt.Scale(paddingInner=0.6))  # fmt: skip
    axis = axis_with(format="~g", grid=True, gridOpacity=0.25)
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
    return finished(
        alt.layer(*layers), sources, "Sums, over many draws", sentence, "public", table, height=110
    )
