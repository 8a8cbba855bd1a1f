from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine import charts, views
from pages.parts.drawing import code, figures
from pages.parts.visit import session, study
from tests.pages.conftest import ROOT, badges, texts
from tests.pages.test_charts import HOSTILE, watched

NOT_PRIVATE = "not private (never released)"


@pytest.fixture(scope="module")
def run() -> session.Watched:
    """The first sample as published, three rounds in; tests may share it."""
    made = session.begin(replace(study.usual(), mechanism="aim_grem_paper"))
    for _ in range(3):
        made = made.stepped()
    return made


@pytest.fixture
def page(app: AppTest, run: session.Watched) -> AppTest:
    app.session_state["visit"] = session.Visit(run=run, view=3)
    app.switch_page("pages/marginals.py").run()
    assert not app.exception
    return app


def specs(app: AppTest) -> list[dict[str, Any]]:
    """Every chart's description, with the records that travel to the browser beside it."""
    found = []
    for chart in app.get("vega_lite_chart"):
        sent = {d.name: _sent(d.data.data) for d in chart.proto.datasets}
        found.append({**json.loads(chart.proto.spec), "datasets": sent})
    return found


def _sent(data: bytes) -> list[dict[str, Any]]:
    with pa.ipc.open_stream(data) as stream:
        rows: list[dict[str, Any]] = stream.read_all().to_pylist()
    return rows


def rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    (data,) = spec["datasets"].values()
    return list(data)


# -- opens with nothing done -----------------------------------------------------------------------


def test_opens_with_nothing_run_and_leads_on(app: AppTest) -> None:
    app.switch_page("pages/marginals.py").run()
    assert not app.exception
    assert "No run of" in app.info[0].value
    assert len(app.get("page_link")) == 2
    app.button(key="marginals_run").click().run()
    assert not app.exception
    here = app.session_state["visit"]
    assert here.run.finished
    assert here.view == here.run.rounds
    assert len(app.get("vega_lite_chart")) == 3, "of a completed table no interval is known"


# -- does its job ----------------------------------------------------------------------------------


def test_the_trio_shows_the_engine_s_numbers(page: AppTest, run: session.Watched) -> None:
    attrs = page.selectbox(key="marginal").value
    estimate = run.release(3).estimate(*attrs)
    exact = run.private.marginal(attrs).values
    true, private, difference, _ = specs(page)
    assert [r["z"] for r in rows(true)] == exact.ravel().tolist()
    assert [r["z"] for r in rows(private)] == pytest.approx(estimate.values.ravel().tolist())
    expected = (estimate.values - exact).ravel().tolist()
    assert [r["z"] for r in rows(difference)] == pytest.approx(expected)
    domains = [s["encoding"]["color"]["scale"]["domain"] for s in (true, private)]
    assert domains[0] == domains[1], "true and private share one colour scale"
    low, _, zero, _, high = difference["encoding"]["color"]["scale"]["domain"]
    assert (zero, -low) == (0, high), "differences are centred at zero"
    page.segmented_control(key="unit").set_value("noise σ").run()
    in_sd = rows(specs(page)[2])
    assert [r["z"] for r in in_sd] == pytest.approx((np.array(expected) / estimate.std).tolist())
    assert badges(page).count(NOT_PRIVATE) == 4, "the private one is on the truth's scale"
    assert all(len(chart.proto.alt) > 20 for chart in page.get("vega_lite_chart"))


def test_released_charts_carry_no_true_count(page: AppTest) -> None:
    for spec in specs(page):
        if spec["title"]["subtitle"] == "● released":
            assert set(rows(spec)[0]) == {"i0", "i1", "x", "y", "z", "marked"}


def test_any_past_round_can_be_looked_at(page: AppTest, run: session.Watched) -> None:
    def answered(attrs: tuple[int, ...], at: int) -> np.ndarray:
        return run.release(at).estimate(*attrs).values

    pairs = [a for a in run.workload.closure if len(a) == 2]
    attrs = next(a for a in pairs if not np.allclose(answered(a, 1), answered(a, 3)))
    page.selectbox(key="marginal").set_value(attrs).run()
    page.slider(key="marginals_round").set_value(1).run()
    private = rows(specs(page)[1])
    assert [r["z"] for r in private] == pytest.approx(answered(attrs, 1).ravel().tolist())
    assert page.session_state["visit"].view == 1, "Rounds looks at the same one"
    assert page.session_state["visit"].run is run, "looking back draws no noise"


