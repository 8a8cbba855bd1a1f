"""Intervals of completed answers hold the true cells as often as they say, and know when not to."""

from __future__ import annotations

import inspect
import itertools
import math
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import engine
from engine.completing import sureness
from engine.completing.release import Release
from tests.reference import sureness as reference


@cache
def _private(name: str = "ucb_admissions") -> engine.Private:
    return engine.Private(engine.load_sample(name))


@cache
def _released(seed: int, mechanism: str = "default") -> Release:
    private = _private()
    workload = engine.Workload.all_kway(private.domain, 2)
    chosen: Any = engine.AimGrem() if mechanism == "default" else engine.EqualSplit()
    # A run's own seed is a rehearsal's: here it repeats the test.
    return engine.run(chosen, private, workload, epsilon=1, delta=1e-9, seed=seed).release


def _coverage(seeds: range, mechanism: str = "default") -> float:
    """Share of true cells within their 90 % intervals, over all pairs and seeds."""
    held = cells = 0
    for seed in seeds:
        release = _released(seed, mechanism)
        sure = release.sureness(seed=500 + seed)
        for gamma in release.workload.weights:
            found = sure.interval(gamma)
            assert found.lower is not None
            assert found.upper is not None
            true = _private().marginal(gamma).values
            held += int(np.sum((found.lower <= true) & (true <= found.upper)))
            cells += true.size
    return held / cells


def test_half_widths_are_those_of_the_slow_twin() -> None:
    rng = np.random.default_rng(3)
    for draws, n in ((2, 1), (10, 2), (5, 30)):
        errors = rng.normal(size=(draws, n))
        values = rng.integers(0, 5, size=n).astype(float)
        fast = sureness.half_widths(values, errors, 0.9)
        np.testing.assert_allclose(fast, reference.half_widths(values, errors, 0.9), rtol=1e-9)


# Over 12 seeds 384 cells are looked at. Were they independent, correct intervals (0.9) would leave
# 0.80 to 0.98 with probability below 1e-6; they share their noise, as if there were a third as
# many: the false-alarm rate over seeds is below 1e-3. The seeds are fixed.
def test_intervals_hold_nine_true_cells_of_ten() -> None:
    assert 0.8 <= _coverage(range(12)) <= 0.98


def test_gaussian_intervals_hold_nine_true_cells_of_ten() -> None:
    assert 0.8 <= _coverage(range(12), "equal") <= 0.98


def test_half_the_noise_in_the_made_up_worlds_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sureness._World._rng

    def halved(self: Any, tau: tuple[int, ...], use: int) -> Any:
        rng = whole(self, tau, use)
        factor = 1.0 if use == 2 else 0.5
        return SimpleNamespace(normal=lambda shape: factor * rng.normal(shape), poisson=rng.poisson)

    monkeypatch.setattr(sureness._World, "_rng", halved)
    assert _coverage(range(12)) < 0.8


def test_intervals_repeat_and_do_not_depend_on_what_was_asked_before() -> None:
    release = _released(0)
    first, second = release.sureness(seed=4), release.sureness(seed=4)
    sets = [gamma for gamma in release.workload.layout.sets if gamma]
    one = {gamma: first.interval(gamma) for gamma in sets}
    other = {gamma: second.interval(gamma) for gamma in reversed(sets)}
    assert one == other
    assert one[sets[-1]] != release.sureness(seed=5).interval(sets[-1])


def test_higher_levels_are_wider_and_no_lower_end_is_negative() -> None:
    sure = _released(1).sureness(seed=0)
    narrow, wide = (sure.interval((0, 2), level=level) for level in (0.5, 0.95))
    assert narrow.upper is not None
    assert wide.upper is not None
    assert wide.lower is not None
    assert (wide.upper > narrow.upper).all()
    assert (wide.lower >= 0).all()


def test_three_way_parity_that_was_not_measured_is_not_known() -> None:
    domain = engine.Domain(tuple(engine.Attribute(n, values=("0", "1")) for n in "abc"))
    codes = [c for c in itertools.product((0, 1), repeat=3) if sum(c) % 2 == 0] * 500
    table = engine.Table.from_codes(np.array(codes), domain)
    workload = engine.Workload.all_kway(domain, 3)
    done = engine.run(engine.EqualSplit(), table, workload, epsilon=10, delta=1e-9, seed=1)
    beliefs = done.release.beliefs
    pairs = engine.Beliefs({tau: b for tau, b in beliefs.items() if len(tau) < 3})
    release = Release(
        workload, pairs, engine.Ledger(1), "pairs only", rehearsal=True, completion="sparse"
    )
    found = release.interval("a", "b", "c")
    assert (found.lower, found.upper, found.expected_l1) == (None, None, None)
    assert "Pairs cannot see" in found.why
    assert release.interval("a", "b").why == ""


def test_answers_without_completion_have_their_gaussian_interval() -> None:
    found = _released(2, "equal").interval("Gender", level=0.9)
    assert found.lower is not None
    assert found.estimate.std is not None
    half = found.estimate.values - found.lower
    np.testing.assert_allclose(half, 1.6448536 * found.estimate.std, rtol=1e-6)
    assert found.expected_l1 == pytest.approx(2 * math.sqrt(2 / math.pi) * found.estimate.std)


def test_totals_shares_and_differences_have_intervals() -> None:
    release = _released(3)
    sure = release.sureness(seed=0)
    weights = np.zeros((2, 2))
    weights[0] = 1.0
    total = sure.number((0, 1), weights)
    values = release.estimate("Admit", "Gender").values
    assert total.value == pytest.approx(values[0].sum())
    share = sure.number((0, 1), weights, among=np.ones((2, 2)))
    assert share.lower is not None
    assert share.upper is not None
    assert 0 < share.lower < share.value < share.upper < 1
    difference = sure.number((0, 1), np.array([[1.0, -1.0], [0.0, 0.0]]))
    assert difference.value == pytest.approx(values[0, 0] - values[0, 1])
    with pytest.raises(engine.OptionError, match="one for each cell"):
        sure.number((0, 1), np.ones(3))


@pytest.mark.parametrize("level", [0, 1, 1.5, "0.9", None, True])
def test_a_level_that_is_no_share_is_refused(level: Any) -> None:
    with pytest.raises(engine.OptionError, match="between 0 and 1"):
        _released(0).interval("Gender", level=level)


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"seed": "a"}, {"draws": 1}])
def test_a_seed_or_number_of_worlds_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(engine.OptionError):
        _released(0).sureness(**wrong)


def test_only_released_values_are_asked_for() -> None:
    source = inspect.getsource(sureness)
    assert "tables import" not in source.replace("engine.completing.completed", "")
    assert "Private" not in source
    assert "measure import" not in source


def test_a_frame_shows_the_ends() -> None:
    frame = _released(0).interval("Admit", "Gender").to_frame()
    assert {"count", "lower", "upper"} <= set(frame.columns)
    assert (frame["lower"] <= frame["upper"]).all()
