from __future__ import annotations

import json
import threading
import time
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.demonstrating import comparison
from engine.showing import contenders, pictures
from pages.parts.comparing import address, away
from pages.parts.drawing import code
from pages.parts.visit import samples
from pages.parts.visit.asked import Compared
from tests.pages.conftest import badges, drawn, texts

NOT_PRIVATE = "not private (never released)"


@pytest.fixture
def compare(app: AppTest) -> AppTest:
    app.query_params["compare"] = "loses"
    app.switch_page("pages/compare.py").run()
    return finished(app)


@pytest.fixture
def bare(app: AppTest) -> AppTest:
    """The page without its charts, which take most of its time."""
    app.session_state["hide_not_private"] = True
    app.query_params["compare"] = "loses"
    app.switch_page("pages/compare.py").run()
    return finished(app)


def job(app: AppTest) -> Any:
    return app.session_state["comparison"]


def finished(app: AppTest) -> AppTest:
    assert job(app).wait(60)
    app.run()
    assert not app.exception
    return app


def small(app: AppTest, *, trials: int = 2, epsilons: str = "0.5, 5") -> None:
    """Ask for a quick comparison."""
    app.selectbox(key="sample").set_value("hair_eye_color").run()
    app.selectbox(key="degree").set_value(2)
    app.multiselect(key="compare_mechanisms").set_value(["aim_grem", "residual_planner"])
    app.text_input(key="compare_epsilons").set_value(epsilons)
    app.number_input(key="compare_trials").set_value(trials)


def test_opens_with_a_comparison_that_is_lost_and_says_so(compare: AppTest) -> None:
    said = texts(compare).replace("\\", "")
    assert "AIM+GReM is under a baseline here: Equal split" in said
    assert "AIM+GReM loses to Equal split" in said
    assert len(compare.get("vega_lite_chart")) == 6
    assert set(badges(compare)) == {NOT_PRIVATE}
    assert all(len(chart.proto.alt) > 20 for chart in compare.get("vega_lite_chart"))
    assert {"equal_split", "uniform"} <= set(job(compare).about.mechanisms), "baselines always on"


def test_the_band_drawn_is_that_of_the_engine_s_runs(compare: AppTest) -> None:
    small(compare, trials=3)
    compare.button(key="compare_start").click().run()
    finished(compare)
    table = samples.columns("hair_eye_color", samples.domain("hair_eye_color").names)
    workload = engine.Workload.all_kway(table.domain, 2)
    errors = [
        engine.evaluate(
            engine.run(engine.AimGrem(), table, workload, epsilon=5.0, delta=1e-9, seed=s).release,
            table,
        ).mean_l1_normalized
        for s in range(3)
    ]
    rows = drawn(compare, "Error against ε")
    (band,) = [r for r in rows if r["mechanism"] == "aim_grem" and r["epsilon"] == 5]
    low, median, high = np.quantile(errors, [0.1, 0.5, 0.9])
    assert (band["low"], band["median"], band["high"]) == pytest.approx((low, median, high))


