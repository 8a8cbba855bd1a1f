"""What several test modules share: small random cases, and random sources that watch or repeat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine.mechanisms import catalogue

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "sample_data"

ALPHA = 1e-6
"""Chance that correct code fails a statistical test when the seed changes."""
RELATIVE = 1e-9
"""Relative norm to which two ways of computing an estimate agree (MATH section 3)."""


def relative_error(found: Any, expected: Any) -> float:
    """Norm of the difference, relative to the expected norm (or absolute where that is 0)."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape
    scale = float(np.linalg.norm(expected.ravel()))
    return float(np.linalg.norm((found - expected).ravel())) / (scale or 1.0)


# -- small random cases --------------------------------------------------------------------------


def random_sizes(rng: np.random.Generator, *, attributes: int = 4, values: int = 5) -> list[int]:
    """Sizes of a random small domain; one-valued attributes are common on purpose."""
    d = int(rng.integers(1, attributes + 1))
    return [int(n) for n in rng.integers(1, values + 1, size=d)]


def make_domain(sizes: list[int] | tuple[int, ...]) -> engine.Domain:
    """A domain of coded attributes a0, a1, ..."""
    return engine.Domain.from_sizes({f"a{i}": n for i, n in enumerate(sizes)})


def random_codes(rng: np.random.Generator, sizes: list[int], *, rows: int = 40) -> np.ndarray:
    """Up to ``rows`` records; skewed, so that some cells are full and others empty."""
    n = int(rng.integers(0, rows + 1))
    columns = [np.minimum(rng.geometric(0.5, size=n) - 1, size - 1) for size in sizes]
    return np.stack(columns, axis=1).astype(np.int64) if n else np.zeros((0, len(sizes)), np.int64)


def random_workload(rng: np.random.Generator, domain: engine.Domain) -> engine.Workload:
    """Some weighted sets of random degree; now and then the total alone."""
    d = len(domain)
    weights: dict[tuple[int, ...], float] = {}
    for _ in range(int(rng.integers(1, 4))):
        k = int(rng.integers(0, d + 1))
        attrs = tuple(int(i) for i in np.sort(rng.choice(d, size=k, replace=False)))
        weights[attrs] = float(rng.choice([1.0, 0.5, 3.0]))
    return engine.Workload(weights, domain)


def random_case(
    rng: np.random.Generator, *, attributes: int = 4, values: int = 5, rows: int = 40
) -> tuple[engine.Domain, np.ndarray, engine.Workload]:
    """A domain, codes of records, and a workload."""
    sizes = random_sizes(rng, attributes=attributes, values=values)
    domain = make_domain(sizes)
    return domain, random_codes(rng, sizes, rows=rows), random_workload(rng, domain)


def all_mechanisms() -> dict[str, Any]:
    """Every mechanism of the catalogue, and further options that change what one does."""
    listed = {e.key: e.make() for e in catalogue.entries() if not e.one_ways and not e.extra}
    return listed | {
        "full iid": engine.AimGrem(update="full", noise="iid", completion="none"),
        "omits much": engine.AimGrem(omit_below=0.3, completion="none"),
        "completed, rounds": engine.AimGrem(finish="rounds"),
        "completed, full": engine.AimGrem(finish="rounds", update="full"),
        "completed at the end": engine.AimGrem(in_loop=False),
        "mwem crp": engine.MwemGrem(noise="crp"),
        "sequence full crp": engine.FixedSequence(update="full"),
        "sequence full iid": engine.FixedSequence(update="full", noise="iid"),
        "sequence respend": engine.FixedSequence(respend=True),
    }


@dataclass(frozen=True, slots=True)
class Throwaway(engine.Uniform):
    """A mechanism that only a test knows: it measures the total, as ``Uniform`` does."""


THROWAWAY = catalogue.Entry(
    "throw_away", "Throw-away", Throwaway, "tests.support.Throwaway()",
    catalogue.Style("#123456", "stroke", (1, 5)), note=", for a test",
)  # fmt: skip
"""What a person writes to add a mechanism."""


def play(
    mechanism: Any, table: Any, workload: engine.Workload, *, rho: Any, rng: Any
) -> tuple[list[Any], list[Any], engine.Release]:
    """Run to the end with this random source: states, events, release."""
    private = table if isinstance(table, engine.Private) else engine.Private(table)
    states, events = [], []
    for state, event in engine.rounds(mechanism, private, workload, rho=rho, rng=rng):
        states.append(state)
        events.append(event)
    return states, events, mechanism.release(states[-1])


# -- random sources ------------------------------------------------------------------------------


class Counting:
    """Counts draws; what a refusal must leave at zero."""

    def __init__(self, seed: int = 0) -> None:
        self._inner = engine.rehearsal_noise(seed)
        self.draws = 0

    rehearsal = True

    def gaussian(self, shape: tuple[int, ...], *, variance: float) -> Any:
        self.draws += 1
        return self._inner.gaussian(shape, variance=variance)

    def choose(self, log_weights: Any) -> int:
        self.draws += 1
        return self._inner.choose(log_weights)


class _Overwrite:
    """Noise that replaces what it is added to: the sum is the recorded value."""

    __array_ufunc__ = None

    def __init__(self, recorded: np.ndarray) -> None:
        self._recorded = recorded

    def __add__(self, _: Any) -> np.ndarray:
        return self._recorded.copy()

    __radd__ = __iadd__ = __add__


class Tape:
    """A transcript: what was drawn and chosen, under which law, and the noisy values that resulted.

    Recording adds seeded noise; a ``replay`` of it returns the same noisy values and choices on any
    other table, and records the laws that were asked for there.
    """

    rehearsal = True

    def __init__(self, seed: int = 0, recorded: Tape | None = None) -> None:
        self._inner = engine.rehearsal_noise(seed)
        self._source: Iterator[Any] | None = iter(recorded.results) if recorded else None
        self.laws: list[tuple[str, Any]] = []
        self.results: list[Any] = []

    def gaussian(self, shape: tuple[int, ...], *, variance: float) -> Any:
        self.laws.append(("gaussian", (tuple(shape), variance)))
        if self._source is not None:
            kind, values = next(self._source, ("nothing", None))
            assert kind == "noisy"
            assert values.shape == tuple(shape)
            return _Overwrite(values)
        noise = np.asarray(self._inner.gaussian(shape, variance=variance))
        return _Remember(noise, self.results)

    def choose(self, log_weights: Any) -> int:
        self.laws.append(("choose", np.array(log_weights, dtype=float)))
        if self._source is not None:
            kind, chosen = next(self._source, ("nothing", None))
            assert kind == "chosen"
            return int(chosen)
        chosen = self._inner.choose(log_weights)
        self.results.append(("chosen", chosen))
        return chosen

    def replay(self) -> Tape:
        """A source that repeats this transcript."""
        return Tape(recorded=self)


class _Remember:
    """Noise that writes down the sum it ends up in."""

    __array_ufunc__ = None

    def __init__(self, noise: np.ndarray, results: list[Any]) -> None:
        self._noise, self._results = noise, results

    def __add__(self, exact: Any) -> np.ndarray:
        noisy = np.asarray(exact + self._noise)
        self._results.append(("noisy", noisy.copy()))
        return noisy

    __radd__ = __iadd__ = __add__
