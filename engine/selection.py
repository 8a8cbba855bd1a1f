"""Select a badly known marginal: the exponential mechanism on true errors that stay private.

The score of gamma is q = w (||mu - mu_hat||_1 - sqrt(2/pi) sigma n): how wrong the answer is, less
the error that measuring it would leave anyway. One record moves it by at most w, so the
sensitivity is the largest weight (MATH section 7).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn, Protocol, TypeVar

import numpy as np

from engine.accounting import Charge, Ledger
from engine.grem import Reconstruction
from engine.noise import RandomSource
from engine.released import Beliefs
from engine.tables import Private, refuse_copy
from engine.types import AttributeSet, FloatArray, IntArray
from engine.workload import Workload

EXPECTED_ABSOLUTE = math.sqrt(2.0 / math.pi)
"""Expected absolute value of a standard normal."""


class Rescored(Protocol):
    """What scoring needs of candidates, whatever their errors are relative to."""

    @property
    def workload(self) -> Workload:
        """Whose closure the candidates are, the total excepted."""
        ...

    @property
    def beliefs(self) -> Beliefs:
        """What the errors are relative to."""
        ...

    @property
    def weights(self) -> FloatArray:
        """Weight of every set of the closure, shape (K,)."""
        ...

    @property
    def expected_noise(self) -> FloatArray:
        """Weighted expected L1 norm of unit noise on every set, shape (K,)."""
        ...

    @property
    def l1(self) -> FloatArray:
        """True L1 error of every set of the closure, shape (K,)."""
        ...


C = TypeVar("C", bound=Rescored)


class Candidates:
    """True L1 errors of every candidate marginal, refreshed only where a measurement touched them.

    Private: it holds errors, and lives in the workspace of ``Private`` between steps. It can always
    be rebuilt from the beliefs.

    Args:
        private: Exact counts.
        workload: Whose closure the candidates are, the total excepted.
        beliefs: What the errors are relative to.
        rebuild_always: Reconstruct and score everything anew in every round (the paper's "full").
    """

    __slots__ = (
        "_counts",
        "_errors",
        "_rebuild_always",
        "beliefs",
        "expected_noise",
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
        self.weights = workload.candidate_weights()
        # What every score's noise term is for sigma = 1.
        self.expected_noise = self.weights * (EXPECTED_ABSOLUTE * workload.layout.cells)
        self._counts, self._rebuild_always = private.counts(workload.layout), rebuild_always
        # Reconstruction is linear: started at minus the counts it holds mu_hat - mu.
        self._errors = Reconstruction(workload.layout, self._minus_counts())
        self._errors.update(beliefs.changes_since(Beliefs()))

    @property
    def l1(self) -> FloatArray:
        """True L1 error of every set of the closure, shape (K,)."""
        return self._errors.l1

    def advance(self, beliefs: Beliefs, changes: Mapping[AttributeSet, FloatArray]) -> IntArray:
        """Move to newer beliefs, given what changed; returns the positions of what was scored."""
        self.beliefs = beliefs
        if self._rebuild_always:
            return self._errors.rebuild(beliefs, self._minus_counts())
        return self._errors.update(changes)

    def _minus_counts(self) -> FloatArray:
        minus: FloatArray = np.negative(self._counts, dtype=np.float64, casting="unsafe")
        return minus


@dataclass(frozen=True, slots=True, repr=False)
class Scores:
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

    def __reduce__(self) -> NoReturn:
        refuse_copy("Scores of candidates")


def score(
    candidates: Rescored, *, rho_measure: Fraction, rho_select: Fraction, noise_share: float = 1.0
) -> Scores:
    """Score every candidate for a round with these budgets.

    Args:
        candidates: Their true errors.
        rho_measure: What the round will spend on measuring; it sets the noise term.
        rho_select: What it will spend on selecting.
        noise_share: Share of the noise that will be left in the answer; shrinkage removes some.
    """
    # The closure starts with the total, which is no candidate.
    weights = candidates.weights[1:]
    error = weights * candidates.l1[1:]
    noise = candidates.expected_noise[1:] * (noise_share * noise_std(rho_measure))
    log_weights = error - noise
    log_weights *= selection_epsilon(rho_select) / (2.0 * weights.max())
    return Scores(candidates.workload.layout.sets, error, noise, log_weights)


def select(
    scores: Scores, *, rho: Fraction, ledger: Ledger, rng: RandomSource
) -> tuple[Ledger, AttributeSet]:
    """Choose a candidate with probability proportional to exp(epsilon q / (2 sensitivity)).

    Charged rho = epsilon² / 8 before the draw. Permute-and-flip would not satisfy that.

    Raises:
        BudgetError: If the ledger refuses the charge; nothing is drawn then.
    """
    ledger = ledger.charge(Charge("select", None, rho))
    return ledger, scores.closure[1 + rng.choose(scores.log_weights)]


def mean_error(candidates: Rescored) -> int:
    """Weighted mean L1 error of the workload, rounded down: private, of sensitivity 1.

    One record moves every L1 error by at most 1, and so their mean; rounding down keeps that,
    since it commutes with adding 1.
    """
    layout, weights = candidates.workload.layout, candidates.workload.weights
    total = math.fsum(w * candidates.l1[layout.index[a]] for a, w in weights.items())
    return math.floor(total / math.fsum(weights.values()))


# Rounds ask again until the budgets change.
@lru_cache(maxsize=64)
def noise_std(rho_measure: Fraction) -> float:
    """Return sigma of a round: sigma² = 1 / (2 rho), rounded up."""
    return math.nextafter(math.sqrt(1 / (2 * rho_measure)), math.inf)


@lru_cache(maxsize=64)
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
