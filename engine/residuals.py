"""Decompose a marginal into residuals, reconstruct it from them (paper, Algorithms 1 and 2).

``privacy_cost`` and ``cell_variance`` are the two numbers that planning needs of a residual
(paper, Propositions 4.3 and 4.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from engine import axes
from engine.checking import numbers
from engine.domain import subsets
from engine.errors import DomainError
from engine.types import AttributeSet, FloatArray


def decompose(values: ArrayLike, gamma: AttributeSet, tau: AttributeSet) -> FloatArray:
    """Return the residual over tau of the marginal over gamma.

    ``sum`` runs along the axes of gamma that are not in tau, first since it shrinks the array;
    then ``sub`` along those of tau. Cost O(|gamma| n_gamma).

    Args:
        values: The marginal, one axis for each attribute of gamma in order.
        gamma: The marginal's attributes.
        tau: The residual's attributes, a subset of gamma in the same order.

    Shapes:
        values: (n_i for i in gamma); the result: (n_i - 1 for i in tau). Unit: records.

    Raises:
        DomainError: If tau is no subset of gamma, or the axes are not gamma's (``E_SHAPE``).

    Source:
        Paper, Algorithm 1.

    >>> mu = np.array([[10, 20, 5], [30, 40, 15], [25, 60, 45], [50, 20, 10]])
    >>> decompose(mu, (0, 1), (0,))
    array([50., 95., 45.])
    """
    array = numbers(values, "a marginal")
    others = _summed_axes(tuple(gamma), tuple(tau))
    if array.ndim != len(gamma) or 0 in array.shape:
        raise DomainError(
            f"The marginal has shape {array.shape}; {len(gamma)} axes with at least one value "
            f"each, one axis for each of {gamma}, are needed. Reshape it.",
            code="E_SHAPE",
        )
    # All summed axes at once; the kept ones then stand in tau's order.
    return axes.sub_all(np.asarray(np.add.reduce(array, axis=others)) if others else array)


def reconstruct(
    values: ArrayLike, tau: AttributeSet, gamma: AttributeSet, sizes: Sequence[int]
) -> FloatArray:
    """Return the part of the marginal over gamma that the residual over tau carries.

    ``center`` runs along the axes of tau, ``smear`` along the others. The marginal is the sum of
    these parts over all tau within gamma. Cost O(|gamma| n_gamma).

    Args:
        values: The residual, one axis for each attribute of tau in order.
        tau: The residual's attributes, a subset of gamma in the same order.
        gamma: The marginal's attributes.
        sizes: Number of values of each attribute of gamma.

    Shapes:
        values: (n_i - 1 for i in tau); the result: (n_i for i in gamma). Unit: records.

    Raises:
        DomainError: If tau is no subset of gamma, or the shape does not fit (``E_SHAPE``).

    Source:
        Paper, Algorithm 2.

    >>> reconstruct([50.0, 95.0, 45.0], (0,), (0, 1), (4, 3))[:, 0].round(4)
    array([-15.8333,   0.8333,  15.8333,  -0.8333])
    """
    array = numbers(values, "a residual")
    spread = _spread(tuple(tau), tuple(gamma), _sizes(sizes))
    if array.shape != spread.residual:
        raise DomainError(
            f"The residual has shape {array.shape}; {spread.residual}, one less than each size, "
            "is needed. Reshape it.",
            code="E_SHAPE",
        )
    part = axes.center_all(array)
    if spread.over == 1:
        return part.reshape(spread.marginal)
    part = (part / spread.over).reshape(spread.singletons)
    return np.broadcast_to(part, spread.marginal).copy()


def decompose_all(values: FloatArray, gamma: AttributeSet) -> dict[AttributeSet, FloatArray]:
    """Return the residuals over all subsets of gamma; together they say all the marginal says."""
    # Axis by axis from the last, so that earlier axes keep their position.
    parts: dict[AttributeSet, FloatArray] = {(): np.asarray(values, dtype=np.float64)}
    for k in reversed(range(len(gamma))):
        split: dict[AttributeSet, FloatArray] = {}
        for tau, array in parts.items():
            split[tau] = np.add.reduce(array, axis=k)
            split[(gamma[k], *tau)] = axes.sub(array, k)
        parts = split
    return {tau: np.asarray(parts[tau]) for tau in subsets(gamma)}


def privacy_cost(sizes: Sequence[int]) -> Fraction:
    """Return p_tau for the sizes of tau's attributes: precision x costs rho = p x / 2.

    Zero if an attribute has one value: that residual is empty and never measured.

    >>> privacy_cost((4, 3))
    Fraction(1, 2)
    """
    try:
        return _privacy_cost(tuple(sizes))
    except (TypeError, ZeroDivisionError):
        raise _no_sizes(sizes) from None


@lru_cache(maxsize=1 << 16)
def _privacy_cost(sizes: tuple[int, ...]) -> Fraction:
    return Fraction(math.prod(n - 1 for n in sizes), math.prod(sizes))


def cell_variance(tau_sizes: Sequence[int], other_sizes: Sequence[int]) -> float:
    """Return v_{tau,gamma}: variance of each cell of gamma for one unit of noise variance on tau.

    The sizes are those of tau's attributes and of gamma's others (per cell, as in the
    paper's appendix D.1).
    """
    cost = float(privacy_cost(tau_sizes))
    try:
        return cost / float(math.prod(other_sizes)) ** 2
    except (TypeError, ZeroDivisionError):
        raise _no_sizes(other_sizes) from None


def _sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    try:
        return tuple(sizes)
    except TypeError:
        raise _no_sizes(sizes) from None


def _no_sizes(sizes: object) -> DomainError:
    return DomainError(
        f"The sizes are {sizes!r}; the number of values of each attribute, at least 1, is needed. "
        "Write domain.shape(attrs).",
        code="E_SHAPE",
    )


class _Spread(NamedTuple):
    """How a residual lies within a marginal: shapes, and the cells it is spread over."""

    residual: tuple[int, ...]
    singletons: tuple[int, ...]
    marginal: tuple[int, ...]
    over: int


# Asked again and again for the same few shapes.
@lru_cache(maxsize=1 << 16)
def _spread(tau: AttributeSet, gamma: AttributeSet, sizes: tuple[int, ...]) -> _Spread:
    _check_within(tau, gamma)
    if len(sizes) != len(gamma) or min(sizes, default=1) < 1:
        raise DomainError(
            f"The marginal over {gamma} has sizes {sizes}; one size of at least 1 for each "
            "attribute is needed.",
            code="E_SHAPE",
        )
    inside = [i in tau for i in gamma]
    return _Spread(
        residual=tuple(n - 1 for n, kept in zip(sizes, inside, strict=True) if kept),
        singletons=tuple(n if kept else 1 for n, kept in zip(sizes, inside, strict=True)),
        marginal=sizes,
        over=math.prod(n for n, kept in zip(sizes, inside, strict=True) if not kept),
    )


@lru_cache(maxsize=1 << 16)
def _summed_axes(gamma: AttributeSet, tau: AttributeSet) -> tuple[int, ...]:
    _check_within(tau, gamma)
    return tuple(k for k, i in enumerate(gamma) if i not in tau)


def _check_within(tau: AttributeSet, gamma: AttributeSet) -> None:
    if len(set(gamma)) < len(gamma) or tau != tuple(i for i in gamma if i in tau):
        raise DomainError(
            f"The residual is over {tau}, the marginal over {gamma}; a subset in the same order, "
            "without repetition, is needed.",
            code="E_SHAPE",
        )
