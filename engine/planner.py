"""How precise should each residual be?

Both planners minimise a sum (or the maximum) of variances under a bound on privacy. For the sum the
optimum is a water level: every residual is raised to the same level s in units of its own ratio
r = sqrt(gain / cost), those already above it get nothing, and a few passes find s. CVXPY with
Clarabel solves the same program as a reference, and the maximum, which has no closed form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine import kernels
from engine.domain import Domain, subsets
from engine.errors import BudgetError, SolverError
from engine.released import Allocation, Beliefs
from engine.residuals import privacy_cost
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload

SOLVER_TOLERANCE = 1e-10
_NOTHING = Fraction(0)
_ROUNDED = 1.0 - 2.0**-49
"""Kept back of a round's budget, so that rounding seldom passes it and needs to be undone."""
_FLAT = 1e-7
"""Relative height of the water below which 1/(known + added) is flat to double precision."""


def plan(cost: ArrayLike, gain: ArrayLike, known: ArrayLike, *, budget: float) -> FloatArray:
    """Choose the precision to add to each residual so that the summed variance is least.

    Minimises sum(gain / (known + added)) subject to sum(cost * added) <= budget, added >= 0.
    The budget fills the residuals like water filling vessels, so a few passes find the optimum.

    Args:
        cost: Privacy cost per unit of precision (p_tau).
        gain: Cell variance per unit of noise variance (v_tau).
        known: Precision bought in earlier rounds; zero or more.
        budget: What to spend, in units of cost x precision (twice rho); positive.

    Shapes:
        cost, gain, known and the result: (k,), one entry for each residual below gamma.

    Returns:
        Precision to add (records^-2); zero where nothing is bought, and where cost and gain are
        both zero (an empty residual). The budget holds in exact arithmetic.

    Raises:
        BudgetError: If nothing is left to spend (budget <= 0, ``E_BUDGET``), the shapes differ, an
            entry is negative or not finite, or something costs nothing yet gains (``E_PLAN``).

    Source:
        Conditional ResidualPlanner (paper, section 4.3); derivation in engine/README.md.

    >>> plan([1, 0.5], [0.25, 0.5], [0, 0], budget=1.0).round(6)
    array([0.5, 1. ])
    """
    costs, gains, knowns = (np.atleast_1d(np.asarray(a, float)) for a in (cost, gain, known))
    _check_plan(costs, gains, knowns, budget)
    # Roots first: the quotient of two tiny numbers can lose all its digits, that of roots cannot.
    ratio = np.zeros_like(costs)
    np.divide(np.sqrt(gains), np.sqrt(costs), out=ratio, where=costs > 0)
    added = water_fill(costs, ratio, knowns, budget)
    return within_budget([Fraction(c) for c in costs.tolist()], added, Fraction(budget))


def water_fill(cost: FloatArray, ratio: FloatArray, known: FloatArray, budget: float) -> FloatArray:
    """Raise all residuals to one level s: known + added = max(known, s * ratio).

    A residual joins at its breakpoint b = known / ratio and then takes c = cost * ratio of budget
    for each unit of level. Heights are measured from the lowest breakpoint: with absolute ones the
    whole budget drowns in rounding once much is known (MATH section 5).
    """
    added = np.empty(len(known))
    kernels.fill(cost, ratio, known, budget, added)
    return added


def within_budget(cost: Sequence[Fraction], added: FloatArray, budget: Fraction) -> FloatArray:
    """Lower the precisions, by a few units in the last place, until their exact cost fits."""
    spent = spent_on(cost, added)
    if spent <= budget:
        return added
    if spent > budget * (1 + Fraction(1, 2**48)):  # costs far apart: more than rounding
        added = added * float(budget / spent)
        spent = spent_on(cost, added)
    while spent > budget:
        added = np.where(added > 0, np.nextafter(added, 0), added)
        spent = spent_on(cost, added)
    return added


