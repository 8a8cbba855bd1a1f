"""Charts of whole runs: the error round by round, and many runs against epsilon. Not private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.showing.figure import Figure, columns, drawn
from engine.showing.framed import Plain
from engine.showing.guides import axis_with, source, tips
from engine.showing.line_ends import Span, coloured, line_ends, names_at_ends, span
from engine.showing.palette import BLUE, GREEN, GREY, ORANGE, PINK, PURPLE, RED
from engine.showing.sentences import after
from engine.showing.template import form, slot, slots
from engine.showing.texts import distinct

if TYPE_CHECKING:
    import pandas as pd

_CURVE, _TRIALS = 210, 260
"""Heights in pixels."""
_ROOM = 0.3
"""Share of the width kept for names at the ends of lines."""

# -- round by round --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Ghost:
    """Another run's ``views.errors``, to be drawn dashed beside this one's."""

    label: str
    frame: pd.DataFrame


def error_curve(
    frame: pd.DataFrame, *, at: int, normalized: bool = True, ghosts: Sequence[Ghost] = ()
) -> Figure:
    """Draw ``views.errors`` with a cursor at one round, and other runs' curves as ghosts."""
    # Long: the data of one picture, and its sentence.
    unit = "mean L1 error ÷ N" if normalized else "mean L1 error (records)"
    (rounds, error), *past = (
        (read.list("round"), read.list("error"))
        for read in map(Plain, (frame, *(ghost.frame for ghost in ghosts)))
    )
    last = max(max(r) for r, _ in [(rounds, error), *past])
    across = Span(0.0, float(max(last, 1)))
    across = across.widened(_ROOM) if ghosts else across
    down = span([*error, *(e for _, errors in past for e in errors)], log=False)
    names = distinct((ghost.label for ghost in ghosts), longest=40)
    here = rounds.index(at)
    data = {
        "rounds": columns(len(rounds), round=rounds, error=error),
        "here": {"round": [at], "error": [error[here]]},
    }
    if ghosts:
        points = [(float(r[-1]), float(e[-1])) for r, e in past]
        data["ends"] = line_ends(names, points, across, down, height=_CURVE)
        data["ghosts"] = {
            "name": [name for name, (r, _) in zip(names, past, strict=True) for _ in r],
            "round": [number for r, _ in past for number in r],
            "error": [value for _, e in past for value in e],
        }
    sentence = (
        f"The {unit} is {error[here]:.3g} {after(at)}; it was {error[0]:.3g} before the first "
        "round."
    )
    if ghosts:
        ends = (f"{g.label} ends at {e[-1]:.3g}" for g, (_, e) in zip(ghosts, past, strict=True))
        sentence += f" Dashed: {'; '.join(ends)}."
    return drawn(
        _error_curve(ghosts=bool(ghosts), many=last > 40), title="True error, round by round",
        sentence=sentence, of=[frame, *(g.frame for g in ghosts)],
        table=lambda: _error_table(frame, ghosts, unit), height=_CURVE, data=data, unit=unit,
        across=across.ends, down=down.ends, ticks=_round_ticks(last), names=names,
        colours=[(ORANGE, GREEN, PINK)[k % 3] for k in range(len(names))],
        dashes=[([7, 4], [2, 3], [9, 3, 2, 3])[k % 3] for k in range(len(names))],
    )  # fmt: skip


def _round_ticks(last: int) -> list[int]:
    """At most twenty rounds: all of them, or every second, fifth, tenth and so on."""
    steps = (step * 10**power for power in range(9) for step in (1, 2, 5))
    step = next(step for step in steps if last <= 20 * step)
    return list(range(0, last + 1, step))


@form
def _error_curve(*, ghosts: bool, many: bool) -> Any:
    import altair as alt

    scale = alt.Scale(domain=slots("across"), nice=False)
    x = alt.X("round:Q", title="round", scale=scale,
              axis=axis_with(format="d", values=slots("ticks"), labelOverlap=True))  # fmt: skip
    y = alt.Y("error:Q", title=slot("unit"), axis=axis_with(format="~g", grid=True),
              scale=alt.Scale(domain=slots("down"), nice=False))  # fmt: skip
    tooltip = [
        alt.Tooltip("round:Q", title="round"),
        alt.Tooltip("error:Q", title=slot("unit"), format=".4g"),
    ]
    base = source("rounds").encode(x=x, y=y, tooltip=tooltip)
    here = source("here").encode(x=x, y=y, tooltip=tooltip)
    cursor = here.mark_rule(color=RED, strokeDash=[5, 4], strokeWidth=2).encode(
        y=alt.value(0), y2=alt.value("height")
    )
    layers = [
        cursor,
        base.mark_line(color=BLUE, strokeWidth=2.5),
        base.mark_circle(color=BLUE, size=26 if many else 46, opacity=1),
        here.mark_point(color=RED, shape="diamond", size=150, filled=True, opacity=1),
    ]
    if ghosts:
        dash = alt.Scale(domain=slots("names"), range=slots("dashes"))
        past = source("ghosts").mark_line(strokeWidth=2.2)
        lines = past.encode(
            x=x, y=y, color=alt.Color("name:N", scale=coloured(), legend=None),
            strokeDash=alt.StrokeDash("name:N", scale=dash, legend=None),
            tooltip=[alt.Tooltip("name:N", title="run"), *tooltip],
        )  # fmt: skip
        layers = [lines, *names_at_ends(log_x=False, log_y=False), *layers]
    return alt.layer(*layers)


