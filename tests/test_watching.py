"""The one recorder of runs: what it records is the run itself, looked at once a round."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from engine.demonstrating import watching

NAMES = ("Class", "Sex", "Age")


def asked(mechanism: Any = None) -> tuple[Any, engine.Private, engine.Workload]:
    table = engine.load_sample("titanic", *NAMES)
    workload = engine.Workload.all_kway(table.domain, 2)
    return mechanism or engine.AimGrem.paper(), engine.Private(table), workload


@pytest.mark.parametrize("mechanism", [engine.AimGrem.paper(), engine.ResidualPlanner()])
def test_what_is_told_is_the_run_that_the_engine_makes(mechanism: Any) -> None:
    given = asked(mechanism)
    told = watching.tell(*given, epsilon=1.0, delta=1e-9, seed=3)
    run = engine.run(*asked(mechanism), epsilon=1.0, delta=1e-9, seed=3)
    assert told.run.events == run.events
    assert told.run.release.to_dict() == run.release.to_dict()
    assert len(told.errors) == len(told.seen) == len(run.rounds) + 1
    assert told.errors[-1] == engine.evaluate(run.release, given[1]).mean_l1


def test_a_recording_can_be_stepped_twice_and_stays_as_it_was() -> None:
    mechanism, private, workload = asked()
    first = watching.begin(
        mechanism, private, workload, rho=0.5, rng=engine.rehearsal_noise(0)
    ).stepped()
    one, other = first.stepped(), first.stepped()
    assert first.rounds == 1
    assert one.events(2) == other.events(2)
    assert one.errors() == pytest.approx(other.errors()), "errors are built anew, in another order"
    assert one.stepped().moments[:3] == one.moments


def test_each_round_is_scored_once_to_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, private, workload = asked()
    looks = []
    made = watching.insight
    monkeypatch.setattr(watching, "insight", lambda *a: looks.append(1) or made(*a))
    run = watching.begin(mechanism, private, workload, rho=0.5, rng=engine.rehearsal_noise(0))
    run = run.stepped().stepped()
    assert len(looks) == 3, "before each of three rounds, of which two are made"
    seen = run.seen()[2]
    assert seen is not None
    assert run.moments[2].event.selected in [c.attrs for c in seen.candidates]


def test_what_is_not_finished_is_no_run() -> None:
    mechanism, private, workload = asked()
    run = watching.begin(mechanism, private, workload, rho=0.5, rng=engine.rehearsal_noise(0))
    with pytest.raises(engine.OptionError, match="Run to the end first"):
        run.run()


def test_a_fork_under_the_same_budget_is_the_run_itself() -> None:
    mechanism, private, workload = asked()
    run = watching.begin(mechanism, private, workload, rho=0.5, rng=engine.rehearsal_noise(0))
    while not run.finished:
        run = run.stepped()
    assert list(run.forked(1, rho=run.rho)) == pytest.approx(run.errors()[2:])
