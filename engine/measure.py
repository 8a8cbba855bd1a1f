"""The only place where exact counts meet noise: charge first, then draw, then release.

Measuring residual tau at variance sigma² adds independent noise to the marginal over tau and
releases only its decomposition (paper, Algorithm 5); the cost is p_tau / (2 sigma²).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from engine import axes
from engine.accounting import Charge, Ledger
from engine.noise import RandomSource
from engine.released import Allocation, Measurement
from engine.residuals import decompose_all
from engine.tables import Private
from engine.types import AttributeSet


def measure_marginal(
    private: Private,
    attrs: AttributeSet,
    *,
    rho: Fraction,
    ledger: Ledger,
    rng: RandomSource,
) -> tuple[Ledger, tuple[Measurement, ...]]:
    """Measure a marginal with isotropic noise and return the residuals it is worth.

    The noise has variance sigma² = 1/(2 rho). On each tau within ``attrs`` the measurement is worth
    precision 1 / (sigma² prod n_k outside tau), and those residuals are mutually independent.

    Raises:
        BudgetError: If the ledger refuses the charge; no noise is drawn then.
    """
    ledger = ledger.charge(Charge("measure", attrs, rho))
    exact = private.marginal(attrs).values
    noisy = exact + rng.gaussian(exact.shape, variance=_up(1 / (2 * rho)))
    sizes = {i: private.domain.sizes[i] for i in attrs}
    cells = math.prod(sizes.values())
    measured = tuple(
        Measurement(tau, z, _down(2 * rho * math.prod(sizes[i] for i in tau) / cells))
        for tau, z in decompose_all(noisy, attrs).items()
        if all(sizes[i] > 1 for i in tau)
    )
    return ledger, measured


def measure_residuals(
    private: Private, planned: Sequence[Allocation], *, ledger: Ledger, rng: RandomSource
) -> tuple[Ledger, tuple[Measurement, ...]]:
    """Measure residuals, each at the precision its allocation adds; none where it adds none.

    Raises:
        BudgetError: If the ledger refuses the sum of the charges; no noise is drawn then.
    """
    bought = [allocation for allocation in planned if allocation.added > 0]
    ledger = ledger.charge(*(Charge("measure", a.attrs, a.rho) for a in bought))
    return ledger, tuple(_measure(private, a.attrs, a.added, rng) for a in bought)


def measure_error(
    error: int, *, rho: Fraction, ledger: Ledger, rng: RandomSource
) -> tuple[Ledger, float]:
    """Measure one whole number of sensitivity 1 that decides how a run goes on.

    Raises:
        BudgetError: If the ledger refuses the charge; no noise is drawn then.
    """
    ledger = ledger.charge(Charge("select", None, rho))
    return ledger, float(error + rng.gaussian((), variance=_up(1 / (2 * rho))))


def _measure(
    private: Private, tau: AttributeSet, precision: float, rng: RandomSource
) -> Measurement:
    exact = private.marginal(tau).values
    # Rounded up: a little more noise than the precision claims, never less.
    noisy = exact + rng.gaussian(exact.shape, variance=math.nextafter(1.0 / precision, math.inf))
    # All axes are kept: decomposing is subtracting along each of them.
    return Measurement(tau, axes.sub_all(noisy), precision)


def _up(value: Fraction) -> float:
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


def _down(value: Fraction) -> float:
    number = float(value)
    return number if Fraction(number) <= value else math.nextafter(number, 0.0)
