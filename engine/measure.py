"""The only place where exact counts meet noise: charge first, then draw, then release.

Measuring residual tau at variance sigma² adds independent noise to the marginal over tau and
releases only its decomposition (paper, Algorithm 5); the cost is p_tau / (2 sigma²).

An exact source of randomness adds noise to whole numbers only. Whole noise on the cells of tau
would cost more than that once decomposed, so it is added to the centred marginal instead, whose
cells are whole too (engine/releasing/PROOFS.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from engine import axes
from engine.accounting import Charge, Ledger
from engine.checking import expect
from engine.errors import WorkloadError
from engine.exact_noise import ExactSource
from engine.noise import RandomSource, check_source
from engine.released import Allocation, Measurement
from engine.residuals import decompose_all
from engine.tables import Private
from engine.types import AttributeSet, FloatArray, IntArray

MOST_CELLS = 1 << 25
"""Most cells of a residual that is measured exactly: fewer than 2^36 records fit 64 bits then."""


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
    expect(private, Private, "Private", "Write Private(table), once for all measurements.")
    check_source(rng)
    expect(ledger, Ledger, "a Ledger", "Write Ledger(rho) with the whole budget.")
    ledger = private.charge(ledger, rng, Charge("measure", attrs, rho))
    exact, variance = private.marginal(attrs).values, 1 / (2 * rho)
    noisy: FloatArray
    if isinstance(rng, ExactSource):
        noisy = np.asarray(rng.noisy(exact, variance=variance, sensitivity=1), dtype=np.float64)
    else:
        noisy = exact + rng.gaussian(exact.shape, variance=_up(variance))
    sizes = {i: private.domain.sizes[i] for i in attrs}
    cells = math.prod(sizes.values())
    measured = tuple(
        Measurement(tau, z, _down(2 * rho * math.prod(sizes[i] for i in tau) / cells))
        for tau, z in decompose_all(noisy, attrs).items()
        if all(sizes[i] > 1 for i in tau)
    )
    private.odometer.released(*measured)
    return ledger, measured


def measure_residuals(
    private: Private, planned: Sequence[Allocation], *, ledger: Ledger, rng: RandomSource
) -> tuple[Ledger, tuple[Measurement, ...]]:
    """Measure residuals, each at the precision its allocation adds; none where it adds none.

    Raises:
        BudgetError: If the ledger refuses the sum of the charges; no noise is drawn then.
    """
    bought = [allocation for allocation in planned if allocation.added > 0]
    if isinstance(rng, ExactSource):
        _check_cells(private, [a.attrs for a in bought])
    ledger = private.charge(ledger, rng, *(Charge("measure", a.attrs, a.rho) for a in bought))
    measured = []
    for a in bought:
        measured.append(_measure(private, a.attrs, a.added, rng))
        private.odometer.released(measured[-1])
    return ledger, tuple(measured)


def measure_error(
    private: Private, error: int, *, rho: Fraction, ledger: Ledger, rng: RandomSource
) -> tuple[Ledger, float]:
    """Measure one whole number of sensitivity 1 that decides how a run goes on.

    Raises:
        BudgetError: If the ledger refuses the charge; no noise is drawn then.
    """
    ledger, variance = private.charge(ledger, rng, Charge("select", None, rho)), 1 / (2 * rho)
    if isinstance(rng, ExactSource):
        return ledger, float(rng.noisy(np.array(error), variance=variance, sensitivity=1))
    return ledger, float(error + rng.gaussian((), variance=_up(variance)))


def _measure(
    private: Private, tau: AttributeSet, precision: float, rng: RandomSource
) -> Measurement:
    exact = private.marginal(tau).values
    if isinstance(rng, ExactSource):
        return _measure_exactly(exact, tau, precision, rng)
    # Rounded up: a little more noise than the precision claims, never less.
    noisy = exact + rng.gaussian(exact.shape, variance=math.nextafter(1.0 / precision, math.inf))
    # All axes are kept: decomposing is subtracting along each of them.
    return Measurement(tau, axes.sub_all(noisy), precision)


def _measure_exactly(
    exact: IntArray, tau: AttributeSet, precision: float, rng: ExactSource
) -> Measurement:
    """Add whole noise of variance sigma² prod n² to the centred marginal; then decompose, divide.

    Centring is n times a slice less the sum along the axis: one record moves it by a squared norm
    of prod n (n - 1), so that the cost is p / (2 sigma²). Differences along an axis of what is
    centred are n times those of the counts: divided by prod n, the noise has covariance sigma² V.
    """
    scale = math.prod(exact.shape)
    noisy = rng.noisy(
        centred(exact),
        variance=scale**2 / Fraction(precision),
        sensitivity=math.prod(n * (n - 1) for n in exact.shape),
    )
    # Differences of whole numbers below 2^53 are exact; the quotient is the first rounding.
    return Measurement(tau, axes.sub_all(np.asarray(noisy, dtype=np.float64)) / scale, precision)


def centred(counts: IntArray) -> IntArray:
    """Along each axis: its size times the slice, less the sum of all slices.

    >>> centred(np.array([5, 1, 0]))
    array([ 9, -3, -6])
    """
    for axis, size in enumerate(counts.shape):
        counts = size * counts - counts.sum(axis=axis, keepdims=True)
    return counts


def _check_cells(private: Private, sets: Sequence[AttributeSet]) -> None:
    for tau in sets:
        cells = private.domain.cells(tau)
        if cells > MOST_CELLS:
            raise WorkloadError(
                f"The residual over {private.domain.label(tau)} has {cells:,} cells; at most "
                f"{MOST_CELLS:,} can be measured with exact noise. Use coarser bins or a lower "
                "degree.",
                code="E_TOO_LARGE",
            )


def _up(value: Fraction) -> float:
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


def _down(value: Fraction) -> float:
    number = float(value)
    return number if Fraction(number) <= value else math.nextafter(number, 0.0)
