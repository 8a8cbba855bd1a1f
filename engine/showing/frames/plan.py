"""Frames and numbers before a run, from public sizes alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.accounting import epsilon_from, rho_from
from engine.domain import Domain, subsets
from engine.mechanisms.protocols import Adaptive, Planned
from engine.showing.badges import PUBLIC
from engine.showing.framed import framed
from engine.types import AttributeSet
from engine.workload import Workload

if TYPE_CHECKING:
    from engine.showing.frame import Frame


@dataclass(frozen=True, slots=True)
class Odds:
    """What a release can teach about one person's presence, at worst. Public.

    Args:
        prior: What somebody believed before.
        most: What they can believe at most afterwards.
        least: What they believe at least.
        exception: The outcomes in which these bounds fail have this probability together, at most.
    """

    prior: float
    most: float
    least: float
    exception: float


def odds(*, prior: float, epsilon: float, rho: float | Fraction) -> Odds:
    """Bound what a release of cost rho does to a belief about one record's presence.

    The likelihood ratio of an outcome is at most exp(epsilon), so the odds grow by that factor at
    most. zCDP bounds how often that fails (the moments of its privacy loss, at the best order):
    with probability at most exp(-(epsilon - rho)² / (4 rho)).

    Args:
        prior: A probability strictly between 0 and 1.
        epsilon: The factor's logarithm.
        rho: The budget.

    >>> round(odds(prior=0.1, epsilon=1.0, rho=0.0149).most, 3)
    0.232
    """
    cost = float(rho)
    shrunk = math.exp(-epsilon)
    most = prior / (prior + (1 - prior) * shrunk)
    least = prior * shrunk / (prior * shrunk + (1 - prior))
    exception = math.exp(-((epsilon - cost) ** 2) / (4 * cost)) if epsilon > cost else 1.0
    return Odds(prior, most, least, exception)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run will take, from public sizes alone.

    Args:
        marginals: Marginals asked for.
        cells: Their cells.
        all_marginals: Marginals of the closure, which a run keeps up to date.
        all_cells: Their cells.
        rounds: At most about so many rounds.
        seconds: At most about so long, charts not counted.
        memory: Bytes.
    """

    marginals: int
    cells: int
    all_marginals: int
    all_cells: int
    rounds: int
    seconds: float
    memory: int


def cost(mechanism: Any, workload: Workload, *, slowness: float = 1.0) -> Cost:
    """Estimate what a run will take.

    Args:
        mechanism: One that says its ``memory_needed``; if it scores, it goes in rounds.
        workload: What is asked for.
        slowness: How much slower this machine is than the one the seconds were taken on.
    """
    layout = workload.layout
    sets, cells = len(workload.closure), layout.total_cells
    in_rounds = isinstance(mechanism, Adaptive)
    ones = sum(len(attrs) == 1 for attrs in workload.closure)
    planned = 2 * sets
    if isinstance(mechanism, Planned):
        planned = mechanism.planned_rounds(workload)
    # A 1-way marginal costs nine tenths of a share, a round a whole one.
    rounds = (math.ceil(planned - Fraction(9, 10) * ones) if ones else 0) if in_rounds else 1
    seconds = 1e-3 * sets + 1e-6 * cells
    if in_rounds:
        seconds = 0.05 + 1e-7 * cells + rounds * (1.2e-3 + 4e-9 * cells)
    return Cost(
        marginals=len(workload.weights),
        cells=workload.cells,
        all_marginals=sets,
        all_cells=cells,
        rounds=rounds,
        seconds=seconds * slowness,
        memory=mechanism.memory_needed(workload),
    )


def asked(domain: Domain, weights: Mapping[AttributeSet, float]) -> Frame:
    """Return the grid of attributes by attributes: which of its tables are asked for.

    Returns:
        One row a pair, and one an attribute alone (first = second): first, second (positions),
        label, cells, weight (0: not asked for) and holding (larger tables asked for that hold it).
    """
    holding: dict[AttributeSet, int] = {}
    for attrs in weights:
        for smaller in subsets(attrs):
            if 1 <= len(smaller) <= 2 and smaller != attrs:
                holding[smaller] = holding.get(smaller, 0) + 1
    rows = []
    for first in range(len(domain)):
        for second in range(first, len(domain)):
            attrs = (first,) if first == second else (first, second)
            rows.append(
                {
                    "first": first,
                    "second": second,
                    "label": domain.label(attrs),
                    "cells": domain.cells(attrs),
                    "weight": weights.get(attrs, 0.0),
                    "holding": holding.get(attrs, 0),
                }
            )
    return framed(rows, PUBLIC)


def predicted(
    workload: Workload, planner: Mapping[AttributeSet, float], split: Mapping[AttributeSet, float]
) -> Frame:
    """Return the expected error of two batch mechanisms, marginal by marginal.

    Args:
        workload: What is asked for.
        planner: ``ResidualPlanner().predict(...).expected_l1``, records.
        split: ``EqualSplit().predict(...).expected_l1``.

    Returns:
        label, degree, cells, weight, planner and split (L1, records), largest error first.
    """
    domain = workload.domain
    rows: list[dict[str, Any]] = sorted(
        (
            {
                "label": domain.label(attrs),
                "degree": len(attrs),
                "cells": domain.cells(attrs),
                "weight": weight,
                "planner": planner[attrs],
                "split": split[attrs],
            }
            for attrs, weight in workload.weights.items()
        ),
        key=lambda row: -row["planner"],
    )
    return framed(rows, PUBLIC)


def predicted_curve(
    planner: float, split: float, *, rho: float | Fraction, delta: float, epsilons: Sequence[float]
) -> Frame:
    """Return the predicted mean error for other budgets.

    All variances of a batch mechanism go with 1/rho, so one prediction gives them all.

    Args:
        planner: Mean expected L1 of ResidualPlanner at ``rho``, records.
        split: The same of EqualSplit.
        rho: What both were predicted for.
        delta: Kept fixed.
        epsilons: Where to look.

    Returns:
        epsilon, rho, planner and split (mean L1, records).
    """
    rhos = [rho_from(epsilon=epsilon, delta=delta) for epsilon in epsilons]
    factor = np.sqrt(float(rho) / np.asarray(rhos))
    return framed(
        {
            "epsilon": list(epsilons),
            "rho": rhos,
            "planner": planner * factor,
            "split": split * factor,
        },
        PUBLIC,
    )


def smallest_epsilon(
    mean_l1: float, *, wanted: float, rho: float | Fraction, delta: float
) -> float:
    """Return the least epsilon at which a batch mechanism is expected to err by ``wanted``.

    Args:
        mean_l1: Its predicted mean error at ``rho``, records.
        wanted: The mean error wanted, records; positive.
        rho: What ``mean_l1`` was predicted for.
        delta: The promise's other half.

    Raises:
        BudgetError: If no budget in use comes to that.
    """
    return epsilon_from(rho=float(rho) * (mean_l1 / wanted) ** 2, delta=delta)