def _error_table(frame: pd.DataFrame, ghosts: Sequence[Ghost], unit: str) -> pd.DataFrame:
    """One row a round, one column a run."""
    table = frame.set_index("round")[["error"]].set_axis([unit], axis=1)
    for ghost in ghosts:
        column = ghost.frame.set_index("round")[["error"]]
        table = table.join(column.set_axis([f"{unit}, {ghost.label}"], axis=1), how="outer")
    return table.reset_index()


# -- many runs -------------------------------------------------------------------------------------


def trials(frame: pd.DataFrame, *, normalized: bool = True) -> Figure:
    """Draw true errors of repeated runs against epsilon, one line a mechanism. Not private.

    Args:
        frame: One row a run: mechanism, epsilon, seed and error (mean L1).
        normalized: Whether errors are divided by N.
    """
    import pandas as pd

    grouped = frame.groupby(["mechanism", "epsilon"], sort=False)["error"]
    parts = {"low": grouped.quantile(0.1), "error": grouped.median(), "high": grouped.quantile(0.9)}
    data = pd.DataFrame({**parts, "trials": grouped.size()}).reset_index()
    kinds = data["mechanism"].unique().tolist()
    names = dict(zip(kinds, distinct(kinds, longest=26), strict=True))
    # A line at the bottom says nothing about which is lower: past a factor of 20, a log scale.
    log = float(data["low"].min()) > 0 and float(data["high"].max() / data["low"].min()) > 20
    down = span([*data["low"], *data["high"]], log=log)
    ticks = sorted({float(e) for e in data["epsilon"]})
    across = span(ticks, log=True).widened(_ROOM)
    ordered = data.sort_values("epsilon", kind="stable")
    ends = ordered.groupby("mechanism")[["epsilon", "error"]].last().loc[kinds]
    points = [(float(x), float(y)) for x, y in ends.to_numpy()]
    unit = "mean L1 error ÷ N" if normalized else "mean L1 error (records)"
    shown = columns(
        len(data), name=[names[kind] for kind in data["mechanism"]], epsilon=data["epsilon"],
        error=data["error"], low=data["low"], high=data["high"], trials=data["trials"],
    )  # fmt: skip

    def table() -> pd.DataFrame:
        kept = data[["mechanism", "epsilon", "trials", "low", "error", "high"]]
        return kept.set_axis(["mechanism", "ε", "runs", "10 %", "median", "90 %"], axis=1)

    return drawn(
        _trials(log=log), title="Error against ε", sentence=_trials_sentence(data), of=[frame],
        table=table, height=_TRIALS,
        data={"trials": shown,
              "ends": line_ends([*names.values()], points, across, down, height=_TRIALS)},
        unit=unit, axis_title=f"{unit} (log scale)" if log else unit, ticks=ticks,
        across=across.ends, down=down.ends, names=[*names.values()],
        colours=[_COLOURS[k % len(_COLOURS)] for k in range(len(names))],
    )  # fmt: skip


_COLOURS = (BLUE, RED, GREEN, ORANGE, PINK, PURPLE, GREY)


def _trials_sentence(data: pd.DataFrame) -> str:
    best = data.sort_values(["epsilon", "error"]).drop_duplicates("epsilon")
    won = "; ".join(
        f"at ε = {row.epsilon:g} {row.mechanism} is lowest ({row.error:.3g})"
        for row in best.itertuples()
    )
    return f"Points are medians over seeds, bars reach from the 10 % to the 90 % quantile: {won}."


@form
def _trials(*, log: bool) -> Any:
    import altair as alt

    colour = alt.Color("name:N", legend=None, scale=coloured())
    shape = alt.Shape("name:N", legend=None, scale=alt.Scale(domain=slots("names")))
    x = alt.X(
        "epsilon:Q", title="ε (log scale): less private to the right",
        scale=alt.Scale(type="log", domain=slots("across"), nice=False),
        axis=axis_with(values=slots("ticks"), format="~g", labelOverlap=True),
    )  # fmt: skip
    scale = alt.Scale(type="log" if log else "linear", domain=slots("down"), nice=False)
    axis = axis_with(format="~g", grid=True, tickCount=6)

    def down(field: str) -> Any:
        return alt.Y(f"{field}:Q", title=slot("axis_title"), scale=scale, axis=axis)

    tooltip = [
        *tips(name=("mechanism", None), epsilon=("ε", "")),
        alt.Tooltip("error:Q", title=slot("unit"), format=".4g"),
        *tips(trials=("runs", "")),
    ]
    base = source("trials").encode(x=x, color=colour, tooltip=tooltip)
    return alt.layer(
        base.mark_rule(strokeWidth=7, opacity=0.3).encode(y=down("low"), y2=alt.Y2("high")),
        base.mark_line(strokeWidth=2).encode(y=down("error")),
        base.mark_point(size=90, filled=True, opacity=1).encode(y=down("error"), shape=shape),
        *names_at_ends(log_x=True, log_y=log),
    )
