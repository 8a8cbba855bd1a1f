"""MWEM+GReM as Mullins et al. (2024) have it: how often it selects, what it pays and scores."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import engine
from tests.support import make_domain

RHO = Fraction(9, 2)


def started() -> tuple[engine.MwemGrem, engine.Private, engine.Workload, engine.Run]:
    """A run on three attributes of different sizes."""
    domain = make_domain((2, 3, 7))
    codes = np.random.default_rng(3).integers(0, (2, 3, 7), size=(60, 3))
    private = engine.Private(engine.Table.from_codes(codes, domain))
    workload, mechanism = engine.Workload.all_kway(domain, 2), engine.MwemGrem()
    return mechanism, private, workload, engine.run(mechanism, private, workload, rho=RHO, seed=1)


def test_it_selects_four_times_as_often_as_there_are_attributes_and_shares_equally() -> None:
    _, _, workload, run = started()
    count = 4 * len(workload.domain)
    assert len(run.rounds) == run.started.max_rounds == count
    share = RHO / (count + 1)
    assert sum(charge.rho for charge in run.started.charges) == share, (
        "single attributes: one round"
    )
    for event in run.rounds:
        assert event.rho_select == event.rho_measure == share / 2
    assert run.release.ledger.left == 0


def test_a_score_is_the_error_alone_without_the_noise_that_measuring_would_leave() -> None:
    mechanism, private, workload, _ = started()
    state, _ = next(engine.rounds(mechanism, private, workload, rho=RHO, seed=2))
    scores, release = mechanism.scores(state, private), mechanism.release(state)
    assert not scores.noise_term.any()
    errors = [
        np.abs(release.estimate(*attrs).values - private.marginal(attrs).values).sum()
        for attrs in scores.sets
    ]
    weights = dict(zip(workload.closure, workload.candidate_weights().tolist(), strict=True))
    assert np.allclose(scores.error_term, [weights[s] for s in scores.sets] * np.array(errors))
