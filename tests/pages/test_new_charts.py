"""Comparing and teaching charts: valid, labelled, and safe with whatever users write."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import engine
from engine.charts import Figure
from engine.demonstrating import comparison
from engine.showing import contenders, learning, learning_rounds, versus
from engine.showing.badges import PUBLIC, RELEASED
from engine.showing.framed import framed
from engine.showing.line_ends import clear_of_each_other
from pages.parts.drawing import lecture
from pages.parts.learning import lessons
from tests.pages.test_charts import HOSTILE, _fields, rebuilt


@pytest.fixture(scope="module")
def domain() -> engine.Domain:
    values = tuple(HOSTILE[:4])
    return engine.Domain(
        tuple(engine.Attribute(name, values=values) for name in ("two\nlines", "a.b", "toString"))
    )


@pytest.fixture(scope="module")
def figures(domain: engine.Domain) -> list[Figure]:
    codes = np.random.default_rng(0).integers(0, 4, (300, 3))
    private = engine.Private(engine.Table.from_codes(codes, domain))
    workload = engine.Workload.all_kway(domain, 2)
    names = ("aim_grem", "residual_planner", "uniform", "product")
    rows = list(
        comparison.trials(
            private, workload, comparison.contenders(*names), epsilons=(0.5, 2.0), delta=1e-6,
            seeds=(0, 1),
        )
    )  # fmt: skip
    return [*_compared(rows, domain), *_overlaid(), *_taught(domain)]


def _compared(rows: list[comparison.Trial], domain: engine.Domain) -> Iterator[Figure]:
    bands = comparison.bands(rows)
    yield contenders.error_bands(bands, unit="mean L1 error ÷ N")
    paired = comparison.paired(rows, "aim_grem", "residual_planner")
    yield contenders.paired(paired, "AIM+GReM", "ResidualPlanner")
    yield contenders.win_grid(comparison.wins(rows, "aim_grem"), "AIM+GReM")
    frame = comparison.by_marginal(rows, "aim_grem", "uniform", 2.0, domain)
    yield versus.dumbbell(frame, "AIM+GReM", "Uniform", title="By marginal")
    yield contenders.run_time(comparison.bands(rows, "seconds"))
    yield contenders.trade_off(comparison.relative(rows), "ResidualPlanner")


def _overlaid() -> Iterator[Figure]:
    frame = pd.DataFrame(
        [(0, 0, 0.1, 1.0), (0, 1, 1.0, 0.5), (1, 0, 0.1, 1.0), (1, 1, 1.0, 0.6)],
        columns=["who", "round", "spent", "error"],
    )
    names = ("as it is", "constructor")
    yield versus.overlay(frame, names)
    yield versus.difference(frame, names)
    yield versus.allocation(
        framed(
            {"who": [names[0], names[0], names[1]], "size": [0, 1, 2], "share": [0.1, 0.5, 0.7]},
            RELEASED,
        )
    )


def _taught(domain: engine.Domain) -> Iterator[Figure]:
    mu = np.arange(6.0).reshape(2, 3)
    yield learning.stages(lessons.taken_apart(mu, (0,)), title="Apart", sentence="So it is.")
    draws = lessons.residual_noise(3, 2.0)
    drawn = framed({"x": draws[:, 0], "y": draws[:, 1]}, PUBLIC)
    yield learning.cloud(drawn, 4 * lessons.structure(3), sentence="A cloud of noise.")
    found = lessons.water((2, 3), {(): 1.0}, 1.0)
    yield learning_rounds.vessels(found.frame, level=found.level, budget=1.0)
    chances = lessons.chances(dict.fromkeys(HOSTILE, 1.0), 0.5)
    yield learning_rounds.chances(chances, epsilon=0.5)
    done = {"round": [1, 2], "lazy": [3, 4], "full": [9, 9]}
    yield learning_rounds.work(framed(done, RELEASED))
    yield learning_rounds.members(lessons.holders(5, 2, (0,)), sentence="These hold it.")
    rounds = framed(
        {"round": [1, 2], "change": [9.0, 1.0], "threshold": [3.0, 3.0], "sigma": [2.0, 1.0],
         "annealed": [False, True], "last": [False, False]},
        RELEASED,
    )  # fmt: skip
    yield learning_rounds.annealing(rounds)
    one, sums = lessons.noisy_counts(dict.fromkeys(HOSTILE, 1), 2.0, seed=0)
    yield learning.below_zero(one, sentence="Some are below zero.")
    yield learning.bias(sums, true=19.0, sentence="Cut off they are too large.")


def test_every_chart_is_valid_and_labelled(figures: list[Figure]) -> None:
    assert len(figures) == 18
    for figure in figures:
        content = rebuilt(figure)
        assert content == figure.spec() | {"$schema": content["$schema"]}
        assert figure.alt.endswith(".")
        assert figure.badge in content["title"]["subtitle"]
        assert content["usermeta"]["embedOptions"]["actions"] is False
        assert len(figure.frame)


def test_users_texts_are_never_fields(figures: list[Figure]) -> None:
    for figure in figures:
        assert not set(_fields(figure.spec())) & set(HOSTILE)
        for rows in figure.spec()["datasets"].values():
            assert not set(rows[0] if rows else ()) & set(HOSTILE)


def test_whatever_compares_with_the_truth_is_not_private(figures: list[Figure]) -> None:
    compared = figures[:8]
    assert all(figure.private for figure in compared)
    assert figures[8].badge == "released"
    assert not any(figure.private for figure in figures[8:])


def test_enlarged_charts_stay_valid(figures: list[Figure]) -> None:
    import altair as alt

    for figure in figures:
        large = lecture.enlarged(figure.spec())
        assert large["height"] > figure.spec()["height"]
        assert large["datasets"] == figure.spec()["datasets"]
    for k in (0, 10):
        alt.Chart.from_dict(lecture.enlarged(figures[k].spec()))


def test_every_contender_has_a_style_of_its_own() -> None:
    assert list(contenders.STYLES) == list(comparison.CONTENDERS)
    looks = [(colour, shape) for colour, shape, _ in contenders.STYLES.values()]
    assert len(set(looks)) == len(looks)


def test_epsilons_of_figure_four_do_not_stand_on_each_other() -> None:
    """Five of them were printed on one place."""
    said = ["0.1", "10", "0.1", "10"]
    same = [(1.0, 1.0), (1.001, 1.0), (100.0, 1.0), (100.0, 50.0)]
    assert clear_of_each_other(said, same, width=380, height=340) == [0, 2, 3]


def test_lines_that_coincide_say_so() -> None:
    def line(key: str, *errors: float) -> pd.DataFrame:
        return pd.DataFrame(
            {"mechanism": key, "name": comparison.CONTENDERS[key].name, "epsilon": [1.0, 10.0],
             "median": errors, "low": errors, "high": errors, "trials": 1}
        )  # fmt: skip

    both = [line("aim_grem", 2.0, 1.0), line("uniform", 2.001, 1.0)]
    said = contenders.error_bands(pd.concat(both, ignore_index=True), unit="error").alt
    assert "Uniform coincides with AIM+GReM." in said
    both = [line("aim_grem", 2.0, 1.0), line("uniform", 2.001, 1.1)]
    assert "coincide" not in contenders.error_bands(pd.concat(both), unit="error").alt
