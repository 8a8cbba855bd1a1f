"""Charts of whole runs: the error round by round, and many runs against epsilon. Not private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.showing.badges import NOT_PRIVATE
from engine.showing.figure import (
    Figure,
    Sources,
    axis_with,
    finished,
    legend_with,
)
from engine.showing.palette import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY
from engine.showing.sentences import after
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Ghost:
    """Another run's ``views.errors``, to be drawn dashed beside this one's."""

    label: str
    frame: pd.DataFrame


def error_curve(
    frame: pd.DataFrame, *, at: int, normalized: bool = True, ghosts: Sequence[Ghost] = ()
) -> Figure:
    """Draw ``views.errors`` with a cursor at one round, and other runs' curves as ghosts."""
    import altair as alt

    sources = Sources()
    unit = "mean L1 error ÷ N" if normalized else "mean L1 error (records)"
    last = int(max(f["round"].max() for f in (frame, *(g.frame for g in ghosts))))
    ticks = None if last > 20 else list(range(last + 1))
    axis = axis_with(format="d", tickMinStep=1, **({} if ticks is None else {"values": ticks}))
    x = alt.X("round:Q", title="round", scale=alt.Scale(domain=[0, max(last, 1)]), axis=axis)
    y = alt.Y(
        "error:Q", title=unit, scale=alt.Scale(zero=True), axis=axis_with(format="~g", grid=True)
    )
    tooltip = [
        alt.Tooltip("round:Q", title="round"),
        alt.Tooltip("error:Q", title=unit, format=".4g"),
    ]
    base = sources.chart(frame).encode(x=x, y=y, tooltip=tooltip)
    line = base.mark_line(color=BLUE, strokeWidth=2.5)
    points = base.mark_circle(color=BLUE, size=26 if last > 40 else 46, opacity=1)
    here = base.transform_filter(alt.datum.round == at)
    cursor = here.mark_rule(color=RED, strokeDash=[5, 4], strokeWidth=2).encode(
        x=x, y=alt.value(0), y2=alt.value("height")
    )
    dot = here.mark_point(color=RED, shape="diamond", size=150, filled=True, opacity=1)
    now = float(frame.loc[frame["round"] == at, "error"].iloc[0])
    first = float(frame["error"].iloc[0])
    sentence = f"The {unit} is {now:.3g} {after(at)}; it was {first:.3g} before the first round."
    layers = [cursor, line, points, dot]
    if ghosts:
        layers.insert(0, _ghost_lines(sources, ghosts, x, y, unit))
        ends = (f"{g.label} ends at {g.frame['error'].iloc[-1]:.3g}" for g in ghosts)
        sentence += f" Dashed: {'; '.join(ends)}."
    return finished(
        alt.layer(*layers), sources, "True error, round by round", sentence,
        NOT_PRIVATE, _error_table(frame, ghosts, unit), height=210,
    )  # fmt: skip


def _ghost_lines(sources: Sources, ghosts: Sequence[Ghost], x: Any, y: Any, unit: str) -> Any:
    import altair as alt
    import pandas as pd

    labels = distinct((ghost.label for ghost in ghosts), longest=60)
    data = pd.concat([g.frame.assign(run=n) for g, n in zip(ghosts, labels, strict=True)])
    dashes = [[7, 4], [2, 3], [9, 3, 2, 3]]
    n = len(labels)
    kind = alt.Scale(domain=labels, range=[ORANGE, GREEN, PINK][:n])
    dash = alt.Scale(domain=labels, range=dashes[:n])
    legend = legend_with(columns=1, labelLimit=320, symbolType="stroke", symbolSize=260)
    return (
        sources.chart(data)
        .mark_line(strokeWidth=2.2)
        .encode(
            x=x,
            y=y,
            color=alt.Color("run:N", title=None, scale=kind, legend=legend),
            strokeDash=alt.StrokeDash("run:N", title=None, scale=dash, legend=legend),
            tooltip=[
                alt.Tooltip("run:N", title="run"),
                alt.Tooltip("round:Q", title="round"),
                alt.Tooltip("error:Q", title=unit, format=".4g"),
            ],
        )
    )


