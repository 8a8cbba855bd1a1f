"""Forms of pictures, built by Altair once, and the numbers put into them each time.

A function marked ``form`` builds a chart from choices alone (which parts there are, linear or
logarithmic), never from data. It puts ``slot`` where a text or a number of the data belongs, and
``slots`` where a list of them does. What comes out is kept, and ``filled`` makes of it a
description of its own for each picture. Altair needs a hundredfold of the time that takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any

_ONE, _MANY = "\ue000", "\ue001"  # for private use: no text that Altair writes begins with them


def slot(name: str) -> str:
    """Return the place of one value."""
    return _ONE + name


def slots(name: str) -> list[str]:
    """Return the place of a list of values."""
    return [_MANY + name]


@dataclass(frozen=True, slots=True)
class Template:
    """A description in Vega-Lite with places for what data decides."""

    content: Mapping[str, Any]

    def filled(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the description with these values; nothing in it is shared with another.

        Raises:
            KeyError: If a place has no value.
        """
        content: dict[str, Any] = _filled(self.content, values)
        return content


def _filled(part: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(part, dict):
        return {key: _filled(inside, values) for key, inside in part.items()}
    if isinstance(part, list):
        if len(part) == 1 and isinstance(part[0], str) and part[0][:1] == _MANY:
            return list(values[part[0][1:]])
        return [_filled(inside, values) for inside in part]
    if isinstance(part, str) and part[:1] == _ONE:
        return values[part[1:]]
    return part


_COMMON: Mapping[str, Any] = {
    "title": {
        "text": slots("_title"),
        "subtitle": slot("_badge"),
        "subtitleColor": slot("_badge_colour"),
        "subtitleFontSize": 13,
        "subtitlePadding": 4,
        "fontSize": 16,
        "anchor": "start",
        "frame": "bounds",
        "offset": 10,
    },
    # The width is the page's, the height that of the plot alone: axes and legend come on top.
    "height": slot("_height"),
    "autosize": {"type": "fit-x", "contains": "padding"},
    "padding": {"left": 0, "right": 6, "top": 2, "bottom": 2},
    "config": {"view": {"stroke": None}},
    "usermeta": {"embedOptions": {"actions": False}},
}
"""What all forms have; ``figure.drawn`` fills it."""


def form(make: Callable[..., Any]) -> Callable[..., Template]:
    """Keep what a function builds by its choices: true or false, or one of a few words."""

    @lru_cache(maxsize=64)
    def built(**choices: bool | str) -> Template:
        content = make(**choices).to_dict(validate=False)
        return Template({**{k: v for k, v in content.items() if k != "$schema"}, **_COMMON})

    @wraps(make)
    def template(**choices: bool | str) -> Template:
        for choice in choices.values():
            fine = isinstance(choice, bool | str) and len(str(choice)) <= 12
            assert fine, f"{choice!r}: a form is chosen by yes, no or one of a few words"
        return built(**choices)

    return template