def test_one_attribute_has_bars_with_intervals(page: AppTest, run: session.Watched) -> None:
    page.selectbox(key="marginal").set_value((1,)).run()
    assert not page.exception
    estimate = run.release(3).estimate(1)
    assert estimate.std is not None
    bars = specs(page)[0]["datasets"]
    for row, value in zip(bars["counts"], estimate.values, strict=True):
        assert row["released"] == pytest.approx(value)
        assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * estimate.std)
    assert page.segmented_control(key="scale").options == ["linear", "symlog"]


def test_three_attributes_come_in_slices(page: AppTest, run: session.Watched) -> None:
    page.selectbox(key="marginal").set_value((0, 1, 3)).run()
    summed = rows(specs(page)[1])
    assert [r["z"] for r in summed] == pytest.approx(
        run.release(3).estimate(0, 1).values.ravel().tolist()
    )
    key = next(s.key for s in page.selectbox if (s.key or "").startswith("held_"))
    page.selectbox(key=key).set_value(1).run()
    assert not page.exception
    held = rows(specs(page)[1])
    whole = run.release(3).estimate(0, 1, 3).values
    assert [r["z"] for r in held] == pytest.approx(whole[:, :, 1].ravel().tolist())


@pytest.mark.parametrize("form", ["clip", "simplex"])
def test_other_forms_are_the_engine_s_and_say_what_they_cost(
    page: AppTest, run: session.Watched, form: str
) -> None:
    assert "Negative counts are no mistake" in texts(page)
    page.segmented_control(key="form").set_value(form).run()
    assert not page.exception
    attrs = page.selectbox(key="marginal").value
    estimate = getattr(engine, form)(run.release(3).estimate(*attrs))
    private = [r["z"] for r in rows(specs(page)[1])]
    assert private == pytest.approx(estimate.values.ravel().tolist())
    assert min(private) >= 0
    assert "sums over cells are biased" in texts(page)
    assert "no interval is known" in texts(page)
    assert len(specs(page)) == 3, "no histogram of noise without known noise"


def test_log_is_offered_only_where_every_count_is_above_zero(page: AppTest) -> None:
    assert "log" not in page.segmented_control(key="scale").options
    page.segmented_control(key="scale").set_value("symlog").run()
    assert specs(page)[1]["encoding"]["color"]["scale"]["type"] == "symlog"
    page.selectbox(key="marginal").set_value((3, 4)).run()
    assert page.segmented_control(key="scale").options == ["linear", "symlog", "log"]
    page.segmented_control(key="scale").set_value("log").run()
    scale = specs(page)[1]["encoding"]["color"]["scale"]
    assert scale["type"] == "log"
    assert scale["domain"][0] > 0
    page.selectbox(key="marginal").set_value((0, 1)).run()
    assert not page.exception
    assert page.segmented_control(key="scale").value == "linear"


def test_the_coverage_is_counted_and_its_limits_are_named(
    page: AppTest, run: session.Watched
) -> None:
    attrs = page.selectbox(key="marginal").value
    estimate = run.release(3).estimate(*attrs)
    assert estimate.std is not None
    off = np.abs(estimate.values - run.private.marginal(attrs).values)
    inside = int((off <= 1.96 * estimate.std).sum())
    said = f"Of {off.size:,} cells, **{inside:,}** fell inside their 95 % interval"
    assert said in texts(page)
    assert f"(expected {0.95 * off.size:,.0f})" in texts(page)
    assert "95 % is nominal" in texts(page).replace("\\", "")
    covered = views.coverage(engine.compare(estimate, run.private))
    assert covered is not None
    assert (covered.cells, covered.inside) == (off.size, inside)
    with pytest.raises(TypeError, match="cannot be pickled"):
        covered.__reduce__()
    shape = views.noise_shape(engine.compare(estimate, run.private))
    assert shape["cells"].sum() == off.size
    assert shape["normal"].sum() == pytest.approx(off.size)


def test_limits_of_intervals_are_told_apart(run: session.Watched) -> None:
    first = run.release(0).estimate(0)
    assert views.coverage_limits(first, adaptive=False) == []
    pair = run.release(0).estimate(0, 1)
    assert "Never measured" in views.coverage_limits(pair, adaptive=False)[0]
    assert len(views.coverage_limits(pair, adaptive=True)) == 2
    assert "no interval is known" in views.coverage_limits(engine.clip(pair), adaptive=True)[0]
    nothing = engine.Release(run.workload, engine.Beliefs(), run.release(0).ledger, "", True)
    assert "Nothing is measured" in views.coverage_limits(nothing.estimate(0), adaptive=False)[0]


