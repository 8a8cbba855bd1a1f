"""The widgets driven from Python: sliders set, buttons clicked, work stopped; no front end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import engine

w = pytest.importorskip("ipywidgets")

from engine import widgets  # noqa: E402 - needs ipywidgets
from engine.jobs import Job  # noqa: E402
from engine.mechanisms import catalogue  # noqa: E402
from engine.widgets.stories import MECHANISMS  # noqa: E402

Instead = Callable[[str, Callable[[], Any]], None]


@pytest.fixture
def run(table: engine.Table) -> engine.Run:
    workload = engine.Workload.all_kway(table.domain, 2)
    return engine.run(
        engine.AimGrem(completion="none"), table, workload, epsilon=2.0, delta=1e-6, seed=1
    )


@pytest.fixture
def instead() -> Iterator[Instead]:
    """Puts another factory in the place of a mechanism's, while the test runs."""
    with ExitStack() as stack:
        yield lambda key, make: stack.enter_context(
            catalogue.extended(catalogue.instead(key, make))
        )


def inside(widget: Any) -> Iterator[Any]:
    """A widget and all within it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from inside(child)


# -- explore -------------------------------------------------------------------------------------


def test_the_player_shows_the_round_its_slider_stands_at(run: engine.Run) -> None:
    player = widgets.explore(run)
    assert player.at == 1
    for number in (0, len(run.rounds), 2):
        player.slider.value = number
        assert player.at == number
        budget = next(f for f in player.figures if f.title == "Privacy budget spent")
        spent = float(run.at(number).ledger.spent / run.release.ledger.total)
        assert engine.views.percent(spent) in budget.alt
    player.back.click()
    assert player.at == 1
    player.slider.value = 0
    assert player.back.disabled
    player.forward.click()
    assert player.at == player.play.value == 1


def test_the_marginal_picked_is_the_one_shown(run: engine.Run) -> None:
    player = widgets.explore(run)
    by_label = dict(player.marginal.options)
    for label in ("age × job", "age × land", "job"):
        player.marginal.value = next(v for k, v in by_label.items() if k.strip("\u200b") == label)
        assert any(figure.title.strip("\u200b") == label for figure in player.figures)


def test_a_run_alone_offers_and_shows_nothing_that_is_not_private(run: engine.Run) -> None:
    player = widgets.explore(run, truth=True)
    assert player.truth.disabled
    for number in range(len(run.rounds) + 1):
        player.slider.value = number
        assert not any(figure.private for figure in player.figures)


def test_truth_is_shown_on_request_only_and_says_so(table: engine.Table) -> None:
    player = widgets.explore(table, mechanism=engine.AimGrem(finish="rounds"))
    assert not any(figure.private for figure in player.figures)
    player.truth.value = True
    titles = {figure.title for figure in player.figures if figure.private}
    assert {"True error, round by round", "Which marginal is worst?"} <= titles
    assert "Nothing here is private" in player.header.value
    player.truth.value = False
    assert not any(figure.private for figure in player.figures)


def test_a_run_and_a_table_of_another_domain_are_refused(run: engine.Run) -> None:
    domain = engine.Domain.from_sizes({"other": 2})
    other = engine.Table.from_codes([[0]], domain)
    with pytest.raises(engine.OptionError, match="different domains"):
        widgets.explore(run, table=other)


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_every_mechanism_can_be_explored(name: str, table: engine.Table) -> None:
    player = widgets.explore(table, mechanism=MECHANISMS[name](), truth=True)
    for number in range(len(player.run.rounds) + 1):
        player.slider.value = number
        assert player.figures


# -- setup ---------------------------------------------------------------------------------------


def test_setup_runs_what_was_chosen_and_shows_it(table: engine.Table) -> None:
    form = widgets.setup(table)
    form.degree.value, form.seed.value, form.epsilon.value = 1, "3", 2.0
    form.attributes.value = (0, 3)
    assert "2 tables with 7 cells" in form.cost.value
    form.runner.run.click()
    assert form.runner.run.disabled
    run = form.wait(60)
    assert run is not None
    assert run.release.workload.marginals == ((0,), (3,))
    assert (run.release.epsilon, run.release.delta) == (2.0, 1e-9)
    workload = engine.Workload([("age",), ("job",)], table.domain)
    same = engine.run(engine.AimGrem(), table, workload, epsilon=2.0, delta=1e-9, seed=3)
    assert same.release.ledger == run.release.ledger
    assert np.array_equal(same.release.estimate("job").values, run.release.estimate("job").values)
    assert form.explorer in form.children[-1].children
    assert form.runner.bar.value == 1.0
    assert not form.runner.run.disabled


def test_a_refused_setting_is_said_and_nothing_runs(table: engine.Table) -> None:
    form = widgets.setup(table)
    for field, value, said in (
        (form.epsilon, -1.0, "epsilon is -1.0"),
        (form.delta, "x&lt;", "delta is"),
        (form.seed, "-4", "The seed is -4"),
    ):
        kept, field.value = field.value, value
        form.runner.run.click()
        assert said in form.message.value
        assert not form.runner.busy
        field.value = kept
    assert form.run is None


def test_a_broken_seed_is_refused_and_run_is_off_while_the_form_is_refused(
    table: engine.Table,
) -> None:
    form = widgets.setup(table)
    assert not form.runner.run.disabled
    for field, wrong, right in ((form.seed, "1.5", "1"), (form.epsilon, -1.0, 1.0)):
        field.value = wrong
        assert form.runner.run.disabled
        assert "needed" in form.cost.value
        field.value = right
        assert not form.runner.run.disabled


def test_a_form_whose_settings_changed_since_its_run_says_so(table: engine.Table) -> None:
    form = widgets.setup(table)
    form.mechanism.value = "Equal split, one round"
    form.start().wait(60)
    assert "settings have changed" not in form.message.value
    form.epsilon.value = 2.0
    assert "settings have changed" in form.message.value
    form.epsilon.value = 1.0
    assert form.message.value == ""


def test_interrupting_the_kernel_cancels_as_the_button_does(
    table: engine.Table, instead: Instead, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = threading.Event(), threading.Event()

    class Slow(engine.AimGrem):
        def step(self, state: Any, private: Any, rng: Any) -> Any:
            reached.set()
            go_on.wait(20)
            return super().step(state, private, rng)

    instead("aim_grem", Slow)
    form = widgets.setup(table).start()
    assert reached.wait(20)
    waited, calls = form.runner.job.wait, iter([True])

    def interrupted(seconds: float | None = None) -> bool:
        if next(calls, False):
            raise KeyboardInterrupt
        go_on.set()
        return bool(waited(seconds))

    monkeypatch.setattr(form.runner.job, "wait", interrupted)
    assert form.wait(20) is None
    assert "cancelled" in form.runner.word.value


def test_a_still_holds_released_values_only(table: engine.Table) -> None:
    pytest.importorskip("vl_convert")
    player = widgets.explore(table, mechanism=engine.AimGrem.paper(), truth=True)
    still = player.still()
    assert still.count("<img") >= 6
    assert "&lt;div" not in still
    assert "not private" not in still


def test_a_run_can_be_cancelled(table: engine.Table, instead: Instead) -> None:
    reached, go_on = threading.Event(), threading.Event()

    class Slow(engine.AimGrem):
        def step(self, state: Any, private: Any, rng: Any) -> Any:
            reached.set()
            go_on.wait(20)
            return super().step(state, private, rng)

    instead("aim_grem", Slow)
    form = widgets.setup(table).start()
    assert reached.wait(20)
    form.runner.poll()
    assert form.runner.busy
    assert not form.runner.cancel.disabled
    form.runner.cancel.click()
    go_on.set()
    form.wait(20)
    assert form.run is None
    assert not form.runner.busy
    assert "cancelled" in form.runner.word.value
    assert not form.runner.run.disabled


def test_an_unforeseen_error_is_named_but_never_quoted(
    table: engine.Table, instead: Instead
) -> None:
    class Broken(engine.AimGrem):
        def step(self, state: Any, private: Any, rng: Any) -> Any:
            raise ZeroDivisionError("Ann Lee, 42")

    instead("aim_grem", Broken)
    form = widgets.setup(table).start()
    form.wait(20)
    assert "ZeroDivisionError" in form.message.value
    assert "Ann" not in "".join(str(x.get_state()) for x in inside(form))


# -- compare -------------------------------------------------------------------------------------


def test_trials_have_paired_seeds_and_are_not_made_twice(table: engine.Table) -> None:
    form = widgets.compare(table, epsilons=(1.0, 4.0), trials=3).start()
    assert len(form.wait(60)) == 12
    frame = form.frame()
    assert set(frame.groupby("mechanism")["seed"].agg(tuple)) == {(0, 0, 1, 1, 2, 2)}
    assert len(form.start().wait(60)) == 12
    form.count.value = 4
    assert len(form.start().wait(60)) == 16
    [figure] = form.screen.shown[0].figures
    assert figure.private
    workload = engine.Workload.all_kway(table.domain, 2)
    one = engine.run(engine.AimGrem(), table, workload, epsilon=4.0, delta=1e-9, seed=2)
    expected = engine.evaluate(one.release, table).mean_l1_normalized
    found = frame.query("mechanism == 'AIM+GReM' and epsilon == 4 and seed == 2")["error"]
    assert found.tolist() == [expected]


def test_cancelled_trials_keep_what_is_done(table: engine.Table, instead: Instead) -> None:
    reached, go_on, count = threading.Event(), threading.Event(), iter(range(1000))

    class Slow(engine.ResidualPlanner):
        def step(self, state: Any, private: Any, rng: Any) -> Any:
            if next(count) == 2:
                reached.set()
                go_on.wait(20)
            return super().step(state, private, rng)

    instead("residual_planner", Slow)
    form = widgets.compare(table, epsilons=(1.0,), trials=50).start()
    assert reached.wait(20)
    form.runner.poll()
    assert form.screen.shown  # drawn while it runs
    before = form.results
    form.runner.cancel.click()
    go_on.set()
    assert form.wait(20) == before  # the trial being made is left out, whole ones are kept
    assert len(before) >= 2
    assert "kept" in form.runner.word.value


def test_unreadable_budgets_and_names_are_refused(table: engine.Table) -> None:
    form = widgets.compare(table)
    for text in ("", "a, b", "0", "1e400"):
        form.epsilons.value = text
        form.runner.run.click()
        assert not form.runner.busy
        assert "needed" in form.message.value
    form.epsilons.value, form.mechanisms.value = "1", ()
    form.runner.run.click()
    assert "No mechanism is chosen" in form.message.value
    with pytest.raises(engine.OptionError, match="There is no mechanism"):
        widgets.compare(table, mechanisms=("nonsense",))


# -- learn ---------------------------------------------------------------------------------------


def test_a_table_comes_back_from_all_its_residuals_and_changes_live() -> None:
    view = widgets.learn.decompose()
    assert np.allclose(view.sum_of_kept, view.values)
    assert "exactly" in view.rebuilt.value
    view.cells[0].value = 99.0
    assert view.values[0, 0] == 99.0
    assert np.allclose(view.sum_of_kept, view.values)
    view.kept[(0, 1)].value = False
    rows, columns = view.values.sum(1, keepdims=True), view.values.sum(0, keepdims=True)
    expected = rows / 3 + columns / 2 - view.values.sum() / 6
    assert np.allclose(view.sum_of_kept, expected)
    assert "off by up to" in view.rebuilt.value


def test_one_axis_and_axes_of_one_value_can_be_taken_apart() -> None:
    for shape in ((4,), (1, 3), (1,)):
        view = widgets.learn.decompose(np.arange(np.prod(shape)).reshape(shape), "ab"[: len(shape)])
        assert np.allclose(view.sum_of_kept, view.values)


def test_exact_counts_and_tables_too_large_are_refused(table: engine.Table) -> None:
    exact = engine.Private(table).marginal((0, 1))
    for private in (exact, table, engine.Private(table)):
        with pytest.raises(engine.OptionError, match="exact counts do not belong"):
            widgets.learn.decompose(private)  # type: ignore[arg-type]
    for values in (np.zeros((2, 2, 2)), np.zeros(7), np.zeros((0,)), 3.0, [[np.nan]]):
        with pytest.raises(engine.OptionError):
            widgets.learn.decompose(values)  # type: ignore[arg-type]


# -- what holds for all --------------------------------------------------------------------------


def test_nothing_computes_while_a_control_moves_and_everything_is_described(
    table: engine.Table,
) -> None:
    shown = [
        widgets.explore(table), widgets.setup(table), widgets.compare(table),
        widgets.learn.decompose(),
    ]  # fmt: skip
    for widget in (one for each in shown for one in inside(each)):
        if hasattr(widget, "continuous_update"):
            assert widget.continuous_update is False, widget
        if isinstance(widget, w.Widget) and isinstance(
            widget, w.Button | w.IntSlider | w.Dropdown | w.Checkbox | w.Text | w.FloatText
        ):
            assert widget.description, widget


def test_a_job_that_ends_at_once_and_one_never_reporting_are_both_waited_for() -> None:
    job: Job[int] = Job(lambda report: 3)
    assert job.wait(10)
    assert (job.result, job.raised, job.cancelled) == (3, None, False)
