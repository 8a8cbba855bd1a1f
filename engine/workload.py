"""Weighted marginals to be answered, and the downward closure they need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import cast

import numpy as np

from engine.checking import expect, whole
from engine.domain import Domain, closure
from engine.errors import DomainError, WorkloadError
from engine.layout import Layout
from engine.types import AttributeSet, FloatArray

MAX_MARGINALS = 1_000_000
"""Most sets in a closure: beyond it the bookkeeping alone takes minutes and gigabytes."""
MAX_CELLS = 1 << 32
"""Most cells in all: beyond it the answers alone take 32 GiB."""
WEIGHT_RANGE = (1e-9, 1e9)


class Workload:
    """The marginals wanted, each with its weight, and every subset of one of them.

    Args:
        marginals: Sets of attribute names (or positions), as keys with weights, or in a list with
            weight 1 each. The same set given twice counts once, with its weights added.
        domain: What the names refer to.

    Raises:
        WorkloadError: If no set is given, or an attribute is unknown or stands twice in a set
            (``E_WORKLOAD``), a weight is not a number within 1e-9 .. 1e9 (``E_WEIGHT``), or the
            answers are too many to hold (``E_TOO_LARGE``, from the sizes alone).

    >>> domain = Domain.from_sizes({"age": 4, "sex": 2, "income": 3})
    >>> workload = Workload({("sex", "age"): 2.0, ("income",): 1.0}, domain)
    >>> workload.weights
    mappingproxy({(2,): 1.0, (0, 1): 2.0})
    >>> workload.closure
    ((), (0,), (1,), (2,), (0, 1))
    """

    __slots__ = ("_hash", "closure", "domain", "layout", "weights")

    domain: Domain
    weights: Mapping[AttributeSet, float]
    closure: tuple[AttributeSet, ...]
    layout: Layout
    _hash: int

    def __init__(
        self,
        marginals: Mapping[tuple[str | int, ...], float] | Iterable[Iterable[str | int]],
        domain: Domain,
    ) -> None:
        expect(domain, Domain, "a Domain", "Write Workload(marginals, table.domain).")
        weights: dict[AttributeSet, float] = {}
        for attrs, weight in _pairs(marginals):
            canonical = _canonical(attrs, domain)
            added = weights.get(canonical, 0.0) + _checked_weight(weight)
            weights[canonical] = _checked_weight(added)
        if not weights:
            raise WorkloadError(
                "The workload holds no marginal; at least one is needed. Add one, for example "
                f"({domain.names[0]!r},)."
            )
        self._fill(weights, domain)

    @classmethod
    def all_kway(cls, domain: Domain, k: int) -> Workload:
        """Ask for the marginals over all sets of exactly k attributes, each with weight 1.

        Raises:
            WorkloadError: If k is not a whole number between 0 and the number of attributes, or
                the answers are too many to hold.
        """
        expect(domain, Domain, "a Domain", "Write Workload.all_kway(domain, k).")
        d, asked, k = len(domain), k, -1 if whole(k) is None else int(k)
        if not 0 <= k <= d:
            raise WorkloadError(
                f"The degree is {asked!r}; a whole number from 0 to {d}, the number of attributes, "
                "is needed. Choose a smaller degree."
            )
        # Counted before they are listed: 200 attributes have 1.3 million triples.
        sets = sum(math.comb(d, j) for j in range(k + 1))
        _check_size(sets, sum(_elementary(domain.sizes, k)), largest=_largest(domain, k))
        self = cls.__new__(cls)
        self._fill(dict.fromkeys(combinations(range(d), k), 1.0), domain)
        return self

    def _fill(self, weights: dict[AttributeSet, float], domain: Domain) -> None:
        cells = [domain.cells(attrs) for attrs in weights]
        _check_size(sum(1 << len(attrs) for attrs in weights), sum(cells), largest=max(cells))
        ordered = closure(weights)
        _check_size(len(ordered), sum(map(domain.cells, ordered)), largest=max(cells))
        sorted_weights = dict(sorted(weights.items(), key=lambda kv: (len(kv[0]), kv[0])))
        self.domain = domain
        self.weights = MappingProxyType(sorted_weights)
        self.closure = ordered
        self.layout = Layout(domain.sizes, ordered)
        # Taken once: every round looks up what was found for this workload.
        self._hash = hash((domain.sizes, self.marginals))

    @property
    def marginals(self) -> tuple[AttributeSet, ...]:
        """The sets asked for, in order."""
        return tuple(self.weights)

    @property
    def cells(self) -> int:
        """Number of cells of all marginals asked for."""
        return sum(map(self.domain.cells, self.weights))

    def candidate_weights(self) -> FloatArray:
        """Weight of every set of the closure as a candidate: w_gamma, shape (K,), 0 for the total.

        w_gamma = sum of c_s |gamma and s| over the workload; since overlaps add up over the
        attributes of gamma, one total for each attribute is enough (paper, section 5).
        """
        totals = np.zeros(len(self.domain))
        for attrs, weight in self.weights.items():
            totals[list(attrs)] += weight
        weights: FloatArray = totals @ self.layout.members
        return weights

    def __repr__(self) -> str:
        degrees = sorted({len(attrs) for attrs in self.weights})
        ways = ", ".join(f"{k}-way" for k in degrees)
        return (
            f"Workload({len(self.weights):,} marginals ({ways}), {self.cells:,} cells, "
            f"closure of {len(self.closure):,})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Workload):
            return NotImplemented
        return self.domain == other.domain and dict(self.weights) == dict(other.weights)

    def __reduce__(self) -> tuple[object, ...]:
        # Small: the closure and its layout follow from these.
        return Workload, (dict(self.weights), self.domain)

    def __hash__(self) -> int:
        return self._hash


def _pairs(
    marginals: Mapping[tuple[str | int, ...], float] | Iterable[Iterable[str | int]],
) -> Iterable[tuple[tuple[str | int, ...], float]]:
    if isinstance(marginals, str) or not isinstance(marginals, Iterable):
        raise WorkloadError(
            f"The workload is {marginals!r}; sets of attributes are needed, in a list or with "
            "weights. Give at least one."
        )
    if isinstance(marginals, Mapping):
        return [(_as_set(attrs), weight) for attrs, weight in marginals.items()]
    return [(_as_set(attrs), 1.0) for attrs in marginals]


def _as_set(attrs: object) -> tuple[str | int, ...]:
    # A bare text would be taken apart into letters.
    if isinstance(attrs, str | int) or not isinstance(attrs, Iterable):
        raise WorkloadError(
            f"The workload names {attrs!r} where a set of attributes is needed. Write "
            f"({attrs!r},) for the marginal over one attribute."
        )
    return tuple(attrs)


def _canonical(attrs: tuple[str | int, ...], domain: Domain) -> AttributeSet:
    try:
        return domain.attrs(*attrs)
    except DomainError as error:
        raise WorkloadError(str(error)) from None


def _checked_weight(weight: object) -> float:
    low, high = WEIGHT_RANGE
    number = isinstance(weight, int | float | np.integer | np.floating)
    if isinstance(weight, bool) or not number or not low <= cast("float", weight) <= high:
        raise WorkloadError(
            f"A weight is {weight!r}; a number between {low:g} and {high:g} is needed. Leave out "
            "marginals that are not wanted.",
            code="E_WEIGHT",
        )
    return float(cast("float", weight))


def _check_size(sets: int, cells: int, *, largest: int) -> None:
    if sets > MAX_MARGINALS or cells > MAX_CELLS:
        raise WorkloadError(
            f"The workload and its subsets are {sets:,} sets with at least {cells:,} cells "
            f"(largest marginal {largest:,}); {MAX_MARGINALS:,} sets and {MAX_CELLS:,} cells can "
            "be held. Choose fewer attributes, a lower degree, or coarser bins.",
            code="E_TOO_LARGE",
        )


def _elementary(sizes: tuple[int, ...], k: int) -> list[int]:
    """Cells of all 0-, 1-, ..., k-way marginals: elementary symmetric polynomials of the sizes."""
    cells = [1] + [0] * k
    for n in sizes:
        for j in range(k, 0, -1):
            cells[j] += n * cells[j - 1]
    return cells


def _largest(domain: Domain, k: int) -> int:
    return math.prod(sorted(domain.sizes)[len(domain) - k :])
