"""A release: everything that may leave a run, how it answers, and its JSON form.

It is made of released values and public settings only, so every answer is post-processing and free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from engine import compiling, grem
from engine.accounting import Ledger, epsilon_from, rho_from
from engine.completing import keeping
from engine.completing.completed import Completed, Kind
from engine.completing.sureness import DRAWS, Interval, Sureness
from engine.completing.totals import LOWERED, UNBIASED, Total
from engine.domain import Domain
from engine.errors import BudgetError, DataError, EngineError, OptionError, WorkloadError
from engine.noise import Receipt
from engine.odometer import Reading
from engine.released import Beliefs, Estimate, Measurement
from engine.trace import charges_from, ledger_to_dict
from engine.types import AttributeSet
from engine.workload import Workload

FORMAT = "aim-grem-release/1"
SEED_REPEATED = (
    "Another run on this table had the same seed: their noise cancels, and the two together give "
    "the table away, even to people who do not know the seed."
)
WHAT_IF = "Its budget was changed after the fact: it shows what might have been."


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
        completion: How estimates answer: ``"maxent"`` completes what was not measured, ``"sparse"``
            believes a table's own zeros too, None counts it as zero (GReM).
        total: What completed tables add up to: the estimated number of records (``"unbiased"``), or
            one lowered on purpose (``"lowered"``).
        table: What the table had spent in all runs when this one ended; None where nobody said.
        seed_repeated: Whether another run on the table had the same seed.

    That noise was exact is shown by a receipt of the source that drew it (``drawn_exactly``), which
    no argument here can stand for. A release made by hand, copied with changes, or read from a file
    has none.

    Raises:
        BudgetError: If epsilon at delta is less than the ledger proves (``E_EPSILON``).
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
    table: Reading | None = None
    seed_repeated: bool = False
    _receipt: Receipt | None = field(default=None, init=False, repr=False, compare=False)
    _read: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.epsilon is not None and self.delta is not None:
            _check_promise(self.rho_of_a_person, self.epsilon, self.delta)

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
        reasons = self._reasons()
        if self.as_read:
            reasons.append(
                "It is as read from a file, not verified: whoever wrote the file may have changed "
                "it."
            )
        elif not self.rehearsal and self._receipt is None:
            reasons.append(
                "Nothing shows that its noise was exact: it was made by hand, or copied."
            )
        return tuple(reasons)

    @property
    def as_read(self) -> bool:
        """Whether it was read from a file, so that nothing is known of how it was made."""
        return self._read

    def _reasons(self) -> list[str]:
        """What the release itself says, which is written to its file."""
        reasons = []
        if self.rehearsal:
            reasons.append("The noise is a rehearsal's: whoever can repeat it can subtract it.")
        if self.seed_repeated:
            reasons.append(SEED_REPEATED)
        if self.ledger.what_if:
            reasons.append(WHAT_IF)
        if self.domain.read_from_data:
            reasons.append(
                "The lists of values were read from the data. That alone can reveal a person."
            )
        return reasons

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
        layout = self.workload.layout
        with compiling.sized(layout.total_cells):
            if self.completion is None:
                return grem.estimate(self.beliefs, self.domain, attrs)
            return keeping.estimate_of(self._tables(), self.domain, attrs)

    def _tables(self) -> Completed:
        kind: Kind = "sparse" if self.completion == "sparse" else "maxent"
        return keeping.kept(self.workload.layout, self.beliefs, self.total, kind)

    def sureness(self, *, seed: int = 0, draws: int = DRAWS) -> Sureness:
        """Say how sure the answers are, from released values alone: it costs no budget.

        Args:
            seed: Of the made-up worlds; the same seed gives the same intervals.
            draws: How many worlds; each costs about what completing the release costs.

        Raises:
            OptionError: If the seed is no whole number, or draws are fewer than 2.
        """
        with compiling.sized(self.workload.layout.total_cells):
            tables = None if self.completion is None else self._tables()
        return Sureness(tables, self._estimate, seed=seed, draws=draws)

    def interval(self, *attributes: str | int, level: float = 0.9, seed: int = 0) -> Interval:
        """Return an interval for each cell of a marginal; ``why`` where it is not known.

        For many marginals, make ``sureness`` once and ask it.

        Args:
            *attributes: As for ``estimate``.
            level: Share of true cells that intervals are meant to hold.
            seed: Of the made-up worlds.

        Raises:
            DomainError: If a name is unknown or repeated.
            WorkloadError: If the set is not within the workload's closure.
            OptionError: If the level is not between 0 and 1.
        """
        attrs = self.estimate(*attributes).attrs
        return self.sureness(seed=seed).interval(attrs, level=level)

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain JSON values, every number to the last digit."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "demonstration": self._reasons(),
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
        if self.table is not None:
            content["table"] = {"rho_spent": str(self.table.rho), "runs": self.table.runs}
        if self.seed_repeated:
            content["seed_repeated"] = True
        return content

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
            read = cls(
                workload=workload,
                beliefs=_beliefs_from(content["residuals"], workload),
                ledger=_ledger_from(content["ledger"]),
                mechanism=str(content["mechanism"]),
                rehearsal=bool(content["rehearsal"]),
                epsilon=content["epsilon"],
                delta=content["delta"],
                completion=_completion_from(content.get("completion")),
                total=_total_from(content),
                table=_reading_from(content.get("table")),
                seed_repeated=bool(content.get("seed_repeated", False)),
            )
            object.__setattr__(read, "_read", True)
            return read
        except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            # The engine's own refusals are ValueErrors too: each says what is wrong.
            reason = str(error) if isinstance(error, EngineError) else repr(error)
            raise DataError(
                f"The release cannot be read ({reason.removesuffix('.')}). Give what "
                "Release.to_dict wrote.",
                code="E_FORMAT",
            ) from None

    def promised(self, *, epsilon: float, delta: float) -> Release:
        """Return the release with the (epsilon, delta) promise it was made for.

        Raises:
            BudgetError: If epsilon at delta is less than the ledger proves (``E_EPSILON``).
        """
        return self._with(epsilon=epsilon, delta=delta)

    def beside(self, table: Reading) -> Release:
        """Return the release with what its table has spent in all runs."""
        return self._with(table=table)

    def with_repeated_seed(self) -> Release:
        """Return the release marked: another run on the table had the same seed."""
        return self._with(seed_repeated=True)

    def drawn_exactly(self, receipt: Receipt) -> Release:
        """Return the release with the receipt of the source that drew its noise.

        Raises:
            OptionError: If the receipt is for other charges than the ledger's, or the run was a
                rehearsal (``E_RECEIPT``).
        """
        if self.rehearsal or tuple(receipt.charges) != self.ledger.entries:
            raise OptionError(
                "The receipt of the exact noise is not of this run: it is for other charges. Give "
                "the source that drew this release's noise.",
                code="E_RECEIPT",
            )
        shown = self._with()
        object.__setattr__(shown, "_receipt", receipt)
        return shown

    def _with(self, **changes: Any) -> Release:
        """A copy that is known to be of the same run, with its receipt."""
        copied = replace(self, **changes)
        object.__setattr__(copied, "_receipt", self._receipt)
        object.__setattr__(copied, "_read", self._read)
        return copied

    def __repr__(self) -> str:
        stamp = "DEMONSTRATION, " if self.demonstration else ""
        spent = float(self.ledger.spent)
        return f"Release({stamp}{self.mechanism}, {self.workload!r}, rho spent {spent:.6g})"


def _check_promise(rho: Fraction, epsilon: float, delta: float) -> None:
    """Refuse an epsilon below what so much rho proves at this delta."""
    if rho <= 0 or Fraction(rho_from(epsilon=epsilon, delta=delta)) >= rho:
        return
    # The two conversions are rounded to opposite sides; either of them proves the promise.
    proved = epsilon_from(rho=rho, delta=delta)
    if epsilon < proved:
        raise BudgetError(
            f"The ledger holds rho = {float(rho):.6g} for a person, which proves epsilon = "
            f"{proved:.6g} at delta = {delta:g}; epsilon = {epsilon:g} is less. Promise "
            f"{proved:.6g} or more.",
            code="E_EPSILON",
        )


def _ledger_from(content: Mapping[str, Any]) -> Ledger:
    ledger = Ledger(Fraction(content["total"])).charge(*charges_from(content["entries"]))
    return ledger.what_if_total(ledger.total) if content.get("what_if") else ledger


def _reading_from(content: Mapping[str, Any] | None) -> Reading | None:
    if content is None:
        return None
    return Reading(Fraction(content["rho_spent"]), int(content["runs"]))


def _completion_from(name: object) -> str | None:
    if name is not None and name not in get_args(Kind):
        raise DataError(f"There is no completion {name!r}.")
    return None if name is None else str(name)


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
