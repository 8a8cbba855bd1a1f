"""Events and releases: pickled, written as JSON and read back to the last digit."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from engine.trace import event_from_dict, event_to_dict, ledger_to_dict
from tests.support import SAMPLES, all_mechanisms, make_domain, play


def same(one: Any, other: Any) -> bool:
    """Equality of released values, arrays to the last bit."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.shape == other.shape
            and one.dtype == other.dtype
            and one.tobytes() == other.tobytes()
        )
    if type(one) is not type(other):
        return False
    if isinstance(one, engine.Beliefs | dict):
        return list(one) == list(other) and all(same(one[k], other[k]) for k in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, engine.Workload):
        return one == other and one.closure == other.closure
    if hasattr(one, "__dataclass_fields__") and not isinstance(one, engine.Domain):
        # Whether it was read from a file is known of the release, and is not in the file.
        fields = [f for f in one.__dataclass_fields__ if f not in ("_read", "_receipt")]
        return all(same(getattr(one, f), getattr(other, f)) for f in fields)
    return bool(one == other)


def cases() -> dict[str, tuple[Any, engine.Table, engine.Workload]]:
    """Every mechanism on a domain with a one-valued attribute, and on degenerate workloads."""
    domain = engine.Domain.from_sizes({"age": 3, "land": 1, "sex": 2})
    table = engine.Table.from_codes([[k % 3, 0, k % 2] for k in range(17)], domain)
    found = {
        name: (mechanism, table, engine.Workload.all_kway(domain, 3))
        for name, mechanism in all_mechanisms().items()
    }
    ones = make_domain([1, 1])
    empty = engine.Table.from_codes([], ones)
    found["one-valued only"] = (
        engine.AimGrem(completion="none"),
        empty,
        engine.Workload([(0, 1)], ones),
    )
    found["total only"] = (engine.AimGrem(completion="none"), table, engine.Workload([()], domain))
    found["total, batch"] = (engine.ResidualPlanner(), table, engine.Workload([()], domain))
    return found


@pytest.mark.parametrize("name", list(cases()))
def test_releases_events_and_states_survive_pickling(name: str) -> None:
    mechanism, table, workload = cases()[name]
    states, events, release = play(mechanism, table, workload, rho=1, rng=engine.rehearsal_noise(3))
    for value in (release, tuple(events), *states, engine.Run.of(events, release)):
        again = pickle.loads(pickle.dumps(value))
        assert same(value, again)


@pytest.mark.parametrize("name", list(cases()))
def test_releases_and_events_survive_json_to_the_last_digit(name: str) -> None:
    mechanism, table, workload = cases()[name]
    _, events, release = play(mechanism, table, workload, rho=1, rng=engine.rehearsal_noise(3))
    text = json.dumps(release.to_dict(), allow_nan=False)
    again = engine.Release.from_dict(json.loads(text))
    assert same(release, again)
    assert json.dumps(again.to_dict(), allow_nan=False) == text
    for event in events:
        copied = event_from_dict(json.loads(json.dumps(event_to_dict(event), allow_nan=False)))
        assert same(event, copied)


def test_a_resumed_state_goes_on_as_if_it_had_never_stopped(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 3)
    for name in (
        "aim_grem",
        "aim_grem_paper",
        "full iid",
        "mwem_grem",
        "sequence_crp",
        "residual_planner",
    ):
        mechanism = all_mechanisms()[name]
        states, _, _ = play(mechanism, table, workload, rho=1, rng=engine.rehearsal_noise(1))
        state = states[0]
        once, event = mechanism.step(state, engine.Private(table), engine.rehearsal_noise(5))
        resumed = pickle.loads(pickle.dumps(state))
        again, repeated = mechanism.step(resumed, engine.Private(table), engine.rehearsal_noise(5))
        assert same(event, repeated)
        assert same(once.beliefs, again.beliefs)
        assert once.ledger == again.ledger


@pytest.mark.parametrize("name", list(all_mechanisms()))
def test_the_beliefs_at_any_past_round_follow_from_the_events(
    name: str, table: engine.Table
) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    states, events, _ = play(
        all_mechanisms()[name], table, workload, rho=1, rng=engine.rehearsal_noise(2)
    )
    for state, beliefs in zip(states, engine.beliefs_after(events), strict=True):
        assert same(state.beliefs, beliefs)


