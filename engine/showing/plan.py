"""Charts before a run, from public sizes alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.figure import Figure, columns, drawn
from engine.showing.frames.rounds import POINTS
from engine.showing.guides import SHORT, axis_above, axis_with, legend_with, scale_of, source, tips
from engine.showing.palette import BLUE, GREY, ORANGE, RED
from engine.showing.template import form, slot, slots
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd

PLANNER, SPLIT = "ResidualPlanner", "equal split"

# -- what is asked for -----------------------------------------------------------------------------


def asked(frame: pd.DataFrame, names: Sequence[str], *, pick: bool = False) -> Figure:
    """Draw ``views.asked``: which pairs are asked for; attributes alone are the diagonal.

    Args:
        frame: The grid.
        names: The attributes' names.
        pick: Whether squares can be clicked on (parameter ``pick``, fields first and second).
    """
    labels = distinct(names, longest=18)
    weights, holding = frame["weight"].tolist(), frame["holding"].tolist()
    states = [
        _ASKED[0] if w > 0 else _ASKED[1] if h > 0 else _ASKED[2]
        for w, h in zip(weights, holding, strict=True)
    ]
    first, second = frame["first"].tolist(), frame["second"].tolist()
    squares = columns(
        len(frame), first=first, second=second, x=[labels[i] for i in first],
        y=[labels[i] for i in second], name=distinct(frame["label"], longest=60), state=states,
        weight=weights, holding=holding, cells=frame["cells"],
        mark=[_sign(w, h) for w, h in zip(weights, holding, strict=True)],
        ink=["white" if w > 0 else GREY for w in weights],
    )  # fmt: skip
    sentence = (
        f"Of the {len(frame):,} tables of one or two attributes {states.count(_ASKED[0]):,} are "
        f"asked for by themselves, and {states.count(_ASKED[1]):,} more come with a larger table "
        "asked for."
    )

    def table() -> pd.DataFrame:
        return frame[["label", "cells", "weight", "holding"]].set_axis(
            ["table", "cells", "weight (0: not asked for)", "larger tables that hold it"], axis=1
        )

    return drawn(
        _asked(pick=pick, steep=len(labels) >= 8), title="Which tables are asked for",
        sentence=sentence, of=[frame], table=table, height=30 * len(names) + 6,
        data={"squares": squares}, labels=labels,
    )  # fmt: skip


_ASKED = ("● asked for", "+ within a larger table", "not asked for")


def _sign(weight: float, holding: int) -> str:
    if weight > 0:
        return "●" if weight == 1 else f"×{weight:g}"
    return "+" if holding else ""


@form
def _asked(*, pick: bool, steep: bool) -> Any:
    import altair as alt

    axis = axis_with(labelAngle=-60 if steep else -35, labelLimit=104, labelOverlap=False)
    x = alt.X("x:N", title="attribute", sort=slots("labels"), axis=axis)
    y = alt.Y("y:N", title=None, sort=slots("labels"),
              axis=axis_with(labelLimit=104, labelOverlap=False))  # fmt: skip
    legend = legend_with(
        columns=2, symbolType="square", symbolStrokeColor=GREY, symbolStrokeWidth=1
    )
    fill = alt.Fill(
        "state:N", title=None, legend=legend,
        scale=scale_of([*_ASKED], [BLUE, "#56B4E955", "#80808022"]),
    )  # fmt: skip
    tooltip = tips(
        name=("table", None), state=("state", None), weight=("weight", "g"),
        holding=("larger tables that hold it", ""), cells=("cells", ","),
    )  # fmt: skip
    cursor = "pointer" if pick else "default"
    base = source("squares").encode(x=x, y=y, tooltip=tooltip)
    squares = base.mark_rect(stroke=GREY, strokeWidth=1, cursor=cursor).encode(fill=fill)
    if pick:
        point = alt.selection_point(name="pick", fields=["first", "second"], empty=False)
        squares = squares.add_params(point)
    signs = base.mark_text(fontSize=13, fontWeight=600, cursor=cursor)
    ink = alt.Color("ink:N", scale=None, legend=None)
    return alt.layer(squares, signs.encode(text="mark:N", color=ink))


# -- what it will cost -----------------------------------------------------------------------------


def predicted(frame: pd.DataFrame) -> Figure:
    """Draw ``views.predicted``: expected errors of both batch mechanisms, table by table."""
    few = len(frame) <= 16
    keep = np.arange(len(frame))
    if len(frame) > POINTS:
        keep = np.unique(np.linspace(0, len(frame) - 1, POINTS).round().astype(int))
    shown = frame.take(keep)
    planner, split = shown["planner"].to_numpy(dtype=float), shown["split"].to_numpy(dtype=float)
    names = distinct(shown["label"], longest=60)
    both = np.concatenate([planner, split])
    tables = columns(
        2 * len(shown), row=2 * (names if few else (keep + 1).tolist()), name=2 * names,
        cells=2 * shown["cells"].tolist(), error=both,
        by=[PLANNER] * len(shown) + [SPLIT] * len(shown),
    )  # fmt: skip
    sentence = (
        f"Expected of {PLANNER}: a mean error of {frame['planner'].mean():,.0f} records a table; "
        f"of an {SPLIT}: {frame['split'].mean():,.0f}. Known from sizes alone."
    )
    if len(shown) < len(frame):
        sentence += f" {POINTS} of {len(frame):,} tables are drawn, evenly spaced."
    data = {"tables": tables}
    if few:
        data["gaps"] = columns(len(shown), row=names, planner=planner, split=split)

    def table() -> pd.DataFrame:
        return frame[["label", "cells", "weight", "planner", "split"]].set_axis(
            ["table", "cells", "weight", f"{PLANNER} (L1, records)", f"{SPLIT} (L1, records)"],
            axis=1,
        )

    return drawn(
        _few() if few else _many(), title="Expected error of each table", sentence=sentence,
        of=[frame], table=table, height=38 * len(frame) + 8 if few else 260, data=data,
        ends=_log_ends(both), ticks=_log_ticks(both), order=names,
        heading=f"the {len(frame):,} tables, by {PLANNER}'s error",
    )  # fmt: skip


_UNIT = "expected L1 error (records)"


def _expected(channel: Any) -> Any:
    import altair as alt

    return channel(
        "error:Q", title=_UNIT, scale=alt.Scale(type="log", domain=slots("ends"), nice=False),
        axis=axis_with(**SHORT, grid=True, values=slots("ticks")),
    )  # fmt: skip


def _points(where: Any, error: Any, size: int) -> Any:
    colour, shape = _two_mechanisms()
    tooltip = tips(
        name=("table", None), by=("mechanism", None), error=(_UNIT, ",.0f"), cells=("cells", ",")
    )
    base = source("tables").encode(where, error, tooltip=tooltip)
    return base.mark_point(filled=True, opacity=1, size=size).encode(color=colour, shape=shape)


@form
def _few() -> Any:
    import altair as alt

    row = alt.Y("row:N", title=None, sort=slots("order"), axis=axis_above(),
                scale=alt.Scale(paddingInner=0.6))  # fmt: skip
    line = source("gaps").mark_rule(color=GREY, opacity=0.6)
    gap = line.encode(row, alt.X("planner:Q", title=_UNIT), alt.X2("split"))
    return alt.layer(gap, _points(row, _expected(alt.X), 90))


@form
def _many() -> Any:
    import altair as alt

    where = alt.X("row:Q", title=slot("heading"), axis=axis_with(format="d"),
                  scale=alt.Scale(nice=False))  # fmt: skip
    return alt.layer(_points(where, _expected(alt.Y), 22))


def _log_ends(values: Sequence[float] | np.ndarray[Any, Any]) -> list[float]:
    return [float(np.min(values)) / 1.25, float(np.max(values)) * 1.25]


def _log_ticks(values: Sequence[float] | np.ndarray[Any, Any]) -> list[float]:
    """Three ticks or more: powers of ten, else 1, 2, 5 within a decade, else every digit."""
    low, high = _log_ends(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5), tuple(range(1, 10))):
        ticks = [step * 10.0**power for power in powers for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= 3:
            break
    return inside


def _two_mechanisms() -> tuple[Any, Any]:
    import altair as alt

    both = [PLANNER, SPLIT]
    return (
        alt.Color("by:N", title=None, scale=scale_of(both, [BLUE, ORANGE]), legend=legend_with()),
        alt.Shape(
            "by:N", title=None, scale=scale_of(both, ["circle", "diamond"]), legend=legend_with()
        ),
    )


def predicted_curve(frame: pd.DataFrame, *, epsilon: float, at: tuple[float, float]) -> Figure:
    """Draw ``views.predicted_curve`` with a cursor at the epsilon chosen.

    Args:
        frame: The curve.
        epsilon: What is chosen.
        at: Both predictions there: ResidualPlanner's and the equal split's.
    """
    count = len(frame)
    both = [*frame["planner"].tolist(), *frame["split"].tolist()]
    curves = columns(
        2 * count, by=[PLANNER] * count + [SPLIT] * count, error=both,
        epsilon=2 * frame["epsilon"].tolist(), rho=2 * frame["rho"].tolist(),
    )  # fmt: skip
    here = columns(2, epsilon=epsilon, by=[PLANNER, SPLIT], error=list(map(float, at)))
    sentence = (
        f"At ε = {epsilon:.3g} the mean expected error is {at[0]:,.0f} records a table "
        f"({PLANNER}) and {at[1]:,.0f} ({SPLIT}); dashed: the ε chosen."
    )

    def table() -> pd.DataFrame:
        return frame[["epsilon", "rho", "planner", "split"]].set_axis(
            ["ε", "ρ", f"{PLANNER} (mean L1, records)", f"{SPLIT} (mean L1, records)"], axis=1
        )

    return drawn(
        _predicted_curve(), title="Expected error at other budgets", sentence=sentence, of=[frame],
        table=table, height=240, data={"curves": curves, "here": here}, ends=_log_ends(both),
        ticks=_log_ticks(both),
    )  # fmt: skip


@form
def _predicted_curve() -> Any:
    import altair as alt

    both = [PLANNER, SPLIT]
    legend = legend_with(symbolType="stroke", symbolSize=400, symbolStrokeWidth=3)
    colour = alt.Color("by:N", title=None, scale=scale_of(both, [BLUE, ORANGE]), legend=legend)
    # By fill: on the lines' channel the points would draw themselves into the legend.
    fill = alt.Fill("by:N", scale=scale_of(both, [BLUE, ORANGE]), legend=None)
    dash = alt.StrokeDash("by:N", title=None, scale=scale_of(both, [[1, 0], [6, 4]]), legend=legend)
    unit = "mean expected L1 error (records)"
    x = alt.X(
        "epsilon:Q", title="ε (log scale): more private ← → more accurate",
        scale=alt.Scale(type="log", nice=False),
        axis=axis_with(values=[0.01, 0.1, 1, 10, 100], format="~g"),
    )  # fmt: skip
    y = alt.Y(
        "error:Q", title=unit, scale=alt.Scale(type="log", domain=slots("ends"), nice=False),
        axis=axis_with(**SHORT, grid=True, values=slots("ticks")),
    )  # fmt: skip
    tooltip = tips(
        by=("mechanism", None), epsilon=("ε", ".3g"), rho=("ρ", ".3g"), error=(unit, ",.3g")
    )
    lines = source("curves").encode(x, y, tooltip=tooltip).mark_line(strokeWidth=2.5)
    now = source("here")
    rule = now.mark_rule(color=RED, strokeDash=[5, 4], strokeWidth=2).encode(
        x, y=alt.value(0), y2=alt.value("height")
    )
    dots = [
        now.transform_filter(alt.datum.by == by)
        .mark_point(shape=shape, size=120, opacity=1, stroke=None)
        .encode(x, y, fill=fill)
        for by, shape in ((PLANNER, "circle"), (SPLIT, "diamond"))
    ]
    return alt.layer(rule, lines.encode(color=colour, strokeDash=dash), *dots)
