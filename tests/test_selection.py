"""The exponential mechanism: scores, their sensitivity, and cached errors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import engine
from engine import grem
from engine.mechanisms.rescoring import CompletedCandidates
from engine.noise import probabilities
from engine.selection import (
    Budgets,
    Candidates,
    Rescored,
    noise_std,
    score,
    select,
    selection_epsilon,
)
from tests.reference import dense
from tests.support import Counting, make_domain, random_case, random_codes


def random_beliefs(rng: np.random.Generator, workload: engine.Workload) -> engine.Beliefs:
    """Noisy residuals of some of the closure."""
    sizes = workload.domain.sizes
    taken = [
        engine.Measurement(
            t, rng.normal(size=[sizes[i] - 1 for i in t]) * 10, float(rng.uniform(0.1, 2))
        )
        for t in workload.closure
        if all(sizes[i] > 1 for i in t) and rng.random() < 0.6
    ]
    return engine.Beliefs().combined(taken)


@pytest.mark.parametrize("seed", range(30))
def test_a_score_is_the_weighted_error_less_the_expected_noise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain, codes, workload = random_case(rng)
    if workload.closure == ((),):
        return
    beliefs = random_beliefs(rng, workload)
    private = engine.Private(engine.Table.from_codes(codes, domain))
    rho_m, rho_s = Fraction(1, 7), Fraction(1, 31)
    found = score(Candidates(private, workload, beliefs), Budgets(rho_m, rho_s))
    assert found.sets == tuple(g for g in workload.closure if g)
    weights = {
        g: sum(c * len(set(g) & set(s)) for s, c in workload.weights.items()) for g in found.sets
    }
    sigma, epsilon = math.sqrt(7 / 2), math.sqrt(8 / 31)
    for k, gamma in enumerate(found.sets):
        exact = dense.counts(codes, domain.sizes, gamma)
        error = np.abs(exact - grem.marginal(beliefs, domain, gamma)).sum()
        noise = math.sqrt(2 / math.pi) * sigma * domain.cells(gamma)
        # On a grid of 2^-30 records a cell; the sensitivity holds what rounding may add (2e-9).
        assert found.error_term[k] == pytest.approx(weights[gamma] * error, rel=1e-9, abs=1e-6)
        assert found.noise_term[k] == pytest.approx(weights[gamma] * noise, rel=1e-9)
        q = weights[gamma] * (error - noise)
        expected = epsilon * q / (2 * max(weights.values()))
        assert found.log_weights[k] == pytest.approx(expected, rel=1e-8, abs=1e-7)


@pytest.mark.parametrize("seed", range(30))
def test_one_record_moves_no_score_by_more_than_the_largest_weight(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    domain, codes, workload = random_case(rng, rows=12)
    if workload.closure == ((),):
        return
    beliefs = random_beliefs(rng, workload)
    largest = workload.candidate_weights().max()
    rho_s = Fraction(1, 2)

    def log_weights(records: np.ndarray) -> np.ndarray:
        private = engine.Private(engine.Table.from_codes(records, domain))
        candidates = Candidates(private, workload, beliefs)
        return score(candidates, Budgets(Fraction(1), rho_s)).log_weights

    base = log_weights(codes)
    most = math.sqrt(8 * rho_s) / 2  # epsilon/(2 Delta) times a score difference of Delta
    for _ in range(6):
        record = [[int(rng.integers(n)) for n in domain.sizes]]
        moved = log_weights(np.concatenate([codes, record])) - base
        assert np.abs(moved).max() <= most * (1 + 1e-9)
    assert largest > 0


@pytest.mark.parametrize("full", [False, True])
def test_advanced_errors_equal_those_computed_anew(full: bool) -> None:
    rng = np.random.default_rng(3)
    domain = make_domain([3, 1, 2, 4])
    private = engine.Private(engine.Table.from_codes(random_codes(rng, [3, 1, 2, 4]), domain))
    workload = engine.Workload.all_kway(domain, 3)
    beliefs = engine.Beliefs()
    candidates = Candidates(private, workload, beliefs, rebuild_always=full)
    for _ in range(20):
        after = beliefs.combined(
            engine.Measurement(t, b.values, b.precision)
            for t, b in random_beliefs(rng, workload).items()
        )
        changes = after.changes_since(beliefs)
        touched = candidates.advance(after, changes)
        expected = [
            k
            for k, g in enumerate(workload.closure)
            if full or any(set(t) <= set(g) for t in changes)
        ]
        assert touched.tolist() == expected
        beliefs = after
    fresh = Candidates(private, workload, beliefs)
    budgets = Budgets(Fraction(1), Fraction(1))
    np.testing.assert_allclose(
        score(candidates, budgets).error_term, score(fresh, budgets).error_term, rtol=1e-9
    )


@pytest.mark.parametrize("kind", [Candidates, CompletedCandidates])
@pytest.mark.parametrize("full", [False, True])
def test_log_weights_refreshed_where_touched_are_those_scored_anew(
    kind: type[Rescored], full: bool
) -> None:
    rng = np.random.default_rng(4)
    domain = make_domain([3, 2, 4, 2])
    codes = random_codes(rng, [3, 2, 4, 2])
    private = engine.Private(engine.Table.from_codes(codes, domain))
    workload = engine.Workload.all_kway(domain, 3)
    beliefs = engine.Beliefs()
    candidates = kind(private, workload, beliefs, rebuild_always=full)  # type: ignore[call-arg, arg-type]
    asked = [Budgets(Fraction(1, 7), Fraction(1, 31), 0.7)] * 6
    asked[3:] = [Budgets(Fraction(4, 7), Fraction(4, 31), 0.7)] * 3  # after annealing
    for k, budgets in enumerate(asked):
        kept = candidates.log_weights(budgets)
        np.testing.assert_array_equal(kept, score(candidates, budgets).log_weights)
        assert not kept.flags.writeable
        tau = workload.closure[5 + k]
        values = rng.normal(size=[domain.sizes[i] - 1 for i in tau]) * 5
        after = beliefs.combined([engine.Measurement(tau, values, 1.0)])
        touched = candidates.advance(after, after.changes_since(beliefs))
        beliefs = after
        if not full and kind is Candidates:
            untouched = [k - 1 for k in range(1, len(workload.closure)) if k not in touched]
            assert untouched
            fresh = candidates.log_weights(budgets)
            np.testing.assert_array_equal(
                fresh[untouched], score(candidates, budgets).log_weights[untouched]
            )


def test_a_selection_is_charged_before_it_is_drawn_and_names_no_attributes(
    table: engine.Table,
) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    candidates = Candidates(engine.Private(table), workload, engine.Beliefs())
    scores = score(candidates, Budgets(Fraction(1), Fraction(1)))
    rng = Counting()
    with pytest.raises(engine.BudgetError):
        select(
            scores.log_weights,
            scores.closure,
            private=engine.Private(table),
            rho=Fraction(2),
            ledger=engine.Ledger(Fraction(1)),
            rng=rng,
        )
    assert rng.draws == 0
    ledger, gamma = select(
        scores.log_weights,
        scores.closure,
        private=engine.Private(table),
        rho=Fraction(1),
        ledger=engine.Ledger(Fraction(1)),
        rng=rng,
    )
    assert ledger.entries == (engine.Charge("select", None, Fraction(1)),)
    assert gamma in workload.closure
    assert gamma != ()


def test_derived_parameters_are_rounded_to_the_safe_side() -> None:
    rng = np.random.default_rng(0)
    for _ in range(2000):
        rho = Fraction(int(rng.integers(1, 10**9)), int(rng.integers(1, 10**12)))
        assert Fraction(noise_std(rho)) ** 2 >= 1 / (2 * rho)
        assert Fraction(selection_epsilon(rho)) ** 2 <= 8 * rho
        assert noise_std(rho) == pytest.approx(math.sqrt(1 / (2 * rho)), rel=1e-15)
        assert selection_epsilon(rho) == pytest.approx(math.sqrt(8 * rho), rel=1e-15)


def test_insight_splits_the_scores_and_gives_the_probabilities_of_the_step(
    table: engine.Table,
) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    mechanism, private = engine.AimGrem(completion="none"), engine.Private(table)
    rng = engine.rehearsal_noise(1)
    state, _ = mechanism.start(private, workload, rho=Fraction(1), rng=rng)
    seen = engine.insight(mechanism, state, private)
    again = engine.insight(mechanism, state, private)
    np.testing.assert_array_equal(seen.probability, again.probability)
    scores = mechanism.scores(state, private)
    np.testing.assert_array_equal(seen.probability, probabilities(scores.log_weights))
    np.testing.assert_array_equal(seen.score, scores.error_term - scores.noise_term)
    assert seen.probability.sum() == pytest.approx(1)
    ranked = list(seen)
    assert [r[3] for r in ranked] == sorted((r[3] for r in ranked), reverse=True)
    assert {r[0] for r in ranked} == {g for g in workload.closure if g}
    assert len(seen) == len(workload.closure) - 1


def test_insight_is_refused_where_nothing_is_selected(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    private, rng = engine.Private(table), engine.rehearsal_noise(1)
    planner = engine.ResidualPlanner()
    state, _ = planner.start(private, workload, rho=Fraction(1), rng=rng)
    with pytest.raises(engine.OptionError):
        engine.insight(planner, state, private)
    aim = engine.AimGrem(completion="none")
    done, _ = aim.start(private, engine.Workload([()], table.domain), rho=Fraction(1), rng=rng)
    with pytest.raises(engine.OptionError):
        engine.insight(aim, done, private)
