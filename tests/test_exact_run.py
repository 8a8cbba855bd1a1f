"""Whole runs with exact noise: what each step costs (T1), its law (T2), non-interference (T8)."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from engine import exact_draws, exact_noise, measure, tables
from engine.accounting import Ledger
from engine.exact_noise import ExactNoise
from engine.mechanisms import aim_grem
from engine.trace import event_to_dict
from tests.exact_tape import ExactTape, log_ratio, odometer
from tests.support import all_mechanisms, make_domain, play, random_case
from tests.test_odometer import neighbour_of

MECHANISMS: dict[str, Any] = {
    "completed": engine.AimGrem(),
    "rounds, completed": engine.AimGrem(finish="rounds"),
    "mwem": engine.MwemGrem(rounds=3),
    **{k: m for k, m in all_mechanisms().items() if k != "residual planner max"},
}
RANDOM = [Fraction(1, 7), Fraction(1), Fraction(30)]


def both(mechanism: Any, seed: int) -> tuple[ExactTape, ExactTape, list[Any], engine.Release]:
    """A run, and the same transcript on a neighbouring table."""
    rng = np.random.default_rng(seed)
    domain, codes, workload = random_case(rng, attributes=3)
    other = neighbour_of(codes, domain.sizes, rng)
    rho = RANDOM[seed % len(RANDOM)]
    tape = ExactTape()
    _, events, release = play(
        mechanism, engine.Table.from_codes(codes, domain), workload, rho=rho, rng=tape
    )
    replay = tape.replay()
    play(mechanism, engine.Table.from_codes(other, domain), workload, rho=rho, rng=replay)
    return tape, replay, events, release


def overspent(mechanism: Any, seed: int) -> list[str]:
    """Steps that cost more than they were charged; and whether the ledger holds the charges."""
    tape, replay, _, release = both(mechanism, seed)
    steps = list(odometer(tape, replay))
    found = [f"{float(cost):.6g} > {float(paid):.6g}" for cost, paid in steps if cost > paid]
    if sum((paid for _, paid in steps), Fraction(0)) != release.ledger.spent:
        found.append("paid otherwise than the ledger says")
    if release.ledger.spent > release.ledger.total:
        found.append("more than the total")
    return found


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_each_exact_step_costs_no_more_than_its_charge(name: str) -> None:
    for seed in range(6):
        assert overspent(MECHANISMS[name], seed) == [], seed


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MECHANISMS))
def test_each_exact_step_of_a_hundred_runs_costs_no_more_than_its_charge(name: str) -> None:
    for seed in range(100, 200):
        assert overspent(MECHANISMS[name], seed) == [], seed


# -- planted faults: each is caught by the odometer, or refused by the source ----------------------


def caught(mechanism: Any, cases: int = 8) -> bool:
    """Whether the odometer finds something in some cases, or the ledger's refusal ends one."""
    return any(overspent(mechanism, seed) for seed in range(cases))


def test_an_exact_step_that_charges_half_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    charge = exact_noise.charged

    def half(ledger: Ledger, rng: Any, *charges: engine.Charge) -> Ledger:
        return charge(ledger, rng, *(engine.Charge(c.what, c.attrs, c.rho / 2) for c in charges))

    monkeypatch.setattr(tables, "charged", half)
    with pytest.raises(engine.BudgetError, match="Charge before drawing"):
        caught(engine.ResidualPlanner())


def test_residual_noise_on_cells_at_the_residual_s_price_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def shortcut(exact: Any, tau: Any, precision: float, rng: Any) -> Any:
        # It says a sensitivity that it does not have.
        noisy = rng.noisy(exact, variance=1 / Fraction(precision), sensitivity=0)
        return engine.Measurement(tau, engine.axes.sub_all(noisy.astype(float)), precision)

    monkeypatch.setattr(measure, "_measure_exactly", shortcut)
    assert caught(engine.ResidualPlanner())


def test_an_exact_choice_at_twice_its_epsilon_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    of = exact_noise.GridScores.of
    monkeypatch.setattr(
        exact_noise.GridScores, "of", classmethod(lambda _, w, epsilon: of(2 * w, epsilon))
    )
    assert caught(engine.AimGrem(completion="none"), cases=20)


