"""Whole runs: budgets kept in 1,000 random configurations, and runs that repeat."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from tests.support import Counting, all_mechanisms, make_domain, play, random_case

CONFIGURATIONS = 1_000
LEFT_OVER = Fraction(1, 1000)
"""Share of rho that may stay unspent where nothing is left to gain (check 4)."""
PLAN_MAX_EVERY = 10
"""The maximum-variance planner asks a solver: every tenth of its turns is enough."""


def spends_all(name: str) -> bool:
    """Whether a mechanism's rules leave nothing unspent."""
    return name not in ("aim_grem_paper", "sequence_crp", "sequence full crp")


def configuration(number: int) -> tuple[str, Any, engine.Table, engine.Workload, Fraction]:
    """Mechanism x workload x rho x data, all small."""
    rng = np.random.default_rng(number)
    mechanisms = all_mechanisms()
    names = list(mechanisms)
    name = names[number % len(names)]
    if name == "residual_planner_max" and number // len(names) % PLAN_MAX_EVERY:
        name = "aim_grem_plain"
    domain, codes, workload = random_case(rng)
    rho = [
        Fraction(float(10 ** rng.uniform(-6, 2))),
        Fraction(int(rng.integers(1, 1000)), int(rng.integers(1, 1000))),
    ][number % 2]
    return name, mechanisms[name], engine.Table.from_codes(codes, domain), workload, rho


@pytest.mark.parametrize("part", range(10))
def test_the_ledger_of_every_run_adds_up_to_rho_and_never_more(part: int) -> None:
    for number in range(part, CONFIGURATIONS, 10):
        name, mechanism, table, workload, rho = configuration(number)
        run = engine.run(mechanism, table, workload, rho=rho, seed=number)
        ledger = run.release.ledger
        assert ledger.total == rho
        assert all(isinstance(c.rho, Fraction) for c in ledger.entries)
        assert all(c.rho >= 0 for c in ledger.entries)
        spent = sum((c.rho for c in ledger.entries), Fraction(0))
        assert spent == ledger.spent == run.events[-1].rho_spent
        assert spent <= rho
        if spends_all(name):
            assert spent >= (1 - LEFT_OVER) * rho, (number, name)


