"""Mechanisms beside each other; not private.

Every mechanism keeps its colour, shape and dash in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.demonstrating.comparison import CONTENDERS
from engine.mechanisms import catalogue
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
from engine.showing.palette import BLUE, DIVERGING, GREY, RED

if TYPE_CHECKING:
    import pandas as pd

STYLES: Mapping[str, tuple[str, str, list[int]]] = catalogue.Listing(
    "comparison",
    lambda entry: (entry.style.colour, entry.style.mark, list(entry.style.dash)),
)
"""Colour, shape and dash of each contender."""


def error_bands(bands: pd.DataFrame, *, unit: str) -> Figure:
    """Draw ``comparison.bands`` against epsilon: median, and the middle 80 % of the trials."""
    import altair as alt

    sources = Sources()
    log = bool((bands["low"] > 0).all())
    base = sources.chart(bands)
    x = _epsilon(bands["epsilon"])
    y_scale = alt.Scale(type="log" if log else "linear", nice=True)
    y_axis = axis_with(format="~g", grid=True, gridOpacity=0.25, tickCount=6)
    y = alt.Y("median:Q", title=unit, scale=y_scale, axis=y_axis)
    colour, shape, dash = by_mechanism(bands)
    tooltip = tips(
        name=("mechanism", None), epsilon=("ε", "g"), median=("median", ".4g"),
        low=("10 %", ".4g"), high=("90 %", ".4g"), trials=("trials", "d"),
    )  # fmt: skip
    band = base.mark_area(opacity=0.18).encode(
        x=x, y=alt.Y("low:Q", title=unit, scale=y_scale), y2=alt.Y2("high"), color=colour
    )
    lines = base.mark_line(strokeWidth=2.2).encode(x=x, y=y, color=colour, strokeDash=dash)
    points = base.mark_point(filled=True, size=75, opacity=1).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=tooltip
    )
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.7).encode(
        x=x, y=alt.Y("low:Q", title=unit), y2=alt.Y2("high"), color=colour
    )
    least = bands.iloc[int(bands["median"].argmin())]
    sentence = (
        f"Least {unit}: {least['median']:.3g}, {least['name']} at ε = {least['epsilon']:g}. Lines "
        f"are medians of {int(bands['trials'].max())} trials, bands their middle 80 %."
    )
    columns = ["name", "epsilon", "median", "low", "high", "trials"]
    table = bands[columns].set_axis(["mechanism", "ε", "median", "10 %", "90 %", "trials"], axis=1)
    return finished(
        alt.layer(band, bars, lines, points), sources, "Error against ε", sentence, NOT_PRIVATE,
        table, height=320,
    )  # fmt: skip


def _epsilon(values: pd.Series[float]) -> Any:
    import altair as alt

    ticks = sorted(set(values.tolist()))
    pad = 1.25
    scale = alt.Scale(type="log", domain=[ticks[0] / pad, ticks[-1] * pad], nice=False)
    axis = axis_with(values=ticks, format="~g", labelOverlap=True)
    return alt.X("epsilon:Q", title="ε (more private ← → more accurate)", scale=scale, axis=axis)


def by_mechanism(frame: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Colour, shape and dash by mechanism, with one legend for all three."""
    import altair as alt

    keys = [key for key in CONTENDERS if key in set(frame["mechanism"])]
    names = [CONTENDERS[key].name for key in keys]
    colours, shapes, dashes = zip(*(STYLES[key] for key in keys), strict=True)
    legend = legend_with(columns=2, symbolOpacity=1, symbolStrokeWidth=0)
    return (
        alt.Color(
            "name:N", title=None, scale=alt.Scale(domain=names, range=list(colours)), legend=legend
        ),
        alt.Shape(
            "name:N", title=None, scale=alt.Scale(domain=names, range=list(shapes)), legend=legend
        ),
        alt.StrokeDash(
            "name:N", title=None, scale=alt.Scale(domain=names, range=list(dashes)), legend=None
        ),
    )


