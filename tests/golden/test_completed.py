"""The default mechanism on Adult: the values recorded by ``tests/golden/completed.py``."""

from __future__ import annotations

import json

import pytest

import engine
from tests.golden import completed

SAME = 1e-6
"""Relative: compiled sums may be taken in another order on another processor."""
KEPT = json.loads(completed.PATH.read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", completed.EPSILONS)
def test_the_default_mechanism_answers_what_was_recorded(
    adult_private: engine.Private, epsilon: float
) -> None:
    found, expected = completed.answers(adult_private, epsilon), KEPT[f"{epsilon:g}"]
    assert found["selected"] == expected["selected"]
    for name in ("spent", "mean_l1", "sums", "largest", "spread"):
        assert found[name] == pytest.approx(expected[name], rel=SAME), name


@pytest.mark.parametrize("epsilon", completed.EPSILONS)
def test_what_was_recorded_adds_up_and_is_better_than_the_product(epsilon: float) -> None:
    kept = KEPT[f"{epsilon:g}"]
    assert kept["sums"] == pytest.approx([kept["sums"][0]] * len(completed.TABLES), rel=1e-6)
    assert kept["mean_l1"] < 0.42  # of the product of the true 1-way marginals
