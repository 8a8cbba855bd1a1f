"""zCDP accounting: a ledger that refuses before noise is drawn, and rho <-> (epsilon, delta).

Neighbouring tables differ by adding or removing one record. zCDP adds up, and rho-zCDP
implies (epsilon, delta)-DP with (Canonne, Kamath, Steinke 2020)

    delta = min over alpha > 1 of
            exp((alpha - 1) (alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1).
"""

from __future__ import annotations

import itertools
import math
import os
import threading
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Literal, NoReturn, cast

import numpy as np

from engine.errors import BudgetError
from engine.types import AttributeSet

MAX_EPSILON = 1000.0
"""Beyond it nothing is protected and the arithmetic of selection has no meaning."""
RHO_RANGE = (Fraction(1, 10**60), Fraction(10**6))
"""What may be asked for; below it variances leave the range of floating-point numbers."""
_ROUNDING = 4e-15
"""Rounding allowed for in the conversions, relative to their terms; always to the safe side."""


@dataclass(frozen=True, slots=True, repr=False)
class Charge:
    """One entry of the ledger: what was done, on which attributes, at which cost in rho.

    ``attrs`` is None for a selection, whose cost does not depend on what is selected.
    """

    what: Literal["measure", "select"]
    attrs: AttributeSet | None
    rho: Fraction

    def __repr__(self) -> str:
        about = "" if self.attrs is None else f" {self.attrs}"
        return f"Charge({self.what}{about}, rho {float(self.rho):.6g})"


