from __future__ import annotations

import subprocess
import sys

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import ROOT, badges, texts


def test_opens_with_a_finished_run_and_three_ways_on(app: AppTest) -> None:
    app.run()
    assert not app.exception
    assert len(app.get("vega_lite_chart")) == 6
    assert badges(app).count("released") == 4
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


def test_no_page_needs_the_solver() -> None:
    script = (
        "import sys; from streamlit.testing.v1 import AppTest;"
        f"at = AppTest.from_file({str(ROOT / 'app.py')!r}, default_timeout=60).run();"
        "at.switch_page('pages/rounds.py').run(); assert not at.exception;"
        "sys.exit('cvxpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
