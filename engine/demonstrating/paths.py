"""What would another choice do? Two settings on one table, overlaid round by round.

Each point is judged by the truth, so it is not private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from engine.completing.release import Release
from engine.demonstrating.evaluation import NotReleased
from engine.domain import Attribute, Domain
from engine.errors import OptionError
from engine.exact import Exact
from engine.mechanisms.base import rounds
from engine.noise import rehearsal_noise
from engine.residuals import privacy_cost
from engine.tables import Private, Table
from engine.trace import Finished, RoundEnded
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Setting(Exact):
    """One of two settings to be overlaid.

    Args:
        private: Its records' counts.
        workload: What it asks for.
        rho: Its budget.
        merged: Attribute position -> how many adjacent values become one when it is judged.
    """

    private: Private
    workload: Workload
    rho: Fraction
    merged: Mapping[int, int]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Point(NotReleased):
    """Where one setting's run stands after a round, judged by the truth. Not private.

    Args:
        round: 0 is before the first.
        spent: Share of its own budget spent.
        error: Mean L1 error over the judged marginals divided by N (in records without any).
        per_marginal: The same for each of them.
        release: What could be released then.
    """

    round: int
    spent: float
    error: float
    per_marginal: Mapping[AttributeSet, float]
    release: Release

    def __repr__(self) -> str:
        return f"Point(round {self.round}; not private, not for release)"


def path(
    mechanism: Any,
    setting: Setting,
    truth: Private,
    sets: Sequence[AttributeSet],
    *,
    seed: int,
    every: float = 0.0,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Point]:
    """Run one setting and judge it as it goes on.

    Args:
        mechanism: What is run.
        setting: On what, and with how much.
        truth: The counts to judge by; coarser than the setting's own where it is ``merged``.
        sets: The marginals to judge, all within the workload's closure.
        seed: Where the noise starts.
        every: Least share of the budget between two judgements; judging can take longer than a
            round. The start and the end are always judged.
        cancelled: Asked between two rounds.
    """
    records = int(truth.marginal(()).values)
    noise, judged, made = rehearsal_noise(seed), -math.inf, 0
    stream = rounds(mechanism, setting.private, setting.workload, rho=setting.rho, rng=noise)
    for state, event in stream:
        if cancelled():
            return
        made += isinstance(event, RoundEnded)
        last = mechanism.done(state)
        release = mechanism.release(state)
        spent = float(release.ledger.spent / setting.rho)
        if isinstance(event, Finished) or (spent - judged < every and not last and made):
            continue
        judged = spent
        errors = {a: _merged_error(release, a, truth, setting.merged) for a in sets}
        shares = {a: e / records if records else e for a, e in errors.items()}
        yield Point(made, spent, math.fsum(shares.values()) / len(shares), shares, release)


def _merged_error(
    release: Release, attrs: AttributeSet, truth: Private, merged: Mapping[int, int]
) -> float:
    values = merge_values(release.estimate(*attrs).values, attrs, merged)
    return float(np.abs(values - truth.marginal(attrs).values).sum())


def merge_values(values: FloatArray, attrs: AttributeSet, merged: Mapping[int, int]) -> FloatArray:
    """Add up adjacent values: the coarser table that a finer one says."""
    for axis, i in enumerate(attrs):
        if i in merged:
            starts = np.arange(0, values.shape[axis], merged[i])
            values = np.add.reduceat(values, starts, axis=axis)
    return values


def merge_table(table: Table, merged: Mapping[int, int]) -> Table:
    """Return the table with every so many adjacent values of an attribute made one.

    Adjacent in the declared order; the last group may hold fewer. Deciding this without looking at
    the records costs nothing, deciding it from them would.

    Raises:
        OptionError: If a group has less than one value.
    """
    if any(size < 1 for size in merged.values()):
        raise OptionError("A group of values needs at least one. Choose 1 to merge nothing.")
    domain = Domain(
        tuple(_merge(attribute, merged.get(i, 1)) for i, attribute in enumerate(table.domain))
    )
    divisors = np.array([merged.get(i, 1) for i in range(len(table.domain))])
    return Table.from_codes((table.codes // divisors[:, None]).T, domain)


def _merge(attribute: Attribute, size: int) -> Attribute:
    if size == 1:
        return attribute
    labels = attribute.labels
    groups = [labels[k : k + size] for k in range(0, len(labels), size)]
    values = tuple(g[0] if len(g) == 1 else f"{g[0]} – {g[-1]}" for g in groups)
    return Attribute(attribute.name, values=values)


def repeat_table(table: Table, times: int) -> Table:
    """Return a table with every record so many times: a simulation of a larger population."""
    return Table.from_codes(np.tile(table.codes, (1, times)).T, table.domain)


def spending(release: Release) -> dict[int, float]:
    """Return what was spent on measuring residuals over 0, 1, 2, ... attributes, as shares of rho.

    Released values only: precision times cost of each residual, half of it.
    """
    shares: dict[int, float] = {}
    for attrs, belief in release.beliefs.items():
        cost = float(privacy_cost(release.domain.shape(attrs))) * belief.precision / 2
        shares[len(attrs)] = shares.get(len(attrs), 0.0) + cost / float(release.ledger.total)
    return dict(sorted(shares.items()))
