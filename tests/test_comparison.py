from __future__ import annotations

import copy
import math
import pickle
import warnings
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import engine
from engine.demonstrating import comparison
from engine.demonstrating.comparison import Setting, Trial

EPSILONS, SEEDS, DELTA = (0.5, 4.0), (0, 1, 2), 1e-6
NAMES = ("aim_grem", "residual_planner", "equal_split", "uniform", "product")


@pytest.fixture(scope="module")
def table() -> engine.Table:
    domain = engine.Domain.from_sizes({"a": 4, "b": 3, "c": 2})
    rng = np.random.default_rng(5)
    a = rng.integers(0, 4, 600)
    codes = np.stack([a, (a + rng.integers(0, 2, 600)) % 3, rng.integers(0, 2, 600)], axis=1)
    return engine.Table.from_codes(codes, domain)


@pytest.fixture(scope="module")
def workload(table: engine.Table) -> engine.Workload:
    return engine.Workload.all_kway(table.domain, 2)


def results(table: engine.Table, workload: engine.Workload, *names: str) -> Iterator[Trial]:
    return comparison.trials(
        engine.Private(table), workload, comparison.contenders(*names),
        epsilons=EPSILONS, delta=DELTA, seeds=SEEDS,
    )  # fmt: skip


@pytest.fixture(scope="module")
def rows(table: engine.Table, workload: engine.Workload) -> list[Trial]:
    return list(results(table, workload, *NAMES))


@cache
def alone(
    table: engine.Table, workload: engine.Workload, name: str, epsilon: float, seed: int
) -> engine.Evaluation:
    """The same trial by the engine's front door."""
    made = engine.run(
        comparison.CONTENDERS[name].mechanism, table, workload,
        epsilon=epsilon, delta=DELTA, seed=seed,
    )  # fmt: skip
    return engine.evaluate(made.release, table)


def test_every_trial_is_the_engine_s_own_run(
    rows: list[Trial], table: engine.Table, workload: engine.Workload
) -> None:
    for row in rows:
        if row.mechanism == "product":
            continue
        evaluated = alone(table, workload, row.mechanism, row.epsilon, row.seed)
        assert row.mean_l1 == evaluated.mean_l1
        assert row.mean_l2 == evaluated.mean_l2
        assert row.max_l1 == evaluated.max_l1
        assert row.one_way == evaluated.one_way
        assert row.ranges == evaluated.ranges
        assert row.share("mean_l1") == evaluated.mean_l1_normalized
        assert row.per_marginal == {a: e.l1 for a, e in evaluated.per_marginal.items()}


def test_bands_are_the_quantiles_of_the_engine_s_runs(
    rows: list[Trial], table: engine.Table, workload: engine.Workload
) -> None:
    bands = comparison.bands(rows)
    assert list(bands["mechanism"].unique()) == [n for n in comparison.CONTENDERS if n in NAMES]
    for row in bands.to_dict("records"):
        if row["mechanism"] == "product":
            continue
        errors = [
            alone(table, workload, row["mechanism"], row["epsilon"], s).mean_l1_normalized
            for s in SEEDS
        ]
        low, median, high = np.quantile(errors, [0.1, 0.5, 0.9])
        found = [row["low"], row["median"], row["high"]]
        assert found == pytest.approx([low, median, high], rel=1e-12)
        assert row["trials"] == len(SEEDS)


def test_all_see_the_first_seed_before_any_sees_the_second(rows: list[Trial]) -> None:
    assert [r.trial for r in rows] == sorted(r.trial for r in rows)
    once = len(NAMES) * len(EPSILONS)
    assert {(r.mechanism, r.epsilon) for r in rows[:once]} == {
        (n, e) for n in NAMES for e in EPSILONS
    }
    assert all(SEEDS[r.trial] == r.seed for r in rows)


def test_the_product_multiplies_the_measured_one_ways(table: engine.Table) -> None:
    ones = engine.Workload.all_kway(table.domain, 1)
    release = engine.run(engine.EqualSplit(), table, ones, rho=5.0, seed=3).release
    answer = comparison.product_of_one_ways(release, (0, 2))
    total = float(release.estimate().values)
    parts = [engine.simplex(release.estimate(i)).values for i in (0, 2)]
    expected = total * np.multiply.outer(parts[0] / parts[0].sum(), parts[1] / parts[1].sum())
    assert np.allclose(answer.values, expected, rtol=1e-12)
    assert answer.variance is None
    assert float(answer.values.min()) >= 0


