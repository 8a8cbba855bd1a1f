"""Working memory lent between steps: to one run at a time, and for its own beliefs only."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import engine
from engine.accounting import Charge, Ledger
from engine.mechanisms.rescoring import CompletedCandidates
from engine.selection import Candidates, borrow_candidates, lend_candidates
from tests.support import make_domain

KINDS = [Candidates, CompletedCandidates]


def private_of() -> tuple[engine.Private, engine.Workload]:
    domain = make_domain([3, 2, 2])
    codes = np.random.default_rng(0).integers(0, [3, 2, 2], (70, 3))
    return engine.Private(engine.Table.from_codes(codes, domain)), engine.Workload.all_kway(
        domain, 2
    )


def test_what_is_lent_out_is_taken_out() -> None:
    private, _ = private_of()
    private.lend("key", [1])
    assert private.borrow("key") == [1]
    assert private.borrow("key") is None, "two runs hold one workspace"


@pytest.mark.parametrize("kind", KINDS)
def test_two_runs_at_one_point_get_a_workspace_each(kind: type) -> None:
    private, workload = private_of()
    beliefs = engine.run(engine.Uniform(), private, workload, rho=1, seed=0).release.beliefs
    lend_candidates(private, kind(private, workload, beliefs))

    def build() -> object:
        return kind(private, workload, beliefs)

    one = borrow_candidates(private, beliefs, kind, build)
    other = borrow_candidates(private, beliefs, kind, build)
    assert one is not other


@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_lent_for_the_beliefs_they_stand_at_alone(kind: type) -> None:
    private, workload = private_of()
    first = engine.run(engine.Uniform(), private, workload, rho=1, seed=0).release.beliefs
    second = engine.run(engine.Uniform(), private, workload, rho=1, seed=1).release.beliefs
    lend_candidates(private, kind(private, workload, first))
    found = borrow_candidates(private, second, kind, lambda: kind(private, workload, second))
    assert found.beliefs is second
    assert np.array_equal(found.l1, kind(private, workload, second).l1)


@pytest.mark.parametrize("finish", ["auto", "rounds"])
def test_interleaved_forks_do_not_disturb_each_other(finish: str) -> None:
    private, workload = private_of()
    mechanism = engine.AimGrem(finish=finish)  # type: ignore[arg-type]
    start, _ = mechanism.start(
        private, workload, rho=Fraction(1, 20), rng=engine.rehearsal_noise(0)
    )
    alone = []
    for seed in (1, 2):
        state, rng = start, engine.rehearsal_noise(seed)
        fresh = engine.Private(private._source)
        while not mechanism.done(state):
            state, _ = mechanism.step(state, fresh, rng)
        alone.append(state)
    states = [start, start]
    sources = [engine.rehearsal_noise(1), engine.rehearsal_noise(2)]
    while not all(map(mechanism.done, states)):
        for k in (0, 1):
            if not mechanism.done(states[k]):
                states[k], _ = mechanism.step(states[k], private, sources[k])
    for found, expected in zip(states, alone, strict=True):
        assert found.ledger == expected.ledger
        for tau, belief in expected.beliefs.items():
            assert np.array_equal(found.beliefs[tau].values, belief.values)


def test_two_forks_of_a_ledger_hold_their_own_entries() -> None:
    trunk = Ledger(Fraction(1)).charge(Charge("measure", (0,), Fraction(1, 8)))
    one = trunk.charge(Charge("measure", (1,), Fraction(1, 8)))
    other = trunk.charge(Charge("select", None, Fraction(1, 4)))
    assert [c.attrs for c in one.entries] == [(0,), (1,)]
    assert [c.attrs for c in other.entries] == [(0,), None]
    assert [c.attrs for c in trunk.entries] == [(0,)]
    assert (one.spent, other.spent) == (Fraction(1, 4), Fraction(3, 8))
