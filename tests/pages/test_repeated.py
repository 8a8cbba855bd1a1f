"""The paper's experiments on the Learn page, on a few kept figures and on none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.comparing import repeated
from tests.pages.conftest import badges, texts

LINES = """experiment,case,measure,ours,paper,why
figure3,"decompose, mean over size 16",Kronecker s / in-axis s,6.4,3.14 on average,compiled
figure3,"decompose, degree 2, size 16",Kronecker s / in-axis s,2.7,,
table2,Adult,error of IID / error of CRP,1.04,1.03 to 1.13,noise decides it
figure4,"Adult, *13*, largest",error / ResidualPlanner's,0.43,at worst 1.15 to 1.37,
figure4,"Titanic, largest",error / ResidualPlanner's,1.49,at worst 1.15 to 1.37,a small table
figure6,"Titanic, largest",error of AIM+PGM / AIM+GReM's,0.82,below 1,
"""


def spec(title: str, *parts: str) -> dict[str, Any]:
    values = [{"data": part, "x": x, "y": 2.0 * x} for part in parts for x in (1.0, 2.0)]
    encoding = {axis: {"field": axis, "type": "quantitative"} for axis in "xy"}
    return {"title": title, "data": {"values": values}, "mark": "point", "encoding": encoding}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "paper.csv").write_text(LINES)
    (tmp_path / "figures").mkdir()
    kept = {
        "figure3": spec("In-axis against Kronecker", "decompose, size 16", "reconstruct, size 16"),
        "figure4": spec("Error and time", "Adult, *13*", "Titanic"),
    }
    for name, content in kept.items():
        (tmp_path / "figures" / f"{name}.vl.json").write_text(json.dumps(content))
    monkeypatch.setattr(repeated, "FOLDER", tmp_path)
    return tmp_path


def opened(app: AppTest) -> AppTest:
    app.query_params["section"] = "paper"
    app.switch_page("pages/learn.py").run()
    assert not app.exception
    return app


def chosen(app: AppTest, key: str, value: str) -> AppTest:
    app.session_state[key] = value
    app.run()
    assert not app.exception
    return app


def rows(app: AppTest) -> list[dict[str, Any]]:
    """The records of the one chart, as the browser gets them."""
    (chart,) = app.get("vega_lite_chart")
    frame = pa.ipc.open_stream(chart.proto.data.data).read_pandas()
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def test_opens_on_figure_4_with_our_number_beside_the_paper_s(app: AppTest, folder: Path) -> None:
    opened(app)
    assert badges(app) == ["not private (never released)"]
    assert {row["data"] for row in rows(app)} == {"Adult, *13*"}
    said = texts(app).replace("\\", "")
    assert "**0.43** here; the paper: **at worst 1.15 to 1.37**" in said
    assert "1.49" not in said


def test_another_table_shows_its_own_rows_and_reason(app: AppTest, folder: Path) -> None:
    chosen(opened(app), "repeated_figure4", "Titanic")
    assert {row["data"] for row in rows(app)} == {"Titanic"}
    assert "1.49" in texts(app).replace("\\", "")
    assert "A small table." in texts(app).replace("\\", "")


def test_sentences_about_a_whole_figure_stay_with_each_part(app: AppTest, folder: Path) -> None:
    chosen(opened(app), "repeated_name", "figure3")
    assert badges(app) == ["public"]
    said = texts(app).replace("\\", "")
    assert "3.14 on average" in said
    assert "2.7" not in said  # the paper says nothing about it


def test_a_table_needs_no_chart(app: AppTest, folder: Path) -> None:
    chosen(opened(app), "repeated_name", "table2")
    assert not app.get("vega_lite_chart")
    assert "1.03 to 1.13" in texts(app).replace("\\", "")


def test_true_errors_are_hidden_when_asked(app: AppTest, folder: Path) -> None:
    app.session_state["hide_not_private"] = True
    opened(app)
    assert not app.get("vega_lite_chart")
    assert "hidden, since it is computed from the records" in texts(app)
    assert "0.43" not in texts(app).replace("\\", "")


def test_an_installation_without_the_figures_says_where_they_are(
    app: AppTest, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated, "FOLDER", folder / "nowhere")
    opened(app)
    assert "tests/benchmarks/paper.py makes them" in texts(app)


def test_the_kept_figures_can_all_be_drawn(app: AppTest) -> None:
    opened(app)
    for path in sorted((repeated.FOLDER / "figures").glob("*.vl.json")):
        chosen(app, "repeated_name", path.name.removesuffix(".vl.json"))
        assert rows(app)
