"""Users' texts inside Markdown: shown as written, never read as formatting."""

from __future__ import annotations

import string

_ESCAPES = str.maketrans({character: "\\" + character for character in string.punctuation})


def plain(text: object, *, longest: int = 200) -> str:
    """Escape a text for Markdown: all ASCII punctuation; line breaks become spaces."""
    line = " ".join(str(text).split())
    if len(line) > longest:
        line = line[: longest - 1] + "…"
    return line.translate(_ESCAPES)
