"""A picture's badge is decided by what it was made from, and the strictest wins."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import engine
from engine import charts, showing, views
from engine.charts import NOT_PRIVATE, PUBLIC, RELEASED, Badge, Figure, Limits
from engine.demonstrating import bugs, comparison
from engine.demonstrating import knobs as making
from engine.showing import audited, contenders, knobs, learning, learning_rounds, poured, versus
from engine.showing.badges import badge_of
from engine.showing.frame import Frame
from pages.parts.learning import lessons
from pages.parts.visit import session
from tests.pages.test_charts import watched

ROOMS: tuple[ModuleType, ...] = tuple(
    importlib.import_module(f"engine.showing.{found.name}")
    for found in pkgutil.iter_modules(showing.__path__)
    if found.name not in ("sheets", "notebook")  # these put together what others drew
)
Drawn = Callable[[Any], Figure]


@pytest.fixture(scope="module")
def run() -> session.Watched:
    return watched(2)


@pytest.fixture(scope="module")
def made(run: session.Watched) -> dict[str, Any]:
    """What each kind of value gives: a frame from every maker there is."""
    return dict(_made(run))


def _made(run: session.Watched) -> Iterator[tuple[str, Any]]:
    event, seen, domain = run.moments[2].event, run.moments[2].seen, run.domain
    assert isinstance(event, engine.RoundEnded)
    assert event.selected is not None
    assert seen is not None
    before, after = run.moments[1].state.beliefs, run.moments[2].state.beliefs
    pair, one = run.release(2).estimate(0, 1), run.release(2).estimate(0)
    yield "budget", views.budget(run.events(2))
    yield "allocation", views.allocation(event, domain, event.selected)
    yield "measured", views.measured(event.measurements, domain)
    yield "touched", views.touched(before, after, event, run.workload)
    yield "released", views.released(pair)
    yield "released_one", views.released(one)
    yield "spending", views.spending({"first": run.release(1), "second": run.release(2)})
    yield "selection", views.selection(seen, domain, event.selected)
    yield "errors", views.errors(run.errors(), run.records)
    yield "comparison", views.comparison(engine.compare(pair, run.private))
    yield "comparison_one", views.comparison(engine.compare(one, run.private))
    yield "noise_shape", views.noise_shape(engine.compare(pair, run.private))
    planner = engine.ResidualPlanner().predict(run.workload, rho=0.5).expected_l1
    split = engine.EqualSplit().predict(run.workload, rho=0.5).expected_l1
    yield "asked", views.asked(domain, run.workload.weights)
    yield "predicted", views.predicted(run.workload, planner, split)
    yield "predicted_curve", views.predicted_curve(9, 10, rho=0.5, delta=1e-6, epsilons=[0.1, 1, 9])


BY_TYPE: dict[Badge, set[str]] = {
    RELEASED: {"budget", "allocation", "measured", "touched", "released", "released_one",
               "spending"},
    NOT_PRIVATE: {"selection", "errors", "comparison", "comparison_one", "noise_shape"},
    PUBLIC: {"asked", "predicted", "predicted_curve"},
}  # fmt: skip


def test_a_frame_has_the_badge_of_what_it_was_made_from(made: dict[str, Any]) -> None:
    found = {name: badge_of(frame) for name, frame in made.items()}
    assert found == {name: badge for badge, names in BY_TYPE.items() for name in names}
    makers = {
        name for name in views.__all__
        if callable(getattr(views, name))
        and "Frame" in str(inspect.signature(getattr(views, name)).return_annotation)
    }  # fmt: skip
    assert makers - {"framed", "cells_at"} <= set(found), "a maker that no test knows"


@pytest.fixture(scope="module")
def drawn(run: session.Watched, made: dict[str, Any]) -> dict[str, tuple[Any, Drawn]]:
    """Every function that draws a frame, with a frame that it draws."""
    return {**_of_a_run(run, made), **_of_many(run), **_of_lessons()}


def _of_a_run(run: session.Watched, made: dict[str, Any]) -> dict[str, tuple[Any, Drawn]]:
    names = run.domain.names
    return {
        "rounds.ledger": (made["budget"], lambda f: charts.ledger(f, at=2)),
        "rounds.selection": (
            made["selection"], lambda f: charts.selection(f, others=3, others_probability=0.1)
        ),
        "rounds.measured": (made["measured"], charts.measured),
        "lattice.lattice": (made["allocation"], charts.lattice),
        "poured.poured": (
            made["allocation"], lambda f: poured.poured(f, ink="#000000", height=300)
        ),
        "touched.touched": (
            made["touched"], lambda f: charts.touched(f, names, threshold=None)
        ),
        "tables.heatmap": (
            made["released"],
            lambda f: charts.heatmap(f, "released", (names[0], names[1]), title="Two"),
        ),
        "tables.bars": (made["released_one"], lambda f: charts.bars(f, names[0], title="One")),
        "noise_shape.noise_shape": (made["noise_shape"], charts.noise_shape),
        "runs.error_curve": (made["errors"], lambda f: charts.error_curve(f, at=1)),
        "versus.allocation": (made["spending"], versus.allocation),
        "plan.asked": (made["asked"], lambda f: charts.asked(f, names)),
        "plan.predicted": (made["predicted"], charts.predicted),
        "plan.predicted_curve": (
            made["predicted_curve"], lambda f: charts.predicted_curve(f, epsilon=1.0, at=(9, 10))
        ),
    }  # fmt: skip


def _of_many(run: session.Watched) -> dict[str, tuple[Any, Drawn]]:
    chosen = comparison.contenders("aim_grem", "residual_planner")
    rows = list(
        comparison.trials(
            run.private, run.workload, chosen, epsilons=(0.5, 2.0), delta=1e-6, seeds=(0, 1)
        )
    )
    bands = comparison.bands(rows)
    trials = pd.DataFrame({"mechanism": ["a", "b"], "epsilon": 1.0, "seed": 0, "error": [0.1, 0.2]})
    path = pd.DataFrame(
        [(0, 0, 0.1, 1.0), (0, 1, 1.0, 0.5), (1, 0, 0.1, 1.0), (1, 1, 1.0, 0.6)],
        columns=["who", "round", "spent", "error"],
    )
    marginals = comparison.by_marginal(rows, "aim_grem", "residual_planner", 2.0, run.domain)
    return {
        "runs.trials": (trials, charts.trials),
        "contenders.error_bands": (bands, lambda f: contenders.error_bands(f, unit="error")),
        "contenders.paired": (
            comparison.paired(rows, "aim_grem", "residual_planner"),
            lambda f: contenders.paired(f, "first", "second"),
        ),
        "contenders.win_grid": (
            comparison.wins(rows, "aim_grem"), lambda f: contenders.win_grid(f, "first")
        ),
        "contenders.run_time": (comparison.bands(rows, "seconds"), contenders.run_time),
        "contenders.trade_off": (
            comparison.relative(rows), lambda f: contenders.trade_off(f, "second")
        ),
        "versus.dumbbell": (
            marginals, lambda f: versus.dumbbell(f, "first", "second", title="By marginal")
        ),
        "versus.overlay": (path, lambda f: versus.overlay(f, ("first", "second"))),
        "versus.difference": (path, lambda f: versus.difference(f, ("first", "second"))),
    }  # fmt: skip


def _of_lessons() -> dict[str, tuple[Any, Drawn]]:
    water = lessons.water((2, 3), {(): 1.0}, 1.0)
    one, sums = lessons.noisy_counts({"a": 1, "b": 2}, 2.0, seed=0)
    annealed = pd.DataFrame(
        {"round": [1, 2], "change": [9.0, 1.0], "threshold": 3.0, "sigma": [2.0, 1.0],
         "annealed": [False, True], "last": False}
    )  # fmt: skip
    pairs = pd.DataFrame({"x": [1.0, -1.0, 0.5], "y": [0.5, 1.0, -2.0]})
    return {
        "learning.cloud": (pairs, lambda f: learning.cloud(f, np.eye(2), sentence="A cloud.")),
        "learning.below_zero": (one, lambda f: learning.below_zero(f, sentence="Below.")),
        "learning.bias": (sums, lambda f: learning.bias(f, true=3.0, sentence="Too large.")),
        "learning_rounds.vessels": (
            water.frame, lambda f: learning_rounds.vessels(f, level=water.level, budget=1.0)
        ),
        "learning_rounds.chances": (
            lessons.chances({"a": 1.0, "b": 2.0}, 0.5),
            lambda f: learning_rounds.chances(f, epsilon=0.5),
        ),
        "learning_rounds.work": (
            pd.DataFrame({"round": [1], "lazy": [3], "full": [9]}), learning_rounds.work
        ),
        "learning_rounds.members": (
            lessons.holders(4, 2, (0,)), lambda f: learning_rounds.members(f, sentence="These.")
        ),
        "learning_rounds.annealing": (annealed, learning_rounds.annealing),
    }  # fmt: skip


def test_every_chart_has_the_badge_of_its_frame(drawn: dict[str, tuple[Any, Drawn]]) -> None:
    for name, (frame, draw) in drawn.items():
        for badge in (PUBLIC, RELEASED, NOT_PRIVATE):
            figure = draw(views.framed(pd.DataFrame(frame), badge))
            assert figure.badge == badge, name
            assert badge in figure.spec()["title"]["subtitle"]
        assert draw(pd.DataFrame(frame)).private, f"{name}: nobody knows where these come from"


def test_no_chart_is_left_out_of_that_walk(drawn: dict[str, tuple[Any, Drawn]]) -> None:
    found = {
        f"{room.__name__.rpartition('.')[2]}.{name}"
        for room in ROOMS
        for name, value in vars(room).items()
        if inspect.isfunction(value)
        and value.__module__ == room.__name__
        and not name.startswith("_")
        and inspect.signature(value).return_annotation == "Figure"
        and name != "drawn"  # what all of them are made with
    }
    # These draw what is made up, by its type.
    assert found == {*drawn, "learning.stages", "audited.histograms", "knobs.histogram"}


def test_numbers_made_up_for_teaching_are_public() -> None:
    stages = [learning.Stage("one", np.eye(2))]
    assert learning.stages(stages, title="One", sentence="One.").badge == PUBLIC
    invented = making.binned(making.incomes(), 0, 100, 5, rho=0.1)
    assert knobs.histogram(invented, title="One").badge == PUBLIC
    found = bugs.audit(next(iter(bugs.BUGS)), runs=200)
    assert audited.histograms(found, score="one").badge == PUBLIC


def test_released_values_on_the_truths_colour_scale_are_not_private(
    run: session.Watched, made: dict[str, Any]
) -> None:
    names = (run.domain.names[0], run.domain.names[1])
    truth = charts.shared_limits(made["comparison"], "exact", "released")
    own = charts.shared_limits(made["released"], "released")

    def badge(limits: Any) -> Badge:
        frame = made["released"]
        return charts.heatmap(frame, "released", names, title="Two", limits=limits).badge

    assert badge(None) == badge(own) == RELEASED
    assert badge(Limits(0, 100, PUBLIC)) == RELEASED
    assert badge(truth) == NOT_PRIVATE
    assert badge(charts.spanning([own, truth])) == NOT_PRIVATE
    assert badge((0.0, 100.0)) == NOT_PRIVATE, "nobody knows where these ends come from"


def test_a_ghost_is_as_private_as_its_run(made: dict[str, Any]) -> None:
    curve = views.framed(made["errors"], PUBLIC)
    assert charts.error_curve(curve, at=1).badge == PUBLIC
    ghost = charts.Ghost("another", made["errors"])
    assert charts.error_curve(curve, at=1, ghosts=[ghost]).badge == NOT_PRIVATE


def test_a_frame_of_one_number_for_every_row_can_be_made_and_drawn() -> None:
    made = views.framed({"round": [1, 2], "lazy": [3, 4], "full": 9}, RELEASED)
    assert learning_rounds.work(made).spec()["datasets"]["rounds"][1]["full"] == 9


# -- the frame itself ------------------------------------------------------------------------------


def frame() -> Frame:
    return Frame({"a": [1.0, 2.0], "b": ["x", "y"]}, RELEASED)


@pytest.mark.parametrize(
    "derived",
    [
        lambda f: f.assign(a=3.0), lambda f: f[["a"]], lambda f: f[f["a"] > 1], copy.copy,
        lambda f: f.merge(pd.DataFrame({"a": [1.0], "exact": [7]}), on="a"),
        lambda f: pd.concat([f, f]), lambda f: f.join(pd.DataFrame({"exact": [7, 8]})),
        lambda f: f.where(f["a"] > 1, pd.DataFrame({"a": [7, 8], "b": "z"})),
    ],
)  # fmt: skip
def test_what_pandas_makes_of_a_frame_carries_no_badge(derived: Callable[[Any], Any]) -> None:
    assert type(derived(frame())) is pd.DataFrame


def _column(f: Any) -> None:
    f["a"] = 7


def _attribute(f: Any) -> None:
    f.a = 7


def _cell(f: Any) -> None:
    f.loc[0, "a"] = 7


def _place(f: Any) -> None:
    f.iloc[0, 0] = 7


def _one(f: Any) -> None:
    f.at[0, "a"] = 7
    f.iat[1, 0] = 7


def _more(f: Any) -> None:
    f.insert(0, "exact", [7, 8])


def _update(f: Any) -> None:
    f.update(pd.DataFrame({"a": [7, 8]}))


def _fill(f: Any) -> None:
    f.replace(2.0, 7, inplace=True)


@pytest.mark.parametrize("write", [_column, _attribute, _cell, _place, _one, _more, _update, _fill])
def test_a_frame_that_is_written_to_loses_its_badge(write: Callable[[Any], None]) -> None:
    written = frame()
    assert badge_of(written) == RELEASED
    write(written)
    assert 7 in written.to_numpy()
    assert badge_of(written) == NOT_PRIVATE


def test_a_frame_reads_as_a_table_and_survives_a_pickle() -> None:
    kept = pickle.loads(pickle.dumps(frame()))
    assert badge_of(kept) == RELEASED
    assert kept.loc[1, "b"] == kept.iloc[1]["b"] == kept.at[1, "b"] == kept.iat[1, 1] == "y"
    assert isinstance(kept, pd.DataFrame)
    assert kept.loc(axis=0)[1]["a"] == 2.0
