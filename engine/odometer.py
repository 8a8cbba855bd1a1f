"""What all runs on one table have cost together: it lives with the table, not with a state.

A state can be stepped twice, forked, or given another budget; its ledger knows one way only. The
odometer counts each charge at the moment it is made, before noise is drawn, whoever holds the
state. It counts within this process; an account of releases (``engine.releasing``) outlives it.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from numpy.typing import NDArray

from engine.accounting import Charge, Ledger, exact_sum
from engine.errors import DataError

LEAST_WORDS = 3
"""Fewest words that say that a table is public."""
Likeness: TypeAlias = frozenset[bytes]
"""A hash of each column, by which the same records read a second time are known again."""
_KEY = os.urandom(32)
"""Of this process: the hashes say nothing to anybody else, and are written nowhere."""
_BLOCK = 1 << 20


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


def likeness(columns: Iterable[tuple[str, NDArray[Any]]]) -> dict[str, bytes]:
    """Return a hash of each column of codes with its name, under a key of this process."""
    found = {}
    for name, codes in columns:
        seen = hashlib.blake2b(name.encode(), key=_KEY)
        for start in range(0, len(codes), _BLOCK):
            seen.update(codes[start : start + _BLOCK].astype("<u4").tobytes())
        found[name] = seen.digest()
    return found


class Memory:
    """Which records this process has released, shown, or been told to be public.

    A table that is read a second time has an odometer of its own. If all its columns are columns of
    one that is known here, it is the same table.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, set[Likeness]] = {"protected": set(), "looked": set()}
        self._public: dict[Likeness, str] = {}

    def add(self, what: str, mine: Likeness) -> None:
        """Remember records."""
        with self._lock:
            self._known[what].add(mine)

    def has(self, what: str, mine: Callable[[], Likeness]) -> bool:
        """Whether records are remembered; nothing is hashed where none are."""
        with self._lock:
            known = list(self._known[what])
        return bool(known) and _within(mine(), known)

    def declare_public(self, mine: Likeness, statement: str) -> None:
        """Remember what was said of records."""
        with self._lock:
            self._public[mine] = statement

    def public(self, mine: Callable[[], Likeness]) -> bool:
        """Whether somebody said that they are public."""
        with self._lock:
            known = list(self._public)
        return bool(known) and _within(mine(), known)

    def forget(self) -> None:
        """Begin again: for tests, which use one table for many things."""
        with self._lock:
            self._public.clear()
            for known in self._known.values():
                known.clear()


_AT_ONCE = 4096
"""Charges that wait to be added up."""


def _within(mine: Likeness, known: Sequence[Likeness]) -> bool:
    return bool(mine) and any(mine <= other for other in known)


MEMORY = Memory()


class Odometer:
    """Counts every charge on a table once; branches of a fork add up."""

    __slots__ = (
        "_charged", "_columns", "_lock", "_looked", "_protected", "_public", "_runs", "_seeds",
        "_seen", "_spent", "_tallies",
    )  # fmt: skip

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Of the records in memory, which live no longer for it, and the hashes of those seen.
        self._columns: list[tuple[tuple[str, ...], weakref.ref[NDArray[Any]]]] = []
        self._seen: dict[str, bytes] = {}
        self._spent = Fraction(0)
        self._charged: list[Fraction] = []  # and not yet added up: one sum of many costs less
        self._runs: set[str] = set()
        self._seeds: dict[int, set[object]] = {}
        self._tallies = threading.local()
        self._protected = False
        self._looked = False
        self._public: str | None = None

    def of(self, names: Sequence[str], codes: NDArray[Any]) -> None:
        """Learn where records are, by which they are known again when they are read once more.

        Shapes:
            codes: (attributes, records).
        """
        with self._lock:
            alive = [(known, ref) for known, ref in self._columns if ref() is not None]
            self._columns = [*alive, (tuple(names), weakref.ref(codes))]

    def add(self, ledger: Ledger, charges: Sequence[Charge]) -> None:
        """Count charges that a ledger has taken."""
        with self._lock:
            self._charged += [charge.rho for charge in charges]
            if len(self._charged) > _AT_ONCE:
                self._add_up()
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
            self._add_up()
            return Reading(self._spent, len(self._runs))

    def _add_up(self) -> None:
        self._spent = exact_sum([self._spent, *self._charged])
        self._charged.clear()

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
        if mine := self._mine():
            MEMORY.add("protected", mine)

    def declare_public(self, statement: str) -> None:
        """Take somebody's word that the table is public.

        Raises:
            DataError: If it is not said in words (``E_PROTECTED``).
        """
        self._public = in_words(statement)
        if mine := self._mine():
            MEMORY.declare_public(mine, statement)

    @property
    def looked(self) -> bool:
        """Whether true values were shown, or rehearsals made, of a table that is not public."""
        return (self._looked or self._has("looked")) and not self._is_public()

    def check_may_rehearse(self) -> None:
        """Refuse whatever shows true values, or spends beside the account, of a released table.

        Raises:
            DataError: If the table was released, and nobody said that it is public
                (``E_PROTECTED``).
        """
        if (self._protected or self._has("protected")) and not self._is_public():
            raise DataError(
                "A private release was made of this table, so its true values are not shown and no "
                "rehearsal is made of it. If the table is public, say so in words: "
                'table.declare_public("..."), or --public "..." after a command.',
                code="E_PROTECTED",
            )
        self.look()

    def look(self) -> None:
        """Remember that true values are shown, or a rehearsal is made."""
        if not self._looked and (mine := self._mine()):
            MEMORY.add("looked", mine)
        self._looked = True

    def _mine(self) -> Likeness:
        """Hashes of all columns; those of attributes that were chosen from it are among them."""
        with self._lock:
            for names, ref in self._columns:
                codes = ref()
                if codes is not None and not self._seen.keys() >= set(names):
                    self._seen.update(likeness(zip(names, codes, strict=True)))
            return frozenset(self._seen.values())

    def _has(self, what: str) -> bool:
        return MEMORY.has(what, self._mine)

    def _is_public(self) -> bool:
        return self._public is not None or MEMORY.public(self._mine)

    def _listening(self) -> list[Tally]:
        found: list[Tally] = getattr(self._tallies, "open", [])
        return found

    def __repr__(self) -> str:
        return f"Odometer({self.reading()})"
