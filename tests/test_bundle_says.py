"""What a bundle says: of whom it is, what was promised, and the same bytes on every machine."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from fractions import Fraction

import pytest

import engine
from engine.exporting import bundle, report
from tests.support import make_domain


def run_of(rows: int = 1, seed: int = 0) -> engine.Run:
    domain = replace(make_domain([3, 2]), rows_per_person=rows)
    table = engine.Table.from_codes([[0, 0], [1, 1], [2, 0]], domain)
    workload = engine.Workload.all_kway(domain, 2)
    return engine.run(engine.EqualSplit(), table, workload, epsilon=1.0, delta=1e-9, seed=seed)


def test_a_person_with_several_rows_is_told_what_they_cost_squared() -> None:
    release = run_of(rows=3).release
    assert "a person with up to 3: 9 times the ledger's rho" in bundle.readme(release)
    settings = bundle.settings(release)
    assert settings["rows_per_person"] == 3
    assert Fraction(settings["rho_of_a_person"]) == 9 * release.ledger.spent
    assert Fraction(settings["rho"]) == release.ledger.total
    promised = engine.rho_from(epsilon=1.0, delta=1e-9)
    assert float(Fraction(settings["rho"]) * 9) == pytest.approx(promised)
    assert f"ρ = {promised:.6g} for a person with up to 3 records" in report.promise(release)
    assert "Who has several is protected less." in bundle.readme(run_of().release)


def test_events_of_another_run_with_as_many_charges_are_refused() -> None:
    run = run_of()
    first, *rest = [e for e in run.events if not isinstance(e, engine.Started)]
    bundle.check_belongs(run.release, run.events)
    other = [replace(c, rho=c.rho / 2) for c in first.charges]
    forged = [run.events[0], replace(first, charges=tuple(other)), *rest]
    assert len(other) == len(run.release.ledger.entries)
    with pytest.raises(engine.DataError, match="The events paid rho"):
        bundle.check_belongs(run.release, forged)


def test_an_archive_holds_no_clock_and_no_machine() -> None:
    run = run_of()
    packed = bundle.bundle(run.release, run.events)
    assert packed == bundle.bundle(run.release, run.events)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for info in archive.infolist():
            assert info.create_system == 3
            assert info.external_attr == 0o644 << 16
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert not info.extra
            assert info.compress_type == zipfile.ZIP_DEFLATED


def test_a_demonstration_is_marked_at_the_top_and_in_the_settings() -> None:
    release = run_of().release
    told = bundle.readme(release)
    assert "DEMONSTRATION, not a private release." in told.splitlines()[2]
    assert bundle.settings(release)["demonstration"] == list(release.demonstration)
    assert json.loads(bundle.as_json(release.to_dict()))["demonstration"]


def test_a_run_that_stopped_early_says_what_it_spent() -> None:
    release = run_of().release
    assert "so far" not in report.promise(release)
    half = replace(release, ledger=engine.Ledger(2 * release.ledger.total))
    spent = half.ledger.charge(*release.ledger.entries)
    early = report.promise(replace(half, ledger=spent))
    so_far = engine.epsilon_from(rho=spent.spent, delta=1e-9)
    assert f"so far ε = {so_far:.4g} was spent" in early
