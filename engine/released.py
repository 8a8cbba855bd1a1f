"""Values that may leave: what was measured, what is believed, what is answered.

Nothing here can hold an exact count; the types share no base with those of ``tables``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.attributes import Attribute
from engine.checking import expect
from engine.domain import Domain
from engine.errors import DomainError
from engine.types import AttributeSet, FloatArray, SameValues, frozen

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Measurement(SameValues):
    """One noisy residual z_tau, as released.

    Args:
        attrs: tau.
        values: Shape (n_i - 1 for i in tau), unit records, read-only.
        precision: 1 / sigma² of the noise, whose covariance is sigma² V_tau
            (engine/README.md, "Residuals").
    """

    attrs: AttributeSet
    values: FloatArray
    precision: float

    def __post_init__(self) -> None:
        _check_noisy(self.attrs, self.values, self.precision)
        object.__setattr__(self, "values", frozen(self.values))

    @property
    def variance(self) -> float:
        """Noise variance sigma²."""
        return 1.0 / self.precision

    def __repr__(self) -> str:
        size = self.values.size
        return f"Measurement({self.attrs}, {size:,} values, precision {self.precision:.6g})"


@dataclass(frozen=True, slots=True, repr=False)
class Allocation:
    """The plan for one residual in one round.

    ``known`` is its precision before, ``added`` what the round buys (0: omitted), ``rho`` the cost.
    """

    attrs: AttributeSet
    known: float
    added: float
    rho: Fraction

    @property
    def after(self) -> float:
        """Precision after the round."""
        return self.known + self.added

    def __repr__(self) -> str:
        return (
            f"Allocation({self.attrs}, known {self.known:.6g}, added {self.added:.6g}, "
            f"rho {float(self.rho):.6g})"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Belief(SameValues):
    """All that is known of one residual: the precision-weighted mean of its measurements."""

    values: FloatArray
    precision: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values))

    def __repr__(self) -> str:
        return f"Belief({self.values.size} values, precision {self.precision:.6g})"

    def combine(self, other: Belief) -> Belief:
        """Fold in another belief: a' = a + b, z' = (a z + b y) / a' (paper, section 4.1).

        Raises:
            DomainError: If the shapes differ.
        """
        if self.values.shape != other.values.shape:
            raise DomainError(
                f"The residuals have shapes {self.values.shape} and {other.values.shape}; one "
                "residual has one shape.",
                code="E_SHAPE",
            )
        precision = self.precision + other.precision
        # As a step towards the new value: equal measurements then stay exactly equal.
        values = self.values + (other.values - self.values) * (other.precision / precision)
        return Belief(values, precision)


class Beliefs(Mapping[AttributeSet, Belief]):
    """The belief about every residual that was measured; the others are taken as zero.

    Successive beliefs share what did not change: a large common part, and the few newest on top.
    """

    __slots__ = ("_common", "_newest")

    _MOST_NEWEST = 256

    def __init__(self, beliefs: Mapping[AttributeSet, Belief] | None = None) -> None:
        self._common: dict[AttributeSet, Belief] = dict(beliefs or {})
        self._newest: dict[AttributeSet, Belief] = {}

    def __getitem__(self, attrs: AttributeSet) -> Belief:
        return self._newest.get(attrs) or self._common[attrs]

    def __contains__(self, attrs: object) -> bool:
        return attrs in self._newest or attrs in self._common

    def __iter__(self) -> Iterator[AttributeSet]:
        yield from self._common
        yield from (attrs for attrs in self._newest if attrs not in self._common)

    def __len__(self) -> int:
        return len(self._common) + sum(attrs not in self._common for attrs in self._newest)

    def precision(self, attrs: AttributeSet) -> float:
        """Precision of the residual over ``attrs``; 0 if it was never measured."""
        belief = self._newest.get(attrs) or self._common.get(attrs)
        return belief.precision if belief is not None else 0.0

    def combined(self, measurements: Iterable[Measurement]) -> Beliefs:
        """Return the beliefs after these measurements; the order of measuring does not matter."""
        beliefs = Beliefs()
        beliefs._common, beliefs._newest = self._common, dict(self._newest)
        for measured in measurements:
            expect(measured, Measurement, "a Measurement", "Give what measuring returned.")
            new = Belief(measured.values, measured.precision)
            old = beliefs.get(measured.attrs)
            beliefs._newest[measured.attrs] = new if old is None else old.combine(new)
        if len(beliefs._newest) > self._MOST_NEWEST:
            beliefs._common, beliefs._newest = beliefs._common | beliefs._newest, {}
        return beliefs

    def changes_since(
        self, earlier: Beliefs, among: Iterable[AttributeSet] | None = None
    ) -> dict[AttributeSet, FloatArray]:
        """Return the change Delta = z' - z of every residual estimate that changed.

        Args:
            earlier: The beliefs before.
            among: Where to look, if it is known what was measured in between.
        """
        changes: dict[AttributeSet, FloatArray] = {}
        for attrs in self if among is None else among:
            new, old = self[attrs], earlier.get(attrs)
            if old is not new:
                changes[attrs] = new.values if old is None else new.values - old.values
        return changes

    def __repr__(self) -> str:
        return f"Beliefs({len(self)} residuals measured)"


@dataclass(frozen=True, slots=True, eq=False)
class Estimate(SameValues):
    """The answer for one marginal.

    Args:
        domain: What the attributes are.
        attrs: gamma.
        values: Shape (n_i for i in gamma), unit records, read-only; may be negative.
        variance: Noise variance of each cell, from the measured residuals; None after any
            post-processing, which changes it in ways not tracked.
        unmeasured: The residuals within gamma never measured and therefore counted as zero:
            what ``variance`` does not cover.
        completion: Name of the post-processing done, if any.
    """

    domain: Domain
    attrs: AttributeSet
    values: FloatArray
    variance: float | None
    unmeasured: tuple[AttributeSet, ...] = ()
    completion: str | None = None

    def __post_init__(self) -> None:
        if np.shape(self.values) != self.domain.shape(self.attrs):
            raise DomainError(
                f"The estimate has shape {np.shape(self.values)}; "
                f"{self.domain.shape(self.attrs)} is needed.",
                code="E_SHAPE",
            )
        object.__setattr__(self, "values", frozen(self.values))

    @property
    def std(self) -> float | None:
        """Standard deviation of the noise in each cell, or None."""
        return None if self.variance is None else float(np.sqrt(self.variance))

    @property
    def label(self) -> str:
        """The marginal's name for people."""
        return self.domain.label(self.attrs)

    @property
    def unmeasured_labels(self) -> tuple[str, ...]:
        """``unmeasured`` by the attributes' names."""
        return tuple(map(self.domain.label, self.unmeasured))

    def column(self, name: str) -> str:
        """Return the name of a column beside the attributes', which may have taken it."""
        taken = {self.domain[i].name for i in self.attrs}
        while name in taken:
            name += "_"
        return name

    def to_frame(self) -> pd.DataFrame:
        """Return one row a cell: the attributes' values, ``count``, and ``std`` where known.

        Values are pandas categories in the domain's order: intervals for bins, numbers for whole
        numbers, texts otherwise, "other" and "missing" among them as texts at the end. They are
        ordered unless the attribute is categorical.
        """
        import pandas as pd

        index = np.indices(self.values.shape).reshape(len(self.attrs), self.values.size)
        columns: dict[str, Any] = {
            self.domain[i].name: pd.Categorical.from_codes(
                codes,
                categories=_categories(self.domain[i]),
                ordered=self.domain[i].kind != "categorical",
            )
            for i, codes in zip(self.attrs, index, strict=True)
        }
        columns[self.column("count")] = self.values.ravel()
        if self.std is not None:
            columns[self.column("std")] = self.std
        return pd.DataFrame(columns, index=pd.RangeIndex(self.values.size))

    def __repr__(self) -> str:
        noise = "post-processed" if self.std is None else f"std {self.std:.3g} a cell"
        return f"Estimate({self.label}, {self.values.size:,} cells, {noise})"


def _categories(attribute: Attribute) -> Any:
    """The values of an attribute as pandas types."""
    import pandas as pd

    known: list[Any] = []
    if attribute.edges is not None:
        bins = list(pairwise(map(float, attribute.edges)))
        known = [pd.Interval(*ends, closed="left") for ends in bins[:-1]]
        known.append(pd.Interval(*bins[-1], closed="both"))  # the last bin holds both its edges
    elif attribute.bounds is not None:
        known = list(range(attribute.bounds[0], attribute.bounds[1] + 1))
    return [*known, *attribute.labels[len(known) :]]


def _check_noisy(attrs: AttributeSet, values: FloatArray, precision: float) -> None:
    if np.ndim(values) != len(attrs):
        raise DomainError(
            f"The residual over {attrs} has {np.ndim(values)} axes; {len(attrs)} are needed.",
            code="E_SHAPE",
        )
    if not np.isfinite(values).all():
        raise DomainError(
            f"The residual over {attrs} holds values that are no finite numbers; they are noisy "
            "counts. Correct them.",
            code="E_SHAPE",
        )
    if not (0 < precision < float("inf")):
        raise DomainError(
            f"The residual over {attrs} has precision {precision!r}; a positive number is needed.",
            code="E_SHAPE",
        )
