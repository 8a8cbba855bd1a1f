"""What a screen keeps of how a round selected. Not private."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.demonstrating.evaluation import Insight, NotReleased
from engine.types import AttributeSet
from engine.workload import Workload

TOP = 12
"""Candidates shown one by one; the rest are counted together."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Candidate(NotReleased):
    """One marginal as selection saw it. Not private.

    Args:
        attrs: The marginal.
        weight: How much the workload asks of it.
        l1: Its true L1 error, records.
        error_term: weight times ``l1``.
        noise_term: What measuring it would leave, weighted alike.
        probability: Chance of being selected.
    """

    attrs: AttributeSet
    weight: float
    l1: float
    error_term: float
    noise_term: float
    probability: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Glimpse(NotReleased):
    """What a screen keeps of an ``Insight``: the candidates on top, the rest counted. Not private.

    Args:
        candidates: Most probable first; the one chosen is always among them.
        others: How many candidates are not.
        others_probability: Their chance together.
    """

    candidates: tuple[Candidate, ...]
    others: int
    others_probability: float

    def __repr__(self) -> str:
        return "Glimpse(not private, not for release)"


def glimpse(insight: Insight, workload: Workload, chosen: AttributeSet | None) -> Glimpse:
    """Keep the top of an insight, for a screen that is not private."""
    weights = workload.candidate_weights()[1:]
    order = np.argsort(-insight.probability, kind="stable").tolist()
    kept = order[:TOP]
    if chosen is not None:
        k = insight.candidates.index(chosen)
        kept += [] if k in kept else [k]
    candidates = tuple(
        Candidate(
            insight.candidates[k],
            float(weights[k]),
            float(insight.error_term[k] / weights[k]),
            float(insight.error_term[k]),
            float(insight.noise_term[k]),
            float(insight.probability[k]),
        )
        for k in kept
    )
    others = [k for k in order[TOP:] if k not in kept]
    return Glimpse(candidates, len(others), float(insight.probability[others].sum()))


def mean_l1(insight: Insight, workload: Workload) -> float:
    """Mean true L1 error over the workload in records, read from the scores. Not private."""
    index = workload.layout.index
    rows = [index[attrs] - 1 for attrs in workload.weights]  # the total is no candidate
    weights = workload.candidate_weights()[1:]
    return float(np.mean(insight.error_term[rows] / weights[rows]))
