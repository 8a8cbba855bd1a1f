"""What a round paid for: residuals within a marginal, by size, with their precision."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from engine.showing.figure import (
    Figure,
    Sources,
    axis_with,
    finished,
    legend_with,
)
from engine.showing.palette import GREY, SKY
from engine.showing.texts import distinct, safe

if TYPE_CHECKING:
    import pandas as pd


def lattice(frame: pd.DataFrame, *, title: str = "What the round paid for") -> Figure:
    """Draw ``views.allocation``: subsets by size, joined where one holds the other.

    A disc's area grows with the precision after the round, on a log scale; the ring inside is the
    precision before.
    """
    import altair as alt
    import pandas as pd

    sources = Sources()
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
    axis = axis_with(values=list(range(top + 1)), format="d", grid=False)
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
        legend=legend_with(),
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
    return finished(
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
