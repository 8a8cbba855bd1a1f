"""Colour, shape and dash of each mechanism, the same in all pictures of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from engine.demonstrating import finishes
from engine.demonstrating.comparison import CONTENDERS
from engine.showing.line_ends import coloured
from engine.showing.template import slots

Style: TypeAlias = tuple[str, str, list[int]]
_DASHES = {"none": [1, 3], "nonnegative": [9, 3], "simplex": [4, 4], "completed": [12, 3, 2, 3]}


def _with_finish(style: Style, finish: str) -> Style:
    return style[0], style[1], _DASHES[finish]


STYLES: Mapping[str, Style] = finishes.Crossed(
    "comparison",
    lambda entry: (entry.style.colour, entry.style.mark, list(entry.style.dash)),
    _with_finish,
)
"""Colour, shape and dash of each contender; a finish changes the dash alone."""


def looks_of(keys: Sequence[str]) -> dict[str, list[Any]]:
    """Return what goes to the places of ``coloured``, ``shaped`` and dashes: one of each a name."""
    known = [key for key in finishes.in_order(keys) if key in CONTENDERS]
    return {
        "names": [CONTENDERS[key].name for key in known],
        "colours": [STYLES[key][0] for key in known],
        "shapes": [STYLES[key][1] for key in known],
        "dashes": [STYLES[key][2] for key in known],
    }


def shaped(legend: Any = None) -> Any:
    """Return the channel of shapes by name."""
    import altair as alt

    scale = alt.Scale(domain=slots("names"), range=slots("shapes"))
    return alt.Shape("name:N", title=None, scale=scale, legend=legend)


def by_colour() -> Any:
    """Return the channel of colours by name."""
    import altair as alt

    return alt.Color("name:N", title=None, scale=coloured(), legend=None)