def test_epsilon_and_delta_become_rho_and_are_kept_as_the_promise(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(
        engine.AimGrem(completion="none"), table, workload, epsilon=1, delta=1e-9, seed=0
    )
    rho = engine.rho_from(epsilon=1.0, delta=1e-9)
    assert run.release.ledger.total == Fraction(rho)
    assert (run.release.epsilon, run.release.delta) == (1.0, 1e-9)
    spent = run.release.ledger.spent
    assert engine.epsilon_from(rho=spent, delta=1e-9) <= 1 + 1e-12
    by_rho = engine.run(
        engine.AimGrem(completion="none"), table, workload, rho=rho, delta=1e-9, seed=0
    )
    assert by_rho.release.epsilon >= 1.0 - 1e-12
    assert by_rho.release.epsilon == pytest.approx(1.0, rel=1e-12)
    plain = engine.run(engine.AimGrem(completion="none"), table, workload, rho=rho, seed=0)
    assert plain.release.epsilon is None
    assert plain.release.beliefs.keys() == run.release.beliefs.keys()


def alone(release: engine.Release) -> dict[str, Any]:
    """A release without what its table has spent in all runs, which grows with each."""
    return {name: value for name, value in release.to_dict().items() if name != "table"}


@pytest.mark.parametrize("name", list(all_mechanisms()))
def test_the_same_seed_repeats_a_run_and_no_seed_does_not(name: str, table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    one, two, other = (
        alone(engine.run(all_mechanisms()[name], table, workload, rho=1, seed=s).release)
        for s in (0, 0, None)
    )
    assert one == two
    assert one != other


def test_counts_kept_by_private_change_no_run(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    private = engine.Private(table)
    for mechanism in all_mechanisms().values():
        kept = engine.run(mechanism, private, workload, rho=1, seed=0)
        fresh = engine.run(mechanism, table, workload, rho=1, seed=0)
        assert alone(kept.release) == alone(fresh.release)


def test_progress_grows_to_the_share_spent(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    seen: list[tuple[float, engine.Event]] = []
    run = engine.run(
        engine.AimGrem(completion="none"),
        table,
        workload,
        rho=1,
        seed=0,
        progress=lambda share, event: seen.append((share, event)),
    )
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0, abs=1e-9)
    assert tuple(event for _, event in seen) == run.events


def test_a_cancelled_run_has_spent_only_what_its_events_say(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 3)
    rng = Counting()
    loop = engine.rounds(
        engine.AimGrem(completion="none"), engine.Private(table), workload, rho=Fraction(1), rng=rng
    )
    events = [next(loop)[1] for _ in range(2)]
    state, event = next(loop)
    loop.close()
    events.append(event)
    charges = [c for e in events for c in e.charges]
    assert state.ledger.spent == sum(c.rho for c in charges)
    # One draw a charge: nothing was drawn that is not charged.
    assert rng.draws == len(charges)


@pytest.mark.parametrize("name", list(all_mechanisms()))
def test_every_draw_is_charged_and_every_charge_drawn(name: str, table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 3)
    rng = Counting()
    _, _, release = play(all_mechanisms()[name], table, workload, rho=1, rng=rng)
    assert rng.draws == len(release.ledger.entries)


def test_estimates_approach_the_truth_as_rho_grows() -> None:
    domain = make_domain([3, 1, 4])
    codes = [[k % 3, 0, (k // 2) % 4] for k in range(40)]
    table = engine.Table.from_codes(codes, domain)
    workload = engine.Workload.all_kway(domain, 3)
    for name, mechanism in all_mechanisms().items():
        if name == "uniform":
            continue
        release = engine.run(mechanism, table, workload, rho=1e6, seed=0).release
        found = engine.evaluate(release, table)
        # Everything measured at rho = 1e6: noise of a thousandth of a record or so.
        assert found.max_l1 < 0.5 * 12, name


def test_a_run_shows_no_count_in_its_representation(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.AimGrem(completion="none"), table, workload, rho=1, seed=0)
    for value in (run, run.release, run.release.beliefs, run.release.estimate("age")):
        assert "31" not in repr(value)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_person_with_k_rows_costs_k_squared(rows: int) -> None:
    declared = engine.Domain.from_sizes({"a": 3, "b": 2})
    domain = engine.Domain(declared.attributes, rows_per_person=rows)
    table = engine.Table.from_codes([[0, 1], [2, 0], [1, 1]], domain)
    workload = engine.Workload.all_kway(domain, 2)
    run = engine.run(
        engine.AimGrem(completion="none"), table, workload, epsilon=1.0, delta=1e-9, seed=0
    )
    rho = Fraction(engine.rho_from(epsilon=1.0, delta=1e-9))
    assert run.release.ledger.total * rows**2 == rho
    assert run.release.rho_of_a_person == run.release.ledger.spent * rows**2 <= rho
    # Three rows a person: three times the noise.
    first = run.events[0].measurements[0]
    plain = engine.Workload.all_kway(declared, 2)
    same = engine.Table.from_codes([[0, 1], [2, 0], [1, 1]], declared)
    other = engine.run(
        engine.AimGrem(completion="none"), same, plain, epsilon=1.0, delta=1e-9, seed=0
    )
    assert other.events[0].measurements[0].variance * rows**2 == pytest.approx(first.variance)


def test_a_run_is_its_start_its_rounds_and_its_end_and_nothing_less(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.AimGrem.paper(), table, workload, rho=1, seed=0)
    assert run.events == (run.started, *run.rounds, run.finished)
    assert engine.Run.of(run.events, run.release) == run
    for part in ((), run.events[1:], run.events[:-1], (*run.events, run.finished), run.rounds):
        with pytest.raises(engine.OptionError, match="not a whole run"):
            engine.Run.of(part, run.release)


def test_the_next_round_is_one_thing_at_a_time(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    private = engine.Private(table)
    for mechanism in (engine.AimGrem(), engine.AimGrem.paper()):
        rng = engine.rehearsal_noise(0)
        states = [s for s, _ in engine.rounds(mechanism, private, workload, rho=1, rng=rng)]
        assert [s.phase for s in states[-2:]] == ["finished", "finished"]
        assert states[-3].phase in ("last", "whole")
        assert len({s.phase for s in states[:-3]} | {"rounds"}) <= 2
        assert {s.phase for s in states[:-3]} <= {"rounds", "step"}
        for state in states:
            assert engine.selects(mechanism, state) == (state.phase in ("rounds", "last"))
