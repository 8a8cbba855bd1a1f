"""Which plan? Forecast from released values and public settings, so that choosing costs nothing.

After the first answers there are two ways on. *By size*: in a few steps, everything that pays is
measured at once, each step by the sizes of interactions as the steps before have told them
(``sizes``, ``sharing``). *Rounds*: the exponential mechanism picks one marginal after the other.

By size is better wherever its sizes can be told: it selects nothing, so that the tenth of the
budget that selecting costs is measured with, and it leaves no marginal out that pays. Rounds see
the true errors: where there are many residuals for each attribute and noise hides most of them,
they find the few that matter. What tells the two apart is what by size would leave, relative to
what nothing but exact 1-way marginals would leave.

Every number here is a forecast; engine/COMPLETION_NOTES.md has what really was left.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine.completing.completed import Completed
from engine.completing.sizes import learned
from engine.completing.totals import UNBIASED, Total
from engine.mechanisms.sharing import Forecast
from engine.planner import measurable, within_budget
from engine.released import Allocation, Beliefs
from engine.types import FloatArray
from engine.workload import Workload

PARTS = (Fraction(1, 10), Fraction(1, 5), Fraction(2, 5), Fraction(1))
"""Share of what is left that each step spends: sizes first, cheaply."""
MOST_RESIDUALS = 5_000
"""More of them, and forecasting takes longer than rounds."""
MANY = 24.0
"""Residuals for each attribute from which on rounds are considered: all triples of 12."""
TOLD = 15
"""Steps of sharing for plans that are only told of, not taken."""
EXACT = 1e30
"""Precision without noise to speak of."""
HIDDEN = 0.5
"""Share of the error of exact 1-way marginals that by size must leave for rounds to be taken."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What plans would leave: weighted mean L1 errors over the workload, in records; forecasts.

    Args:
        now: What the answers are off now.
        by_size: What sharing all that is left by size would leave.
        ones: The same, if nothing but marginals over one attribute is measured.
        pairs: The same, if nothing larger than pairs is.
        exact_ones: What exact marginals over one attribute would leave.
    """

    now: float
    by_size: float
    ones: float
    pairs: float
    exact_ones: float


class Shared:
    """Residuals of a workload, and a forecast of them from what is known so far.

    Args:
        workload: What is to be answered.
        beliefs: What was measured.
        total: What completed tables add up to.
    """

    def __init__(self, workload: Workload, beliefs: Beliefs, total: Total = UNBIASED) -> None:
        self.workload, self.beliefs, self.total = workload, beliefs, total
        self.taus, self._costs = measurable(workload)
        tables = Completed(workload.layout, beliefs, total)
        self._forecast = Forecast(workload, tables, learned(tables, self.taus))
        self._known: FloatArray = np.array([beliefs.precision(tau) for tau in self.taus])
        self._degree = np.array([len(tau) for tau in self.taus])

    def plan(self, rho: Fraction) -> tuple[Allocation, ...]:
        """Share a budget by what every residual takes off the forecast; exact cost at most rho."""
        added = within_budget(self._costs, self._added(rho), 2 * rho)
        return tuple(
            Allocation(tau, known, x, cost * Fraction(x) / 2)
            for tau, known, x, cost in zip(
                self.taus, self._known.tolist(), added.tolist(), self._costs, strict=True
            )
        )

    def outlook(self, rho: Fraction) -> Outlook:
        """Forecast what this budget, spent in one of these ways, would leave."""
        after = [self._forecast.error(self._known + self._added(rho, most=k)) for k in (1, 2)]
        exact = np.where(self._degree <= 1, EXACT, 0.0)
        return Outlook(
            now=self._forecast.error(self._known),
            by_size=self._forecast.error(self._known + self._added(rho)),
            ones=after[0],
            pairs=after[1],
            exact_ones=self._forecast.error(exact),
        )

    def _added(self, rho: Fraction, most: int | None = None) -> FloatArray:
        if most is None:
            return _rounded(self._forecast.share(self._known, float(2 * rho)))
        among = self._degree <= most
        return _rounded(self._forecast.share(self._known, float(2 * rho), among, TOLD))


_last: list[Shared] = []


def shared(workload: Workload, beliefs: Beliefs, total: Total = UNBIASED) -> Shared:
    """Return the forecast from these beliefs; the last one is kept, for a decision and its step."""
    for known in _last:
        if known.workload is workload and known.beliefs is beliefs and known.total == total:
            return known
    _last[:] = [Shared(workload, beliefs, total)]
    return _last[0]


def _rounded(values: FloatArray) -> FloatArray:
    """Values rounded down to 24 binary digits.

    A loop that is compiled adds up in another order than one that is not: a plan must not tell.
    """
    mantissa, exponent = np.frexp(values)
    rounded: FloatArray = np.ldexp(np.floor(mantissa * 2.0**24), exponent - 24)
    return rounded


def prefers_by_size(workload: Workload, seen: Outlook) -> bool:
    """Whether what is forecast speaks for going by size."""
    return not _many(workload) or seen.by_size <= HIDDEN * seen.exact_ones


def goes_by_size(workload: Workload) -> bool:
    """Whether a run goes by size whatever the answers are: there is little to look for."""
    return few_enough(workload) and not _many(workload)


def _many(workload: Workload) -> bool:
    return len(workload.closure) - 1 > MANY * len(workload.domain)


def few_enough(workload: Workload) -> bool:
    """Whether forecasts of this workload are quick."""
    return len(workload.closure) <= MOST_RESIDUALS


def decide(
    workload: Workload, beliefs: Beliefs, rho: Fraction, total: Total = UNBIASED
) -> tuple[bool, str]:
    """Return whether to go on by size, and why, in words.

    Args:
        workload: What is to be answered.
        beliefs: The first answers.
        rho: What is left to spend.
        total: What completed tables add up to.
    """
    if not few_enough(workload):
        return False, (
            f"Rounds. The workload has {len(workload.closure):,} residuals; plans are compared up "
            f"to {MOST_RESIDUALS:,}."
        )
    seen = shared(workload, beliefs, total).outlook(rho)
    said = (
        "Expected to be left, as a mean L1 error, from what is released so far: "
        f"{seen.by_size:,.0f} if the budget is shared by expected size, {seen.pairs:,.0f} with "
        f"pairs alone, {seen.ones:,.0f} with single attributes alone; now {seen.now:,.0f}."
    )
    if not prefers_by_size(workload, seen):
        return False, (
            f"Rounds. {said} Of so many residuals most are hidden by noise: rounds look for those "
            "that are not."
        )
    return True, f"By size, in {len(PARTS)} steps. {said}"