def test_one_click_hides_everything_not_private(page: AppTest) -> None:
    page.toggle(key=figures.HIDE).set_value(True).run()
    assert set(badges(page)) == {"released"}
    assert "fell inside" not in texts(page)
    assert "nothing here is private" not in texts(page).lower()
    page.selectbox(key="marginal").set_value((0,)).run()
    assert set(badges(page)) == {"released"}
    assert not page.exception


def test_choices_survive_a_visit_to_another_page(page: AppTest) -> None:
    page.selectbox(key="marginal").set_value((2, 3)).run()
    page.segmented_control(key="form").set_value("simplex").run()
    page.switch_page("pages/about.py").run()
    page.switch_page("pages/marginals.py").run()
    assert page.selectbox(key="marginal").value == (2, 3)
    assert page.segmented_control(key="form").value == "simplex"


def test_cells_clicked_on_are_found_in_the_table(run: session.Watched) -> None:
    frame = views.comparison(engine.compare(run.release(3).estimate(0, 1), run.private))
    chosen = views.cells_at(frame, [(3, 2), (0, 0), (99, 99)])
    assert chosen[["i0", "i1"]].to_numpy().tolist() == [[0, 0], [3, 2]]
    assert chosen["exact"][1] == run.private.marginal((0, 1)).values[3, 2]
    figure = charts.heatmap(
        frame, "released", ("a", "b"), title="t", pick=True, marked=[(3, 2)], scale="symlog"
    )
    spec = figure.chart.to_dict()
    marked = [row for row in figure.spec()["datasets"]["cells"] if row["marked"]]
    assert [(row["i0"], row["i1"]) for row in marked] == [(3, 2)]
    assert spec["params"][0]["select"]["fields"] == ["i0", "i1"]


# -- explains a mistake ----------------------------------------------------------------------------


def test_a_table_that_another_run_does_not_have_gives_way(
    page: AppTest, run: session.Watched
) -> None:
    page.selectbox(key="marginal").set_value((2, 3, 4)).run()
    small = session.begin(session.Settings("hair_eye_color", ("Hair", "Eye"), 2))
    page.session_state["visit"] = session.Visit(run=small)
    page.run()
    assert not page.exception
    assert page.selectbox(key="marginal").value == (0, 1)


@pytest.mark.parametrize("mechanism", ["residual_planner", "uniform"])
def test_nothing_measured_yet_is_said(app: AppTest, mechanism: str) -> None:
    settings = session.Settings("hair_eye_color", ("Hair", "Eye"), 2, mechanism=mechanism)
    app.session_state["visit"] = session.Visit(run=session.begin(settings))
    app.switch_page("pages/marginals.py").run()
    assert not app.exception
    assert "Nothing is measured here yet" in texts(app)
    app.selectbox(key="marginal").set_value((1,)).run()
    assert not app.exception


# -- users' texts, and the code --------------------------------------------------------------------


def test_hostile_names_and_values_harm_nothing(app: AppTest) -> None:
    run = watched(3, attributes=4, hostile=True)
    app.session_state["visit"] = session.Visit(run=run, view=2)
    app.switch_page("pages/marginals.py").run()
    for attrs in ((0,), (0, 1), (1, 2, 3)):
        app.selectbox(key="marginal").set_value(attrs).run()
        assert not app.exception
        for spec in specs(app):
            assert not _fields(spec) & set(HOSTILE)
    title = app.header[0].value
    assert r"\_\_proto\_\_" not in title or "__proto__" not in title.replace("\\_", "")


def _fields(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["field"]} if isinstance(part.get("field"), str) else set()
        return own.union(*map(_fields, part.values()))
    return set().union(*map(_fields, part)) if isinstance(part, list) else set()


def test_the_code_shown_gives_the_numbers_shown(
    run: session.Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    names = [run.domain[i].name for i in (0, 2)]
    for at, completion in ((0, None), (3, "simplex")):
        made: dict[str, Any] = {}
        exec(code.answer(run.settings, names, at=at, completion=completion), made)
        estimate = run.release(at).estimate(0, 2)
        shown = engine.simplex(estimate) if completion else estimate
        # Sums are rounded differently where loops are compiled.
        assert np.allclose(made["shown"].values, shown.values, rtol=1e-9, atol=1e-9)
