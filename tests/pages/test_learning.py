"""The Bug lab, the exercises and the teachers' page."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.demonstrating import bugs
from engine.noise import probabilities
from engine.showing import audited
from pages.parts.learning import exercises, teachers, water
from tests.pages.conftest import texts


def opened(app: AppTest, section: str, **said: str) -> AppTest:
    app.query_params.update({"section": section, **said})
    app.switch_page("pages/learn.py").run()
    assert not app.exception
    return app


# -- the lab ---------------------------------------------------------------------------------------


def test_one_predicts_before_the_audit_runs_and_is_told_why_after(app: AppTest) -> None:
    lab = opened(app, "lab", bug="late")
    assert lab.selectbox(key="lab_bug").value == "late"
    assert not lab.get("vega_lite_chart")
    assert bugs.BUGS["late"].why not in texts(lab)
    assert lab.button(key="lab_run").disabled
    lab.radio(key="lab_guess_late").set_value("The runs prove more than was promised").run()
    lab.button(key="lab_run").click().run()
    assert not lab.exception
    assert len(lab.get("vega_lite_chart")) == 1
    assert "More than promised: by the data alone" in texts(lab)
    assert "Right: you predicted" in texts(lab)
    lab.toggle(key="lab_planted").set_value(False).run()
    assert "No more than promised was seen" in lab.success[0].value


def test_the_lesson_of_the_float_ledger_is_that_it_is_not_seen(app: AppTest) -> None:
    lab = opened(app, "lab", bug="ledger")
    lab.radio(key="lab_guess_ledger").set_value("The runs prove more than was promised").run()
    lab.button(key="lab_run").click().run()
    assert "No more than promised was seen" in lab.success[0].value
    assert "Not this time" in texts(lab)
    assert "it cannot acquit" in texts(lab)


# -- the exercises ---------------------------------------------------------------------------------


def test_the_answers_are_the_engine_s() -> None:
    noise, spent, numbers, chance, nearest, rows = (e.answer for e in exercises.EXERCISES)
    assert noise**2 == 1 / (2 * 0.5)
    ledger = engine.Ledger(Fraction(1)).charge(engine.Charge("measure", (), Fraction(1, 50)))
    assert spent == pytest.approx(float(ledger.spent) + 5 * 0.01)
    assert numbers == engine.decompose(np.zeros((4, 3)), (0, 1), (0, 1)).size
    assert chance == pytest.approx(probabilities(np.array([0.0, 2.0]) / 2)[1])
    domain = engine.Domain.from_sizes({"a": 3})
    moved = engine.simplex(engine.Estimate(domain, (0,), np.array([-1.0, 3.0, 4.0]), None))
    assert nearest == pytest.approx(float(moved.values[2]))
    assert rows == pytest.approx(3**2 * 0.1)


def test_answers_check_themselves_and_travel_in_a_link(app: AppTest) -> None:
    page = opened(app, "exercises")
    page.text_input(key="exercise_0").set_value("1")
    page.text_input(key="exercise_2").set_value("12")
    page.text_input(key="exercise_5").set_value("9/10").run()
    assert "**2 of 6 right.**" in texts(page)
    assert "Not yet. n − 1 along each attribute." in texts(page).replace("\\", "")
    link = page.code[0].value
    assert "section=exercises" in link
    assert "answers=1" in link
    other = AppTest.from_file(app._script_path, default_timeout=120)
    opened(other, **exercises.query(["1", "", "12", "", "", "9/10"]))
    assert "**2 of 6 right.**" in texts(other)
    assert other.text_input(key="exercise_5").value == "9/10"


@pytest.mark.parametrize(
    ("said", "number"),
    [("1", 1.0), ("0,5", 0.5), (" 1/4 ", 0.25), ("1/0", None), ("nan", None), ("1e999", None),
     ("one", None), ("", None), ("1/2/3", None)],
)  # fmt: skip
def test_a_number_is_read_as_people_write_it(said: str, number: float | None) -> None:
    assert exercises.number(said) == number


@pytest.mark.parametrize("said", ["<b>x</b>;$y$", ";" * 50, "1" * 5000, "\n:red[x]"])
def test_a_hostile_link_is_only_wrong(app: AppTest, said: str) -> None:
    page = opened(app, "exercises", answers=said)
    assert "0 of 6 right" in texts(page)
    assert all(len(page.text_input(key=f"exercise_{k}").value or "") <= 40 for k in range(6))


def test_a_right_answer_is_right_to_a_hundredth_and_no_more() -> None:
    for k, exercise in enumerate(exercises.EXERCISES):
        assert exercises.is_right(k, f"{exercise.answer * 1.009:.6f}")
        assert not exercises.is_right(k, f"{exercise.answer * 1.02:.6f}")
        assert math.isfinite(exercise.answer)


# -- for teachers ----------------------------------------------------------------------------------


def test_the_topics_lead_to_their_mistakes_and_figures(app: AppTest) -> None:
    page = opened(app, "teachers")
    known: Any = set(bugs.BUGS)
    assert {b for topic in teachers.TOPICS for b in topic.mistakes} == known, "each has its topic"
    page.button(key="topic_1_bug_late").click().run()
    assert not page.exception
    assert page.selectbox(key="lab_bug").value == "late"


# -- water -----------------------------------------------------------------------------------------


def test_a_vessel_that_is_clicked_on_is_known_and_then_forgotten(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(app, "water")
    spec = json.loads(page.get("vega_lite_chart")[0].proto.spec)
    assert any(p["name"] == "pick" for p in spec["params"]), "vessels can be clicked on"
    assert "Nobody is **omitted**" in texts(page)
    page.session_state["water_shown"] = ("learn_water_2 × 3_0", "2 × 3")
    monkeypatch.setattr(water.figures, "picked", lambda key: [{"place": 3}])
    kept: dict[str, Any] = {"water_shown": ("key", "2 × 3"), "water_clicks": 0}
    monkeypatch.setattr(water.st, "session_state", kept)
    water._clicked()
    assert kept["learn_known_2 × 3_AB"] == water.WELL
    water._clicked()
    assert kept["learn_known_2 × 3_AB"] == 0.0
    assert kept["water_clicks"] == 2


def test_what_is_omitted_and_respent_is_said(app: AppTest) -> None:
    page = opened(app, "water")
    page.slider(key="learn_known_2 × 3_B").set_value(3.0).run()
    assert "**Omitted**: B." in texts(page)
    assert "**Respent** on the others" in texts(page)


def test_two_residuals_are_poured_in_fractions(app: AppTest) -> None:
    page = opened(app, "water")
    said = texts(page)
    assert "level = (1 + 1·1/2 + 2·3) / (1 + 2) = **5/2**" in said
    assert "The floor of B is higher: **omitted**" in said
    assert "level = (1 + 1·1/2) / (1) = **3/2**" in said
    assert "Together 1 + 0 = 1, the budget, exactly." in said
    page.select_slider(key="hand_b").set_value("0").run()
    assert "The floor of" not in texts(page)


def test_there_is_one_next_on_learn(app: AppTest) -> None:
    """The tour's stood beside “Next: Residuals”."""
    page = opened(app, "tour")
    for _ in range(5):
        named = [b.label for b in page.button if b.label.startswith("Next")]
        assert named == ["Next"]
        page.button(key="tour_next").click().run()
    assert [b.label for b in page.button if b.label.startswith("Next")] == ["Next: Residuals"]
    page.button(key="learn_next").click().run()
    assert {b.key for b in page.button} >= {"learn_back", "learn_next"}


def test_bars_of_a_few_values_are_wide_enough_to_be_seen() -> None:
    """Rounding errors of 1e-15 beside 0 and 1 made bars too thin to see."""
    found = bugs.audit("seed", runs=2000)
    figure = audited.histograms(found, score="x")
    bins = figure.columns["bins"]
    widths = np.array(bins["high"]) - np.array(bins["low"])
    assert float(widths.min()) > 0.5
    assert sum(bins["share"]) == pytest.approx(2.0), "every run is in a bar"
    assert sum(audited.histograms(bugs.audit("half"), score="x").columns["bins"]["share"]) == (
        pytest.approx(2.0)
    )
