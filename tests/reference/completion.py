"""Twin of completed tables: each made from the beliefs alone, whenever it is asked for.

Written from MATH section 9 and engine/COMPLETION_NOTES.md: dense NumPy, no state, nothing kept,
nothing refreshed. Fits follow the stated stopping rules, since contradictory targets have no end.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tests.reference import dense, posterior, routes, shrinking, sparse

Attrs = tuple[int, ...]
Beliefs = Mapping[Attrs, tuple[np.ndarray, float]]
"""Of each residual measured: its estimate and precision."""
LEARNERS = 32
NEARLY_ALL = 0.9
RELATIVE = 0.3
MOST_RAKINGS, RAKED = 50, 1e-8
MOST_SWEEPS, LEAST_SWEEPS, STALLED, FITTED = 100, 8, 0.99, 1e-10


@dataclass(frozen=True)
class Completion:
    """Completed tables of these beliefs."""

    sizes: Sequence[int]
    beliefs: Beliefs
    lowered: bool = False
    zeros: bool = False
    """Whether tables may have zeros of their own."""

    # -- the total, and one attribute -----------------------------------------------------------

    def total(self) -> float:
        """As estimated; lowered by up to a standard deviation if asked; never below zero."""
        if () not in self.beliefs:
            return 0.0
        value, precision = self.beliefs[()]
        total, std = float(value), 1.0 / math.sqrt(precision)
        if self.lowered:
            cells = math.prod(self.sizes) ** (3.0 / len(self.sizes))
            total -= std / (1.0 + max(total, 0.0) / (cells * std))
        return max(total, 0.0)

    def one(self, i: int) -> np.ndarray:
        """Posterior mean of the counts of one attribute, moved to the total."""
        n, total = self.sizes[i], self.total()
        if (i,) not in self.beliefs:
            return np.full(n, total / n)
        z, precision = self.beliefs[(i,)]
        noisy = total / n + top_part(z)
        variance = (n - 1) / n / precision
        return project(posterior.counts(noisy, mean=total / n, variance=variance), total)

    # -- two attributes -------------------------------------------------------------------------

    def pair(self, a: int, b: int) -> np.ndarray:
        """Measured: product and interaction; not measured: by way of a third; else the product."""
        if (a, b) in self.beliefs:
            return self.measured_pair(a, b)
        x = self.way(a, b)
        if x >= 0:
            table = routes.by_way(self.turned(a, x), self.turned(x, b), self.total())
            if table is not None:
                return table
        return self.product(a, b)

    def measured_pair(self, a: int, b: int) -> np.ndarray:
        """The product plus what the measured interaction is worth, raked to the two 1-ways."""
        table, share = self.completed_by((a, b))
        return table if share > 0.5 else rake(table, self.one(a), self.one(b))

    def turned(self, a: int, b: int) -> np.ndarray:
        """A pair measured, in the order asked for."""
        return self.measured_pair(a, b) if a < b else self.measured_pair(b, a).T

    def product(self, a: int, b: int) -> np.ndarray:
        """Independence."""
        return np.outer(self.one(a), self.one(b)) / max(self.total(), 1e-300)

    def way(self, a: int, b: int) -> int:
        """The attribute that a and b were both measured with and that says most of both; or -1."""
        if (a, b) in self.beliefs:
            raise ValueError("measured")
        return int(routes.strongest(self.information())[a, b])

    def information(self) -> np.ndarray:
        """Mutual information of measured pairs, zero elsewhere."""
        d = len(self.sizes)
        found = np.zeros((d, d))
        for tau in self.beliefs:
            if len(tau) == 2:
                found[tau] = found[tau[::-1]] = mutual_information(self.measured_pair(*tau))
        return found

    # -- three or more --------------------------------------------------------------------------

    def table(self, gamma: Attrs) -> np.ndarray:
        """The completed table of any degree."""
        if len(gamma) == 0:
            return np.array(self.total())
        if len(gamma) == 1:
            return self.one(*gamma)
        if len(gamma) == 2:
            return self.pair(*gamma)
        if gamma not in self.beliefs:
            return self.below(gamma)
        return self.completed_by(gamma)[0]

    def completed_by(self, tau: Attrs) -> tuple[np.ndarray, float]:
        """The table with a measured interaction, and how far it has zeros of its own."""
        noisy, gain, ratio = self.seen(tau)
        predicted, prior = self.predicted(tau), self.prior(tau)
        added = posterior.interaction(noisy, gain, ratio, prior)
        normal = project(predicted + added, self.total())
        if not self.zeros:
            return normal, 0.0
        weights = np.full(gain.shape, 1.0 / gain.size) if prior is None else prior / prior.sum()
        likelihood = gain.max() + math.log((weights * np.exp(gain - gain.max())).sum())
        variance = self.free(tau) / predicted.size / self.beliefs[tau][1]
        return sparse.averaged(
            predicted + noisy, predicted, normal, likelihood, variance, self.free(tau)
        )

    def below(self, gamma: Attrs) -> np.ndarray:
        """Maximum entropy, given pairs and measured larger subsets."""
        larger: list[Attrs] = []
        for size in range(len(gamma) - 1, 2, -1):
            for tau in combinations(gamma, size):
                if tau in self.beliefs and not any(set(tau) <= set(f) for f in larger):
                    larger.append(tau)
        covered = {p for tau in larger for p in combinations(tau, 2)}
        pairs = [p for p in combinations(gamma, 2) if p not in covered]
        if len(gamma) == 3:  # the smallest attributes first: what contradicts depends on the order
            rank = sorted(gamma, key=lambda i: (self.sizes[i], i))
            pairs = [tuple(sorted(p)) for p in combinations(rank, 2)]
        targets = {tau: self.table(tau) for tau in (*larger, *pairs)}
        return fit(gamma, [self.sizes[i] for i in gamma], targets)

    # -- interactions ---------------------------------------------------------------------------

    def predicted(self, tau: Attrs) -> np.ndarray:
        """What smaller marginals say of the table over tau."""
        return self.product(*tau) if len(tau) == 2 else self.below(tau)

    def free(self, tau: Attrs) -> int:
        """Dimension of a residual."""
        return math.prod(self.sizes[i] - 1 for i in tau)

    def seen(self, tau: Attrs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The interaction as measured, and what it says of its own size."""
        z, precision = self.beliefs[tau]
        predicted = self.predicted(tau)
        noisy = top_part(z) - shrinking.centered(predicted)
        variance = self.free(tau) / predicted.size / precision
        gain, ratio = posterior.evidence(
            noisy, predicted, variance=variance, freedom=self.free(tau)
        )
        return noisy, gain, ratio

    def prior(self, tau: Attrs) -> np.ndarray | None:
        """What small interactions of a degree have in common, where nearly all were measured."""
        attributes = {i for other in self.beliefs for i in other}
        number = Counter(map(len, self.beliefs))[len(tau)]
        if number < NEARLY_ALL * math.comb(len(attributes), len(tau)) or self.free(tau) > LEARNERS:
            return None
        small = [t for t in self.beliefs if len(t) == len(tau) and self.free(t) <= LEARNERS]
        return posterior.learned([self.seen(t)[1] for t in sorted(small)])

    def expected_precision(self, tau: Attrs) -> float:
        """How well the size of an interaction is known before it is measured, as a precision."""
        total = max(self.total(), 1.0)
        energy = total**2 * RELATIVE ** (2 * len(tau) - 2)
        for i in tau:
            energy *= float((self.one(i) ** 2).sum()) / total**2
        return self.free(tau) / max(energy, 1e-300)


