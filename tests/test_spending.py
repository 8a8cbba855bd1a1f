"""What a table has spent in all, what a release may say, and what is left when a run fails."""

# Over 400 lines: one promise, followed through ledger, release, report and failure.

from __future__ import annotations

import copy
import json
import pickle
import re
import threading
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from engine.errors import RepeatedSeedWarning, RunInterruptedError
from engine.exact_noise import ExactNoise
from engine.exporting import bundle as export
from engine.exporting.report import promise, report
from engine.mechanisms import aim_grem, base, catalogue
from engine.noise import Receipt
from tests.support import Counting, make_domain, play


def table_of(sizes: tuple[int, ...] = (3, 4, 2), records: int = 200) -> engine.Table:
    codes = np.random.default_rng(1).integers(0, sizes, (records, len(sizes)))
    return engine.Table.from_codes(codes, make_domain(sizes))


PAPER = engine.AimGrem.paper()


def begun(table: engine.Table, rounds: int, *, rho: float = 0.1) -> tuple[Any, Any, Any]:
    """A handle on the table, the state after some rounds, and the source of noise."""
    private, rng = engine.Private(table), engine.rehearsal_noise(0)
    workload = engine.Workload.all_kway(table.domain, 2)
    stream = engine.rounds(PAPER, private, workload, rho=rho, rng=rng)
    state = None
    for _ in range(rounds + 1):
        state, _ = next(stream)
    return private, state, rng


def to_the_end(private: engine.Private, state: Any, rng: Any) -> Any:
    while not PAPER.done(state):
        state, _ = PAPER.step(state, private, rng)
    return state


# -- the odometer of a table -----------------------------------------------------------------------


def test_both_branches_of_a_fork_add_up_on_the_table() -> None:
    # Each ledger said 0.1, and together they had spent 0.192.
    table = table_of()
    private, state, rng = begun(table, 1)
    one, other = (to_the_end(private, state, copy.deepcopy(rng)).ledger for _ in range(2))
    together = one.spent + other.spent - state.ledger.spent
    assert together > Fraction(11, 10) * one.total
    assert table.odometer.reading().rho == together
    assert private.odometer.reading().runs == 1, "a fork is of the run it leaves"
    run = engine.run(engine.Uniform(), table, state.workload, rho=0.5, seed=3)
    assert table.odometer.reading().runs == 2
    assert table.odometer.reading().rho == together + run.release.ledger.spent


def test_a_state_that_was_saved_and_resumed_counts_too() -> None:
    private, state, rng = begun(table_of(), 1)
    before = private.odometer.reading()
    again = pickle.loads(pickle.dumps(state))
    after = to_the_end(private, again, rng)
    assert private.odometer.reading().rho == before.rho + after.ledger.spent - state.ledger.spent
    assert private.odometer.reading().runs == 1


def test_a_table_of_some_attributes_spends_on_the_same_odometer() -> None:
    table = table_of()
    part = table.select("a0", "a2")
    workload = engine.Workload.all_kway(part.domain, 1)
    engine.run(engine.Uniform(), part, workload, rho=0.5)
    assert table.odometer.reading().rho == Fraction(1, 2)


def test_what_a_ledger_refuses_is_not_counted() -> None:
    private, state, rng = begun(table_of(), 0)
    before = private.odometer.reading()
    short = replace(state, ledger=engine.Ledger(Fraction(1, 10**9)))
    with pytest.raises(engine.BudgetError):
        PAPER.step(short, private, rng)
    assert private.odometer.reading() == before


def test_a_release_says_what_it_cost_and_what_the_table_has_spent() -> None:
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 2)
    first = engine.run(PAPER, table, workload, rho=0.1).release
    second = engine.run(PAPER, engine.Private(table), workload, rho=0.2).release
    assert first.table is not None
    assert first.table.rho == first.ledger.spent
    assert first.table.runs == 1
    assert second.table is not None
    assert second.table.rho == first.ledger.spent + second.ledger.spent
    assert second.table.runs == 2
    assert engine.Release.from_dict(second.to_dict()).table == second.table
    text = export.readme(second)
    assert f"rho = {float(second.table.rho):.6g} in 2 runs" in text
    assert "in 2 runs" in report(second, [])


