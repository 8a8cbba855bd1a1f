"""Notebooks: executed from a clean kernel, rendered, and searched for private values when saved."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

from tests.support import ROOT

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("ipywidgets")

from engine import widgets  # noqa: E402 - needs ipywidgets
from engine.errors import DataError  # noqa: E402
from engine.widgets import render  # noqa: E402

NOTEBOOKS = sorted(render.FOLDER.glob("*.ipynb"))

# In the kernel and in the client's event loop, both outside this project.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq"),
]

CANARY = 104_729
"""Records of the table with canaries, a prime; so many that noise cannot reach it by chance."""
SETUP = """
import numpy as np
import engine
from engine import charts, widgets

domain = engine.Domain.from_sizes({"a": 3, "b": 2})
table = engine.Table.from_codes(np.load("codes.npy"), domain)
workload = engine.Workload.all_kway(domain, 2)
run = engine.run(engine.AimGrem(), table, workload, epsilon=0.5, delta=1e-9, seed=0)
"""
COUNTS = [CANARY, 50021, 30011, CANARY - 50021, CANARY - 30011, 50021 - 30011]
"""Every count there is in that table."""
RELEASED = [
    "run", "run.release", "run.release.ledger", "run.release.estimate('a')",
    "run.release.estimate('a', 'b')", "table", "workload", "domain", "charts.round(run, 1)",
    "charts.filmstrip(run)", "widgets.explore(run)", "widgets.setup(table)",
    "form = widgets.setup(table).start()\nform.wait()\nform",
]  # fmt: skip


def saved(code: list[str], folder: Path) -> Path:
    """Execute cells and save the notebook as Jupyter does, with outputs and widget state."""
    cells = [nbformat.v4.new_code_cell(text) for text in (SETUP, *code)]
    codes = np.zeros((CANARY, 2), dtype=int)
    codes[:50021, 0], codes[:30011, 1] = 1, 1
    np.save(folder / "codes.npy", codes)
    path = folder / "saved.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    nbformat.write(render.execute(path), path)
    return path


def found(path: Path) -> set[int]:
    """The counts that stand in a saved notebook, pictures included."""
    text = unquote(path.read_text("utf-8")).replace("\\u2212", "-")
    return {n for n in COUNTS if any(form in text for form in (f"{n}", f"{n:,}"))}


def test_a_saved_notebook_of_a_release_holds_no_private_value(tmp_path: Path) -> None:
    path = saved(RELEASED, tmp_path)
    content = json.loads(path.read_text("utf-8"))
    assert content["metadata"]["widgets"], "widget state was saved too"
    assert "Release view" in path.read_text("utf-8")
    assert found(path) == set()


def test_a_view_beside_the_truth_says_so_and_strip_takes_it_out(tmp_path: Path) -> None:
    path = saved(["widgets.explore(table, workload=workload, truth=True)"], tmp_path)
    assert found(path), "the search can find what is there"
    assert "not private (never released)" in path.read_text("utf-8")
    states = json.loads(path.read_text("utf-8"))["metadata"]["widgets"]
    settings = json.dumps(
        [
            {k: v for k, v in one["state"].items() if k != "outputs"}
            for one in next(iter(states.values()))["state"].values()
        ]
    )
    assert not [n for n in COUNTS if f"{n}" in settings or f"{n:,}" in settings]
    copy = widgets.strip(path, tmp_path / "stripped.ipynb")
    assert found(path)
    assert found(copy) == set()
    content = nbformat.read(copy, as_version=4)
    nbformat.validate(content)
    assert "widgets" not in content.metadata
    assert [cell.outputs for cell in content.cells] == [[], []]
    assert "truth=True" in content.cells[1].source
    assert widgets.strip(path) == path
    assert found(path) == set()


def test_only_notebooks_are_stripped(tmp_path: Path) -> None:
    other = tmp_path / "other.ipynb"
    for text in ("", "[]", '{"cells": 1}'):
        other.write_text(text)
        with pytest.raises(DataError, match="no notebook"):
            widgets.strip(other)
    with pytest.raises(DataError, match="cannot be read"):
        widgets.strip(tmp_path / "none.ipynb")


def test_samples_are_found_by_name_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert widgets.sample("titanic", "Sex", "Class").domain.names == ("Sex", "Class")
    monkeypatch.setenv("ENGINE_SAMPLE_DATA", str(ROOT / "sample_data"))
    assert len(widgets.sample("penguins").domain) == 8
    for name in ("nothing", "../sample_data/titanic", ""):
        with pytest.raises(DataError, match="no sample"):
            widgets.sample(name)


@pytest.fixture(scope="module")
def executed() -> Iterator[dict[str, Any]]:
    """Every notebook that comes with the engine, executed."""
    began = time.monotonic()
    yield {path.stem: render.execute(path) for path in NOTEBOOKS}
    assert time.monotonic() - began < 600


def test_there_are_three_notebooks_without_outputs() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["comparison", "lecture", "tour"]
    for path in NOTEBOOKS:
        content = nbformat.read(path, as_version=4)
        nbformat.validate(content)
        assert "widgets" not in content.metadata
        for cell in content.cells:
            if cell.cell_type == "code":
                assert (cell.outputs, cell.execution_count) == ([], None)


def test_notebooks_run_from_top_to_bottom_and_show_something_in_each_cell(
    executed: dict[str, Any],
) -> None:
    for name, notebook in executed.items():
        for number, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                assert cell.outputs, (name, number)
                kinds = {output.output_type for output in cell.outputs}
                assert kinds <= {"execute_result", "display_data"}, (name, number, cell.outputs)
                after = (
                    notebook.cells[number + 1].cell_type
                    if number + 1 < len(notebook.cells)
                    else "markdown"
                )
                assert after == "markdown", (name, number, "a figure without a caption")


def test_rendered_notebooks_need_no_network_and_show_what_widgets_showed(
    executed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nbconvert")
    monkeypatch.setattr(render, "execute", lambda path: executed[path.stem])
    render.main(["--out", str(tmp_path)])
    for path in NOTEBOOKS:
        text = (tmp_path / f"{path.stem}.html").read_text("utf-8")
        assert "widget-view+json" not in text
        assert "controls work in a running notebook" in text
        assert "data:image/svg+xml" in text
        assert re.search(r"<script[^>]*\bsrc=\"[^\"]", text) is None
        assert '<link rel="stylesheet" href="http' not in text
