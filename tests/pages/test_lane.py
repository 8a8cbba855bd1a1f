"""The second lane of the cockpit: ResidualPlanner's run beside the one being watched."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.demonstrating import beside
from pages.parts.visit import samples, session
from tests.pages.conftest import texts


@pytest.fixture
def lane(app: AppTest) -> AppTest:
    app.query_params.update({"sample": "titanic", "round": "2", "seed": "0"})
    app.switch_page("pages/rounds.py").run()
    app.button_group(key="rounds_more").set_value("beside").run()
    assert not app.exception
    return app


def titles(app: AppTest) -> list[str]:
    specs = [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]
    return [" ".join(spec["title"]["text"]) for spec in specs]


def run_of(app: AppTest) -> session.Watched:
    run: session.Watched = app.session_state["visit"].run
    return run


def test_the_lane_shows_its_plan_both_curves_and_who_is_nearer_why(lane: AppTest) -> None:
    assert "Where the noise goes" in titles(lane)[-2:]
    assert "Error by budget spent" in titles(lane)
    said = texts(lane).replace("\\", "")
    assert "Marginal by marginal, after round 2" in said
    rows = lane.table[-1].value
    assert len(rows) == 4
    assert set(rows["nearer"]) <= {"the run", "ResidualPlanner"}
    known = [said.replace("\\", "") for said in rows["the run knows it"]]
    assert any(said.startswith("measured directly, round") for said in known)


def test_its_run_is_made_once_and_counted(lane: AppTest) -> None:
    kept = lane.session_state["rounds_rival"][1]
    before = len(lane.session_state["visit"].past)
    lane.button(key="next").click().run()
    assert lane.session_state["rounds_rival"][1] is kept
    past = lane.session_state["visit"].past
    assert len(past) == before
    assert past[-1][0].mechanism == "residual_planner"
    assert past[-1][1] == kept.release.ledger.spent > 0


def test_hidden_it_shows_its_plan_alone(lane: AppTest) -> None:
    lane.toggle(key="hide_not_private").set_value(True).run()
    assert "Error by budget spent" not in titles(lane)
    assert "Marginal by marginal" not in texts(lane)
    assert not lane.table


def test_its_errors_are_those_of_the_engine_s_own_run(lane: AppTest) -> None:
    run, rival = run_of(lane), lane.session_state["rounds_rival"][1]
    table = samples.columns("titanic", run.settings.attributes)
    made = engine.run(engine.ResidualPlanner(), table, run.workload, rho=run.rho, seed=0)
    assert rival.evaluation.mean_l1 == engine.evaluate(made.release, table).mean_l1
    assert rival.release.ledger == made.release.ledger
    frame = beside.by_budget([3.0, 1.0], [0.5, 1.0], rival, records=0)
    assert list(frame["error"]) == [3.0, 1.0, rival.before, rival.evaluation.mean_l1]
    assert list(frame["spent"]) == [0.5, 1.0, 0.0, 1.0]


def domain() -> engine.Domain:
    return engine.Domain.from_sizes({"a": 2, "b": 2, "c": 2, "d": 2})


@pytest.fixture(scope="module")
def watched() -> tuple[engine.Run, beside.Rival, engine.Private]:
    import numpy as np

    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    columns = [a, a, (a + (rng.random(400) < 0.3)) % 2, rng.integers(0, 2, 400)]
    table = engine.Table.from_codes(np.stack(columns, axis=1), domain())
    workload = engine.Workload.all_kway(domain(), 3)
    made = engine.run(engine.AimGrem(finish="rounds"), table, workload, rho=0.05, seed=3)
    private = engine.Private(table)
    noise = engine.rehearsal_noise(4)
    return made, beside.planner(private, workload, rho=Fraction(1, 20), rng=noise), private


def test_the_reason_says_how_the_run_knows_a_marginal(watched: Any) -> None:
    made, rival, private = watched
    frame = beside.by_marginal(made.release, made.events, rival, private).set_index("label")
    selected = {e.selected: e.round for e in reversed(made.events) if hasattr(e, "selected")}
    for attrs in made.release.workload.marginals:
        reason = frame.loc[domain().label(attrs), "reason"]
        if attrs in selected:
            assert reason == f"measured directly, round {selected[attrs]}"
        else:
            pairs = [s for s in selected if len(set(s) & set(attrs)) >= 2]
            assert reason.startswith("through " if pairs else "never: from single attributes")
    start = beside.by_marginal(made.release, made.events[:1], rival, private)
    assert set(start["reason"]) == {"never: from single attributes"}


def test_nothing_of_the_lane_can_be_saved(watched: Any) -> None:
    import pickle

    with pytest.raises(TypeError, match=r"."):
        pickle.dumps(watched[1])
    assert "not private" in repr(watched[1])
