"""What a round paid for: residuals within a marginal, by size, with their precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.showing.figure import Columns, Figure, columns, drawn
from engine.showing.framed import Plain
from engine.showing.guides import axis_with, legend_with, scale_of, source, tips
from engine.showing.palette import GREY, INK, SKY, STEEL
from engine.showing.template import form, slots
from engine.showing.texts import distinct, safe

if TYPE_CHECKING:
    import pandas as pd

Names = tuple[str, ...]


def lattice(frame: pd.DataFrame, *, title: str = "What the round paid for") -> Figure:
    """Draw ``views.allocation``: subsets by size, joined where one holds the other.

    A disc's area grows with the precision after the round, on a log scale that is the same in every
    picture; the ring inside is the precision before.
    """
    read = Plain(frame)
    sets: list[Names] = read.list("names")
    degrees: list[int] = read.list("degree")
    top = max(degrees)
    keys = _keys(sets) if top > 3 else {}
    places = zip(read.list("place"), read.list("places"), strict=True)
    x = [(place + 0.5) / of for place, of in places]
    known, reached = read.list("known"), read.list("after")
    ring, area = _areas(known, reached)
    added = read.list("added")
    nodes = columns(
        len(frame), x=x, degree=degrees, name=[_node(names, keys) for names in sets],
        full=distinct(read.list("label"), longest=60), share=read.list("share"),
        area=area, ring=ring,
        state=["measured now" if a > 0 else "known before" for a in added],
        sigma=[_sigma_text(s) for s in read.list("sigma_now")],
        before=[_sigma_text(s) for s in read.list("sigma_before")],
    )  # fmt: skip
    bought = sum(a > 0 for a in added)
    sentence = (
        f"{bought} of {len(frame)} residuals were measured in this round. "
        "Disc: precision after the round; ring: precision before; both on a log scale."
    )
    if keys:
        sentence += " " + ", ".join(f"{v} = {k}" for k, v in keys.items()) + "."
    return drawn(
        _lattice(), title=title, sentence=sentence, of=[frame],
        table=lambda: _allocation_table(frame), height=118 * (top + 1) + 10,
        data={"edges": _edges(sets, x, degrees), "nodes": nodes},
        depth=[top + 0.55, -0.5], levels=range(top + 1),
    )  # fmt: skip


@form
def _lattice() -> Any:
    import altair as alt

    scale = alt.Scale(domain=slots("depth"))
    axis = axis_with(values=slots("levels"), format="d", grid=False)
    title = "attributes in the residual"
    y = alt.Y("degree:Q", title=title, scale=scale, axis=axis)
    x = alt.X("x:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1]))
    tooltip = tips(
        full=("residual", None), before=("σ before", None), sigma=("σ now", None),
        share=("share of the round", ".1%"),
    )  # fmt: skip
    upper = alt.Y("y:Q", title=title, scale=scale, axis=axis)
    lines = source("edges").mark_rule(color=GREY, opacity=0.45)
    colour = alt.Color(
        "state:N", title=None, legend=legend_with(),
        scale=scale_of(["measured now", "known before"], [SKY, STEEL]),
    )  # fmt: skip
    base = source("nodes").encode(x=x, y=y)
    area = alt.Size("area:Q", scale=None, legend=None)
    discs = base.mark_circle(opacity=1, stroke=GREY, strokeWidth=0.5).encode(
        size=area, color=colour, tooltip=tooltip
    )
    # Dark within light: a ring shows on its disc, and on a light or a dark page beyond it.
    seen = base.transform_filter(alt.datum.ring > 0).encode(size=alt.Size("ring:Q", scale=None))
    halo = seen.mark_point(filled=False, color="white", strokeWidth=4.2, opacity=1)
    rings = seen.mark_point(filled=False, color=INK, strokeWidth=1.8, opacity=1)
    # Mid-grey is legible on a light and on a dark page.
    text = {"color": GREY, "fontSize": 12, "baseline": "top"}
    names = base.mark_text(dy=24, fontWeight=600, lineBreak="\n", **text)
    sigmas = base.mark_text(dy=-36, **text).encode(text=alt.Text("sigma:N"))
    return alt.layer(
        lines.encode(x, alt.X2("x2"), upper, alt.Y2("y2")), discs, halo,
        rings.encode(tooltip=tooltip), names.encode(text=alt.Text("name:N")), sigmas,
    )  # fmt: skip


def _keys(sets: Sequence[Names]) -> dict[str, str]:
    names = max(sets, key=len)
    return {name: chr(ord("A") + k) for k, name in enumerate(names)}


def _node(names: Names, keys: dict[str, str]) -> str:
    if not names:
        return "total"
    if keys:
        return "·".join(keys[name] for name in names)
    return "\n".join(
        ("" if k == 0 else "× ") + safe(name, longest=15) for k, name in enumerate(names)
    )


def _sigma_text(sigma: float) -> str:
    return f"σ {sigma:,.3g}" if math.isfinite(sigma) else "not measured"


_LARGEST, _SMALLEST = 1300.0, 120.0
"""Areas in square pixels of a disc for σ of a tenth of a record, and of 100,000."""


def _areas(known: Sequence[float], reached: Sequence[float]) -> tuple[list[float], list[float]]:
    """Areas growing with log precision, the same in every picture; of a ring 0 without any."""

    def area(precision: float) -> float:
        if precision <= 0:
            return 0.0
        share = (5.0 + math.log10(precision) / 2.0) / 6.0  # log10 σ from 5 down to -1
        return _SMALLEST + (_LARGEST - _SMALLEST) * min(max(share, 0.0), 1.0)

    return [area(p) for p in known], [max(area(p), 20.0) for p in reached]


def _edges(sets: Sequence[Names], x: Sequence[float], degrees: Sequence[int]) -> Columns:
    points = {frozenset(names): (x[k], degrees[k]) for k, names in enumerate(sets)}
    edges: dict[str, list[Any]] = {"x": [], "y": [], "x2": [], "y2": []}
    for names, point in points.items():
        for smaller in (names - {name} for name in names):
            if smaller in points:
                for field, value in zip(edges, (*point, *points[smaller]), strict=True):
                    edges[field].append(value)
    return edges


def _allocation_table(frame: pd.DataFrame) -> pd.DataFrame:
    kept = ["label", "known", "added", "share", "sigma_before", "sigma_now", "sigma_equal"]
    return frame[kept].set_axis(
        ["residual", "precision before", "added", "share of the round", "σ before", "σ now",
         "σ if split equally"],
        axis=1,
    )  # fmt: skip
