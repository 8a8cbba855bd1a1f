from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine import axes
from engine.domain import subsets
from pages.parts.drawing import lecture
from pages.parts.learning import lessons
from pages.parts.learning import texts as learn_text
from pages.parts.navigation import host
from tests.pages.conftest import badges, drawn, texts

MU = np.array([[12.0, 30, 5], [20, 8, 25]])


@pytest.fixture
def learn(app: AppTest) -> AppTest:
    app.switch_page("pages/learn.py").run()
    assert not app.exception
    return app


def at(app: AppTest, section: str) -> AppTest:
    app.session_state["learn_section"] = section
    app.run()
    assert not app.exception
    return app


def test_opens_on_the_tour_of_a_real_round(learn: AppTest) -> None:
    assert "1 of 6 · What is asked for" in texts(learn)
    for _ in range(5):
        learn.button(key="tour_next").click().run()
        assert not learn.exception
        assert learn.get("vega_lite_chart")
    said = texts(learn)
    assert "6 of 6" in said
    learn.button(key="tour_back").click().run()
    assert "5 of 6" in texts(learn)


def test_the_tour_says_why_it_was_selected_and_where_the_noise_went(learn: AppTest) -> None:
    learn.button(key="tour_next").click().run()
    said = texts(learn).replace("\\", "")
    assert "was off by" in said
    assert "it had a chance of" in said
    learn.button(key="tour_next").click().run()
    assert "the round's budget goes where least is known" in texts(learn)
    learn.session_state["hide_not_private"] = True
    learn.button(key="tour_back").click().run()
    assert "was off by" not in texts(learn)


@pytest.mark.parametrize(
    "section",
    ["apart", "noise", "water", "lazy", "anneal", "choose", "negative", "glossary", "quiz",
     "lecture"],
)  # fmt: skip
def test_every_section_opens(learn: AppTest, section: str) -> None:
    at(learn, section)
    assert all(len(chart.proto.alt) > 20 for chart in learn.get("vega_lite_chart"))
    assert set(badges(learn)) <= {"public", "released"}


# -- live figures ----------------------------------------------------------------------------------


def tiles(app: AppTest, title: str) -> list[float]:
    return [row["value"] for row in drawn(app, title)]


@pytest.mark.parametrize("name", ["total", "A", "B", "A × B"])
def test_taking_apart_and_putting_back_are_the_engine_s(learn: AppTest, name: str) -> None:
    at(learn, "apart")
    learn.segmented_control(key="learn_tau").set_value(name).run()
    tau = {"total": (), "A": (0,), "B": (1,), "A × B": (0, 1)}[name]
    zeta = engine.decompose(MU, (0, 1), tau)
    down = tiles(learn, "Taken apart, one axis at a time")
    assert down[:6] == MU.ravel().tolist()
    assert down[-zeta.size :] == pytest.approx(zeta.ravel().tolist())
    up = tiles(learn, "Put back, one axis at a time")
    part = engine.reconstruct(zeta, tau, (0, 1), (2, 3))
    assert up[-6:] == pytest.approx(part.ravel().tolist())
    first = axes.sub(MU, 1) if 1 in tau else axes.sum(MU, 1)
    assert down[6 : 6 + first.size] == pytest.approx(first.ravel().tolist())


def test_an_edit_moves_the_residuals_and_the_parts_add_up(learn: AppTest) -> None:
    at(learn, "apart")
    learn.number_input(key="learn_mu_0_0").set_value(50).run()
    changed = MU.copy()
    changed[0, 0] = 50
    rebuilt = tiles(learn, "Rebuilt")
    assert rebuilt[-6:] == pytest.approx(changed.ravel().tolist())
    zeta = engine.decompose(changed, (0, 1), (0, 1)).ravel().tolist()
    assert tiles(learn, "Taken apart, one axis at a time")[-2:] == pytest.approx(zeta)
    learn.session_state["learn_kept"] = ["total", "A", "B"]
    learn.run()
    without = changed - engine.reconstruct(
        engine.decompose(changed, (0, 1), (0, 1)), (0, 1), (0, 1), (2, 3)
    )
    assert tiles(learn, "Rebuilt")[-6:] == pytest.approx(without.ravel().tolist())
    assert f"{np.abs(without - changed).sum():,.4g} people" in texts(learn).replace("\\", "")


