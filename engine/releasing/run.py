"""Release marginals of a table: the mechanisms that rehearse, with exact noise that is accounted.

There is no seed, no true value beside the release and no domain read from the rows; the account is
charged before anything is drawn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.accounting import rho_from
from engine.checking import expect
from engine.completing.release import Release
from engine.errors import AccountError, DataError, DomainError, OptionError, WorkloadError
from engine.mechanisms.aim_grem import AimGrem
from engine.mechanisms.base import rounds, settings_of
from engine.mechanisms.fixed_sequence import FixedSequence
from engine.mechanisms.mwem_grem import MwemGrem
from engine.mechanisms.one_shot import EqualSplit, ResidualPlanner, Uniform
from engine.releasing.account import OpenRelease, TableAccount
from engine.releasing.source import AccountedNoise, check_sampler
from engine.tables import CountSource, Private
from engine.trace import Event, Finished
from engine.version import __version__
from engine.workload import Workload

MECHANISMS = (AimGrem, MwemGrem, ResidualPlanner, EqualSplit, Uniform, FixedSequence)
"""What may be released: all they do with the records goes through ``measure`` and ``select``."""


class CancelledError(AccountError):
    """A release that was cancelled: what was charged stands, and nothing of it is returned."""

    def __init__(self) -> None:
        super().__init__(
            "The release was cancelled. What was charged until then stays in the account; the rest "
            "is free again.",
            code="E_CANCELLED",
        )


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the account says of a finished release; nothing in it depends on the records.

    Args:
        table_id: Hash of the custodian's secret and the table's name.
        release: The release's own name.
        entry: Number and hash of the account's entry that ended it.
        rho_of_a_person: What it cost one person.
        spent: What all releases of the table have cost one person, with this one.
        total: What they may cost.
        sampler: Whose samplers drew.
        looked: Whether true values of the table were shown, or rehearsals made of it, in the same
            process before; a release cannot know of other processes.
    """

    table_id: str
    release: str
    entry: tuple[int, str]
    rho_of_a_person: Fraction
    spent: Fraction
    total: Fraction
    sampler: str
    looked: bool = False


@dataclass(frozen=True, slots=True)
class Released:
    """A private release, how it came about, and what the account says of it."""

    release: Release
    events: tuple[Event, ...]
    receipt: Receipt

    def __repr__(self) -> str:
        return f"Released({self.release!r}, entry {self.receipt.entry[0]} of the account)"


