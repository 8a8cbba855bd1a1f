"""A release: everything that may leave a run, how it answers, and its JSON form.

It is made of released values and public settings only, so every answer is post-processing and free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from engine import grem
from engine.accounting import Ledger
from engine.completing import completed
from engine.completing.totals import LOWERED, UNBIASED, Total
from engine.domain import Domain
from engine.errors import DataError, EngineError, WorkloadError
from engine.released import Beliefs, Estimate, Measurement
from engine.trace import charges_from, ledger_to_dict
from engine.types import AttributeSet
from engine.workload import Workload

FORMAT = "aim-grem-release/1"


@dataclass(frozen=True, slots=True)
class Release:
    """Everything that may leave a run: residual estimates, settings and the ledger.

    Args:
        workload: What was asked for, and of which domain.
        beliefs: Every residual estimate with its precision.
        ledger: What was charged, exactly.
        mechanism: Name and options.
        rehearsal: True as long as the noise is a demonstration's: no private release then.
        epsilon: The promise asked for, if it was given as (epsilon, delta).
        delta: Its other half.
        completion: How estimates answer: ``"maxent"`` completes what was not measured, None counts
            it as zero (GReM).
        total: What completed tables add up to: the estimated number of records (``"unbiased"``), or
            one lowered on purpose (``"lowered"``).
    """

    workload: Workload
    beliefs: Beliefs
    ledger: Ledger
    mechanism: str
    rehearsal: bool
    epsilon: float | None = None
    delta: float | None = None
    completion: str | None = None
    total: Total = UNBIASED

    @property
    def domain(self) -> Domain:
        """The declared domain."""
        return self.workload.domain

    @property
    def rho_of_a_person(self) -> Fraction:
        """What was spent on one person with as many rows as one may have: k² times the ledger's."""
        return self.ledger.spent * self.domain.rows_per_person**2

    @property
    def demonstration(self) -> tuple[str, ...]:
        """Why this is a demonstration and not a private release; empty if it is one."""
        reasons = []
        if self.rehearsal:
            reasons.append("The noise is a rehearsal's: whoever can repeat it can subtract it.")
        if self.domain.read_from_data:
            reasons.append(
                "The lists of values were read from the data. That alone can reveal a person."
            )
        return tuple(reasons)

    def estimate(self, *attributes: str | int) -> Estimate:
        """Answer any marginal of the workload's closure; no name at all asks for the total.

        Args:
            *attributes: Names (or positions), in any order; the answer is in domain order.

        Raises:
            DomainError: If a name is unknown or repeated.
            WorkloadError: If the set is not within the workload's closure.
        """
        attrs = self.domain.attrs(*attributes)
        if attrs not in self.workload.layout.index:
            raise WorkloadError(
                f"The marginal over {self.domain.label(attrs)} is no subset of a workload "
                "marginal. Ask for one that is, or run again with a workload that holds it."
            )
        return self._estimate(attrs)

    def estimates(self) -> Iterator[Estimate]:
        """Answer the workload's marginals one by one, in order."""
        return map(self._estimate, self.workload.weights)

    def _estimate(self, attrs: AttributeSet) -> Estimate:
        if self.completion is None:
            return grem.estimate(self.beliefs, self.domain, attrs)
        tables = completed.kept(self.workload.layout, self.beliefs, self.total)
        return completed.estimate_of(tables, self.domain, attrs)

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain JSON values, every number to the last digit."""
        return {
            "format": FORMAT,
            "demonstration": list(self.demonstration),
            "mechanism": self.mechanism,
            "rehearsal": self.rehearsal,
            "completion": self.completion,
            "total": self.total,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": "tables that differ by adding or removing one record",
            "domain_sha256": self.domain.hash,
            "domain": self.domain.to_dict(),
            "workload": [[list(a), w] for a, w in self.workload.weights.items()],
            "ledger": ledger_to_dict(self.ledger),
            "residuals": [
                {"attrs": list(a), "precision": b.precision, "values": b.values.tolist()}
                for a, b in self.beliefs.items()
            ],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Release:
        """Read what ``to_dict`` wrote; equal to the last digit.

        Raises:
            DataError: If the content is no release.
        """
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise DataError(f'This is no release: "format" is not "{FORMAT}".', code="E_FORMAT")
        try:
            domain = Domain.from_dict(content["domain"])
            weights = {tuple(attrs): weight for attrs, weight in content["workload"]}
            workload = Workload(weights, domain)
            return cls(
                workload=workload,
                beliefs=_beliefs_from(content["residuals"], workload),
                ledger=_ledger_from(content["ledger"]),
                mechanism=str(content["mechanism"]),
                rehearsal=bool(content["rehearsal"]),
                epsilon=content["epsilon"],
                delta=content["delta"],
                completion=_completion_from(content.get("completion")),
                total=_total_from(content),
            )
        except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            # The engine's own refusals are ValueErrors too: each says what is wrong.
            reason = str(error) if isinstance(error, EngineError) else repr(error)
            raise DataError(f"The release cannot be read: {reason}", code="E_FORMAT") from None

    def promised(self, *, epsilon: float, delta: float) -> Release:
        """Return the release with the (epsilon, delta) promise it was made for."""
        return replace(self, epsilon=epsilon, delta=delta)

    def __repr__(self) -> str:
        stamp = "DEMONSTRATION, " if self.demonstration else ""
        spent = float(self.ledger.spent)
        return f"Release({stamp}{self.mechanism}, {self.workload!r}, rho spent {spent:.6g})"


def _ledger_from(content: Mapping[str, Any]) -> Ledger:
    return Ledger(Fraction(content["total"])).charge(*charges_from(content["entries"]))


def _completion_from(name: object) -> str | None:
    if name not in (None, "maxent"):
        raise DataError(f"There is no completion {name!r}.")
    return None if name is None else "maxent"


def _total_from(content: Mapping[str, Any]) -> Total:
    # Before it could be chosen, completed tables added up to a lowered total.
    before = UNBIASED if content.get("completion") is None else LOWERED
    name = content.get("total", before)
    if name not in (UNBIASED, LOWERED):
        raise DataError(f"There is no total {name!r}.")
    return UNBIASED if name == UNBIASED else LOWERED


def _beliefs_from(items: list[dict[str, Any]], workload: Workload) -> Beliefs:
    measured = []
    for item in items:
        attrs = tuple(item["attrs"])
        if attrs not in workload.layout.index:
            raise DataError(f"There is a residual over {attrs}, which the workload does not hold.")
        shape = tuple(n - 1 for n in workload.domain.shape(attrs))
        values = np.array(item["values"], dtype=float).reshape(shape)
        if not np.isfinite(values).all():
            raise DataError(f"The residual over {attrs} holds values that are not finite.")
        measured.append(Measurement(attrs, values, item["precision"]))
    return Beliefs().combined(measured)
