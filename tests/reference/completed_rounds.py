"""Twin of the rounds of AIM+GReM with completed tables: what each decides, from released values.

Written from MATH section 7 and engine/COMPLETION_NOTES.md. Nothing is drawn here: a test gives the
beliefs before a round, and compares scores, allocations and decisions with what the engine did.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from tests.reference import dense, planning
from tests.reference.completion import Attrs, Beliefs, Completion
from tests.reference.fitting import nearly_fitted

EXPECTED = math.sqrt(2.0 / math.pi)
NOISE_LEFT = 0.7
"""Share of a measurement's noise that shrinkage leaves in an answer."""
ROUNDS_PER_ATTRIBUTE = 16
MEASURED, PRODUCT, OUTSIDE = -2, -1, 7


@dataclass(frozen=True)
class Problem:
    """What is to be answered: public sizes and weighted marginals."""

    sizes: Sequence[int]
    weights: Mapping[Attrs, float]

    @property
    def closure(self) -> list[Attrs]:
        """Every subset of a marginal asked for, the small ones first."""
        every = {t for s in self.weights for t in dense.subsets(s)}
        return sorted(every, key=lambda t: (len(t), t))

    def cells(self, attrs: Attrs) -> int:
        """Cells of a marginal."""
        return math.prod(self.sizes[i] for i in attrs)

    def cost(self, tau: Attrs) -> Fraction:
        """Privacy cost of a residual per unit of precision, halved."""
        return Fraction(math.prod(self.sizes[i] - 1 for i in tau), self.cells(tau))

    def first_budgets(self, rho: Fraction) -> tuple[Fraction, Fraction]:
        """What the first rounds spend on measuring and on selecting."""
        rounds = ROUNDS_PER_ATTRIBUTE * len(self.sizes)
        return Fraction(9, 10) * rho / rounds, Fraction(1, 10) * rho / rounds

    # -- selecting ------------------------------------------------------------------------------

    def errors(self, codes: np.ndarray, tables: Completion) -> dict[Attrs, float]:
        """L1 distance of every completed table from the truth, fitted as far as scores are."""
        return {
            gamma: float(np.abs(self._scored(gamma, tables) - self._counts(codes, gamma)).sum())
            for gamma in self.closure
        }

    def log_weights(
        self, codes: np.ndarray, tables: Completion, rho_m: Fraction, rho_s: Fraction
    ) -> np.ndarray:
        """Of every candidate: epsilon (error - what noise leaves) / (2 sensitivity)."""
        sigma, epsilon = math.sqrt(1 / (2 * rho_m)), math.sqrt(8 * rho_s)
        errors = self.errors(codes, tables)
        weight = {
            g: sum(c * len(set(g) & set(s)) for s, c in self.weights.items()) for g in self.closure
        }
        scores = [
            weight[g] * (errors[g] - NOISE_LEFT * EXPECTED * sigma * self.cells(g))
            for g in self.closure
            if g
        ]
        return np.array(scores) * epsilon / (2 * max(weight.values()))

    def _counts(self, codes: np.ndarray, gamma: Attrs) -> np.ndarray:
        return dense.counts(codes, self.sizes, gamma)

    def _scored(self, gamma: Attrs, tables: Completion) -> np.ndarray:
        """A triple that its pairs say all of is fitted less far; its axes as they lie in memory."""
        if len(gamma) != 3 or gamma in tables.beliefs:
            return tables.table(gamma)
        order = sorted(gamma, key=lambda i: (self.sizes[i], i))
        pairs, ways = [], []
        for a, b in combinations(order, 2):
            low, high = min(a, b), max(a, b)
            pairs.append(tables.pair(low, high) if a < b else tables.pair(low, high).T)
            ways.append(self._way(low, high, order, tables))
        table = nearly_fitted(*pairs, ways)
        return table.transpose([order.index(i) for i in gamma])

    def _way(self, a: int, b: int, order: list[int], tables: Completion) -> int:
        if (a, b) in tables.beliefs:
            return MEASURED
        x = tables.way(a, b)
        return PRODUCT if x < 0 else order.index(x) if x in order else OUTSIDE

    # -- measuring ------------------------------------------------------------------------------

    def plan(
        self,
        known: Mapping[Attrs, float],
        rho: Fraction,
        *,
        among: Collection[Attrs] | None = None,
        omit_below: float = 0.0,
    ) -> dict[Attrs, float]:
        """Precision to add to each residual, for the least weighted sum of all cell variances."""
        taus = [t for t in self.closure if self.cost(t) > 0 and (among is None or t in among)]
        cost = [float(self.cost(t)) for t in taus]
        ratio = [math.sqrt(self._worth(t)) for t in taus]
        before = [known.get(t, 0.0) for t in taus]
        budget = float(2 * rho)
        added = planning.water_level(cost, ratio, before, budget)
        share = [p * x / budget for p, x in zip(cost, added, strict=True)]
        kept = [s >= omit_below or s == max(share) for s in share]
        if not all(kept):
            ratio = [r if keep else 0.0 for r, keep in zip(ratio, kept, strict=True)]
            added = planning.water_level(cost, ratio, before, budget)
        return dict(zip(taus, added, strict=True))

    def _worth(self, tau: Attrs) -> float:
        """What a unit of variance over tau adds to all cells asked for, over its privacy cost."""
        return sum(
            weight * self.cells(gamma) / (self.cells(gamma) / self.cells(tau)) ** 2
            for gamma, weight in self.weights.items()
            if set(tau) <= set(gamma)
        )

    # -- rounds, or everything at once ----------------------------------------------------------

    def left_by_everything(self, known: Mapping[Attrs, float], rho: Fraction) -> float:
        """Mean L1 error that measuring everything leaves."""
        precision = dict(known)
        for tau, added in self.plan(known, rho).items():
            precision[tau] = precision.get(tau, 0.0) + added
        total = 0.0
        for gamma, weight in self.weights.items():
            variance = sum(
                float(self.cost(t)) / (self.cells(gamma) / self.cells(t)) ** 2 / precision[t]
                for t in dense.subsets(gamma)
                if self.cost(t) > 0
            )
            total += weight * self.cells(gamma) * EXPECTED * math.sqrt(variance)
        return total / sum(self.weights.values())

    def worth_of_rounds(self) -> float:
        """Factor by which measuring everything must win."""
        return min(max((len(self.closure) - 1) / (4 * len(self.sizes)), 1.0), 3.0)

    def price_of_asking(self, beliefs: Beliefs, rho: Fraction) -> Fraction:
        """What asking for the mean error costs: noise of 2 % of the records, at most 1 %."""
        records = max(float(beliefs[()][0]), 1.0)
        return min(rho / 100, Fraction(1 / (2 * (0.02 * records) ** 2)))

    def mean_error(self, codes: np.ndarray, tables: Completion) -> int:
        """Weighted mean L1 error of the workload, rounded down."""
        errors = self.errors(codes, tables)
        mean = sum(w * errors[g] for g, w in self.weights.items()) / sum(self.weights.values())
        return math.floor(mean)
