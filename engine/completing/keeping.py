"""Completed tables of what was measured: made once, kept for a while, and answered from."""

from __future__ import annotations

from engine import compiling
from engine.checking import expect
from engine.completing.completed import Completed, Kind
from engine.completing.totals import UNBIASED, Total
from engine.domain import Domain, closure, subsets
from engine.layout import Layout
from engine.released import Beliefs, Estimate
from engine.residuals import privacy_cost
from engine.types import AttributeSet

_kept: list[Completed] = []
_KEPT = 2


def kept(
    layout: Layout, beliefs: Beliefs, total: Total = UNBIASED, kind: Kind = "maxent"
) -> Completed:
    """Return completed tables for these beliefs; those last asked for are kept."""
    for tables in _kept:
        same = (tables.adds_up_to, tables.kind) == (total, kind)
        if same and tables.beliefs is beliefs and tables.layout is layout:
            return tables
    tables = Completed(layout, beliefs, total, kind)
    _kept[:] = [*_kept[-(_KEPT - 1) :], tables]
    return tables


def maxent(
    beliefs: Beliefs, domain: Domain, gamma: AttributeSet, *, total: Total = UNBIASED
) -> Estimate:
    """Return the completed table of one marginal of any degree; its variance is not known.

    Args:
        beliefs: What was measured; pairs beyond gamma help to complete those within.
        domain: Of the attributes.
        gamma: Which marginal.
        total: What it adds up to (``totals``).
    """
    expect(beliefs, Beliefs, "what was measured", "Give run.release.beliefs.")
    expect(domain, Domain, "a Domain", "Give run.release.domain.")
    domain.cells(gamma)  # refuses what is no set of positions
    layout = Layout(domain.sizes, closure((tuple(gamma), *beliefs)))
    with compiling.sized(layout.total_cells):
        return estimate_of(Completed(layout, beliefs, total), domain, gamma)


def estimate_of(tables: Completed, domain: Domain, gamma: AttributeSet) -> Estimate:
    """Return one completed table with what was not measured within it."""
    unmeasured = tuple(
        tau
        for tau in subsets(gamma)
        if tau not in tables.beliefs and privacy_cost(domain.shape(tau)) > 0
    )
    return Estimate(domain, gamma, tables.table(gamma), None, unmeasured, tables.kind)
