"""What a release draws from: exact noise on whole numbers, exact choices among scores on a grid.

No floating-point number stands between a count and the noisy number. ``exact_draws`` has the
samplers; ``engine/releasing/PROOFS.md`` says why each law is the one that is charged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.accounting import Charge, Ledger, exact_sum
from engine.errors import BudgetError
from engine.exact import Exact
from engine.exact_draws import discrete_gaussian, softmax
from engine.noise import Receipt, write_receipt
from engine.types import FloatArray, IntArray

REACH = 1 << 20
"""How many steps of the grid of scores one record can move a score."""


class ExactSource(ABC):
    """Exact randomness: noise on integers, and choices among scores on a grid.

    A source of this kind draws no floating-point noise, and chooses by no floating-point weights.
    """

    @property
    @abstractmethod
    def rehearsal(self) -> bool:
        """Whether results are a demonstration only."""

    @abstractmethod
    def noisy(self, exact: IntArray, *, variance: Fraction, sensitivity: int) -> NDArray[Any]:
        """Return whole numbers with independent discrete Gaussian noise added.

        Args:
            exact: Any shape, int64.
            variance: The parameter sigma² of the discrete Gaussian; the variance is at most that.
            sensitivity: Largest squared L2 norm by which one record moves ``exact``.
        """

    @abstractmethod
    def choose_exactly(self, scores: GridScores) -> int:
        """Draw a position with probability proportional to exp(rate * units), exactly."""

    def paid(self, charges: Sequence[Charge]) -> None:
        """Learn what was charged, before anything is drawn for it."""
        del charges

    def gaussian(self, shape: tuple[int, ...], *, variance: float) -> Any:
        """Refuse: floating-point noise is no release."""
        raise _inexact("noise")

    def choose(self, log_weights: Any) -> int:
        """Refuse: floating-point weights are no release."""
        raise _inexact("a choice")


def _inexact(what: str) -> BudgetError:
    return BudgetError(
        f"A release was asked for {what} in floating-point numbers; whole numbers are needed. "
        "Release with a mechanism that offers it (engine.release lists them).",
        code="E_INEXACT",
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GridScores(Exact):
    """Scores of candidates as whole numbers, with what one unit is worth: private.

    Args:
        units: One for each candidate; one record moves each by at most ``reach``.
        reach: See there.
        epsilon: The exponential mechanism's parameter: weights are exp(epsilon units / (2 reach)).
    """

    units: NDArray[Any]
    reach: int
    epsilon: Fraction

    @classmethod
    def of(cls, log_weights: FloatArray, epsilon: Fraction) -> GridScores:
        """Take computed log weights down to a grid that divides epsilon / 2.

        Where one record moves each, as computed, by at most epsilon / 2, it moves each whole number
        by at most ``reach``: rounding down keeps that, since it commutes with adding whole numbers.

        Raises:
            BudgetError: If a log weight is not finite (``E_INEXACT``): the budget is out of range.
        """
        if not np.isfinite(log_weights).all():
            raise _inexact("a choice by weights that are not finite")
        above, below = (2 * REACH / epsilon).as_integer_ratio()
        ratios = [weight.as_integer_ratio() for weight in log_weights.tolist()]
        units = np.array([n * above // (d * below) for n, d in ratios], dtype=object)
        return cls(units, REACH, epsilon)

    @property
    def rate(self) -> Fraction:
        """What a unit adds to the logarithm of a weight."""
        return self.epsilon / (2 * self.reach)

    @property
    def rho(self) -> Fraction:
        """What choosing costs: epsilon² / 8 (bounded range; Cesar and Rogers 2021)."""
        return self.epsilon**2 / 8

    def __repr__(self) -> str:
        return f"GridScores({len(self.units):,} candidates, private)"


def charged(ledger: Ledger, rng: object, *charges: Charge) -> Ledger:
    """Charge, and tell an exact source so: it draws nothing that was not paid.

    Raises:
        BudgetError: If the ledger refuses; the source hears nothing then.
    """
    ledger = ledger.charge(*charges)
    if isinstance(rng, ExactSource):
        rng.paid(charges)
    return ledger


# -- the source -----------------------------------------------------------------------------------


class ExactNoise(ExactSource):
    """Exact noise of this module, from the operating system; it holds no state to repeat or seed.

    It draws nothing that was not paid: what its draws cost never exceeds what it was told of.
    """

    def __init__(self) -> None:
        self._unspent = Fraction(0)
        self._paid: list[Charge] = []

    @property
    def rehearsal(self) -> bool:
        """Always false."""
        return False

    def receipt(self) -> Receipt:
        """Say what it was paid for, in order: with it a release shows that its noise was exact."""
        return write_receipt(self._paid)

    def paid(self, charges: Sequence[Charge]) -> None:
        """Learn what was charged, before anything is drawn for it."""
        self._paid.extend(charges)
        self._unspent = exact_sum([self._unspent, *(charge.rho for charge in charges)])

    def noisy(self, exact: IntArray, *, variance: Fraction, sensitivity: int) -> NDArray[Any]:
        """Return whole numbers with independent discrete Gaussian noise added.

        Raises:
            BudgetError: If it was not paid for (``E_OVERSPEND``); nothing is drawn then.
        """
        self._spend(sensitivity / (2 * variance))
        noise = self._gaussian(exact.size, variance).reshape(exact.shape)
        noisy: NDArray[Any] = exact + noise
        return noisy

    def choose_exactly(self, scores: GridScores) -> int:
        """Draw a position with probability proportional to exp(rate * units), exactly.

        Raises:
            BudgetError: If it was not paid for (``E_OVERSPEND``); nothing is drawn then.
        """
        self._spend(scores.rho)
        return self._chosen(scores)

    def _gaussian(self, count: int, variance: Fraction) -> NDArray[Any]:
        return discrete_gaussian(count, variance=variance)

    def _chosen(self, scores: GridScores) -> int:
        return softmax(scores.units, scores.rate)

    def _spend(self, rho: Fraction) -> None:
        if rho > self._unspent:
            raise BudgetError(
                f"A draw would cost rho = {float(rho):.6g}, and {float(self._unspent):.6g} was "
                "charged for it. Charge before drawing.",
                code="E_OVERSPEND",
            )
        self._unspent -= rho

    def __repr__(self) -> str:
        return f"{type(self).__name__}(exact noise from the operating system)"
