"""Drawings of the report: bars and heatmaps as SVG that scales with the page.

Drawn here, since vl-convert is an extra, and draws other bytes with each version: a report opens
anywhere, for ever, and is the same to the last byte for the same release.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple

from markupsafe import Markup

from engine.exporting.report_page import filled
from engine.released import Estimate
from engine.types import FloatArray

_BARS = 40
_CIVIDIS = ((0, 34, 78), (65, 77, 107), (124, 123, 120), (188, 175, 111), (254, 232, 56))


class Shape(NamedTuple):
    """One element of a drawing: its tag and attributes, its tooltip or its text."""

    tag: str
    where: dict[str, str]
    tip: str = ""
    text: str = ""


def svg(width: float, height: float, title: str, shapes: Iterable[Shape]) -> Markup:
    """Return a drawing that scales with the page and says what it shows."""
    sides = {"width": f"{width:g}", "height": f"{height:g}"}
    return filled("svg", title=label(title), shapes=shapes, **sides)


def label(text: str, *, longest: int = 10_000) -> str:
    """Return what a user wrote on one line, in a direction of its own.

    Control characters become spaces, long texts end in an ellipsis.
    """
    shown = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)
    line = " ".join(shown.split()) or "(no name)"
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    return f"\u2068{line}\u2069"


def bars(estimate: Estimate, truth: FloatArray | None = None) -> Markup:
    """Draw one attribute: counts with their intervals, and true ones where a lesson has them."""
    labels = estimate.domain[estimate.attrs[0]].labels[:_BARS]
    values = estimate.values.ravel()[: len(labels)].tolist()
    true = [] if truth is None else truth.ravel()[: len(labels)].tolist()
    reach = None if estimate.std is None else 1.96 * estimate.std
    low: float = min(0.0, *(v - (reach or 0.0) for v in values), *true)
    high: float = max(1.0, *(v + (reach or 0.0) for v in values), *true)

    def x(value: float) -> float:
        return 130 + 190 * (value - low) / (high - low)

    shapes = [_line(x(0), x(0), 0, 22 * len(labels))]
    for k, (text, value) in enumerate(zip(labels, values, strict=True)):
        shapes += _bar(11 + 22 * k, text, value, reach, x)
        if true:
            path = f"M{x(true[k]):.1f} {5 + 22 * k}l5 6l-5 6l-5 -6z"
            shapes.append(Shape("path", {"d": path, "class": "true"}, f"true: {true[k]:,.0f}"))
    return svg(400, 22 * len(labels), f"Counts of {estimate.label}", shapes)


def _bar(
    y: int, text: str, value: float, reach: float | None, x: Callable[[float], float]
) -> list[Shape]:
    """One bar; a line for what noise may have added, where that is known."""
    left, right = sorted((x(0.0), x(value)))
    sure = "" if reach is None else f" ± {reach:,.1f}"
    where = {"x": f"{left:.1f}", "y": f"{y - 8}", "width": f"{right - left:.1f}", "height": "16"}
    return [
        _text(122, y + 4, label(text, longest=15)),
        Shape("rect", where | {"class": "bar"}, f"{label(text)}: {value:,.1f}{sure}"),
        *([] if reach is None else [_line(x(value - reach), x(value + reach), y, y)]),
        _text(398, y + 4, f"{value:,.0f}", {"class": "soft"}),
    ]


def _line(left: float, right: float, top: int, bottom: int) -> Shape:
    ends = {"x1": f"{left:.1f}", "x2": f"{right:.1f}", "y1": f"{top}", "y2": f"{bottom}"}
    return Shape("line", ends | {"class": "rule"})


def _text(x: float, y: float, text: str, more: dict[str, str] | None = None) -> Shape:
    where = {"x": f"{x:g}", "y": f"{y:.1f}", "text-anchor": "end"}
    return Shape("text", where | (more or {}), text=text)


def heatmap(estimate: Estimate) -> Markup:
    """Draw a table of two attributes; what each cell holds stands in its tooltip."""
    first, second = (estimate.domain[i].labels for i in estimate.attrs)
    values = estimate.values
    if len(second) > len(first):
        first, second, values = second, first, values.T
    high = max(float(values.max()), 1.0)
    side, deep = 270 / len(second), max(9.0, min(20.0, 360 / len(first)))
    tile = {"width": f"{side:.2f}", "height": f"{deep:.2f}"}
    shapes = [
        Shape(
            "rect",
            {"x": f"{126 + side * j:.2f}", "y": f"{deep * i:.2f}", **tile}
            | {"fill": _colour(values[i, j] / high)},
            f"{label(a, longest=60)} · {label(b, longest=60)}: {values[i, j]:,.1f}",
        )
        for i, a in enumerate(first)
        for j, b in enumerate(second)
    ]
    shapes += [
        _text(120, deep * (i + 0.5) + 4, label(first[i], longest=15))
        for i in range(0, len(first), math.ceil(13 / deep))
    ]
    bottom = deep * len(first)
    for j in range(0, len(second), math.ceil(17 / side)):
        turned = f"translate({126 + side * (j + 0.5):.1f} {bottom + 12:.1f}) rotate(-55)"
        where = {"transform": turned, "text-anchor": "end"}
        shapes.append(Shape("text", where, text=label(second[j], longest=11)))
    return svg(400, bottom + 86, f"Counts of {estimate.label}", shapes)


def _colour(share: float) -> str:
    at = min(max(share, 0.0), 1.0) * (len(_CIVIDIS) - 1)
    k = min(int(at), len(_CIVIDIS) - 2)
    mix = (a + (b - a) * (at - k) for a, b in zip(_CIVIDIS[k], _CIVIDIS[k + 1], strict=True))
    return "#" + "".join(f"{round(c):02x}" for c in mix)
