"""Water filling in exact fractions, and that the engine's plan is the same."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.demonstrating.pouring import pour

FEW = st.integers(1, 6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(FEW, st.integers(0, 12)), min_size=1, max_size=6), FEW)
def test_the_budget_is_poured_exactly_and_stands_at_one_level(
    vessels: list[tuple[int, int]], budget: int
) -> None:
    widths = [Fraction(w, 2) for w, _ in vessels]
    floors = [Fraction(f, 3) for _, f in vessels]
    found = pour(widths, floors, Fraction(budget))
    assert sum(found.poured) == budget
    for width, floor, water in zip(widths, floors, found.poured, strict=True):
        assert water >= 0
        assert (floor + water / width == found.level) if water else (floor >= found.level)
    levels = [step.level for step in found.steps]
    assert levels == sorted(levels, reverse=True), "who is omitted stood above the level"


def test_the_engine_s_plan_is_the_same_water() -> None:
    cost, gain = np.array([0.5, 0.25, 1.0]), np.array([2.0, 1.0, 0.25])
    known = np.array([0.0, 3.0, 0.1])
    ratio = np.sqrt(gain / cost)
    widths, floors = ([Fraction(v) for v in part] for part in (cost * ratio, known / ratio))
    found = pour(widths, floors, Fraction(1))
    added = engine.plan(cost, gain, known, budget=1.0)
    assert [float(w) for w in found.poured] == pytest.approx((cost * added).tolist(), abs=1e-12)


@pytest.mark.parametrize(
    ("widths", "floors", "budget"), [([], [], 1), ([0], [0], 1), ([1], [0], 0), ([1], [0, 1], 1)]
)
def test_what_cannot_be_poured_is_refused(
    widths: list[int], floors: list[int], budget: int
) -> None:
    with pytest.raises(engine.OptionError):
        pour(list(map(Fraction, widths)), list(map(Fraction, floors)), Fraction(budget))