def _error_table(frame: pd.DataFrame, ghosts: Sequence[Ghost], unit: str) -> pd.DataFrame:
    """One row a round, one column a run."""
    table = frame.set_index("round")[["error"]].set_axis([unit], axis=1)
    for ghost in ghosts:
        column = ghost.frame.set_index("round")[["error"]]
        table = table.join(column.set_axis([f"{unit}, {ghost.label}"], axis=1), how="outer")
    return table.reset_index()


def trials(frame: pd.DataFrame, *, normalized: bool = True) -> Figure:
    """Draw true errors of repeated runs against epsilon, one line a mechanism. Not private.

    Args:
        frame: One row a run: mechanism, epsilon, seed and error (mean L1).
        normalized: Whether errors are divided by N.
    """
    import altair as alt
    import pandas as pd

    sources = Sources()
    unit = "mean L1 error ÷ N" if normalized else "mean L1 error (records)"
    grouped = frame.groupby(["mechanism", "epsilon"], sort=False)["error"]
    ends = {"low": grouped.quantile(0.1), "error": grouped.median(), "high": grouped.quantile(0.9)}
    data = pd.DataFrame({**ends, "trials": grouped.size()}).reset_index()
    names = list(frame["mechanism"].unique())
    legend = dict(zip(names, distinct(names, longest=44), strict=True))
    data["name"] = [legend[name] for name in data["mechanism"]]
    shown = list(legend.values())
    colours = [BLUE, RED, GREEN, ORANGE, PINK, SKY, GREY]
    colour = alt.Color(
        "name:N", title=None, legend=legend_with(columns=2, symbolOpacity=1),
        scale=alt.Scale(domain=shown, range=[colours[k % 7] for k in range(len(shown))]),
    )  # fmt: skip
    shape = alt.Shape(
        "name:N",
        title=None,
        scale=alt.Scale(domain=shown),
        legend=legend_with(columns=2, symbolOpacity=1),
    )
    ticks = sorted(float(e) for e in data["epsilon"].unique())
    x = alt.X(
        "epsilon:Q", title="ε (log scale): less private to the right",
        scale=alt.Scale(type="log", nice=False, padding=18),
        axis=axis_with(values=ticks, format="~g"),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("name:N", title="mechanism"),
        alt.Tooltip("epsilon:Q", title="ε"),
        alt.Tooltip("error:Q", title=unit, format=".4g"),
        alt.Tooltip("trials:Q", title="runs"),
    ]
    base = sources.chart(data).encode(x=x, color=colour, tooltip=tooltip)
    # A line at the bottom says nothing about which is lower: past a factor of 20, a log scale.
    wide = float(data["low"].min()) > 0 and float(data["high"].max() / data["low"].min()) > 20
    scale = alt.Scale(type="log", nice=True) if wide else alt.Scale(zero=True)
    title = f"{unit} (log scale)" if wide else unit
    axis = axis_with(format="~g", grid=True, tickCount=6)
    y = alt.Y("error:Q", title=title, scale=scale, axis=axis)
    reach = base.mark_rule(strokeWidth=7, opacity=0.3).encode(
        y=alt.Y("low:Q", title=title, scale=scale, axis=axis), y2=alt.Y2("high")
    )
    line = base.mark_line(strokeWidth=2).encode(y=y)
    points = base.mark_point(size=90, filled=True, opacity=1).encode(y=y, shape=shape)
    best = data.sort_values(["epsilon", "error"]).drop_duplicates("epsilon")
    won = "; ".join(
        f"at ε = {row.epsilon:g} {row.mechanism} is lowest ({row.error:.3g})"
        for row in best.itertuples()
    )
    sentence = (
        f"Points are medians over seeds, bars reach from the 10 % to the 90 % quantile: {won}."
    )
    table = data[["mechanism", "epsilon", "trials", "low", "error", "high"]].set_axis(
        ["mechanism", "ε", "runs", "10 %", "median", "90 %"], axis=1
    )
    return finished(
        alt.layer(reach, line, points), sources, "Error against ε", sentence, NOT_PRIVATE, table,
        height=260,
    )  # fmt: skip