def test_differences_are_taken_seed_by_seed(rows: list[Trial]) -> None:
    frame = comparison.paired(rows, "aim_grem", "equal_split")
    for row in frame.to_dict("records"):
        by = {
            (r.mechanism, r.trial): r.mean_l1 for r in rows if r.epsilon == row["epsilon"]
        }  # fmt: skip
        gaps = [by["aim_grem", k] / by["equal_split", k] - 1 for k in range(3)]
        assert row["difference"] == pytest.approx(np.mean(gaps))
        assert (row["least"], row["most"]) == pytest.approx((min(gaps), max(gaps)))
        # The t quantile for two degrees of freedom, from a table.
        half = 4.302653 * np.std(gaps, ddof=1) / math.sqrt(3)
        assert row["high"] - row["difference"] == pytest.approx(half, rel=1e-6)
        assert row["better"] == sum(g < 0 for g in gaps)


def test_stopping_between_trials_keeps_what_is_done(
    table: engine.Table, workload: engine.Workload
) -> None:
    kept = []
    for row in results(table, workload, *NAMES):
        kept.append(row)
        if len(kept) == 4:
            break
    assert [r.mechanism for r in kept] == [n for n in comparison.CONTENDERS if n in NAMES][:4]
    assert comparison.bands(kept)["trials"].max() == 1


def test_a_cancelled_trial_is_dropped_within_a_round(
    table: engine.Table, workload: engine.Workload
) -> None:
    asked = iter([False] * 12)
    got = list(
        comparison.trials(
            engine.Private(table), workload, comparison.contenders("aim_grem"), epsilons=EPSILONS,
            delta=DELTA, seeds=SEEDS, cancelled=lambda: next(asked, True),
        )
    )  # fmt: skip
    assert len(got) < len(EPSILONS) * len(SEEDS)
    whole = list(results(table, workload, "aim_grem"))
    # Loops are interpreted at first and compiled later: the same to rounding.
    expected = [r.mean_l1 for r in whole[: len(got)]]
    assert [r.mean_l1 for r in got] == pytest.approx(expected, rel=1e-9)


def test_trials_cannot_be_saved(rows: list[Trial]) -> None:
    with pytest.raises(TypeError, match="private"):
        pickle.dumps(rows[0])
    with pytest.raises(TypeError, match="private"):
        copy.copy(rows[0])
    assert "not for release" in repr(rows[0])
    assert f"{rows[0].mean_l1:.3}" not in repr(rows[0])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"epsilons": (0.0,)}, "E_EPSILON"),
        ({"delta": 2.0}, "E_DELTA"),
        ({"seeds": (-1,)}, "E_SEED"),
    ],
)
def test_what_is_no_setting_is_refused_before_any_trial(
    table: engine.Table, workload: engine.Workload, change: dict[str, object], code: str
) -> None:
    settings = {"epsilons": EPSILONS, "delta": DELTA, "seeds": SEEDS} | change
    with pytest.raises(engine.EngineError) as refused:
        engine.trials(table, workload, ["uniform"], **settings)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_trials_go_on_where_they_stopped(
    rows: list[Trial], table: engine.Table, workload: engine.Workload
) -> None:
    asked: dict[str, Any] = {"epsilons": EPSILONS, "delta": DELTA, "seeds": SEEDS}
    kept = list(rows[:4])
    rest = list(engine.trials(table, workload, list(NAMES), **asked, done=kept))
    assert [one.key for one in (*kept, *rest)] == [one.key for one in rows]
    assert [one.mean_l1 for one in rest] == pytest.approx([r.mean_l1 for r in rows[4:]], rel=1e-9)
    # What a frame on disk says is enough, too.
    known = comparison.frame(rows)[["mechanism", "epsilon", "seed"]].itertuples(index=False)
    assert list(engine.trials(table, workload, list(NAMES), **asked, done=known)) == []


