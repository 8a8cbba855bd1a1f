"""Names at the ends of lines, moved apart where they would stand on each other.

A legend makes a reader look back and forth, and colours alone do not tell six lines apart.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from engine.showing.figure import Columns
from engine.showing.guides import source
from engine.showing.palette import GREY
from engine.showing.template import slots

_LINE = 15
"""Pixels from one line of text to the next."""
_LETTER = 7.0
"""Pixels of a letter, on average."""
_LONGEST = 20
"""Signs in a line of a name."""


@dataclass(frozen=True, slots=True)
class Span:
    """A scale from low to high, linear or logarithmic.

    Args:
        low: Where it begins.
        high: Where it ends; above ``low``.
        log: Whether it is logarithmic; then both are positive.
    """

    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Return how far along the scale a value stands: 0 at low, 1 at high."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def at(self, share: float) -> float:
        """Return the value that stands so far along the scale."""
        if self.log:
            return self.low * math.exp(share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)

    def widened(self, share: float) -> Span:
        """Return the scale with room at its high end, as a share of the whole."""
        return Span(self.low, self.at(1 / (1 - share)), self.log)

    @property
    def ends(self) -> list[float]:
        """Both ends."""
        return [self.low, self.high]


def span(values: Sequence[float], *, log: bool, pad: float = 0.06) -> Span:
    """Return a scale that holds all of these values, with a little room at both ends.

    A linear one begins at zero unless values are below.
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    if log:
        factor = max((high / low) ** pad, 1.1)
        return Span(low / factor, high * factor, log=True)
    low, high = min(low, 0.0), max(high, 0.0)
    reach = high - low or 1.0
    return Span(low - (pad * reach if low < 0 else 0.0), high + pad * reach)


def spread(shares: Sequence[float], height: int, *, lines: int = 1) -> list[float]:
    """Move places apart until each has a line of text, as little as an even spacing allows.

    Args:
        shares: Places from 0 (bottom) to 1 (top) of a plot.
        height: Of the plot, in pixels.
        lines: Of text in each place.
    """
    least = min(_LINE * lines / height, 1 / max(len(shares), 1))
    order = sorted(range(len(shares)), key=lambda k: shares[k])
    places = [min(max(share, least / 2), 1 - least / 2) for share in shares]
    for here, above in pairwise(order):
        places[above] = max(places[above], places[here] + least)
    top = 1 - least / 2
    for k in reversed(order):  # whoever was pushed out at the top pushes back
        places[k] = min(places[k], top)
        top = places[k] - least
    return places


def clear_of_each_other(
    said: Sequence[str],
    points: Sequence[tuple[float, float]],
    *,
    width: int,
    height: int,
) -> list[int]:
    """Return which labels beside points of two logarithmic axes can be written.

    The first of two that would stand on each other is kept.

    Args:
        said: The labels.
        points: Where they stand, both coordinates positive.
        width: Of the plot, in pixels, at least.
        height: Of the plot, in pixels.
    """
    across, down = (span([p[k] for p in points], log=True) for k in (0, 1))
    kept: list[int] = []
    boxes: list[tuple[float, float, float]] = []
    for k, (x, y) in enumerate(points):
        left, middle = width * across.share(x), height * down.share(y)
        right = left + _LETTER * len(said[k]) + 14
        if all(
            right < other_left or left > other_right or abs(middle - other) > _LINE
            for other_left, other_right, other in boxes
        ):
            kept.append(k)
            boxes.append((left, right, middle))
    return kept


def line_ends(
    names: Sequence[str],
    points: Sequence[tuple[float, float]],
    across: Span,
    down: Span,
    *,
    height: int,
) -> Columns:
    """Return the source ``ends``: where each line ends, and where its name stands.

    Args:
        names: Of the lines, harmless as labels.
        points: The last point of each.
        across: The horizontal scale, with room at its end.
        down: The vertical scale.
        height: Of the plot, in pixels.
    """
    said = [textwrap.wrap(name, _LONGEST) for name in names]
    lines = max(map(len, said), default=1)
    places = spread([down.share(y) for _, y in points], height, lines=lines)
    beyond = max((across.share(x) for x, _ in points), default=0.0) + 0.035
    return {
        "name": list(names),
        "said": ["\n".join(parts) for parts in said],
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "beyond": [across.at(beyond)] * len(names),
        "place": [down.at(place) for place in places],
    }


def names_at_ends(*, log_x: bool, log_y: bool) -> list[Any]:
    """Return layers that draw ``ends``; places ``names``, ``colours``, ``across`` and ``down``."""
    import altair as alt

    across = alt.Scale(type="log" if log_x else "linear", domain=slots("across"), nice=False)
    down = alt.Scale(type="log" if log_y else "linear", domain=slots("down"), nice=False)
    colour = alt.Color("name:N", legend=None, scale=coloured())
    base = source("ends")
    leader = base.mark_rule(strokeWidth=1, opacity=0.8).encode(
        alt.X("x:Q", scale=across), alt.X2("beyond"), alt.Y("y:Q", scale=down), alt.Y2("place"),
        color=colour,
    )  # fmt: skip
    text = base.mark_text(
        align="left", baseline="middle", dx=4, fontSize=12, fontWeight=600, color=GREY,
        lineBreak="\n",
    )  # fmt: skip
    here = alt.X("beyond:Q", scale=across), alt.Y("place:Q", scale=down)
    return [leader, text.encode(*here, text=alt.Text("said:N"))]


def coloured() -> Any:
    """Return the scale of colours by name; places ``names`` and ``colours``."""
    import altair as alt

    return alt.Scale(domain=slots("names"), range=slots("colours"))
