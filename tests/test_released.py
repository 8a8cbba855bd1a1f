"""Released values: equal when their numbers are, and frames in pandas types."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import engine
from engine import trace


def measurement(first: float = 1.0, precision: float = 2.0) -> engine.Measurement:
    return engine.Measurement((0,), np.array([first, 2.0]), precision)


def test_released_values_are_equal_when_their_numbers_are() -> None:
    assert measurement() == measurement()
    assert measurement() != measurement(first=1.5)
    assert measurement() != measurement(precision=3.0)
    assert measurement() != "a measurement"
    assert hash(measurement()) == hash(measurement())
    assert len({measurement(), measurement(), measurement(first=0.0), measurement(first=-0.0)}) == 2
    one, other = engine.Beliefs().combined([measurement()]), engine.Beliefs()
    assert one == engine.Beliefs().combined([measurement()])
    assert one != other


@pytest.mark.parametrize(
    "mechanism", [engine.AimGrem(finish="rounds"), engine.AimGrem.paper(), engine.ResidualPlanner()]
)
def test_a_run_read_back_from_json_is_equal_to_itself(mechanism: engine.Mechanism) -> None:
    domain = engine.Domain.from_sizes({"a": 3, "b": 2, "c": 2})
    codes = np.random.default_rng(1).integers(0, domain.sizes, (200, 3))
    table = engine.Table.from_codes(codes, domain)
    workload = engine.Workload.all_kway(domain, 2)
    run = engine.run(mechanism, table, workload, epsilon=2, delta=1e-6, seed=3)
    again = [
        trace.event_from_dict(json.loads(json.dumps(trace.event_to_dict(event))))
        for event in run.events
    ]
    assert again == list(run.events)
    other = engine.run(mechanism, table, workload, epsilon=2, delta=1e-6, seed=4)
    assert again != list(other.events)
    assert list(run.release.estimates()) == list(run.release.estimates())
    assert list(run.release.estimates()) != list(other.release.estimates())


def test_a_frame_has_ordered_categories_and_intervals() -> None:
    domain = engine.Domain(
        (
            engine.Attribute("age", "numeric", edges=(0, 10, 20), outside="other"),
            engine.Attribute("children", "integer", bounds=(0, 2)),
            engine.Attribute("town", values=("Oslo", "Rome")),
        )
    )
    values = np.arange(18.0).reshape(3, 3, 2)
    frame = engine.Estimate(domain, (0, 1, 2), values, None).to_frame()
    ages = list(frame["age"].cat.categories)
    assert ages == [pd.Interval(0, 10, closed="left"), pd.Interval(10, 20, "both"), "(other)"]
    assert frame["age"].cat.ordered
    assert frame["children"].cat.categories.tolist() == [0, 1, 2]
    assert not frame["town"].cat.ordered
    assert frame["count"].tolist() == list(range(18))
    assert frame.groupby("children", observed=True)["count"].sum().tolist() == [39.0, 51.0, 63.0]


def test_what_was_never_measured_is_named() -> None:
    domain = engine.Domain.from_sizes({"a": 3, "b": 2})
    estimate = engine.Estimate(domain, (0, 1), np.zeros((3, 2)), 1.0, unmeasured=((0, 1), ()))
    assert estimate.unmeasured_labels == (domain.label((0, 1)), domain.label(()))
