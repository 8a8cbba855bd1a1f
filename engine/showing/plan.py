"""Charts before a run, from public sizes alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.figure import (
    Figure,
    Sources,
    axis_above,
    axis_with,
    finished,
    legend_with,
)
from engine.showing.frames.rounds import POINTS
from engine.showing.palette import BLUE, GREY, ORANGE, RED
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd

PLANNER, SPLIT = "ResidualPlanner", "equal split"


def asked(frame: pd.DataFrame, names: Sequence[str], *, pick: bool = False) -> Figure:
    """Draw ``views.asked``: which pairs are asked for; attributes alone are the diagonal.

    Args:
        frame: The grid.
        names: The attributes' names.
        pick: Whether squares can be clicked on (parameter ``pick``, fields first and second).
    """
    import altair as alt

    sources = Sources()
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
    axis = axis_with(labelAngle=angle, labelLimit=104, labelOverlap=False)
    x = alt.X("x:N", title="attribute", sort=labels, axis=axis)
    y = alt.Y("y:N", title=None, sort=labels, axis=axis_with(labelLimit=104, labelOverlap=False))
    colour = alt.Fill(
        "state:N",
        title=None,
        scale=alt.Scale(domain=list(_ASKED), range=[BLUE, "#56B4E955", "#80808022"]),
        legend=legend_with(
            columns=2, symbolType="square", symbolStrokeColor=GREY, symbolStrokeWidth=1
        ),
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
    return finished(
        alt.layer(squares, signs), sources, "Which tables are asked for", sentence, "public",
        table, height=30 * len(names) + 6,
    )  # fmt: skip


_ASKED = ("● asked for", "+ within a larger table", "not asked for")


def predicted(frame: pd.DataFrame) -> Figure:
    """Draw ``views.predicted``: expected errors of both batch mechanisms, table by table."""
    import altair as alt

    sources = Sources()
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
        axis=axis_with(format="~s", grid=True, values=_log_ticks(parts["error"])),
    )  # fmt: skip
    where: Any
    if few:
        where = alt.Y(
            "row:N", title=None, sort=names, axis=axis_above(), scale=alt.Scale(paddingInner=0.6)
        )
    else:
        title = f"the {len(frame):,} tables, by ResidualPlanner's error"
        where = alt.X("row:Q", title=title, axis=axis_with(format="d"), scale=alt.Scale(nice=False))
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
    return finished(alt.layer(*layers), sources, title, sentence, "public", table, height=height)


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
        "by:N",
        title=None,
        scale=alt.Scale(domain=domain, range=[BLUE, ORANGE]),
        legend=legend_with(),
    )
    shape = alt.Shape(
        "by:N",
        title=None,
        scale=alt.Scale(domain=domain, range=["circle", "diamond"]),
        legend=legend_with(),
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

    sources = Sources()
    parts = frame.melt(
        id_vars=["epsilon", "rho"], value_vars=["planner", "split"], var_name="by",
        value_name="error",
    )  # fmt: skip
    parts["by"] = parts["by"].map({"planner": PLANNER, "split": SPLIT})
    colour, _ = _two_mechanisms()
    legend = legend_with(symbolType="stroke", symbolSize=400, symbolStrokeWidth=3)
    colour = colour.legend(legend)
    # By fill: on the lines' channel the points would draw themselves into the legend.
    fill = alt.Fill(
        "by:N", scale=alt.Scale(domain=[PLANNER, SPLIT], range=[BLUE, ORANGE]), legend=None
    )
    unit = "mean expected L1 error (records)"
    ticks = [0.01, 0.1, 1, 10, 100]
    x = alt.X(
        "epsilon:Q", title="ε (log scale): more private ← → more accurate",
        scale=alt.Scale(type="log", nice=False), axis=axis_with(values=ticks, format="~g"),
    )  # fmt: skip
    y = alt.Y(
        "error:Q", title=unit, scale=_log_scale(parts["error"]),
        axis=axis_with(format="~s", grid=True, values=_log_ticks(parts["error"])),
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
    return finished(
        alt.layer(rule, lines, *dots), sources, "Expected error at other budgets", sentence,
        "public", table, height=240,
    )  # fmt: skip
