"""One signature for run and rounds; runs saved, read back, continued and forked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine

TABLE = engine.load_sample("hair_eye_color")
WORKLOAD = engine.Workload.all_kway(TABLE.domain, 2)
ROUNDS = engine.AimGrem(finish="rounds")


def test_rounds_takes_what_run_takes() -> None:
    run = engine.run(ROUNDS, TABLE, WORKLOAD, epsilon=2, delta=1e-6, seed=np.int64(3))  # type: ignore[arg-type]
    told = [e for _, e in engine.rounds(ROUNDS, TABLE, WORKLOAD, epsilon=2, delta=1e-6, seed=3)]
    assert told == list(run.events)
    generator = np.random.default_rng(3)
    again = engine.run(ROUNDS, TABLE, WORKLOAD, epsilon=2, delta=1e-6, seed=generator)
    assert again.events == run.events


@pytest.mark.parametrize(
    "mechanism",
    [ROUNDS, engine.AimGrem(), engine.AimGrem.paper(), engine.AimGrem(completion="none")],
)
def test_every_state_of_a_run_is_rebuilt_from_what_it_told(mechanism: engine.AimGrem) -> None:
    private = engine.Private(TABLE)
    states: list[Any] = []
    events = []
    for state, event in engine.rounds(mechanism, private, WORKLOAD, rho=0.2, seed=5):
        states.append(state)
        events.append(event)
    run = engine.Run.of(events, mechanism.release(states[-1]))
    for number in range(len(run.rounds)):
        assert run.state(mechanism, number) == states[number], number
    assert run.state(mechanism, len(run.rounds)).finished


def test_a_run_can_be_forked_from_any_round() -> None:
    private = engine.Private(TABLE)
    run = engine.run(ROUNDS, private, WORKLOAD, rho=0.2, seed=5)
    middle = len(run.rounds) // 2
    assert middle > 0
    state = run.state(ROUNDS, middle)
    told = [e for _, e in engine.rounds(ROUNDS, private, WORKLOAD, seed=6, state=state)]
    finished = told[-1]
    assert isinstance(finished, engine.Finished)
    assert isinstance(told[0], engine.RoundEnded)
    assert told[0].round == middle + 1
    assert finished.rounds == middle + len(told) - 1
    assert finished.rho_spent <= run.release.ledger.total


def test_a_state_has_its_budget_and_its_mechanism() -> None:
    run = engine.run(ROUNDS, TABLE, WORKLOAD, rho=0.2, seed=5)
    state = run.state(ROUNDS, 0)
    with pytest.raises(engine.OptionError, match="Drop the budget"):
        engine.rounds(ROUNDS, TABLE, WORKLOAD, rho=0.2, state=state)
    with pytest.raises(engine.OptionError, match="was made by"):
        run.state(engine.AimGrem.paper(), 0)
    with pytest.raises(engine.OptionError, match="no round"):
        run.state(ROUNDS, len(run.rounds) + 1)


def test_a_saved_run_is_read_back(tmp_path: Path) -> None:
    run = engine.run(ROUNDS, TABLE, WORKLOAD, epsilon=2, delta=1e-6, seed=3)
    run.save(tmp_path / "run.json")
    again = engine.Run.load(tmp_path / "run.json")
    assert again.events == run.events
    assert list(again.release.estimates()) == list(run.release.estimates())
    assert again.release.demonstration, "what is read from a file is not verified"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-20],
        lambda text: text.replace("aim-grem-run/1", "aim-grem-run/9"),
        lambda text: "[]",
        lambda text: text.replace('"event": "Started"', '"event": "Begun"'),
    ],
)
def test_a_file_that_is_no_run_is_refused(spoil: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    engine.run(ROUNDS, TABLE, WORKLOAD, rho=0.2, seed=3).save(path)
    path.write_text(spoil(path.read_text("utf-8")), "utf-8")
    with pytest.raises(engine.DataError, match="cannot be read"):
        engine.Run.load(path)
