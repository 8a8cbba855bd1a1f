"""Notebooks as pages that need neither kernel nor network: ``python -m engine.widgets.render``.

Each notebook is executed in a new kernel and written as HTML. What a widget showed at the end is
put in its place, without its controls.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.widgets.stills import is_still

FOLDER = Path(__file__).parent / "notebooks"
_VIEW = "application/vnd.jupyter.widget-view+json"
_STATE = "application/vnd.jupyter.widget-state+json"
_NOTE = (
    '<div style="font-size:12px;opacity:.75">As the widget stood at the end; its controls work in '
    "a running notebook.</div>"
)


def execute(path: Path, *, seconds: int = 120) -> Any:
    """Run a notebook from top to bottom in a new kernel and return it with its outputs.

    Args:
        path: The notebook; it stays as it is.
        seconds: For each cell.
    """
    import nbformat
    from nbclient import NotebookClient

    class Client(NotebookClient):  # type: ignore[misc]  # typed in part only
        # An output would be reported back to the kernel on the socket that the client is waiting
        # on; now and then it then misses the kernel's answer until the time is up.
        def on_comm_open_jupyter_widget(self, msg: dict[str, Any]) -> Any:
            output = super().on_comm_open_jupyter_widget(msg)
            if output is not None:
                output.send = lambda *_, **__: None
            return output

    notebook = nbformat.read(path, as_version=4)
    here = {"metadata": {"path": str(path.parent)}}
    Client(notebook, timeout=seconds, kernel_name="python3", resources=here).execute()
    return notebook


def still(notebook: Any) -> Any:
    """Put in the place of every widget what it showed; the notebook given is changed."""
    states = notebook.metadata.pop("widgets", {}).get(_STATE, {}).get("state", {})
    for cell in notebook.cells:
        if "outputs" in cell:  # what the widget showed at its end takes its still's place
            cell["outputs"] = [one for one in cell["outputs"] if not is_still(one)]
        for output in cell.get("outputs", ()):
            view = output.get("data", {}).pop(_VIEW, None)
            if view is not None:
                shown = "".join(_shown(view["model_id"], states))
                output["data"]["text/html"] = shown + _NOTE
    return notebook


def _shown(model: str, states: Mapping[str, Any]) -> Iterator[str]:
    """HTML of a widget and of those inside it."""
    state = states.get(model, {}).get("state", {})
    if state.get("_model_name") == "HTMLModel":
        yield f"<div>{state.get('value', '')}</div>"
    for output in state.get("outputs", ()):
        data = output.get("data", {})
        yield "".join(data.get("text/html", data.get("text/plain", "")))
    for child in state.get("children", ()):
        yield from _shown(child.removeprefix("IPY_MODEL_"), states)


def render(path: Path, to: Path) -> Path:
    """Execute a notebook and write it as one HTML file.

    Args:
        path: The notebook.
        to: The folder to write to.
    """
    from nbconvert import HTMLExporter

    # Formulas are the only thing that a network would bring.
    exporter = HTMLExporter(template_name="lab", require_js_url="", jquery_url="", mathjax_url="")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    content, _ = exporter.from_notebook_node(still(execute(path)))
    to.mkdir(parents=True, exist_ok=True)
    target = to / f"{path.stem}.html"
    target.write_text(content, encoding="utf-8")
    return target


def main(arguments: list[str] | None = None) -> None:
    """Write every notebook, or those named, as HTML."""
    parser = argparse.ArgumentParser(prog="python -m engine.widgets.render", description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, help="by default all that come with it")
    parser.add_argument("--out", type=Path, default=Path("out/notebooks"), help="folder to write")
    asked = parser.parse_args(arguments)
    for path in asked.notebooks or sorted(FOLDER.glob("*.ipynb")):
        sys.stdout.write(f"{render(path, asked.out)}{os.linesep}")


if __name__ == "__main__":
    main()
