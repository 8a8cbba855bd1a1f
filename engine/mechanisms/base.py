"""What a mechanism is: the four calls that drive it, and what some can do besides.

A step takes a state and returns the next one with an event; nothing else happens.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, Protocol, TypeVar, runtime_checkable

from engine.accounting import Ledger
from engine.completing.release import Release
from engine.domain import Domain, subsets
from engine.measure import measure_marginal, measure_residuals
from engine.noise import RandomSource
from engine.planner import plan_marginal
from engine.released import Allocation, Beliefs, Measurement
from engine.residuals import privacy_cost
from engine.selection import Scores
from engine.tables import Private
from engine.trace import RoundEnded, Started
from engine.types import AttributeSet
from engine.workload import Workload

S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


class Mechanism(Protocol[S]):
    """A private mechanism in steps. ``S`` is its state: released values and budgets only."""

    def start(
        self, private: Private, workload: Workload, *, rho: Fraction, rng: RandomSource
    ) -> tuple[S, Started]:
        """Check everything, plan, and measure what comes before the first round."""
        ...

    def step(self, state: S, private: Private, rng: RandomSource) -> tuple[S, RoundEnded]:
        """Do one round. The state given stays as it was: it can be stepped again, or forked."""
        ...

    def done(self, state: S) -> bool:
        """Whether no round is left."""
        ...

    def release(self, state: S) -> Release:
        """Return what may leave at this point."""
        ...


@runtime_checkable
class Adaptive(Protocol[S_contra]):
    """A mechanism whose rounds choose by scores."""

    def selects(self, state: S_contra) -> bool:
        """Whether the next round selects a marginal: only then there are scores."""
        ...

    def scores(self, state: S_contra, private: Private) -> Scores:
        """Score every candidate for the next round: private."""
        ...


@runtime_checkable
class Planned(Protocol):
    """A mechanism that says how many rounds its budgets are made for."""

    def planned_rounds(self, workload: Workload) -> int:
        """Return the nominal number of rounds."""
        ...


@runtime_checkable
class Rebudgetable(Protocol[S]):
    """A mechanism whose run can go on as if it had another budget."""

    def with_budget(self, state: S, *, rho: Fraction) -> S:
        """Return the state under another whole budget, for "what if" beside a run."""
        ...


def measure_selected(
    private: Private,
    gamma: AttributeSet,
    beliefs: Beliefs,
    *,
    rho: Fraction,
    noise: Literal["crp", "iid"],
    omission: tuple[float, bool],
    ledger: Ledger,
    rng: RandomSource,
) -> tuple[Ledger, tuple[Allocation, ...], tuple[Measurement, ...]]:
    """Measure one marginal's residuals with a round's budget: by plan (CRP), or isotropically.

    Args:
        private: The records' counts.
        gamma: The marginal.
        beliefs: What is known already, and need not be bought again.
        rho: The round's measuring budget.
        noise: ``"crp"`` or ``"iid"``.
        omission: ``omit_below`` and ``respend``.
        ledger: Charged before any noise is drawn.
        rng: Where the noise comes from.

    Returns:
        The longer ledger, what was planned for each residual, and what was measured.
    """
    domain = private.domain
    if noise == "crp":
        known = [beliefs.precision(tau) for tau in subsets(gamma)]
        omit_below, respend = omission
        allocations = plan_marginal(
            domain, gamma, known, rho=rho, omit_below=omit_below, respend=respend
        )
        ledger, measured = measure_residuals(private, allocations, ledger=ledger, rng=rng)
        return ledger, allocations, measured
    ledger, measured = measure_marginal(private, gamma, rho=rho, ledger=ledger, rng=rng)
    worth = tuple(_isotropic(domain, m, beliefs.precision(m.attrs)) for m in measured)
    return ledger, worth, measured


def _isotropic(domain: Domain, measured: Measurement, known: float) -> Allocation:
    """What isotropic noise amounts to for one residual, in the terms of an allocation."""
    rho = privacy_cost(domain.shape(measured.attrs)) * Fraction(measured.precision) / 2
    return Allocation(measured.attrs, known, measured.precision, rho)
