"""The paper's ablation: a fixed sequence instead of selection."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from tests.support import make_domain, random_case


@pytest.mark.parametrize("noise", ["crp", "iid"])
@pytest.mark.parametrize("update", ["lazy", "full"])
def test_half_goes_to_the_1_way_marginals_and_half_to_the_workload_in_order(
    table: engine.Table, noise: Any, update: Any
) -> None:
    domain = table.domain
    workload = engine.Workload.all_kway(domain, 3)
    mechanism = engine.FixedSequence(update=update, noise=noise)
    run = engine.run(mechanism, table, workload, rho=Fraction(1, 3), seed=0)
    first = run.events[0].charges
    assert [c.attrs for c in first] == [(i,) for i in range(len(domain))]
    assert sum(c.rho for c in first) == Fraction(1, 6)
    assert [e.selected for e in run.rounds] == list(workload.marginals)
    for event in run.rounds:
        assert event.rho_measure == Fraction(1, 6) / len(workload.marginals)
        assert event.rho_select == 0
        assert sum(c.rho for c in event.charges) <= event.rho_measure
        assert all(c.what == "measure" for c in event.charges)
    assert run.rounds[-1].last
    assert not any(e.last for e in run.rounds[:-1])
    if noise == "iid":
        assert run.release.ledger.left == 0


def test_lazy_and_full_release_the_same_and_lazy_touches_less() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        domain, codes, workload = random_case(rng)
        table = engine.Table.from_codes(codes, domain)
        for noise in ("crp", "iid"):
            lazy, full = (
                engine.run(
                    engine.FixedSequence(update=u, noise=noise),  # type: ignore[arg-type]
                    table,
                    workload,
                    rho=1,
                    seed=seed,
                )
                for u in ("lazy", "full")
            )
            assert lazy.release.beliefs.keys() == full.release.beliefs.keys()
            for tau, belief in lazy.release.beliefs.items():
                np.testing.assert_array_equal(belief.values, full.release.beliefs[tau].values)
            everything = sum(map(domain.cells, workload.closure))
            assert {e.work.cells for e in full.rounds} == {everything}
            for event in lazy.rounds:
                taus = [m.attrs for m in event.measurements]
                touched = [g for g in workload.closure if any(set(t) <= set(g) for t in taus)]
                assert event.work.marginals == len(touched)
                assert event.work.cells == sum(map(domain.cells, touched))
                assert event.work.scores == 0


def test_crp_is_never_less_sure_than_iid_with_the_same_budget() -> None:
    # Its gain comes from what the 1-way marginals and earlier triples already say.
    domain = make_domain([4, 5, 3, 2])
    table = engine.Table.from_codes([[0, 0, 0, 0]], domain)
    workload = engine.Workload.all_kway(domain, 3)
    total = {}
    for noise in ("crp", "iid"):
        mechanism = engine.FixedSequence(noise=noise, omit_below=0.0)  # type: ignore[arg-type]
        release = engine.run(mechanism, table, workload, rho=1, seed=0).release
        total[noise] = sum(
            domain.cells(g) * (release.estimate(*g).variance or 0.0) for g in workload.marginals
        )
    assert total["crp"] < total["iid"]


def test_a_workload_of_the_total_alone_works(table: engine.Table) -> None:
    workload = engine.Workload([()], table.domain)
    for update in ("lazy", "full"):
        mechanism = engine.FixedSequence(update=update)  # type: ignore[arg-type]
        run = engine.run(mechanism, table, workload, rho=1, seed=0)
        assert [c.attrs for c in run.release.ledger.entries] == [()]
