"""What the choices before a run do: bounds, bins and weights, on made-up numbers.

Everything here is public: the values are invented, the errors are expectations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from engine.domain import Domain
from engine.mechanisms.one_shot import ResidualPlanner
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload

PEOPLE = 2_000


def incomes() -> FloatArray:
    """Invented yearly incomes in thousands: many small ones, few large ones."""
    ranks = (np.arange(PEOPLE) + 0.5) / PEOPLE
    values: FloatArray = np.exp(3.4 + 0.7 * special.ndtri(ranks))
    return values


@dataclass(frozen=True, slots=True)
class Clamped:
    """A mean with bounds.

    Args:
        true: Mean of the values.
        clamped: Mean after values outside were moved to the bound.
        outside: Share of the values that were.
        noise: Standard deviation of the noise on the mean.
    """

    true: float
    clamped: float
    outside: float
    noise: float

    @property
    def bias(self) -> float:
        """What clamping adds to every answer, however large the budget."""
        return self.clamped - self.true


def clamped(values: FloatArray, low: float, high: float, rho: float) -> Clamped:
    """Say what bounds do to a mean that is released with rho; the number of people is public."""
    inside = np.clip(values, low, high)
    noise = (high - low) / len(values) / math.sqrt(2 * rho)
    outside = float(((values < low) | (values > high)).mean())
    return Clamped(float(values.mean()), float(inside.mean()), outside, noise)


@dataclass(frozen=True, slots=True)
class Binned:
    """A histogram between two bounds.

    Args:
        edges: Of the bins.
        counts: True counts.
        sigma: Noise of each.
        noise: Expected sum of the noise's absolute values, divided by the number of people.
        coarse: Mean distance of a value from the middle of its bin, as a share of the whole range.
    """

    edges: FloatArray
    counts: FloatArray
    sigma: float
    noise: float
    coarse: float


def binned(values: FloatArray, low: float, high: float, bins: int, rho: float) -> Binned:
    """Say what the number of bins does: more of them are finer, and each has the same noise."""
    edges = np.linspace(low, high, bins + 1)
    inside = np.clip(values, low, high)
    counts, _ = np.histogram(inside, edges)
    place = np.clip(np.digitize(inside, edges) - 1, 0, bins - 1)
    middle = (edges[:-1] + edges[1:]) / 2
    coarse = float(np.abs(inside - middle[place]).mean()) / (high - low)
    sigma = 1 / math.sqrt(2 * rho)
    noise = bins * sigma * math.sqrt(2 / math.pi) / len(values)
    return Binned(edges, counts.astype(float), sigma, noise, coarse)


PAIRS: dict[str, AttributeSet] = {"age × sex": (0, 1), "age × income": (0, 2),
                                  "sex × income": (1, 2)}  # fmt: skip


def weighted(weight: float, rho: float) -> dict[str, float]:
    """Expected L1 errors of three tables, if the first has this weight and the others have 1."""
    domain = Domain.from_sizes({"age": 8, "sex": 2, "income": 5})
    weights = dict.fromkeys(PAIRS.values(), 1.0) | {PAIRS["age × sex"]: weight}
    found = ResidualPlanner().predict(Workload(weights, domain), rho=rho).expected_l1
    return {name: float(found[attrs]) for name, attrs in PAIRS.items()}
