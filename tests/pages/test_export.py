from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.exporting import bundle as export
from pages.parts.drawing import figures
from pages.parts.navigation import saved
from pages.parts.visit import samples, session
from tests.pages.conftest import texts
from tests.pages.test_charts import watched
from tests.pages.test_links import SETTINGS, made


def visit(app: AppTest) -> Any:
    return app.session_state["visit"]


def shown(app: AppTest) -> str:
    return (texts(app) + "\n".join(str(t.value) for t in app.table)).replace("\\", "")


def names(app: AppTest) -> list[str]:
    return [button.proto.label for button in app.get("download_button")]


@pytest.fixture
def page(rounds: AppTest) -> AppTest:
    rounds.switch_page("pages/export.py").run()
    assert not rounds.exception
    return rounds


def test_opens_with_nothing_done_and_says_what_there_will_be(app: AppTest) -> None:
    app.switch_page("pages/export.py").run()
    assert not app.exception
    assert "There is no run yet" in texts(app)
    assert "report.html" in shown(app)
    assert not app.get("download_button")
    assert app.file_uploader(key="session_file") is not None


def test_offers_the_release_first_and_says_what_is_not_in_it(page: AppTest) -> None:
    assert names(page) == [
        "Download the bundle", "This marginal (CSV)", "Release (JSON)", "Report (HTML)", "Notebook",
        "Download session (JSON)",
    ]  # fmt: skip
    assert "Demonstration, not a private release" in shown(page)
    preview = page.table[1].value
    assert not [name for name in preview.columns if "true" in name], "only what is in the file"
    assert "**Not in it**: true counts" in shown(page)
    run = visit(page).run
    assert str(run.records) not in shown(page)
    assert f"{run.records:,}" not in shown(page)


def test_a_teaching_bundle_is_another_choice_and_marked(page: AppTest) -> None:
    page.segmented_control(key="export_kind").set_value("Teaching bundle").run()
    assert not page.exception
    assert names(page)[0] == "Download the teaching bundle"
    assert "TEACHING - not private" in "".join(e.value for e in page.error).replace("\\", "")
    assert "true ▲" in page.table[1].value.columns
    page.session_state[figures.HIDE] = True
    page.run()
    assert "true ▲" not in page.table[1].value.columns


def test_a_visitor_s_own_table_gets_no_teaching_bundle_and_no_link(page: AppTest) -> None:
    here = visit(page)
    here.run = here.run.changed(settings=replace(here.run.settings, sample=samples.OWN))
    page.session_state["export_kind"] = "Teaching bundle"
    page.run()
    assert not page.exception
    assert names(page)[0] == "Download the bundle"
    assert "made of the public samples only" in texts(page)
    assert "A link would have to carry your table" in texts(page)
    assert not any("zq-own" in code.value for code in page.code)


def test_answers_without_negative_cells_are_a_choice(page: AppTest) -> None:
    page.selectbox(key="export_post").set_value("simplex").run()
    preview = page.table[1].value
    assert all(not str(value).startswith("-") for value in preview["count"])
    assert "noise σ" not in preview.columns, "no column of dashes"
    assert "no interval is known" in texts(page)


@pytest.mark.parametrize("post", ["consistent", "consistent-nonnegative"])
def test_tables_that_agree_are_a_choice(page: AppTest, post: str) -> None:
    page.selectbox(key="export_post").set_value(post).run()
    assert not page.exception
    assert "noise σ" not in page.table[1].value.columns
    run = visit(page).run
    kept = page.session_state["export_answered"]
    assert kept[0] == (run.token, post)
    attrs = page.selectbox(key=f"export_marginal_{run.number}").value
    page.selectbox(key=f"export_marginal_{run.number}").set_value(attrs - 1).run()
    assert page.session_state["export_answered"] is kept
    page.selectbox(key="export_post").set_value("none").run()
    assert page.session_state["export_answered"][0] == (run.token, "none")


def test_the_choice_that_takes_seconds_is_not_offered_for_many_cells(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = page.selectbox(key="export_post")
    assert len(box.options) == 5
    box.set_value("consistent-nonnegative").run()
    here = visit(page)
    monkeypatch.setattr(engine.Workload, "cells", property(lambda _: 500_001))
    page.run()
    assert not page.exception
    assert here.run.workload.cells == 500_001
    assert len(page.selectbox(key="export_post").options) == 4
    assert page.selectbox(key="export_post").value == "none"


def test_the_code_shown_makes_the_same_run(page: AppTest, tmp_path: Any, monkeypatch: Any) -> None:
    page.expander(key="code")
    page.session_state["code"] = True
    page.run()
    code = next(c.value for c in page.code if "export.bundle" in c.value)
    from tests.support import ROOT

    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "code", "exec"), {})
    with zipfile.ZipFile(io.BytesIO((tmp_path / "release.zip").read_bytes())) as archive:
        release = engine.Release.from_dict(json.loads(archive.read("release.json")))
    run = visit(page).run
    assert release.domain == run.domain
    assert release.workload.weights == run.workload.weights
    assert (release.mechanism, release.epsilon) == (run.release(1).mechanism, 1.0)


