"""Bounds, bins and weights: what Learn says of them is so."""

from __future__ import annotations

import math

import numpy as np
import pytest

import engine
from engine.demonstrating import knobs
from engine.showing import knobs as drawings


def test_narrow_bounds_have_little_noise_and_much_bias() -> None:
    values = knobs.incomes()
    assert values.shape == (knobs.PEOPLE,)
    found = [knobs.clamped(values, 0.0, high, 0.01) for high in (30.0, 60.0, 200.0)]
    assert [f.noise for f in found] == sorted(f.noise for f in found)
    assert [abs(f.bias) for f in found] == sorted((abs(f.bias) for f in found), reverse=True)
    assert found[0].bias < -5 < -1 < found[2].bias <= 0
    # The mean of N values between 0 and 60 moves by at most 60 / N: Gaussian noise for that.
    assert found[1].noise == 60 / knobs.PEOPLE * math.sqrt(1 / (2 * 0.01))
    assert knobs.clamped(values, 0.0, 60.0, 1.0).bias == found[1].bias, "no budget mends it"


def test_more_bins_are_finer_and_noisier() -> None:
    values = knobs.incomes()
    few, many = (knobs.binned(values, 0.0, 200.0, bins, 0.01) for bins in (10, 40))
    assert many.noise == pytest.approx(4 * few.noise)
    assert many.coarse < few.coarse / 2
    assert few.counts.sum() == many.counts.sum() == knobs.PEOPLE
    draws = engine.rehearsal_noise(0).gaussian((4000, 10), variance=few.sigma**2)
    simulated = float(np.abs(draws).sum(axis=1).mean()) / knobs.PEOPLE
    assert simulated == pytest.approx(few.noise, rel=0.02)


def test_a_weight_makes_its_table_more_accurate_at_the_cost_of_others() -> None:
    light, heavy = knobs.weighted(0.25, 0.05), knobs.weighted(4.0, 0.05)
    assert heavy["age × sex"] < light["age × sex"]
    assert heavy["sex × income"] > light["sex × income"]


def test_the_histogram_says_how_many_bins_noise_hides() -> None:
    found = knobs.binned(knobs.incomes(), 0.0, 200.0, 50, 0.001)
    figure = drawings.histogram(found, title="x")
    hidden = int((found.counts < 2 * found.sigma).sum())
    assert f"in {hidden} of them" in figure.alt
    assert hidden > 10
    assert figure.badge == "public"
    figure.chart.to_dict()