def test_cancelled_it_keeps_what_is_done(compare: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, made = threading.Semaphore(5), comparison.trials

    def slow(*args: Any, cancelled: Any, **settings: Any) -> Any:
        for row in made(*args, cancelled=cancelled, **settings):
            while not gate.acquire(timeout=0.01):
                if cancelled():
                    return
            yield row

    monkeypatch.setattr(comparison, "trials", slow)
    small(compare)
    compare.button(key="compare_start").click().run()
    while len(job(compare).done) < 5:
        time.sleep(0.01)
    compare.run()
    assert "of 16 runs" in str(compare.get("progress")[0].proto.text)
    compare.button(key="compare_cancel").click().run()
    finished(compare)
    assert len(job(compare).done) == 5
    assert "Stopped after 5 of 16 runs" in texts(compare)
    assert len(compare.get("vega_lite_chart")) >= 5
    assert "Who wins here" in texts(compare)


def test_two_sessions_neither_block_nor_mix(bare: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    other = AppTest.from_file(bare._script_path, default_timeout=30)
    other.session_state["hide_not_private"] = True
    other.switch_page("pages/compare.py").run()
    finished(other)
    gate, made = threading.Event(), comparison.trials

    def waits(*args: Any, cancelled: Any, **settings: Any) -> Any:
        while settings["delta"] == 1e-9 and len(settings["epsilons"]) == 2 and not gate.is_set():
            if cancelled() or gate.wait(0.01):
                break
        yield from made(*args, cancelled=cancelled, **settings)

    monkeypatch.setattr(comparison, "trials", waits)
    small(bare)
    bare.button(key="compare_start").click().run()
    small(other, epsilons="1")
    other.button(key="compare_start").click().run()
    finished(other)
    assert job(bare).running
    assert not job(bare).done
    assert {r.epsilon for r in job(other).done} == {1.0}
    gate.set()
    finished(bare)
    assert {r.epsilon for r in job(bare).done} == {0.5, 5.0}


@pytest.mark.parametrize(
    ("epsilons", "said"),
    [("one, ten", "is no list of values of ε"), ("0, 1", "epsilon is 0")],
)
def test_a_mistake_is_explained_and_the_comparison_stays(
    bare: AppTest, epsilons: str, said: str
) -> None:
    kept = job(bare)
    bare.text_input(key="compare_epsilons").set_value(epsilons)
    bare.button(key="compare_start").click().run()
    assert not bare.exception
    assert said in bare.error[0].value.replace("\\", "")
    assert job(bare) is kept


def test_too_many_attributes_to_a_table_are_explained(bare: AppTest) -> None:
    bare.multiselect(key="attributes_adult").set_value(["sex"])
    bare.button(key="compare_start").click().run()
    assert "need at least 3" in bare.error[0].value


def test_one_click_hides_all_of_it(compare: AppTest) -> None:
    compare.session_state["hide_not_private"] = True
    compare.run()
    assert not compare.get("vega_lite_chart")
    assert "AIM+GReM loses" not in texts(compare).replace("\\", "")


def test_settings_and_results_survive_a_visit_to_another_page(bare: AppTest) -> None:
    kept = job(bare)
    bare.number_input(key="compare_trials").set_value(7).run()
    bare.switch_page("pages/start.py").run()
    bare.switch_page("pages/compare.py").run()
    assert bare.number_input(key="compare_trials").value == 7
    assert job(bare) is kept


@pytest.mark.slow
def test_adult_is_won_at_small_epsilon_and_the_words_say_so(compare: AppTest) -> None:
    compare.button(key="preset_wins").click().run()
    assert job(compare).wait(300)
    finished(compare)
    said = texts(compare).replace("\\", "")
    assert "AIM+GReM beats ResidualPlanner at ε = 0.1, 0.316, 1" in said
    assert "AIM+GReM beats Product of 1-ways at ε = 0.1, 0.316, 1" in said
    assert "AIM+GReM is under a baseline here" not in said
    bands = comparison.bands(job(compare).done).set_index(["mechanism", "epsilon"])["median"]
    lost = bands["aim_grem_paper"] > bands["product"]
    assert lost.all(), "nothing completed, it loses to the 1-way tables"
    assert bands["aim_grem_paper"][0.1] > bands["uniform"][0.1], "and to a uniform guess"


def test_another_run_of_the_script_starts_nothing_again(bare: AppTest) -> None:
    kept = job(bare)
    bare.run()
    assert job(bare) is kept


def test_a_link_opens_a_preset(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "trials", lambda *args, **settings: iter(()))
    app.query_params["compare"] = "wins"
    app.switch_page("pages/compare.py").run()
    finished(app)
    assert job(app).about.sample == "adult_paper"
    assert len(job(app).about.attributes) == 13
    assert app.number_input(key="compare_trials").value == 3


def test_a_comparison_s_address_brings_it_back(bare: AppTest, app: AppTest) -> None:
    small(bare, epsilons="1")
    bare.button_group(key="compare_finishes").set_value(["simplex", "completed"])
    bare.button(key="compare_start").click().run()
    finished(bare)
    said = bare.query_params["compare"]
    asked = job(bare).about
    assert asked.finishes == ("simplex", "completed")
    assert {r.mechanism for r in job(bare).done} == set(asked.contenders)
    read = address.read(said[0] if isinstance(said, list) else said)
    assert read == asked
    other = AppTest.from_file(app._script_path, default_timeout=120)
    other.session_state["hide_not_private"] = True
    other.query_params["compare"] = said
    other.switch_page("pages/compare.py").run()
    finished(other)
    assert job(other).about == asked
    assert [r.mean_l1 for r in job(other).done] == [r.mean_l1 for r in job(bare).done]
    assert other.selectbox(key="sample").value == "hair_eye_color"
    assert other.text_input(key="compare_epsilons").value == "1"


@pytest.mark.parametrize(
    "change",
    [
        {"sample": "own"}, {"sample": ["adult"]}, {"attributes": ["Hair", "nobody"]},
        {"attributes": []}, {"degree": 9}, {"degree": True}, {"mechanisms": ["aim_pgm"]},
        {"mechanisms": []}, {"epsilons": [0]}, {"epsilons": [1e9]}, {"trials": 10**9},
        {"trials": 0}, {"seed": -1}, {"seed": 2**63}, {"delta": 1.0}, {"finishes": ["best"]},
        {"epsilons": "1"[:0]},
    ],
)  # fmt: skip
def test_an_address_that_the_form_would_refuse_begins_nothing(change: dict[str, Any]) -> None:
    asked = Compared("hair_eye_color", ("Hair", "Eye"), 2, ("aim_grem", "uniform"), (1.0,), 2)
    said = address.written(asked)
    assert said is not None
    assert address.read(said) == asked
    assert address.read(json.dumps(json.loads(said) | change)) is None


@pytest.mark.parametrize("said", ["", "[]", "{}", "null", "[" * 5000, "wins!"])
def test_an_address_that_cannot_be_read_is_none(said: str) -> None:
    assert address.read(said) is None


def test_of_an_own_table_neither_address_nor_numbers_go_out() -> None:
    asked = Compared(samples.OWN, ("a", "b"), 2, ("aim_grem",), (1.0,), 2, table=1)
    assert address.written(asked) is None


def test_what_is_taken_away_is_what_is_shown(compare: AppTest) -> None:
    rows, asked = job(compare).done, job(compare).about
    lines = away.numbers(rows).splitlines()
    assert len(lines) == len(rows) + 1
    assert lines[0].startswith("mechanism,name,epsilon,trial,seed,mean_l1")
    cells = json.loads(away.notebook(asked))["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code"]
    figure = contenders.error_bands(comparison.bands(rows), unit="error")
    assert pictures.svg(figure, width=900).startswith("<svg")
    assert pictures.png(figure, width=300, scale=1.0)[:4] == b"\x89PNG"


def test_the_notebook_of_a_comparison_makes_the_same_numbers() -> None:
    asked = Compared(
        "hair_eye_color", ("Hair", "Eye"), 2, ("residual_planner", "uniform"), (1.0,), 2,
        finishes=("simplex",),
    )  # fmt: skip
    made: dict[str, Any] = {}
    exec(code.comparison(asked), made)
    table = engine.load_sample("hair_eye_color", "Hair", "Eye")
    again = list(
        engine.trials(
            table, engine.Workload.all_kway(table.domain, 2), asked.contenders,
            epsilons=[1.0], seeds=[0, 1],
        )
    )  # fmt: skip
    assert [r.mean_l1 for r in made["results"]] == [r.mean_l1 for r in again]
