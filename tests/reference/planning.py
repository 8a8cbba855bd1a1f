"""Planning twins: the water level by bisection in 60 digits, ResidualPlanner by generic solvers."""

from __future__ import annotations

from collections.abc import Sequence

import cvxpy as cp
import mpmath as mp
import numpy as np


def water_level(
    cost: Sequence[float], ratio: Sequence[float], known: Sequence[float], budget: float
) -> list[float]:
    """x = max(0, s r - a) with the level s found by bisection, in 60-digit arithmetic."""
    with mp.workdps(60):
        p, r, a = ([mp.mpf(float(v)) for v in values] for values in (cost, ratio, known))
        target = mp.mpf(float(budget))
        open_ = [k for k in range(len(p)) if p[k] > 0 and r[k] > 0]

        def added(s: mp.mpf) -> list[mp.mpf]:
            return [
                max(mp.mpf(0), s * r[k] - a[k]) if k in open_ else mp.mpf(0) for k in range(len(p))
            ]

        low = min(a[k] / r[k] for k in open_)
        high = low + max(target / (p[k] * r[k]) for k in open_)
        for _ in range(200):
            middle = (low + high) / 2
            spent = mp.fsum(c * x for c, x in zip(p, added(middle), strict=True))
            low, high = (middle, high) if spent <= target else (low, middle)
        return [float(x) for x in added(low)]


def least_sum(cost: np.ndarray, gain: np.ndarray, budget: float) -> float:
    """The least sum of gain / x under cost x <= budget, asked of CVXPY as it stands."""
    x = cp.Variable(len(cost), pos=True)
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(gain, cp.inv_pos(x)))), [cost @ x <= budget]
    )
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def least_maximum(cost: np.ndarray, variance: np.ndarray, budget: float) -> float:
    """The least maximum over rows of variance @ (1/x), asked of CVXPY as it stands."""
    x = cp.Variable(len(cost), pos=True)
    problem = cp.Problem(cp.Minimize(cp.max(variance @ cp.inv_pos(x))), [cost @ x <= budget])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)
