"""The odometer: what a run's events cost exactly, recomputed from two neighbouring tables.

Independent of the engine (SECURITY 4.4, T1): it takes records, sizes, weights and what a run
told and drew, and answers in Fractions. A violation is returned as a sentence; a correct run gives
none.

* A measured residual with covariance V/x costs Δᵀ V⁻¹ Δ x / 2, Δ the change of the exact residual.
* A selection on the executed history costs (range of log-probability ratios)² / 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, Literal

import numpy as np

from tests.reference import dense
from tests.reference.completed_rounds import Problem
from tests.reference.completion import Completion

Attrs = tuple[int, ...]
SLACK = Fraction(1, 10**9)
"""Relative: log weights are floating-point numbers, so a ratio of two runs has their rounding."""
AGREE = 1e-8
"""Relative to the largest: log weights computed in another order of summation."""
FITTED = 1e-6
"""The same where completed tables are fitted, which stops somewhere."""
Scored = Literal["grem", "errors", "completed", "lowered"]
"""What selection goes by: errors of GReM's tables less noise, errors alone (MWEM), or errors of
completed tables less noise, with the total as it is or lowered."""


@dataclass
class Odometer:
    """Checks one executed run on a table against a neighbouring one."""

    sizes: Sequence[int]
    weights: dict[Attrs, float]
    records: np.ndarray
    neighbour: np.ndarray
    rho: Fraction
    scored: Scored = "grem"
    violations: list[str] = field(default_factory=list)
    spent: Fraction = Fraction(0)
    charged: Fraction = Fraction(0)

    def check(
        self,
        events: Sequence[Any],
        laws: Sequence[tuple[str, Any]],
        neighbour_laws: Sequence[tuple[str, Any]],
    ) -> list[str]:
        """Go through a run: events, the laws it drew from, and those it would have on the other."""
        self._closure = sorted(
            {t for s in self.weights for t in dense.subsets(s)}, key=lambda t: (len(t), t)
        )
        draws = iter(zip(laws, neighbour_laws, strict=True))
        beliefs: dict[Attrs, tuple[np.ndarray, float]] = {}
        for event in events:
            charges = iter(getattr(event, "charges", ()))
            measurements = list(getattr(event, "measurements", ()))
            if getattr(event, "rho_select", None) and getattr(event, "selected", None) is not None:
                self._selection(event, next(charges, None), next(draws, None), beliefs)
            left = list(charges)
            asked = [c for c in left if c.what == "select" and hasattr(event, "decision")]
            self._measurements([c for c in left if c not in asked], list(measurements), draws)
            for m in measurements:
                z, a = beliefs.get(m.attrs, (np.zeros_like(m.values), 0.0))
                total = a + m.precision
                beliefs[m.attrs] = ((a * z + m.precision * m.values) / total, total)
            for charge in asked:
                self._asked(charge, next(draws, None), beliefs)
        if next(draws, None) is not None:
            self._say("something was drawn that no event tells of")
        if self.spent > self.rho * (1 + SLACK):
            self._say(f"the run cost {float(self.spent)} of {float(self.rho)}")
        if self.charged > self.rho:
            self._say(f"the ledger holds {float(self.charged)} of {float(self.rho)}")
        return self.violations

    # -- measurements ----------------------------------------------------------------------------

    def _measurements(
        self, charges: list[Any], measurements: list[Any], draws: Iterator[Any]
    ) -> None:
        for charge in charges:
            if charge.what != "measure":
                self._say(f"an unexpected charge for {charge.what}")
                continue
            self.charged += charge.rho
            top = tuple(i for i in charge.attrs if self.sizes[i] > 1)
            mine = []
            while measurements:
                mine.append(measurements.pop(0))
                if mine[-1].attrs == top:
                    break
            claimed = sum((self._claimed(m) for m in mine), Fraction(0))
            drawn = self._drawn(charge.attrs, mine, next(draws, None))
            for what, cost in (("claims", claimed), ("drew", drawn)):
                if cost > charge.rho * (1 + SLACK):
                    self._say(
                        f"measuring {charge.attrs} {what} noise that costs {float(cost)}, "
                        f"charged {float(charge.rho)}"
                    )
            if abs(float(claimed - drawn)) > 1e-9 * float(drawn):
                self._say(f"measuring {charge.attrs} drew other noise than it claims")
            self.spent += max(claimed, drawn)
        for m in measurements:
            self._say(f"{m.attrs} was measured without a charge")
            self.spent += self._claimed(m)

    def _claimed(self, m: Any) -> Fraction:
        """Cost of a residual measurement if its noise has the covariance V / precision."""
        return self._whitened(m.attrs) * Fraction(m.precision) / 2

    def _drawn(self, gamma: Attrs, mine: list[Any], draw: Any) -> Fraction:
        """Cost of what was released of a marginal with noise of the drawn variance."""
        if draw is None or draw[0][0] != "gaussian":
            self._say(f"nothing was drawn for {gamma}")
            return Fraction(0)
        (_, (shape, variance)), (_, (_, other)) = draw
        if variance != other:
            self._say(f"the variance for {gamma} depends on the records")
        if tuple(shape) != tuple(self.sizes[i] for i in gamma):
            self._say(f"noise of shape {shape} for the marginal over {gamma}")
        taus = {m.attrs for m in mine}
        if not taus <= set(dense.subsets(gamma)):
            self._say(f"residuals {sorted(taus)} do not belong to {gamma}")
        # Residuals of one isotropic marginal are independent: their costs add up.
        total = Fraction(0)
        for tau in taus:
            spread = math.prod(self.sizes[i] for i in gamma if i not in tau)
            total += self._whitened(tau) / (2 * Fraction(variance) * spread)
        return total

    def _whitened(self, tau: Attrs) -> Fraction:
        """Δᵀ V⁻¹ Δ, exactly: V⁻¹ = ⊗ (I - 11ᵀ/n)."""
        delta = self._residual(self.records, tau) - self._residual(self.neighbour, tau)
        shape = [self.sizes[i] for i in tau]
        total = Fraction(0)
        cells = list(product(*(range(n - 1) for n in shape)))
        moved = [c for c in cells if delta[c]]
        for one in moved:
            for other in moved:
                inverse = Fraction(1)
                for a, b, n in zip(one, other, shape, strict=True):
                    inverse *= (a == b) - Fraction(1, n)
                total += inverse * int(delta[one]) * int(delta[other])
        return total

    def _residual(self, records: np.ndarray, tau: Attrs) -> np.ndarray:
        exact = dense.counts(records, self.sizes, tau)
        for axis in range(len(tau)):
            exact = np.delete(exact, 0, axis) - np.take(exact, [0], axis)
        return exact

    # -- selections ------------------------------------------------------------------------------

    def _selection(self, event: Any, charge: Any, draw: Any, beliefs: dict[Attrs, Any]) -> None:
        if charge is None or charge.what != "select":
            self._say(f"round {event.round} selects without a charge")
            return
        self.charged += charge.rho
        if charge.rho != event.rho_select:
            self._say(f"round {event.round} is charged {charge.rho} for {event.rho_select}")
        if draw is None or draw[0][0] != "choose":
            self._say(f"round {event.round} selects without a draw")
            return
        (_, here), (_, there) = draw
        moved = here - there
        drawn = float(moved.max() - moved.min())
        cost = Fraction(drawn) ** 2 / 8
        # The scores at the executed history, straight from MATH section 7.
        expected = [self._scores(r, event, beliefs) for r in (self.records, self.neighbour)]
        agree = FITTED if self.scored in ("completed", "lowered") else AGREE
        for found, wanted in zip((here, there), expected, strict=True):
            scale = max(1.0, float(np.abs(wanted).max()))
            if float(np.abs(found - wanted).max()) > agree * scale:
                self._say(f"round {event.round} scores otherwise than its budgets say")
                break
        exact = expected[0] - expected[1]
        cost = max(cost, Fraction(float(exact.max() - exact.min())) ** 2 / 8)
        if cost > charge.rho * (1 + 10 * SLACK):
            self._say(
                f"selecting in round {event.round} costs {float(cost)}, charged {float(charge.rho)}"
            )
        self.spent += min(cost, charge.rho) if cost <= charge.rho * (1 + 10 * SLACK) else cost

    def _asked(self, charge: Any, draw: Any, beliefs: dict[Attrs, Any]) -> None:
        """The mean error of the tables, asked for once with noise: its exact cost."""
        self.charged += charge.rho
        if self.scored not in ("completed", "lowered"):
            self._say("the start asks for the error of tables that are not completed")
            return
        if draw is None or draw[0][0] != "gaussian" or draw[0][1][0] != ():
            self._say("the start asks for an error without a draw")
            return
        (_, (_, variance)), (_, (_, other)) = draw
        if variance != other:
            self._say("the variance of the error asked for depends on the records")
        problem, tables = self._completed(beliefs)
        errors = [problem.mean_error(r, tables) for r in (self.records, self.neighbour)]
        # Whole numbers one apart at most; taken as one apart where the twin is at an edge.
        moved = max(abs(errors[0] - errors[1]), 1)
        cost = Fraction(moved) ** 2 / (2 * Fraction(variance))
        if cost > charge.rho * (1 + SLACK):
            self._say(f"asking costs {float(cost)}, charged {float(charge.rho)}")
        self.spent += cost

    def _completed(self, beliefs: dict[Attrs, Any]) -> tuple[Problem, Completion]:
        tables = Completion(self.sizes, dict(beliefs), self.scored == "lowered")
        return Problem(self.sizes, self.weights), tables

    def _scores(self, records: np.ndarray, event: Any, beliefs: dict[Attrs, Any]) -> np.ndarray:
        if self.scored in ("completed", "lowered"):
            problem, tables = self._completed(beliefs)
            return problem.log_weights(records, tables, event.rho_measure, event.rho_select)
        sigma = math.sqrt(1 / (2 * event.rho_measure))
        if self.scored == "errors":
            sigma = 0.0
        scores, weights = [], []
        for gamma in self._closure[1:]:
            shape = [self.sizes[i] for i in gamma]
            estimate = np.zeros(shape)
            for tau in dense.subsets(gamma):
                if tau in beliefs:
                    estimate = estimate + dense.reconstruct(beliefs[tau][0], tau, gamma, shape)
            error = np.abs(dense.counts(records, self.sizes, gamma) - estimate).sum()
            w = sum(c * len(set(gamma) & set(s)) for s, c in self.weights.items())
            weights.append(w)
            noise = math.sqrt(2 / math.pi) * sigma * math.prod(shape)
            scores.append(w * (error - noise))
        epsilon = math.sqrt(8 * event.rho_select)
        return np.array(scores) * epsilon / (2 * max(weights))

    def _say(self, violation: str) -> None:
        self.violations.append(violation)
