"""MWEM+GReM and AIM+PGM: peers that keep to the budget and answer sensibly."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

import engine
from engine.mechanisms.base import rounds
from tests.support import make_domain


def correlated() -> engine.Table:
    """Records whose second attribute follows the first."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 2000)
    codes = np.stack([first, (first + (rng.random(2000) < 0.1)) % 3, rng.integers(0, 2, 2000)], 1)
    return engine.Table.from_codes(codes, make_domain((3, 3, 2)))


@pytest.mark.parametrize("noise", ["iid", "crp"])
def test_mwem_spends_its_budget_in_equal_rounds(noise: str) -> None:
    table = correlated()
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.MwemGrem(rounds=4, noise=noise), table, workload, rho=0.5, seed=1)
    assert len(run.rounds) == 4
    assert len({r.rho_measure for r in run.rounds}) == 1
    assert run.release.ledger.spent <= Fraction(1, 2)
    assert engine.evaluate(run.release, table).mean_l1_normalized < 0.3


def test_mwem_with_only_the_total_asks_for_the_total() -> None:
    table = correlated()
    run = engine.run(engine.MwemGrem(), table, engine.Workload([()], table.domain), rho=0.5, seed=1)
    assert run.rounds == ()
    assert run.release.estimate().values == pytest.approx(2000, abs=20)


@pytest.mark.parametrize("rounds_", [0, -1, 1.5, True])
def test_mwem_refuses_rounds_that_are_none(rounds_: object) -> None:
    with pytest.raises(engine.OptionError):
        engine.MwemGrem(rounds=rounds_)  # type: ignore[arg-type]


@pytest.mark.slow
def test_aim_pgm_answers_from_its_model_within_the_budget() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("mbi")
        from engine.mechanisms.aim_pgm import AimPgm

        table, mechanism = correlated(), AimPgm(iterations=20)
        private = engine.Private(table)
        workload = engine.Workload.all_kway(table.domain, 2)
        rng = engine.rehearsal_noise(1)
        for state, _ in rounds(mechanism, private, workload, rho=0.5, rng=rng):  # noqa: B007
            pass
        assert mechanism.release(state).ledger.spent <= Fraction(1, 2)
        for estimate in mechanism.estimates(state):
            exact = private.marginal(estimate.attrs).values
            assert np.abs(estimate.values - exact).sum() < 0.2 * 2000
            assert (estimate.values >= 0).all()
