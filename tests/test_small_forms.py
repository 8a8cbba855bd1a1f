"""Loops that have a NumPy form for small runs: both forms say the same, to the rounding of sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from engine import compiling
from engine.completing import fitting, shrinking

POWERS, RELATIVES = np.array([0.0, 0.5, 1.0]), np.exp(np.linspace(-20.0, 8.0, 57))


@contextmanager
def by_the_loop() -> Iterator[None]:
    """Interpret the loops themselves: what numba compiles, without waiting for it."""
    loops = [loop for loop in compiling.loops() if not loop._alike]
    kept = [loop._plain for loop in loops]
    for loop in loops:
        loop._plain = loop.function
    try:
        with compiling.free_work(np.inf):
            yield
    finally:
        for loop, plain in zip(loops, kept, strict=True):
            loop._plain = plain


def shrunk(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 7, size=rng.integers(1, 5)))
    predicted = rng.exponential(9.0, shape) * (rng.random(shape) < 0.8) * (seed % 5 > 0)
    noisy = shrinking.centered(rng.normal(size=shape) * 4.0)
    gain, ratio, group = shrinking.evidence(
        noisy, predicted, variance=2.5, freedom=3, powers=POWERS, relatives=RELATIVES
    )
    prior = rng.dirichlet(np.ones(gain.size)).reshape(gain.shape)
    options = {"relatives": RELATIVES, "prior": prior, "times": 4}
    found = shrinking.shrunk(noisy, gain, ratio, group, **options)  # type: ignore[arg-type]
    weight = rng.random(shape) * (rng.random(shape) < 0.7)
    rows, others = rng.random((3, 11)), rng.random((6, 11))
    return [
        gain, ratio[:, group], found, shrinking.centered_by(noisy, weight, 4),
        shrinking.inner(rows, others),
    ]  # fmt: skip


def fitted(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(1, 6, size=3)
    table = rng.exponential(9.0, (a, b, c)) * (rng.random((a, b, c)) < 0.8)
    other = table if seed % 2 else rng.exponential(9.0, (a, b, c))  # else: nothing fits them all
    return [fitting.fit_three(table.sum(2), table.sum(1), other.sum(0))]


@pytest.mark.parametrize("made", [shrunk, fitted])
def test_both_forms_say_the_same(made: Callable[[int], list[np.ndarray]]) -> None:
    for seed in range(40):
        with compiling.free_work(np.inf):
            small = made(seed)
        with by_the_loop():
            large = made(seed)
        for one, other in zip(small, large, strict=True):
            scale = max(float(np.abs(other).max()), 1.0)
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10 * scale)


def test_a_form_that_says_something_else_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrinking._inner, "_plain", lambda rows, others, out: out.fill(1.0))
    with pytest.raises(AssertionError):
        test_both_forms_say_the_same(shrunk)
