"""What a page says of accuracy is true for the mechanism at hand, or absent with the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.visit import session, study
from tests.pages.conftest import texts

COMPLETED = ("aim_grem", "aim_grem_rounds")
"""The default and the mechanism that pages begin with: their tables are completed."""
MEASURED = ("aim_grem_plain", "residual_planner")
REASON = "no interval is known"


def opened(app: AppTest, page: str, mechanism: str, **state: Any) -> session.Watched:
    """A page at the end of a small run."""
    run = session.begin(
        replace(study.usual("hair_eye_color"), degree=2, mechanism=mechanism, epsilon=8.0)
    )
    while not run.finished:
        run = run.stepped()
    app.session_state["visit"] = session.Visit(run=run, view=run.rounds)
    for name, value in state.items():
        app.session_state[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return run


def units(app: AppTest) -> list[str]:
    return [str(group.key) for group in app.button_group if group.key == "unit"]


def sigmas(app: AppTest) -> list[Any]:
    """Tables with a column of noise."""
    return [table.value for table in app.table if "noise σ" in table.value.columns]


@pytest.mark.parametrize("mechanism", COMPLETED)
def test_of_completed_tables_no_page_says_how_sure_and_each_says_why(
    app: AppTest, mechanism: str
) -> None:
    run = opened(app, "marginals", mechanism)
    assert run.release(run.rounds).estimate(0, 1).std is None
    assert REASON in texts(app)
    assert units(app) == [], "no difference in units of a noise that is not known"
    assert "fell inside" not in texts(app)
    app.switch_page("pages/export.py").run()
    assert not app.exception
    assert REASON in texts(app)
    assert any("count" in table.value.columns for table in app.table)
    assert sigmas(app) == [], "no column of what is not known"


@pytest.mark.parametrize("mechanism", MEASURED)
def test_of_measured_tables_the_noise_is_the_releases_own(app: AppTest, mechanism: str) -> None:
    run = opened(app, "marginals", mechanism)
    release = run.release(run.rounds)
    assert REASON not in texts(app)
    assert units(app) == ["unit"]
    assert "fell inside" in texts(app)
    app.switch_page("pages/export.py").run()
    assert not app.exception
    assert REASON not in texts(app)
    (shown,) = sigmas(app)
    attrs = next(attrs for attrs in run.workload.closure if len(attrs) == 2)
    std = release.estimate(*attrs).std
    assert std
    assert (shown["noise σ"] == f"{std:,.1f}").all()


def test_where_nothing_is_measured_yet_no_noise_is_no_certainty(app: AppTest) -> None:
    run = session.begin(replace(study.usual("hair_eye_color"), mechanism="residual_planner"))
    app.session_state["visit"] = session.Visit(run=run, view=0)
    app.switch_page("pages/export.py").run()
    assert not app.exception
    assert "Nothing is measured here yet" in texts(app)
    assert sigmas(app) == [], "a σ of 0 would say that the counts are exact"
