"""Mechanisms beside each other; not private.

Every mechanism keeps its colour, shape and dash in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.contender_looks import STYLES as STYLES
from engine.showing.contender_looks import by_colour, looks_of, shaped
from engine.showing.figure import Columns, Figure, columns, drawn
from engine.showing.guides import (
    axis_above,
    axis_with,
    legend_with,
    light_grid,
    scale_of,
    source,
    tips,
)
from engine.showing.line_ends import Span, clear_of_each_other, line_ends, names_at_ends, span
from engine.showing.palette import (
    BLUE,
    DIVERGING,
    GREY,
    INK,
    RED,
)
from engine.showing.template import form, slot, slots

if TYPE_CHECKING:
    import pandas as pd

_BANDS = 320
"""Height in pixels."""
_TRADE = 340
"""The same of Figure 4."""
_FEW = 10
"""Lines whose names have room beside a picture of that height."""
_ROOM = 0.3
"""Share of the width kept for names at the ends of lines."""


# -- error against epsilon -------------------------------------------------------------------------


def error_bands(bands: pd.DataFrame, *, unit: str) -> Figure:
    """Draw ``comparison.bands`` against epsilon: median, and the middle 80 % of the trials."""
    log = bool((bands["low"] > 0).all())
    ticks = sorted(set(bands["epsilon"].tolist()))
    across = span(ticks, log=True).widened(_ROOM)
    down = span([*bands["low"].tolist(), *bands["high"].tolist()], log=log)
    looks = looks_of(bands["mechanism"].tolist())
    kept = ("name", "epsilon", "median", "low", "high", "trials", "mechanism")
    least = bands.iloc[int(bands["median"].argmin())]
    twins = _twins(bands)
    alike = "".join(f" {second} coincides with {first}." for second, first in twins.items())
    sentence = (
        f"Least {unit}: {least['median']:.3g}, {least['name']} at ε = {least['epsilon']:g}.{alike} "
        f"Lines are medians of {int(bands['trials'].max())} trials, bands their middle 80 %."
    )
    height = _BANDS + 30 * max(len(looks["names"]) - _FEW, 0)
    return drawn(
        _error_bands(log=log), title="Error against ε", sentence=sentence, of=[bands],
        table=lambda: bands[[*kept[:6]]].set_axis(
            ["mechanism", "ε", "median", "10 %", "90 %", "trials"], axis=1
        ),
        height=height,
        data={
            "bands": columns(len(bands), **{name: bands[name] for name in kept}),
            "ends": _ends(bands, looks["names"], across, down, height),
        },
        unit=unit, ticks=ticks, across=across.ends, down=down.ends, **looks,
    )  # fmt: skip


def _twins(bands: pd.DataFrame, close: float = 0.005) -> dict[str, str]:
    """Names of lines that lie on an earlier one everywhere, with its name."""
    lines = bands.pivot_table(index="name", columns="epsilon", values="median", sort=False)
    names, values = list(lines.index), lines.to_numpy(dtype=float)
    twins: dict[str, str] = {}
    for k, name in enumerate(names):
        for before in range(k):
            there = names[before] not in twins
            if there and np.allclose(values[k], values[before], rtol=close, atol=0.0):
                twins[name] = names[before]
                break
    return twins


def _ends(bands: pd.DataFrame, names: list[str], across: Span, down: Span, height: int) -> Columns:
    last: dict[str, tuple[float, float]] = {}
    points = zip(bands["name"], bands["epsilon"].tolist(), bands["median"].tolist(), strict=True)
    for name, epsilon, median in points:
        if name not in last or epsilon >= last[name][0]:
            last[name] = (epsilon, median)
    return line_ends(names, [last[name] for name in names], across, down, height=height)


@form
def _error_bands(*, log: bool) -> Any:
    import altair as alt

    scale = alt.Scale(type="log" if log else "linear", domain=slots("down"), nice=False)
    axis = light_grid(format="~g", tickCount=6)

    def down(field: str) -> Any:
        return alt.Y(f"{field}:Q", title=slot("unit"), scale=scale, axis=axis)

    dash = alt.StrokeDash(
        "name:N", legend=None, scale=alt.Scale(domain=slots("names"), range=slots("dashes"))
    )
    tooltip = tips(
        name=("mechanism", None), epsilon=("ε", "g"), median=("median", ".4g"),
        low=("10 %", ".4g"), high=("90 %", ".4g"), trials=("trials", "d"),
    )  # fmt: skip
    base = source("bands").encode(x=_epsilon(), color=by_colour())
    points = base.mark_point(filled=True, size=75, opacity=1)
    return alt.layer(
        base.mark_area(opacity=0.18).encode(y=down("low"), y2=alt.Y2("high")),
        base.mark_rule(strokeWidth=1.5, opacity=0.7).encode(y=down("low"), y2=alt.Y2("high")),
        base.mark_line(strokeWidth=2.2).encode(y=down("median"), strokeDash=dash),
        points.encode(y=down("median"), shape=shaped(), tooltip=tooltip),
        *names_at_ends(log_x=True, log_y=log),
    )


def _epsilon() -> Any:
    import altair as alt

    scale = alt.Scale(type="log", domain=slots("across"), nice=False)
    axis = axis_with(values=slots("ticks"), format="~g", labelOverlap=True)
    return alt.X("epsilon:Q", title="ε (more private ← → more accurate)", scale=scale, axis=axis)


# -- seed by seed ----------------------------------------------------------------------------------


def paired(frame: pd.DataFrame, first: str, second: str) -> Figure:
    """Draw ``comparison.paired``: the first mechanism's error relative to the second's."""
    low, high = frame["low"].to_numpy(), frame["high"].to_numpy()
    kept = ("epsilon", "difference", "low", "high", "better", "trials", "least", "most")
    pairs = columns(
        len(frame), state=np.where(high < 0, _STATES[0], np.where(low > 0, _STATES[2], _STATES[1])),
        **{name: frame[name] for name in kept},
    )  # fmt: skip
    ticks = sorted(set(frame["epsilon"].tolist()))
    won, of = int(frame["better"].sum()), int(frame["trials"].sum())
    sentence = (
        f"{first} has the smaller error in {won} of {of} pairs with {second}. Below zero it is "
        "better. Thick: 95 % interval of the mean; thin: all trials."
    )
    title = f"error of {first}, less that of {second}"
    return drawn(
        _paired(), title="Seed by seed", sentence=sentence, of=[frame],
        table=lambda: frame[[*kept[:6]]].set_axis(
            ["ε", title, "95 % from", "to", "trials won", "trials"], axis=1
        ),
        height=240, data={"pairs": pairs, "zero": {"difference": [0.0]}}, ticks=ticks,
        across=span(ticks, log=True).ends,
    )  # fmt: skip


_STATES = ["better", "not told apart", "worse"]


@form
def _paired() -> Any:
    import altair as alt

    axis = light_grid(format="+.0%", tickCount=5)
    y = alt.Y("difference:Q", title="relative difference", axis=axis)
    colour = alt.Color(
        "state:N", title=None, scale=scale_of(_STATES, [BLUE, GREY, RED]), legend=legend_with()
    )
    shape = alt.Shape(
        "state:N", title=None, legend=legend_with(),
        scale=scale_of(_STATES, ["triangle-down", "circle", "triangle-up"]),
    )  # fmt: skip
    tooltip = tips(
        epsilon=("ε", "g"), difference=("mean", "+.1%"), low=("95 % from", "+.1%"),
        high=("to", "+.1%"), better=("trials won", "d"), trials=("of", "d"),
    )  # fmt: skip
    base = source("pairs").encode(x=_epsilon())
    zero = source("zero").mark_rule(color=GREY, strokeDash=[5, 4], strokeWidth=1.5)
    return alt.layer(
        zero.encode(y=y),
        base.mark_rule(strokeWidth=1.2, color=GREY).encode(y=alt.Y("least:Q"), y2=alt.Y2("most")),
        base.mark_rule(strokeWidth=4).encode(y=alt.Y("low:Q"), y2=alt.Y2("high"), color=colour),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            y=y, color=colour, shape=shape, tooltip=tooltip
        ),
    )


# -- trials won ------------------------------------------------------------------------------------


def win_grid(frame: pd.DataFrame, hero: str) -> Figure:
    """Draw ``comparison.wins``: trials won against each rival at each epsilon."""
    ratios = frame["ratio"].to_numpy(dtype=float)
    rivals = list(dict.fromkeys(frame["name"]))
    fields = columns(
        len(frame), name=frame["name"], column=[f"{e:g}" for e in frame["epsilon"].tolist()],
        text=[f"{b}/{t}" for b, t in zip(frame["better"], frame["trials"], strict=True)],
        log=np.clip(np.log2(ratios), -2, 2), word=[_word(r) for r in ratios.tolist()],
        ratio=ratios,
    )  # fmt: skip
    sentence = (
        f"By median error {hero} wins {int((ratios < 1).sum())} and loses "
        f"{int((ratios > 1).sum())} of {len(frame)} comparisons; in each field the trials it won."
    )
    return drawn(
        _win_grid(), title=f"{hero} wins, and loses", sentence=sentence, of=[frame],
        table=lambda: frame[["name", "epsilon", "better", "trials", "ratio"]].set_axis(
            ["rival", "ε", "trials won", "trials", "median error ÷ rival's"], axis=1
        ),
        height=46 * len(rivals) + 10, data={"fields": fields}, rivals=rivals,
        order=[f"{e:g}" for e in sorted(set(frame["epsilon"].tolist()))],
    )  # fmt: skip


@form
def _win_grid() -> Any:
    import altair as alt

    x = alt.X("column:N", title="ε", sort=slots("order"), axis=axis_with(labelAngle=0))
    y = alt.Y("name:N", title=None, sort=slots("rivals"), axis=axis_with(labelLimit=130))
    stops = [-2, -1, 0, 1, 2]
    colour = alt.Color(
        "log:Q",
        title="error ÷ rival's",
        scale=alt.Scale(domain=stops, range=list(DIVERGING), interpolate="rgb"),
        legend=legend_with(
            values=stops,
            labelExpr="{'-2':'≤ ¼','-1':'½','0':'1','1':'2','2':'≥ 4'}[datum.value]",
            gradientLength=170,
            format="d",
        ),
    )
    base = source("fields").encode(x=x, y=y)
    tooltip = tips(
        name=("rival", None), column=("ε", None), text=("trials won", None),
        ratio=("median error ÷ rival's", ".3g"),
    )  # fmt: skip
    tiles = base.mark_rect(stroke=GREY, strokeWidth=0.5).encode(color=colour, tooltip=tooltip)
    ink = alt.condition("abs(datum.log) > 1.4", alt.value("white"), alt.value(INK))
    words = base.mark_text(fontSize=13, fontWeight=600, dy=-7).encode(text="word:N", color=ink)
    counts = base.mark_text(fontSize=12, dy=9).encode(text="text:N", color=ink)
    return alt.layer(tiles, words, counts)


def _word(ratio: float) -> str:
    return "wins" if ratio < 0.98 else "loses" if ratio > 1.02 else "even"


# -- time ------------------------------------------------------------------------------------------


def run_time(bands: pd.DataFrame) -> Figure:
    """Draw ``comparison.bands`` of seconds: median run time over all epsilon, with its range."""
    data = (
        bands.groupby(["mechanism", "name"], sort=False)
        .agg(median=("median", "median"), least=("low", "min"), most=("high", "max"))
        .reset_index()
    )
    fast = data.iloc[int(data["median"].argmin())]
    slow = data.iloc[int(data["median"].argmax())]
    sentence = (
        f"Fastest is {fast['name']} with {fast['median']:.2g} s, slowest {slow['name']} with "
        f"{slow['median']:.2g} s; running and answering every marginal, on this machine."
    )
    kept = ["name", "median", "least", "most"]
    return drawn(
        _run_time(), title="Run time", sentence=sentence, of=[bands],
        table=lambda: data[kept].set_axis(["mechanism", "seconds (median)", "from", "to"], axis=1),
        height=38 * len(data) + 8, order=data["name"].tolist(),
        data={"times": columns(len(data), **{name: data[name] for name in kept})},
        **looks_of(data["mechanism"].tolist()),
    )  # fmt: skip


@form
def _run_time() -> Any:
    import altair as alt

    y = alt.Y("name:N", title=None, sort=slots("order"), axis=axis_above(),
              scale=alt.Scale(paddingInner=0.6))  # fmt: skip
    scale = alt.Scale(type="log", nice=False, padding=14)
    axis = light_grid(format="~g", tickCount=4)
    x = alt.X("median:Q", title="seconds (log)", scale=scale, axis=axis)
    tooltip = tips(
        name=("mechanism", None), median=("seconds", ".3g"), least=("from", ".3g"),
        most=("to", ".3g"),
    )  # fmt: skip
    base = source("times").encode(y=y, color=by_colour())
    reach = base.mark_rule(strokeWidth=3, opacity=0.5)
    points = base.mark_point(filled=True, size=120, opacity=1)
    return alt.layer(
        reach.encode(x=alt.X("least:Q", scale=scale), x2=alt.X2("most")),
        points.encode(x=x, shape=shaped(), tooltip=tooltip),
    )


def trade_off(frame: pd.DataFrame, base_name: str) -> Figure:
    """Draw ``comparison.relative``, the paper's Figure 4: error and time relative to one, by ε.

    Each line is named once, and ε is written at both of its ends; colour tells those between.
    """
    looks = looks_of(frame["mechanism"].tolist())
    kept = ("name", "epsilon", "error", "time")
    ends = _trade_ends(frame)
    best = frame.iloc[int(frame["error"].argmin())]
    sentence = (
        f"Below the dashed line the error is smaller than {base_name}'s, right of it the time "
        f"larger. Least: {best['name']} at ε = {best['epsilon']:g} with {best['error']:.3g} times "
        f"the error in {best['time']:.3g} times the time."
    )
    epsilons = sorted(set(frame["epsilon"].tolist()))
    return drawn(
        _trade_off(), title="Error, time and ε (the paper's Figure 4)", sentence=sentence,
        of=[frame],
        table=lambda: frame[[*kept]].set_axis(
            ["mechanism", "ε", f"error ÷ {base_name}'s", f"time ÷ {base_name}'s"], axis=1
        ),
        height=_TRADE,
        data={
            "points": columns(len(frame), **{name: frame[name] for name in kept}),
            "ends": ends, "one": {"time": [1.0], "error": [1.0]},
        },
        limits=[epsilons[0], epsilons[-1]], epsilons=epsilons,
        x_title=f"time ÷ {base_name}'s (log)", y_title=f"error ÷ {base_name}'s (log)",
        names=looks["names"], shapes=looks["shapes"],
    )  # fmt: skip


def _trade_ends(frame: pd.DataFrame) -> Columns:
    """The first and the last ε of each line; a line that is one point everywhere says so.

    Of labels that would stand on each other the first is written alone.
    """
    ends: dict[str, list[Any]] = {"time": [], "error": [], "label": []}
    for name, line in frame.sort_values("epsilon", kind="stable").groupby("name", sort=False):
        points = line[["time", "error"]].to_numpy(dtype=float)
        epsilons = line["epsilon"].tolist()
        still = bool(np.allclose(points, points[0], rtol=0.02))
        shown = [len(points) - 1] if still else sorted({0, len(points) - 1})
        for k in shown:
            ends["time"].append(points[k][0])
            ends["error"].append(points[k][1])
            every = f"{name}, every ε" if still and len(points) > 1 else f"{epsilons[k]:g}"
            ends["label"].append(every)
    places = list(zip(ends["time"], ends["error"], strict=True))
    if not all(x > 0 and y > 0 for x, y in places):
        return ends
    kept = clear_of_each_other(ends["label"], places, width=380, height=_TRADE)
    return {field: [values[k] for k in kept] for field, values in ends.items()}


@form
def _trade_off() -> Any:
    import altair as alt

    colour = alt.Color(
        "epsilon:Q", title="ε",
        scale=alt.Scale(type="log", scheme="viridis", domain=slots("limits"), reverse=False),
        legend=legend_with(orient="top", format="~g", gradientLength=150, values=slots("epsilons")),
    )  # fmt: skip
    axis = light_grid(format="~g", tickCount=5)
    scale = alt.Scale(type="log", nice=False, padding=26)
    x = alt.X("time:Q", title=slot("x_title"), scale=scale, axis=axis)
    y = alt.Y("error:Q", title=slot("y_title"), scale=scale, axis=axis)
    rule = source("one").mark_rule(color=GREY, strokeDash=[5, 4], strokeWidth=1.2)
    base = source("points").encode(x=x, y=y)
    legend = legend_with(columns=2, symbolFillColor=GREY, symbolStrokeColor=GREY)
    points = base.mark_point(filled=True, size=150, opacity=1, stroke=GREY, strokeWidth=1)
    tooltip = tips(
        name=("mechanism", None), epsilon=("ε", "g"), error=("error ÷ base", ".3g"),
        time=("time ÷ base", ".3g"),
    )  # fmt: skip
    text = source("ends").mark_text(dx=12, align="left", fontSize=12, color=GREY)
    return alt.layer(
        rule.encode(x=x),
        rule.encode(y=y),
        base.mark_line(color=GREY, strokeWidth=1.5, opacity=0.8).encode(
            detail="name:N", order="epsilon:Q"
        ),
        points.encode(color=colour, shape=shaped(legend), tooltip=tooltip),
        text.encode(x=x, y=y, text="label:N"),
    )
