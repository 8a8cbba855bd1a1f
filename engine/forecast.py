"""What noise will cost in error, from sizes and precisions alone: before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.grem import noise_of
from engine.planner import residuals_below
from engine.released import Beliefs
from engine.types import AttributeSet
from engine.workload import Workload

_EXPECTED_ABSOLUTE = math.sqrt(2.0 / math.pi)
"""Mean absolute value of a standard normal draw."""


@dataclass(frozen=True, slots=True, repr=False)
class Prediction:
    """The error of a batch mechanism, known before any budget is spent. Public.

    Args:
        cell_variance: Noise variance of each cell, for every workload marginal.
        expected_l1: Expected L1 error of every workload marginal, n sqrt(2/pi) sqrt(variance).
        exact: Whether everything is measured. If not, what is unmeasured adds an error that only
            the data know.
    """

    cell_variance: Mapping[AttributeSet, float]
    expected_l1: Mapping[AttributeSet, float]
    exact: bool

    @property
    def mean_l1(self) -> float:
        """Mean over the workload's marginals of the expected L1 error, in records."""
        return math.fsum(self.expected_l1.values()) / len(self.expected_l1)

    def __repr__(self) -> str:
        return f"Prediction({len(self.expected_l1):,} marginals, mean L1 {self.mean_l1:.6g})"


def predict(workload: Workload, beliefs: Beliefs) -> Prediction:
    """Say what error follows from residuals measured this precisely; their values do not matter."""
    variances, unmeasured = {}, False
    for gamma in workload.weights:
        variances[gamma], missing = noise_of(beliefs, workload.domain, gamma)
        unmeasured = unmeasured or bool(missing)
    expected = {
        gamma: workload.domain.cells(gamma) * _EXPECTED_ABSOLUTE * math.sqrt(variance)
        for gamma, variance in variances.items()
    }
    return Prediction(variances, expected, exact=not unmeasured)


def predicted_l1(workload: Workload, precision: Mapping[AttributeSet, float]) -> float:
    """Return the weighted mean over the workload of the expected L1 error of noise, in records.

    n sqrt(2/pi) sqrt(cell variance) for each marginal; residuals without precision add nothing.
    """
    error = 0.0
    for gamma, weight in workload.weights.items():
        below = residuals_below(workload.domain.shape(gamma))
        known = [precision.get(tuple(gamma[j] for j in tau), math.inf) for tau in below.taus]
        variance = float(np.sum(below.cost * below.ratio**2 / np.array(known)))
        error += weight * workload.domain.cells(gamma) * math.sqrt(variance)
    return math.sqrt(2.0 / math.pi) * error / math.fsum(workload.weights.values())