def spent_on(cost: Sequence[Fraction], added: FloatArray) -> Fraction:
    """Return the exact sum of cost * added, over one common denominator."""
    parts = [
        (*c.as_integer_ratio(), *x.as_integer_ratio())
        for c, x in zip(cost, added.tolist(), strict=True)
        if x
    ]
    common = math.lcm(*{below for _, below, _, _ in parts})
    # Those of floating-point numbers are powers of two: the largest is a multiple of all.
    finest = max((fine for *_, fine in parts), default=1)
    total = sum(n * (common // d) * m * (finest // fine) for n, d, m, fine in parts)
    return Fraction(total, common * finest)


def _charge(cost: Fraction, added: float) -> Fraction:
    """What this much precision costs in rho: cost * added / 2, exactly."""
    if not added:
        return _NOTHING
    (n, d), (m, fine) = cost.as_integer_ratio(), added.as_integer_ratio()
    return Fraction(n * m, 2 * d * fine)


# -- one marginal: conditional ResidualPlanner ---------------------------------------------------


def plan_marginal(
    domain: Domain,
    gamma: AttributeSet,
    known: Sequence[float],
    *,
    rho: Fraction,
    omit_below: float = 1e-3,
    respend: bool = True,
) -> tuple[Allocation, ...]:
    """Share the measuring budget of one round among the residuals of the selected marginal.

    Args:
        domain: For the sizes.
        gamma: The selected marginal.
        known: Precision of each subset of gamma so far, in the order of ``subsets(gamma)``.
        rho: The round's measuring budget; C = 2 rho.
        omit_below: Residuals whose share of the budget is smaller are not measured (eta); the
            largest share always is.
        respend: Whether what the omitted ones would have taken goes to the others.

    Returns:
        One allocation for each subset of gamma without one-valued attributes, in order. Their rho
        add up to at most ``rho``, exactly.

    Source:
        Paper, section 4.3 and appendix D.2.  # Paper: leaves the omitted sliver unspent.
    """
    below = _below(domain.shape(gamma))
    every = subsets(gamma)
    knowns = np.array(known, dtype=float)[below.position]
    costs, cost, ratio = below.costs, below.cost, below.ratio
    exact_budget = 2 * rho
    budget = _ROUNDED * float(exact_budget)
    added = water_fill(cost, ratio, knowns, budget)
    share = cost * added
    kept = share >= omit_below * budget
    kept[share.argmax()] = True
    omitted = np.where(kept, 0.0, share).any()
    if omitted and respend:
        added = water_fill(cost, np.where(kept, ratio, 0.0), knowns, budget)
    elif omitted:
        added = np.where(kept, added, 0.0)
    added = within_budget(costs, added, exact_budget)
    planned = zip(below.order, knowns.tolist(), added.tolist(), costs, strict=True)
    return tuple(Allocation(every[j], k, x, _charge(c, x)) for j, k, x, c in planned)


class _Below(NamedTuple):
    """The residuals of a marginal that can be measured, by positions within it.

    ``position``, and ``order`` as a list, say where each stands among all subsets; ``ratio`` is
    r = prod of 1/n over the marginal's other attributes.
    """

    taus: tuple[AttributeSet, ...]
    position: NDArray[np.intp]
    order: list[int]
    costs: tuple[Fraction, ...]
    cost: FloatArray
    ratio: FloatArray


# Every round asks for one of few shapes.
@lru_cache(maxsize=4096)
def _below(shape: tuple[int, ...]) -> _Below:
    every = subsets(tuple(range(len(shape))))
    position = [k for k, tau in enumerate(every) if all(shape[j] > 1 for j in tau)]
    taus = tuple(every[k] for k in position)
    sizes = [tuple(shape[j] for j in tau) for tau in taus]
    costs = tuple(privacy_cost(kept) for kept in sizes)
    ratio = np.array([math.prod(kept) / math.prod(shape) for kept in sizes])
    cost = np.array([float(c) for c in costs])
    return _Below(taus, np.array(position, dtype=np.intp), position, costs, cost, ratio)


# -- a whole workload: ResidualPlanner -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkloadPlan:
    """Precision of every residual of a workload's closure, planned before any budget is spent.

    Shapes:
        precision: (k,), one for each of ``taus``; unit records^-2.
    """

    taus: tuple[AttributeSet, ...]
    costs: tuple[Fraction, ...]
    precision: FloatArray
    objective: float
    gap: float

    @property
    def rho(self) -> Fraction:
        """Exact privacy cost of measuring all of it."""
        return spent_on(self.costs, self.precision) / 2


def plan_sum(workload: Workload, *, rho: Fraction) -> WorkloadPlan:
    """Plan for the least weighted sum of all cell variances: closed form.

    Source:
        ResidualPlanner (Xiao et al. 2023); MATH section 6. Nothing is known yet, so the water
        level never meets a bound and x = C ratio / sum(cost * ratio).
    """
    taus, costs = _measurable(workload)
    cost = np.array([float(c) for c in costs])
    ratio = np.sqrt(_workload_ratio_squared(workload, taus))
    precision = water_fill(cost, ratio, np.zeros(len(taus)), float(2 * rho))
    precision = within_budget(costs, precision, 2 * rho)
    objective = float(np.sum(cost * ratio**2 / precision))
    return WorkloadPlan(taus, tuple(costs), precision, objective, 0.0)


class _Residuals(NamedTuple):
    """The residuals of a workload's closure that can be measured, in order.

    ``position`` says where each stands; ``ratio`` is sqrt(v/p), v summed over the whole workload.
    """

    taus: tuple[AttributeSet, ...]
    position: Mapping[AttributeSet, int]
    costs: tuple[Fraction, ...]
    cost: FloatArray
    ratio: FloatArray


# Every round asks again.
@lru_cache(maxsize=4)
def _residuals(workload: Workload) -> _Residuals:
    taus, costs = _measurable(workload)
    position = {tau: k for k, tau in enumerate(taus)}
    cost = np.array([float(c) for c in costs])
    ratio = np.sqrt(_workload_ratio_squared(workload, taus))
    return _Residuals(taus, position, tuple(costs), cost, ratio)


def workload_ratio(workload: Workload) -> Mapping[AttributeSet, float]:
    """Return r = sqrt(v/p) of every residual of the closure, v summed over the whole workload."""
    found = _residuals(workload)
    return dict(zip(found.taus, found.ratio.tolist(), strict=True))


def plan_rest(
    workload: Workload,
    beliefs: Beliefs,
    *,
    rho: Fraction,
    expected: Mapping[AttributeSet, float] | None = None,
    among: Set[AttributeSet] | None = None,
    omit_below: float = 0.0,
) -> tuple[Allocation, ...]:
    """Share a budget among residuals of a workload, given what is known of them.

    Args:
        workload: Its weighted sum of all cell variances becomes least.
        beliefs: What was measured so far.
        rho: What to spend.
        expected: Precision that something else than a measurement is worth.
        among: Which residuals may be measured; None: all of the closure.
        omit_below: Residuals with a smaller share of the budget are not measured.

    Returns:
        One allocation for each of these residuals without one-valued attributes, in order.

    Source:
        MATH section 5: conditional ResidualPlanner with the workload's own v.
    """
    every = _residuals(workload)
    chosen = range(len(every.taus)) if among is None else _positions(every, among)
    taus, costs = [every.taus[k] for k in chosen], [every.costs[k] for k in chosen]
    cost, width = every.cost[chosen], every.ratio[chosen]
    known = np.array([beliefs.precision(tau) for tau in taus])
    base = known + np.array([expected.get(tau, 0.0) if expected else 0.0 for tau in taus])
    budget = float(2 * rho)
    added = water_fill(cost, width, base, budget)
    share = cost * added / budget
    kept = share >= omit_below
    kept[int(share.argmax())] = True
    if not kept[share > 0].all():
        added = np.where(kept, water_fill(cost, np.where(kept, width, 0.0), base, budget), 0.0)
    added = within_budget(costs, added, 2 * rho)
    planned = zip(taus, known.tolist(), added.tolist(), costs, strict=True)
    return tuple(Allocation(tau, k, x, _charge(c, x)) for tau, k, x, c in planned)


def _positions(every: _Residuals, among: Set[AttributeSet]) -> list[int]:
    found = (every.position.get(tau) for tau in among)
    return sorted(k for k in found if k is not None)


def predicted_l1(workload: Workload, precision: Mapping[AttributeSet, float]) -> float:
    """Return the weighted mean over the workload of the expected L1 error of noise, in records.

    n sqrt(2/pi) sqrt(cell variance) for each marginal; residuals without precision add nothing.
    """
    error = 0.0
    for gamma, weight in workload.weights.items():
        below = _below(workload.domain.shape(gamma))
        known = [precision.get(tuple(gamma[j] for j in tau), math.inf) for tau in below.taus]
        variance = float(np.sum(below.cost * below.ratio**2 / np.array(known)))
        error += weight * workload.domain.cells(gamma) * math.sqrt(variance)
    return math.sqrt(2.0 / math.pi) * error / math.fsum(workload.weights.values())


def plan_max(workload: Workload, *, rho: Fraction) -> WorkloadPlan:
    """Plan for the least weighted maximum over marginals of the variance of a cell.

    Minimises max over gamma of w_gamma sum v_{tau,gamma} / x_tau with CVXPY and Clarabel, in units
    of the plan for the sum. The returned plan is feasible whatever the solver did, and ``gap`` is
    its relative distance from a proven lower bound: for any weights lambda on the marginals, the
    least of the lambda-weighted sum is known in closed form and never above the optimum.

    Raises:
        SolverError: If the gap stays above 1e-4.

    Source:
        ResidualPlanner (Xiao et al. 2023), maximum variance; MATH section 6.
    """
    import cvxpy as cp  # imported where used: it takes a second
    from scipy import sparse

    start = plan_sum(workload, rho=rho)
    column = {tau: k for k, tau in enumerate(start.taus)}
    rows, columns, entries = [], [], []
    for row, (gamma, weight) in enumerate(workload.weights.items()):
        below = _below(workload.domain.shape(gamma))
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


def _measurable(workload: Workload) -> tuple[tuple[AttributeSet, ...], list[Fraction]]:
    sizes = workload.domain.sizes
    taus = tuple(tau for tau in workload.closure if all(sizes[i] > 1 for i in tau))
    return taus, [privacy_cost(workload.domain.shape(tau)) for tau in taus]


def _workload_ratio_squared(workload: Workload, taus: Sequence[AttributeSet]) -> FloatArray:
    """Return r² of every residual: the sum over gamma ⊇ tau of w n_gamma / prod n² outside tau."""
    domain = workload.domain
    totals = dict.fromkeys(taus, 0.0)
    for gamma, weight in workload.weights.items():
        cells = domain.cells(gamma)
        for tau in subsets(gamma):
            if tau in totals:
                totals[tau] += weight * cells * (domain.cells(tau) / cells) ** 2
    return np.array([totals[tau] for tau in taus])


# -- reference solver ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SolverPlan:
    """What CVXPY with Clarabel answered, and how sure it was."""

    added: FloatArray
    objective: float
    status: str
    seconds: float


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
    _check_plan(costs, gains, knowns, budget)
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


def _check_plan(cost: FloatArray, gain: FloatArray, known: FloatArray, budget: float) -> None:
    if not (isinstance(budget, int | float | Fraction) and 0 < budget < math.inf):
        raise BudgetError(
            f"The budget to plan with is {budget!r}; a positive number is needed. Stop here: "
            "nothing is left to spend."
        )
    if not (cost.ndim == 1 and cost.shape == gain.shape == known.shape):
        raise BudgetError(
            f"cost, gain and known have shapes {cost.shape}, {gain.shape} and {known.shape}; three "
            "lists of equal length are needed.",
            code="E_PLAN",
        )
    for name, values in (("cost", cost), ("gain", gain), ("known", known)):
        usable = (values == 0) | ((values >= 1e-100) & (values <= 1e100))
        if not usable.all():
            raise BudgetError(
                f"{name} holds an entry that is negative, not finite or out of range; 0 or numbers "
                "from 1e-100 to 1e100 are needed. Rescale it.",
                code="E_PLAN",
            )
    if ((cost == 0) & (gain > 0)).any():
        raise BudgetError(
            "A residual costs nothing and yet gains: its best precision is infinite. Give it a "
            "positive cost, or no gain.",
            code="E_PLAN",
        )
