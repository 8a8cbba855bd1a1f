"""Charts as static pictures inside HTML: no script, no network, nothing that downloads numbers.

The pictures are drawn by vl-convert (extra ``notebook``). Without it a front end that knows
Vega-Lite draws single charts itself, and several together become their sentences.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote

from engine.showing import html

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
    picture: str = convert.vegalite_to_svg({**figure.spec(), "width": width})
    return picture


def image(figure: Drawn, *, width: int = WIDTH) -> str:
    """Return the picture as an HTML image, which no text in it can escape from."""
    # Not base64: whoever searches a notebook for a text finds it in its pictures too.
    address = "data:image/svg+xml;charset=utf-8," + quote(
        svg(figure, width=width), safe=" =/:;,.()"
    )
    return (
        f'<img alt="{html.escape(figure.alt, longest=600)}" src="{address}" '
        f'style="width:100%;max-width:{width}px;height:auto;background:#fff;'
        'border-radius:4px">'
    )


def card(figure: Drawn, *, width: int = WIDTH, caption: bool = True) -> str:
    """Return a figure with the sentence that says what is to be seen."""
    said = html.escape(figure.alt, longest=600)
    picture = image(figure, width=width) if can_draw() else f"<b>{html.escape(figure.title)}</b>"
    if not can_draw():
        picture += f" {html.badge(figure.badge)}"
    small = "font-size:12.5px;opacity:.8;line-height:1.35;margin-top:2px"
    below = f'<figcaption style="{small}">{said}</figcaption>' if caption or not can_draw() else ""
    style = "margin:0 0 14px;font-family:system-ui,sans-serif;break-inside:avoid;min-width:0"
    return f'<figure style="{style}">{picture}{below}</figure>'


def sheet(figures: Sequence[Drawn], *, width: int = WIDTH, captions: bool = True) -> str:
    """Return figures side by side: small ones in rows, as a strip, others in columns."""
    cards = "".join(card(figure, width=width, caption=captions) for figure in figures)
    if width < WIDTH:
        columns = f"repeat(auto-fill,minmax(min({width}px,100%),1fr))"
        style = f"display:grid;grid-template-columns:{columns};gap:0 18px;max-width:1100px"
    else:
        columns = f"columns:{min(len(figures), 2)} {width - 50}px"
        style = f"{columns};column-gap:22px;max-width:{2 * width + 22}px"
    return f'<div style="{style}">{cards}</div>'


def mimebundle(figure: Drawn) -> dict[str, Any]:
    """Return a figure for a notebook: a picture, or else a description that it can draw."""
    if can_draw():
        return {"text/plain": figure.alt, "text/html": card(figure)}
    return {"text/plain": figure.alt, VEGA_LITE: vega_lite(figure)}


def vega_lite(figure: Drawn) -> dict[str, Any]:
    """Return the description as a front end with Vega-Lite 5 reads it."""
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return {**figure.spec(), "width": WIDTH, "$schema": schema}