def test_noise_follows_v(learn: AppTest) -> None:
    at(learn, "noise")
    learn.slider(key="learn_n").set_value(4)
    learn.slider(key="learn_sigma").set_value(20.0).run()
    s = np.hstack([-np.ones((3, 1)), np.eye(3)])
    assert tiles(learn, "How it goes together") == (s @ s.T).ravel().tolist()
    points = drawn(learn, "Noise in two entries")
    noise = engine.rehearsal_noise(0).gaussian((400, 4), variance=400.0)
    assert points[0]["x"] == pytest.approx(noise[0, 1] - noise[0, 0])
    spread = np.cov([[p["x"], p["y"]] for p in points], rowvar=False)
    assert spread == pytest.approx(400 * np.array([[2, 1], [1, 2]]), rel=0.25)
    assert f"{0.75 / 800:.4g}" in texts(learn), "the cost ρ of the residual"


@pytest.mark.parametrize("shape", ["2 × 3", "4 × 3 × 2"])
def test_water_stands_where_the_engine_plans(learn: AppTest, shape: str) -> None:
    at(learn, "water")
    learn.segmented_control(key="learn_shape").set_value(shape).run()
    learn.slider(key=f"learn_known_{shape}_total").set_value(2.0)
    learn.slider(key=f"learn_known_{shape}_AB").set_value(0.4)
    learn.slider(key="learn_c").set_value(0.8).run()
    sizes = lessons.SIZES[shape]
    gamma = tuple(range(len(sizes)))
    known, cost, gain = [], [], []
    for tau in subsets(gamma):
        known.append(2.0 if not tau else 0.5 if len(tau) == 1 else 0.4 if tau == (0, 1) else 0.0)
        inside, outside = [sizes[i] for i in tau], [sizes[i] for i in gamma if i not in tau]
        cost.append(float(engine.privacy_cost(inside)))
        gain.append(engine.cell_variance(inside, outside))
    added = engine.plan(cost, gain, known, budget=0.8)
    rows = drawn(learn, "Budget as water")
    assert [r["added"] for r in rows] == pytest.approx(added.tolist())
    water = [(r["top"] - r["bottom"]) * r["width"] for r in rows]
    assert sum(water) == pytest.approx(0.8), "the area of the water is the budget"
    level = max(r["top"] for r in rows if r["added"] > 0)
    for row in rows:
        full = row["top"] if row["added"] > 0 else None
        assert full is None or full == pytest.approx(level), "one level"
        assert row["added"] > 0 or row["bottom"] >= level - 1e-9, "dry above it"
    assert f"{level:.4g}" in texts(learn)
    after = sum(v / (a + x) for v, a, x in zip(gain, known, added, strict=True))
    assert f"{after:.4g}" in texts(learn)


def test_nothing_known_is_isotropic(learn: AppTest) -> None:
    at(learn, "water")
    learn.button(key="learn_dry").click().run()
    rows = drawn(learn, "Budget as water")
    assert [r["added"] for r in rows] == pytest.approx([1 / 6, 1 / 3, 1 / 2, 1.0])
    assert [r["isotropic"] for r in rows] == pytest.approx([r["added"] for r in rows])
    assert "Exactly what equal noise gives" in texts(learn)


def test_the_known_answer_of_three_attributes() -> None:
    known = {(): 2.0, (0,): 0.5, (1,): 0.5, (2,): 0.5}
    found = lessons.water((4, 3, 2), known, 1.0)
    expected = [0, 0, 0, 0, 0.70588235, 0.47058824, 0.35294118, 1.41176471]
    assert found.frame["added"].tolist() == pytest.approx(expected, abs=1e-8)
    assert found.after == pytest.approx(0.572048611, abs=1e-9)


def test_lazy_updates_are_counted(learn: AppTest) -> None:
    at(learn, "lazy")
    learn.slider(key="learn_d").set_value(10).run()
    rows = drawn(learn, "Which tables hold this residual?")
    assert len(rows) == math.comb(10, 3)
    assert sum(r["state"] == "rewritten" for r in rows) == 8
    run = lessons.recorded("adult")
    work = [r["lazy"] for r in drawn(learn, "Work in each round")]
    assert work == [m.event.work.cells for m in run.moments[1:]]  # type: ignore[union-attr]