# -- what if ---------------------------------------------------------------------------------------


def test_a_budget_changed_after_the_fact_is_marked_and_not_exported() -> None:
    private, state, rng = begun(table_of(), 1)
    raised = to_the_end(private, PAPER.with_budget(state, rho=Fraction(9)), rng)
    release = PAPER.release(raised)
    assert release.ledger.what_if
    assert any("after the fact" in why for why in release.demonstration)
    for again in (
        pickle.loads(pickle.dumps(release)),
        engine.Release.from_dict(json.loads(json.dumps(release.to_dict()))),
    ):
        assert again.ledger.what_if
    with pytest.raises(engine.OptionError, match="what if") as caught:
        export.bundle(release, [])
    assert caught.value.code == "E_WHAT_IF"
    assert not PAPER.release(state).ledger.what_if
    assert not to_the_end(private, state, rng).ledger.what_if


# -- epsilon and the ledger ------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 3])
def test_a_promise_below_what_the_ledger_proves_is_refused(rows: int) -> None:
    # On rho = 0.01, "(0.001, 1e-9)-DP" was printed.
    domain = replace(make_domain((3, 2)), rows_per_person=rows)
    table = engine.Table.from_codes([[0, 1], [2, 0]], domain)
    workload = engine.Workload.all_kway(domain, 1)
    release = engine.run(engine.Uniform(), table, workload, rho=0.01).release
    proved = engine.epsilon_from(rho=0.01, delta=1e-9)
    for epsilon in (0.001, 0.999 * proved):
        with pytest.raises(engine.BudgetError, match="proves epsilon") as caught:
            release.promised(epsilon=epsilon, delta=1e-9)
        assert caught.value.code == "E_EPSILON"
        with pytest.raises(engine.BudgetError):
            replace(release, epsilon=epsilon, delta=1e-9)
        edited = release.to_dict() | {"epsilon": epsilon, "delta": 1e-9}
        with pytest.raises(engine.DataError, match="proves epsilon"):
            engine.Release.from_dict(edited)
    assert release.promised(epsilon=1.001 * proved, delta=1e-9).epsilon == 1.001 * proved


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 7.3, 50.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-3])
def test_the_promise_that_a_run_was_given_is_kept(epsilon: float, delta: float) -> None:
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 1)
    run = engine.run(engine.Uniform(), table, workload, epsilon=epsilon, delta=delta)
    assert (run.release.epsilon, run.release.delta) == (epsilon, delta)
    given = engine.run(engine.Uniform(), table, workload, rho=epsilon, delta=delta)
    assert given.release.epsilon is not None
    read = engine.Release.from_dict(run.release.to_dict())
    assert read.epsilon == epsilon


# -- the mark of a demonstration -------------------------------------------------------------------


def test_what_is_read_from_a_file_is_not_verified_and_its_mark_is_not_edited_away() -> None:
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 1)
    run = engine.run(engine.Uniform(), table, workload, epsilon=1.0, delta=1e-9, seed=0)
    content = run.release.to_dict()
    read = engine.Release.from_dict(content)
    assert any("as read from a file, not verified" in why for why in read.demonstration)
    assert "as read, not verified" in promise(read)
    assert "as read" not in promise(run.release)
    edited = engine.Release.from_dict(content | {"rehearsal": False, "demonstration": []})
    assert edited.demonstration
    assert "DEMONSTRATION" in repr(edited)
    assert "not verified" in export.readme(edited.promised(epsilon=1.0, delta=1e-9))


def test_a_release_made_by_hand_is_marked_whatever_its_arguments_say() -> None:
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 1)
    run = engine.run(engine.Uniform(), table, workload, rho=0.1)
    ledger = run.release.ledger
    by_hand = engine.Release(workload, run.release.beliefs, ledger, "Uniform()", False)
    assert by_hand.demonstration
    assert replace(run.release, rehearsal=False).demonstration
    for making in (Receipt, lambda: copy.copy(ExactNoise().receipt()).charges):
        with pytest.raises((TypeError, AttributeError)):
            making()
    assert pickle.loads(pickle.dumps(ExactNoise().receipt())) is None


