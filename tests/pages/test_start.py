from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.demonstrating import recorded
from pages.parts.visit import record
from tests.pages.conftest import ROOT, badges, texts


def test_opens_with_a_finished_run_and_three_ways_on(app: AppTest) -> None:
    app.run()
    assert not app.exception
    assert len(app.get("vega_lite_chart")) == 6
    # The strip is drawn on the truth's colour scale, which tells the largest true count.
    assert badges(app).count("released") == 1
    for way in ("Watch a run", "Teach a class", "Use my own table"):
        assert way in texts(app)
    assert "TEACHING" in texts(app)


def test_every_chart_says_what_it_shows(app: AppTest) -> None:
    app.run()
    assert all(len(chart.proto.alt) > 20 for chart in app.get("vega_lite_chart"))


def test_a_class_goes_straight_to_a_small_run(app: AppTest) -> None:
    app.run()
    app.button(key="teach").click().run()
    assert not app.exception
    assert "Titanic" in texts(app)
    assert app.session_state["visit"].run.settings.sample == "titanic"


def test_the_recorded_run_is_what_a_fresh_one_gives() -> None:
    fresh, kept = record.fresh(), recorded.read(recorded.path(record.NAME))
    assert kept.settings["attributes"] == list(fresh.settings["attributes"])
    assert kept.run.release.mechanism == fresh.run.release.mechanism, "record it anew"
    assert kept.run.release.workload == fresh.run.release.workload
    assert [e.selected for e in kept.run.rounds] == [e.selected for e in fresh.run.rounds]
    for one, other in zip(kept.run.release.estimates(), fresh.run.release.estimates(), strict=True):
        # Sums are rounded differently where loops are compiled.
        assert np.allclose(one.values, other.values, rtol=1e-9, atol=1e-6)
    assert np.allclose(kept.errors, fresh.errors, rtol=1e-9)
    assert np.array_equal(kept.truth, fresh.truth)


def test_start_runs_nothing_and_compiles_nothing() -> None:
    script = (
        "import sys; from streamlit.testing.v1 import AppTest; import engine.mechanisms.base as b;"
        "b.rounds = None;"
        f"at = AppTest.from_file({str(ROOT / 'app.py')!r}, default_timeout=60).run();"
        "assert not at.exception, at.exception;"
        "assert len(at.get('vega_lite_chart')) == 6;"
        "sys.exit('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]


def test_a_file_that_is_no_recorded_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.run.json.gz").write_bytes(gzip.compress(b"{}"))
    with pytest.raises(engine.DataError, match="no recorded run"):
        recorded.read(tmp_path / "x.run.json.gz")


def test_no_page_needs_the_solver() -> None:
    script = (
        "import sys; from streamlit.testing.v1 import AppTest;"
        "from tests.pages.conftest import knows_the_frame; knows_the_frame();"
        f"at = AppTest.from_file({str(ROOT / 'app.py')!r}, default_timeout=60).run();"
        "at.switch_page('pages/rounds.py').run(); assert not at.exception;"
        "sys.exit('cvxpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]


def test_each_question_is_answered_a_click_away(app: AppTest) -> None:
    app.run()
    links = {link.proto.label: link.proto for link in app.get("page_link")}
    asked = {
        "What does the mechanism do to my numbers?": "Six steps",
        "What do bounds and clamping bias?": "**Bias ",
        "What does the number of bins do?": "away from the middle of its bin",
        "What do weights do?": "it protects nobody",
    }
    for question, said in asked.items():
        query = links[question].query_string
        page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        page.query_params.update(dict(part.split("=") for part in query.split("&")))
        page.switch_page("pages/learn.py").run()
        assert not page.exception
        assert said in texts(page) or question.startswith("What does the mechanism"), question
    assert links["What with more than ten columns?"].query_string == "compare=wins"
    assert "Original beside released: how far off?" in links


def test_what_epsilon_means_for_one_person_is_said_on_start(app: AppTest) -> None:
    app.session_state["start_person"] = True
    app.run()
    assert not app.exception
    said = texts(app)
    assert "From **10 %** to **at most" in said
    assert "Protected: one row" in said
