"""One output of fixed height, drawn anew as a whole: nothing jumps when the content changes."""

from __future__ import annotations

import ipywidgets as w
from IPython.core.getipython import get_ipython
from IPython.display import HTML, clear_output, display

from engine.showing import html, pictures
from engine.showing.figure import Figure
from engine.showing.sheets import Sheet

COLOUR = "var(--jp-ui-font-color1, inherit)"


class Screen:
    """Where figures are shown. What it shows never becomes a setting of a widget in the kernel.

    Args:
        height: Of the output, in pixels; more content scrolls inside.
    """

    def __init__(self, height: int) -> None:
        self.output = w.Output(
            layout=w.Layout(height=f"{height}px", overflow="auto", border="1px solid #8886")
        )
        self.shown: tuple[Sheet, ...] = ()
        self._drawn: dict[object, str] = {}

    def show(self, *sheets: Sheet, key: object = None) -> None:
        """Draw sheets one below the other in place of what is there.

        Args:
            sheets: What to draw.
            key: Draws the same as last time under this key, from memory.
        """
        self.shown = sheets
        if get_ipython() is None:
            return  # driven without a front end, as the tests do
        with self.output:
            clear_output(wait=True)
            if pictures.can_draw():
                display(HTML(self._html(sheets, key)))
                return
            for sheet in sheets:  # a front end with Vega-Lite draws them one by one
                display(HTML(heading(sheet)), *sheet.figures)

    def say(self, text: str) -> None:
        """Put one sentence in the place of everything."""
        self.show(Sheet(text, ()))

    def forget(self) -> None:
        """Drop what was drawn, since it is out of date."""
        self._drawn.clear()

    def _html(self, sheets: tuple[Sheet, ...], key: object) -> str:
        if key is None:
            return together(sheets)
        if key not in self._drawn:
            while len(self._drawn) >= 200:
                self._drawn.pop(next(iter(self._drawn)))
            self._drawn[key] = together(sheets)
        return self._drawn[key]


def heading(sheet: Sheet) -> str:
    """Return a sheet's title and notes as HTML."""
    notes = " ".join(html.escape(note, longest=500) for note in sheet.notes)
    return f"<b>{html.escape(sheet.title, longest=120)}</b> {notes}"


def together(sheets: tuple[Sheet, ...]) -> str:
    """Return sheets as one piece of HTML."""
    return f'<div style="padding:4px 10px">{"".join(sheet.html() for sheet in sheets)}</div>'


def text(content: str = "") -> w.HTML:
    """Return a place for HTML that may be seen by everybody."""
    return w.HTML(content, layout=w.Layout(margin="2px 0"))


def refused(error: Exception) -> str:
    """Return what the engine refused, as HTML."""
    return html.warning(str(error))


def private(figures: tuple[Figure, ...]) -> bool:
    """Whether one of the figures is not private."""
    return any(figure.private for figure in figures)
