"""ResidualPlanner beside a run in rounds: its plan, its error, and who is nearer where.

Both answers are compared with the records, so what comes out is not private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.completing.release import Release
from engine.demonstrating.evaluation import Evaluation, NotReleased, evaluate
from engine.domain import subsets
from engine.mechanisms.base import rounds
from engine.mechanisms.one_shot import ResidualPlanner
from engine.noise import RandomSource
from engine.tables import Private
from engine.trace import Event, RoundEnded, Started
from engine.types import AttributeSet
from engine.workload import Workload

if TYPE_CHECKING:
    from fractions import Fraction

    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rival(NotReleased):
    """ResidualPlanner's one round on the same table with the same budget. Not private.

    Args:
        event: What it measured and how precisely; this alone is released.
        release: What it releases.
        before: Mean L1 error before anything is known, in records: every answer is zero.
        evaluation: Its true errors.
    """

    event: RoundEnded
    release: Release
    before: float
    evaluation: Evaluation

    def __repr__(self) -> str:
        return "Rival(ResidualPlanner; not private, not for release)"


def planner(private: Private, workload: Workload, *, rho: Fraction, rng: RandomSource) -> Rival:
    """Run ResidualPlanner with this budget: a run of its own, which would spend it again."""
    mechanism = ResidualPlanner()
    before, event, release = 0.0, None, None
    for state, made in rounds(mechanism, private, workload, rho=rho, rng=rng):
        release = mechanism.release(state)
        if isinstance(made, Started):
            before = evaluate(release, private).mean_l1
        if isinstance(made, RoundEnded):
            event = made
    assert event is not None
    assert release is not None
    return Rival(event, release, before, evaluate(release, private))


def by_budget(
    errors: Sequence[float], spent: Sequence[float], rival: Rival, records: int
) -> pd.DataFrame:
    """Return both errors as the budgets are spent, for ``versus.overlay``. Not private.

    Args:
        errors: The run's mean L1 errors, one a moment, in records.
        spent: Share of its budget spent at each of them.
        rival: ResidualPlanner, which spends everything in one round.
        records: What errors are divided by; 0 leaves them.
    """
    import pandas as pd

    scale = records or 1
    rows = [
        {"who": 0, "round": k, "spent": share, "error": error / scale}
        for k, (error, share) in enumerate(zip(errors, spent, strict=True))
    ]
    pair = (rival.before, rival.evaluation.mean_l1)
    rows += [
        {"who": 1, "round": k, "spent": float(k), "error": error / scale}
        for k, error in enumerate(pair)
    ]
    return pd.DataFrame(rows)


def by_marginal(
    release: Release, events: Sequence[Event], rival: Rival, private: Private
) -> pd.DataFrame:
    """Return each marginal's two errors and why: how the run in rounds knows it. Not private.

    Returns:
        Columns label, cells, first and second (L1 error divided by N), difference (first less
        second) and reason, the largest differences first.
    """
    import pandas as pd

    errors = evaluate(release, private)
    scale, domain = errors.records or 1, release.domain
    measured = _when(events)
    rows = []
    for attrs, mine in errors.per_marginal.items():
        theirs = rival.evaluation.per_marginal[attrs]
        rows.append(
            {
                "label": domain.label(attrs),
                "cells": domain.cells(attrs),
                "first": mine.l1 / scale,
                "second": theirs.l1 / scale,
                "difference": (mine.l1 - theirs.l1) / scale,
                "reason": _reason(attrs, measured, release),
            }
        )
    columns = ["label", "cells", "first", "second", "difference", "reason"]
    return pd.DataFrame(rows, columns=columns).sort_values(
        "difference", key=abs, ascending=False, ignore_index=True
    )


def _when(events: Sequence[Event]) -> dict[AttributeSet, int]:
    """The first round that measured each residual; 0 is before the first."""
    found: dict[AttributeSet, int] = {}
    for event in events:
        number = event.round if isinstance(event, RoundEnded) else 0
        for one in getattr(event, "measurements", ()):
            for tau in subsets(one.attrs):
                found.setdefault(tau, number)
    return found


def _reason(attrs: AttributeSet, measured: dict[AttributeSet, int], release: Release) -> str:
    """Measured directly, through a part of it, or never."""
    if attrs in measured:
        number = measured[attrs]
        return f"measured directly, {f'round {number}' if number else 'before round 1'}"
    parts = [tau for tau in measured if set(tau) < set(attrs) and len(tau) > 1]
    largest = max((len(tau) for tau in parts), default=0)
    if not largest:
        return "never: from single attributes"
    through = [release.domain.label(tau) for tau in parts if len(tau) == largest]
    more = f" and {len(through) - 2} more" if len(through) > 2 else ""
    return f"through {', '.join(through[:2])}{more}"