def test_paired_trials_do_not_warn_of_their_seeds(
    table: engine.Table, workload: engine.Workload
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = list(engine.trials(table, workload, ["uniform", "equal_split"], seeds=[3]))
    assert [one.seed for one in made] == [3, 3]


def test_mechanisms_compete_under_names_of_their_own(
    table: engine.Table, workload: engine.Workload
) -> None:
    mine = {"split": engine.EqualSplit(), "rough": engine.Uniform()}
    made = list(engine.trials(table, workload, mine, seeds=[0]))
    assert list(comparison.bands(made)["name"]) == ["split", "rough"]
    assert made[0].work.residuals > made[1].work.residuals == 1


@pytest.mark.parametrize(
    "mechanisms", ["aim_grem", 3, [engine.AimGrem()], {"a": engine.AimGrem}, {"a": "aim_grem"}, []]
)
def test_what_cannot_compete_is_refused(
    mechanisms: Any, table: engine.Table, workload: engine.Workload
) -> None:
    with pytest.raises(engine.OptionError):
        engine.trials(table, workload, mechanisms)


@pytest.mark.parametrize("change", [{"seeds": 3}, {"epsilons": 1.0}])
def test_one_number_where_a_list_is_needed_is_refused(
    change: Any, table: engine.Table, workload: engine.Workload
) -> None:
    with pytest.raises(engine.OptionError, match="a list is needed"):
        engine.trials(table, workload, ["uniform"], **change)


def test_an_unknown_contender_is_refused() -> None:
    with pytest.raises(engine.OptionError, match="Choose some"):
        comparison.contenders("aim_pgm")
    with pytest.raises(engine.OptionError):
        comparison.contenders()


def trial(mechanism: str, error: float, *, epsilon: float = 1.0, number: int = 0) -> Trial:
    return Trial(mechanism, epsilon, number, number, error, error, error, 1, 0.1, 1, {(0,): error})


def test_words_say_where_it_wins_and_where_it_loses() -> None:
    rows = [
        trial("aim_grem", 1.0, epsilon=0.1), trial("residual_planner", 4.0, epsilon=0.1),
        trial("aim_grem", 1.5, epsilon=10), trial("residual_planner", 1.0, epsilon=10),
    ]  # fmt: skip
    (said,) = comparison.verdict(rows)
    assert "loses to ResidualPlanner at ε = 10 (error up to 1.5 times)" in said
    assert "beats it at ε = 0.1 (error down to 1/4)" in said


def test_words_say_so_first_if_it_is_under_a_baseline() -> None:
    rows = [trial("aim_grem", 2.0), trial("uniform", 1.0), trial("product", 2.01)]
    said = comparison.verdict(rows)
    assert said[0] == "AIM+GReM is under a baseline here: Uniform at ε = 1."
    assert "AIM+GReM and Product of 1-ways do equally well." in said
    assert comparison.verdict(rows[:1]) == []


def test_figure_four_is_relative_to_its_base(rows: list[Trial]) -> None:
    frame = comparison.relative(rows)
    base = frame[frame["mechanism"] == "residual_planner"]
    assert (base["error"] == 1).all()
    assert (base["time"] == 1).all()
    errors = comparison.bands(rows).set_index(["mechanism", "epsilon"])["median"]
    for row in frame.to_dict("records"):
        ratio = (
            errors[row["mechanism"], row["epsilon"]] / errors["residual_planner", row["epsilon"]]
        )
        assert row["error"] == pytest.approx(ratio)


def test_marginal_by_marginal_is_the_mean_over_trials(
    rows: list[Trial], table: engine.Table
) -> None:
    frame = comparison.by_marginal(rows, "aim_grem", "uniform", 4.0, table.domain)
    assert len(frame) == 3
    row = frame.iloc[0]
    attrs = table.domain.attrs(*row["label"].split(" × "))
    mine = [
        r.per_marginal[attrs] / r.records
        for r in rows
        if r.mechanism == "aim_grem" and r.epsilon == 4
    ]
    assert row["first"] == pytest.approx(np.mean(mine))
    assert (frame["difference"].abs().diff().dropna() <= 0).all()


def test_a_generator_of_trials_gives_what_a_list_of_them_gives(
    rows: list[Trial], table: engine.Table
) -> None:
    # by_marginal went through it twice: the second mechanism had no trials left.
    for make in (
        lambda results: comparison.by_marginal(results, "aim_grem", "uniform", 4.0, table.domain),
        lambda results: comparison.wins(results, "aim_grem"),
        lambda results: comparison.relative(results),
        lambda results: comparison.paired(results, "aim_grem", "uniform"),
        lambda results: comparison.bands(results),
    ):
        whole = make(rows)
        assert len(whole)
        assert make(row for row in rows).equals(whole)
    said = comparison.verdict(rows)
    assert comparison.verdict(row for row in rows) == said != []


def test_intervals_are_of_a_t_law() -> None:
    # Values 1, 2, 3 and the 97.5 % quantile of t with two degrees of freedom, 4.302652729911275.
    rows = [
        made
        for number, ratio in enumerate((2.0, 3.0, 4.0))
        for made in (
            trial("aim_grem", ratio, number=number), trial("uniform", 1.0, number=number)
        )
    ]  # fmt: skip
    (found,) = comparison.paired(rows, "aim_grem", "uniform").to_dict("records")
    assert found["difference"] == pytest.approx(2.0)
    assert found["high"] - 2.0 == pytest.approx(4.302652729911275 / 3**0.5)
    assert 2.0 - found["low"] == pytest.approx(4.302652729911275 / 3**0.5)


# -- two settings ----------------------------------------------------------------------------------


def test_a_path_ends_where_the_run_ends(table: engine.Table, workload: engine.Workload) -> None:
    private = engine.Private(table)
    rho = engine.rho_from(epsilon=2.0, delta=DELTA)
    points = list(
        comparison.path(
            engine.AimGrem(completion="none"), Setting(private, workload, Fraction(rho), {}),
            private, workload.marginals, seed=4,
        )
    )  # fmt: skip
    made = engine.run(
        engine.AimGrem(completion="none"), table, workload, epsilon=2.0, delta=DELTA, seed=4
    )
    assert points[-1].error == engine.evaluate(made.release, table).mean_l1_normalized
    assert points[-1].round == len(made.rounds)
    assert [p.spent for p in points] == sorted(p.spent for p in points)
    assert points[0].round == 0
    spent = comparison.spending(points[-1].release)
    measured = sum(c.rho for c in made.release.ledger.entries if c.what == "measure")
    assert sum(spent.values()) == pytest.approx(float(measured / made.release.ledger.total))


def test_merged_answers_are_judged_like_the_coarse_table(table: engine.Table) -> None:
    merged = {0: 2, 1: 2}
    coarse = comparison.merge_table(table, merged)
    assert coarse.domain.sizes == (2, 2, 2)
    assert coarse.domain["b"].labels[-1] == table.domain["b"].labels[-1]
    fine, less = engine.Private(table), engine.Private(coarse)
    for attrs in ((0,), (0, 1), (1, 2), (0, 1, 2)):
        values = comparison.merge_values(fine.marginal(attrs).values.astype(float), attrs, merged)
        assert np.array_equal(values, less.marginal(attrs).values)
    with pytest.raises(engine.OptionError):
        comparison.merge_table(table, {0: 0})


def test_ten_times_the_rows_are_ten_times_every_count(table: engine.Table) -> None:
    more = engine.Private(comparison.repeat_table(table, 10))
    once = engine.Private(table).marginal((0, 1, 2)).values
    assert np.array_equal(more.marginal((0, 1, 2)).values, 10 * once)


def test_a_comparison_stopped_early_has_every_picture(
    rows: list[Trial], table: engine.Table
) -> None:
    for upto in range(1, 8):
        few = rows[:upto]
        comparison.verdict(few)
        comparison.relative(few)
        comparison.wins(few, "aim_grem")
        comparison.paired(few, "aim_grem", "product")
        comparison.by_marginal(few, "aim_grem", "product", 4.0, table.domain)
    missing = comparison.by_marginal(rows[:1], "aim_grem", "uniform", 0.5, table.domain)
    assert not len(missing)
