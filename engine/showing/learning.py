"""Pictures of one idea each, with the numbers written in them: tables, noise, counts below zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.badges import PUBLIC, Badge, Badged
from engine.showing.figure import Columns, Figure, columns, drawn
from engine.showing.guides import (
    SHORT,
    as_part,
    axis_above,
    axis_with,
    legend_with,
    light_grid,
    scale_of,
    source,
    tips,
)
from engine.showing.palette import BLUE, DIVERGING, GREY, INK, ORANGE, RED, SKY
from engine.showing.template import form, slots
from engine.showing.texts import distinct
from engine.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd


# -- little tables of numbers ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stage(Badged):
    """One little table in a row of them: numbers made up for teaching, so public.

    Args:
        caption: What it is, a word or two.
        values: Shape (rows, columns).
        before: What stands between it and the one before: an operation, a plus, an equals sign.
    """

    caption: str
    values: FloatArray
    before: str = ""

    @property
    def badge(self) -> Badge:
        """Everybody may see it."""
        return PUBLIC


_GAP, _ABOVE = 1.15, 0.75


def stages(content: Sequence[Stage], *, title: str, sentence: str, across: int = 3) -> Figure:
    """Draw little tables one after the other, with what leads from each to the next.

    Args:
        content: The tables.
        title: What it shows.
        sentence: What is to be seen.
        across: How many stand in a line.
    """
    reach = max(float(np.abs(stage.values).max()) for stage in content) or 1.0
    tiles, words = _placed(content, across, reach)
    depth = max(tile["y2"] for tile in tiles)
    width = max([tile["x2"] for tile in tiles] + [word["x"] for word in words]) + 0.05
    kinds = {
        kind: _by_column([word for word in words if word["kind"] == kind], ("x", "y", "text"))
        for kind in ("caption", "between")
    }

    def table() -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([{"table": s.caption, "numbers": _written(s.values)} for s in content])

    return drawn(
        _stages(), title=title, sentence=sentence, of=[*content], table=table,
        height=round(38 * depth), data={"tiles": _by_column(tiles, tuple(tiles[0])), **kinds},
        across=[-0.05, width], down=[depth + 0.05, 0],
        stops=[-reach, -reach / 2, 0.0, reach / 2, reach],
    )  # fmt: skip


def _by_column(rows: Sequence[dict[str, Any]], names: tuple[str, ...]) -> Columns:
    return {name: [row[name] for row in rows] for name in names}


@form
def _stages() -> Any:
    import altair as alt

    across = alt.Scale(domain=slots("across"), nice=False)
    down = alt.Scale(domain=slots("down"), nice=False)
    x, y = alt.X("x:Q", axis=None, scale=across), alt.Y("y:Q", axis=None, scale=down)
    scale = alt.Scale(domain=slots("stops"), range=list(DIVERGING), interpolate="rgb")
    base = source("tiles")
    tiles = base.mark_rect(stroke=GREY, strokeWidth=0.8, cornerRadius=2).encode(
        x=x, x2="x2", y=y, y2="y2", color=alt.Color("value:Q", scale=scale, legend=None)
    )
    ink = alt.condition("datum.dark", alt.value("white"), alt.value(INK))
    numbers = base.mark_text(fontSize=13, fontWeight=600).encode(
        x=alt.X("cx:Q", axis=None), y=alt.Y("cy:Q", axis=None), text="text:N", color=ink
    )
    captions = source("caption").mark_text(
        align="left", baseline="middle", fontSize=12, color=GREY
    )  # fmt: skip
    between = source("between").mark_text(
        fontSize=13, fontWeight=600, color=ORANGE, lineBreak="\n"
    )  # fmt: skip
    said = [mark.encode(x=x, y=y, text="text:N") for mark in (captions, between)]
    return alt.layer(tiles, numbers, *said)


def _placed(
    content: Sequence[Stage], across: int, reach: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Tiles and words with their places; the unit is one tile."""
    cells: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    first = _GAP if len(content) > across else 0.0  # in line with what follows an operation
    top, left, lowest = 0.0, first, 0.0
    for k, stage in enumerate(content):
        if k and k % across == 0:
            top, left = lowest + 0.35, 0.0
        rows, across_columns = stage.values.shape
        if stage.before:
            words.append({"kind": "between", "x": left + _GAP / 2, "y": top + _ABOVE + 1,
                          "text": stage.before})  # fmt: skip
            left += _GAP
        words.append({"kind": "caption", "x": left, "y": top + _ABOVE / 2, "text": stage.caption})
        for (i, j), value in np.ndenumerate(stage.values):
            cells += [_tile(float(value), left + j, top + _ABOVE + i, reach)]
        left += across_columns
        lowest = max(lowest, top + _ABOVE + rows)
    return cells, words


def _tile(value: float, x: float, y: float, reach: float) -> dict[str, Any]:
    return {
        "x": x, "x2": x + 1, "y": y, "y2": y + 1, "cx": x + 0.5, "cy": y + 0.5, "value": value,
        "text": short(value), "dark": abs(value) > 0.72 * reach,
    }  # fmt: skip


def short(value: float) -> str:
    """Write a number in at most five signs or so."""
    if abs(value) < 5e-3:
        return "0"
    if abs(value) >= 100 or abs(value - round(value)) < 5e-3:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


def _written(values: FloatArray) -> str:
    return "; ".join("  ".join(f"{v:.6g}" for v in row) for row in values.tolist())


# -- noise -----------------------------------------------------------------------------------------