def test_only_the_source_that_drew_exact_noise_lifts_the_mark() -> None:
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 1)
    rng = ExactNoise()
    _, _, release = play(PAPER, table, workload, rho=Fraction(1, 10), rng=rng)
    assert release.demonstration, "nobody has shown yet that it was drawn"
    assert release.drawn_exactly(rng.receipt()).demonstration == ()
    promised = release.drawn_exactly(rng.receipt()).promised(epsilon=5.0, delta=1e-9)
    assert promised.demonstration == ()
    # Another run's receipt, a rehearsal with one, a copy, a file: marked.
    with pytest.raises(engine.OptionError) as caught:
        release.drawn_exactly(ExactNoise().receipt())
    assert caught.value.code == "E_RECEIPT"
    with pytest.raises(engine.OptionError):
        replace(release, rehearsal=True).drawn_exactly(rng.receipt())
    assert pickle.loads(pickle.dumps(promised)).demonstration
    assert replace(promised, mechanism="another").demonstration
    assert engine.Release.from_dict(promised.to_dict()).demonstration


# -- seeds -----------------------------------------------------------------------------------------


def test_two_runs_with_one_seed_give_the_table_away_and_are_warned_of() -> None:
    table = table_of((3, 2), records=60_220)
    workload = engine.Workload.all_kway(table.domain, 1)
    planner = engine.ResidualPlanner()
    first = engine.run(planner, table, workload, rho=0.01, seed=0).release
    with pytest.warns(RepeatedSeedWarning, match="same seed"):
        second = engine.run(planner, table, workload, rho=0.04, seed=0).release
    # Twice the budget's root: half the noise. 2 y2 - y1 is the truth.
    total = 2 * float(second.estimate().values) - float(first.estimate().values)
    assert total == pytest.approx(60_220, abs=1e-6)
    assert any("same seed" in why for why in second.demonstration)
    assert not any("same seed" in why for why in first.demonstration)
    read = engine.Release.from_dict(second.to_dict())
    assert any("same seed" in why for why in read.demonstration)
    assert "same seed" in " ".join(export.readme(second).split())


def test_the_same_run_again_other_seeds_and_none_are_not_warned_of() -> None:
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedSeedWarning)
        for seed in (0, 0, 1, None, None):
            engine.run(engine.Uniform(), table, workload, rho=0.1, seed=seed)
        engine.run(engine.Uniform(), table, workload, rho=0.2, seed=2)
        engine.run(engine.Uniform(), table_of(), workload, rho=0.2, seed=0)
    with pytest.warns(RepeatedSeedWarning):
        engine.run(engine.EqualSplit(), engine.Private(table), workload, rho=0.1, seed=1)


def test_one_seed_round_by_round_is_warned_of_as_in_a_whole_run() -> None:
    # Only ``run`` looked; two budgets round by round with one seed gave the table away unwarned.
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 1)
    engine.run(engine.Uniform(), table, workload, rho=0.1, seed=5)
    with pytest.warns(RepeatedSeedWarning) as caught:
        next(engine.rounds(engine.Uniform(), table, workload, rho=0.2, seed=5))
    assert caught[0].filename == __file__
    # Going on with the seed that it began with draws the first noise again, for other answers.
    private = engine.Private(table_of())
    workload = engine.Workload.all_kway(private.domain, 2)
    state, _ = next(engine.rounds(PAPER, private, workload, rho=0.1, seed=6))
    with pytest.warns(RepeatedSeedWarning):
        next(engine.rounds(PAPER, private, workload, seed=6, state=state))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedSeedWarning)
        next(engine.rounds(PAPER, private, workload, seed=7, state=state))
        next(engine.rounds(PAPER, private, workload, seed=7, state=state))


