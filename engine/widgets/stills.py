"""A picture of a widget for whoever has no kernel: a saved notebook, or a page made of one.

A front end shows the widget of an output, or says that it is not there; HTML in the same output is
never looked at. So the picture is an output of its own after it, which hides while the widget
lives.
"""

from __future__ import annotations

from typing import Any

from IPython.display import HTML, display

LIVE, STILL = "engine-live", "engine-still"
_CHILD = ".jp-OutputArea-child"
_STYLE = (
    f"<style>{_CHILD}:has(.{LIVE}) + {_CHILD}:has(.{STILL}),"
    f"{_CHILD}:has(+ {_CHILD} .{STILL}):not(:has(.{LIVE})){{display:none}}</style>"
)


class WithStill:
    """What a widget of ours has besides: a still beneath it, up to date when work ends."""

    _shown_still: Any = None

    def still(self) -> str:
        """Return what to show where no kernel runs, as HTML."""
        raise NotImplementedError

    def _ipython_display_(self) -> None:
        widget: Any = self
        widget.add_class(LIVE)
        display(widget._repr_mimebundle_(), raw=True)
        self._shown_still = display(HTML(page(self.still())), display_id=True)

    def refresh_still(self) -> None:
        """Bring the still up to date, if it is shown."""
        if self._shown_still is not None:
            self._shown_still.update(HTML(page(self.still())))


def page(content: str) -> str:
    """Return a still as HTML."""
    note = "As it stood in the notebook; its controls work where a kernel runs."
    return (
        f'<details open class="{STILL}"><summary style="font-size:12px;opacity:.75">{note}'
        f"</summary>{content}</details>{_STYLE}"
    )


def is_still(output: Any) -> bool:
    """Whether an output of a saved notebook is a still."""
    shown = "".join(output.get("data", {}).get("text/html", ""))
    return shown.startswith(f'<details open class="{STILL}">')
