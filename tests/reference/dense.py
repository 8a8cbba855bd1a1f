"""Dense twins: every operation as the Kronecker matrix the paper writes down.

Obviously right and hopelessly slow; nothing here shares code with the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain, combinations
from typing import Any

import numpy as np

Attrs = tuple[int, ...]


def subsets(attrs: Attrs) -> list[Attrs]:
    """All subsets, the small ones first."""
    return list(chain.from_iterable(combinations(attrs, k) for k in range(len(attrs) + 1)))


def sum_matrix(n: int) -> np.ndarray:
    """1ᵀ: n -> 1."""
    return np.ones((1, n))


def sub_matrix(n: int) -> np.ndarray:
    """S = [-1 | I]: n -> n - 1."""
    return np.hstack([-np.ones((n - 1, 1)), np.eye(n - 1)])


def center_matrix(n: int) -> np.ndarray:
    """S⁺: n - 1 -> n."""
    return np.linalg.pinv(sub_matrix(n)) if n > 1 else np.zeros((1, 0))


def smear_matrix(n: int) -> np.ndarray:
    """1/n: 1 -> n."""
    return np.full((n, 1), 1.0 / n)


def kron(matrices: Iterable[np.ndarray]) -> np.ndarray:
    """Kronecker product, the first matrix acting on the first axis."""
    return reduce(np.kron, matrices, np.ones((1, 1)))


def decompose(values: np.ndarray, gamma: Attrs, tau: Attrs) -> np.ndarray:
    """zeta_tau = (⊗ S or 1ᵀ) mu_gamma."""
    sizes = values.shape
    matrix = kron(
        sub_matrix(n) if i in tau else sum_matrix(n) for i, n in zip(gamma, sizes, strict=True)
    )
    shape = [n - 1 for i, n in zip(gamma, sizes, strict=True) if i in tau]
    return (matrix @ values.ravel()).reshape(shape)


def reconstruct(values: np.ndarray, tau: Attrs, gamma: Attrs, sizes: Sequence[int]) -> np.ndarray:
    """(⊗ S⁺ or 1/n) z_tau."""
    matrix = kron(
        center_matrix(n) if i in tau else smear_matrix(n) for i, n in zip(gamma, sizes, strict=True)
    )
    return (matrix @ np.asarray(values).ravel()).reshape(tuple(sizes))


def marginal_matrix(sizes: Sequence[int], gamma: Attrs) -> np.ndarray:
    """From the full contingency vector to the marginal over gamma."""
    return kron(np.eye(n) if i in gamma else sum_matrix(n) for i, n in enumerate(sizes))


def residual_matrix(sizes: Sequence[int], tau: Attrs) -> np.ndarray:
    """From the full contingency vector to the residual over tau."""
    return kron(sub_matrix(n) if i in tau else sum_matrix(n) for i, n in enumerate(sizes))


def covariance(tau_sizes: Sequence[int]) -> np.ndarray:
    """V_tau = ⊗ S Sᵀ."""
    return kron(sub_matrix(n) @ sub_matrix(n).T for n in tau_sizes)


def counts(codes: np.ndarray, sizes: Sequence[int], gamma: Attrs) -> np.ndarray:
    """Exact counts, record by record."""
    table = np.zeros([sizes[i] for i in gamma], dtype=np.int64)
    for record in codes:
        table[tuple(int(record[i]) for i in gamma)] += 1
    return table


def maximum_likelihood(
    measurements: Sequence[tuple[Attrs, Any, float]], sizes: Sequence[int]
) -> np.ndarray:
    """The full table most likely given (tau, values, precision): generalised least squares.

    The rows of each residual are whitened by the Cholesky factor of its covariance V/precision; of
    the many solutions the one of least norm is taken, where what was never measured is zero.
    """
    rows, right = [], []
    for tau, values, precision in measurements:
        v = covariance([sizes[i] for i in tau]) / precision
        whiten = np.linalg.inv(np.linalg.cholesky(v))
        rows.append(whiten @ residual_matrix(sizes, tau))
        right.append(whiten @ np.asarray(values, float).ravel())
    solution = np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)[0]
    return solution.reshape(tuple(sizes))


def project(full: np.ndarray, gamma: Attrs) -> np.ndarray:
    """The marginal over gamma of a full table."""
    return full.sum(axis=tuple(i for i in range(full.ndim) if i not in gamma))


def cell_variance(precisions: Mapping[Attrs, float], gamma: Attrs, sizes: Sequence[int]) -> float:
    """Largest diagonal entry of the covariance of the reconstructed marginal: all are equal."""
    shape = [sizes[i] for i in gamma]
    total = np.zeros((int(np.prod(shape)),) * 2)
    for tau in subsets(gamma):
        if tau in precisions:
            r = kron(center_matrix(sizes[i]) if i in tau else smear_matrix(sizes[i]) for i in gamma)
            total += r @ covariance([sizes[i] for i in tau]) @ r.T / precisions[tau]
    diagonal = np.diag(total)
    assert np.allclose(diagonal, diagonal[0], rtol=1e-9)
    return float(diagonal[0])
