"""Make tables agree: the nearest tables in which every shared marginal is one and the same.

Completed tables (``clip``, ``simplex``, ``maxent``) are made one by one: the marginal over (a) of
the table over (a, b) need not be that of the table over (a, c). Here each table y_gamma is taken as
a measurement of every residual within it, and GReM combines them as it combines noisy ones. Cells
count alike, so y_gamma is worth precision w_gamma / n_{gamma - tau} on tau
(engine/README.md, "Residuals"), and the likeliest answer is the nearest one:

    minimise sum over gamma of w_gamma |x_gamma - y_gamma|²  over all tables x that agree.

The parts of a table over different tau are orthogonal, and the part over tau is spread evenly over
n_{gamma - tau} cells: its share of the sum is w_gamma / n_{gamma - tau} times the squared distance
of the residuals. So the optimum is their weighted mean, in closed form.

The truth agrees with itself. A projection onto a set that holds it cannot move away from it: the
squared error, summed over the workload with its weights, never grows. That of a single table may,
and so may an L1 error.

Cells may come out slightly negative again. ``nonnegative=True`` asks for the nearest tables that
agree, have the same total, and have no negative cells: the same measurements under GReM-LNN. It
may move what was never measured too, which GReM-LNN of the measurements alone keeps at zero.

The trade-off, on all 3-way marginals of six tables at epsilon 0.1, 1 and 10 (3 seeds each;
``tests/benchmarks/consistency.py``): completed tables disagree about the count of one value by up
to 3 % of the records, most of them by far less. Agreement alone changes the mean L1 error by -0.1
to +1.4 % and leaves up to 4 % of the records in negative cells of a table; without negative cells
it is -0.7 to +1.4 %. What is paid is time, and that every table then depends on all others.

All of it is free of privacy cost: it sees nothing but what was released.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from engine import compiling, grem
from engine.checking import expect
from engine.completing.nonnegative import nonnegative as without_negative_cells
from engine.completing.release import Release
from engine.domain import Domain, subsets
from engine.errors import DataError, DomainError, OptionError, WorkloadError
from engine.released import Belief, Beliefs, Estimate
from engine.residuals import decompose_all
from engine.types import AttributeSet


@dataclass(frozen=True, slots=True, repr=False)
class Consistent:
    """Tables that agree with each other, and every marginal of one of them.

    Args:
        domain: Of the attributes.
        marginals: The sets that tables were given for, each once, in the order given.
        beliefs: What the tables say together of every residual within one of them; a precision
            here is what the tables are worth (records^-2 if their cells had variance 1), no
            measurement's.
        unmeasured: Residuals within them that were never measured.
        completion: Everything that was done to the tables.
    """

    domain: Domain
    marginals: tuple[AttributeSet, ...]
    beliefs: Beliefs
    unmeasured: frozenset[AttributeSet]
    completion: str

    def __repr__(self) -> str:
        return f"Consistent({len(self.marginals):,} tables, {self.completion})"

    def estimate(self, *attributes: str | int) -> Estimate:
        """Answer any marginal within one of the tables; no name at all asks for the total.

        Raises:
            DomainError: If a name is unknown or repeated.
            WorkloadError: If no table holds all of them.
        """
        attrs = self.domain.attrs(*attributes)
        if attrs not in self.beliefs:
            raise WorkloadError(
                f"The marginal over {self.domain.label(attrs)} is within none of the "
                f"{len(self.marginals):,} tables. Ask for one that is."
            )
        return self._estimate(attrs)

    def estimates(self) -> Iterator[Estimate]:
        """Answer the marginals that tables were given for, in order."""
        return map(self._estimate, self.marginals)

    def negative(self) -> float:
        """Return the largest sum of negative cells in one of the tables, in records."""
        return max(-float(np.minimum(e.values, 0.0).sum()) for e in self.estimates())

    def _estimate(self, attrs: AttributeSet) -> Estimate:
        with compiling.sized(_size(self.domain)):
            values = grem.marginal(self.beliefs, self.domain, attrs)
        unmeasured = tuple(tau for tau in subsets(attrs) if tau in self.unmeasured)
        return Estimate(self.domain, attrs, values, None, unmeasured, self.completion)


def consistent(
    tables: Release | Iterable[Estimate],
    *,
    weights: Mapping[AttributeSet, float] | None = None,
    nonnegative: bool = False,
) -> Consistent:
    """Return the tables nearest to these, in squared distance, that agree with each other.

    Tables that agree stay as they are. The estimated total stays if all tables have the same.
    Cost O(sum of |gamma| n_gamma); with ``nonnegative`` that for each step of a dual ascent.

    Args:
        tables: A release, as it answers, or estimates after any post-processing.
        weights: How much a table counts. By default a release's tables count as in its workload,
            so that the error it cares about is the one that never grows, and estimates 1 each.
        nonnegative: Ask for tables without negative cells too: those of a table then sum to no
            more than a thousandth of the total, if 500 steps are enough. They are for completed
            tables; large tables with much below zero may keep more, as ``negative()`` says. A
            total of zero or less gives zeros.

    Raises:
        DataError: If a cell is no finite number (``E_VALUE``).
        DomainError: If the tables have different domains.
        OptionError: If something else than estimates is given.
        WorkloadError: If there is no table, or a table's weight is missing or not positive.

    >>> domain = Domain.from_sizes({"a": 2, "b": 2})
    >>> one = Estimate(domain, (0,), np.array([6.0, 2.0]), None)
    >>> two = Estimate(domain, (0, 1), np.array([[4.0, 1.0], [2.0, 1.0]]), None)
    >>> found = consistent([one, two])
    >>> for estimate in found.estimates():
    ...     print(estimate.values.round(4).tolist())
    [5.6667, 2.3333]
    [[4.3333, 1.3333], [1.6667, 0.6667]]
    """
    expect(tables, (Release, Iterable), "a release or its estimates", "Give run.release.")
    if isinstance(tables, Release):
        weights = tables.workload.weights if weights is None else weights
        tables = tables.estimates()
    found = _said_together(tables, weights)
    if not nonnegative:
        return found
    return Consistent(
        found.domain, found.marginals, _nonnegative(found), found.unmeasured,
        f"{found.completion}, non-negative",
    )  # fmt: skip


def _said_together(
    tables: Iterable[Estimate], weights: Mapping[AttributeSet, float] | None
) -> Consistent:
    """Combine what every table says of every residual within it, one table at a time."""
    domain: Domain | None = None
    beliefs: dict[AttributeSet, Belief] = {}
    unmeasured: set[AttributeSet] = set()
    marginals: dict[AttributeSet, None] = {}
    completions: dict[str, None] = {}
    for table in tables:
        _check(table, domain)
        domain = table.domain
        weight = _weight(table, weights)
        with compiling.sized(_size(domain)):
            residuals = decompose_all(table.values, table.attrs)
        for tau, residual in residuals.items():
            spread = domain.cells(table.attrs) // domain.cells(tau)
            said = Belief(residual, weight / spread)
            beliefs[tau] = beliefs[tau].combine(said) if tau in beliefs else said
        marginals[table.attrs] = None
        unmeasured.update(table.unmeasured)
        if table.completion:
            completions[table.completion] = None
    if domain is None:
        raise WorkloadError("There is no table; at least one is needed. Give a release's answers.")
    return Consistent(
        domain, tuple(marginals), Beliefs(beliefs), frozenset(unmeasured),
        ", ".join([*completions, "consistent"]),
    )  # fmt: skip


def _nonnegative(found: Consistent) -> Beliefs:
    total = float(found.beliefs[()].values)
    if total <= 0:
        return Beliefs({tau: Belief(0.0 * b.values, b.precision) for tau, b in _items(found)})
    # A total that is certain does not move.
    certain = Belief(np.array(total), math.inf)
    beliefs = Beliefs({tau: belief if tau else certain for tau, belief in _items(found)})
    with compiling.sized(_size(found.domain)):
        return without_negative_cells(beliefs, found.domain, found.marginals)


def _size(domain: Domain) -> int:
    """What loops go by: tables come one at a time, so how many there are is not known."""
    return domain.cells(tuple(range(len(domain))))


def _items(found: Consistent) -> list[tuple[AttributeSet, Belief]]:
    return list(found.beliefs.items())


def _check(table: object, domain: Domain | None) -> None:
    if not isinstance(table, Estimate):
        raise OptionError(
            f"There is a {type(table).__name__} among the tables; estimates are needed. Give a "
            "release, or what its estimates() gives."
        )
    if domain is not None and table.domain != domain:
        raise DomainError(
            f"The table over {table.label} has another domain than those before it; one domain is "
            "needed. Give the answers of one release."
        )
    if not np.isfinite(table.values).all():
        raise DataError(
            f"The table over {table.label} has cells that are not finite; numbers are needed. "
            "Leave it out.",
            code="E_VALUE",
        )


def _weight(table: Estimate, weights: Mapping[AttributeSet, float] | None) -> float:
    weight = 1.0 if weights is None else weights.get(table.attrs)
    if weight is None or not 0 < weight < math.inf:
        raise WorkloadError(
            f"The table over {table.label} has weight {weight!r}; a positive number is needed. "
            "Give a weight for every table.",
            code="E_WEIGHT",
        )
    return weight
