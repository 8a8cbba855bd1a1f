"""Plans by CVXPY with Clarabel: the water level as a reference, and the maximum of variances.

The maximum has no closed form. CVXPY is imported where it is used: it takes a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from engine.errors import SolverError
from engine.planner import WorkloadPlan, check_plan, plan_sum, residuals_below, within_budget
from engine.types import FloatArray
from engine.workload import Workload

SOLVER_TOLERANCE = 1e-10
_FLAT = 1e-7
"""Relative height of the water below which 1/(known + added) is flat to double precision."""


# -- the greatest variance -----------------------------------------------------------------------


def plan_max(workload: Workload, *, rho: Fraction) -> WorkloadPlan:
    """Plan for the least weighted maximum over marginals of the variance of a cell.

    Minimises max over gamma of w_gamma sum v_{tau,gamma} / x_tau with CVXPY and Clarabel, in units
    of the plan for the sum. The returned plan is feasible whatever the solver did, and ``gap`` is
    its relative distance from a proven lower bound: for any weights lambda on the marginals, the
    least of the lambda-weighted sum is known in closed form and never above the optimum.

    Raises:
        SolverError: If the gap stays above 1e-4.

    Source:
        ResidualPlanner (Xiao et al. 2023), maximum variance; engine/README.md, "ResidualPlanner".
    """
    import cvxpy as cp
    from scipy import sparse

    start = plan_sum(workload, rho=rho)
    column = {tau: k for k, tau in enumerate(start.taus)}
    rows, columns, entries = [], [], []
    for row, (gamma, weight) in enumerate(workload.weights.items()):
        below = residuals_below(workload.domain.shape(gamma))
        rows += [row] * len(below.taus)
        columns += [column[tuple(gamma[j] for j in positions)] for positions in below.taus]
        entries += (weight * below.cost * below.ratio**2).tolist()
    shape = (len(workload.weights), len(start.taus))
    variance: Any = sparse.csr_array((entries, (rows, columns)), shape=shape)
    scaled: Any = variance @ sparse.diags_array(1.0 / start.precision)
    unit = float(np.max(scaled.sum(axis=1)))
    share = np.array([float(c) for c in start.costs]) * start.precision
    share /= share.sum()

    relative, worst = cp.Variable(len(start.taus), pos=True), cp.Variable()
    below = (scaled / unit) @ cp.inv_pos(relative) <= worst
    problem = cp.Problem(cp.Minimize(worst), [below, share @ relative <= 1])
    status = _solve(problem)
    if relative.value is None:
        raise _stopped(status, float("nan"))
    stretch = np.maximum(np.asarray(relative.value, dtype=float), 1e-12)
    precision: FloatArray = stretch / float(share @ stretch) * start.precision
    precision = within_budget(start.costs, precision, 2 * rho)
    objective = float(np.max(variance @ np.reciprocal(precision)))
    multipliers = np.maximum(np.ravel(below.dual_value), 0.0)
    cost = np.array([float(c) for c in start.costs])
    bound = _lower_bound(variance.T @ (multipliers / multipliers.sum()), cost, float(2 * rho))
    gap = 1.0 - bound / objective
    if not gap <= 1e-4:
        raise _stopped(status, gap)
    return WorkloadPlan(start.taus, start.costs, precision, objective, max(gap, 0.0))


def _lower_bound(gain: FloatArray, cost: FloatArray, budget: float) -> float:
    return float(np.sum(np.sqrt(gain * cost)) ** 2 / budget)


# -- reference solver ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class SolverPlan:
    """What CVXPY with Clarabel answered, and how sure it was."""

    added: FloatArray
    objective: float
    status: str
    seconds: float

    def __repr__(self) -> str:
        said = f"{self.status}, objective {self.objective:.6g}"
        return f"SolverPlan({len(self.added):,} residuals, {said})"


def plan_by_solver(
    cost: ArrayLike, gain: ArrayLike, known: ArrayLike, *, budget: float
) -> SolverPlan:
    """Solve the program of ``plan`` with CVXPY and Clarabel, the paper's solver, as a reference.

    The program is brought to scale first: a residual that would not be reached even if another
    took the whole budget is left out, and the others are described by how high the water stands
    in them, relative to the highest it can stand anywhere.

    Raises:
        BudgetError: As ``plan``.
        SolverError: If the solver returns no usable answer.
    """
    costs, gains, knowns = (np.atleast_1d(np.asarray(a, float)) for a in (cost, gain, known))
    check_plan(costs, gains, knowns, budget)
    added = np.zeros_like(costs)
    used = np.flatnonzero((costs > 0) & (gains > 0))
    if not len(used):
        return SolverPlan(added, 0.0, "empty", 0.0)
    ratio = np.sqrt(gains[used]) / np.sqrt(costs[used])
    base, width = knowns[used] / ratio, costs[used] * ratio
    lowest = float(base.min())
    # Heights above the lowest breakpoint; alone, a residual would reach base + budget / width.
    top = float(np.min(base - lowest + budget / width))
    reached = base - lowest < top
    used, ratio, base, width = used[reached], ratio[reached], base[reached], width[reached]
    height, status, seconds = _water_by_solver(base - lowest, width, lowest, top, budget)
    added[used] = ratio * height
    added *= budget / float(costs @ added)
    parts = gains[gains > 0] / np.maximum((knowns + added)[gains > 0], np.finfo(float).tiny)
    return SolverPlan(added, float(np.sum(parts)), status, seconds)


def _water_by_solver(
    base: FloatArray, width: FloatArray, lowest: float, top: float, budget: float
) -> tuple[FloatArray, str, float]:
    """Height of the water in each vessel, whose bottom stands ``base`` above the lowest."""
    import cvxpy as cp

    share = width * top / budget
    y = cp.Variable(len(width), nonneg=True)  # height / top
    if top > _FLAT * lowest:
        depth = (lowest + base) / (lowest + top)
        scale = share / share.sum()
        objective = cp.sum(cp.multiply(scale, cp.inv_pos(depth + y * (top / (lowest + top)))))
    else:
        # 1/(lowest + h) to second order: the linear term is fixed by the budget.
        objective = cp.sum(cp.multiply(share / share.sum(), cp.square(base / top + y)))
    problem = cp.Problem(cp.Minimize(objective), [share @ y <= 1])
    status = _solve(problem)
    if y.value is None:
        raise _stopped(status, float("nan"))
    height = np.maximum(np.asarray(y.value, dtype=float), 0.0) * top
    return height, status, float(problem.solver_stats.solve_time or 0.0)


def _solve(problem: Any) -> str:
    import warnings

    import cvxpy as cp

    names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
    tolerances = dict.fromkeys(names, SOLVER_TOLERANCE)
    with warnings.catch_warnings():
        # "may be inaccurate": judged by the caller from the gap, not from the warning.
        warnings.simplefilter("ignore", UserWarning)
        try:
            problem.solve(solver=cp.CLARABEL, **tolerances)
        except cp.SolverError as error:
            raise _stopped(str(error), float("nan")) from None
    return cast("str", problem.status)


def _stopped(status: str, gap: float) -> SolverError:
    return SolverError(
        f"Clarabel stopped with status {status!r} at a relative gap of {gap:.2g}; 1e-4 is needed. "
        "Choose the sum of variances, which needs no solver, or a smaller workload.",
        status=status,
        gap=gap,
    )
