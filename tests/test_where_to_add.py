"""Where CONTRIBUTING says that a chart, a reader or a page is added, one can be added.

A mechanism is added in ``test_catalogue``.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import ingest
from engine.ingest import content, reading
from engine.ingest.text import read_text
from tests.support import ROOT

GUIDE = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")


@pytest.mark.parametrize(
    "place",
    [
        "engine/mechanisms/catalogue.py", "engine/showing/frames/", "engine/charts.py",
        "content.kind_of", "reading._READ_AS", "tests/ingest/corpus.py",
        "pages/parts/navigation/frame.py",
        "tests/test_catalogue.py", "tests/test_where_to_add.py",
    ],
)  # fmt: skip
def test_the_places_that_the_guide_names_exist(place: str) -> None:
    assert f"`{place}`" in GUIDE
    module, _, name = place.partition(".")
    if "/" in place:
        assert (ROOT / place).exists()
    else:
        assert hasattr({"content": content, "reading": reading}[module], name)


def test_a_chart_is_a_function_of_a_frame(table: engine.Table) -> None:
    pytest.importorskip("altair")
    from engine import views
    from engine.showing.figure import columns, drawn
    from engine.showing.guides import source
    from engine.showing.template import form

    @form
    def _throw_away() -> Any:
        return source("rows").mark_bar().encode(x="label:N", y="spent:Q")

    def throw_away(frame: Any) -> Any:
        """Draw what each round spent."""
        rows = columns(len(frame), label=frame.index.astype(str), spent=frame.iloc[:, 0])
        return drawn(
            _throw_away(), title="A throw-away chart", sentence="It shows what it shows.",
            of=[frame], table=lambda: frame, height=100, data={"rows": rows},
        )  # fmt: skip

    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.AimGrem.paper(), table, workload, rho=1, seed=0)
    figure = throw_away(views.budget(run.events))
    assert not figure.private
    assert figure.spec()["title"]["text"]


def test_a_reader_is_a_function_from_bytes_and_a_line_in_one_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read_lines(data: bytes, *rest: Any) -> Any:
        """Read a made-up format: a name, then fields between bars."""
        return read_text(data.removeprefix(b"%BARS\n").replace(b"|", b";"), *rest)

    known = content.kind_of
    monkeypatch.setattr(
        content, "kind_of", lambda data: "bars" if data.startswith(b"%BARS") else known(data)
    )
    monkeypatch.setitem(reading._READ_AS, "bars", read_lines)
    preview = ingest.read(b"%BARS\nage|city\n31|Oslo\n4|Rome\n50|Oslo\n")
    assert preview.labels == ("age", "city")
    domain = ingest.draft_domain(preview, "city")
    assert ingest.encode(preview, domain).records() == 3


def test_a_page_is_a_script_and_a_line_in_one_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("streamlit")
    from streamlit.testing.v1 import AppTest

    from pages.parts.navigation import frame

    shutil.copy(ROOT / "app.py", tmp_path)
    shutil.copytree(
        ROOT / "pages", tmp_path / "pages", ignore=shutil.ignore_patterns("parts", "__pycache__")
    )
    (tmp_path / "pages" / "throw_away.py").write_text(
        "import streamlit as st\n\nst.title('A throw-away page')\n", "utf-8"
    )
    new = ("throw_away", "Throw-away", ":material/delete:")
    monkeypatch.setattr(frame, "PAGES", [*frame.PAGES, new])
    app = AppTest.from_file(str(tmp_path / "app.py"), default_timeout=60)
    app.switch_page("pages/throw_away.py").run()
    assert not app.exception
    assert app.title[0].value == "A throw-away page"
