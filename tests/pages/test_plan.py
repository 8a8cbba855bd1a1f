from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine import charts, views
from engine.mechanisms import outlook
from pages.parts.drawing import code
from pages.parts.visit import samples, session, study
from tests.pages.conftest import ROOT, badges, texts
from tests.pages.test_charts import HOSTILE

DELTA = 1e-9


@pytest.fixture
def plan(app: AppTest) -> AppTest:
    app.switch_page("pages/plan.py").run()
    assert not app.exception
    return app


def metrics(app: AppTest) -> dict[str, tuple[str, str]]:
    return {m.label: (m.value, m.delta) for m in app.metric}


def settings(**changes: Any) -> session.Settings:
    card = samples.cards()["adult"]
    return session.Settings("adult", card.default_attributes, **changes)


def default_workload() -> engine.Workload:
    chosen = settings()
    return chosen.workload(samples.domain("adult").select(*chosen.attributes))


# -- opens with nothing done -----------------------------------------------------------------------


def test_opens_with_a_prediction_and_reads_no_record(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a record was read")

    monkeypatch.setattr(samples, "shipped_table", never)
    monkeypatch.setattr(samples, "columns", never)
    monkeypatch.setattr(engine.Private, "__init__", never)
    app.switch_page("pages/plan.py").run()
    assert not app.exception
    assert badges(app) == ["public"] * 3
    assert "No record is read" in texts(app)
    assert all(len(chart.proto.alt) > 20 for chart in app.get("vega_lite_chart"))
    assert app.session_state["visit"].run is None


# -- does its job ----------------------------------------------------------------------------------


def test_the_errors_shown_are_the_engine_s_predictions(plan: AppTest) -> None:
    rho = engine.rho_from(epsilon=1.0, delta=DELTA)
    workload = default_workload()
    planner = engine.ResidualPlanner().predict(workload, rho=rho).mean_l1
    split = engine.EqualSplit().predict(workload, rho=rho).mean_l1
    shown = metrics(plan)
    rows = samples.cards()["adult"].rows
    assert shown["Mean error, ResidualPlanner"] == (
        f"{planner:,.0f}", f"{views.percent(planner / rows)} of {rows:,} rows",
    )  # fmt: skip
    assert shown["Mean error, Equal split"][0] == f"{split:,.0f}"
    assert shown["Tables asked for"] == ("10", f"{workload.cells:,} cells")
    assert shown["With their subsets"] == ("26", f"{workload.layout.total_cells:,} cells")


@pytest.mark.parametrize(
    "mechanism",
    [
        engine.AimGrem(completion="none"), engine.AimGrem(finish="rounds"),
        engine.ResidualPlanner(),
    ],
)  # fmt: skip
@pytest.mark.parametrize("degree", [1, 3])
def test_the_most_rounds_are_those_the_run_announces(mechanism: Any, degree: int) -> None:
    domain = engine.Domain.from_sizes({"a": 3, "b": 2, "c": 1, "d": 4})
    workload = engine.Workload.all_kway(domain, degree)
    private = engine.Private(engine.Table.from_codes([[0, 0, 0, 0]] * 5, domain))
    steps = engine.rounds(mechanism, private, workload, rho=0.3, rng=engine.rehearsal_noise(0))
    started = next(steps)[1]
    assert isinstance(started, engine.Started)
    cost = views.cost(mechanism, workload)
    assert cost.rounds == started.max_rounds
    assert cost.memory == mechanism.memory_needed(workload)
    assert cost.all_cells == sum(domain.cells(attrs) for attrs in workload.closure)


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("rho", [0.001, 0.3, 30])
def test_a_run_that_decides_announces_no_more_rounds(degree: int, rho: float) -> None:
    domain = engine.Domain.from_sizes({"a": 3, "b": 2, "c": 1, "d": 4})
    workload = engine.Workload.all_kway(domain, degree)
    private = engine.Private(engine.Table.from_codes([[0, 0, 0, 0]] * 50, domain))
    mechanism, rng = engine.AimGrem(), engine.rehearsal_noise(0)
    started = next(engine.rounds(mechanism, private, workload, rho=rho, rng=rng))[1]
    assert isinstance(started, engine.Started)
    assert views.cost(mechanism, workload).rounds >= started.max_rounds


def test_epsilon_and_rho_follow_each_other(plan: AppTest) -> None:
    plan.select_slider(key="epsilon_stop").set_value(2.5).run()
    assert plan.number_input(key="epsilon").value == 2.5
    rho = engine.rho_from(epsilon=2.5, delta=DELTA)
    assert plan.number_input(key="rho").value == rho
    plan.number_input(key="rho").set_value(0.5).run()
    epsilon = engine.epsilon_from(rho=0.5, delta=DELTA)
    assert plan.number_input(key="epsilon").value == epsilon
    assert plan.number_input(key="rho").value == pytest.approx(0.5, rel=1e-9)
    assert plan.select_slider(key="epsilon_stop").value == 6.3
    plan.text_input(key="delta").set_value("1e-6").run()
    assert plan.number_input(key="epsilon").value == epsilon, "δ changes ρ, never ε"
    assert plan.number_input(key="rho").value == engine.rho_from(epsilon=epsilon, delta=1e-6)


def test_the_odds_are_the_bound_and_hold_as_often_as_said() -> None:
    odds = views.odds(prior=0.1, epsilon=1.0, rho=engine.rho_from(epsilon=1.0, delta=DELTA))
    assert odds.most == pytest.approx(0.1 * math.e / (0.1 * math.e + 0.9), rel=1e-12)
    assert odds.least == pytest.approx(0.1 / math.e / (0.1 / math.e + 0.9), rel=1e-12)
    # The Gaussian mechanism's privacy loss is N(rho, 2 rho): its tail is known exactly.
    for epsilon, rho in ((1.0, 0.015), (3.0, 0.2), (0.5, 0.1), (0.01, 0.1)):
        exact = 0.5 * math.erfc((epsilon - rho) / math.sqrt(4 * rho))
        assert exact <= views.odds(prior=0.5, epsilon=epsilon, rho=rho).exception
    assert views.odds(prior=0.5, epsilon=1000.0, rho=1.0).most == 1.0


def test_the_risk_sentence_follows_the_sliders(plan: AppTest) -> None:
    assert "From **10 %** to **at most 23.2 %**" in texts(plan)
    plan.slider(key="prior").set_value(50).run()
    assert "From **50 %** to **at most 73.1 %**" in texts(plan)
    plan.number_input(key="rows_each").set_value(3).run()
    rho = 9 * engine.rho_from(epsilon=1.0, delta=DELTA)
    epsilon = engine.epsilon_from(rho=rho, delta=DELTA)
    assert f"A person with 3 rows has ρ = {rho:.4g} and ε = {epsilon:.3g}" in texts(plan)


def test_caution_goes_upward_only(plan: AppTest) -> None:
    for epsilon, warns in ((0.001, False), (6.0, True), (20.0, True)):
        plan.number_input(key="epsilon").set_value(epsilon).run()
        assert bool(plan.warning or plan.error) is warns, epsilon
    assert "almost no protection" in texts(plan)


def test_the_smallest_epsilon_for_an_error_gives_that_error(plan: AppTest) -> None:
    plan.number_input(key="wanted").set_value(2.0).run()
    plan.button(key="use_wanted").click().run()
    epsilon = plan.number_input(key="epsilon").value
    rho = engine.rho_from(epsilon=epsilon, delta=DELTA)
    error = engine.ResidualPlanner().predict(default_workload(), rho=rho).mean_l1
    assert error == pytest.approx(0.02 * samples.cards()["adult"].rows, rel=1e-6)


def test_the_curve_is_what_predicting_anew_would_say() -> None:
    workload = default_workload()
    rho = engine.rho_from(epsilon=1.0, delta=DELTA)
    planner, split = (
        m.predict(workload, rho=rho).mean_l1
        for m in (engine.ResidualPlanner(), engine.EqualSplit())
    )
    frame = views.predicted_curve(planner, split, rho=rho, delta=DELTA, epsilons=[0.1, 1, 7])
    for row in frame.to_dict("records"):
        again = engine.rho_from(epsilon=row["epsilon"], delta=DELTA)
        for name, mechanism in (
            ("planner", engine.ResidualPlanner()),
            ("split", engine.EqualSplit()),
        ):
            anew = mechanism.predict(workload, rho=again).mean_l1
            assert row[name] == pytest.approx(anew, rel=1e-9)


def test_an_own_list_with_weights_is_what_the_run_answers(plan: AppTest) -> None:
    plan.segmented_control(key="plan_kind").set_value("my own list").run()
    assert metrics(plan)["Tables asked for"][0] == "10", "the list starts from what was asked for"
    plan.button(key="own_none").click().run()
    assert "No table is asked for" in plan.error[0].value
    assert plan.button(key="plan_start").disabled
    plan.multiselect(key="one_table_adult").set_value(["sex", "education"]).run()
    plan.select_slider(key="weight_word").set_value("more accurate").run()
    plan.button(key="own_add").click().run()
    plan.button(key="own_all_1").click().run()
    assert metrics(plan)["Tables asked for"][0] == "6"
    plan.multiselect(key="one_table_adult").set_value(["income"]).run()
    plan.button(key="own_remove").click().run()
    assert not plan.exception
    plan.button(key="plan_start").click().run()
    run = plan.session_state["visit"].run
    domain = run.domain
    assert dict(run.workload.weights) == {
        domain.attrs("education", "sex"): 2.0,
        **{
            domain.attrs(name): 1.0 for name in ("education", "marital-status", "occupation", "sex")
        },
    }


def test_a_click_on_a_square_adds_it_and_another_removes_it(
    plan: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pages.parts.drawing import figures

    plan.segmented_control(key="plan_kind").set_value("my own list").run()
    domain = samples.domain("adult").select(*samples.cards()["adult"].default_attributes)
    frame = views.asked(domain, {(0, 1): 2.0, (0, 1, 2): 1.0})
    square = frame.set_index(["first", "second"])
    assert square.loc[(0, 1), "weight"] == 2
    assert square.loc[(0, 1), "holding"] == 1
    assert square.loc[(2, 2), "holding"] == 1
    assert square.loc[(3, 4), ["weight", "holding"]].tolist() == [0, 0]
    spec = charts.asked(frame, domain.names, pick=True).chart.to_dict()
    assert spec["params"][0]["name"] == "pick"
    assert spec["params"][0]["select"]["fields"] == ["first", "second"]
    assert figures.picked("nothing_there") == []


def test_settings_made_here_are_those_of_rounds_and_come_back(plan: AppTest) -> None:
    plan.selectbox(key="sample").set_value("titanic").run()
    plan.multiselect(key="attributes_titanic").set_value(["Class", "Sex", "Survived"])
    plan.selectbox(key="degree").set_value(2)
    plan.number_input(key="epsilon").set_value(3.0)
    plan.text_input(key="delta").set_value("1e-6")
    plan.number_input(key="seed").set_value(5)
    plan.slider(key="prior").set_value(30)
    plan.number_input(key="about_titanic").set_value(2000)
    plan.number_input(key="wanted").set_value(4.0).run()
    plan.button(key="plan_start").click().run()
    assert not plan.exception
    made = plan.session_state["visit"].run.settings
    chosen = ("Class", "Sex", "Survived")
    wanted = session.Settings("titanic", chosen, 2, 3.0, 1e-6, 5, study.FIRST_MECHANISM)
    assert made == wanted
    plan.switch_page("pages/rounds.py").run()
    assert plan.selectbox(key="sample").value == "titanic"
    assert plan.number_input(key="epsilon").value == 3.0
    plan.number_input(key="epsilon").set_value(4.0).run()
    plan.switch_page("pages/about.py").run()
    plan.switch_page("pages/plan.py").run()
    assert not plan.exception
    assert plan.number_input(key="epsilon").value == 4.0
    assert plan.select_slider(key="epsilon_stop").value == 4.0
    assert plan.text_input(key="delta").value == "1e-6"
    assert plan.multiselect(key="attributes_titanic").value == ["Class", "Sex", "Survived"]
    assert (plan.slider(key="prior").value, plan.number_input(key="seed").value) == (30, 5)
    assert plan.number_input(key="about_titanic").value == 2000
    assert plan.number_input(key="wanted").value == 4.0


def test_changing_one_thing_discards_no_other(plan: AppTest) -> None:
    plan.segmented_control(key="plan_kind").set_value("my own list").run()
    few = plan.multiselect(key="attributes_adult").value
    plan.multiselect(key="attributes_adult").set_value(few[:3]).run()
    assert "9 tables of your list wait" in "".join(i.value for i in plan.info)
    assert metrics(plan)["Tables asked for"][0] == "1"
    plan.selectbox(key="sample").set_value("titanic").run()
    plan.selectbox(key="sample").set_value("adult").run()
    plan.multiselect(key="attributes_adult").set_value(few).run()
    assert metrics(plan)["Tables asked for"][0] == "10"
    plan.segmented_control(key="plan_kind").set_value("all of one size").run()
    plan.selectbox(key="degree").set_value(2).run()
    plan.segmented_control(key="plan_kind").set_value("my own list").run()
    assert metrics(plan)["Tables asked for"][0] == "10"
    plan.switch_page("pages/rounds.py").run()
    plan.button(key="start_run").click().run()
    assert len(plan.session_state["visit"].run.workload.weights) == 10


# -- explains a mistake ----------------------------------------------------------------------------


def test_a_mistake_is_explained_and_nothing_is_lost(plan: AppTest) -> None:
    plan.selectbox(key="degree").set_value(2).run()
    mistakes: list[tuple[str, Any, str, Any]] = [
        ("epsilon", -1.0, "epsilon is -1", 1.0),
        ("epsilon", 1e308, "epsilon is 1e+308", 1.0),
        ("delta", "tiny", "δ is no number", "1e-9"),
        ("delta", "1", "delta is 1", "1e-9"),
        ("rho", -1.0, "rho is -1", 0.5),
    ]
    for key, wrong, said, right in mistakes:
        field = (plan.text_input if key == "delta" else plan.number_input)(key=key)
        field.set_value(wrong).run()
        assert not plan.exception
        assert said in "".join(e.value for e in plan.error).replace("\\", "")
        assert plan.button(key="plan_start").disabled is (key != "rho"), (
            "a refused ρ changes nothing"
        )
        field = (plan.text_input if key == "delta" else plan.number_input)(key=key)
        field.set_value(right).run()
        assert not plan.error
        assert plan.selectbox(key="degree").value == 2
        assert not plan.button(key="plan_start").disabled


def test_too_much_is_refused_with_a_way_out(plan: AppTest) -> None:
    plan.button(key="all_attributes").click().run()
    plan.selectbox(key="degree").set_value(4).run()
    assert "cells" in plan.error[0].value
    assert plan.button(key="plan_start").disabled
    plan.button(key="plan_remedy").click().run()
    assert not plan.error
    assert plan.selectbox(key="degree").value == 3
    assert len(plan.multiselect(key="attributes_adult").value) == 14


def test_no_attribute_at_all_is_explained(plan: AppTest) -> None:
    plan.multiselect(key="attributes_adult").set_value([]).run()
    assert not plan.exception
    assert "at least one is needed" in plan.error[0].value
    assert plan.button(key="plan_start").disabled


# -- users' texts, and the code --------------------------------------------------------------------


def hostile_domain() -> engine.Domain:
    return engine.Domain(tuple(engine.Attribute(name, values=tuple(HOSTILE)) for name in HOSTILE))


def test_hostile_names_harm_nothing(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "domain", lambda name: hostile_domain())
    app.session_state["study"] = study.Study(chosen={"adult": tuple(HOSTILE)}, degree=1)
    app.switch_page("pages/plan.py").run()
    assert not app.exception
    app.segmented_control(key="plan_kind").set_value("my own list").run()
    app.multiselect(key="one_table_adult").set_value(["$x$", ":red[x]", "<script>"]).run()
    app.button(key="own_add").click().run()
    assert not app.exception
    listed = next(m.value for m in app.markdown if m.value.startswith("- "))
    assert r"\$x\$ × \:red\[x\] × \<script\>" in listed
    for chart in app.get("vega_lite_chart"):
        assert '"field": "constructor"' not in chart.proto.spec


def test_the_code_shown_gives_the_numbers_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    asked = ((("education", "sex"), 2.0), (("income",), 1.0))
    for chosen in (settings(), settings(epsilon=0.3, delta=1e-6, marginals=asked)):
        workload = chosen.workload(samples.domain("adult").select(*chosen.attributes))
        rho = engine.rho_from(epsilon=chosen.epsilon, delta=chosen.delta)
        made: dict[str, Any] = {}
        exec(code.setup(chosen), made)
        expected = engine.ResidualPlanner().predict(workload, rho=rho)
        assert made["planner"].expected_l1 == expected.expected_l1
        assert made["split"].mean_l1 == engine.EqualSplit().predict(workload, rho=rho).mean_l1


def test_the_public_charts_are_valid() -> None:
    domain = samples.domain("adult")
    for attributes, degree in ((domain.names[:5], 3), (domain.names, 3), (domain.names[:1], 1)):
        part = domain.select(*attributes)
        workload = engine.Workload.all_kway(part, degree)
        planner = engine.ResidualPlanner().predict(workload, rho=0.1)
        split = engine.EqualSplit().predict(workload, rho=0.1)
        frame = views.predicted(workload, planner.expected_l1, split.expected_l1)
        assert frame["planner"].mean() == pytest.approx(planner.mean_l1)
        curve = views.predicted_curve(
            planner.mean_l1, split.mean_l1, rho=0.1, delta=DELTA, epsilons=np.geomspace(0.01, 9, 5)
        )
        for figure in (
            charts.predicted(frame),
            charts.predicted_curve(curve, epsilon=1, at=(planner.mean_l1, split.mean_l1)),
            charts.asked(views.asked(part, workload.weights), part.names, pick=True),
        ):
            assert figure.badge == "public"
            assert figure.chart.to_dict()["title"]["text"]
            assert figure.alt.endswith(".")
            assert len(figure.frame)


def test_setup_says_which_plan_the_default_will_take(plan: AppTest) -> None:
    at = plan.session_state["about_adult"]
    workload = default_workload()
    rho = Fraction(engine.rho_from(epsilon=settings().epsilon, delta=settings().delta))
    ahead = outlook.before(workload, rho, records=at)
    assert ahead.why in texts(plan)
    frame = next(f.value for f in plan.dataframe if "expected to be left" in f.value.columns)
    left = [alternative.left / at for alternative in ahead.alternatives]
    assert frame["expected to be left"].tolist() == pytest.approx(left, rel=1e-9)
    plan.session_state["study"].mechanism = "residual_planner"
    plan.run()
    assert ahead.why not in texts(plan)
