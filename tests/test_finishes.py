"""Every mechanism with every post-processing: from one run, at no cost, and told apart in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import engine
from engine.demonstrating import comparison, finishes, trials
from engine.demonstrating.comparison import CONTENDERS, FINISHES, Trial

HERO, RIVAL = "aim_grem", "residual_planner"


@pytest.fixture(scope="module")
def table() -> engine.Table:
    return engine.load_sample("hair_eye_color")


@pytest.fixture(scope="module")
def workload(table: engine.Table) -> engine.Workload:
    return engine.Workload.all_kway(table.domain, 2)


@pytest.fixture(scope="module")
def rows(table: engine.Table, workload: engine.Workload) -> list[Trial]:
    names = comparison.crossed([HERO, RIVAL, "uniform", "product"], FINISHES)
    return list(engine.trials(table, workload, names, epsilons=[0.5], seeds=[0, 1]))


def test_each_mechanism_comes_with_each_finish_and_baselines_come_alone(rows: list[Trial]) -> None:
    kinds = {r.mechanism for r in rows}
    assert kinds == {
        "uniform", "product", *(key for key in (HERO, RIVAL)),
        *(f"{key}+{finish}" for key in (HERO, RIVAL) for finish in FINISHES),
    }  # fmt: skip


def test_a_finish_is_what_the_engine_does_by_hand(
    rows: list[Trial], table: engine.Table, workload: engine.Workload
) -> None:
    made = engine.run(engine.ResidualPlanner(), table, workload, epsilon=0.5, delta=1e-9, seed=1)
    release = made.release
    expected = {
        "none": engine.evaluate(replace(release, completion=None), table),
        "simplex": engine.evaluate(release, table, postprocess=engine.simplex),
        "completed": engine.evaluate(replace(release, completion="maxent"), table),
    }
    found = {r.mechanism: r.mean_l1 for r in rows if r.seed == 1}
    for finish, evaluation in expected.items():
        assert found[f"{RIVAL}+{finish}"] == evaluation.mean_l1, finish
    tables, private = engine.consistent(release, nonnegative=True), engine.Private(table)
    off = [
        float(np.abs(e.values - private.marginal(e.attrs).values).sum()) for e in tables.estimates()
    ]
    assert found[f"{RIVAL}+nonnegative"] == pytest.approx(float(np.mean(off)), rel=1e-12)
    assert len(set(found.values())) > 8, "they differ"


def test_contenders_that_differ_in_their_finish_share_one_run(
    table: engine.Table, workload: engine.Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    made = trials._run

    def counted(contender: trials.Contender, *rest: object) -> object:
        runs.append(contender.name)
        return made(contender, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(trials, "_run", counted)
    names = comparison.crossed([RIVAL], ["none", "simplex"])
    assert len(list(engine.trials(table, workload, names, seeds=[0, 1]))) == 6
    assert runs == ["ResidualPlanner"] * 2


def test_names_say_the_finish_and_unknown_ones_are_refused() -> None:
    assert CONTENDERS["residual_planner+simplex"].name == "ResidualPlanner, simplex"
    assert "residual_planner+simplex" not in list(CONTENDERS)
    for name in ("residual_planner+best", "nothing+simplex"):
        assert name not in CONTENDERS
        with pytest.raises(engine.OptionError, match="mechanisms to compare"):
            comparison.contenders(name)
    order = finishes.in_order(["mine", "uniform", f"{RIVAL}+simplex", RIVAL, f"{RIVAL}+none"])
    assert order == [RIVAL, f"{RIVAL}+none", f"{RIVAL}+simplex", "uniform", "mine"]


def invented(errors: dict[str, float]) -> list[Trial]:
    return [
        Trial(mechanism=key, epsilon=1.0, trial=0, seed=0, mean_l1=error, mean_l2=error,
              max_l1=error, records=1, seconds=1.0, rounds=1, per_marginal={})
        for key, error in errors.items()
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("errors", "share", "said"),
    [
        # Half of the win's logarithm: 1/4 as they answer, 1/2 with the best of each.
        ({HERO: 1, f"{HERO}+none": 2, RIVAL: 4, f"{RIVAL}+simplex": 2}, 0.5, "about 50 % of the"),
        ({HERO: 1, f"{HERO}+none": 2, RIVAL: 4, f"{RIVAL}+simplex": 4}, 0.0, "none of the win"),
        ({HERO: 1, f"{HERO}+none": 2, RIVAL: 4, f"{RIVAL}+simplex": 1}, 1.0, "all of the win"),
        ({HERO: 4, f"{HERO}+none": 5, RIVAL: 1, f"{RIVAL}+simplex": 1}, None, "no win"),
    ],
)
def test_the_part_of_a_win_that_is_post_processing_is_said(
    errors: dict[str, float], share: float | None, said: str
) -> None:
    results = invented({key: float(error) for key, error in errors.items()})
    found = comparison.attributed(results, HERO, RIVAL)["share"].to_list()
    if share is None:
        assert np.isnan(found).all()
    else:
        assert found == pytest.approx([share])
    assert said in str(comparison.in_words(results, HERO, RIVAL))


def test_without_finishes_nothing_is_said_of_them() -> None:
    assert comparison.in_words(invented({HERO: 1.0, RIVAL: 2.0}), HERO, RIVAL) is None