def test_annealing_is_that_of_the_run_asked_for(learn: AppTest) -> None:
    at(learn, "anneal")
    before = drawn(learn, "When does a round get more?")
    learn.select_slider(key="learn_anneal_epsilon").set_value(10.0).run()
    rows = drawn(learn, "When does a round get more?")
    assert rows != before
    events = [m.event for m in lessons.recorded("adult", 10.0).moments[1:]]
    assert [r["annealed"] for r in rows] == [e.annealed for e in events]  # type: ignore[union-attr]
    assert [r["change"] for r in rows] == pytest.approx(
        [e.change for e in events]  # type: ignore[union-attr]
    )
    for row in rows:
        if not row["last"]:
            assert row["annealed"] == (row["change"] <= row["threshold"])


def test_chances_follow_epsilon(learn: AppTest) -> None:
    at(learn, "choose")
    for epsilon in (0.001, 0.1, 1.0):
        learn.select_slider(key="learn_em").set_value(epsilon).run()
        rows = drawn(learn, "Who is chosen?")
        weights = np.exp(epsilon * np.array([90, 70, 60, 20, 0]) / 2)
        assert [r["probability"] for r in rows] == pytest.approx((weights / weights.sum()).tolist())
        assert f"{epsilon**2 / 8:.4g}" in texts(learn)


def test_sums_of_cut_counts_are_too_large_and_shown_after_the_vote(learn: AppTest) -> None:
    at(learn, "negative")
    assert len(learn.get("vega_lite_chart")) == 1
    rows = drawn(learn, "One draw")
    noise = engine.rehearsal_noise(7).gaussian((400, 7), variance=25.0)
    true = np.array([0, 2, 40, 25, 3, 0, 1])
    assert [r["noisy"] for r in rows] == pytest.approx((true + noise[0]).tolist())
    learn.segmented_control(key="learn_vote").set_value("a bug: cut it off").run()
    assert "Look again" in texts(learn)
    means = {r["how"]: r["sum"] for r in drawn(learn, "Sums, over many draws", 2)}
    assert means["as measured"] == pytest.approx((true + noise).sum(axis=1).mean())
    assert means["cut off at zero"] == pytest.approx((true + noise).clip(0).sum(axis=1).mean())
    assert means["cut off at zero"] > 71 + 5


# -- words -----------------------------------------------------------------------------------------


def test_the_glossary_has_every_term_of_the_notation() -> None:
    said = " ".join(f"{t.letter} {t.code}" for t in learn_text.GLOSSARY)
    for letter in ("n_i", "[d]", "γ, τ, α ⊆ [d]", "μ_γ", "ζ_τ", "z_τ", "n_γ", "W", "W↓", "σ²",
                   "1/σ²", "ρ", "ε, δ", "p_τ", "v_τ,γ"):  # fmt: skip
        assert letter in said, letter
    for code in ("domain", "attribute.size", "attrs", "marginal", "residual", "residual estimate",
                 "cells", "workload", "workload.closure", "variance", "precision", "rho",
                 "epsilon", "delta", "privacy_cost", "cell_variance"):  # fmt: skip
        assert code in said, code


def test_the_glossary_is_searched_and_odd_text_stays_text(learn: AppTest) -> None:
    at(learn, "glossary")
    learn.text_input(key="learn_search").set_value("water").run()
    assert "1 of " in texts(learn)
    learn.text_input(key="learn_search").set_value(":red[x] $a$").run()
    assert r"\:red\[x\] \$a\$" in texts(learn)


def test_the_quiz_keeps_score(learn: AppTest) -> None:
    at(learn, "quiz")
    assert len(learn_text.QUIZ) == 8
    for k, question in enumerate(learn_text.QUIZ):
        wrong = k in (2, 5)
        answer = (question.right + 1) % len(question.answers) if wrong else question.right
        learn.radio(key=f"quiz_{k}").set_value(answer).run()
        learn.button(key=f"quiz_check_{k}").click().run()
    assert learn.metric[0].value == "6 of 8"
    learn.switch_page("pages/start.py").run()
    learn.switch_page("pages/learn.py").run()
    assert learn.metric[0].value == "6 of 8"
    learn.button(key="quiz_again").click().run()
    assert learn.metric[0].value == "0 of 8"
    assert learn.radio(key="quiz_0").value is None


def test_every_beat_of_the_lecture_leads_somewhere(learn: AppTest) -> None:
    at(learn, "lecture")
    learn.button(key="beat_water").click().run()
    assert drawn(learn, "Budget as water")
    at(learn, "lecture")
    learn.button(key="lecture_titanic").click().run()
    assert learn.session_state["visit"].run.settings.seed == 7
    handout = learn_text.handout()
    assert all(q.text.split("“")[0][:20] in handout for q in learn_text.QUIZ)


