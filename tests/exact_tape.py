"""A transcript of a run with exact noise, to replay on another table (as ``support.Tape``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import engine
from engine.exact_noise import ExactNoise, ExactSource, GridScores


class ExactTape(ExactSource):
    """What was paid, asked for and drawn, in order; ``replay`` repeats the results."""

    rehearsal = True

    def __init__(self, recorded: ExactTape | None = None) -> None:
        self._inner = ExactNoise()
        self._source: Iterator[Any] | None = iter(recorded.results) if recorded else None
        self.laws: list[tuple[str, Any]] = []
        self.results: list[Any] = []

    def paid(self, charges: Sequence[engine.Charge]) -> None:
        self.laws.append(("paid", sum((c.rho for c in charges), Fraction(0))))
        self._inner.paid(charges)

    def noisy(self, exact: np.ndarray, *, variance: Fraction, sensitivity: int) -> Any:
        self.laws.append(("noisy", (exact.copy(), variance)))
        return self._next(
            exact.shape,
            lambda: self._inner.noisy(exact, variance=variance, sensitivity=sensitivity),
        )

    def choose_exactly(self, scores: GridScores) -> int:
        self.laws.append(("chosen", scores))
        return int(self._next((), lambda: np.array(self._inner.choose_exactly(scores))))

    def _next(self, shape: tuple[int, ...], draw: Any) -> Any:
        if self._source is None:
            self.results.append(draw())
        else:
            self.results.append(next(self._source))
            assert self.results[-1].shape == shape
        return self.results[-1]

    def receipt(self) -> None:
        """None: a repeated transcript was not drawn."""

    def replay(self) -> ExactTape:
        """A source that repeats this transcript."""
        return ExactTape(recorded=self)


def odometer(one: ExactTape, other: ExactTape) -> Iterator[tuple[Fraction, Fraction]]:
    """What each step costs exactly on two neighbouring tables, and what was charged for it.

    Both tapes hold the same results. The cost of noise is the squared distance over twice its
    variance, that of a choice the squared range of log-probability ratios over 8.
    """
    assert len(one.laws) == len(other.laws)
    paid, spent = Fraction(0), Fraction(0)
    for (kind, law), (same, law_there) in zip(one.laws, other.laws, strict=True):
        assert kind == same
        if kind == "paid":
            if paid:
                yield spent, paid
            assert law == law_there
            paid, spent = law, Fraction(0)
        elif kind == "noisy":
            (exact, variance), (there, same_variance) = law, law_there
            assert variance == same_variance
            spent += Fraction(int(((exact - there) ** 2).sum())) / (2 * variance)
        else:
            assert law.rate == law_there.rate
            gaps = [a - b for a, b in zip(law.units, law_there.units, strict=True)]
            spent += (law.rate * (max(gaps) - min(gaps))) ** 2 / 8
    yield spent, paid


def log_ratio(one: ExactTape, other: ExactTape) -> float:
    """log p(transcript | table) - log p(transcript | neighbour), from the laws alone."""
    total, results = 0.0, iter(one.results)
    for (kind, law), (_, there) in zip(one.laws, other.laws, strict=True):
        if kind == "noisy":
            drawn = next(results)
            (exact, variance), (exact_there, _) = law, there
            squares = (drawn - exact_there) ** 2 - (drawn - exact) ** 2
            total += float(int(squares.sum()) / (2 * variance))
        elif kind == "chosen":
            k = int(next(results))
            for scores, sign in ((law, 1.0), (there, -1.0)):
                rate = float(scores.rate)
                weights = np.array([rate * (u - max(scores.units)) for u in scores.units], float)
                total += sign * float(weights[k] - np.log(np.exp(weights).sum()))
    return total
