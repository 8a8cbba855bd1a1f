"""How precise should each residual be?

Planners minimise a sum of variances under a bound on privacy. The optimum is a water level. Every
residual is raised to the same level s in units of its own ratio r = sqrt(gain / cost); those above
it already get nothing. A few passes find s. What needs a solver is in ``planner_reference``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine import kernels
from engine.checking import numbers
from engine.domain import Domain, subsets
from engine.errors import BudgetError
from engine.released import Allocation, Beliefs
from engine.residuals import privacy_cost
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload

_NOTHING = Fraction(0)
_ROUNDED = 1.0 - 2.0**-49
"""Kept back of a round's budget, so that rounding seldom passes it and needs to be undone."""


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
    costs, gains, knowns = (
        np.atleast_1d(numbers(given, "a number for each residual")) for given in (cost, gain, known)
    )
    check_plan(costs, gains, knowns, budget)
    # Roots first: the quotient of two tiny numbers can lose all its digits, that of roots cannot.
    ratio = np.zeros_like(costs)
    np.divide(np.sqrt(gains), np.sqrt(costs), out=ratio, where=costs > 0)
    added = water_fill(costs, ratio, knowns, budget)
    return within_budget([Fraction(c) for c in costs.tolist()], added, Fraction(budget))


def water_fill(cost: FloatArray, ratio: FloatArray, known: FloatArray, budget: float) -> FloatArray:
    """Raise all residuals to one level s: known + added = max(known, s * ratio).

    A residual joins at its breakpoint b = known / ratio and then takes c = cost * ratio of budget
    for each unit of level. Heights are measured from the lowest breakpoint: with absolute ones the
    whole budget drowns in rounding once much is known (engine/README.md has the derivation).
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
    below = residuals_below(domain.shape(gamma))
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


class Below(NamedTuple):
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
def residuals_below(shape: tuple[int, ...]) -> Below:
    """Return the residuals of a marginal of this shape, by positions within it."""
    every = subsets(tuple(range(len(shape))))
    position = [k for k, tau in enumerate(every) if all(shape[j] > 1 for j in tau)]
    taus = tuple(every[k] for k in position)
    sizes = [tuple(shape[j] for j in tau) for tau in taus]
    costs = tuple(privacy_cost(kept) for kept in sizes)
    ratio = np.array([math.prod(kept) / math.prod(shape) for kept in sizes])
    cost = np.array([float(c) for c in costs])
    return Below(taus, np.array(position, dtype=np.intp), position, costs, cost, ratio)


# -- a whole workload: ResidualPlanner -----------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        return f"WorkloadPlan({len(self.taus):,} residuals, objective {self.objective:.6g})"


def plan_sum(workload: Workload, *, rho: Fraction) -> WorkloadPlan:
    """Plan for the least weighted sum of all cell variances: closed form.

    Source:
        ResidualPlanner (Xiao et al. 2023); engine/README.md. Nothing is known yet, so the water
        level never meets a bound and x = C ratio / sum(cost * ratio).
    """
    taus, costs = measurable(workload)
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
    taus, costs = measurable(workload)
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
        engine/README.md, "Conditional ResidualPlanner", with the workload's own v.
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


def measurable(workload: Workload) -> tuple[tuple[AttributeSet, ...], list[Fraction]]:
    """Return the residuals of the closure without one-valued attributes, and what each costs."""
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


def check_plan(cost: FloatArray, gain: FloatArray, known: FloatArray, budget: float) -> None:
    """Refuse what cannot be planned with.

    Raises:
        BudgetError: As ``plan``.
    """
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
