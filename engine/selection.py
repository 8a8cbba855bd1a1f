"""Select a badly known marginal: the exponential mechanism on true errors that stay private.

The score of gamma is q = w (||mu - mu_hat||_1 - sqrt(2/pi) sigma n): how wrong the answer is, less
the error that measuring it would leave anyway. One record moves it by at most w, so the
sensitivity is the largest weight, of real numbers. Here it is proved of the numbers computed: they
lie on a public grid, or what rounding may add is added to the sensitivity (engine/README.md,
"Sensitivity in floating point").
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeVar

import numpy as np

from engine import axes
from engine.accounting import Charge, Ledger
from engine.exact import Exact
from engine.exact_noise import ExactSource, GridScores
from engine.grem import Reconstruction
from engine.noise import RandomSource
from engine.released import Beliefs
from engine.tables import Private
from engine.types import AttributeSet, FloatArray, IntArray, frozen
from engine.workload import Workload

EXPECTED_ABSOLUTE = math.sqrt(2.0 / math.pi)
"""Expected absolute value of a standard normal."""
_CAPACITIES = (2.0**20, 2.0**30, 2.0**40, 2.0**50)
"""Most records that errors on a grid may be made of; the grid is this times 2^-50."""


class Budgets(NamedTuple):
    """What a round will spend, as far as it decides how candidates compare.

    ``noise_share`` is the share of the noise that will be left in the answer; shrinkage removes
    some.
    """

    rho_measure: Fraction
    rho_select: Fraction
    noise_share: float = 1.0


class Rescored(Exact, ABC):
    """True L1 errors of every candidate, refreshed only where a measurement touched them.

    Private: it holds errors, and lives in the workspace of ``Private`` between steps. It can always
    be rebuilt from the beliefs.

    Args:
        private: Exact counts.
        workload: Whose closure the candidates are, the total excepted.
        beliefs: What the errors are relative to.
        rebuild_always: Reconstruct and score everything again in every round (the paper's "full").

    Shapes:
        weights: (K,), of every set of the closure.
        expected_noise: (K,), weighted expected L1 norm of unit noise on every set.
    """

    __slots__ = (
        "_budgets",
        "_counts",
        "_log_weights",
        "_most_noise",
        "_rebuild_always",
        "_scale",
        "_scaled_for",
        "beliefs",
        "expected_noise",
        "largest_weight",
        "weights",
        "workload",
    )

    def __init__(
        self,
        private: Private,
        workload: Workload,
        beliefs: Beliefs,
        *,
        rebuild_always: bool = False,
    ) -> None:
        self.workload, self.beliefs = workload, beliefs
        self._counts, self._rebuild_always = private.counts(workload.layout), rebuild_always
        self.weights = workload.candidate_weights()
        self.largest_weight = float(self.weights.max())
        # What every score's noise term is for sigma = 1.
        self.expected_noise = self.weights * (EXPECTED_ABSOLUTE * workload.layout.cells)
        self._most_noise = float(self.expected_noise.max())
        self._log_weights: FloatArray = np.empty(len(workload.layout))
        self._budgets: Budgets | None = None
        self._scale = (0.0, 0.0)
        self._scaled_for: tuple[Budgets, float, float] | None = None
        self._begin()

    @property
    @abstractmethod
    def most_l1(self) -> float:
        """What errors are cut off at: public, and more than tables of such totals differ by."""

    @property
    @abstractmethod
    def l1_rounding(self) -> float:
        """Most by which a computed error differs from that of one public table. Public."""

    @property
    @abstractmethod
    def l1(self) -> FloatArray:
        """True L1 error of every set of the closure, shape (K,)."""

    @abstractmethod
    def _begin(self) -> None:
        """Take all errors relative to the first beliefs."""

    @abstractmethod
    def _refresh(self, beliefs: Beliefs, changes: Mapping[AttributeSet, FloatArray]) -> IntArray:
        """Bring the errors to newer beliefs; returns the positions of what was scored."""

    def advance(self, beliefs: Beliefs, changes: Mapping[AttributeSet, FloatArray]) -> IntArray:
        """Move to newer beliefs, given what changed; returns the positions of what was scored."""
        touched = self._refresh(beliefs, changes)
        self.beliefs = beliefs
        if self._budgets is not None:
            known = (self._budgets, self.most_l1, self.l1_rounding)
            same = known == self._scaled_for
            if not same:
                self._rescale(self._budgets)
            self._weigh(touched if same else slice(None))
        return touched

    def _rescale(self, budgets: Budgets) -> None:
        self._budgets, self._scale = budgets, self.scale(budgets)
        self._scaled_for = budgets, self.most_l1, self.l1_rounding

    def log_weights(self, budgets: Budgets) -> FloatArray:
        """``Scores.log_weights`` for these budgets, without scoring again what did not change.

        Returns:
            Shape (candidates,), read-only; the next call to ``advance`` changes it.
        """
        if budgets != self._budgets:
            self._rescale(budgets)
            self._weigh(slice(None))
        # The closure starts with the total, which is no candidate.
        return frozen(self._log_weights[1:])

    def scale(self, budgets: Budgets) -> tuple[float, float]:
        """How much noise counts in a score, and how much a score in a log weight."""
        noise = budgets.noise_share * noise_std(budgets.rho_measure)
        most = self._most_noise * noise / self.largest_weight
        rounded = rounding_of_scores(self.most_l1, self.l1_rounding, most)
        sensitivity = self.largest_weight * (1.0 + rounded)
        return noise, selection_epsilon(budgets.rho_select) / (2.0 * sensitivity)

    def _weigh(self, at: IntArray | slice) -> None:
        noise, factor = self._scale
        score = self.weights[at] * self.l1[at] - self.expected_noise[at] * noise
        self._log_weights[at] = score * factor


C = TypeVar("C", bound=Rescored)


def rounding_of_sums(cells: int, most_l1: float, total: float) -> float:
    """Most by which an L1 distance of floats from counts is rounded, however it is added up.

    Args:
        cells: Of the largest marginal.
        most_l1: What distances are cut off at.
        total: Sum of the largest table's absolute values.
    """
    return (cells + 8) * 2.0**-52 * (most_l1 + total)


def rounding_of_scores(most_l1: float, l1_rounding: float, most_noise: float) -> float:
    """Most that rounding adds to a score's sensitivity, relative to it. Public.

    Args:
        most_l1: What errors are cut off at.
        l1_rounding: Most by which one of them is rounded.
        most_noise: Largest noise term of a score, relative to the largest weight.
    """
    # Both of two neighbouring errors are computed, and each score is rounded three times.
    return 2.0 * l1_rounding + (1.0 + most_l1 + most_noise) * 2.0**-50


class Errors(Exact, Reconstruction):
    """A reconstruction started at minus the counts: it holds mu_hat - mu of every marginal."""

    __slots__ = ()


class Candidates(Rescored):
    """Candidates with errors relative to GReM's estimates, computed without any rounding.

    Estimates are taken to a grid as they come; counts are whole, and the grid divides one. So every
    difference, and every sum of differences below ``most_l1``, is exact in double precision. How
    fine the grid can be follows from the estimates alone.
    """

    __slots__ = ("_capacity", "_errors", "_reach")

    def _begin(self) -> None:
        self._reach = _reach(self.beliefs.changes_since(Beliefs()))
        fitting = [capacity for capacity in _CAPACITIES if 2.0 * self._reach <= capacity]
        # Where noise is beyond all of them, scores see nothing of the records.
        self._capacity = fitting[0] if fitting else 0.0
        unit = (self._capacity or 1.0) * 2.0**-50
        # Reconstruction is linear: started at minus the counts it holds mu_hat - mu.
        self._errors = Errors(self.workload.layout, self._minus_counts(), unit=unit)
        if fitting:
            self._errors.update(self.beliefs.changes_since(Beliefs()))
        self._cut()

    @property
    def l1(self) -> FloatArray:
        """True L1 error of every set of the closure, shape (K,)."""
        return self._errors.l1

    @property
    def most_l1(self) -> float:
        """What errors are cut off at: sums below it are exact."""
        return 2.0 * self._capacity

    @property
    def l1_rounding(self) -> float:
        """Nothing: the tables compared with are those on the grid."""
        return 0.0

    def _refresh(self, beliefs: Beliefs, changes: Mapping[AttributeSet, FloatArray]) -> IntArray:
        self._reach += _reach(changes)
        if self._reach > self._capacity:
            self.beliefs = beliefs
            self._begin()
            return np.arange(len(self.workload.layout))
        if self._rebuild_always:
            touched = self._errors.rebuild(beliefs, self._minus_counts())
        else:
            touched = self._errors.update(changes)
        self._cut()
        return touched

    def _cut(self) -> None:
        np.minimum(self._errors.l1, self.most_l1, out=self._errors.l1)

    def _minus_counts(self) -> FloatArray:
        minus: FloatArray = np.negative(self._counts, dtype=np.float64, casting="unsafe")
        return minus


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Exact):
    """Every candidate's score in one round: private, never stored in a state or an event.

    Shapes:
        error_term, noise_term, log_weights: (candidates,), the closure without the total, which
            stands first in ``closure``.
    """

    closure: tuple[AttributeSet, ...]
    error_term: FloatArray
    noise_term: FloatArray
    log_weights: FloatArray

    @property
    def sets(self) -> tuple[AttributeSet, ...]:
        """The candidates, in the order of the terms."""
        return self.closure[1:]

    def __repr__(self) -> str:
        return f"Scores({len(self.closure) - 1:,} candidates, private)"


def score(candidates: Rescored, budgets: Budgets) -> Scores:
    """Score every candidate for a round with these budgets, in arrays of their own."""
    # The closure starts with the total, which is no candidate.
    scale, factor = candidates.scale(budgets)
    error = candidates.weights[1:] * candidates.l1[1:]
    noise = candidates.expected_noise[1:] * scale
    return Scores(candidates.workload.layout.sets, error, noise, (error - noise) * factor)


def select(
    log_weights: FloatArray,
    closure: Sequence[AttributeSet],
    *,
    private: Private,
    rho: Fraction,
    ledger: Ledger,
    rng: RandomSource,
) -> tuple[Ledger, AttributeSet]:
    """Choose a candidate with probability proportional to exp(epsilon q / (2 sensitivity)).

    Charged rho = epsilon² / 8 before the draw. Permute-and-flip would not satisfy that.

    Args:
        log_weights: Those of all candidates.
        closure: The total, which is none, and then the candidates.
        private: Whose records they are scored on; its odometer counts the charge.
        rho: What it costs.
        ledger: Charged before the draw.
        rng: Where randomness comes from.

    Raises:
        BudgetError: If the ledger refuses the charge; nothing is drawn then.
    """
    charge = Charge("select", None, rho)
    if not isinstance(rng, ExactSource):
        ledger = private.charge(ledger, rng, charge)
        return ledger, closure[1 + rng.choose(log_weights)]
    # From here on exact: one record moves a log weight, as computed, by at most epsilon / 2.
    scores = GridScores.of(log_weights, Fraction(selection_epsilon(rho)))
    ledger = private.charge(ledger, rng, charge)
    return ledger, closure[1 + rng.choose_exactly(scores)]


def mean_error(candidates: Rescored) -> int:
    """Weighted mean L1 error of the workload, rounded down: private, of sensitivity 1.

    One record moves every computed error by at most 1 and twice their rounding, and so their mean,
    which is taken in whole numbers. Divided by as much it moves by at most 1; rounding down keeps
    that, since it commutes with adding 1.
    """
    layout, weights = candidates.workload.layout, candidates.workload.weights
    l1 = dict(zip(weights, candidates.l1[[layout.index[a] for a in weights]].tolist(), strict=True))
    moves = 1 + 2 * Fraction(candidates.l1_rounding)
    return math.floor(weighted_mean(l1, weights) / moves)


def weighted_mean(
    values: Mapping[AttributeSet, float], weights: Mapping[AttributeSet, float]
) -> Fraction:
    """Return the weighted mean of floats exactly.

    >>> weighted_mean({(0,): 5.0, (1,): 5.0}, {(0,): 0.1, (1,): 0.3})
    Fraction(5, 1)
    """
    ratios = [weight.as_integer_ratio() for weight in map(float, weights.values())]
    parts = [float(values[attrs]).as_integer_ratio() for attrs in weights]
    # All denominators are powers of two: over the largest of them everything is whole.
    below = max(d for _, d in ratios)
    deepest = max(d for _, d in parts)
    whole = [n * (below // d) for n, d in ratios]
    total = sum(w * n * (deepest // d) for w, (n, d) in zip(whole, parts, strict=True))
    return Fraction(total, sum(whole) * deepest)


def _reach(changes: Mapping[AttributeSet, FloatArray]) -> float:
    """More than any table of these changes holds, in absolute values."""
    # Spreading a residual's table over further attributes does not change its absolute sum.
    norms = (float(np.abs(axes.center_all(z)).sum()) for z in changes.values())
    return 1.001 * math.fsum(norms)


def noise_std(rho_measure: Fraction) -> float:
    """Return sigma of a round: sigma² = 1 / (2 rho), rounded up."""
    # The quotient of whole numbers is the nearest float, without making a fraction first.
    variance = rho_measure.denominator / (2 * rho_measure.numerator)
    return math.nextafter(math.sqrt(variance), math.inf)


def selection_epsilon(rho_select: Fraction) -> float:
    """Return the exponential mechanism's epsilon of a round: sqrt(8 rho), rounded down."""
    return math.nextafter(math.sqrt(8 * rho_select), 0.0)


def borrow_candidates(
    private: Private, beliefs: Beliefs, kind: type[C], build: Callable[[], C]
) -> C:
    """Take the candidates that stand at these beliefs out of the workspace, or build them."""
    found = private.borrow((kind.__name__, id(beliefs)))
    # The identity of a live object: whoever is kept under it holds the beliefs themselves.
    return found if isinstance(found, kind) else build()


def lend_candidates(private: Private, candidates: Rescored) -> None:
    """Keep the candidates for the next step from these beliefs."""
    private.lend((type(candidates).__name__, id(candidates.beliefs)), candidates)
