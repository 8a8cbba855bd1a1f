"""Charts as static pictures inside HTML: no script, no network, nothing that downloads numbers.

The pictures are drawn by vl-convert (extra ``notebook``). Without it a front end that knows
Vega-Lite draws single charts itself, and several together become their sentences.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote
from xml.etree import ElementTree

from markupsafe import Markup

from engine.showing import html
from engine.showing.palette import GREY, TEXT

VEGA_LITE = "application/vnd.vegalite.v5+json"
"""What JupyterLab, Notebook 7 and VS Code draw by themselves; they know no version 6 yet."""
WIDTH = 470
"""Pixels a figure is drawn for; it shrinks where there is less room."""


class Drawn(Protocol):
    """A figure of ``engine.charts``."""

    @property
    def title(self) -> str:
        """A few words."""
        ...

    @property
    def alt(self) -> str:
        """One sentence that says what is to be seen."""
        ...

    @property
    def badge(self) -> str:
        """Who may see it."""
        ...

    def spec(self) -> dict[str, Any]:
        """Return its Vega-Lite description."""
        ...


@lru_cache(maxsize=1)
def can_draw() -> bool:
    """Whether static pictures can be made here."""
    return importlib.util.find_spec("vl_convert") is not None


def svg(figure: Drawn, *, width: int = WIDTH) -> str:
    """Draw a figure as SVG, so many pixels wide.

    Raises:
        ImportError: If vl-convert is not installed.
    """
    convert = importlib.import_module("vl_convert")
    spec = figure.spec()
    spec |= {"width": width, "background": None, "config": {**spec["config"], **_EITHER}}
    # A front end's letters may be wider than those that were measured here.
    spec["padding"] = {**spec["padding"], "left": 8}
    picture: str = convert.vegalite_to_svg(spec)
    return picture


_AXIS = {"labelColor": TEXT, "titleColor": TEXT, "tickColor": GREY, "domainColor": GREY}
_EITHER = {
    "axis": {**_AXIS, "gridColor": GREY},
    "legend": {"labelColor": TEXT, "titleColor": TEXT, "columnPadding": 20},
    "title": {"color": TEXT},
    "view": {"stroke": None},
}
"""A picture in a page does not know that page's theme: no ground, and text for light and dark."""


def png(figure: Drawn, *, width: int = WIDTH, scale: float = 2.0) -> bytes:
    """Draw a figure as PNG, so many pixels wide times the scale.

    Raises:
        ImportError: If vl-convert is not installed.
    """
    convert = importlib.import_module("vl_convert")
    picture: bytes = convert.vegalite_to_png({**figure.spec(), "width": width}, scale=scale)
    return picture


def image(figure: Drawn, *, width: int = WIDTH) -> str:
    """Return the picture as an HTML image, which no text in it can escape from.

    Its size stands beside it, so that nothing moves while it is being drawn; where marks are few
    enough to be pointed at, each says what it is.
    """
    drawn = svg(figure, width=width)
    root = ElementTree.fromstring(drawn)
    size = float(root.attrib["width"]), float(root.attrib["height"])
    # Not base64: whoever searches a notebook for a text finds it in its pictures too.
    address = "data:image/svg+xml;charset=utf-8," + quote(drawn, safe=" =/:;,.()")
    picture = html.line(
        '<img alt="{}" src="{}" width="{}" height="{}" '
        'style="display:block;width:100%;max-width:{}px;height:auto">',
        html.escape(figure.alt, longest=600), address, f"{size[0]:g}", f"{size[1]:g}", width,
    )  # fmt: skip
    named = Markup("").join(_named(place, text, size) for place, text in _places(root))
    box = '<div style="position:relative;max-width:{}px">{}{}</div>'
    return str(html.line(box, width, picture, named) if named else picture)


_MOST_NAMED = 800
"""Marks of a picture that say what they are when pointed at; more would weigh too much."""
_Place = tuple[float, float, float, float]


def _places(root: ElementTree.Element) -> list[tuple[_Place, str]]:
    """Where the named rectangles of a picture lie (left, top, width, height), and their names."""
    found = list(_rectangles(root, 0.0, 0.0))
    return found if len(found) <= _MOST_NAMED else []


def _rectangles(node: ElementTree.Element, left: float, top: float) -> Iterator[tuple[_Place, str]]:
    if moved := _MOVED.fullmatch(node.get("transform", "")):
        left, top = left + float(moved[1]), top + float(moved[2])
    name, path = node.get("aria-label", ""), node.get("d", "")
    if name.startswith(NAMED) and path.startswith("M") and path.endswith("Z"):
        corner, _, sides = path[1:-1].partition("h")
        x, _, y = corner.partition(",")
        width, _, height = sides.partition("h-")[0].partition("v")
        yield (left + float(x), top + float(y), float(width), float(height)), name[len(NAMED) :]
    for child in node:
        yield from _rectangles(child, left, top)


_MOVED = re.compile(r"translate\(([-\d.e]+),([-\d.e]+)\)")
NAMED = "\u2060"
"""A mark whose description begins with this word joiner says what it is when pointed at."""


def _named(place: _Place, text: str, size: tuple[float, float]) -> Markup:
    sides = zip(("left", "top", "width", "height"), place, (size[0], size[1], *size), strict=True)
    style = ";".join(f"{side}:{100 * length / of:.2f}%" for side, length, of in sides)
    said = html.escape(text, longest=200)
    return html.line('<span title="{}" style="position:absolute;{}"></span>', said, style)


def card(figure: Drawn, *, width: int = WIDTH, caption: bool = True) -> str:
    """Return a figure with the sentence that says what is to be seen."""
    if can_draw():
        picture = Markup(image(figure, width=width))
    else:
        picture = html.line("<b>{}</b> {}", html.escape(figure.title), html.badge(figure.badge))
    small = "font-size:12.5px;opacity:.8;line-height:1.35;margin-top:2px"
    said = html.escape(figure.alt, longest=600)
    below = html.line('<figcaption style="{}">{}</figcaption>', small, said)
    style = "margin:0 0 14px;font-family:system-ui,sans-serif;break-inside:avoid;min-width:0"
    shown = below if caption or not can_draw() else ""
    return str(html.line('<figure style="{}">{}{}</figure>', style, picture, shown))


def sheet(figures: Sequence[Drawn], *, width: int = WIDTH, captions: bool = True) -> str:
    """Return figures side by side: small ones in rows, as a strip, others in columns."""
    cards = Markup("").join(
        Markup(card(figure, width=width, caption=captions)) for figure in figures
    )
    if width < WIDTH:
        columns = f"repeat(auto-fill,minmax(min({width}px,100%),1fr))"
        style = f"display:grid;grid-template-columns:{columns};gap:0 18px;max-width:1100px"
    else:
        columns = f"columns:{min(len(figures), 2)} {width - 50}px"
        style = f"{columns};column-gap:22px;max-width:{2 * width + 22}px"
    return str(html.line('<div style="{}">{}</div>', style, cards))


def mimebundle(figure: Drawn) -> dict[str, Any]:
    """Return a figure for a notebook: a picture, or else a description that it can draw."""
    if can_draw():
        return {"text/plain": figure.alt, "text/html": card(figure)}
    return {"text/plain": figure.alt, VEGA_LITE: vega_lite(figure)}


def vega_lite(figure: Drawn) -> dict[str, Any]:
    """Return the description as a front end with Vega-Lite 5 reads it."""
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return {**figure.spec(), "width": WIDTH, "$schema": schema}