def test_a_saved_session_is_reloaded_at_its_round(app: AppTest) -> None:
    app.switch_page("pages/export.py").run()
    run = made(SETTINGS, 3)
    content = saved.text(run, 2).encode()
    app.file_uploader(key="session_file").set_value(
        ("session.json", content, "application/json")
    ).run()
    assert not app.exception
    there = visit(app)
    assert (there.view, there.run.rounds, there.run.settings) == (2, 3, SETTINGS)
    assert there.run.release(3).to_dict() == run.release(3).to_dict()
    assert "Back at round 2" in "".join(s.value for s in app.success)


def test_a_file_that_is_no_session_is_explained_and_the_run_stays(page: AppTest) -> None:
    kept = visit(page).run
    page.file_uploader(key="session_file").set_value(
        ("session.json", b"not json <script>", "application/json")
    ).run()
    assert not page.exception
    assert "no session that can be reloaded" in "".join(e.value for e in page.error)
    assert visit(page).run is kept


def test_a_session_on_a_table_of_one_s_own_asks_for_the_file_again(page: AppTest) -> None:
    run = made(SETTINGS, 1)
    own = run.changed(settings=replace(run.settings, sample=samples.OWN))
    page.file_uploader(key="session_file").set_value(
        ("session.json", saved.text(own, 1).encode(), "application/json")
    ).run()
    assert not page.exception
    assert "choose the file again" in "".join(s.value for s in page.success)
    page.switch_page("pages/rounds.py").run()
    assert not page.exception
    assert visit(page).run is None, "no other table comes in its place"
    assert "Choose it again" in texts(page)
    page.switch_page("pages/plan.py").run()
    assert page.number_input(key="epsilon").value == SETTINGS.epsilon
    assert page.selectbox(key="degree").value == SETTINGS.degree


def test_what_is_taken_is_the_whole_run_so_far() -> None:
    run = made(SETTINGS, 2)
    release = run.release(2).promised(epsilon=1.7, delta=1e-7)
    alone = engine.run(
        engine.AimGrem(completion="none"),
        run.private,
        run.workload,
        epsilon=1.7,
        delta=1e-7,
        seed=12,
    )
    while not run.finished:
        run = run.stepped()
    events = [
        *run.events(run.rounds),
        engine.Finished(
            run.rounds, run.release(run.rounds).ledger.spent, run.release(run.rounds).ledger.left
        ),
    ]
    assert alone.release.table is not None, "what the table has spent is part of a release"
    release = run.release(run.rounds).beside(alone.release.table)
    release = release.promised(epsilon=1.7, delta=1e-7)
    assert export.bundle(release, events) == export.bundle(alone.release, alone.events)


@pytest.mark.parametrize("attributes", [1, 4, 20])
def test_hostile_texts_are_shown_as_written(app: AppTest, attributes: int) -> None:
    run = watched(min(attributes, 2), attributes=attributes, hostile=True)
    app.session_state["visit"] = session.Visit(run=run, view=2)
    app.switch_page("pages/export.py").run()
    assert not app.exception
    preview = app.table[1].value
    said = "".join([*preview.columns, *(str(v) for v in preview.to_numpy().ravel())])
    assert "<script>" not in said
    assert "$x$" not in said
    assert "Download the bundle" in names(app)


def test_a_fork_is_a_dashed_curve_and_leaves_the_run_alone(rounds: AppTest) -> None:
    rounds.button(key="next").click().run()
    rounds.button(key="next").click().run()
    kept = visit(rounds).run
    rounds.button(key="back").click().run()
    rounds.button(key="fork").click().run()
    assert not rounds.exception
    here = visit(rounds)
    assert here.run is kept
    (ghost,) = here.ghosts
    assert (ghost.start, ghost.fork) == (2, True)
    assert ghost.errors[0] == kept.moments[2].error
    assert "Simulation, no release" in texts(rounds)
    specs = [chart.proto.spec for chart in rounds.get("vega_lite_chart")]
    assert any("from round 2 on" in spec and "strokeDash" in spec for spec in specs)
    rounds.button(key="no_ghosts").click().run()
    assert visit(rounds).ghosts == ()


def test_the_same_budget_from_here_is_no_other_run() -> None:
    run = made(SETTINGS, 2)
    *_, ghost = session.forked(run, 1, times=1.0)
    assert ghost.errors[1] == run.moments[2].error, "the random numbers are the run's own"


def test_the_run_before_stays_as_a_ghost_while_the_question_is_the_same(rounds: AppTest) -> None:
    rounds.number_input(key="epsilon").set_value(4.0)
    rounds.button(key="start_run").click().run()
    (ghost,) = visit(rounds).ghosts
    assert ghost.label == "the run before (ε = 1)"
    assert "what if" not in ghost.label
    assert "Simulation" not in texts(rounds)
    rounds.selectbox(key="degree").set_value(2)
    rounds.button(key="start_run").click().run()
    assert visit(rounds).ghosts == (), "another workload's error is another number"


def test_nothing_is_forked_where_no_round_is_left(rounds: AppTest) -> None:
    rounds.button(key="last").click().run()
    assert rounds.button(key="fork").disabled
    rounds.toggle(key="hide_not_private").set_value(True).run()
    assert not [b for b in rounds.button if b.key == "fork"]
