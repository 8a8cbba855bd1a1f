"""An audit from outside: many runs on two neighbouring tables, and what they give away.

Each run gets scores: how much likelier its measurements are on the larger table, were their laws as
claimed, all together and residual by residual. ``evidence`` says what they prove; it uses only how
often a score passes a threshold, so that wrong laws show.

Faults can be planted, to see that the audit sees them. Nothing here is a release.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import axes, evidence
from engine.accounting import rho_from
from engine.domain import Domain
from engine.errors import OptionError
from engine.evidence import Audit
from engine.exact import Exact
from engine.exact_noise import ExactNoise
from engine.mechanisms.base import rounds
from engine.residuals import decompose
from engine.tables import Private, Table
from engine.trace import Finished
from engine.types import AttributeSet, FloatArray, IntArray
from engine.workload import Workload

SIZES = (2, 3, 2)
PAIRS = {"full cell": (12, (1, 2, 1)), "empty cell": (12, (0, 0, 1)), "no records": (0, (0, 0, 0))}
"""How many records the smaller table has, and which one more the larger: where others are, alone in
its cell, and alone at all."""
STRENGTH = 256
"""So large that 500 runs prove more than epsilon = 1; a fault of 16 needs some thousands."""


class _Rehearsing(ExactNoise):
    """Exact noise that no release may come from."""

    @property
    def rehearsal(self) -> bool:
        """Always true."""
        return True


class _LittleNoise(_Rehearsing):
    """Planted: noise with a small part of the variance."""

    def __init__(self, strength: int) -> None:
        super().__init__()
        self._strength = strength

    def noisy(self, exact: IntArray, *, variance: Fraction, sensitivity: int) -> NDArray[Any]:
        self._spend(sensitivity / (2 * variance))
        noise = self._gaussian(exact.size, variance / self._strength)
        little: NDArray[Any] = exact + noise.reshape(exact.shape)
        return little


class _NoNoiseOnTotals(_Rehearsing):
    """Planted: single numbers are released as they are."""

    def noisy(self, exact: IntArray, *, variance: Fraction, sensitivity: int) -> NDArray[Any]:
        noisy = super().noisy(exact, variance=variance, sensitivity=sensitivity)
        return exact if exact.size == 1 else noisy


FAULTS: dict[str, Callable[[int], _Rehearsing]] = {
    "none": lambda _: _Rehearsing(),
    "little noise": _LittleNoise,
    "no noise on totals": lambda _: _NoNoiseOnTotals(),
    "uncharged": lambda _: _Rehearsing(),  # with a larger budget than is promised: see ``audit``
}
"""What can be planted. Wrong choices alone are not among them: the score sees measurements only."""


def audit(
    mechanism: Any,
    *,
    epsilon: float,
    delta: float,
    runs: int = 1000,
    fault: str = "none",
    strength: int = STRENGTH,
    pair: str = "full cell",
    alpha: float = 1e-3,
    progress: Callable[[float], None] | None = None,
) -> Audit:
    """Run a mechanism many times on two small neighbouring tables, and bound its rho from below.

    Args:
        mechanism: What a release would run.
        epsilon: The promise, with ``delta``.
        delta: Its other half.
        runs: On each of the two tables; at least 100.
        fault: One of ``FAULTS``.
        strength: How much larger the budget is than the promise, or the variance than the noise's.
        pair: Which two tables, one of ``PAIRS``.
        alpha: Chance that a correct mechanism is accused.
        progress: Called with the share done.

    Raises:
        OptionError: If there is no such fault or pair, or there are too few runs.
        BudgetError: If epsilon or delta is none.
    """
    if fault not in FAULTS:
        raise OptionError(f"There is no fault {fault!r}. Choose one of {', '.join(FAULTS)}.")
    if pair not in PAIRS:
        raise OptionError(f"There is no pair {pair!r}. Choose one of {', '.join(PAIRS)}.")
    if strength < 1:
        raise OptionError(f"A fault of strength {strength} is none; at least 1 is needed.")
    if runs < 100:
        raise OptionError(f"{runs} runs show nothing; at least 100 are needed.")
    promised = Fraction(rho_from(epsilon=epsilon, delta=delta))
    budget = strength * promised if fault == "uncharged" else promised
    domain = Domain.from_sizes({f"a{i}": n for i, n in enumerate(SIZES)})
    workload = Workload.all_kway(domain, 2)
    count, record = PAIRS[pair]
    smaller = [[k % n for n in SIZES] for k in range(count)]
    tables = [Private(Table.from_codes(rows, domain)) for rows in ([*smaller, record], smaller)]
    score = _Score(tables[1], record, workload.closure)
    found: list[list[list[float]]] = [[], []]
    for k in range(runs):
        for private, scores in zip(tables, found, strict=True):
            run = rounds(mechanism, private, workload, rho=budget, rng=FAULTS[fault](strength))
            scores.append(
                score.of([m for _, e in run if not isinstance(e, Finished) for m in e.measurements])
            )
        if progress is not None:
            progress((k + 1) / runs)
    return evidence.judged(
        np.array(found), promised=float(promised), epsilon=epsilon, delta=delta, alpha=alpha
    )


class _Score(Exact):
    """How much likelier measurements are with one record more, were their laws as claimed."""

    def __init__(
        self, smaller: Private, record: Sequence[int], sets: Sequence[AttributeSet]
    ) -> None:
        self._private, self._record = smaller, record
        self._place = {attrs: k for k, attrs in enumerate(sets)}
        self._known: dict[AttributeSet, tuple[FloatArray, FloatArray]] = {}

    def of(self, measurements: Sequence[Any]) -> list[float]:
        """The log ratio of densities, of each residual and of all: precision times the product."""
        parts = [0.0] * len(self._place)
        for m in measurements:
            step, middle = self._around(m.attrs)
            ratio = float((step * (axes.center_all(m.values) - middle)).sum())
            parts[self._place[m.attrs]] += m.precision * ratio
        return [*parts, math.fsum(parts)]

    def _around(self, tau: AttributeSet) -> tuple[FloatArray, FloatArray]:
        """What the record adds to a residual, and half way between both tables, centred."""
        if tau not in self._known:
            counts = self._private.marginal(tau).values
            one = np.zeros(counts.shape)
            one[tuple(self._record[i] for i in tau)] = 1.0
            step = axes.center_all(decompose(one, tau, tau))
            middle = axes.center_all(decompose(counts, tau, tau)) + step / 2
            self._known[tau] = step, middle
        return self._known[tau]