def test_a_story_with_a_seed_used_before_is_warned_of_and_stamped() -> None:
    from engine.demonstrating.watching import tell

    private = engine.Private(table_of())
    workload = engine.Workload.all_kway(private.domain, 1)
    asked = {"table": private, "workload": workload, "delta": 1e-9, "seed": 0}
    first = tell(engine.ResidualPlanner(), epsilon=1.0, **asked).run.release
    with pytest.warns(RepeatedSeedWarning):
        second = tell(engine.ResidualPlanner(), epsilon=2.0, **asked).run.release
    assert not any("same seed" in why for why in first.demonstration)
    assert any("same seed" in why for why in second.demonstration)


# -- failures --------------------------------------------------------------------------------------


def test_a_run_that_fails_after_a_draw_gives_back_the_ledger_and_what_was_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The default failed for memory after two answers were drawn; no ledger came back.
    def no_memory(self: Any, state: Any, private: Any) -> int:
        raise MemoryError("42 GiB")

    monkeypatch.setattr(aim_grem.AimGrem, "_mean_error", no_memory)
    table = table_of(records=900)
    workload = engine.Workload.all_kway(table.domain, 2)
    with pytest.raises(RunInterruptedError, match="MemoryError") as caught:
        engine.run(engine.AimGrem(finish="auto"), table, workload, rho=100.0, seed=0)
    error = caught.value
    assert error.code == "E_INTERRUPTED"
    assert isinstance(error.__cause__, MemoryError)
    assert error.ledger.spent == table.odometer.reading().rho > 0
    assert {charge.what for charge in error.ledger.entries} == {"measure"}
    assert set(error.release.beliefs) == {(), (0,), (1,), (2,)}
    assert abs(float(error.release.estimate().values) - 900) < 100
    again = pickle.loads(pickle.dumps(error))
    assert again.ledger == error.ledger


def test_a_run_that_fails_in_a_round_keeps_what_that_round_had_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []

    def fails(self: Any, *arguments: Any) -> Any:
        made.append(arguments)
        if len(made) == 3:
            raise RuntimeError("lost")
        return measure(self, *arguments)

    measure = aim_grem.AimGrem._measure
    monkeypatch.setattr(aim_grem.AimGrem, "_measure", fails)
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 2)
    with pytest.raises(RunInterruptedError) as caught:
        engine.run(PAPER, table, workload, rho=1.0, seed=0)
    ledger, release = caught.value.ledger, caught.value.release
    # The third round had selected, and measured nothing yet.
    assert [charge.what for charge in ledger.entries].count("select") == 3
    assert ledger.spent == table.odometer.reading().rho == release.ledger.spent
    assert release.mechanism == PAPER.settings
    whole = engine.run(PAPER, table_of(), workload, rho=1.0, seed=0).at(2)
    assert release.beliefs.keys() == whole.beliefs.keys()
    for attrs in whole.beliefs:
        assert np.array_equal(release.beliefs[attrs].values, whole.beliefs[attrs].values)


