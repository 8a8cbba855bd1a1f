"""Two settings or mechanisms beside each other; all but the allocation not private."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.showing.badges import NOT_PRIVATE
from engine.showing.figure import (
    Figure,
    Sources,
    axis_above,
    axis_with,
    finished,
    legend_with,
    tips,
)
from engine.showing.palette import BLUE, GREY, ORANGE, RED
from engine.showing.sentences import percent
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd

FIRST_STYLE, SECOND_STYLE = (BLUE, "circle", [1, 0]), (ORANGE, "diamond", [6, 3])


def dumbbell(frame: pd.DataFrame, first: str, second: str, *, title: str, most: int = 14) -> Figure:
    """Draw ``comparison.by_marginal``: two errors of each marginal, the largest differences."""
    import altair as alt
    import pandas as pd

    sources = Sources()
    top = frame.head(most)
    rows = distinct(top["label"], longest=44)
    data = top.assign(row=rows)
    long = pd.concat(
        [
            data[["row"]].assign(who=who, error=data[column])
            for who, column in ((first, "first"), (second, "second"))
        ]
    )
    y = alt.Y("row:N", title=None, sort=rows, axis=axis_above(), scale=alt.Scale(paddingInner=0.6))
    unit = "L1 error ÷ N"
    positive = bool((long["error"] > 0).all()) and long["error"].max() > 20 * long["error"].min()
    scale = alt.Scale(type="log", nice=False, padding=12) if positive else alt.Scale(zero=True)
    axis = axis_with(format="~g", grid=True, gridOpacity=0.25, tickCount=5)
    x_title = f"{unit}{' (log)' if positive else ''}"
    x = alt.X("error:Q", title=x_title, scale=scale, axis=axis)
    colour = alt.Color(
        "who:N", title=None, legend=legend_with(columns=2),
        scale=alt.Scale(domain=[first, second], range=[FIRST_STYLE[0], SECOND_STYLE[0]]),
    )  # fmt: skip
    shape = alt.Shape(
        "who:N", title=None, legend=legend_with(columns=2),
        scale=alt.Scale(domain=[first, second], range=[FIRST_STYLE[1], SECOND_STYLE[1]]),
    )  # fmt: skip
    bars = (
        sources.chart(data)
        .mark_rule(color=GREY, strokeWidth=3, opacity=0.5)
        .encode(y=y, x=alt.X("first:Q", scale=scale, title=x_title), x2=alt.X2("second"))
    )
    points = (
        sources.chart(long)
        .mark_point(filled=True, size=110, opacity=1)
        .encode(
            y=y,
            x=x,
            color=colour,
            shape=shape,
            tooltip=tips(row=("marginal", None), who=("", None), error=(unit, ".4g")),
        )
    )
    better = int((frame["difference"] < 0).sum())
    sentence = (
        f"{first} answers {better:,} of {len(frame):,} marginals better than {second}; shown are "
        f"the {len(top)} largest differences."
    )
    table = frame[["label", "cells", "first", "second", "difference"]].set_axis(
        ["marginal", "cells", first, f"{second} ", "difference"], axis=1
    )
    return finished(
        alt.layer(bars, points), sources, title, sentence, NOT_PRIVATE, table,
        height=38 * max(len(top), 1) + 8,
    )  # fmt: skip


def overlay(frame: pd.DataFrame, names: tuple[str, str]) -> Figure:
    """Draw two runs' errors as they spend their budgets.

    Args:
        frame: Columns who (0 or 1), round, spent (share) and error.
        names: The two settings.
    """
    import altair as alt

    sources = Sources()
    data = frame.assign(name=[names[k] for k in frame["who"]], percent=frame["spent"])
    styles = (FIRST_STYLE, SECOND_STYLE)
    domain = list(names)
    colour = alt.Color(
        "name:N", title=None, legend=legend_with(columns=1, symbolStrokeWidth=0),
        scale=alt.Scale(domain=domain, range=[s[0] for s in styles]),
    )  # fmt: skip
    dash = alt.StrokeDash(
        "name:N", legend=None, scale=alt.Scale(domain=domain, range=[s[2] for s in styles])
    )
    shape = alt.Shape(
        "name:N", title=None, legend=legend_with(columns=1, symbolStrokeWidth=0),
        scale=alt.Scale(domain=domain, range=[s[1] for s in styles]),
    )  # fmt: skip
    log = bool((frame["error"] > 0).all())
    x = alt.X(
        "spent:Q", title="share of its own budget spent", axis=axis_with(format=".0%", tickCount=5),
        scale=alt.Scale(domain=[0, 1.02], nice=False),
    )  # fmt: skip
    y = alt.Y(
        "error:Q", title="mean L1 error ÷ N" + (" (log)" if log else ""),
        scale=alt.Scale(type="log" if log else "linear", nice=False, padding=10),
        axis=axis_with(format="~g", grid=True, gridOpacity=0.25, tickCount=5),
    )  # fmt: skip
    base = sources.chart(data).encode(x=x, y=y)
    lines = base.mark_line(strokeWidth=2.4, interpolate="step-after").encode(
        color=colour, strokeDash=dash
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        color=colour, shape=shape,
        tooltip=tips(name=("setting", None), round=("round", "d"), spent=("spent", ".0%"),
                      error=("error", ".4g")),
    )  # fmt: skip
    last = [float(frame.loc[frame["who"] == k, "error"].iloc[-1]) for k in (0, 1)]
    word = "smaller" if last[1] < last[0] else "larger"
    factor = min(last) / max(last) if max(last) > 0 else 1.0
    change = 1 - factor if word == "smaller" else (1 / factor - 1 if factor > 0 else math.inf)
    sentence = (
        f"At the end: {last[0]:.3g} with “{names[0]}”, {last[1]:.3g} with “{names[1]}”: "
        f"{percent(change)} {word}."
    )
    table = data[["name", "round", "spent", "error"]].set_axis(
        ["setting", "round", "share of budget spent", "mean L1 error ÷ N"], axis=1
    )
    return finished(
        alt.layer(lines, points), sources, "Two settings, one seed", sentence, NOT_PRIVATE, table,
        height=280,
    )  # fmt: skip


def difference(frame: pd.DataFrame, names: tuple[str, str]) -> Figure:
    """Draw the second setting's error less the first's, at equal shares of their budgets."""
    import altair as alt
    import pandas as pd

    sources = Sources()
    gaps = _gaps(frame)
    states = ["smaller error", "the same", "larger error"]
    gaps["state"] = np.select([gaps["gap"] < 0, gaps["gap"] == 0], states[:2], states[2])
    x = alt.X(
        "spent:Q", title="share of its own budget spent", axis=axis_with(format=".0%", tickCount=5),
        scale=alt.Scale(domain=[0, 1.02], nice=False),
    )  # fmt: skip
    y = alt.Y(
        "gap:Q", title="difference", axis=axis_with(format="~g", grid=True, gridOpacity=0.25,
                                                tickCount=4),
    )  # fmt: skip
    colour = alt.Color(
        "state:N", title=None, legend=legend_with(),
        scale=alt.Scale(domain=states, range=[BLUE, GREY, RED]),
    )  # fmt: skip
    shape = alt.Shape(
        "state:N", title=None, legend=legend_with(),
        scale=alt.Scale(domain=states, range=["triangle-down", "circle", "triangle-up"]),
    )  # fmt: skip
    base = sources.chart(gaps).encode(x=x)
    zero = sources.chart(pd.DataFrame({"gap": [0.0]})).mark_rule(color=GREY, strokeDash=[5, 4])
    stems = base.mark_rule(strokeWidth=3, opacity=0.6).encode(y=y, y2=alt.datum(0), color=colour)
    ends = base.mark_point(filled=True, size=55, opacity=1).encode(
        y=y, color=colour, shape=shape,
        tooltip=tips(spent=("spent", ".0%"), first=(names[0], ".4g"), second=(names[1], ".4g"),
                      gap=("difference", "+.3g")),
    )  # fmt: skip
    better = int((gaps["gap"] < 0).sum())
    sentence = (
        f"“{names[1]}” less “{names[0]}”: smaller at {better} of {len(gaps)} shares of the budget, "
        f"{gaps['gap'].iloc[-1]:+.3g} at the end."
    )
    table = gaps[["spent", "first", "second", "gap"]].set_axis(
        ["share of budget spent", names[0], f"{names[1]} ", "difference"], axis=1
    )
    return finished(
        alt.layer(zero.encode(y=y), stems, ends), sources, "Its difference", sentence, NOT_PRIVATE,
        table, height=170,
    )  # fmt: skip


def _gaps(frame: pd.DataFrame, steps: int = 20) -> pd.DataFrame:
    """Both errors as steps, looked up at equal shares of the budget."""
    import pandas as pd

    grid = np.linspace(0, 1, steps + 1)
    columns = []
    for k in (0, 1):
        one = frame[frame["who"] == k]
        spent = one["spent"].to_numpy(dtype=float)
        places = np.searchsorted(spent, grid + 1e-12, side="right") - 1
        columns.append(one["error"].to_numpy(dtype=float)[np.maximum(places, 0)])
    first, second = columns
    return pd.DataFrame({"spent": grid, "first": first, "second": second, "gap": second - first})


def allocation(shares: Sequence[Mapping[int, float]], names: tuple[str, str]) -> Figure:
    """Draw ``comparison.spending`` of two releases: where the budget went, by residual size."""
    import altair as alt
    import pandas as pd

    sources = Sources()
    labels = {0: "the total", 1: "one attribute", 2: "two attributes", 3: "three attributes",
              4: "four attributes"}  # fmt: skip
    data = pd.DataFrame(
        [
            {"row": labels.get(size, f"{size} attributes"), "who": names[k], "share": share}
            for k, one in enumerate(shares)
            for size, share in one.items()
        ]
    )
    order = list(dict.fromkeys(labels.get(s, f"{s} attributes") for one in shares for s in one))
    y = alt.Y("row:N", title=None, sort=order, axis=axis_with(labelLimit=130),
              scale=alt.Scale(paddingInner=0.35))  # fmt: skip
    colour = alt.Color(
        "who:N", title=None, legend=legend_with(columns=1, symbolStrokeWidth=0),
        scale=alt.Scale(domain=list(names), range=[FIRST_STYLE[0], SECOND_STYLE[0]]),
    )  # fmt: skip
    offset = alt.YOffset("who:N", sort=list(names), scale=alt.Scale(paddingInner=0.15))
    axis = axis_with(format=".0%", grid=True, gridOpacity=0.25)
    x = alt.X("share:Q", title="share of the whole budget ρ", axis=axis)
    bars = (
        sources.chart(data)
        .mark_bar()
        .encode(
            y=y,
            yOffset=offset,
            x=x,
            color=colour,
            tooltip=tips(
                who=("setting", None), row=("residuals over", None), share=("share", ".1%")
            ),
        )
    )
    most = [max(one, key=lambda size: one[size]) if one else 0 for one in shares]
    sentence = "Most was spent on residuals over " + (
        f"{labels.get(most[0], most[0])} in both."
        if most[0] == most[1]
        else f"{labels.get(most[0], most[0])} with “{names[0]}”, over "
        f"{labels.get(most[1], most[1])} with “{names[1]}”."
    )
    table = data.set_axis(["residuals over", "setting", "share of ρ"], axis=1)
    return finished(
        bars, sources, "Where the budget went", sentence, "released", table,
        height=58 * len(order) + 8,
    )  # fmt: skip