def paired(frame: pd.DataFrame, first: str, second: str) -> Figure:
    """Draw ``comparison.paired``: the first mechanism's error relative to the second's."""
    import altair as alt
    import pandas as pd

    sources = Sources()
    data = frame.assign(
        state=np.where(
            frame["high"] < 0, "better", np.where(frame["low"] > 0, "worse", "not told apart")
        )
    )
    x = _epsilon(frame["epsilon"])
    title = f"error of {first}, less that of {second}"
    axis = axis_with(format="+.0%", grid=True, gridOpacity=0.25, tickCount=5)
    y = alt.Y("difference:Q", title="relative difference", axis=axis)
    colour = alt.Color(
        "state:N",
        title=None,
        scale=alt.Scale(domain=["better", "not told apart", "worse"], range=[BLUE, GREY, RED]),
        legend=legend_with(),
    )
    shape = alt.Shape(
        "state:N",
        title=None,
        scale=alt.Scale(
            domain=["better", "not told apart", "worse"],
            range=["triangle-down", "circle", "triangle-up"],
        ),
        legend=legend_with(),
    )
    zero = sources.chart(pd.DataFrame({"difference": [0.0]}))
    base = sources.chart(data)
    tooltip = tips(
        epsilon=("ε", "g"), difference=("mean", "+.1%"), low=("95 % from", "+.1%"),
        high=("to", "+.1%"), better=("trials won", "d"), trials=("of", "d"),
    )  # fmt: skip
    layers = [
        zero.mark_rule(color=GREY, strokeDash=[5, 4], strokeWidth=1.5).encode(y=y),
        base.mark_rule(strokeWidth=1.2, color=GREY).encode(
            x=x, y=alt.Y("least:Q"), y2=alt.Y2("most")
        ),
        base.mark_rule(strokeWidth=4).encode(
            x=x, y=alt.Y("low:Q"), y2=alt.Y2("high"), color=colour
        ),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=tooltip
        ),
    ]
    won, of = int(frame["better"].sum()), int(frame["trials"].sum())
    sentence = (
        f"{first} has the smaller error in {won} of {of} pairs with {second}. Below zero it is "
        "better. Thick: 95 % interval of the mean; thin: all trials."
    )
    columns = ["epsilon", "difference", "low", "high", "better", "trials"]
    table = frame[columns].set_axis(["ε", title, "95 % from", "to", "trials won", "trials"], axis=1)
    return finished(
        alt.layer(*layers), sources, "Seed by seed", sentence, NOT_PRIVATE, table, height=240
    )


def win_grid(frame: pd.DataFrame, hero: str) -> Figure:
    """Draw ``comparison.wins``: trials won against each rival at each epsilon."""
    import altair as alt

    sources = Sources()
    data = frame.assign(
        text=[f"{b}/{t}" for b, t in zip(frame["better"], frame["trials"], strict=True)],
        column=[f"{e:g}" for e in frame["epsilon"]],
        log=np.clip(np.log2(frame["ratio"]), -2, 2),
        word=[_word(r) for r in frame["ratio"]],
    )
    order = [f"{e:g}" for e in sorted(set(frame["epsilon"]))]
    rivals = list(dict.fromkeys(frame["name"]))
    x = alt.X("column:N", title="ε", sort=order, axis=axis_with(labelAngle=0))
    y = alt.Y("name:N", title=None, sort=rivals, axis=axis_with(labelLimit=130))
    scale = alt.Scale(domain=[-2, -1, 0, 1, 2], range=list(DIVERGING), interpolate="rgb")
    colour = alt.Color(
        "log:Q",
        title="error ÷ rival's",
        scale=scale,
        legend=legend_with(
            values=[-2, -1, 0, 1, 2],
            labelExpr="{'-2':'≤ ¼','-1':'½','0':'1','1':'2','2':'≥ 4'}[datum.value]",
            gradientLength=170,
            format="d",
        ),
    )
    base = sources.chart(data).encode(x=x, y=y)
    tooltip = tips(
        name=("rival", None), column=("ε", None), text=("trials won", None),
        ratio=("median error ÷ rival's", ".3g"),
    )  # fmt: skip
    tiles = base.mark_rect(stroke=GREY, strokeWidth=0.5).encode(color=colour, tooltip=tooltip)
    ink = alt.condition("abs(datum.log) > 1.4", alt.value("white"), alt.value("#1a1a1a"))
    words = base.mark_text(fontSize=13, fontWeight=600, dy=-7).encode(text="word:N", color=ink)
    counts = base.mark_text(fontSize=12, dy=9).encode(text="text:N", color=ink)
    won, lost = int((frame["ratio"] < 1).sum()), int((frame["ratio"] > 1).sum())
    sentence = (
        f"By median error {hero} wins {won} and loses {lost} of {len(frame)} comparisons; in each "
        "field the trials it won."
    )
    table = frame[["name", "epsilon", "better", "trials", "ratio"]].set_axis(
        ["rival", "ε", "trials won", "trials", "median error ÷ rival's"], axis=1
    )
    return finished(
        alt.layer(tiles, words, counts), sources, f"{hero} wins, and loses", sentence, NOT_PRIVATE,
        table, height=46 * len(rivals) + 10,
    )  # fmt: skip


def _word(ratio: float) -> str:
    return "wins" if ratio < 0.98 else "loses" if ratio > 1.02 else "even"


