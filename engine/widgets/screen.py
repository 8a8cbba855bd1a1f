"""Where pictures are shown: drawn again as a whole, so that nothing jumps when the content changes.

What is released is the content of one HTML widget: a new round takes the place of the old one
without the page moving. What is not private goes to an output of its own above it and is never a
setting of a widget.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import ipywidgets as w
from IPython.core.getipython import get_ipython
from IPython.display import HTML, clear_output, display

from engine.showing import html, pictures
from engine.showing.figure import Figure
from engine.showing.sheets import Sheet

COLOUR = "var(--jp-ui-font-color1, inherit)"
_MOST_KEPT = 60
"""Rounds that are kept as drawn; each weighs up to half a megabyte."""
_TRUTH = 430
"""Pixels of the output that shows what is not private."""


class Screen:
    """Where figures are shown. Nothing private that it shows ever becomes a setting of a widget.

    Args:
        height: Of what is released, in pixels; more content scrolls inside.
        private: Height of what is not private.
    """

    def __init__(self, height: int, private: int = _TRUTH) -> None:
        border = "1px solid #8886"
        self.page = w.HTML(
            layout=w.Layout(height=f"{height}px", overflow="auto", border=border, display="none")
        )
        self.output = w.Output(
            layout=w.Layout(height=f"{private}px", overflow="auto", border=border, display="none")
        )
        self.box = w.VBox([self.output, self.page])
        self.shown: tuple[Sheet, ...] = ()
        self._kept: dict[object, Future[tuple[Sheet, str]]] = {}
        self._lock = threading.Lock()
        self._ahead: ThreadPoolExecutor | None = None

    def show(self, *sheets: Sheet) -> None:
        """Draw sheets in place of what is there."""
        seen = tuple(sheet for sheet in sheets if not private(sheet.figures))
        self._put(seen, tuple(sheet for sheet in sheets if sheet not in seen), together(seen))

    def show_kept(self, key: object, make: Callable[[], Sheet], *beside: Sheet) -> None:
        """Draw the sheet of this key, from memory if it was drawn before; and others above it."""
        sheet, drawn = self._made(key, make).result()
        self._put((sheet,), beside, drawn)

    def ahead(self, key: object, make: Callable[[], Sheet]) -> None:
        """Draw the sheet of this key in the background, so that it is there when asked for."""
        if get_ipython() is None or not pictures.can_draw():
            return
        with self._lock:
            if key in self._kept:
                return
            self._ahead = self._ahead or ThreadPoolExecutor(1, "engine-pictures")
            self._keep(key, self._ahead.submit(lambda: _drawn(make())))

    def _made(self, key: object, make: Callable[[], Sheet]) -> Future[tuple[Sheet, str]]:
        with self._lock:
            if key in self._kept:
                return self._kept[key]
        made: Future[tuple[Sheet, str]] = Future()
        made.set_result(_drawn(make()))
        with self._lock:
            self._keep(key, made)
        return made

    def _keep(self, key: object, made: Future[tuple[Sheet, str]]) -> None:
        while len(self._kept) >= _MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept[key] = made

    def _put(self, seen: tuple[Sheet, ...], hidden: tuple[Sheet, ...], drawn: str) -> None:
        self.shown = (*hidden, *seen)
        if get_ipython() is None:
            return  # driven without a front end, as the tests do
        on_output = hidden if pictures.can_draw() else self.shown
        self.page.layout.display = None if seen and pictures.can_draw() else "none"
        self.page.value = drawn
        self.output.layout.display = None if on_output else "none"
        with self.output:
            clear_output(wait=bool(on_output))
            if on_output and pictures.can_draw():
                display(HTML(together(on_output)))
                return
            for sheet in on_output:  # a front end with Vega-Lite draws them one by one
                display(HTML(heading(sheet)), *sheet.figures)


def _drawn(sheet: Sheet) -> tuple[Sheet, str]:
    """A sheet and its HTML, which nobody sees where there is no front end."""
    return sheet, together((sheet,)) if get_ipython() is not None else ""


def heading(sheet: Sheet) -> str:
    """Return a sheet's title and notes as HTML."""
    notes = " ".join(html.escape(note, longest=500) for note in sheet.notes)
    return f"<b>{html.escape(sheet.title, longest=120)}</b> {notes}"


def together(sheets: tuple[Sheet, ...]) -> str:
    """Return sheets as one piece of HTML; nothing without what draws them."""
    if not sheets or not pictures.can_draw():
        return ""
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


def wide(pixels: int) -> w.Layout:
    """Return a width that gives way where there is less room."""
    return w.Layout(width=f"{pixels}px", max_width="100%")


# Lumino sees keys before any control does, and looks at nothing but the focused element to know
# whether it should leave them alone.
_OWN_KEYS = (
    "<style onload=\"this.closest('.engine-controls').addEventListener('focusin',"
    "e=>e.target.setAttribute('data-lm-suppress-shortcuts',''))\"></style>"
)


def controls(*rows: w.Widget) -> w.VBox:
    """Return rows of controls whose keys stay in them.

    JupyterLab and Notebook take letters and arrows typed in a list or on a slider as commands: an
    "x" cuts the cell.
    """
    box = w.VBox([*rows, w.HTML(_OWN_KEYS, layout=w.Layout(display="none"))])
    box.add_class("engine-controls")
    return box
