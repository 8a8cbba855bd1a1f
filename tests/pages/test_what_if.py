from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.demonstrating import comparison
from engine.mechanisms import catalogue
from pages.parts.visit import samples, study
from tests.pages.conftest import badges, drawn, texts


@pytest.fixture
def what_if(app: AppTest) -> AppTest:
    app.switch_page("pages/what_if.py").run()
    return finished(app)


def job(app: AppTest) -> Any:
    return app.session_state["what_if"]


def finished(app: AppTest) -> AppTest:
    assert job(app).wait(60)
    app.run()
    assert not app.exception
    return app


def ends(app: AppTest) -> list[float]:
    """Both errors at the end, as the overlay draws them."""
    rows = drawn(app, "Two settings, one seed")
    return [[r["error"] for r in rows if r["who"] == k][-1] for k in (0, 1)]


def adult() -> engine.Table:
    return samples.columns("adult", samples.cards()["adult"].default_attributes)


def error(table: engine.Table, *, degree: int = 3, epsilon: float = 1.0) -> float:
    workload = engine.Workload.all_kway(table.domain, degree)
    made = engine.run(
        catalogue.find(study.FIRST_MECHANISM).make(),
        table,
        workload,
        epsilon=epsilon,
        delta=1e-9,
        seed=0,
    )
    return engine.evaluate(made.release, table).mean_l1_normalized


def test_epsilon_doubled_is_overlaid_with_its_difference(what_if: AppTest) -> None:
    assert ends(what_if) == pytest.approx([error(adult()), error(adult(), epsilon=2.0)], rel=1e-9)
    said = texts(what_if)
    assert "seed 0" in said
    titles = {
        json.loads(c.proto.spec)["title"]["text"][0] for c in what_if.get("vega_lite_chart")
    }  # fmt: skip
    assert {"Two settings, one seed", "Its difference", "Where the budget went"} <= titles
    assert badges(what_if).count("released") == 1


def test_ten_times_the_rows(what_if: AppTest) -> None:
    what_if.segmented_control(key="what_if_change").set_value("rows").run()
    finished(what_if)
    more = comparison.repeat_table(adult(), 10)
    assert ends(what_if) == pytest.approx([error(adult()), error(more)], rel=1e-9)
    assert "simulation of a larger population" in texts(what_if)


def test_another_workload_is_judged_on_what_both_answer(what_if: AppTest) -> None:
    what_if.segmented_control(key="what_if_change").set_value("workload").run()
    finished(what_if)
    table = adult()
    assert ends(what_if)[1] == pytest.approx(error(table, degree=2), rel=1e-9)
    workload = engine.Workload.all_kway(table.domain, 3)
    mechanism = catalogue.find(study.FIRST_MECHANISM).make()
    made = engine.run(mechanism, table, workload, epsilon=1.0, delta=1e-9, seed=0)
    private = engine.Private(table)
    pairs = engine.Workload.all_kway(table.domain, 2).marginals
    errors = [
        np.abs(made.release.estimate(*a).values - private.marginal(a).values).sum() for a in pairs
    ]
    assert ends(what_if)[0] == pytest.approx(np.mean(errors) / 48842, rel=1e-9)


def test_coarser_values_are_judged_on_the_coarse_table(what_if: AppTest) -> None:
    what_if.segmented_control(key="what_if_change").set_value("coarser").run()
    what_if.multiselect(key="what_if_merged_adult_5").set_value(["education"]).run()
    finished(what_if)
    names = list(samples.cards()["adult"].default_attributes)
    merged = comparison.merge_table(adult(), {names.index("education"): 2})
    assert ends(what_if)[1] == pytest.approx(error(merged), rel=1e-9)
    assert ends(what_if)[0] < error(adult()), "added up, noise cancels"


def test_a_refused_epsilon_is_explained(what_if: AppTest) -> None:
    what_if.number_input(key="epsilon").set_value(0.0).run()
    assert not what_if.exception
    assert "epsilon is 0" in what_if.error[0].value.replace("\\", "")
    what_if.number_input(key="epsilon").set_value(1.0).run()
    assert not what_if.error


def test_it_starts_from_the_run_being_watched(rounds: AppTest) -> None:
    rounds.selectbox(key="sample").set_value("titanic")
    rounds.button(key="start_run").click().run()
    rounds.switch_page("pages/what_if.py").run()
    finished(rounds)
    assert "Titanic" in texts(rounds)


def test_hidden_the_allocation_stays(what_if: AppTest) -> None:
    what_if.session_state["hide_not_private"] = True
    what_if.run()
    assert badges(what_if) == ["released"]
    assert "mean error" not in texts(what_if)


def test_cancelled_it_keeps_what_is_done_and_can_go_again(
    what_if: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = comparison.path

    def slow(*args: Any, cancelled: Any, **settings: Any) -> Any:
        for k, point in enumerate(made(*args, cancelled=cancelled, **settings)):
            while k == 3 and not cancelled():
                time.sleep(0.005)
            yield point

    monkeypatch.setattr(comparison, "path", slow)
    what_if.number_input(key="seed").set_value(5).run()
    what_if.button(key="what_if_cancel").click().run()
    finished(what_if)
    assert "Stopped" in texts(what_if)
    assert {who for who, _ in job(what_if).done} == {0}
    monkeypatch.undo()
    what_if.button(key="what_if_again").click().run()
    finished(what_if)
    assert "Stopped" not in texts(what_if)
    assert {who for who, _ in job(what_if).done} == {0, 1}


def test_another_run_of_the_script_starts_nothing_again(what_if: AppTest) -> None:
    kept = job(what_if)
    what_if.run()
    assert job(what_if) is kept


def test_of_runs_of_one_round_only_the_ends_are_drawn(app: AppTest) -> None:
    """Both curves were one vertical drop, and their difference twenty zeros."""
    app.query_params.update({"sample": "hair_eye_color", "mechanism": "residual_planner"})
    app.switch_page("pages/what_if.py").run()
    finished(app)
    titles = [json.loads(c.proto.spec)["title"]["text"] for c in app.get("vega_lite_chart")]
    assert ["At the end, by marginal"] in titles
    assert ["Two settings, one seed"] not in titles
    assert ["Its difference"] not in titles