def test_an_exact_choice_that_is_not_charged_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def free(log_weights: Any, closure: Any, *, ledger: Any, rng: Any, **_: Any) -> Any:
        scores = exact_noise.GridScores.of(log_weights, Fraction(1))
        return ledger, closure[1 + rng.choose_exactly(scores)]

    monkeypatch.setattr(aim_grem, "select", free)
    with pytest.raises(engine.BudgetError, match="Charge before drawing"):
        caught(engine.AimGrem(completion="none"))


# -- T2: the change of measure ---------------------------------------------------------------------


class Quartered(ExactTape):
    """Draws noise of a quarter of the variance that it says."""

    def noisy(self, exact: np.ndarray, *, variance: Fraction, sensitivity: int) -> Any:
        drawn = super().noisy(exact, variance=variance, sensitivity=sensitivity)
        if self._source is None:
            noise = exact_draws.discrete_gaussian(exact.size, variance=variance / 4)
            drawn = self.results[-1] = exact + noise.reshape(exact.shape)
        return drawn


def change_of_measure(kind: type[ExactTape], runs: int, *, added: bool = False) -> np.ndarray:
    """L, the log ratio of the claimed laws, of many runs: exp(-L) has mean 1 if they are true.

    Runs on a table, and the laws that the same run has on one with a record less, or more.
    """
    domain = make_domain([2, 3])
    codes = [[k % 2, k % 3] for k in range(11)]
    other = codes[1:]
    if added:
        codes, other = other, codes
    workload = engine.Workload.all_kway(domain, 2)
    mechanism = engine.AimGrem(finish="rounds")
    found = []
    for _ in range(runs):
        tape = kind()
        table = engine.Table.from_codes(codes, domain)
        play(mechanism, table, workload, rho=Fraction(1, 2), rng=tape)
        replay = tape.replay()
        neighbour = engine.Table.from_codes(other, domain)
        play(mechanism, neighbour, workload, rho=Fraction(1, 2), rng=replay)
        found.append(log_ratio(tape, replay))
    return np.array(found)


def z_of_one(log_ratios: np.ndarray) -> float:
    """How many standard errors the mean of exp(-L) is from 1."""
    values = np.exp(-log_ratios)
    return float((values.mean() - 1) / (values.std(ddof=1) / np.sqrt(len(values))))


@pytest.mark.slow
def test_exact_runs_draw_from_the_laws_that_they_claim() -> None:
    rho = 0.5
    for added in (False, True):
        ratios = change_of_measure(ExactTape, 1_000, added=added)
        assert abs(z_of_one(ratios)) < 5.3  # two-sided 1e-7
        assert ratios.mean() <= rho + 5.3 * ratios.std() / np.sqrt(len(ratios))
        # What is drawn but not charged shows here alone: the laws are then as they are recorded.
        squares = (ratios - ratios.mean()) ** 2
        assert squares.mean() <= 2 * rho + 5.3 * squares.std() / np.sqrt(len(ratios))
    # About 16 standard errors off: 10 beyond the bar.
    assert abs(z_of_one(change_of_measure(Quartered, 400))) > 5.3


# -- T8: non-interference --------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_the_same_exact_transcript_gives_the_same_bytes_whatever_the_records(name: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        domain, codes, workload = random_case(rng)
        unrelated = np.stack([rng.integers(0, n, size=57) for n in domain.sizes], axis=1)
        tape, outcomes = ExactTape(), []
        for records, source in ((codes, tape), (unrelated, None)):
            table = engine.Table.from_codes(records, domain)
            _, events, release = play(
                MECHANISMS[name], table, workload, rho=Fraction(1, 3), rng=source or tape.replay()
            )
            outcomes.append(json.dumps([release.to_dict(), [event_to_dict(e) for e in events]]))
        assert outcomes[0] == outcomes[1]


def test_a_mechanism_s_own_noise_and_choices_are_all_exact() -> None:
    domain, codes, workload = random_case(np.random.default_rng(1), attributes=3)
    table = engine.Table.from_codes(codes, domain)
    for mechanism in MECHANISMS.values():
        rng = ExactNoise()
        _, _, release = play(mechanism, table, workload, rho=Fraction(1, 3), rng=rng)
        assert not release.rehearsal
        # What the rounding of epsilon left, and no more.
        assert 0 <= rng._unspent <= Fraction(1, 10**12)