@pytest.mark.parametrize("name", list(all_mechanisms()))
def test_events_tell_the_ledger_charge_by_charge(name: str, table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    states, events, release = play(
        all_mechanisms()[name], table, workload, rho=1, rng=engine.rehearsal_noise(2)
    )
    assert isinstance(events[0], engine.Started)
    assert isinstance(events[-1], engine.Finished)
    rounds = events[1:-1]
    assert all(isinstance(e, engine.RoundEnded) for e in rounds)
    assert [e.round for e in rounds] == list(range(1, len(rounds) + 1))
    told = tuple(c for e in events[:-1] for c in e.charges)
    assert told == release.ledger.entries
    for state, event in zip(states[1:-1], rounds, strict=True):
        assert event.rho_spent == state.ledger.spent
        assert sum(c.rho for c in event.charges) <= event.rho_measure + event.rho_select
        assert event.last == (event is rounds[-1])
    assert events[-1].rounds == len(rounds)
    assert events[-1].rho_spent == release.ledger.spent
    assert events[-1].rho_left == release.ledger.left
    assert events[0].rho_total == release.ledger.total


def test_a_release_answers_any_set_of_the_closure_in_domain_order(table: engine.Table) -> None:
    workload = engine.Workload([("age", "sex", "job")], table.domain)
    release = engine.run(engine.AimGrem(completion="none"), table, workload, rho=1, seed=0).release
    assert release.estimate("job", "age").attrs == (0, 3)
    assert release.estimate("job", "age").values.shape == (3, 4)
    np.testing.assert_array_equal(
        release.estimate("job", "age").values, release.estimate("age", "job").values
    )
    assert release.estimate().values.shape == ()
    assert [e.attrs for e in release.estimates()] == list(workload.marginals)
    with pytest.raises(engine.WorkloadError, match="land"):
        release.estimate("land")
    with pytest.raises(engine.DomainError):
        release.estimate("nobody")


def test_a_release_says_that_it_is_a_demonstration_and_why(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 1)
    declared = engine.run(engine.Uniform(), table, workload, rho=1, seed=0).release
    assert declared.rehearsal
    assert len(declared.demonstration) == 1
    read = engine.Domain((engine.Attribute("a", values=("x", "y"), source="data"),))
    release = engine.run(
        engine.Uniform(),
        engine.Table.from_codes([[0]], read),
        engine.Workload.all_kway(read, 1),
        rho=1,
    ).release
    assert len(release.demonstration) == 2
    for value in (declared, release):
        assert "DEMONSTRATION" in repr(value)
        assert value.to_dict()["demonstration"] == list(value.demonstration)
        read_again = engine.Release.from_dict(value.to_dict())
        assert read_again.demonstration[:-1] == value.demonstration
        assert "not verified" in read_again.demonstration[-1]


def test_nothing_that_is_written_says_the_seed_or_the_time() -> None:
    domain = engine.Domain.from_json(SAMPLES / "titanic.domain.json")
    # A table each: what a table has spent is in its release.
    tables = [engine.Table.from_csv(SAMPLES / "titanic.csv", domain) for _ in range(2)]
    workload = engine.Workload.all_kway(domain, 2)
    seed = 918_273_645
    runs = [
        engine.run(engine.AimGrem(completion="none"), table, workload, rho=0.1, seed=seed)
        for table in tables
    ]
    texts = [json.dumps([r.release.to_dict(), [event_to_dict(e) for e in r.events]]) for r in runs]
    assert texts[0] == texts[1]
    assert str(seed) not in texts[0]
    assert "2201" not in texts[0].replace(".2201", "")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"format": None},
        {"domain": {}},
        {"domain": None},
        {"workload": []},
        {"workload": None},
        {"workload": [[[9], 1.0]]},
        {"ledger": None},
        {"ledger": {"total": "abc", "entries": [], "spent": "0"}},
        {"ledger": {"total": "1/0", "entries": [], "spent": "0"}},
        {"residuals": None},
        {"residuals": [{}]},
        {"residuals": [{"attrs": [7], "precision": 1.0, "values": [1.0]}]},
        {"residuals": [{"attrs": [0], "precision": 1.0, "values": [1.0]}]},
        {"residuals": [{"attrs": [0], "precision": -1.0, "values": [1.0, 2.0]}]},
        {"residuals": [{"attrs": [0], "precision": "x", "values": [1.0, 2.0]}]},
        {"residuals": [{"attrs": [0], "precision": 1.0, "values": ["x", 2.0]}]},
        {"residuals": [{"attrs": [0], "precision": 1.0, "values": [float("nan"), 2.0]}]},
    ],
)
def test_a_release_that_is_none_is_refused(change: dict[str, Any], table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    content = engine.run(engine.Uniform(), table, workload, rho=1, seed=0).release.to_dict()
    with pytest.raises(engine.EngineError):
        engine.Release.from_dict({**content, **change})
    for key in content:
        if key in ("domain", "workload", "ledger", "residuals", "format"):
            with pytest.raises(engine.EngineError):
                engine.Release.from_dict({k: v for k, v in content.items() if k != key})


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"event": "Exploded"},
        {"event": "Finished"},
        {"event": "Finished", "rounds": 1, "rho_spent": "x", "rho_left": "0"},
        [],
        None,
        {"event": ["Finished"]},
        {"event": "Finished", "rounds": 1, "rho_spent": "1/0", "rho_left": "0"},
    ],
)
def test_an_event_that_is_none_is_refused(content: Any) -> None:
    with pytest.raises(engine.EngineError):
        event_from_dict(content)


def test_a_summed_weight_is_written_and_read_back() -> None:
    domain = make_domain([2, 2])
    workload = engine.Workload({(0, 1): 5e8, (1, 0): 4e8}, domain)
    release = engine.run(
        engine.Uniform(), engine.Table.from_codes([], domain), workload, rho=1, seed=0
    ).release
    assert engine.Release.from_dict(release.to_dict()).workload == workload
    with pytest.raises(engine.WorkloadError) as caught:
        engine.Workload({(0, 1): 1e9, (1, 0): 1e9}, domain)
    assert caught.value.code == "E_WEIGHT"


def test_a_ledger_is_written_in_exact_fractions(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    ledger = engine.run(
        engine.AimGrem(completion="none"), table, workload, rho=0.1, seed=0
    ).release.ledger
    content = ledger_to_dict(ledger)
    from_text = sum(Fraction(e["rho"]) for e in content["entries"])
    assert from_text == ledger.spent == Fraction(content["spent"])
