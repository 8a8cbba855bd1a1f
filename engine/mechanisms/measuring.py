"""Measure the marginal that a round is about, by plan or isotropically."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from engine.accounting import Ledger
from engine.domain import Domain, subsets
from engine.measure import measure_marginal, measure_residuals
from engine.noise import RandomSource
from engine.planner import plan_marginal, plan_rest
from engine.released import Allocation, Beliefs, Measurement
from engine.residuals import privacy_cost
from engine.tables import Private
from engine.types import AttributeSet
from engine.workload import Workload


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


def measure_with_known(
    private: Private,
    gamma: AttributeSet,
    beliefs: Beliefs,
    workload: Workload,
    *,
    rho: Fraction,
    omit_below: float,
    ledger: Ledger,
    rng: RandomSource,
) -> tuple[Ledger, tuple[Allocation, ...], tuple[Measurement, ...]]:
    """Measure one marginal's residuals and those known already, for the whole workload's sake.

    The arguments are those of ``measure_selected``; the workload's variance is what is minimised.
    """
    among = {*subsets(gamma), *beliefs}
    allocations = plan_rest(workload, beliefs, rho=rho, among=among, omit_below=omit_below)
    ledger, measured = measure_residuals(private, allocations, ledger=ledger, rng=rng)
    return ledger, allocations, measured


def _isotropic(domain: Domain, measured: Measurement, known: float) -> Allocation:
    """What isotropic noise amounts to for one residual, in the terms of an allocation."""
    rho = privacy_cost(domain.shape(measured.attrs)) * Fraction(measured.precision) / 2
    return Allocation(measured.attrs, known, measured.precision, rho)
