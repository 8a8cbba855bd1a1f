"""What all runs on one table have cost together: it lives with the table, not with a state.

A state can be stepped twice, forked, or given another budget; its ledger knows one way only. The
odometer counts each charge at the moment it is made, before noise is drawn, whoever holds the
state. It counts within this process; an account of releases (``engine.releasing``) outlives it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from engine.accounting import Charge, Ledger, exact_sum
from engine.errors import DataError

LEAST_WORDS = 3
"""Fewest words that say that a table is public."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a table has spent so far, in rho of a record, and in how many runs."""

    rho: Fraction
    runs: int

    def __str__(self) -> str:
        runs = "1 run" if self.runs == 1 else f"{self.runs:,} runs"
        return f"rho = {float(self.rho):.6g} in {runs}"


@dataclass(slots=True)
class Tally:
    """What was charged and released meanwhile, in this thread."""

    charges: list[Charge] = field(default_factory=list)
    released: list[Any] = field(default_factory=list)


def in_words(statement: object) -> str:
    """Return a statement that says in words that a table is public.

    Raises:
        DataError: If it does not (``E_PROTECTED``).
    """
    if not isinstance(statement, str) or len(statement.split()) < LEAST_WORDS:
        raise DataError(
            f"That the table is public must be said in words, at least {LEAST_WORDS} of them, "
            'such as "published by the census office in 1994". Say who published it.',
            code="E_PROTECTED",
        )
    return statement


class Odometer:
    """Counts every charge on a table once; branches of a fork add up."""

    __slots__ = (
        "_lock", "_looked", "_protected", "_public", "_runs", "_seeds", "_spent", "_tallies",
    )  # fmt: skip

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent = Fraction(0)
        self._runs: set[str] = set()
        self._seeds: dict[int, set[object]] = {}
        self._tallies = threading.local()
        self._protected = False
        self._looked = False
        self._public: str | None = None

    def add(self, ledger: Ledger, charges: Sequence[Charge]) -> None:
        """Count charges that a ledger has taken."""
        with self._lock:
            self._spent = exact_sum([self._spent, *(charge.rho for charge in charges)])
            self._runs.add(ledger.run)
        for tally in self._listening():
            tally.charges.extend(charges)

    def released(self, *values: object) -> None:
        """Tell whoever listens what was drawn."""
        for tally in self._listening():
            tally.released.extend(values)

    def reading(self) -> Reading:
        """Return what all runs have cost so far."""
        with self._lock:
            return Reading(self._spent, len(self._runs))

    @contextmanager
    def listening(self, mine: Tally) -> Iterator[None]:
        """Write down what this thread charges and releases meanwhile."""
        self._tallies.open = [*self._listening(), mine]
        try:
            yield
        finally:
            self._tallies.open = [tally for tally in self._listening() if tally is not mine]

    def repeats(self, seed: int, settings: object) -> bool:
        """Remember a run's seed; whether another run on this table had it.

        The very same run again tells nothing new. Another run with the same random numbers does:
        the difference of their answers is free of noise, and the table follows from a few of them.
        """
        with self._lock:
            known = self._seeds.setdefault(seed, set())
            others = bool(known - {settings})
            known.add(settings)
        return others

    def protect(self) -> None:
        """From now on nothing but releases may be made of the table, unless it is public."""
        self._protected = True

    def declare_public(self, statement: str) -> None:
        """Take somebody's word that the table is public.

        Raises:
            DataError: If it is not said in words (``E_PROTECTED``).
        """
        self._public = in_words(statement)

    @property
    def looked(self) -> bool:
        """Whether true values were shown, or rehearsals made, of a table that is not public."""
        return self._looked and self._public is None

    def check_may_rehearse(self) -> None:
        """Refuse whatever shows true values, or spends beside the account, of a released table.

        Raises:
            DataError: If the table was released, and nobody said that it is public
                (``E_PROTECTED``).
        """
        if self._protected and self._public is None:
            raise DataError(
                "A private release was made of this table, so its true values are not shown and no "
                "rehearsal is made of it. If the table is public, say so in words: "
                "table.declare_public(...).",
                code="E_PROTECTED",
            )
        self._looked = True

    def _listening(self) -> list[Tally]:
        found: list[Tally] = getattr(self._tallies, "open", [])
        return found

    def __repr__(self) -> str:
        return f"Odometer({self.reading()})"
