"""T1: the exact cost of every executed step on neighbouring tables is within its charge.

Deterministic: no statistics, only the laws that were asked for and what the events tell. Each
planted bug is seen, so the checker is known to have teeth.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from engine.accounting import Ledger
from engine.mechanisms import aim_grem, deciding, measuring
from tests.reference.odometer import Odometer, Scored
from tests.support import Tape, all_mechanisms, play, random_case

FAST, SLOW = 300, 1_000
SLOW_ONES = {"residual_planner_max"}
"""Asks a solver: hundreds of cases take too long."""


def neighbour_of(codes: np.ndarray, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """The table with one record added or removed."""
    if len(codes) and rng.random() < 0.5:
        return np.delete(codes, int(rng.integers(len(codes))), axis=0)
    record = [[int(rng.integers(n)) for n in sizes]]
    return np.concatenate([codes, record]).astype(np.int64)


def how_scored(mechanism: Any) -> Scored:
    """What the mechanism's selections go by."""
    if isinstance(mechanism, engine.MwemGrem):
        return "errors"
    if isinstance(mechanism, engine.AimGrem) and mechanism.in_loop:
        return "lowered" if mechanism.total == "lowered" else "completed"
    return "grem"


def violations(mechanism: Any, seed: int, *, attributes: int = 3) -> list[str]:
    """Run on a table, replay the transcript on a neighbour, and read the odometer."""
    rng = np.random.default_rng(seed)
    domain, codes, workload = random_case(rng, attributes=attributes)
    other = neighbour_of(codes, domain.sizes, rng)
    rho = Fraction(int(rng.integers(1, 300)), 100)
    tape = Tape(seed=seed)
    _, events, _ = play(
        mechanism, engine.Table.from_codes(codes, domain), workload, rho=rho, rng=tape
    )
    replay = tape.replay()
    neighbour = engine.Table.from_codes(other, domain)
    try:
        play(mechanism, neighbour, workload, rho=rho, rng=replay)
    except AssertionError:
        return ["the transcript does not fit a neighbour: a step depends on the records"]
    if len(replay.laws) != len(tape.laws):
        return ["the same transcript draws more or less on a neighbour"]
    how = how_scored(mechanism)
    odometer = Odometer(domain.sizes, dict(workload.weights), codes, other, rho, how)
    found = odometer.check(events, tape.laws, replay.laws)
    ledger_total = sum((c.rho for e in events for c in getattr(e, "charges", ())), Fraction(0))
    assert found or odometer.charged == ledger_total
    return found


def mechanism_for(number: int) -> Any:
    """AIM+GReM in all its kinds most of the time, the others now and then."""
    mechanisms = all_mechanisms()
    names = [n for n in mechanisms if n not in SLOW_ONES]
    return mechanisms[names[number % len(names)]]


@pytest.mark.parametrize("part", range(5))
def test_each_step_costs_no_more_than_its_charge_on_300_neighbouring_pairs(part: int) -> None:
    for number in range(part, FAST, 5):
        assert violations(mechanism_for(number), number) == [], number


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_each_step_costs_no_more_than_its_charge_on_1000_neighbouring_pairs(part: int) -> None:
    for number in range(part, SLOW, 4):
        found = violations(mechanism_for(number), 10_000 + number, attributes=4)
        assert found == [], number


def test_the_maximum_planner_s_steps_cost_no_more_than_their_charges() -> None:
    for number in range(5):
        assert violations(engine.ResidualPlanner(objective="max"), number) == [], number


# -- planted bugs ----------------------------------------------------------------------------------


def caught(mechanism: Any = None, cases: int = 40) -> set[str]:
    """What the odometer says over some cases."""
    chosen = mechanism or engine.AimGrem(completion="none")
    return {sentence for seed in range(cases) for sentence in violations(chosen, seed)}


def says(found: set[str], words: str) -> bool:
    """Whether one of the violations speaks of this."""
    return any(words in sentence for sentence in found)


class Uncharging(Ledger):
    """A ledger that forgets charges."""

    __slots__ = ()

    def charge(self, *charges: Any) -> Ledger:
        return Uncharging(self.total)


def test_halved_noise_variance_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Tape.gaussian
    monkeypatch.setattr(
        Tape, "gaussian", lambda self, shape, *, variance: draw(self, shape, variance=variance / 2)
    )
    for mechanism in (
        engine.AimGrem(completion="none"),
        engine.EqualSplit(),
        engine.ResidualPlanner(),
    ):
        assert says(caught(mechanism), "drew noise that costs")


def test_a_standard_deviation_five_percent_short_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Tape.gaussian
    monkeypatch.setattr(
        Tape,
        "gaussian",
        lambda self, shape, *, variance: draw(self, shape, variance=variance * 0.95**2),
    )
    assert says(caught(cases=5), "drew noise that costs")


