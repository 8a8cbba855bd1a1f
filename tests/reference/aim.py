"""AIM+GReM as one plain loop, straight from MATH section 7: everything anew in every round.

Draws from the random source in the order the engine does, so that a seed gives the same run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tests.reference import dense, planning

Attrs = tuple[int, ...]
EXPECTED = math.sqrt(2.0 / math.pi)


@dataclass
class Trail:
    """What happened: selections, measurements, charges, annealings, estimates at the end."""

    selected: list[Attrs] = field(default_factory=list)
    measured: list[tuple[Attrs, np.ndarray, float]] = field(default_factory=list)
    charges: list[tuple[str, Attrs | None, Fraction]] = field(default_factory=list)
    annealed: list[bool] = field(default_factory=list)
    scores: list[np.ndarray] = field(default_factory=list)
    estimates: dict[Attrs, np.ndarray] = field(default_factory=dict)
    precisions: dict[Attrs, float] = field(default_factory=dict)


def p(sizes: list[int], tau: Attrs) -> Fraction:
    """The privacy cost of a residual."""
    return Fraction(math.prod(sizes[i] - 1 for i in tau), math.prod(sizes[i] for i in tau))


def aim_grem(
    codes: np.ndarray,
    sizes: list[int],
    workload: Mapping[Attrs, float],
    *,
    rho: Fraction,
    rng: Any,
    noise: str,
    respend: bool,
    eta: float,
) -> Trail:
    """Run the algorithm to the end."""
    trail = Trail()
    closure = sorted({t for s in workload for t in dense.subsets(s)}, key=lambda t: (len(t), t))
    mu = {g: dense.counts(codes, sizes, g) for g in closure}
    beliefs: dict[Attrs, tuple[np.ndarray, float]] = {}
    weight = {g: sum(c * len(set(g) & set(s)) for s, c in workload.items()) for g in closure}

    def cells(g: Attrs) -> int:
        return math.prod(sizes[i] for i in g)

    def real(t: Attrs) -> bool:
        return all(sizes[i] > 1 for i in t)

    def estimate(g: Attrs) -> np.ndarray:
        shape = [sizes[i] for i in g]
        total = np.zeros(shape)
        for t in dense.subsets(g):
            if t in beliefs:
                total = total + dense.reconstruct(beliefs[t][0], t, g, shape)
        return total

    def fold(t: Attrs, y: np.ndarray, precision: float) -> None:
        z, a = beliefs.get(t, (np.zeros_like(y), 0.0))
        beliefs[t] = ((a * z + precision * y) / (a + precision), a + precision)
        trail.measured.append((t, y, precision))

    def measure_isotropic(g: Attrs, budget: Fraction) -> None:
        trail.charges.append(("measure", g, budget))
        variance = float(1 / (2 * budget))
        noisy = mu[g] + rng.gaussian(mu[g].shape, variance=variance)
        for t in dense.subsets(g):
            if real(t):
                spread = cells(g) // cells(t)
                fold(t, dense.decompose(np.asarray(noisy), g, t), 1 / (variance * spread))

    def measure_residuals(g: Attrs, budget: Fraction) -> None:
        taus = [t for t in dense.subsets(g) if real(t)]
        cost = [float(p(sizes, t)) for t in taus]
        ratio = [cells(t) / cells(g) for t in taus]
        known = [beliefs[t][1] if t in beliefs else 0.0 for t in taus]
        c = float(2 * budget)
        x = planning.water_level(cost, ratio, known, c)
        share = [k * v / c for k, v in zip(cost, x, strict=True)]
        largest = share.index(max(share))
        kept = [s >= eta or k == largest for k, s in enumerate(share)]
        if respend:
            ratio = [r if keep else 0.0 for r, keep in zip(ratio, kept, strict=True)]
            x = planning.water_level(cost, ratio, known, c)
        for k, t in enumerate(taus):
            if kept[k] and x[k] > 0:
                trail.charges.append(("measure", t, p(sizes, t) * Fraction(x[k]) / 2))
        for k, t in enumerate(taus):
            if kept[k] and x[k] > 0:
                noisy = np.asarray(mu[t] + rng.gaussian(mu[t].shape, variance=1 / x[k]))
                fold(t, dense.decompose(noisy, t, t), x[k])

    def left() -> Fraction:
        return rho - sum((charge[2] for charge in trail.charges), Fraction(0))

    k_total = len(closure)
    rho_m, rho_s = Fraction(9, 10) * rho / (2 * k_total), Fraction(1, 10) * rho / (2 * k_total)
    last = False

    def plan_last() -> tuple[Fraction, Fraction, bool]:
        if left() <= 2 * (rho_m + rho_s):
            return Fraction(9, 10) * left(), Fraction(1, 10) * left(), True
        return rho_m, rho_s, False

    candidates = [g for g in closure if g]
    if not candidates:
        measure_isotropic((), rho)
    else:
        for g in candidates:
            if len(g) == 1:
                measure_isotropic(g, rho_m)
        rho_m, rho_s, last = plan_last()
    while candidates:
        sigma = math.sqrt(1 / (2 * rho_m))
        q = np.array(
            [
                weight[g] * (np.abs(mu[g] - estimate(g)).sum() - EXPECTED * sigma * cells(g))
                for g in candidates
            ]
        )
        sensitivity = max(weight[g] for g in candidates)
        logits = math.sqrt(8 * rho_s) * q / (2 * sensitivity)
        trail.scores.append(logits)
        trail.charges.append(("select", None, rho_s))
        gamma = candidates[rng.choose(logits)]
        trail.selected.append(gamma)
        before = estimate(gamma)
        (measure_residuals if noise == "crp" else measure_isotropic)(gamma, rho_m)
        if last:
            trail.annealed.append(False)
            break
        change = np.abs(estimate(gamma) - before).sum()
        annealed = bool(change <= EXPECTED * sigma * cells(gamma))
        trail.annealed.append(annealed)
        if annealed:
            rho_m, rho_s = 4 * rho_m, 4 * rho_s
        rho_m, rho_s, last = plan_last()
    trail.estimates = {g: estimate(g) for g in closure}
    trail.precisions = {t: a for t, (_, a) in beliefs.items()}
    return trail