# -- the lecture -----------------------------------------------------------------------------------


def test_presenting_enlarges_charts_and_leaves_prose_out(learn: AppTest) -> None:
    at(learn, "choose")
    plain = learn.get("vega_lite_chart")[0].proto.spec
    assert "Choosing must not give anybody away" in texts(learn)
    at(learn, "lecture")
    learn.toggle(key="presentation_learn").set_value(True).run()
    at(learn, "choose")
    large = learn.get("vega_lite_chart")[0].proto.spec
    scaled = [20 if s >= 16 else lecture.SCALE * s for s in sizes(plain)]
    assert sizes(large) == [pytest.approx(s) for s in scaled]
    assert "Choosing must not give anybody away" not in texts(learn)
    learn.switch_page("pages/rounds.py").run()
    assert learn.session_state[lecture.PRESENT], "on every page"


def test_the_switches_are_in_the_sidebar(learn: AppTest) -> None:
    learn.sidebar.toggle(key="predict_switch").set_value(True).run()
    assert learn.session_state[lecture.PREDICT]


def sizes(spec: str) -> list[float]:
    import json

    found: list[float] = []

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            found.extend(v for k, v in part.items() if k in ("fontSize", "labelFontSize"))
            for value in part.values():
                walk(value)
        elif isinstance(part, list):
            for value in part:
                walk(value)

    walk(json.loads(spec))
    return found


def test_each_round_is_predicted_before_it_is_shown(rounds: AppTest) -> None:
    rounds.session_state[lecture.PREDICT] = True
    rounds.button(key="next").click().run()
    run = rounds.session_state["visit"].run
    assert not rounds.get("vega_lite_chart"), "nothing shows what was chosen"
    assert "Round 2 has chosen a table" in texts(rounds)
    guess = next(k for k in run.workload.closure[1:] if k != run.moments[2].event.selected)
    rounds.selectbox(key=f"guess_{run.number}_2").set_value(guess).run()
    rounds.button(key="reveal").click().run()
    assert "Not this time" in texts(rounds)
    assert "0 of 1 right" in texts(rounds)
    assert rounds.get("vega_lite_chart")
    rounds.button(key="next").click().run()
    selected = rounds.session_state["visit"].run.moments[3].event.selected
    rounds.selectbox(key=f"guess_{run.number}_3").set_value(selected).run()
    rounds.button(key="reveal").click().run()
    assert "1 of 2 right" in texts(rounds)
    rounds.button(key="back").click().run()
    assert rounds.get("vega_lite_chart"), "what was revealed stays so"
    rounds.button(key="last").click().run()
    rounds.button(key="no_guess").click().run()
    assert "of 2 right" not in texts(rounds)
    assert rounds.get("vega_lite_chart")


def test_a_class_host_takes_no_upload(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(host.VARIABLE, "1")
    app.switch_page("pages/data.py").run()
    app.segmented_control(key="data_kind").set_value("own").run()
    assert not app.get("file_uploader")
    assert "tables cannot be uploaded here" in texts(app)
    monkeypatch.setenv(host.VARIABLE, "0")
    app.run()
    assert app.get("file_uploader")


def test_a_class_host_makes_a_demonstration_once(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(host.VARIABLE, "1")
    jobs = []
    for _ in range(2):
        visitor = AppTest.from_file(app._script_path, default_timeout=60)
        visitor.switch_page("pages/compare.py").run()
        visitor.button(key="preset_loses").click().run()
        assert not visitor.exception
        jobs.append(visitor.session_state["comparison"])
    assert jobs[0] is jobs[1]


def test_a_link_opens_a_section_in_lecture_mode(app: AppTest) -> None:
    app.query_params["section"], app.query_params["lecture"] = "water", "1"
    app.switch_page("pages/learn.py").run()
    assert not app.exception
    assert drawn(app, "Budget as water")
    assert app.session_state[lecture.PRESENT]
    at(app, "quiz")
    assert app.metric, "the link opens once"


def test_a_link_to_nothing_known_is_left_alone(app: AppTest) -> None:
    app.query_params["section"] = "<script>"
    app.switch_page("pages/learn.py").run()
    assert "1 of 6" in texts(app)
