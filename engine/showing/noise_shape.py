"""Do a table's errors look like noise? Not private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing.figure import Figure, columns, drawn
from engine.showing.guides import SHORT, as_part, axis_with, legend_with, scale_of, source, tips
from engine.showing.palette import ORANGE, RED, SKY
from engine.showing.template import form

if TYPE_CHECKING:
    import pandas as pd

_WITHIN, _BEYOND, _LAW = "within 2 σ", "beyond 2 σ", "noise alone"


def noise_shape(frame: pd.DataFrame) -> Figure:
    """Draw ``views.noise_shape``: do errors look like noise?"""
    from scipy.special import ndtr

    low, high = frame["low"].to_numpy(), frame["high"].to_numpy()
    cells = frame["cells"].to_numpy()
    outer = np.maximum(np.abs(low), np.abs(high)) > 2
    bins = columns(
        len(frame), low=low, high=high, middle=(low + high) / 2, cells=cells,
        normal=frame["normal"], part=np.where(outer, _BEYOND, _WITHIN),
    )  # fmt: skip
    total, beyond = int(cells.sum()), int(cells[outer].sum())
    sentence = (
        f"{beyond:,} of {total:,} cells err by more than 2 σ; noise alone would do so in "
        f"{2 * float(ndtr(-2)) * total:,.0f}."
    )

    def table() -> pd.DataFrame:
        return frame[["low", "high", "cells", "normal"]].set_axis(
            ["from (σ)", "to (σ)", "cells", "cells by noise alone"], axis=1
        )

    return drawn(
        _noise_shape(), title="Does noise look like noise?", sentence=sentence, of=[frame],
        table=table, height=190, data={"bins": bins},
    )  # fmt: skip


@form
def _noise_shape() -> Any:
    import altair as alt

    scale = alt.Scale(domain=[-4, 4])
    x = alt.X(
        "low:Q", title="error ÷ noise σ (outer bars: all beyond)", scale=scale,
        axis=axis_with(values=list(range(-4, 5)), format="d"),
    )  # fmt: skip
    y = alt.Y("cells:Q", title="cells", axis=axis_with(**SHORT, grid=True, tickMinStep=1))
    looks = scale_of([_WITHIN, _BEYOND, _LAW], [SKY, ORANGE, RED])
    tooltip = tips(
        low=("from", ""), high=("to", ""), cells=("cells", ","), normal=("by noise alone", ",.1f")
    )
    base = source("bins").encode(tooltip=tooltip)
    bars = base.mark_bar(stroke="white", strokeWidth=0.5).encode(
        x, y, alt.X2("high"), alt.Y2(datum=0),
        color=alt.Color("part:N", title=None, scale=looks, legend=legend_with()),
    )  # fmt: skip
    law = base.mark_line(point=True, strokeWidth=2).encode(
        alt.X("middle:Q", scale=scale), alt.Y("normal:Q")
    )
    return alt.layer(bars, as_part(law, _LAW, looks))
