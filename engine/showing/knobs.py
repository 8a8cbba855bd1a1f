"""A histogram with the noise that each of its bars will get; of invented numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.demonstrating.knobs import Binned
from engine.showing.badges import PUBLIC
from engine.showing.figure import Figure, columns, drawn
from engine.showing.framed import framed
from engine.showing.guides import axis_with, light_grid, source, tips
from engine.showing.palette import ORANGE, SKY
from engine.showing.template import form


def histogram(found: Binned, *, title: str) -> Figure:
    """Draw true counts, and two standard deviations of noise around each.

    Args:
        found: The histogram.
        title: A few words.
    """
    low, high, counts = found.edges[:-1], found.edges[1:], found.counts
    frame = framed(
        {"low": low, "high": high, "people": counts, "least": counts - 2 * found.sigma,
         "most": counts + 2 * found.sigma},
        PUBLIC,
    )  # fmt: skip
    drowned = int((counts < 2 * found.sigma).sum())
    sentence = (
        f"{len(counts)} bins, noise σ = {found.sigma:.3g} people in each; in {drowned} of them the "
        "count is less than two σ, so noise hides it."
    )
    return drawn(
        _histogram(), title=title, sentence=sentence, of=[frame],
        table=lambda: frame.set_axis(["from", "to", "people", "−2σ", "+2σ"], axis=1),
        height=230,
        data={"bins": columns(len(frame), middle=np.asarray((low + high) / 2),
                              **{str(name): frame[name] for name in frame})},
    )  # fmt: skip


@form
def _histogram() -> Any:
    import altair as alt

    x = alt.X("low:Q", title="income (thousand)", axis=axis_with(tickCount=6))
    y = alt.Y("people:Q", title="people", axis=light_grid(format="~s", tickCount=5))
    tooltip = tips(
        low=("from", ".3g"), high=("to", ".3g"), people=("people", ",.0f"),
        least=("−2σ", ",.0f"), most=("+2σ", ",.0f"),
    )  # fmt: skip
    base = source("bins")
    bars = base.mark_rect(color=SKY, opacity=0.8)
    noise = base.mark_rule(color=ORANGE, strokeWidth=1.5)
    return alt.layer(
        bars.encode(x=x, x2=alt.X2("high"), y=y, y2=alt.Y2(datum=0), tooltip=tooltip),
        noise.encode(x=alt.X("middle:Q"), y=alt.Y("least:Q"), y2=alt.Y2("most")),
    )