def cloud(draws: pd.DataFrame, covariance: FloatArray, *, sentence: str) -> Figure:
    """Draw pairs of residual entries that are noise only, with the ellipse that holds 95 %.

    Args:
        draws: x and y, one row a draw.
        covariance: The theory's, shape (2, 2).
        sentence: What is to be seen.
    """
    from scipy.stats import chi2

    pairs = draws[["x", "y"]].to_numpy(dtype=float)
    angles = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    edge = (np.linalg.cholesky(covariance) @ circle * np.sqrt(chi2.ppf(0.95, 2))).T
    reach = float(np.abs(np.concatenate([pairs, edge])).max()) * 1.05

    def table() -> pd.DataFrame:
        import pandas as pd

        found = np.cov(pairs.T)
        return pd.DataFrame(
            {
                "": ["variance of entry 1", "variance of entry 2", "covariance"],
                "theory, σ²V": [covariance[0, 0], covariance[1, 1], covariance[0, 1]],
                "in these draws": [found[0, 0], found[1, 1], found[0, 1]],
            }
        )

    points = columns(len(pairs), x=pairs[:, 0], y=pairs[:, 1])
    ring = columns(len(edge), x=edge[:, 0], y=edge[:, 1], k=list(range(len(edge))))
    return drawn(
        _cloud(), title="Noise in two entries", sentence=sentence, of=[draws], table=table,
        height=300, data={"points": points, "ring": ring}, ends=[-reach, reach],
    )  # fmt: skip


@form
def _cloud() -> Any:
    import altair as alt

    scale = alt.Scale(domain=slots("ends"), nice=False)
    axis = light_grid(**SHORT, tickCount=5)
    x = alt.X("x:Q", title="entry 1 (value 2 less value 1)", scale=scale, axis=axis)
    y = alt.Y("y:Q", title="entry 2", scale=scale, axis=axis)
    ring = source("ring").mark_line(color=ORANGE, strokeWidth=2.5, strokeDash=[6, 3])
    return alt.layer(
        source("points").mark_circle(color=BLUE, opacity=0.45, size=26).encode(x=x, y=y),
        ring.encode(x=x, y=y, order="k:Q"),
    )


# -- below zero ------------------------------------------------------------------------------------


def below_zero(frame: pd.DataFrame, *, sentence: str) -> Figure:
    """Draw noisy counts of one draw with the true ones.

    Args:
        frame: label, true and noisy.
        sentence: What is to be seen.
    """
    names = distinct(frame["label"], longest=20)
    noisy = frame["noisy"].to_numpy(dtype=float)
    counts = columns(
        len(frame), name=names, noisy=noisy, true=frame["true"],
        part=np.where(noisy < 0, _COUNTS[1], _COUNTS[0]),
    )  # fmt: skip

    def table() -> pd.DataFrame:
        return frame[["label", "true", "noisy", "clipped"]].set_axis(
            ["value", "true", "noisy", "cut off at zero"], axis=1
        )

    return drawn(
        _below_zero(), title="One draw", sentence=sentence, of=[frame], table=table,
        height=30 * len(frame), data={"counts": counts}, order=names,
    )  # fmt: skip


_COUNTS = ["noisy count", "below zero", "true count"]


@form
def _below_zero() -> Any:
    import altair as alt

    y = alt.Y("name:N", title=None, sort=slots("order"), axis=axis_with(labelLimit=120))
    x = alt.X("noisy:Q", title="people", axis=light_grid(format="~g"))
    looks = scale_of(_COUNTS, [SKY, ORANGE, RED])
    colour = alt.Color("part:N", title=None, legend=legend_with(), scale=looks)
    tooltip = tips(name=("value", None), noisy=("noisy", ",.2f"), true=("true", ","))
    base = source("counts").encode(y=y, tooltip=tooltip)
    truth = base.mark_point(shape="diamond", filled=True, size=80, opacity=1)
    return alt.layer(
        base.mark_bar(height=16).encode(x=x, x2=alt.X2(datum=0), color=colour),
        as_part(truth.encode(x=alt.X("true:Q", title="people")), _COUNTS[2], looks),
    )


def bias(frame: pd.DataFrame, *, true: float, sentence: str) -> Figure:
    """Draw the sums of many draws: as they are, and with what is below zero cut off.

    Args:
        frame: sum and how.
        true: The sum without noise.
        sentence: What is to be seen.
    """
    means = frame.groupby("how", sort=False)["sum"].mean().reset_index()

    def table() -> pd.DataFrame:
        return means.assign(true=true).set_axis(["", "mean of the sums", "true sum"], axis=1)

    return drawn(
        _bias(), title="Sums, over many draws", sentence=sentence, of=[frame], table=table,
        height=110,
        data={
            "sums": columns(len(frame), sum=frame["sum"], how=frame["how"]),
            "true": {"sum": [true]},
            "means": columns(len(means), sum=means["sum"], how=means["how"]),
        },
    )  # fmt: skip


@form
def _bias() -> Any:
    import altair as alt

    ways = ["as measured", "cut off at zero"]
    colour = alt.Color(
        "how:N", title=None, legend=legend_with(), scale=scale_of(ways, [SKY, ORANGE])
    )
    y = alt.Y("how:N", title=None, sort=ways, axis=axis_above(),
              scale=alt.Scale(paddingInner=0.6))  # fmt: skip
    x = alt.X("sum:Q", title="sum of all values in one draw (people)",
              axis=axis_with(format="~g", grid=True, gridOpacity=0.25),
              scale=alt.Scale(zero=False))  # fmt: skip
    mean = source("means").mark_point(
        shape="diamond", filled=True, size=140, opacity=1, stroke=INK, strokeWidth=1
    )
    rule = source("true").mark_rule(color=RED, strokeDash=[5, 4], strokeWidth=2)
    return alt.layer(
        source("sums")
        .mark_tick(opacity=0.35, thickness=1.2, height=18)
        .encode(x=x, y=y, color=colour),
        rule.encode(x=x),
        mean.encode(x=x, y=y, color=colour),
    )
