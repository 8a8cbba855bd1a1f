"""Attacks from the literature: they win on a rehearsal's noise, and never on a release's.

Mironov 2012 and the time of a draw (Haney et al. 2022; Jin et al. 2022) are in
``tests/test_exact_measure.py`` and ``tests/test_exact_noise.py``; here are the rest.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

import engine
from engine.exact_noise import ExactNoise
from engine.measure import measure_residuals
from engine.noise import RandomSource
from engine.released import Allocation
from tests.support import ROOT

STD = 3.0
RELEASES = 1_500


def totals(records: int, rng: RandomSource, count: int = RELEASES) -> list[float]:
    """Released totals of a table, again and again."""
    domain = engine.Domain.from_sizes({"a": 2})
    private = engine.Private(engine.Table.from_codes([[0]] * records, domain))
    precision = 1 / STD**2
    plan = [Allocation((), 0.0, precision, Fraction(precision) / 2)] * count
    ledger = engine.Ledger(Fraction(count))
    _, measured = measure_residuals(private, plan, ledger=ledger, rng=rng)
    return [float(m.values) for m in measured]


def reachable(noise: float, scale: float) -> bool:
    """Whether a floating-point number times the scale gives this noise (Jin et al. 2022)."""
    near = noise / scale
    around = (near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf))
    return any(z * scale == noise for z in around)


def given_away(released: list[float], records: int) -> float:
    """Share of totals that no scaled noise leads to from one record more.

    All noise that rounds to the total is tried: numbers near the difference, one after the other.
    """
    precision = 1 / STD**2
    scale = math.nextafter(math.sqrt(math.nextafter(1.0 / precision, math.inf)), math.inf)

    def possible(total: float, count: int) -> bool:
        noise = total - count
        tried = [noise]
        for way in (math.inf, -math.inf):
            near = noise
            for _ in range(8):
                near = math.nextafter(near, way)
                tried.append(near)
        return any(count + x == total and reachable(x, scale) for x in tried)

    return sum(not possible(total, records + 1) for total in released) / len(released)


def test_scaled_floating_point_noise_gives_the_table_away_and_whole_noise_does_not() -> None:
    """Jin, McMurtry, Rubinstein, Ohrimenko 2022: not every number is a float times the scale."""
    rehearsed = totals(0, engine.rehearsal_noise(5))
    # What was drawn is always reachable from the table it was drawn on: the attack is right.
    assert given_away(rehearsed, -1) == 0.0
    # Seen from one record more a third of them is not.
    assert given_away(rehearsed, 0) > 0.25
    # Of whole noise each number is as possible from either table: both have all whole numbers.
    released = np.array(totals(0, ExactNoise()))
    assert np.array_equal(released, np.rint(released))


@pytest.mark.parametrize("count", [2**53, 2**53 + 1, 2**53 + 2])
def test_a_record_moves_an_exact_count_by_one_where_floats_move_it_by_two_or_not_at_all(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Casacuberta, Shoemate, Vadhan, Wagaman 2022: sums of floats have another sensitivity."""
    monkeypatch.setattr(ExactNoise, "_gaussian", lambda _, n, variance: np.zeros(n, dtype=object))
    counts = [np.array([c], dtype=np.int64) for c in (count, count + 1)]
    exact = []
    for values in counts:
        rng = ExactNoise()
        rng.paid([engine.Charge("measure", (0,), Fraction(1, 2))])
        exact.append(int(rng.noisy(values, variance=Fraction(1), sensitivity=1)[0]))
    assert exact[1] - exact[0] == 1
    floats = [float((values + 0.0)[0]) for values in counts]
    assert floats[1] - floats[0] in (0.0, 2.0)


def test_a_total_beyond_64_bits_is_refused_and_never_wraps() -> None:
    """The same authors: an overflow makes neighbours differ by all there is."""
    domain = engine.Domain.from_sizes({"a": 60_000, "b": 60_000})
    private = engine.Private(engine.Table.from_codes([[1, 2]], domain))
    plan = [Allocation((0, 1), 0.0, 1e-3, Fraction(1, 10**4))]
    with pytest.raises(engine.WorkloadError) as caught:
        measure_residuals(private, plan, ledger=engine.Ledger(Fraction(1)), rng=ExactNoise())
    assert caught.value.code == "E_TOO_LARGE"


def test_the_page_on_security_names_tests_that_are_there() -> None:
    text = (ROOT / ".github" / "SECURITY.md").read_text("utf-8")
    named = set(re.findall(r"`((?:tests|engine)/[\w/]+\.(?:py|md))`", text))
    assert len(named) >= 12
    assert [name for name in named if not (ROOT / name).is_file()] == []
    for number in range(1, 11):
        assert f"| T{number} " in text, number