def release(
    mechanism: Any,
    table: CountSource,
    workload: Workload,
    *,
    epsilon: float,
    delta: float,
    account: TableAccount,
    sampler: str = "engine",
    resume: str | None = None,
    progress: Callable[[float, Event | None], None] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Released:
    """Release marginals of a table under differential privacy, for good.

    Noise is exact and comes from the operating system. There is no seed: a release cannot be
    repeated, and should not be. Each release of a table adds to its account; one that was
    interrupted can be resumed, and what was charged stands either way. From then on this table's
    true values and rehearsals are refused, unless ``table.declare_public`` says why not.

    Args:
        mechanism: One of AimGrem, MwemGrem, ResidualPlanner, EqualSplit, Uniform, FixedSequence.
        table: The private records. Their domain must be declared, not read from them.
        workload: The marginals wanted, chosen without looking at the records.
        epsilon: The promise to one person, with ``delta``.
        delta: Its other half.
        account: The table's account: ``Account(path).table(name, secret=...)``.
        sampler: ``"engine"``, or ``"opendp"`` for OpenDP's samplers (the extra ``release``).
        resume: Name of an interrupted release (``account.unfinished``) to go on with.
        progress: Called with the share of the budget that is drawn: after each event with the
            event, before each draw and several times a second in a long one with None.
        cancel: Asked as often; once it says true the release ends, and is abandoned.

    Raises:
        OptionError: If the mechanism cannot be released, or the sampler is none.
        DomainError: If the domain was read from the records (``E_DOMAIN_REQUIRED``).
        BudgetError: If epsilon or delta is none, or the account has too little left
            (``E_OVERSPEND``).
        AccountError: If the account cannot be used, or the release to resume was another.
        CancelledError: If ``cancel`` said so.
    """
    # Long: a release in its order: what is charged before what is drawn is read here.
    _check(mechanism, workload)
    expect(
        account, TableAccount, "a table's account",
        'Write Account("account.db").table("people", secret=...).',
    )  # fmt: skip
    check_sampler(sampler)
    rho = Fraction(rho_from(epsilon=epsilon, delta=delta))
    settings = _settings(mechanism, workload, float(epsilon), float(delta), sampler)
    opened, private = _opened(account, rho, settings, resume), Private(table)
    # From here on its true values are not shown, unless somebody says that it is public.
    looked = private.odometer.looked
    account.watch(private)
    times = workload.domain.rows_per_person**2
    course = _Course(float(rho / times), progress, cancel)
    rng = AccountedNoise(opened, times=times, sampler=sampler, told=course.drawn)
    events: list[Event] = []
    state: Any = None
    try:
        for state, event in rounds(mechanism, private, workload, rho=rho, rng=rng):
            events.append(event)
            course.event(float(mechanism.release(state).ledger.spent), event)
    except (DataError, OptionError, WorkloadError, CancelledError):
        # Refused, or not wanted any more: to be resumed by nobody.
        account.abandon(opened.release)
        raise
    made = mechanism.release(state)
    drawn = rng.receipt()
    # A transcript that is repeated was not drawn, and has no receipt.
    made = made if drawn is None else made.drawn_exactly(drawn)
    made = made.promised(epsilon=float(epsilon), delta=float(delta))
    entry = opened.close(spent=made.rho_of_a_person, looked=looked)
    receipt = Receipt(
        account.table_id, opened.release, (entry.number, entry.hash), made.rho_of_a_person,
        account.spent, account.total, sampler, looked,
    )  # fmt: skip
    return Released(made, tuple(events), receipt)


class _Course:
    """Tells how far a release is, and ends it when asked to."""

    def __init__(
        self,
        total: float,
        progress: Callable[[float, Event | None], None] | None,
        cancel: Callable[[], bool] | None,
    ) -> None:
        self._total, self._progress, self._cancel = total, progress, cancel
        self._share = 0.0

    def drawn(self, rho: float) -> None:
        """So much of a record's rho is drawn."""
        self._tell(rho, None)
        if self._cancel is not None and self._cancel():
            raise CancelledError

    def event(self, rho: float, event: Event) -> None:
        """Something happened; what is finished cannot be cancelled any more."""
        self._tell(rho, event)
        if self._cancel is not None and not isinstance(event, Finished) and self._cancel():
            raise CancelledError

    def _tell(self, rho: float, event: Event | None) -> None:
        # Sums of floating-point numbers in another order: it never goes back.
        self._share = max(self._share, min(rho / self._total, 1.0))
        if self._progress is not None:
            self._progress(self._share, event)


def _check(mechanism: object, workload: Workload) -> None:
    if type(mechanism) not in MECHANISMS:
        names = ", ".join(kind.__name__ for kind in MECHANISMS)
        raise OptionError(
            f"{type(mechanism).__name__} cannot be released: not all that it does with the records "
            f"is accounted for exactly. Take one of {names}.",
            code="E_MECHANISM",
        )
    if workload.domain.read_from_data:
        raise DomainError(
            "The domain was read from the records, which alone can reveal a person. Declare every "
            "attribute's values from what is known without looking, then release.",
            code="E_DOMAIN_REQUIRED",
        )


def _settings(
    mechanism: Any, workload: Workload, epsilon: float, delta: float, sampler: str
) -> dict[str, Any]:
    """What a release was opened with: public, and what one must repeat to resume it."""
    wanted = json.dumps([[list(a), w] for a, w in workload.weights.items()])
    return {
        "mechanism": settings_of(mechanism),
        "epsilon": epsilon,
        "delta": delta,
        "domain_sha256": workload.domain.hash,
        "workload_sha256": hashlib.sha256(wanted.encode()).hexdigest(),
        "sampler": sampler,
        "engine": __version__,
    }


def _opened(
    account: TableAccount, rho: Fraction, settings: dict[str, Any], resume: str | None
) -> OpenRelease:
    if resume is None:
        return account.begin(rho=rho, settings=settings)
    opened = account.resume(resume)
    before, _, _ = opened.recorded()
    differing = sorted(key for key in settings if before.get(key) != settings[key])
    if differing:
        raise AccountError(
            f"The release cannot be resumed: {', '.join(differing)} differ from when it was "
            "opened. Resume it with the same settings, or abandon it; its charges stand.",
            code="E_RELEASE",
        )
    return opened