def exact_sum(values: Iterable[Fraction]) -> Fraction:
    """Add up over one common denominator: the exact sum, without reducing it at every step.

    >>> exact_sum([Fraction(1, 6), Fraction(1, 3)])
    Fraction(1, 2)
    """
    parts = [value.as_integer_ratio() for value in values]
    common = math.lcm(*[below for _, below in parts])
    return Fraction(sum(above * (common // below) for above, below in parts), common)


_appending = threading.Lock()
_PROCESS, _numbers = uuid.uuid4().hex, itertools.count(1)


class Ledger:
    """Charges against a total in rho, exact rational numbers throughout. Immutable.

    Successive ledgers share one list and differ in how much of it they see, so that a charge costs
    the same in the last round as in the first.

    Args:
        total: What may be spent in all.

    ``run`` names the run it is of, however often it is forked; ``what_if`` says that its total was
    changed after the fact, so that it shows what might have been and is no release.

    >>> ledger = Ledger(Fraction(1, 2)).charge(Charge("measure", (0,), Fraction(1, 3)))
    >>> ledger.left, len(ledger.entries)
    (Fraction(1, 6), 1)
    """

    __slots__ = ("_length", "_log", "run", "spent", "total", "what_if")

    total: Fraction
    spent: Fraction
    run: str
    what_if: bool
    _log: list[Charge]
    _length: int

    def __init__(self, total: Fraction) -> None:
        if isinstance(total, bool) or not isinstance(total, Rational) or total < 0:
            raise BudgetError(
                f"The ledger's total is {total!r}; a whole number or a Fraction of 0 or more is "
                "needed, since charges are added exactly. Write Fraction(1, 10).",
                code="E_RHO",
            )
        self._fill(Fraction(total), Fraction(0), [], 0)
        self._name(f"{_PROCESS}-{os.getpid()}-{next(_numbers)}", what_if=False)

    def _name(self, run: str, *, what_if: bool) -> None:
        object.__setattr__(self, "run", run)
        object.__setattr__(self, "what_if", what_if)

    def _fill(self, total: Fraction, spent: Fraction, log: list[Charge], length: int) -> None:
        object.__setattr__(self, "total", total)
        object.__setattr__(self, "spent", spent)
        object.__setattr__(self, "_log", log)
        object.__setattr__(self, "_length", length)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A ledger is not changed; charge returns a longer one.")

    @property
    def entries(self) -> tuple[Charge, ...]:
        """All charges in order."""
        return tuple(self._log[: self._length])

    def entries_since(self, earlier: Ledger) -> tuple[Charge, ...]:
        """Return the charges made after an earlier ledger of the same run."""
        return tuple(self._log[earlier._length : self._length])

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.total - self.spent

    def charge(self, *charges: Charge) -> Ledger:
        """Return the ledger with these entries added: all of them, or none.

        Raises:
            BudgetError: If the sum would exceed the total (``E_OVERSPEND``). Nothing is charged.
        """
        try:
            costs = [charge.rho for charge in charges]
        except AttributeError:
            raise BudgetError(
                "A ledger was given something that is no Charge; a Charge with its rho is needed. "
                'Write Charge("measure", attrs, Fraction(1, 10)).',
                code="E_RHO",
            ) from None
        if any(cost.numerator < 0 for cost in costs):
            raise BudgetError("A charge is negative; costs are 0 or more.", code="E_OVERSPEND")
        spent = exact_sum([self.spent, *costs])
        if spent > self.total:
            asked = exact_sum(costs)
            raise BudgetError(
                f"This step costs rho = {float(asked):.6g} but only {float(self.left):.6g} is "
                "left. Lower its precision, or plan fewer rounds.",
                code="E_OVERSPEND",
                asked=float(asked),
                left=float(self.left),
            )
        # A fork finds the list longer than it remembers, and goes on in a copy.
        with _appending:
            log = self._log if len(self._log) == self._length else self._log[: self._length]
            log.extend(charges)
        longer = Ledger.__new__(Ledger)
        longer._fill(self.total, spent, log, self._length + len(charges))
        longer._name(self.run, what_if=self.what_if)
        return longer

    def what_if_total(self, total: Fraction) -> Ledger:
        """Return the ledger as if the total had been another; it is marked for ever.

        Raises:
            BudgetError: If more than that was spent already (``E_OVERSPEND``).
        """
        changed = Ledger(total).charge(*self.entries)
        changed._name(self.run, what_if=True)
        return changed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        return (self.total, self.entries) == (other.total, other.entries)

    def __hash__(self) -> int:
        return hash((self.total, self.spent, self._length))

    def __reduce__(self) -> tuple[object, ...]:
        return _charged, (self.total, self.entries, self.run, self.what_if)

    def __repr__(self) -> str:
        return f"Ledger({self._length} charges, {float(self.spent):.6g} of {float(self.total):.6g})"


def _charged(
    total: Fraction, entries: tuple[Charge, ...], run: str = "", what_if: bool = False
) -> Ledger:
    ledger = Ledger(total).charge(*entries)
    ledger._name(run or ledger.run, what_if=what_if)
    return ledger


def rho_from(*, epsilon: float, delta: float) -> float:
    """Return the largest rho whose zCDP guarantee implies (epsilon, delta)-DP, never above it.

    For a fixed order alpha the formula above can be solved for rho; every order gives a valid rho,
    and the best one is returned, lowered by what rounding may have added.

    Raises:
        BudgetError: If epsilon is not a number above 0 and at most 1000 (``E_EPSILON``), or delta
            not one strictly between 0 and 1 (``E_DELTA``).

    >>> round(rho_from(epsilon=1.0, delta=1e-9), 12)
    0.014973057674
    """
    return _rho_from(checked_epsilon(epsilon), checked_delta(delta))


@lru_cache(maxsize=1024)  # a run asks for the same again and again; a millisecond each time
def _rho_from(epsilon: float, delta: float) -> float:
    def rho_at(u: float) -> _Rounded:
        offset = _offset(u, delta)
        alpha = 1.0 + math.exp(u)
        return _Rounded((epsilon - offset.value) / alpha, (epsilon + offset.size) / alpha)

    best = rho_at(_maximise(lambda u: rho_at(u).value))
    rho = best.value - _ROUNDING * best.size
    if not rho > 0:
        raise BudgetError(
            f"epsilon = {epsilon:g} with delta = {delta:g} is too small to be spent at all. "
            "Choose a larger epsilon.",
            code="E_EPSILON",
        )
    return rho


def epsilon_from(*, rho: float | Fraction, delta: float) -> float:
    """Return the epsilon that rho-zCDP guarantees at this delta, never below the true value.

    Raises:
        BudgetError: If rho is not a positive number (``E_RHO``), or delta not one strictly between
            0 and 1 (``E_DELTA``).

    >>> round(epsilon_from(rho=0.014973057674, delta=1e-9), 8)
    1.0
    """
    return _epsilon_from(float(checked_rho(rho)), checked_delta(delta))


@lru_cache(maxsize=1024)
def _epsilon_from(cost: float, delta: float) -> float:
    def epsilon_at(u: float) -> _Rounded:
        offset = _offset(u, delta)
        linear = (1.0 + math.exp(u)) * cost
        return _Rounded(linear + offset.value, linear + offset.size)

    best = epsilon_at(_maximise(lambda u: -epsilon_at(u).value))
    return max(0.0, best.value) + _ROUNDING * best.size


def delta_from(*, rho: float | Fraction, epsilon: float) -> float:
    """Return the delta at which rho-zCDP guarantees this epsilon, never below the true value.

    Raises:
        BudgetError: If rho or epsilon is not a positive number.
    """
    cost, epsilon = float(checked_rho(rho)), checked_epsilon(epsilon)

    def log_delta_at(u: float) -> _Rounded:
        a = math.exp(u)
        terms = (a * (1.0 + a) * cost, -a * epsilon, -a * math.log1p(1.0 / a), -math.log1p(a))
        return _Rounded(math.fsum(terms), math.fsum(map(abs, terms)))

    best = log_delta_at(_maximise(lambda u: -log_delta_at(u).value))
    return min(1.0, math.exp(best.value + _ROUNDING * best.size))


@dataclass(frozen=True, slots=True)
class _Rounded:
    """A computed value, and the sum of absolute values of its terms, which rounding scales with."""

    value: float
    size: float


def _offset(u: float, delta: float) -> _Rounded:
    """Epsilon at order alpha = 1 + e^u beyond alpha rho."""
    # Written so that nothing cancels at either end: log(1 - 1/alpha) = -log1p(1/a), and the
    # logarithm of a joins it as log1p(a).
    a = math.exp(u)
    terms = (-math.log1p(1.0 / a), -math.log1p(a) / a, -math.log(delta) / a)
    return _Rounded(math.fsum(terms), math.fsum(map(abs, terms)))


def _maximise(objective: Callable[[float], float]) -> float:
    """Return the best u = log(alpha - 1): a grid, then a search between its neighbours.

    An order that is a little off costs the square of the error, and never the guarantee.
    """
    from scipy import optimize  # half a second, and not everybody converts

    grid = np.linspace(-36.0, 60.0, 385)
    values = np.array([objective(float(u)) for u in grid])
    k = int(values.argmax())
    low, high = float(grid[max(k - 1, 0)]), float(grid[min(k + 1, len(grid) - 1)])
    found = optimize.minimize_scalar(
        lambda u: -objective(float(u)),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(grid[k]) if values[k] > -found.fun else float(found.x)


# -- checks -------------------------------------------------------------------------------------


def checked_epsilon(epsilon: object) -> float:
    """Return epsilon as a float, or refuse it (``E_EPSILON``)."""
    return _checked(epsilon, "epsilon", MAX_EPSILON, "E_EPSILON", "Choose one, for example 1.")


def checked_delta(delta: object) -> float:
    """Return delta as a float strictly between 0 and 1, or refuse it (``E_DELTA``)."""
    remedy = "Choose one, for example 1e-9."
    return _checked(delta, "delta", 1.0, "E_DELTA", remedy, reached=False)


def checked_rho(rho: object) -> Fraction:
    """Return rho exactly, or refuse it (``E_RHO``)."""
    remedy = "Choose one, for example 0.015."
    if isinstance(rho, Fraction) and RHO_RANGE[0] <= rho <= RHO_RANGE[1]:
        return rho
    shown = float(rho) if isinstance(rho, Fraction) and abs(rho) < 10**300 else rho
    value = _checked(shown, "rho", float(RHO_RANGE[1]), "E_RHO", remedy)
    if value < RHO_RANGE[0]:
        raise BudgetError(
            f"rho is {value!r}; a number of at least {float(RHO_RANGE[0]):g} is needed. {remedy}",
            code="E_RHO",
        )
    return Fraction(value)


def _checked(
    value: object, name: str, most: float, code: str, remedy: str, *, reached: bool = True
) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    outside = isinstance(value, bool) or not number or not 0 < cast("float", value) <= most
    if outside or (not reached and value == most):
        end = f"at most {most:g}" if reached else f"below {most:g}"
        raise BudgetError(
            f"{name} is {value!r}; a number above 0 and {end} is needed. {remedy}",
            code=code,
        )
    return float(cast("float", value))
