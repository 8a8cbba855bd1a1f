"""What people get wrong at first: each ends in one sentence that says what to do, or works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import engine

TABLE = engine.load_sample("hair_eye_color")
DOMAIN = TABLE.domain
WORKLOAD = engine.Workload.all_kway(DOMAIN, 2)
RUN = engine.run(engine.ResidualPlanner(), TABLE, WORKLOAD, rho=0.1, seed=0)
FRAME = pd.DataFrame({name: ["x"] for name in DOMAIN.names})
untyped: Any = engine

MISTAKES: dict[str, Callable[[], object]] = {
    "sizes in a list": lambda: untyped.Domain.from_sizes([3, 2]),
    "names for attributes": lambda: untyped.Domain(("a", "b")),
    "a domain where a path should be": lambda: untyped.Table.from_csv(DOMAIN, "x.csv"),
    "a frame as private counts": lambda: untyped.Private(FRAME),
    "private counts of private counts": lambda: untyped.Private(engine.Private(TABLE)),
    "swapped arguments of all_kway": lambda: untyped.Workload.all_kway(2, DOMAIN),
    "a table where the domain should be": lambda: untyped.Workload([("Hair",)], TABLE),
    "a text as a degree": lambda: untyped.Workload.all_kway(DOMAIN, "2"),
    "a release where an estimate should be": lambda: untyped.simplex(RUN.release),
    "clipping a run": lambda: untyped.clip(RUN),
    "a run where a release should be": lambda: untyped.consistent(RUN),
    "a frame where the table should be": lambda: untyped.run(
        engine.AimGrem(), FRAME, WORKLOAD, rho=1
    ),
    "a list where the workload should be": lambda: untyped.run(
        engine.AimGrem(), TABLE, [("Hair", "Sex")], rho=1
    ),
    "a class where a mechanism should be": lambda: untyped.run(
        engine.AimGrem, TABLE, WORKLOAD, rho=1
    ),
    "a name where a mechanism should be": lambda: untyped.run("aim", TABLE, WORKLOAD, rho=1),
    "swapped arguments of run": lambda: untyped.run(engine.AimGrem(), WORKLOAD, TABLE, rho=1),
    "rounds without a budget": lambda: engine.rounds(engine.AimGrem(), TABLE, WORKLOAD),
    "a seed and a source": lambda: engine.rounds(
        engine.AimGrem(), TABLE, WORKLOAD, rho=1, seed=0, rng=engine.rehearsal_noise(0)
    ),
    "swapped arguments of evaluate": lambda: untyped.evaluate(TABLE, RUN.release),
    "evaluating a run": lambda: untyped.evaluate(RUN, TABLE),
    "comparing a release": lambda: untyped.compare(RUN.release, TABLE),
    "predicting for a domain": lambda: untyped.ResidualPlanner().predict(DOMAIN, rho=1),
    "a strip of a release": lambda: untyped.charts.filmstrip(RUN.release),
    "a broken seed": lambda: engine.rehearsal_noise(1.5),  # type: ignore[arg-type]
    "a true seed": lambda: engine.rehearsal_noise(True),
    "a negative seed": lambda: engine.rehearsal_noise(np.int64(-1)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_a_mistake_is_answered_by_a_sentence(mistake: str) -> None:
    with pytest.raises(engine.EngineError) as caught:
        MISTAKES[mistake]()
    said = str(caught.value)
    assert said.endswith("."), said
    assert len(said) > 40, said


WORKS: dict[str, Callable[[], object]] = {
    "a set given as one list": lambda: RUN.release.estimate(["Hair", "Sex"]),  # type: ignore[arg-type]
    "a set given as one tuple": lambda: RUN.release.estimate(("Hair", "Sex")),  # type: ignore[arg-type]
    "a position of NumPy's": lambda: RUN.release.estimate(np.int64(0)),  # type: ignore[arg-type]
    "a degree of NumPy's": lambda: engine.Workload.all_kway(DOMAIN, np.int64(2)),  # type: ignore[arg-type]
    "a seed of NumPy's": lambda: engine.rehearsal_noise(np.int64(2)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", WORKS, ids=str)
def test_what_is_meant_is_clear_enough(case: str) -> None:
    assert WORKS[case]() is not None


def test_a_generator_goes_on_from_where_it_stands() -> None:
    generator = np.random.default_rng(7)
    source = engine.rehearsal_noise(generator)
    one, two = source.gaussian((2,), variance=1.0), source.gaussian((2,), variance=1.0)
    assert not np.array_equal(one, two)
    again = engine.rehearsal_noise(7)
    assert np.array_equal(one, again.gaussian((2,), variance=1.0))
