"""One marginal: a heatmap of two attributes, or bars of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from engine.showing.badges import Limits, badge_of
from engine.showing.figure import Columns, Figure, columns, drawn
from engine.showing.foremost import Cells, Codes
from engine.showing.framed import Plain
from engine.showing.frames.rounds import Z95
from engine.showing.guides import SHORT, as_part, axis_with, legend_with, scale_of, source, tips
from engine.showing.palette import DIVERGING, GREY, INK, RED, SKY
from engine.showing.sentences import percent
from engine.showing.template import form, slot, slots
from engine.showing.texts import ZERO_WIDTH, safe
from engine.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd

Scale = Literal["linear", "symlog", "log"]

# -- two attributes --------------------------------------------------------------------------------


def heatmap(
    frame: pd.DataFrame,
    column: str,
    names: tuple[str, str],
    *,
    title: str,
    limits: Limits | tuple[float, float] | None = None,
    small: bool = False,
    scale: Scale = "linear",
    pick: bool = False,
    marked: Sequence[tuple[int, int]] = (),
    codes: Codes | None = None,
) -> Figure:
    """Draw one table of two attributes.

    Args:
        frame: ``views.released`` or ``views.comparison`` of two attributes.
        column: ``exact``, ``released``, ``difference`` or ``difference_sd``.
        names: The attributes' names, in the frame's order.
        title: What it is.
        limits: Ends of the colour scale, to share it with another table. They carry a badge as
            frames do: on the truth's scale nothing is private.
        small: Whether it is one frame of a strip.
        scale: How colours are spread; ``log`` needs counts above zero.
        pick: Whether cells can be clicked on (parameter ``pick``, fields i0 and i1).
        marked: Cells with a frame: those clicked on in any of several tables.
        codes: Values of both attributes to draw, as ``foremost`` chooses them by default.
    """
    cells = Cells(frame, codes)
    ticks = [cells.ticks(k) for k in (0, 1)]
    across, down = (0, 1) if len(ticks[0]) <= len(ticks[1]) else (1, 0)
    diverging = column.startswith("difference")
    values = cells.numbers(column)
    low, high = limits or _ends(values, diverging=diverging)
    kind, ends = _spread(low, high, "diverging" if diverging else scale, smallest=values.min())
    rows = len(ticks[down])
    # Streamlit lets people click on cells of a chart with one layer only.
    written = not small and not pick and len(cells) <= _MOST_WRITTEN
    shown = _drawn_cells(
        cells, column, ticks, (across, down), marked if pick else None, ends if written else None
    )
    return drawn(
        _heatmap(kind=kind, small=small, pick=pick, crowded_across=len(ticks[across]) > 18,
                 crowded_down=rows > 26, turned=small or not _fit(ticks[across].values()),
                 written=written),
        title=title,
        sentence=_heatmap_sentence(values, column, title) + cells.left_out(names),
        of=[frame] if limits is None else [frame, limits],
        table=lambda: _cell_table(frame, column, names),
        height=min(max((15 if small else 20) * rows, 90), 520),
        data={"cells": shown},
        across=safe(names[across]), down=safe(names[down]), unit=_unit(column), ends=ends,
        across_ticks=list(ticks[across].values()), down_ticks=list(ticks[down].values()),
    )  # fmt: skip


_MOST_WRITTEN = 36
"""Cells of a table that have their number written in them."""
_ACROSS = 330
"""Pixels that labels side by side have, where a picture is narrow."""


def _fit(labels: Iterable[str]) -> bool:
    """Whether labels stand side by side without touching each other."""
    lengths = [min(7.2 * len(label), 84) + 8 for label in labels]
    return max(lengths, default=0) * len(lengths) <= _ACROSS


def _inks(values: FloatArray, ends: list[float], *, dark_at_ends: bool) -> list[str]:
    """What a number is written with: light on the dark part of the scale, dark on the rest."""
    place = (values - ends[0]) / max(ends[-1] - ends[0], 1e-12)
    dark = np.abs(place - 0.5) > 0.38 if dark_at_ends else place < 0.5
    return ["#ffffff" if one else INK for one in dark.tolist()]


def _unit(column: str) -> str:
    return "noise σ" if column == "difference_sd" else "records"


def _drawn_cells(
    cells: Cells,
    column: str,
    ticks: list[dict[int, str]],
    sides: tuple[int, int],
    marked: Sequence[tuple[int, int]] | None,
    written: list[float] | None,
) -> Columns:
    # No other column: what is not private must not travel with a chart that may be saved.
    codes = [cells.array(f"i{k}").tolist() for k in (0, 1)]
    x, y = ([ticks[k][code] for code in codes[k]] for k in sides)
    more: dict[str, Any] = {}
    if marked is not None:
        framed = set(marked)
        more["marked"] = [int(pair in framed) for pair in zip(*codes, strict=True)]
    if written is not None:
        numbers = cells.array(column).astype(float)
        more["ink"] = _inks(numbers, written, dark_at_ends=len(written) > 2)
        more["said"] = [f"{number:,.{0 if abs(number) >= 10 else 1}f}" for number in numbers]
    return columns(len(codes[0]), i0=codes[0], i1=codes[1], x=x, y=y, z=cells.array(column), **more)


@form
def _heatmap(
    *,
    kind: str,
    small: bool,
    pick: bool,
    crowded_across: bool,
    crowded_down: bool,
    turned: bool,
    written: bool,
) -> Any:
    # Long: one picture, channel by channel.
    import altair as alt

    size = 11 if small else 12
    x = alt.X(
        "x:N", title=slot("across"), sort=slots("across_ticks"),
        axis=axis_with(labelAngle=-55 if turned else 0, labelLimit=84, labelFontSize=size,
                       labelOverlap=crowded_across),
    )  # fmt: skip
    y = alt.Y(
        "y:N", title=slot("down"), sort=slots("down_ticks"),
        axis=axis_with(labelLimit=92, labelFontSize=size, labelOverlap=crowded_down,
                       labelFlush=False),
    )  # fmt: skip
    spread: Any = {"type": kind, "scheme": "cividis"}
    if kind == "diverging":
        spread = {"range": list(DIVERGING), "interpolate": "rgb"}
    colour = alt.Color(
        "z:Q",
        title=slot("unit"),
        scale=alt.Scale(domain=slots("ends"), clamp=True, **spread),
        # By an expression: a format alone writes zero as "0k" beside thousands.
        legend=legend_with(labelExpr="format(datum.value, '~s')", gradientLength=150, tickCount=4),
    )
    tooltip = [
        alt.Tooltip("x:N", title=slot("across")),
        alt.Tooltip("y:N", title=slot("down")),
        alt.Tooltip("z:Q", title=slot("unit"), format=",.1f"),
    ]
    chart = source("cells").mark_rect().encode(x=x, y=y, color=colour, tooltip=tooltip)
    chart = _pickable(chart) if pick else chart
    if not written:
        return chart
    words = source("cells").mark_text(fontSize=12).encode(
        x=x, y=y, text=alt.Text("said:N"), tooltip=tooltip,
        color=alt.Color("ink:N", scale=None, legend=None),
    )  # fmt: skip
    return alt.layer(chart, words).resolve_scale(color="independent")


def _pickable(chart: Any) -> Any:
    """Let cells be clicked on; those that are have a frame."""
    import altair as alt

    pick = alt.selection_point(name="pick", fields=["i0", "i1"], empty=False)
    framed = alt.when(pick | (alt.datum.marked == 1)).then(alt.value(RED))
    return chart.encode(
        stroke=framed.otherwise(alt.value(None)), strokeWidth=alt.value(3)
    ).add_params(pick)


def _spread(low: float, high: float, kind: str, *, smallest: float) -> tuple[str, list[float]]:
    """The kind of colour scale, and where it ends; a diverging one has five stops."""
    if kind == "diverging":
        return kind, [low, low / 2, 0.0, high / 2, high]
    if kind == "log":
        low, kind = (max(low, float(smallest)), kind) if smallest > 0 else (low, "linear")
    return kind, [low, high]


def _ends(values: FloatArray, *, diverging: bool) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    low = float(finite.min()) if len(finite) else 0.0
    high = float(finite.max()) if len(finite) else 1.0
    if diverging:
        reach = max(-low, high, 1e-9)
        return -reach, reach
    return min(low, 0.0), max(high, min(low, 0.0) + 1e-9)


def shared_limits(frame: pd.DataFrame, *columns: str) -> Limits:
    """Return ends of one colour scale for several columns, zero included; they keep the badge."""
    read = Plain(frame)
    ends = [_ends(read.array(column).astype(float), diverging=False) for column in columns]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return Limits(low, high, badge_of(frame))


def _heatmap_sentence(values: FloatArray, column: str, title: str) -> str:
    if column == "difference_sd":
        inside = float((np.abs(values) <= Z95).mean())
        return f"{title}: {percent(inside)} of the cells lie within ±{Z95} of their noise σ."
    if column == "difference":
        return f"{title}: the largest cell error is {np.abs(values).max():,.0f} records."
    negative = int((values < 0).sum())
    tail = f", {negative} cells below zero" if negative else ""
    low, high = (int(np.rint(end)) for end in (values.min(), values.max()))
    return f"{title}: cells from {low:,} to {high:,} records{tail}."


def _cell_table(frame: pd.DataFrame, column: str, names: tuple[str, ...]) -> pd.DataFrame:
    kept = [f"c{k}" for k in range(len(names))]
    titles = [f"{name}{ZERO_WIDTH * k}" for k, name in enumerate(names)]
    unit = f"{column.split('_')[0]} ({_unit(column)})"
    return frame[[*kept, column]].set_axis([*titles, unit], axis=1)


# -- one attribute ---------------------------------------------------------------------------------


def bars(
    frame: pd.DataFrame,
    name: str,
    *,
    title: str,
    scale: Scale = "linear",
    codes: Codes | None = None,
    limits: Limits | None = None,
) -> Figure:
    """Draw one attribute: released counts with ±1.96 σ, and true ones where the frame has them.

    Args:
        frame: ``views.released`` or ``views.comparison`` of one attribute.
        name: The attribute's name.
        title: What it is.
        scale: How counts are spread; ``log`` is drawn as ``linear``.
        codes: Values to draw, as ``foremost`` chooses them by default.
        limits: Ends of the axis of counts, to share it with another table.
    """
    cells = Cells(frame, codes)
    ticks = cells.ticks(0)
    std, released = (cells.array(column).astype(float) for column in ("std", "released"))
    noise = bool((np.isfinite(std) & (std > 0)).all())
    truth, long = "exact" in cells, len(ticks) > 24
    more = {"exact": cells.array("exact")} if truth else {}
    counts = columns(
        len(std), row=[ticks[i] for i in cells.array("i0").tolist()], released=released, std=std,
        low=released - Z95 * std, high=released + Z95 * std, **more,
    )  # fmt: skip
    return drawn(
        _bars(long=long, truth=truth, noise=noise, symlog=scale == "symlog", ended=bool(limits)),
        title=title, sentence=_bars_sentence(frame, title, noise=noise) + cells.left_out([name]),
        of=[frame, limits] if limits else [frame], table=lambda: _bars_table(frame, name),
        height=260 if long else max(24 * len(ticks), 70),
        data={"counts": counts}, order=list(ticks.values()), name=safe(name),
        ends=[*limits] if limits else [],
    )  # fmt: skip


@form
def _bars(*, long: bool, truth: bool, noise: bool, symlog: bool, ended: bool) -> Any:
    import altair as alt

    parts = [f"released, ±{Z95} σ" if noise else "released", *(["true"] if truth else [])]
    looks = scale_of(parts, [SKY, RED][: len(parts)])

    axis = axis_with(labelAngle=-40, labelLimit=80) if long else axis_with(labelLimit=120)
    where, value, second = (alt.X, alt.Y, alt.Y2) if long else (alt.Y, alt.X, alt.X2)
    category = where("row:N", title=slot("name"), sort=slots("order"), axis=axis)
    ends: dict[str, Any] = {"domain": slots("ends"), "clamp": True} if ended else {}
    count = value(
        "released:Q", title="records",
        scale=alt.Scale(type="symlog" if symlog else "linear", **ends),
        axis=axis_with(**SHORT, grid=True, tickCount=6),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("row:N", title=slot("name")),
        *tips(released=("released", ",.1f"), std=("noise σ", ",.1f")),
        *(tips(exact=("true", ",")) if truth else []),
    ]
    base = source("counts").encode(category, tooltip=tooltip)
    layers = [as_part(base.mark_bar(stroke=None).encode(count), parts[0], looks)]
    if noise:
        rule = base.mark_rule(color=GREY, strokeWidth=2)
        layers.append(rule.encode(value("low:Q", title="records"), second("high")))
    if truth:
        point = base.mark_point(shape="diamond", filled=True, size=60, opacity=1)
        layers.append(as_part(point.encode(value("exact:Q")), parts[1], looks))
    return alt.layer(*layers)


def _bars_sentence(frame: pd.DataFrame, title: str, *, noise: bool) -> str:
    if not noise:
        return f"{title}: counts without known noise, so without intervals."
    if "exact" not in frame:
        return f"{title}: released counts with their 95 % noise interval."
    inside = (frame["difference"].abs() <= Z95 * frame["std"]).mean()
    return f"{title}: {percent(float(inside))} of the true counts lie within ±{Z95} σ."


def _bars_table(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    more = ["exact", "difference"] if "exact" in frame else []
    titles = [name, "released (records)", "noise σ", *(["true", "difference"] if more else [])]
    return frame[["c0", "released", "std", *more]].set_axis(titles, axis=1)