def test_a_halved_claimed_variance_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = measuring.measure_residuals

    def claims(*args: Any, **kwargs: Any) -> Any:
        ledger, measured = measure(*args, **kwargs)
        return ledger, tuple(replace(m, precision=2 * m.precision) for m in measured)

    monkeypatch.setattr(measuring, "measure_residuals", claims)
    assert says(caught(cases=5), "claims noise that costs")


def test_residual_cost_charged_for_marginal_noise_of_another_size_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Claim p/(2 sigma²), add noise as if the whole marginal's 1/(2 sigma²) were allowed.
    measure = measuring.measure_residuals

    def cheap(private: Any, planned: Any, **kwargs: Any) -> Any:
        cheaper = [replace(a, rho=a.rho / 2) for a in planned]
        return measure(private, cheaper, **kwargs)

    monkeypatch.setattr(measuring, "measure_residuals", cheap)
    assert says(caught(cases=5), "claims noise that costs")


@pytest.mark.parametrize("factor", [2.0, 1.03])
def test_another_selection_epsilon_is_caught(
    monkeypatch: pytest.MonkeyPatch, factor: float
) -> None:
    choose = Tape.choose
    monkeypatch.setattr(Tape, "choose", lambda self, weights: choose(self, weights * factor))
    found = caught()
    assert says(found, "scores otherwise")
    assert says(found, "selecting in round") == (factor == 2.0)


def test_scores_normalised_by_the_number_of_records_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choose = Tape.choose
    monkeypatch.setattr(
        Tape, "choose", lambda self, w: choose(self, w / max(float(np.abs(w).max()), 1e-9))
    )
    assert says(caught(), "scores otherwise")


def test_an_uncharged_decision_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = deciding.measure_error

    def free(*args: Any, ledger: Any, **kwargs: Any) -> Any:
        return ledger, ask(*args, ledger=ledger, **kwargs)[1]

    monkeypatch.setattr(deciding, "measure_error", free)
    assert says(caught(engine.AimGrem(finish="auto"), cases=12), "no event tells of")


def test_a_decision_with_less_noise_than_charged_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Tape.gaussian

    def quiet(self: Any, shape: Any, *, variance: float) -> Any:
        return draw(self, shape, variance=variance / 4 if shape == () else variance)

    monkeypatch.setattr(Tape, "gaussian", quiet)
    assert says(caught(engine.AimGrem(finish="auto"), cases=12), "asking costs")


def test_scores_of_tables_that_are_not_completed_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(aim_grem, "SHRUNK_NOISE", 1.0)
    found = caught(engine.AimGrem(finish="rounds"), cases=5)
    assert says(found, "scores otherwise")


def test_an_uncharged_start_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = aim_grem.measure_marginal

    def free(private: Any, attrs: Any, *, rho: Any, ledger: Any, rng: Any) -> Any:
        _, measured = measure(private, attrs, rho=rho, ledger=ledger, rng=rng)
        return ledger, measured

    monkeypatch.setattr(aim_grem, "measure_marginal", free)
    assert says(caught(cases=5), "without a charge")


def test_an_uncharged_selection_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    select = aim_grem.select

    def free(log_weights: Any, closure: Any, *, ledger: Any, **options: Any) -> Any:
        _, gamma = select(log_weights, closure, ledger=ledger, **options)
        return ledger, gamma

    monkeypatch.setattr(aim_grem, "select", free)
    assert says(caught(cases=5), "selects without a charge")


def test_a_start_on_other_marginals_than_charged_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measure = aim_grem.measure_marginal

    def twice(private: Any, attrs: Any, *, rho: Any, ledger: Any, rng: Any) -> Any:
        measure(private, attrs, rho=rho, ledger=Ledger(rho), rng=rng)
        return measure(private, attrs, rho=rho, ledger=ledger, rng=rng)

    monkeypatch.setattr(aim_grem, "measure_marginal", twice)
    assert caught(cases=5)


def test_a_total_spent_twice_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    class Doubled(aim_grem.AimGrem):
        __slots__ = ()

        def start(self, private: Any, workload: Any, *, rho: Any, rng: Any) -> Any:
            return super().start(private, workload, rho=2 * rho, rng=rng)

    found = caught(Doubled(), cases=5)
    assert says(found, "the ledger holds")
    assert says(found, "the run cost")


def test_annealing_on_the_truth_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # The next round's budgets would then differ between neighbours with the same transcript.
    step = aim_grem.AimGrem.step

    def peeking(self: Any, state: Any, private: Any, rng: Any) -> Any:
        after, event = step(self, state, private, rng)
        if not after.finished and int(private.marginal(()).values) % 2:
            after = replace(after, rho_measure=after.rho_measure / 2)
        return after, event

    monkeypatch.setattr(aim_grem.AimGrem, "step", peeking)
    assert says(caught(cases=15), "depends on the records")