class Failing(Counting):
    """Draws as a rehearsal does, until memory is short."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def _count(self) -> None:
        if self.draws == self.at:
            raise MemoryError("17 GiB")

    def gaussian(self, shape: tuple[int, ...], *, variance: float) -> Any:
        self._count()
        return super().gaussian(shape, variance=variance)

    def choose(self, log_weights: Any) -> int:
        self._count()
        return super().choose(log_weights)


@pytest.mark.parametrize("key", [e.key for e in catalogue.entries() if not e.extra])
def test_whatever_mechanism_fails_at_whatever_draw_its_ledger_and_answers_come_back(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = catalogue.find(key).make()

    def run(table: engine.Table, at: int) -> tuple[engine.Run, Failing]:
        source = Failing(at)
        monkeypatch.setattr(base, "rehearsal_noise", lambda _: source)
        workload = engine.Workload.all_kway(table.domain, 2)
        return engine.run(mechanism, table, workload, rho=0.3), source

    _, whole = run(table_of(), -1)
    for at in sorted({1, whole.draws // 2, whole.draws - 1} & set(range(1, whole.draws))):
        table = table_of()
        with pytest.raises(RunInterruptedError, match="MemoryError") as caught:
            run(table, at)
        ledger, release = caught.value.ledger, caught.value.release
        assert ledger.spent == table.odometer.reading().rho == release.ledger.spent > 0
        assert len(ledger.entries) >= at
        assert () in release.beliefs
        assert np.isfinite(release.estimate().values)
        assert release.table == table.odometer.reading()
    if whole.draws > 1:
        return
    # One draw, which may fail: it was charged, and nothing of it came.
    with pytest.raises(RunInterruptedError) as caught:
        run(table_of(), 0)
    assert caught.value.ledger.spent > 0
    assert not caught.value.release.beliefs


def test_a_run_that_fails_before_anything_is_drawn_fails_as_it_did() -> None:
    domain = make_domain((2, 2))
    other = engine.Workload.all_kway(make_domain((2, 3)), 1)
    with pytest.raises(engine.WorkloadError):
        engine.run(engine.Uniform(), engine.Table.from_codes([[0, 0]], domain), other, rho=1.0)


# -- two at once -----------------------------------------------------------------------------------


def released(events: list[Any]) -> list[Any]:
    return [
        [(m.attrs, m.values.tolist(), m.precision) for m in event.measurements]
        for event in events
        if not isinstance(event, engine.Finished)
    ]


@pytest.mark.parametrize("mechanism", [PAPER, engine.AimGrem(finish="rounds"), engine.MwemGrem()])
def test_two_runs_interleaved_on_one_handle_give_the_numbers_they_give_alone(
    mechanism: Any,
) -> None:
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 2)

    def stream(private: engine.Private, seed: int) -> Any:
        rng = engine.rehearsal_noise(seed)
        return engine.rounds(mechanism, private, workload, rho=1.0, rng=rng)

    alone = [[event for _, event in stream(engine.Private(table), seed)] for seed in (1, 2)]
    private = engine.Private(table)
    streams, together = [stream(private, seed) for seed in (1, 2)], [[], []]
    open_ones = [0, 1]
    while open_ones:
        for k in list(open_ones):
            found = next(streams[k], None)
            if found is None:
                open_ones.remove(k)
            else:
                together[k].append(found[1])
    assert [released(events) for events in together] == [released(events) for events in alone]


def test_sessions_in_threads_on_one_handle_give_the_numbers_they_give_alone() -> None:
    table = table_of((4, 3, 2, 2))
    workload = engine.Workload.all_kway(table.domain, 2)

    def whole(private: engine.Private, seed: int) -> Any:
        rng = engine.rehearsal_noise(seed)
        stream = engine.rounds(PAPER, private, workload, rho=1.0, rng=rng)
        return released([event for _, event in stream])

    alone = [whole(engine.Private(table), seed) for seed in range(4)]
    spent = table.odometer.reading()
    private, found = engine.Private(table), [None] * 4
    begin = threading.Barrier(4)

    def session(k: int) -> None:
        begin.wait()
        found[k] = whole(private, k)

    threads = [threading.Thread(target=session, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone
    # Eight runs of four different costs, each counted once, from whichever thread.
    assert table.odometer.reading().rho == 2 * spent.rho
    assert table.odometer.reading().runs == 8


def test_a_workspace_is_lent_to_one_at_a_time() -> None:
    private = engine.Private(table_of())
    memory = object()
    private.lend("key", memory)
    taken: list[object] = []
    begin = threading.Barrier(8)

    def take() -> None:
        begin.wait()
        found = private.borrow("key")
        if found is not None:
            taken.append(found)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken == [memory]


def test_the_seed_is_nowhere_in_a_release_though_the_table_remembers_it() -> None:
    table = table_of()
    workload = engine.Workload.all_kway(table.domain, 1)
    run = engine.run(engine.Uniform(), table, workload, rho=0.1, seed=918_273)
    assert not re.search("918.?273", json.dumps(run.release.to_dict()) + repr(table.odometer))
