"""Private-PGM on the whole joint table, for small domains: no graph, no extra dependency.

Of all tables of the exponential family that the measured residuals span, it is the one that
explains them best: it minimises the sum of precision times squared distance. So it is consistent
and non-negative and, where the measurements are exact, of maximum entropy. In an orthonormal basis
along every axis (the constant first) each residual is a block of coefficients, and all are found in
one pass over the table.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine import axes
from engine.domain import Domain
from engine.errors import DomainError
from engine.released import Beliefs
from engine.types import AttributeSet, FloatArray

MAX_CELLS = 2_000_000
"""Largest joint table."""


def joint_table(beliefs: Beliefs, domain: Domain, *, iterations: int = 1000) -> FloatArray:
    """Fit the whole joint table to everything measured.

    Args:
        beliefs: What was measured.
        domain: At most 2 million cells.
        iterations: Most steps of the quasi-Newton method; it stops at a relative decrease of 1e-12.

    Returns:
        Non-negative counts with the estimated total, shape (n_i for all i).

    Raises:
        DomainError: If the joint table is too large (``E_TOO_LARGE``).

    Source:
        McKenna, Sheldon, Miklau 2019; L-BFGS on the potentials of the measured residuals.
    """
    # Long: the loss and its table share what they are made of.
    from scipy import optimize

    sizes = domain.sizes
    if math.prod(sizes) > MAX_CELLS:
        raise DomainError(
            f"The joint table has {math.prod(sizes):,} cells; {MAX_CELLS:,} can be fitted. Use "
            "maxent, which completes marginal by marginal.",
            code="E_TOO_LARGE",
        )
    total = max(float(beliefs[()].values), 0.0) if () in beliefs else 0.0
    if total <= 0:
        return np.zeros(sizes)
    bases = [_basis(n) for n in sizes]
    target, precision = _coefficients(beliefs, sizes, bases)
    free = precision > 0
    wanted, weight = target[free], precision[free]
    # Potentials in units in which every one of them matters about equally.
    unit = 1.0 / np.sqrt(np.maximum(weight, weight.max(initial=1.0) * 1e-12))
    unit /= unit.max(initial=1.0)

    def table_of(potentials: FloatArray) -> FloatArray:
        coefficients = np.zeros(sizes)
        coefficients[free] = potentials * unit
        logits = _transform(coefficients, [basis.T for basis in bases])
        share: FloatArray = np.exp(logits - logits.max())
        share *= total / share.sum()
        return share

    def loss(potentials: FloatArray) -> tuple[float, FloatArray]:
        table = table_of(potentials)
        off = _transform(table, bases)[free] - wanted
        slope = np.zeros(sizes)
        slope[free] = weight * off
        by_cell = _transform(slope, [basis.T for basis in bases])
        by_cell -= float((by_cell * table).sum()) / total
        gradient = _transform(table * by_cell, bases)[free] * unit
        return 0.5 * float(off @ (weight * off)), gradient

    if not free.any():
        return np.full(sizes, total / math.prod(sizes))
    found: Any = optimize.minimize(
        loss,
        np.zeros(int(free.sum())),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "maxfun": 2 * iterations, "ftol": 1e-12, "maxcor": 20},
    )
    return table_of(found.x)


def marginal_of(table: FloatArray, attrs: AttributeSet) -> FloatArray:
    """Sum a joint table over all attributes but these."""
    others = tuple(k for k in range(table.ndim) if k not in attrs)
    summed: FloatArray = np.asarray(table.sum(axis=others))
    return summed


def _basis(n: int) -> FloatArray:
    """Orthonormal rows, the constant first: (n, n)."""
    from scipy import linalg

    basis: FloatArray = np.asarray(linalg.helmert(n, full=True)) if n > 1 else np.ones((1, 1))
    return basis


def _transform(table: FloatArray, bases: list[FloatArray]) -> FloatArray:
    for axis, basis in enumerate(bases):
        table = np.moveaxis(np.tensordot(basis, table, axes=(1, axis)), 0, axis)
    return table


def _coefficients(
    beliefs: Beliefs, sizes: tuple[int, ...], bases: list[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Measured coefficients of the joint table and their precisions; 0 where nothing was measured.

    The total is not among them: it is kept exactly.
    """
    target, precision = np.zeros(sizes), np.zeros(sizes)
    for tau, belief in beliefs.items():
        if not tau:
            continue
        shape = tuple(sizes[i] for i in tau)
        block = _transform(axes.center_all(belief.values), [bases[i][1:] for i in tau])
        spread = math.prod(sizes) // math.prod(shape)
        where = tuple(slice(1, None) if i in tau else slice(0, 1) for i in range(len(sizes)))
        target[where] = (block / math.sqrt(spread)).reshape(target[where].shape)
        precision[where] = belief.precision * spread
    return target, precision
