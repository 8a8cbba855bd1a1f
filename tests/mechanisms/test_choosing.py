"""Which plan the default takes, what it says of it, and what the old default lost."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import engine
from engine.mechanisms import choosing
from engine.mechanisms.choosing import Shared
from tests.support import make_domain


def chain() -> engine.Table:
    """A geometric, two near copies of it, and two more attributes."""
    rng, n = np.random.default_rng(2), 5000
    a = np.minimum(rng.geometric(0.3, n) - 1, 9)
    b, c = (np.where(rng.random(n) < 0.01, rng.integers(0, 10, n), a) for _ in range(2))
    columns = [a, b, c, rng.integers(0, 4, n), rng.integers(0, 3, n)]
    return engine.Table.from_codes(np.stack(columns, axis=1), make_domain((10, 10, 10, 4, 3)))


def test_a_pair_of_weight_100_is_measured() -> None:
    # Its expected size counted as known precision: it got nothing, whatever its weight.
    table = chain()
    pairs = dict.fromkeys(engine.Workload.all_kway(table.domain, 2).marginals, 1.0)
    workload = engine.Workload({**pairs, (0, 1): 100.0}, table.domain)
    private = engine.Private(table)

    def mean_l1(finish: str) -> tuple[bool, float]:
        mechanism = engine.AimGrem(finish=finish)  # type: ignore[arg-type]
        release = engine.run(mechanism, private, workload, epsilon=0.1, delta=1e-9, seed=0).release
        off = release.estimate(0, 1).values - private.marginal((0, 1)).values
        return (0, 1) in release.beliefs, float(np.abs(off).sum()) / 5000

    measured, error = mean_l1("plan")
    assert measured
    before, old = mean_l1("auto")
    assert not before
    assert error < old / 2


def test_a_table_with_more_cells_than_records_is_measured_where_it_helps() -> None:
    rng = np.random.default_rng(3)
    a = np.clip(rng.normal(150, 50, 5000), 0, 299).astype(int)
    b = np.clip(a + rng.normal(0, 5, 5000), 0, 299).astype(int)
    table = engine.Table.from_codes(np.stack([a, b], axis=1), make_domain((300, 300)))
    workload = engine.Workload([(0, 1)], table.domain)
    release = engine.run(engine.AimGrem(), table, workload, epsilon=10, delta=1e-9, seed=0).release
    assert (0, 1) in release.beliefs
    off = release.estimate(0, 1).values - engine.Private(table).marginal((0, 1)).values
    assert np.abs(off).sum() / 5000 < 1.6  # rounds leave 1.82


def test_choosing_costs_nothing_and_steps_spend_everything() -> None:
    table = chain()
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.AimGrem(), table, workload, epsilon=1, delta=1e-9, seed=0)
    started = run.events[0]
    assert isinstance(started, engine.Started)
    assert {(c.what, len(c.attrs or ())) for c in started.charges} == {("measure", 1)}
    assert started.decision is not None
    assert started.decision.startswith("By size, in 4 steps. ")
    assert started.max_rounds == len(run.rounds) == len(choosing.PARTS)
    assert [r.last for r in run.rounds] == [False, False, False, True]
    assert {r.selected for r in run.rounds} == {None}
    assert {c.what for r in run.rounds for c in r.charges} == {"measure"}
    ledger = run.release.ledger
    assert ledger.total * Fraction(999_999, 1_000_000) < ledger.spent <= ledger.total


def test_each_step_has_the_budget_its_state_told() -> None:
    table = chain()
    workload = engine.Workload.all_kway(table.domain, 2)
    mechanism, private, rng = engine.AimGrem(), engine.Private(table), engine.rehearsal_noise(0)
    state, _ = mechanism.start(private, workload, rho=Fraction(1), rng=rng)
    assert state.rho_measure == state.ledger.left / 10
    more = mechanism.with_budget(state, rho=Fraction(2))
    assert more.rho_measure == more.ledger.left / 10
    for first in (state, more):
        told = first
        while not mechanism.done(told):
            after, event = mechanism.step(told, private, rng)
            assert event.rho_measure == told.rho_measure
            assert event.rho_spent - told.ledger.spent <= told.rho_measure
            told = after
        assert told.ledger.left < told.ledger.total / 10**6


def test_where_forecasts_would_take_long_there_are_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "MOST_RESIDUALS", 5)
    table = chain()
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.AimGrem(), table, workload, epsilon=1, delta=1e-9, seed=0)
    decision = run.events[0].decision  # type: ignore[union-attr]
    assert decision == "Rounds. The workload has 16 residuals; plans are compared up to 5."
    assert any(r.selected for r in run.rounds)


def test_many_residuals_under_noise_are_left_to_rounds() -> None:
    domain = make_domain([2] * 16)
    rng = np.random.default_rng(0)
    codes = (rng.random((4000, 16)) < 0.3).astype(np.int64)
    workload = engine.Workload.all_kway(domain, 3)
    table = engine.Table.from_codes(codes, domain)
    private, taken = engine.Private(table), {}
    for rho in (Fraction(1, 50_000), Fraction(2)):
        state, event = engine.AimGrem().start(
            private, workload, rho=rho, rng=engine.rehearsal_noise(0)
        )
        taken[rho] = (event.decision or "").split(".")[0].split(",")[0], state.whole
    assert [*taken.values()] == [("Rounds", False), ("By size", True)]


def test_forecasts_of_plans_are_in_order_and_tell_what_more_budget_brings() -> None:
    table = chain()
    workload = engine.Workload.all_kway(table.domain, 3)
    state, _ = engine.AimGrem().start(
        engine.Private(table), workload, rho=Fraction(1, 10), rng=engine.rehearsal_noise(0)
    )
    shared = Shared(workload, state.beliefs)
    seen, more = shared.outlook(state.ledger.left), shared.outlook(10 * state.ledger.left)
    assert seen.by_size <= seen.pairs * 1.01 <= seen.ones * 1.02 <= seen.now * 1.03
    assert more.by_size < seen.by_size
    assert replace(more, exact_ones=0.0).now == seen.now
