"""Which answers a round changed: a grid of pairs, bars, or tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.showing.figure import Columns, Figure, columns, drawn
from engine.showing.framed import Plain
from engine.showing.guides import SHORT, axis_above, axis_with, legend_with, scale_of, source, tips
from engine.showing.palette import BLUE, GREY, RED
from engine.showing.pictures import NAMED
from engine.showing.template import Template, form, slot, slots
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd

_ACROSS = 24
"""Tiles in a row."""


class _Way(NamedTuple):
    """One of the ways to draw it: a form, its height, data and values for its places."""

    form: Template
    height: int
    data: dict[str, Columns]
    values: dict[str, Any]


def touched(
    frame: pd.DataFrame,
    names: Sequence[str],
    *,
    threshold: float | None,
    most: float | None = None,
) -> Figure:
    """Draw ``views.touched``: which answers a round changed, and how far.

    Args:
        frame: What the round did to each answer.
        names: The attributes' names.
        threshold: What noise alone moves the chosen one; None if nobody says.
        most: Where the scale of distances ends, to share it between rounds; more is drawn as that.
    """
    read = Plain(frame)
    changed = sum(read.list("touched"))
    rest = "; the others stand as they were" if changed < len(frame) else ""
    sentence = (
        f"{changed:,} of {len(frame):,} answers hold a measured residual and were rewritten{rest}."
    )
    pairs = all(degree == 2 for degree in read.list("degree")) and 3 < len(names) <= 20
    if pairs and len(frame) == len(names) * (len(names) - 1) // 2:
        way = _pair_grid(read, names, most)
    elif len(frame) <= _ACROSS:
        way = _moved_bars(read, threshold, most)
        if threshold is not None:
            sentence += f" Dashed: {threshold:,.0f} records, what noise alone moves the chosen one."
    else:
        way = _tiles(read, most)

    def table() -> pd.DataFrame:
        return frame[["label", "cells", "touched", "moved"]].set_axis(
            ["marginal", "cells", "rewritten", "moved (L1, records)"], axis=1
        )

    return drawn(
        way.form, title="Which answers changed", sentence=sentence, of=[frame], table=table,
        height=way.height, data=way.data, **way.values,
    )  # fmt: skip


def _answers(frame: Plain, **more: Any) -> Columns:
    states = ["rewritten" if t else "untouched" for t in frame.list("touched")]
    kept = {name: frame.list(name) for name in ("moved", "cells", "touched", "selected")}
    names = distinct(frame.list("label"), longest=60)
    said = [
        f"{NAMED}{name}: {f'moved by {moved:,.0f} records' if state == 'rewritten' else state}"
        for name, moved, state in zip(names, kept["moved"], states, strict=True)
    ]
    return columns(len(frame), name=names, said=said, state=states, **kept, **more)


def _reach(frame: Plain, most: float | None) -> list[float]:
    """Ends of the scale of distances: given, or those of this round."""
    return [0.0, max(most if most is not None else max(frame.list("moved"), default=0.0), 1e-9)]


def _touched_tips() -> list[Any]:
    return tips(
        name=("marginal", None), state=("answer", None), moved=("moved by (records)", ",.0f"),
        cells=("cells", ","),
    )  # fmt: skip


# -- all pairs -------------------------------------------------------------------------------------


def _pair_grid(frame: Plain, names: Sequence[str], most: float | None) -> _Way:
    labels = distinct(names, longest=18)
    answers = _answers(
        frame,
        x=[labels[i] for i in frame.list("first")],
        y=[labels[i] for i in frame.list("second")],
    )
    values = {"across": labels[:-1], "down": labels[1:], "reach": _reach(frame, most)}
    return _Way(_grid(), 34 * (len(names) - 1) + 10, {"answers": answers}, values)


@form
def _grid() -> Any:
    import altair as alt

    axis = axis_with(labelAngle=-35, labelLimit=110)
    x = alt.X("x:N", title="attribute", sort=slots("across"), axis=axis)
    y = alt.Y("y:N", title=None, sort=slots("down"), axis=axis_with(labelLimit=120))
    return alt.layer(*_squares(source("answers").encode(x=x, y=y, tooltip=_touched_tips())))


def _squares(base: Any) -> list[Any]:
    """Colour by distance; untouched answers stay empty, the chosen one has a diamond."""
    import altair as alt

    colour = alt.Color(
        "moved:Q",
        title="moved (L1, records)",
        scale=alt.Scale(scheme="viridis", domain=slots("reach"), clamp=True),
        legend=legend_with(**SHORT, gradientLength=200, values=slots("reach")),
    )
    empty = base.mark_rect(stroke=GREY, strokeWidth=1, color=GREY, opacity=0.15)
    filled = base.transform_filter(alt.datum.touched).mark_rect(stroke=GREY, strokeWidth=1)
    marks = base.transform_filter(alt.datum.selected).mark_point(
        shape="diamond", size=110, filled=True, color=RED, opacity=1
    )
    # Pointed at, a square says which answer it is: the empty ones lie beneath all others.
    named = empty.encode(description=alt.Description("said:N"))
    return [named, filled.encode(color=colour), marks]


# -- a few of any size -----------------------------------------------------------------------------


def _moved_bars(frame: Plain, threshold: float | None, most: float | None) -> _Way:
    names = distinct(frame.list("label"), longest=44)
    rows = [("◆ " if s else "") + n for n, s in zip(names, frame.list("selected"), strict=True)]
    answers = _answers(frame, row=rows)
    farthest = sorted(range(len(rows)), key=lambda k: -answers["moved"][k])
    data: dict[str, Columns] = {"answers": answers}
    if threshold is not None:
        data["threshold"] = {"moved": [threshold]}
    low, high = _reach(frame, most)
    values = {"order": [rows[k] for k in farthest], "reach": [low, max(high, threshold or 0.0)]}
    return _Way(_bars(threshold=threshold is not None), 38 * len(frame) + 8, data, values)


@form
def _bars(*, threshold: bool) -> Any:
    import altair as alt

    y = alt.Y(
        "row:N", title=None, sort=slots("order"), axis=axis_above(),
        scale=alt.Scale(paddingInner=0.6),
    )  # fmt: skip
    colour = alt.Color(
        "state:N", title=None, legend=legend_with(),
        scale=scale_of(["rewritten", "untouched"], [BLUE, GREY]),
    )  # fmt: skip
    title = "how far the answer moved (L1, records)"
    scale = alt.Scale(domain=slots("reach"), clamp=True)
    x = alt.X("moved:Q", title=title, axis=axis_with(**SHORT), scale=scale)
    base = source("answers").encode(y=y, color=colour, tooltip=_touched_tips())
    still = base.transform_filter(~alt.datum.touched).mark_point(
        shape="circle", filled=False, size=50, opacity=1
    )
    layers = [base.mark_bar(height=13).encode(x=x), still.encode(x=x)]
    if threshold:
        rule = source("threshold").mark_rule(
            strokeDash=[5, 4], color=RED, strokeWidth=2, opacity=0.6
        )
        layers.insert(0, rule.encode(x=x))
    return alt.layer(*layers)


# -- many ------------------------------------------------------------------------------------------


def _tiles(frame: Plain, most: float | None) -> _Way:
    count = len(frame)
    answers = _answers(
        frame, x=[k % _ACROSS for k in range(count)], y=[k // _ACROSS for k in range(count)]
    )
    rows = (count - 1) // _ACROSS + 1
    values = {"heading": f"the {count:,} answers, in order", "reach": _reach(frame, most)}
    return _Way(_tile_rows(), 20 * rows + 10, {"answers": answers}, values)


@form
def _tile_rows() -> Any:
    import altair as alt

    axis = axis_with(labels=False, grid=False)
    x = alt.X("x:O", title=slot("heading"), axis=axis)
    y = alt.Y("y:O", title=None, axis=None)
    return alt.layer(*_squares(source("answers").encode(x=x, y=y, tooltip=_touched_tips())))
