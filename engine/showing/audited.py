"""Two histograms of an audit: many runs on two neighbouring tables. Both tables are made up."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.demonstrating.bugs import Found
from engine.showing.badges import PUBLIC
from engine.showing.figure import Figure, columns, drawn
from engine.showing.framed import framed
from engine.showing.guides import axis_with, legend_with, light_grid, scale_of, source, tips
from engine.showing.palette import BLUE, ORANGE
from engine.showing.template import form, slot

if TYPE_CHECKING:
    from engine.types import FloatArray

WITH, WITHOUT = "with the person", "without them"
_BINS, _FEW = 40, 6


def histograms(found: Found, *, score: str) -> Figure:
    """Draw how often each score came out on either table.

    Args:
        found: What ``bugs.audit`` returned.
        score: What is measured, in a few words.
    """
    both = [np.round(values, 9) for values in (found.larger, found.smaller)]
    edges = _edges(np.concatenate(both))
    runs = len(found.larger)
    rows: dict[str, list[Any]] = {"table": [], "low": [], "high": [], "share": []}
    for name, values in zip((WITH, WITHOUT), both, strict=True):
        for low, high in edges:
            share = float(((values >= low) & (values < high)).mean())
            for field, value in zip(rows, (name, low, high, share), strict=True):
                rows[field].append(value)
    frame = framed(rows, PUBLIC)
    overlap = sum(map(min, *(_shares(rows, name) for name in (WITH, WITHOUT))))
    sentence = (
        f"{runs:,} runs on each of two made-up tables that differ by one person; the histograms "
        f"share {100 * overlap:.0f} % of their area."
    )
    return drawn(
        _histograms(), title="What the runs gave, on both tables", sentence=sentence, of=[frame],
        table=lambda: frame.set_axis(["table", "from", "to", "share of runs"], axis=1),
        height=230, data={"bins": columns(len(frame), **rows)}, score=score,
    )  # fmt: skip


def _shares(rows: dict[str, list[Any]], name: str) -> list[float]:
    return [s for s, table in zip(rows["share"], rows["table"], strict=True) if table == name]


def _edges(values: FloatArray) -> list[tuple[float, float]]:
    """Bins: around each value if there are few, else evenly wide."""
    kinds = np.unique(values)
    if len(kinds) <= _FEW:
        half = 0.4 * float(np.diff(kinds).min()) if len(kinds) > 1 else 0.4
        return [(kind - half, kind + half) for kind in kinds.tolist()]
    edges = np.linspace(kinds[0], np.nextafter(kinds[-1], np.inf), _BINS + 1).tolist()
    return list(pairwise(edges))


@form
def _histograms() -> Any:
    import altair as alt

    colour = alt.Color(
        "table:N", title=None, legend=legend_with(),
        scale=scale_of([WITH, WITHOUT], [BLUE, ORANGE]),
    )  # fmt: skip
    x = alt.X(
        "low:Q", title=slot("score"), axis=axis_with(tickCount=7), scale=alt.Scale(zero=False)
    )
    y = alt.Y("share:Q", title="share of runs", axis=light_grid(format=".0%", tickCount=5))
    tooltip = tips(
        table=("table", None), low=("from", ".4g"), high=("to", ".4g"), share=("of runs", ".2%")
    )
    base = source("bins").encode(
        x=x, x2=alt.X2("high"), y=y, y2=alt.Y2(datum=0), color=colour, tooltip=tooltip
    )
    return base.mark_rect(opacity=0.55, stroke="#80808080", strokeWidth=0.5)
