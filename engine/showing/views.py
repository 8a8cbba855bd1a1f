"""Events, estimates and insights as tidy frames, for charts, tables and widgets alike.

Columns carry fixed names. What users wrote (names of attributes, values) is only ever a value in a
column, so that no header can be mistaken for a field path. The first part takes released values
only; what is below "not private" compares with the records and takes ``Insight``, ``Comparison`` or
``Glimpse``. pandas is imported when a frame is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import grem
from engine.accounting import epsilon_from, rho_from
from engine.demonstrating.evaluation import Comparison, Insight, NotReleased
from engine.domain import Domain, subsets
from engine.released import Allocation, Beliefs, Estimate, Measurement
from engine.residuals import privacy_cost
from engine.trace import Event, RoundEnded, Started
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

TOP = 12
"""Candidates shown one by one; the rest are counted together."""
POINTS = 400
"""Most values of one residual drawn one by one; beyond it, as many evenly spaced quantiles."""

# -- released values ----------------------------------------------------------------------------


def budget(events: Sequence[Event]) -> pd.DataFrame:
    """Return the ledger as segments that lie end to end: one pair a round, then what is left.

    Args:
        events: ``Started`` and any number of rounds after it.

    Returns:
        Columns round (0: before the first one; -1 for what is left), part (``select``, ``measure``,
        ``left``), rho, exact (the fraction as text), start and end (in rho). The exact fractions
        add up to the total.
    """
    import pandas as pd

    total = _started(events).rho_total
    rows: list[dict[str, Any]] = []
    spent = Fraction(0)
    for number, event in enumerate(events):
        if not isinstance(event, Started | RoundEnded):
            continue
        for part in ("select", "measure"):
            rho = sum((c.rho for c in event.charges if c.what == part), Fraction(0))
            if rho > 0:
                rows.append(_segment(number, part, spent, rho))
                spent += rho
    rows.append(_segment(-1, "left", spent, total - spent))
    return pd.DataFrame(rows)


def _segment(number: int, part: str, start: Fraction, rho: Fraction) -> dict[str, Any]:
    return {
        "round": number,
        "part": part,
        "rho": float(rho),
        "exact": str(rho),
        "start": float(start),
        "end": float(start + rho),
    }


def allocation(event: RoundEnded, domain: Domain, gamma: AttributeSet) -> pd.DataFrame:
    """Return what a round added to each residual within a marginal.

    Args:
        event: The round.
        domain: Names and sizes.
        gamma: The marginal: the one selected, or any other in a round that measured everything.

    Returns:
        One row a residual: label, names (tuple), degree, place and places (position among those of
        its size), known and after (precision), added, share (of the round's measuring budget),
        sigma_before, sigma_now, and sigma_equal, what an equal split of the round's budget would
        have left. Sigmas are infinite where nothing is known; unit records.
    """
    import pandas as pd

    planned = {a.attrs: a for a in _allocations(event, domain, gamma)}
    count = len(event.allocations) or max(len({m.attrs for m in event.measurements}), 1)
    share_each = float(event.rho_measure) / count
    rows = []
    for tau in subsets(gamma):
        plan = planned.get(tau, Allocation(tau, 0.0, 0.0, Fraction(0)))
        cost = float(privacy_cost(domain.shape(tau)))
        same = [s for s in subsets(gamma) if len(s) == len(tau)]
        equal = plan.known + (2 * share_each / cost if cost else 0.0)
        rows.append(
            {
                "label": domain.label(tau),
                "names": tuple(domain[i].name for i in tau),
                "degree": len(tau),
                "place": same.index(tau),
                "places": len(same),
                "known": plan.known,
                "added": plan.added,
                "after": plan.after,
                "share": float(plan.rho / event.rho_measure),
                "sigma_before": _sigma(plan.known),
                "sigma_now": _sigma(plan.after),
                "sigma_equal": _sigma(equal),
            }
        )
    return pd.DataFrame(rows)


def _allocations(event: RoundEnded, domain: Domain, gamma: AttributeSet) -> list[Allocation]:
    """The round's plan within gamma; where whole marginals were measured, what that was worth."""
    inside = set(subsets(gamma))
    if event.allocations:
        return [a for a in event.allocations if a.attrs in inside]
    added: dict[AttributeSet, float] = {}
    for measured in event.measurements:
        if measured.attrs in inside:
            added[measured.attrs] = added.get(measured.attrs, 0.0) + measured.precision
    return [
        Allocation(tau, 0.0, x, privacy_cost(domain.shape(tau)) * Fraction(x) / 2)
        for tau, x in added.items()
    ]


def _sigma(precision: float) -> float:
    return 1.0 / math.sqrt(precision) if precision > 0 else math.inf


def measured(measurements: Sequence[Measurement], domain: Domain) -> pd.DataFrame:
    """Return measured residuals, value by value, in units of their own noise.

    An entry of a residual over m attributes has noise standard deviation sigma 2^(m/2), since its
    covariance is sigma² V (MATH section 2). Residuals with more values than ``POINTS`` are
    represented by evenly spaced quantiles; ``of`` says how many values there are.

    Returns:
        Columns label, degree, value (records), noise_sd (records), scaled (value / noise_sd),
        outside (whether beyond ±1.96) and of.
    """
    import pandas as pd

    parts = []
    for one in measurements:
        values = np.sort(one.values.ravel())
        if len(values) > POINTS:
            values = np.quantile(values, np.linspace(0, 1, POINTS))
        sd = math.sqrt(one.variance * 2 ** len(one.attrs))
        parts.append(
            pd.DataFrame(
                {
                    "label": domain.label(one.attrs),
                    "degree": len(one.attrs),
                    "value": values,
                    "noise_sd": sd,
                    "scaled": values / sd,
                    "outside": np.abs(values) > 1.96 * sd,
                    "of": one.values.size,
                }
            )
        )
    columns = ["label", "degree", "value", "noise_sd", "scaled", "outside", "of"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def touched(before: Beliefs, after: Beliefs, event: RoundEnded, workload: Workload) -> pd.DataFrame:
    """Return what a round did to every marginal of the workload, and to the one selected.

    Returns:
        One row a marginal: label, degree, first and second (positions of its attributes, for a
        grid of pairs), cells, touched, moved (L1 distance between its two estimates, records) and
        selected.
    """
    import pandas as pd

    domain = workload.domain
    taus = {m.attrs for m in event.measurements}
    changes = after.changes_since(before, taus)
    sets = list(workload.weights)
    if event.selected is not None and event.selected not in workload.weights:
        sets.insert(0, event.selected)
    rows = []
    for gamma in sets:
        within = {tau: change for tau, change in changes.items() if set(tau) <= set(gamma)}
        rows.append(
            {
                "label": domain.label(gamma),
                "degree": len(gamma),
                "first": gamma[0] if gamma else -1,
                "second": gamma[1] if len(gamma) > 1 else -1,
                "cells": domain.cells(gamma),
                "touched": bool(within),
                "moved": grem.change_of(within, domain.sizes),
                "selected": gamma == event.selected,
            }
        )
    return pd.DataFrame(rows)


def released(estimate: Estimate, at: Mapping[int, int] | None = None) -> pd.DataFrame:
    """Return an estimate cell by cell.

    Args:
        estimate: Any released marginal.
        at: Attribute -> code, to look at one slice; those attributes leave the frame.

    Returns:
        For each attribute left, its codes i0, i1, ... and labels c0, c1, ...; released and std
        (records; NaN where the noise is not known).
    """
    frame = _cells(estimate.domain, estimate.attrs, at or {})
    frame["released"] = _slice(estimate.values, estimate.attrs, at or {})
    frame["std"] = math.nan if estimate.std is None else estimate.std
    return frame


def _cells(domain: Domain, attrs: AttributeSet, at: Mapping[int, int]) -> pd.DataFrame:
    import pandas as pd

    left = [i for i in attrs if i not in at]
    index = np.indices(domain.shape(tuple(left))).reshape(len(left), -1)
    columns: dict[str, Any] = {}
    for k, (i, codes) in enumerate(zip(left, index, strict=True)):
        columns[f"i{k}"] = codes
        columns[f"c{k}"] = np.asarray(domain[i].labels, dtype=object)[codes]
    return pd.DataFrame(columns, index=pd.RangeIndex(domain.cells(tuple(left))))


def _slice(values: FloatArray, attrs: AttributeSet, at: Mapping[int, int]) -> FloatArray:
    where = tuple(at[i] if i in at else slice(None) for i in attrs)
    return np.asarray(values[where], dtype=np.float64).ravel()


def explain_released(event: RoundEnded, domain: Domain) -> list[str]:
    """Say what a round did, from released values alone: two sentences at most."""
    if event.selected is None or event.change is None or event.threshold is None:
        count = len(event.measurements)
        if any(allocation.known for allocation in event.allocations):
            return [f"Everything asked for was measured at once: {count} residuals."]
        return [f"Everything was planned from sizes alone and measured at once: {count} residuals."]
    moved, noise = f"{event.change:,.0f}", f"{event.threshold:,.0f}"
    first = (
        f"The answer for {domain.label(event.selected)} moved by {moved} records in all; "
        f"noise alone would move it by about {noise}."
    )
    if event.last:
        return [first, "This was the last round: it had all the budget that was left."]
    if event.annealed:
        return [first, "That is no more than noise, so the next rounds get four times the budget."]
    return [first, "That is more than noise, so the round budgets stay as they are."]


def _started(events: Sequence[Event]) -> Started:
    first = events[0]
    assert isinstance(first, Started)
    return first


# -- not private --------------------------------------------------------------------------------


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


def selection(seen: Glimpse, domain: Domain, chosen: AttributeSet | None) -> pd.DataFrame:
    """Return how a round selected. Not private.

    Returns:
        One row a candidate, most probable first: label, weight, l1, error, noise, score,
        probability and chosen.
    """
    import pandas as pd

    return pd.DataFrame(
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
        ]
    )


def comparison(compared: Comparison, at: Mapping[int, int] | None = None) -> pd.DataFrame:
    """Return a marginal beside the truth, cell by cell. Not private.

    Returns:
        As ``released``, and exact, difference (released less exact) and difference_sd (the same in
        standard deviations of its noise; NaN where that is not known).
    """
    frame = _cells(compared.domain, compared.attrs, at or {})
    std = compared.std if compared.std else math.nan
    frame["released"] = _slice(compared.released, compared.attrs, at or {})
    frame["std"] = std
    frame["exact"] = _slice(compared.exact, compared.attrs, at or {})
    frame["difference"] = frame["released"] - frame["exact"]
    frame["difference_sd"] = frame["difference"] / std
    return frame


def errors(mean_errors: Sequence[float], records: int) -> pd.DataFrame:
    """Return the error after each round. Not private.

    Returns:
        Columns round (0: before the first one) and error: mean L1 over the workload's marginals
        divided by N, or in records if there are none.
    """
    import pandas as pd

    values = [error / records if records else error for error in mean_errors]
    return pd.DataFrame({"round": range(len(values)), "error": values})


def explain(
    event: RoundEnded, seen: Glimpse, domain: Domain, mean_errors: tuple[float, float], records: int
) -> list[str]:
    """Say why a round chose what it chose and what came of it. Not private.

    Args:
        event: The round.
        seen: How it selected.
        domain: Names.
        mean_errors: Mean L1 error over the workload before and after, records.
        records: The true number of records.
    """
    row = next(c for c in seen.candidates if c.attrs == event.selected)
    noise = row.noise_term / row.weight
    before, after = (e / records if records else e for e in mean_errors)
    better = "fell" if after < before else "rose"
    unit = " of N" if records else " records"
    return [
        f"{domain.label(row.attrs)} was off by {row.l1:,.0f} records in all, where this round's "
        f"noise alone leaves about {noise:,.0f}; it had a chance of {percent(row.probability)}.",
        f"The mean error over the workload {better} from {before:.3g} to {after:.3g}{unit}.",
    ]


def percent(share: float) -> str:
    """Write a share for people; tiny and nearly whole ones are not rounded away.

    What rounding alone keeps from the whole is the whole: a finished run spends its budget but for
    a few units in the last place.
    """
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1 - 1e-12:
        return "> 99.9 %"
    return f"{100 * share:.3g} %"


# -- before a run: public ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Odds:
    """What a release can teach about one person's presence, at worst. Public.

    Args:
        prior: What somebody believed before.
        most: What he can believe at most afterwards.
        least: What he believes at least.
        exception: The outcomes in which these bounds fail have this probability together, at most.
    """

    prior: float
    most: float
    least: float
    exception: float


def odds(*, prior: float, epsilon: float, rho: float | Fraction) -> Odds:
    """Bound what a release of cost rho does to a belief about one record's presence.

    The likelihood ratio of an outcome is at most exp(epsilon), so the odds grow by that factor at
    most. zCDP bounds how often that fails (the moments of its privacy loss, at the best order):
    with probability at most exp(-(epsilon - rho)² / (4 rho)).

    Args:
        prior: A probability strictly between 0 and 1.
        epsilon: The factor's logarithm.
        rho: The budget.

    >>> round(odds(prior=0.1, epsilon=1.0, rho=0.0149).most, 3)
    0.232
    """
    cost = float(rho)
    shrunk = math.exp(-epsilon)
    most = prior / (prior + (1 - prior) * shrunk)
    least = prior * shrunk / (prior * shrunk + (1 - prior))
    exception = math.exp(-((epsilon - cost) ** 2) / (4 * cost)) if epsilon > cost else 1.0
    return Odds(prior, most, least, exception)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run will take, from public sizes alone.

    Args:
        marginals: Marginals asked for.
        cells: Their cells.
        all_marginals: Marginals of the closure, which a run keeps up to date.
        all_cells: Their cells.
        rounds: At most about so many rounds.
        seconds: At most about so long, charts not counted.
        memory: Bytes.
    """

    marginals: int
    cells: int
    all_marginals: int
    all_cells: int
    rounds: int
    seconds: float
    memory: int


def cost(mechanism: Any, workload: Workload, *, slowness: float = 1.0) -> Cost:
    """Estimate what a run will take.

    Args:
        mechanism: One that says its ``memory_needed``; if it scores, it goes in rounds.
        workload: What is asked for.
        slowness: How much slower this machine is than the one the seconds were taken on.
    """
    layout = workload.layout
    sets, cells = len(workload.closure), layout.total_cells
    in_rounds = hasattr(mechanism, "scores")
    ones = sum(len(attrs) == 1 for attrs in workload.closure)
    planned = 2 * sets
    if hasattr(mechanism, "planned_rounds"):
        planned = mechanism.planned_rounds(workload)
    # A 1-way marginal costs nine tenths of a share, a round a whole one (MATH section 7).
    rounds = (math.ceil(planned - Fraction(9, 10) * ones) if ones else 0) if in_rounds else 1
    seconds = 1e-3 * sets + 1e-6 * cells
    if in_rounds:
        seconds = 0.05 + 1e-7 * cells + rounds * (1.2e-3 + 4e-9 * cells)
    return Cost(
        marginals=len(workload.weights),
        cells=workload.cells,
        all_marginals=sets,
        all_cells=cells,
        rounds=rounds,
        seconds=seconds * slowness,
        memory=mechanism.memory_needed(workload),
    )


def asked(domain: Domain, weights: Mapping[AttributeSet, float]) -> pd.DataFrame:
    """Return the grid of attributes by attributes: which of its tables are asked for.

    Returns:
        One row a pair, and one an attribute alone (first = second): first, second (positions),
        label, cells, weight (0: not asked for) and holding (larger tables asked for that hold it).
    """
    import pandas as pd

    holding: dict[AttributeSet, int] = {}
    for attrs in weights:
        for smaller in subsets(attrs):
            if 1 <= len(smaller) <= 2 and smaller != attrs:
                holding[smaller] = holding.get(smaller, 0) + 1
    rows = []
    for first in range(len(domain)):
        for second in range(first, len(domain)):
            attrs = (first,) if first == second else (first, second)
            rows.append(
                {
                    "first": first,
                    "second": second,
                    "label": domain.label(attrs),
                    "cells": domain.cells(attrs),
                    "weight": weights.get(attrs, 0.0),
                    "holding": holding.get(attrs, 0),
                }
            )
    return pd.DataFrame(rows)


def predicted(
    workload: Workload, planner: Mapping[AttributeSet, float], split: Mapping[AttributeSet, float]
) -> pd.DataFrame:
    """Return the expected error of two batch mechanisms, marginal by marginal.

    Args:
        workload: What is asked for.
        planner: ``ResidualPlanner().predict(...).expected_l1``, records.
        split: ``EqualSplit().predict(...).expected_l1``.

    Returns:
        label, degree, cells, weight, planner and split (L1, records), largest error first.
    """
    import pandas as pd

    domain = workload.domain
    frame = pd.DataFrame(
        [
            {
                "label": domain.label(attrs),
                "degree": len(attrs),
                "cells": domain.cells(attrs),
                "weight": weight,
                "planner": planner[attrs],
                "split": split[attrs],
            }
            for attrs, weight in workload.weights.items()
        ]
    )
    return frame.sort_values("planner", ascending=False, kind="stable", ignore_index=True)


def predicted_curve(
    planner: float, split: float, *, rho: float | Fraction, delta: float, epsilons: Sequence[float]
) -> pd.DataFrame:
    """Return the predicted mean error for other budgets.

    All variances of a batch mechanism go with 1/rho, so one prediction gives them all.

    Args:
        planner: Mean expected L1 of ResidualPlanner at ``rho``, records.
        split: The same of EqualSplit.
        rho: What both were predicted for.
        delta: Kept fixed.
        epsilons: Where to look.

    Returns:
        epsilon, rho, planner and split (mean L1, records).
    """
    import pandas as pd

    rhos = [rho_from(epsilon=epsilon, delta=delta) for epsilon in epsilons]
    factor = np.sqrt(float(rho) / np.asarray(rhos))
    return pd.DataFrame(
        {
            "epsilon": list(epsilons),
            "rho": rhos,
            "planner": planner * factor,
            "split": split * factor,
        }
    )


def smallest_epsilon(
    mean_l1: float, *, wanted: float, rho: float | Fraction, delta: float
) -> float:
    """Return the least epsilon at which a batch mechanism is expected to err by ``wanted``.

    Args:
        mean_l1: Its predicted mean error at ``rho``, records.
        wanted: The mean error wanted, records; positive.
        rho: What ``mean_l1`` was predicted for.
        delta: The promise's other half.

    Raises:
        BudgetError: If no budget in use comes to that.
    """
    return epsilon_from(rho=float(rho) * (mean_l1 / wanted) ** 2, delta=delta)


# -- one marginal, looked at closely: not private ------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coverage(NotReleased):
    """How many true counts lie within their intervals. Not private.

    Args:
        cells: Cells looked at.
        inside: Those within ±1.96 noise sigma of the truth.
    """

    cells: int
    inside: int

    @property
    def expected(self) -> float:
        """What noise alone would give."""
        return 0.95 * self.cells

    def __repr__(self) -> str:
        return "Coverage(not private, not for release)"


def coverage(compared: Comparison) -> Coverage | None:
    """Count the cells whose 95 % interval holds the truth; None where the noise is not known."""
    if not compared.std:
        return None
    within = np.abs(compared.difference) <= 1.96 * compared.std
    return Coverage(int(within.size), int(within.sum()))


def coverage_limits(estimate: Estimate, *, adaptive: bool) -> list[str]:
    """Say why an estimate's 95 % interval may not hold 95 % of the time; from released values.

    Args:
        estimate: The answer looked at.
        adaptive: Whether what was measured depended on earlier answers.
    """
    if estimate.completion == "maxent":
        return ["Completed by maximum entropy, and shrunk: for such answers no interval is known."]
    if estimate.completion is not None:
        return [
            f"After {estimate.completion} no interval is known: cutting negative counts off moves "
            "every other cell too."
        ]
    if estimate.std == 0:
        return ["Nothing is measured here yet, so there is no noise and no interval."]
    limits = []
    if estimate.unmeasured:
        names = [estimate.domain.label(attrs) for attrs in estimate.unmeasured]
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        limits.append(
            f"Never measured within it: {shown}. That is counted as zero, an error that no "
            "interval knows of."
        )
    if adaptive:
        limits.append(
            "What was measured was chosen in the light of earlier answers, so 95 % is nominal."
        )
    return limits


def noise_shape(compared: Comparison) -> pd.DataFrame:
    """Return how often the cells' errors have which size, beside the normal law. Not private.

    Args:
        compared: A table whose noise is known.

    Returns:
        low and high (noise sigma; the outer bins hold everything beyond), cells, and normal: the
        cells that noise alone would put there.
    """
    import pandas as pd

    assert compared.std
    edges = np.linspace(-4, 4, 17)
    scaled = np.clip(compared.difference.ravel() / compared.std, -3.999, 3.999)
    counts, _ = np.histogram(scaled, edges)
    below = np.array([0.5 * math.erfc(-edge / math.sqrt(2)) for edge in edges])
    below[0], below[-1] = 0.0, 1.0
    normal = np.diff(below) * scaled.size
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "cells": counts, "normal": normal})


def cells_at(frame: pd.DataFrame, picked: Sequence[tuple[int, int]]) -> pd.DataFrame:
    """Return the rows of a table of two attributes that were pointed at, in their order."""
    keys = set(picked)
    chosen = [pair in keys for pair in zip(frame["i0"], frame["i1"], strict=True)]
    return frame[chosen].reset_index(drop=True)
