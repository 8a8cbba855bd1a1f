"""Users' texts made harmless as labels in Vega."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_LONGEST = 32
ZERO_WIDTH = "\u200b"


def safe(text: str, *, longest: int = _LONGEST) -> str:
    """Make a user's text harmless as a label in Vega.

    Line breaks become spaces, long texts end in an ellipsis, and a zero-width space in front keeps
    texts such as ``constructor`` from being taken for a name in JavaScript.
    """
    line = " ".join(str(text).split()) or "(no name)"
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    if any(unicodedata.bidirectional(character) in ("R", "AL") for character in line):
        line = (
            f"\u2068{line}\u2069"  # isolated, so that it does not turn around what stands beside it
        )
    return ZERO_WIDTH + line


def distinct(texts: Iterable[str], *, longest: int = _LONGEST) -> list[str]:
    """Make texts safe and keep different ones different, numbered where shortening joined them."""
    seen: dict[str, int] = {}
    labels = []
    for text in texts:
        label = safe(text, longest=longest)
        seen[label] = seen.get(label, 0) + 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels
