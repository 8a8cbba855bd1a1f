"""Charts of one round: the budget so far, how it selected, what it measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.figure import Columns, Figure, columns, drawn
from engine.showing.framed import Plain
from engine.showing.frames.rounds import Z95
from engine.showing.guides import (
    SHORT,
    as_part,
    axis_above,
    axis_beside,
    axis_with,
    legend_with,
    scale_of,
    source,
    tips,
)
from engine.showing.palette import BLUE, GREY, ORANGE, RED, SKY
from engine.showing.sentences import after, percent
from engine.showing.template import form, slot, slots
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd

# -- the budget ------------------------------------------------------------------------------------


def ledger(frame: pd.DataFrame, *, at: int) -> Figure:
    """Draw ``views.budget``: a bar whose segments add up, to one scale with what is left."""
    read = Plain(frame)
    parts, numbers, rho = read.list("part"), read.list("round"), read.list("rho")
    names = ["not spent" if part == "left" else part for part in parts]
    when = [_when(number) for number in numbers]
    left = sum(r for r, part in zip(rho, parts, strict=True) if part == "left")
    spent = sum(rho) - left
    segments = columns(
        len(frame), part=parts, name=names, when=when, rho=rho, start=read.list("start"),
        end=read.list("end"), opacity=[1.0 if number in (at, -1) else 0.55 for number in numbers],
    )  # fmt: skip
    sentence = (
        f"{percent(spent / (spent + left))} of the budget ρ = {spent + left:.6g} is spent "
        f"{after(at)}; segments and what is left add up to the total."
    )

    def table() -> pd.DataFrame:
        shown = frame.assign(when=when, name=names)[["when", "name", "rho", "exact"]]
        return shown.set_axis(["when", "for", "ρ", "ρ as an exact fraction"], axis=1)

    return drawn(
        _ledger(many=len(frame) > 90), title="Privacy budget spent", sentence=sentence,
        of=[frame], table=table, height=64, data={"segments": segments},
    )  # fmt: skip


@form
def _ledger(*, many: bool) -> Any:
    import altair as alt

    colour = alt.Color(
        "name:N", title=None, legend=legend_with(),
        scale=scale_of(["select", "measure", "not spent"], [ORANGE, BLUE, "#80808055"]),
    )  # fmt: skip
    base = source("segments").encode(
        x=alt.X("start:Q", title="budget in ρ (zCDP)", axis=axis_with(format="~g", tickCount=5)),
        x2=alt.X2("end"), color=colour,
        opacity=alt.Opacity("opacity:Q", scale=None, legend=None),
        tooltip=tips(when=("when", None), name=("for", None), rho=("ρ", ".4g")),
    )  # fmt: skip
    layers = []
    for part, height in (("left", 34), ("measure", 34), ("select", 20)):
        plain = many or part == "left"
        bar = base.transform_filter(alt.datum.part == part).mark_bar(
            height=height, stroke=None if plain else "white", strokeWidth=0 if many else 0.6
        )
        layers.append(bar)
    return alt.layer(*layers)


def _when(number: int) -> str:
    return {0: "before round 1", -1: "left"}.get(number, f"round {number}")


# -- how it selected -------------------------------------------------------------------------------


def selection(
    frame: pd.DataFrame,
    *,
    others: int,
    others_probability: float,
    above: bool = False,
    legend: bool = True,
) -> Figure:
    """Draw ``views.selection``: how wrong each candidate looked, and what noise would leave.

    In each row a bar shows the error term, and beneath it a tick the noise term and a dot the
    score, which is the difference of both: no mark covers another.

    Args:
        frame: One row a candidate.
        others: How many candidates are not among them.
        others_probability: The probability that these share.
        above: Whether each label stands above its bar, in full, instead of beside it: for text
            so large that both have no room in one line.
        legend: Whether the picture says itself what bar, tick and dot are.
    """
    read = Plain(frame)
    candidates = _candidates(read, longest=60 if above else 30)
    names, chances = candidates["row"], candidates["chance"]
    rows = {"row": [*names], "chance": [*chances], "reach": [*candidates["error"]]}
    if others:
        for field, value in zip(
            rows, (f"{others:,} others", percent(others_probability), 0.0), strict=True
        ):
            rows[field].append(value)
    high = max([1e-9, *candidates["error"], *candidates["noise"]])
    sentence = (
        f"{read.list('label')[0]} was the most probable, with {chances[0]}; "
        f"{others:,} other candidates share {percent(others_probability)}."
    )

    def table() -> pd.DataFrame:
        kept = ["label", "l1", "weight", "error", "noise", "score", "probability"]
        return frame[kept].set_axis(
            ["marginal", "L1 error (records)", "weight", "error term", "noise term", "score",
             "probability"],
            axis=1,
        )  # fmt: skip

    return drawn(
        _selection(above=above, legend=legend), title="Which marginal is worst?",
        sentence=sentence, of=[frame], table=table,
        height=(46 if above else 32) * len(rows["row"]) + 8,
        data={"candidates": candidates, "rows": rows}, order=rows["row"],
        low=min([0.0, *candidates["score"]]), high=1.2 * high,
    )  # fmt: skip


def _candidates(read: Plain, longest: int) -> Columns:
    labels, probability = read.list("label"), read.list("probability")
    names = zip(distinct(labels, longest=longest), read.list("chosen"), strict=True)
    return columns(
        len(read), row=[("◆ " if chosen else "") + name for name, chosen in names],
        name=distinct(labels, longest=60), error=read.list("error"), noise=read.list("noise"),
        score=read.list("score"), probability=probability,
        chance=[percent(p) for p in probability],
    )  # fmt: skip


_TERMS = ["error term", "noise term", "score"]


@form
def _selection(*, above: bool, legend: bool) -> Any:
    import altair as alt

    y = alt.Y(
        "row:N", title=None, sort=slots("order"), axis=axis_above() if above else axis_beside(),
        scale=alt.Scale(domain=slots("order"), paddingInner=0.1, paddingOuter=0.05),
    )  # fmt: skip
    axis = axis_with(**SHORT, grid=True, gridOpacity=0.25)
    scale = alt.Scale(domain=[slot("low"), slot("high")], nice=False)
    title = "weighted L1 error, records"

    def along(field: str) -> Any:
        return alt.X(f"{field}:Q", title=title, axis=axis, scale=scale)

    tooltip = tips(
        name=("marginal", None), error=("error term", ",.0f"), noise=("noise term", ",.0f"),
        score=("score", ",.0f"), probability=("probability", ".2%"),
    )  # fmt: skip

    looks = scale_of(_TERMS, [SKY, ORANGE, RED])
    base = source("candidates").encode(y=y, tooltip=tooltip)
    marks = (
        base.mark_bar(height=13, yOffset=-5).encode(x=along("error"), x2=alt.X2(datum=0)),
        base.mark_tick(thickness=3, height=13, yOffset=9).encode(x=along("noise")),
        base.mark_circle(size=70, opacity=1, yOffset=9).encode(x=along("score")),
    )
    said = source("rows").mark_text(
        align="left", dx=6, yOffset=-5, fontSize=13, fontWeight=600, color=GREY
    )
    words = said.encode(y=y, x=along("reach"), text=alt.Text("chance:N"))
    parts = [as_part(mark, name, looks) for mark, name in zip(marks, _TERMS, strict=True)]
    if not legend:
        colour = alt.Color("part:N", scale=looks, legend=None)
        parts = [part.encode(color=colour) for part in parts]
    return alt.layer(*parts, words)


# -- what it measured ------------------------------------------------------------------------------


def measured(frame: pd.DataFrame, *, reach: float | None = None) -> Figure:
    """Draw ``views.measured``: every measured value in units of its own noise.

    Args:
        frame: What was measured.
        reach: Where the axis ends on both sides, in σ, to share it between rounds.
    """
    read = Plain(frame)
    found = read.list("label")
    kinds = list(dict.fromkeys(found))
    labels = dict(zip(kinds, distinct(kinds), strict=True))
    order = [labels[label] for label in kinds]
    outside = read.array("outside").astype(bool)
    scaled = read.array("scaled").astype(float)
    values = columns(
        len(frame), row=[labels[label] for label in found], scaled=scaled, value=read.list("value"),
        noise_sd=read.list("noise_sd"), part=np.where(outside, _BEYOND, _WITHIN),
        length=np.where(outside, 18, 10),
    )  # fmt: skip
    reach = max(4.0, reach or 0.0, float(np.abs(scaled).max()) if len(frame) else 0.0)
    ticks = [t for t in (2, 10, 100, 1000, 10_000, 100_000) if t <= reach]
    share = float(outside.mean()) if len(frame) else 0.0
    sentence = (
        f"{percent(share)} of the measured values lie beyond ±{Z95} σ, where noise alone would put "
        "5 %."
    )
    counts = {label: found.count(label) for label in kinds}
    if any(of > counts[label] for label, of in zip(found, read.list("of"), strict=True)):
        sentence += f" Large residuals are shown by {max(counts.values())} evenly spaced quantiles."
    return drawn(
        _measured(), title="What was measured", sentence=sentence, of=[frame],
        table=lambda: _measured_table(frame), height=50 * max(len(order), 1) + 12,
        data={"values": values, "band": {"low": [-Z95], "high": [Z95]}},
        order=order, ends=[-reach * 1.1, reach * 1.1],
        ticks=[*(-t for t in reversed(ticks)), 0, *ticks],
    )  # fmt: skip


_WITHIN, _BEYOND = f"within ±{Z95} σ", f"beyond ±{Z95} σ"


def _measured_table(frame: pd.DataFrame) -> pd.DataFrame:
    rows = frame.groupby("label", sort=False).agg(
        values=("of", "first"), noise=("noise_sd", "first"), beyond=("outside", "mean")
    )
    return rows.reset_index().set_axis(
        ["residual", "values", "noise σ of a value (records)", f"share beyond ±{Z95} σ"], axis=1
    )


@form
def _measured() -> Any:
    import altair as alt

    scale = alt.Scale(type="symlog", constant=2, domain=slots("ends"))
    axis = axis_with(values=slots("ticks"), **SHORT, labelOverlap=True)
    band = source("band").mark_rect(color=GREY, opacity=0.25)
    y = alt.Y(
        "row:N", title=None, sort=slots("order"), axis=axis_above(),
        scale=alt.Scale(paddingInner=0.5),
    )  # fmt: skip
    colour = alt.Color(
        "part:N", title=None, scale=scale_of([_WITHIN, _BEYOND], [GREY, BLUE]), legend=legend_with()
    )
    # Longer ticks where something shows: colour is not alone.
    ticks = source("values").mark_tick(thickness=1.6, opacity=0.7)
    return alt.layer(
        band.encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high")),
        ticks.encode(
            x=alt.X("scaled:Q", title="value ÷ its noise σ (symlog)", scale=scale, axis=axis),
            y=y,
            color=colour,
            size=alt.Size("length:Q", scale=None, legend=None),
            tooltip=tips(
                row=("residual", None), value=("records", ",.1f"), noise_sd=("noise σ", ",.1f")
            ),
        ),
    )
