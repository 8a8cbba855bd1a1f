"""Two settings or mechanisms beside each other; all but the allocation not private."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.figure import Figure, columns, drawn
from engine.showing.guides import (
    axis_above,
    axis_with,
    legend_with,
    light_grid,
    scale_of,
    source,
    tips,
)
from engine.showing.line_ends import Span, coloured, line_ends, names_at_ends, span
from engine.showing.palette import BLUE, GREY, ORANGE, RED
from engine.showing.sentences import percent
from engine.showing.template import form, slot, slots
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd

_COLOURS, _SHAPES, _DASHES = [BLUE, ORANGE], ["circle", "diamond"], [[1, 0], [6, 3]]
"""Of the first and the second."""
_OVERLAY = 280
_ROOM = 0.28
"""Share of the width kept for names at the ends of lines."""


def _coloured(field: str = "who") -> Any:
    import altair as alt

    return alt.Color(f"{field}:N", title=None, legend=legend_with(columns=1), scale=coloured())


def _shaped(legend: Any, field: str = "who") -> Any:
    import altair as alt

    scale = alt.Scale(domain=slots("names"), range=list(_SHAPES))
    return alt.Shape(f"{field}:N", title=None, legend=legend, scale=scale)


# -- by marginal -----------------------------------------------------------------------------------


def dumbbell(frame: pd.DataFrame, first: str, second: str, *, title: str, most: int = 14) -> Figure:
    """Draw ``comparison.by_marginal``: two errors of each marginal, the largest differences."""
    top = frame.head(most)
    rows = distinct(top["label"], longest=44)
    names = distinct((first, second), longest=44)
    errors = [top[column].tolist() for column in ("first", "second")]
    both = [*errors[0], *errors[1]]
    points = columns(
        2 * len(top), row=2 * rows, error=both, who=[name for name in names for _ in rows]
    )
    log = min(both, default=0.0) > 0 and max(both) > 20 * min(both)
    unit = f"{_UNIT}{' (log)' if log else ''}"
    better = int((frame["difference"] < 0).sum())
    sentence = (
        f"{first} answers {better:,} of {len(frame):,} marginals better than {second}; shown are "
        f"the {len(top)} largest differences."
    )

    def table() -> pd.DataFrame:
        return frame[["label", "cells", "first", "second", "difference"]].set_axis(
            ["marginal", "cells", first, f"{second} ", "difference"], axis=1
        )

    return drawn(
        _dumbbell(log=log), title=title, sentence=sentence, of=[frame], table=table,
        height=38 * max(len(top), 1) + 8, order=rows, unit=unit, names=names,
        colours=_COLOURS,
        data={"points": points,
              "gaps": columns(len(top), row=rows, first=errors[0], second=errors[1])},
    )  # fmt: skip


_UNIT = "L1 error ÷ N"


@form
def _dumbbell(*, log: bool) -> Any:
    import altair as alt

    y = alt.Y("row:N", title=None, sort=slots("order"), axis=axis_above(),
              scale=alt.Scale(paddingInner=0.6))  # fmt: skip
    scale = alt.Scale(type="log", nice=False, padding=12) if log else alt.Scale(zero=True)
    axis = light_grid(format="~g", tickCount=5)
    x = alt.X("error:Q", title=slot("unit"), scale=scale, axis=axis)
    bars = source("gaps").mark_rule(color=GREY, strokeWidth=3, opacity=0.5)
    points = source("points").mark_point(filled=True, size=110, opacity=1)
    return alt.layer(
        bars.encode(
            y=y, x=alt.X("first:Q", scale=scale, title=slot("unit")), x2=alt.X2("second")
        ),
        points.encode(
            y=y, x=x, color=_coloured(), shape=_shaped(legend_with(columns=1)),
            tooltip=tips(row=("marginal", None), who=("", None), error=(_UNIT, ".4g")),
        ),
    )  # fmt: skip


# -- as the budget is spent ------------------------------------------------------------------------


def overlay(
    frame: pd.DataFrame, names: tuple[str, str], *, title: str = "Two settings, one seed"
) -> Figure:
    """Draw two runs' errors as they spend their budgets.

    Args:
        frame: Columns who (0 or 1), round, spent (share) and error.
        names: The two settings.
        title: What the picture is called.
    """
    labels = distinct(names, longest=26)
    who, spent = frame["who"].tolist(), frame["spent"].tolist()
    error = frame["error"].tolist()
    steps = columns(
        len(frame),
        name=[labels[k] for k in who],
        who=who,
        round=frame["round"],
        spent=spent,
        error=error,
    )
    log = all(value > 0 for value in error)
    down = span(error, log=log)
    across = Span(0.0, 1.02).widened(_ROOM)
    last = [max(i for i, k in enumerate(who) if k == one) for one in (0, 1)]
    points = [(spent[i], error[i]) for i in last]

    def table() -> pd.DataFrame:
        shown = frame.assign(name=[names[k] for k in who])[["name", "round", "spent", "error"]]
        return shown.set_axis(
            ["setting", "round", "share of budget spent", "mean L1 error ÷ N"], axis=1
        )

    return drawn(
        _overlay(log=log), title=title,
        sentence=_end_sentence(names, [error[i] for i in last]), of=[frame], table=table,
        height=_OVERLAY, across=across.ends, down=down.ends, names=labels, colours=_COLOURS,
        data={"steps": steps, "ends": line_ends(labels, points, across, down, height=_OVERLAY)},
    )  # fmt: skip


def _end_sentence(names: tuple[str, str], last: list[float]) -> str:
    word = "smaller" if last[1] < last[0] else "larger"
    factor = min(last) / max(last) if max(last) > 0 else 1.0
    change = 1 - factor if word == "smaller" else (1 / factor - 1 if factor > 0 else math.inf)
    return (
        f"At the end: {last[0]:.3g} with “{names[0]}”, {last[1]:.3g} with “{names[1]}”: "
        f"{percent(change)} {word}."
    )


@form
def _overlay(*, log: bool) -> Any:
    import altair as alt

    x = alt.X(
        "spent:Q", title="share of its own budget spent",
        axis=axis_with(format=".0%", values=[0, 0.25, 0.5, 0.75, 1]),
        scale=alt.Scale(domain=slots("across"), nice=False),
    )  # fmt: skip
    y = alt.Y(
        "error:Q", title="mean L1 error ÷ N" + (" (log)" if log else ""),
        scale=alt.Scale(type="log" if log else "linear", domain=slots("down"), nice=False),
        axis=light_grid(format="~g", tickCount=5),
    )  # fmt: skip
    colour = alt.Color("name:N", legend=None, scale=coloured())
    dash = alt.StrokeDash(
        "name:N", legend=None, scale=alt.Scale(domain=slots("names"), range=list(_DASHES))
    )
    tooltip = tips(
        name=("setting", None), round=("round", "d"), spent=("spent", ".0%"), error=("error", ".4g")
    )
    base = source("steps").encode(x=x, y=y, color=colour)
    points = base.mark_point(filled=True, size=55, opacity=1)
    return alt.layer(
        base.mark_line(strokeWidth=2.4, interpolate="step-after").encode(strokeDash=dash),
        points.encode(shape=_shaped(None, "name"), tooltip=tooltip),
        *names_at_ends(log_x=False, log_y=log),
    )


# -- the difference between them -------------------------------------------------------------------


def difference(frame: pd.DataFrame, names: tuple[str, str]) -> Figure:
    """Draw the second setting's error less the first's, at equal shares of their budgets."""
    gaps = _gaps(frame)
    gap = gaps["gap"].to_numpy()
    state = np.select([gap < 0, gap == 0], _STATES[:2], _STATES[2])
    shown = columns(len(gaps), state=state, **{str(name): gaps[name] for name in gaps})
    sentence = (
        f"“{names[1]}” less “{names[0]}”: smaller at {int((gap < 0).sum())} of {len(gaps)} shares "
        f"of the budget, {gap[-1]:+.3g} at the end."
    )
    first, second = distinct(names, longest=44)

    def table() -> pd.DataFrame:
        return gaps[["spent", "first", "second", "gap"]].set_axis(
            ["share of budget spent", names[0], f"{names[1]} ", "difference"], axis=1
        )

    return drawn(
        _difference(), title="Its difference", sentence=sentence, of=[frame], table=table,
        height=170, data={"gaps": shown, "zero": {"gap": [0.0]}}, first=first, second=second,
    )  # fmt: skip


_STATES = ["smaller error", "the same", "larger error"]


@form
def _difference() -> Any:
    import altair as alt

    x = alt.X(
        "spent:Q", title="share of its own budget spent", axis=axis_with(format=".0%", tickCount=5),
        scale=alt.Scale(domain=[0, 1.02], nice=False),
    )  # fmt: skip
    y = alt.Y("gap:Q", title="difference", axis=light_grid(format="~g", tickCount=4))
    colour = alt.Color(
        "state:N", title=None, legend=legend_with(), scale=scale_of(_STATES, [BLUE, GREY, RED])
    )
    shape = alt.Shape(
        "state:N", title=None, legend=legend_with(),
        scale=scale_of(_STATES, ["triangle-down", "circle", "triangle-up"]),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("spent:Q", title="spent", format=".0%"),
        alt.Tooltip("first:Q", title=slot("first"), format=".4g"),
        alt.Tooltip("second:Q", title=slot("second"), format=".4g"),
        alt.Tooltip("gap:Q", title="difference", format="+.3g"),
    ]
    base = source("gaps").encode(x=x, y=y, color=colour)
    zero = source("zero").mark_rule(color=GREY, strokeDash=[5, 4])
    points = base.mark_point(filled=True, size=55, opacity=1)
    return alt.layer(
        zero.encode(y=y),
        base.mark_rule(strokeWidth=3, opacity=0.6).encode(y2=alt.datum(0)),
        points.encode(shape=shape, tooltip=tooltip),
    )


def _gaps(frame: pd.DataFrame, steps: int = 20) -> pd.DataFrame:
    """Both errors as steps, looked up at equal shares of the budget."""
    import pandas as pd

    grid = np.linspace(0, 1, steps + 1)
    found = []
    for k in (0, 1):
        one = frame[frame["who"] == k]
        spent = one["spent"].to_numpy(dtype=float)
        places = np.searchsorted(spent, grid + 1e-12, side="right") - 1
        found.append(one["error"].to_numpy(dtype=float)[np.maximum(places, 0)])
    first, second = found
    return pd.DataFrame({"spent": grid, "first": first, "second": second, "gap": second - first})


# -- where the budget went -------------------------------------------------------------------------


def allocation(frame: pd.DataFrame) -> Figure:
    """Draw ``frames.rounds.spending``: where two releases spent, by the size of residuals."""
    rows = [_SIZES.get(size, f"{size} attributes") for size in frame["size"].tolist()]
    names: list[str] = list(dict.fromkeys(frame["who"]))
    labels = dict(zip(names, distinct(names, longest=60), strict=True))
    order = list(dict.fromkeys(rows))
    spent = columns(
        len(frame), row=rows, who=[labels[who] for who in frame["who"]], share=frame["share"]
    )
    most = [_most(frame, name) for name in names]
    where = (
        f"{most[0]} in both."
        if len(set(most)) == 1
        else ", ".join(f"over {m} with “{n}”" for m, n in zip(most, names, strict=True)) + "."
    )
    sentence = f"Most was spent on residuals over {where.removeprefix('over ')}"

    def table() -> pd.DataFrame:
        shown = frame.assign(row=rows)[["row", "who", "share"]]
        return shown.set_axis(["residuals over", "setting", "share of ρ"], axis=1)

    return drawn(
        _allocation(), title="Where the budget went", sentence=sentence, of=[frame], table=table,
        height=58 * len(order) + 8, data={"spent": spent}, order=order,
        names=[*labels.values()], colours=_COLOURS,
    )  # fmt: skip


_SIZES = {0: "the total", 1: "one attribute", 2: "two attributes", 3: "three attributes",
          4: "four attributes"}  # fmt: skip


def _most(frame: pd.DataFrame, name: str) -> str:
    mine = frame[frame["who"] == name]
    size = int(mine["size"].iloc[int(mine["share"].argmax())]) if len(mine) else 0
    return _SIZES.get(size, f"{size} attributes")


@form
def _allocation() -> Any:
    import altair as alt

    y = alt.Y("row:N", title=None, sort=slots("order"), axis=axis_with(labelLimit=130),
              scale=alt.Scale(paddingInner=0.35))  # fmt: skip
    offset = alt.YOffset("who:N", sort=slots("names"), scale=alt.Scale(paddingInner=0.15))
    x = alt.X("share:Q", title="share of the whole budget ρ", axis=light_grid(format=".0%"))
    tooltip = tips(who=("setting", None), row=("residuals over", None), share=("share", ".1%"))
    return source("spent").mark_bar().encode(
        y=y, yOffset=offset, x=x, color=_coloured(), tooltip=tooltip
    )  # fmt: skip
