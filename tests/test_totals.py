"""What tables add up to: the N beside them, unless someone asked for a lowered one."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.completing.completed import Completed
from engine.completing.keeping import maxent
from engine.completing.totals import total_of
from engine.domain import subsets
from engine.exporting import bundle as export
from engine.layout import Layout
from engine.mechanisms import catalogue
from engine.mechanisms.rescoring import CompletedCandidates
from engine.released import Belief, Beliefs
from tests.strategies import domains, measurements
from tests.support import ROOT, SAMPLES, make_domain

BEFORE = ROOT / "tests" / "golden" / "before_totals.json"
"""A release written before the total could be chosen, with the answers it gave."""


def titanic() -> tuple[engine.Table, engine.Workload]:
    domain = engine.Domain.from_json(SAMPLES / "titanic.domain.json")
    table = engine.Table.from_csv(SAMPLES / "titanic.csv", domain)
    return table, engine.Workload.all_kway(domain, 3)


@settings(deadline=None)
@given(st.data())
def test_every_completed_table_adds_up_to_the_estimated_number_of_records(data: Any) -> None:
    domain = data.draw(domains(values=4))
    beliefs = Beliefs().combined(data.draw(measurements(domain)))
    layout = Layout(domain.sizes, subsets(tuple(range(len(domain)))))
    estimated = max(float(beliefs[()].values), 0.0) if () in beliefs else 0.0
    tables = Completed(layout, beliefs)
    for attrs in layout.sets:
        assert tables.table(attrs).sum() == pytest.approx(estimated, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_answers_of_a_release_add_up_to_the_number_it_states(epsilon: float) -> None:
    table, workload = titanic()
    release = engine.run(
        engine.AimGrem(), table, workload, epsilon=epsilon, delta=1e-9, seed=1
    ).release
    stated = float(release.beliefs[()].values)
    assert float(release.estimate().values) == pytest.approx(stated)
    for attrs in workload.closure:
        assert release.estimate(*attrs).values.sum() == pytest.approx(stated, rel=1e-9)


def test_a_lowered_total_is_lower_by_up_to_a_standard_deviation_and_by_its_formula() -> None:
    sizes = (4, 4, 4)  # three typical attributes have 64 cells
    for precision in (1e-4, 0.01, 1.0):
        std = precision**-0.5
        beliefs = Beliefs({(): Belief(np.array(640.0), precision)})
        found = total_of(beliefs, sizes, "lowered")
        assert found == pytest.approx(640.0 - std / (1.0 + 10.0 / std))
        assert total_of(beliefs, sizes, "unbiased") == 640.0
    assert total_of(Beliefs({(): Belief(np.array(-3.0), 1.0)}), sizes, "unbiased") == 0.0
    assert total_of(Beliefs(), sizes, "lowered") == 0.0


def test_a_lowered_total_is_what_its_own_tables_add_up_to() -> None:
    table, workload = titanic()
    release = engine.run(
        engine.AimGrem(total="lowered"), table, workload, epsilon=0.1, delta=1e-9, seed=1
    ).release
    assert release.total == "lowered"
    stated = float(release.estimate().values)
    assert stated < float(release.beliefs[()].values) - 1.0
    for attrs in workload.closure:
        assert release.estimate(*attrs).values.sum() == pytest.approx(stated, rel=1e-9)
    read = engine.Release.from_dict(release.to_dict())
    assert read.total == "lowered"
    assert float(read.estimate().values) == stated


def test_releases_written_before_still_answer_as_they_did() -> None:
    kept = json.loads(BEFORE.read_text("utf-8"))
    release = engine.Release.from_dict(kept["release"])
    assert "total" not in kept["release"]
    assert release.total == "lowered"
    for attrs, values in kept["answers"]:
        found = release.estimate(*attrs).values.ravel()
        np.testing.assert_allclose(found, values, rtol=1e-9)
    plain = kept["release"] | {"completion": None}
    assert engine.Release.from_dict(plain).total == "unbiased"


def test_a_run_of_before_is_repeated_with_the_lowered_total() -> None:
    from engine.exporting import replay

    release = engine.Release.from_dict(json.loads(BEFORE.read_text("utf-8"))["release"])
    again = eval(replay._call(release.mechanism), {"engine": engine})
    assert again == engine.AimGrem(completion="maxent", finish="auto", total="lowered")


def test_a_bundle_says_that_its_tables_add_up_to_a_lowered_total() -> None:
    from engine.exporting import bundle

    release = engine.Release.from_dict(json.loads(BEFORE.read_text("utf-8"))["release"])
    told = " ".join(bundle.readme(release).split())
    lowered, estimated = float(release.estimate().values), float(release.beliefs[()].values)
    assert f"add up to {lowered:,.1f} records, lowered on purpose; as estimated there are " in told
    assert f"there are {estimated:,.1f}." in told
    assert "add up" not in bundle.readme(replace(release, total="unbiased"))


def test_a_bundle_s_index_gives_no_deviation_for_completed_tables() -> None:
    from engine.exporting import bundle

    release = engine.Release.from_dict(json.loads(BEFORE.read_text("utf-8"))["release"])

    def told(release: engine.Release, post: str = "none") -> set[str]:
        rows = csv.DictReader(io.StringIO(bundle.index_csv(release, post=post)))
        return {row["std"] for row in rows}

    assert told(release) == {""}
    plain = replace(release, completion=None)
    assert min(map(float, told(plain))) > 0
    assert told(plain, "simplex") == {""}


def test_a_total_that_is_none_is_refused() -> None:
    for options in ({"total": "raised"}, {"total": "lowered", "completion": "none"}):
        with pytest.raises(engine.OptionError, match="total is"):
            engine.AimGrem(**options)
    content = json.loads(BEFORE.read_text("utf-8"))["release"] | {"total": "raised"}
    with pytest.raises(engine.DataError, match="no total 'raised'"):
        engine.Release.from_dict(content)


def test_scores_for_one_total_are_not_lent_for_the_other() -> None:
    table, workload = titanic()
    private = engine.Private(table)
    plain, lowered = (
        engine.AimGrem(finish="rounds"),
        engine.AimGrem(finish="rounds", total="lowered"),
    )
    rng = engine.rehearsal_noise(0)
    state, _ = plain.start(private, workload, rho=engine.accounting.Fraction(1, 10**4), rng=rng)
    first = plain.scores(state, private).error_term.copy()
    assert not np.array_equal(lowered.scores(state, private).error_term, first)
    assert np.array_equal(plain.scores(state, private).error_term, first)


def test_tables_kept_for_one_total_do_not_answer_for_the_other() -> None:
    domain = make_domain([3, 2])
    beliefs = Beliefs({(): Belief(np.array(50.0), 0.01), (0,): Belief(np.array([3.0, 9.0]), 0.01)})
    workload = engine.Workload.all_kway(domain, 2)
    releases = {
        total: engine.Release(
            workload, beliefs, engine.Ledger(1), "m", True, completion="maxent", total=total
        )
        for total in ("unbiased", "lowered")
    }
    for _ in range(2):
        assert float(releases["unbiased"].estimate().values) == 50.0
        assert float(releases["lowered"].estimate().values) < 50.0
        assert maxent(beliefs, domain, (0, 1)).values.sum() == pytest.approx(50.0)
    assert CompletedCandidates.total == "unbiased"


@pytest.mark.parametrize("key", [e.key for e in catalogue.entries() if not e.extra])
def test_whatever_is_exported_adds_up_to_the_estimated_number_of_records_or_says_so(
    key: str,
) -> None:
    rng = np.random.default_rng(5)
    domain = make_domain((3, 2, 4))
    table = engine.Table.from_codes(rng.integers(0, domain.sizes, (300, 3)), domain)
    workload = engine.Workload.all_kway(domain, 2)
    release = engine.run(catalogue.find(key).make(), table, workload, rho=0.05, seed=1).release
    stated = float(release.beliefs[()].values)
    for post in export.POSTPROCESS:
        # A solver's cells below zero and where it stops: a thousandth of the records.
        close = 1e-3 * stated if post == "consistent-nonnegative" else 1e-6 * stated
        sums = [float(answer.values.sum()) for _, answer in export.answers(release, post=post)]
        other = max(abs(total - stated) for total in sums) > close
        assert other == ("Totals: the tables add up to" in export.readme(release, post=post)), post
        assert max(sums) - min(sums) <= 2 * close
