"""Frames of one round, from released values alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import grem
from engine.completing.release import Release
from engine.demonstrating import comparison
from engine.domain import Domain, subsets
from engine.released import Allocation, Beliefs, Measurement
from engine.residuals import privacy_cost
from engine.showing.badges import RELEASED
from engine.showing.framed import framed
from engine.trace import Event, RoundEnded, Started
from engine.types import AttributeSet
from engine.workload import Workload

if TYPE_CHECKING:
    from engine.showing.frame import Frame

POINTS = 400
"""Most values of one residual drawn one by one; beyond it, as many evenly spaced quantiles."""
Z95 = 1.96
"""Noise standard deviations that hold 95 % of a normal law, as every text here rounds them."""


def budget(events: Sequence[Event]) -> Frame:
    """Return the ledger as segments that lie end to end: one pair a round, then what is left.

    Args:
        events: ``Started`` and any number of rounds after it.

    Returns:
        Columns round (0: before the first one; -1 for what is left), part (``select``, ``measure``,
        ``left``), rho, exact (the fraction as text), start and end (in rho). The exact fractions
        add up to the total.
    """
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
    return framed(rows, RELEASED)


def _segment(number: int, part: str, start: Fraction, rho: Fraction) -> dict[str, Any]:
    return {
        "round": number,
        "part": part,
        "rho": float(rho),
        "exact": str(rho),
        "start": float(start),
        "end": float(start + rho),
    }


def _started(events: Sequence[Event]) -> Started:
    first = events[0]
    assert isinstance(first, Started)
    return first


def allocation(event: RoundEnded, domain: Domain, gamma: AttributeSet) -> Frame:
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
    return framed(rows, RELEASED)


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


def measured(measurements: Sequence[Measurement], domain: Domain) -> Frame:
    """Return measured residuals, value by value, in units of their own noise.

    An entry of a residual over m attributes has noise standard deviation sigma 2^(m/2), since its
    covariance is sigma² V. Residuals with more values than ``POINTS`` are
    represented by evenly spaced quantiles; ``of`` says how many values there are.

    Returns:
        Columns label, degree, value (records), noise_sd (records), scaled (value / noise_sd),
        outside (whether beyond ±1.96) and of.
    """
    columns: dict[str, list[Any]] = {name: [] for name in _MEASURED}
    for one in measurements:
        values = np.sort(one.values.ravel())
        if len(values) > POINTS:
            values = np.quantile(values, np.linspace(0, 1, POINTS))
        sd = math.sqrt(one.variance * 2 ** len(one.attrs))
        same = {"label": domain.label(one.attrs), "degree": len(one.attrs), "noise_sd": sd}
        for name, value in {**same, "of": one.values.size}.items():
            columns[name] += [value] * len(values)
        columns["value"] += values.tolist()
        columns["scaled"] += (values / sd).tolist()
        columns["outside"] += (np.abs(values) > Z95 * sd).tolist()
    return framed(columns, RELEASED)


_MEASURED = ("label", "degree", "value", "noise_sd", "scaled", "outside", "of")


def touched(before: Beliefs, after: Beliefs, event: RoundEnded, workload: Workload) -> Frame:
    """Return what a round did to every marginal of the workload, and to the one selected.

    Returns:
        One row a marginal: label, degree, first and second (positions of its attributes, for a
        grid of pairs), cells, touched, moved (L1 distance between its two estimates, records) and
        selected.
    """
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
    return framed(rows, RELEASED)


def spending(releases: Mapping[str, Release]) -> Frame:
    """Return where releases spent their budgets, by the size of what was measured.

    Args:
        releases: Each with a name of its own.

    Returns:
        who (the name), size (attributes in the residual) and share of the whole budget.
    """
    rows = [
        {"who": name, "size": size, "share": share}
        for name, release in releases.items()
        for size, share in comparison.spending(release).items()
    ]
    return framed(rows, RELEASED)
