"""The completed mechanism's transcript, replayed on neighbouring tables: nothing else leaks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from engine import compiling
from tests.support import Tape, play, random_case
from tests.test_odometer import neighbour_of


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    """Compiled throughout: from halfway on, sums would be rounded otherwise."""
    with compiling.free_work(0):
        yield


SLACK = 1 + 1e-8
"""Log weights are floating-point numbers; a ratio of two has their rounding."""


def transcripts(seed: int, **options: Any) -> tuple[Any, ...]:
    """A run on a table and its replay on a neighbour: states, events and laws of both."""
    rng = np.random.default_rng(seed)
    domain, codes, workload = random_case(rng, attributes=3)
    other = neighbour_of(codes, domain.sizes, rng)
    rho = Fraction(int(rng.integers(1, 300)), 100)
    mechanism = engine.AimGrem(completion="sparse", **options)
    tape = Tape(seed=seed)
    here = play(mechanism, engine.Table.from_codes(codes, domain), workload, rho=rho, rng=tape)
    replay = tape.replay()
    there = play(mechanism, engine.Table.from_codes(other, domain), workload, rho=rho, rng=replay)
    return here, there, tape.laws, replay.laws


@pytest.mark.parametrize("finish", ["plan", "auto", "rounds"])
def test_a_replay_on_a_neighbour_tells_the_same_and_costs_no_more_than_charged(finish: str) -> None:
    for seed in range(60):
        here, there, laws, other_laws = transcripts(seed, finish=finish)
        assert len(laws) == len(other_laws)
        for one, other in zip(here[0], there[0], strict=True):
            assert one.ledger == other.ledger
            assert (one.rho_measure, one.rho_select, one.last, one.whole) == (
                other.rho_measure, other.rho_select, other.last, other.whole,
            )  # fmt: skip
        selecting = iter([e.rho_select for e in here[1][1:-1] if e.selected is not None])
        for (kind, law), (other_kind, other_law) in zip(laws, other_laws, strict=True):
            assert kind == other_kind
            if kind == "gaussian":
                assert law == other_law
                continue
            moved = law - other_law
            assert float(np.ptp(moved)) ** 2 / 8 <= float(next(selecting)) * SLACK
        assert next(selecting, None) is None
        answers, others = here[2].estimates(), there[2].estimates()
        for one, other in zip(answers, others, strict=True):
            assert np.array_equal(one.values, other.values)
        assert getattr(here[1][0], "decision", None) == getattr(there[1][0], "decision", None)


def test_every_charge_is_within_the_budget_and_the_noise_is_what_is_charged() -> None:
    for seed in range(40):
        (_, events, release), _, laws, _ = transcripts(seed)
        assert release.ledger.spent <= release.ledger.total
        assert sum((c.rho for c in release.ledger.entries), Fraction(0)) == release.ledger.spent
        asked = [c for c in events[0].charges if c.what == "select"]
        scalars = [v for kind, law in laws if kind == "gaussian" for s, v in [law] if s == ()]
        for charge in asked:  # sensitivity 1: noise of variance 1 / (2 rho), or more
            assert any(v >= 1 / (2 * float(charge.rho)) * (1 - 1e-12) for v in scalars)


def test_tables_made_to_agree_are_the_same_on_a_neighbour() -> None:
    for seed in range(10):
        here, there, _, _ = transcripts(seed)
        for nonnegative in (False, True):
            answers = engine.consistent(here[2], nonnegative=nonnegative).estimates()
            others = engine.consistent(there[2], nonnegative=nonnegative).estimates()
            for one, other in zip(answers, others, strict=True):
                assert np.array_equal(one.values, other.values)


def test_the_price_of_asking_is_the_same_on_a_neighbour() -> None:
    asked = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        domain, codes, workload = random_case(rng, attributes=3)
        other = neighbour_of(codes, domain.sizes, rng)
        prices = []
        tape = Tape(seed=seed)
        for records, source in ((codes, tape), (other, None)):
            private = engine.Private(engine.Table.from_codes(records, domain))
            _, started = engine.AimGrem(finish="auto").start(
                private, workload, rho=Fraction(500), rng=source or tape.replay()
            )
            prices.append([c.rho for c in started.charges if c.what == "select"])
        assert prices[0] == prices[1]
        asked += len(prices[0])
    assert asked


def test_a_decision_follows_the_noisy_error_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.mechanisms import deciding

    domain = engine.Domain.from_sizes({"a": 3, "b": 2, "c": 4})
    codes = np.random.default_rng(0).integers(0, [3, 2, 4], (300, 3))
    private = engine.Private(engine.Table.from_codes(codes, domain))
    workload = engine.Workload.all_kway(domain, 3)
    for told, whole in ((1e9, True), (-1e9, False)):

        def measured(
            private: Any, error: int, *, ledger: Any, answer: float = told, **_: Any
        ) -> Any:
            return ledger, answer

        monkeypatch.setattr(deciding, "measure_error", measured)
        state, started = engine.AimGrem(finish="auto").start(
            private, workload, rho=Fraction(1), rng=engine.rehearsal_noise(0)
        )
        assert state.whole is whole, started.decision
