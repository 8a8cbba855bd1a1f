from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import engine
from pages.parts.drawing import messages, text
from pages.parts.visit import samples, session, study
from tests.pages.conftest import badges, texts

NOT_PRIVATE = "not private (never released)"


def visit(app: AppTest) -> Any:
    return app.session_state["visit"]


def test_opens_with_nothing_done_on_the_first_round(rounds: AppTest) -> None:
    assert visit(rounds).view == 1
    assert len(rounds.get("vega_lite_chart")) == 3, "choice, noise and error on one screen"
    assert messages.BANNER in texts(rounds)
    assert "Why round 1 did what it did" in texts(rounds)


def test_steps_rewinds_and_runs_to_the_end(rounds: AppTest) -> None:
    rounds.button(key="next").click().run()
    rounds.button(key="next").click().run()
    assert visit(rounds).view == 3
    kept = visit(rounds).run
    rounds.button(key="back").click().run()
    assert (visit(rounds).view, visit(rounds).run.rounds) == (2, 3)
    rounds.slider(key="round").set_value(0).run()
    assert visit(rounds).view == 0
    rounds.slider(key="round").set_value(1).run()
    assert visit(rounds).view == 1
    assert visit(rounds).run is kept, "looking back draws no new noise"
    rounds.button(key="last").click().run()
    run = visit(rounds).run
    assert run.finished
    assert visit(rounds).view == run.rounds
    assert rounds.button(key="next").disabled
    assert not rounds.exception


def test_the_run_watched_is_the_run_of_its_seed(rounds: AppTest) -> None:
    rounds.button(key="last").click().run()
    watched = visit(rounds).run
    settings = watched.settings
    alone = engine.run(
        engine.AimGrem(finish="rounds"),
        samples.columns(settings.sample, settings.attributes),
        watched.workload,
        epsilon=settings.epsilon,
        delta=settings.delta,
        seed=settings.seed,
    )
    ours, theirs = watched.release(watched.rounds), alone.release
    assert ours.ledger == theirs.ledger
    for attrs, belief in theirs.beliefs.items():
        assert np.array_equal(ours.beliefs[attrs].values, belief.values)


def test_the_ledger_on_the_page_adds_up_exactly(rounds: AppTest) -> None:
    rounds.button_group(key="rounds_more").set_value("account").run()
    for _ in range(2):
        rounds.button(key="next").click().run()
        line = next(m.value for m in rounds.markdown if m.value.startswith("spent **"))
        spent, left, total = (float(part) for part in line.split("**")[1::2])
        assert spent + left == pytest.approx(total, rel=1e-11)
    run, view = visit(rounds).run, visit(rounds).view
    from engine import views

    frame = views.budget(run.events(view))
    assert sum(map(Fraction, frame["exact"]), Fraction(0)) == run.rho
    assert list(frame["end"][:-1]) == list(frame["start"][1:])
    pairs = frame[frame["round"] > 0].groupby("round")["part"].agg(list)
    assert all(parts == ["select", "measure"] for parts in pairs)


def test_one_click_hides_everything_not_private(rounds: AppTest) -> None:
    assert NOT_PRIVATE in badges(rounds)
    rounds.toggle(key="hide_not_private").set_value(True).run()
    assert set(badges(rounds)) == {"released"}
    assert "hidden, since it is computed from the records" in texts(rounds)
    assert "was off by" not in texts(rounds)
    run = visit(rounds).run
    error = run.moments[1].error / run.records
    assert f"{error:.3g}" not in texts(rounds)
    rounds.button(key="next").click().run()
    assert set(badges(rounds)) == {"released"}


def test_a_step_asked_for_twice_is_made_once(rounds: AppTest) -> None:
    here = visit(rounds)
    token, view = here.run.token, here.view
    before = here.run
    after = before.stepped()
    assert after.token != token
    # The same step from the same position gives the same round, and leaves the first run as it was.
    again = before.stepped()
    assert before.rounds == view
    same = zip(
        after.moments[-1].event.measurements, again.moments[-1].event.measurements, strict=True
    )
    assert all(np.array_equal(a.values, b.values) for a, b in same)


def test_a_double_click_neither_loses_nor_repeats_a_round(
    rounds: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = visit(rounds).changed()
    monkeypatch.setattr(session, "visit", lambda: here)
    token = here.run.token
    assert session.advance(token)
    assert not session.advance(token), "the second click names a position that is gone"
    assert here.run.rounds == 2
    assert session.advance(here.run.token)
    assert [m.event.round for m in here.run.moments[1:]] == [1, 2, 3]


def test_play_is_not_stopped_by_its_own_moves() -> None:
    here = session.Visit(view=1, playing=True)
    here.look_at(2)
    assert here.is_echo(2)
    assert here.is_echo(1), "a request that left the browser before the move was drawn"
    assert not here.is_echo(0)
    here.moved -= 1.0
    assert not here.is_echo(1), "a visitor who moves back a round"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("epsilon", 0.0, "epsilon is 0"),
        ("delta", "1", "delta is 1"),
        ("delta", "tiny", "δ is no number"),
    ],
)
def test_a_mistake_is_explained_and_the_run_stays(
    rounds: AppTest, field: str, value: Any, said: str
) -> None:
    kept = visit(rounds).run
    kind = "number_input" if field == "epsilon" else "text_input"
    getattr(rounds, kind)(key=field).set_value(value)
    rounds.button(key="start_run").click().run()
    assert not rounds.exception
    assert said in "".join(e.value for e in rounds.error).replace("\\", "")
    assert visit(rounds).run is kept
    getattr(rounds, kind)(key=field).set_value(1.0 if field == "epsilon" else "1e-9")
    rounds.button(key="start_run").click().run()
    assert not rounds.error
    assert visit(rounds).run is not kept


