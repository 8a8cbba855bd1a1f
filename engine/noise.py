"""Where randomness comes from: always an argument, never ambient.

A rehearsal draws floating-point Gaussian noise from a NumPy generator; whoever knows its seed can
subtract the noise, so nothing drawn from it is a private release. Exact discrete noise for releases
stands behind the same two questions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol, TypeAlias

import numpy as np

from engine.accounting import Charge
from engine.checking import found, whole
from engine.errors import BudgetError, OptionError
from engine.types import FloatArray

_MANY = 4096
"""Candidates above which one is sought by attempts first, and else block by block."""
_ATTEMPTS, _AT_ONCE = 4, 1024
_SMALLEST = -100.0
"""Logarithm of the smallest weight, relative to the largest: a million such are never drawn."""


Seed: TypeAlias = int | np.random.Generator | None
"""What repeats a run: a whole number, or a generator; None for fresh randomness."""


class RandomSource(Protocol):
    """What measuring and selecting ask of a source of randomness."""

    @property
    def rehearsal(self) -> bool:
        """Whether results are a demonstration only."""
        ...

    def gaussian(self, shape: tuple[int, ...], *, variance: float) -> FloatArray:
        """Draw independent Gaussian noise with at least this variance."""
        ...

    def choose(self, log_weights: FloatArray) -> int:
        """Draw a position with probability proportional to exp(log_weights)."""
        ...


def check_source(rng: object) -> None:
    """Refuse what is no source of randomness, before anything is charged.

    Raises:
        OptionError: If it is none (``E_OPTION``).
    """
    if not isinstance(getattr(rng, "rehearsal", None), bool):
        raise OptionError(
            f"{found(rng)} was given where a source of randomness is needed. Give "
            "engine.rehearsal_noise(seed), or where there is one a seed."
        )


class Receipt:
    """What exact noise was drawn for: only a source of it writes one (``ExactNoise.receipt``).

    It lifts the mark of a demonstration from a release. Pickled or copied it is none.
    """

    __slots__ = ("charges",)

    charges: tuple[Charge, ...]

    def __init__(self) -> None:
        raise TypeError("A receipt is written by the source of exact noise that was paid.")

    def __reduce__(self) -> tuple[object, ...]:
        return type(None), ()


def write_receipt(charges: Iterable[Charge]) -> Receipt:
    """Write a receipt; for sources of exact noise, and nobody else."""
    receipt = object.__new__(Receipt)
    receipt.charges = tuple(charges)
    return receipt


class Rehearsal:
    """Floating-point noise for demonstrations, tests and benchmarks.

    Args:
        seed: Same seed, same run; or a NumPy generator, which goes on from where it stands. None
            asks the operating system for a seed.
    """

    __slots__ = ("_generator",)

    def __init__(self, seed: Seed = None) -> None:
        if isinstance(seed, np.random.Generator):
            self._generator = seed
            return
        number = whole(seed)
        if seed is not None and (number is None or number < 0):
            raise BudgetError(
                f"The seed is {seed!r}; a whole number of 0 or more, or None, is needed.",
                code="E_SEED",
            )
        self._generator = np.random.default_rng(number)

    @property
    def rehearsal(self) -> bool:
        """Always true."""
        return True

    def gaussian(self, shape: tuple[int, ...], *, variance: float) -> FloatArray:
        """Draw independent Gaussian noise with at least this variance.

        Raises:
            BudgetError: If the variance is not finite and positive. NumPy itself returns no noise
                for 0 and NaN for NaN, both without complaint.
        """
        if not (math.isfinite(variance) and variance > 0):
            raise BudgetError(
                f"The noise variance is {variance!r}; a finite number above 0 is needed.",
                code="E_VARIANCE",
            )
        noise: FloatArray = self._generator.standard_normal(shape)
        # Rounded up: towards more noise.
        noise *= math.nextafter(math.sqrt(variance), math.inf)
        return noise

    def choose(self, log_weights: FloatArray) -> int:
        """Draw a position with probability proportional to exp(log_weights)."""
        top = float(log_weights.max())
        # Among many, taking one at random and keeping it with probability exp(log weight - top) is
        # the same law, and seldom needs many attempts.
        for _ in range(_ATTEMPTS if len(log_weights) > _MANY else 0):
            tried = self._generator.integers(len(log_weights), size=_AT_ONCE)
            kept = self._generator.random(_AT_ONCE) < _weights(log_weights[tried], top)
            if kept.any():
                return int(tried[kept.argmax()])
        # Sums of blocks first: what is in the cache is added up faster.
        blocks = [log_weights[at : at + _MANY] for at in range(0, len(log_weights), _MANY)]
        upto = np.cumsum([_weights(block, top).sum() for block in blocks])
        drawn = self._generator.random() * float(upto[-1])
        block = min(int(np.searchsorted(upto, drawn, side="right")), len(upto) - 1)
        within = np.cumsum(_weights(blocks[block], top))
        drawn -= float(upto[block - 1]) if block else 0.0
        place = min(int(np.searchsorted(within, drawn, side="right")), len(within) - 1)
        return block * _MANY + place

    def __repr__(self) -> str:
        return "Rehearsal(floating-point noise: a demonstration, not a private release)"


class MadeUp:
    """Draws for made-up worlds, which protect nothing: one stream for each seed and key.

    Args:
        seed: Zero or more.
        *key: Whole numbers, zero or more: which stream.
    """

    __slots__ = ("_generator",)

    def __init__(self, seed: int, *key: int) -> None:
        self._generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))

    def normal(self, shape: tuple[int, ...]) -> FloatArray:
        """Draw standard normal numbers."""
        drawn: FloatArray = np.asarray(self._generator.standard_normal(shape))
        return drawn

    def poisson(self, means: FloatArray) -> FloatArray:
        """Draw Poisson counts with these means."""
        return np.asarray(self._generator.poisson(means), dtype=np.float64)


def _weights(log_weights: FloatArray, top: float) -> FloatArray:
    """exp(log_weights - top), where what is too small to be drawn may count a little more."""
    weights: FloatArray = log_weights - top
    # Results that double precision hardly holds take ten times as long.
    np.maximum(weights, _SMALLEST, out=weights)
    return np.exp(weights, out=weights)


def rehearsal_noise(seed: Seed = None) -> Rehearsal:
    """Return a source of demonstration noise; the same seed repeats the same run."""
    return Rehearsal(seed)


def probabilities(log_weights: FloatArray) -> FloatArray:
    """Return exp(log_weights), normalised to sum to one, without overflow."""
    weights: FloatArray = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return weights