def run_time(bands: pd.DataFrame) -> Figure:
    """Draw ``comparison.bands`` of seconds: median run time over all epsilon, with its range."""
    import altair as alt

    sources = Sources()
    data = (
        bands.groupby(["mechanism", "name"], sort=False)
        .agg(median=("median", "median"), least=("low", "min"), most=("high", "max"))
        .reset_index()
    )
    colour, shape, _ = by_mechanism(data)
    colour.legend = shape.legend = None
    order = data["name"].tolist()
    y = alt.Y(
        "name:N", title=None, sort=order, axis=axis_above(), scale=alt.Scale(paddingInner=0.6)
    )
    scale = alt.Scale(type="log", nice=False, padding=14)
    axis = axis_with(format="~g", grid=True, gridOpacity=0.25, tickCount=4)
    x = alt.X("median:Q", title="seconds (log)", scale=scale, axis=axis)
    base = sources.chart(data)
    layers = [
        base.mark_rule(strokeWidth=3, opacity=0.5).encode(
            y=y, x=alt.X("least:Q", scale=scale), x2=alt.X2("most"), color=colour
        ),
        base.mark_point(filled=True, size=120, opacity=1).encode(
            y=y, x=x, color=colour, shape=shape,
            tooltip=tips(
                name=("mechanism", None), median=("seconds", ".3g"), least=("from", ".3g"),
                most=("to", ".3g"),
            ),
        ),
    ]  # fmt: skip
    fast, slow = (
        data.iloc[int(data["median"].argmin())],
        data.iloc[int(data["median"].argmax())],
    )
    sentence = (
        f"Fastest is {fast['name']} with {fast['median']:.2g} s, slowest {slow['name']} with "
        f"{slow['median']:.2g} s; running and answering every marginal, on this machine."
    )
    table = data[["name", "median", "least", "most"]].set_axis(
        ["mechanism", "seconds (median)", "from", "to"], axis=1
    )
    return finished(
        alt.layer(*layers), sources, "Run time", sentence, NOT_PRIVATE, table,
        height=38 * len(order) + 8,
    )  # fmt: skip


def trade_off(frame: pd.DataFrame, base_name: str) -> Figure:
    """Draw ``comparison.relative``, the paper's Figure 4: error and time relative to one, by ε."""
    import altair as alt
    import pandas as pd

    sources = Sources()
    data = frame.assign(label=[f"{e:g}" for e in frame["epsilon"]])
    _, shape, _ = by_mechanism(data)
    shape.legend = legend_with(columns=2, symbolFillColor=GREY, symbolStrokeColor=GREY)
    limits = [float(frame["epsilon"].min()), float(frame["epsilon"].max())]
    colour = alt.Color(
        "epsilon:Q",
        title="ε",
        scale=alt.Scale(type="log", scheme="viridis", domain=limits, reverse=False),
        legend=legend_with(
            orient="top", format="~g", gradientLength=150, values=sorted(set(frame["epsilon"]))
        ),
    )
    axis = axis_with(format="~g", grid=True, gridOpacity=0.25, tickCount=5)
    scale = alt.Scale(type="log", nice=False, padding=22)
    x = alt.X("time:Q", title=f"time ÷ {base_name}'s (log)", scale=scale, axis=axis)
    y = alt.Y("error:Q", title=f"error ÷ {base_name}'s (log)", scale=scale, axis=axis)
    base = sources.chart(data)
    one = sources.chart(pd.DataFrame({"time": [1.0], "error": [1.0]}))
    rule: dict[str, Any] = {"color": GREY, "strokeDash": [5, 4], "strokeWidth": 1.2}
    tooltip = tips(
        name=("mechanism", None), epsilon=("ε", "g"), error=("error ÷ base", ".3g"),
        time=("time ÷ base", ".3g"),
    )  # fmt: skip
    layers = [
        one.mark_rule(**rule).encode(x=x),
        one.mark_rule(**rule).encode(y=y),
        base.mark_line(color=GREY, strokeWidth=1.5, opacity=0.8).encode(
            x=x, y=y, detail="name:N", order="epsilon:Q"
        ),
        base.mark_point(filled=True, size=150, opacity=1, stroke=GREY, strokeWidth=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=tooltip
        ),
        base.mark_text(dx=12, align="left", fontSize=12, color=GREY).encode(
            x=x, y=y, text="label:N"
        ),
    ]
    best = frame.iloc[int(frame["error"].argmin())]
    sentence = (
        f"Below the dashed line the error is smaller than {base_name}'s, right of it the time "
        f"larger. Least: {best['name']} at ε = {best['epsilon']:g} with {best['error']:.3g} times "
        f"the error in {best['time']:.3g} times the time."
    )
    table = frame[["name", "epsilon", "error", "time"]].set_axis(
        ["mechanism", "ε", f"error ÷ {base_name}'s", f"time ÷ {base_name}'s"], axis=1
    )
    return finished(
        alt.layer(*layers), sources, "Error, time and ε (the paper's Figure 4)", sentence,
        NOT_PRIVATE, table, height=340,
    )  # fmt: skip