# -- what tables are made with ------------------------------------------------------------------


def top_part(z: np.ndarray) -> np.ndarray:
    """The table that a top residual stands for."""
    tau = tuple(range(z.ndim))
    return dense.reconstruct(z, tau, tau, [n + 1 for n in z.shape])


def project(table: np.ndarray, total: float) -> np.ndarray:
    """The nearest table without negative cells that has this total; sorted cells say the cut."""
    if total <= 0:
        return np.zeros_like(table)
    cells = np.sort(table.ravel())[::-1]
    cut = max((cells[:k].sum() - total) / k for k in range(1, len(cells) + 1))
    return np.maximum(table - cut, 0.0)


def rake(table: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Scale rows and columns in turn, until the rows are met; a billionth of independence first."""
    wanted = rows.sum()
    table = table + 1e-9 * np.outer(rows, columns) / max(wanted, 1e-300)
    for _ in range(MOST_RAKINGS):
        gap = np.abs(table.sum(1) - rows).sum()
        table = table * divide(rows, table.sum(1))[:, None]
        table = table * divide(columns, table.sum(0))
        if gap <= RAKED * wanted:
            break
    return table


def fit(gamma: Attrs, shape: Sequence[int], targets: Mapping[Attrs, np.ndarray]) -> np.ndarray:
    """Iterative proportional fitting; ends with the first target met, or after 100 sweeps.

    Three attributes are then fitted to the first target once more, as factors are.
    """
    table = np.ones(shape)
    first = next(iter(targets))
    before = math.inf
    for sweep in range(MOST_SWEEPS + 1):
        gap = np.abs(onto(table, gamma, first) - targets[first]).sum()
        if sweep > 0:
            stalled = sweep >= LEAST_SWEEPS and gap > STALLED * before
            if sweep == MOST_SWEEPS and len(gamma) > 3:
                return table
            if gap <= FITTED * targets[first].sum() or stalled or sweep == MOST_SWEEPS:
                return scaled(table, gamma, first, targets[first])
            before = gap
        for tau, target in targets.items():
            table = scaled(table, gamma, tau, target)
    raise AssertionError("unreachable")


def onto(table: np.ndarray, gamma: Attrs, tau: Attrs) -> np.ndarray:
    """The marginal over tau."""
    return table.sum(axis=tuple(k for k, i in enumerate(gamma) if i not in tau))


def scaled(table: np.ndarray, gamma: Attrs, tau: Attrs, target: np.ndarray) -> np.ndarray:
    """Scale the table to one marginal."""
    factor = divide(target, onto(table, gamma, tau))
    return table * np.expand_dims(factor, [k for k, i in enumerate(gamma) if i not in tau])


def divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The quotient, zero where nothing can be scaled."""
    return np.divide(above, below, out=np.zeros_like(below), where=below > 1e-100)


def mutual_information(table: np.ndarray) -> float:
    """In nats a record."""
    if table.sum() <= 0:
        return 0.0
    joint = table / table.sum()
    apart = np.outer(joint.sum(1), joint.sum(0))
    there = joint > 0
    return max(float((joint[there] * np.log(joint[there] / apart[there])).sum()), 0.0)
