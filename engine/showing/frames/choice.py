"""How a round selected, and the true error after it. Not private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.demonstrating.evaluation import Insight, NotReleased
from engine.domain import Domain
from engine.showing.badges import NOT_PRIVATE
from engine.showing.framed import framed
from engine.types import AttributeSet
from engine.workload import Workload

if TYPE_CHECKING:
    from engine.showing.frame import Frame

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


def selection(seen: Glimpse, domain: Domain, chosen: AttributeSet | None) -> Frame:
    """Return how a round selected. Not private.

    Returns:
        One row a candidate, most probable first: label, weight, l1, error, noise, score,
        probability and chosen.
    """
    return framed(
        [
            {
                "label": domain.label(c.attrs),
                "weight": c.weight,
                "l1": c.l1,
                "error": c.error_term,
                "noise": c.noise_term,
                "score": c.error_term - c.noise_term,
                "probability": c.probability,
                "chosen": c.attrs == chosen,
            }
            for c in seen.candidates
        ],
        NOT_PRIVATE,
    )


def errors(mean_errors: Sequence[float], records: int) -> Frame:
    """Return the error after each round. Not private.

    Returns:
        Columns round (0: before the first one) and error: mean L1 over the workload's marginals
        divided by N, or in records if there are none.
    """
    values = [error / records if records else error for error in mean_errors]
    return framed({"round": range(len(values)), "error": values}, NOT_PRIVATE)