def test_too_many_cells_are_refused_before_counting(rounds: AppTest) -> None:
    rounds.button(key="all_attributes").click().run()
    rounds.selectbox(key="degree").set_value(4)
    rounds.button(key="start_run").click().run()
    assert "cells" in rounds.error[0].value
    assert "Choose fewer attributes" in rounds.error[0].value.replace("\\", "")


def test_another_seed_is_another_run_and_says_what_both_cost(rounds: AppTest) -> None:
    rounds.button(key="again").click().run()
    assert visit(rounds).run.settings.seed == 1
    rounds.button_group(key="rounds_more").set_value("account").run()
    assert "This is run 2 on this table" in texts(rounds).replace("\\", "")


def test_settings_survive_a_visit_to_another_page(rounds: AppTest) -> None:
    rounds.selectbox(key="degree").set_value(2).run()
    rounds.switch_page("pages/start.py").run()
    rounds.switch_page("pages/rounds.py").run()
    assert rounds.selectbox(key="degree").value == 2
    assert visit(rounds).view == 1


@pytest.mark.parametrize("mechanism", list(session.MECHANISMS))
def test_every_mechanism_can_be_watched(rounds: AppTest, mechanism: str) -> None:
    rounds.selectbox(key="sample").set_value("hair_eye_color")
    rounds.selectbox(key="mechanism").set_value(mechanism)
    rounds.button(key="start_run").click().run()
    rounds.button(key="first").click().run()
    assert not rounds.exception
    rounds.button(key="last").click().run()
    assert not rounds.exception
    assert visit(rounds).run.finished


def test_the_first_run_shows_rounds_and_the_form_says_so(rounds: AppTest) -> None:
    run = visit(rounds).run
    assert run.settings.mechanism == study.FIRST_MECHANISM
    assert run.most_rounds > 1
    assert rounds.selectbox(key="mechanism").value == study.FIRST_MECHANISM, "the form says the run"


def test_everything_at_once_is_explained_with_the_way_to_rounds(rounds: AppTest) -> None:
    rounds.selectbox(key="sample").set_value("titanic")
    rounds.selectbox(key="mechanism").set_value("aim_grem")
    rounds.button(key="start_run").click().run()
    assert not rounds.exception
    run = visit(rounds).run
    assert (run.settings.mechanism, run.rounds, run.finished) == ("aim_grem", 1, False)
    said = texts(rounds).replace("\\", "")
    assert "nothing is selected, step 1 of 4 measures every residual" in said
    assert run.moments[0].event.decision in said, "why, in the cockpit"
    rounds.button_group(key="rounds_more").set_value("table").run()
    assert messages.COMPLETED in texts(rounds).replace("\\", "")
    rounds.button(key="first").click().run()
    assert run.moments[0].event.decision in texts(rounds).replace("\\", "")
    rounds.button(key="last").click().run()
    rounds.button(key="in_rounds").click().run()
    again = visit(rounds).run
    assert (again.settings.sample, again.settings.mechanism) == ("titanic", study.FIRST_MECHANISM)
    assert again.most_rounds > 1


def test_one_attribute_alone_can_be_watched(rounds: AppTest) -> None:
    rounds.multiselect(key="attributes_adult").set_value(["sex"])
    rounds.selectbox(key="degree").set_value(1)
    rounds.selectbox(key="mechanism").set_value("aim_grem_plain")
    rounds.button(key="start_run").click().run()
    rounds.button(key="last").click().run()
    assert not rounds.exception
    assert not rounds.error
    assert visit(rounds).run.domain.names == ("sex",)


def test_a_table_without_a_record_can_be_watched(
    rounds: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(name: str, attributes: tuple[str, ...]) -> engine.Table:
        return engine.Table.from_codes([], samples.domain(name).select(*attributes))

    monkeypatch.setattr(samples, "columns", nobody)
    rounds.button(key="start_run").click().run()
    rounds.button(key="last").click().run()
    assert not rounds.exception
    assert visit(rounds).run.records == 0


def test_markdown_in_users_texts_stays_text() -> None:
    assert text.plain("$x$ :red[a] *b*\n# c") == r"\$x\$ \:red\[a\] \*b\* \# c"
    assert len(text.plain("a" * 1000)) == 200


def test_a_watched_run_neither_prints_nor_pickles_what_it_knows(rounds: AppTest) -> None:
    run = rounds.session_state["visit"].run
    for held in (run, run.moments[-1]):
        assert repr(held) == f"{type(held).__name__}(private)"
        with pytest.raises(TypeError, match="private"):
            pickle.dumps(held)
        assert held != held.changed()
