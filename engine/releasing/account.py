"""What all releases of a table have cost together: an account that never says too little.

Every charge is on the disk before what it pays for is drawn. A table is known by the hash of its
name with a secret that its custodian declares, never by its rows. While a release is open, all that
it may spend counts as spent; afterwards, what it did spend.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.accounting import Charge, checked_rho, exact_sum
from engine.errors import AccountError, BudgetError
from engine.odometer import in_words
from engine.releasing import chain
from engine.releasing.chain import Entry
from engine.tables import CountSource, Private

if TYPE_CHECKING:
    from engine.releasing.store import Book

LEAST_SECRET = 16
"""Fewest characters of the secret: names alone can be guessed."""


class Account:
    """An account in a file, or on a server for several; ``Account.create`` makes a new one.

    Args:
        where: The file, or an address such as ``postgresql://user@host/database`` (the extra
            ``team``). A missing one is refused and never made anew: what was spent would be
            forgotten.

    Raises:
        AccountError: If it is missing, cannot be used, or its chain is broken (``E_ACCOUNT``).
    """

    def __init__(self, where: str | Path) -> None:
        from engine.releasing.store import Store  # SQLAlchemy: whoever rehearses does without

        self.store = Store(where)
        self.path = self.store.path
        if self.path is not None and not self.path.is_file():
            raise AccountError(
                f"There is no account {self.path.name!r}. Give the right path; or, if this is the "
                "first release ever, make one: Account.create(path)."
            )
        self.verify()

    @classmethod
    def create(cls, where: str | Path) -> Account:
        """Make a new, empty account.

        Raises:
            AccountError: If there is one already, or none can be made.
        """
        from engine.releasing import store

        store.create(where)
        return cls(where)

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries in order, the chain checked.

        Raises:
            AccountError: If the chain is broken (``E_ACCOUNT``).
        """
        with self.store.reading() as book:
            return book.every()

    def verify(self) -> int:
        """Check the whole chain and return the number of entries.

        Raises:
            AccountError: With the first entry that does not fit (``E_ACCOUNT``).
        """
        return len(self.entries())

    def tables(self) -> tuple[TableAccount, ...]:
        """Return the account of every table, without a secret: to read, and to abandon."""
        names = {e.table_id: e.note["name"] for e in self.entries() if e.kind == "table"}
        return tuple(TableAccount(self, identity, name) for identity, name in names.items())

    def table(
        self, name: str, *, secret: str, total: float | Fraction | None = None
    ) -> TableAccount:
        """Return the account of a table, which begins with its first mention.

        Args:
            name: What the custodian calls the table; all its versions have one name.
            secret: Text that only the custodian knows; with the name it identifies the table.
            total: Most rho that all its releases together may cost a person. Needed at first; a
                later one takes its place, and both stay in the account.

        Raises:
            AccountError: If the secret is too short, or the table is new and no total is given.
            BudgetError: If the total is none (``E_RHO``).
        """
        if not isinstance(secret, str) or len(secret) < LEAST_SECRET:
            raise AccountError(
                f"The secret is too short to hide a name; {LEAST_SECRET} characters are needed. "
                "Take them from a password manager, and keep them there."
            )
        identity = hmac.new(secret.encode(), name.encode(), hashlib.sha256).hexdigest()
        wanted = None if total is None else checked_rho(total)
        with self.store.writing() as book:
            known = [e for e in book.every() if e.kind == "table" and e.table_id == identity]
            if wanted is None and not known:
                raise AccountError(
                    f"The account does not know a table {name!r} with this secret. Give a total if "
                    "it is new; otherwise correct the name or the secret."
                )
            if wanted is not None and not (known and known[-1].rho == wanted):
                book.append("table", identity, rho=wanted, note={"name": name})
        return TableAccount(self, identity, name)

    def __repr__(self) -> str:
        return f"Account({self.store.name!r})"


@dataclass(frozen=True, slots=True)
class TableAccount:
    """The account of one table."""

    account: Account
    table_id: str
    name: str

    @property
    def total(self) -> Fraction:
        """Most rho that all releases together may cost a person."""
        return chain.total_of(self.account.entries(), self.table_id)

    @property
    def spent(self) -> Fraction:
        """What all releases together have cost, and what open ones may still cost."""
        return chain.spent_on(self.account.entries(), self.table_id)

    @property
    def left(self) -> Fraction:
        """What a further release may cost."""
        return _left(self.account.entries(), self.table_id)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Releases that are open: interrupted ones can be resumed or abandoned."""
        mine = [e for e in self.account.entries() if e.table_id == self.table_id]
        ended = {e.release for e in mine if e.kind in chain.ENDS}
        return tuple(e.release for e in mine if e.kind == "open" and e.release not in ended)

    @property
    def domains(self) -> frozenset[str]:
        """Hashes of the domains with which releases of the table were begun."""
        mine = [e for e in self.account.entries() if e.table_id == self.table_id]
        begun = [e.note["settings"].get("domain_sha256", "") for e in mine if e.kind == "open"]
        return frozenset(begun)

    @property
    def statement(self) -> str | None:
        """Why the table is public, as it was said last; None if nobody said so."""
        return chain.statement_of(self.account.entries(), self.table_id)

    def declare_public(self, statement: str) -> None:
        """Write down, in words, that the table is public: ``watch`` lets it be seen then.

        Raises:
            DataError: If it is not said in words (``E_PROTECTED``).
            AccountError: If it cannot be written down.
        """
        note = {"statement": in_words(statement)}
        with self.account.store.writing() as book:
            book.append("public", self.table_id, note=note)

    def watch(self, table: CountSource | Private) -> None:
        """Refuse true values and rehearsals of a table if it was ever released from this account.

        A release protects its table in its own process. Whoever loads the records again calls
        this: the account remembers, and the records themselves say nothing.
        """
        entries = self.account.entries()
        private = table if isinstance(table, Private) else Private(table)
        if chain.was_released(entries, self.table_id):
            private.odometer.protect()
        statement = chain.statement_of(entries, self.table_id)
        if statement is not None:
            private.odometer.declare_public(statement)

    def begin(self, *, rho: Fraction, settings: dict[str, Any]) -> OpenRelease:
        """Reserve what a release may cost one person, before anything is drawn.

        Raises:
            BudgetError: If the table's total would be exceeded (``E_OVERSPEND``).
            AccountError: If it cannot be written down.
        """
        opened = OpenRelease(self, uuid.uuid4().hex, uuid.uuid4().hex)
        note = {"holder": opened.holder, "settings": settings}
        with self.account.store.writing() as book:
            _check_left(book, self.table_id, rho)
            book.append("open", self.table_id, release=opened.release, rho=rho, note=note)
        return opened

    def resume(self, release: str) -> OpenRelease:
        """Go on with an interrupted release; whoever held it before can no longer charge to it.

        Raises:
            AccountError: If there is no such open release.
        """
        opened = OpenRelease(self, release, uuid.uuid4().hex)
        with self.account.store.writing() as book:
            _require_open(book, self.table_id, release)
            book.append("resume", self.table_id, release=release, note={"holder": opened.holder})
        return opened

    def abandon(self, release: str) -> None:
        """End an interrupted release: what was charged stands, the rest is free again.

        Raises:
            AccountError: If there is no such open release.
        """
        with self.account.store.writing() as book:
            _require_open(book, self.table_id, release)
            book.append("abandon", self.table_id, release=release)
            book.forget(release)

    def __repr__(self) -> str:
        return (
            f"TableAccount({self.name!r}, rho {float(self.spent):.6g} of {float(self.total):.6g})"
        )


@dataclass(frozen=True, slots=True)
class OpenRelease:
    """A release that is under way, in the hands of whoever holds it."""

    table: TableAccount
    release: str
    holder: str

    def charge(self, charges: Sequence[Charge], *, times: int, drawn: Sequence[bytes] = ()) -> None:
        """Write down charges, and results of earlier draws: on the disk when it returns.

        Args:
            charges: What is about to be drawn, in terms of one record.
            times: How much more one person costs than one record: the square of their rows.
            drawn: What was drawn since the last charge, by which the release can be resumed.

        Raises:
            BudgetError: If more would be charged than was reserved (``E_OVERSPEND``).
            AccountError: If it cannot be written, or somebody else resumed the release.
        """
        rho = times * exact_sum([charge.rho for charge in charges])
        plain = [[c.what, None if c.attrs is None else list(c.attrs), str(c.rho)] for c in charges]
        with self._writing() as book:
            left = book.sum(self.release, "open") - book.sum(self.release, "charge")
            if rho > left:
                raise _exceeds(rho, left)
            book.keep(self.release, drawn)
            self._append(book, "charge", rho, {"charges": plain, "times": times})

    def lost(self, rho: Fraction) -> None:
        """Pay again for a draw whose result was lost: what was drawn once is spent.

        Raises:
            BudgetError: If the table's total does not allow it (``E_OVERSPEND``).
        """
        with self._writing() as book:
            _check_left(book, self.table.table_id, rho)
            self._append(book, "lost", rho, {})

    def close(self, *, spent: Fraction, looked: bool = False) -> Entry:
        """End the release: from now on it counts what it spent.

        Args:
            spent: What the release says it did.
            looked: Whether its process had shown true values before, which is written down.

        Raises:
            AccountError: If the charges do not add up to what the release says.
        """
        with self._writing() as book:
            charged = book.sum(self.release, "charge")
            if charged != spent:
                raise AccountError(
                    f"The release says it spent rho = {float(spent):.6g}; {float(charged):.6g} was "
                    "charged. Abandon it, and report this as a fault."
                )
            book.forget(self.release)
            note = {"looked": True} if looked else {}
            return self._append(book, "close", Fraction(0), note)

    def recorded(self) -> tuple[dict[str, Any], list[list[Any]], list[bytes]]:
        """Return what the release was opened with, its batches of charges, and the draws kept."""
        with self.table.account.store.reading() as book:
            mine, drawn = book.of(self.release), book.kept(self.release)
        batches = [e.note["charges"] for e in mine if e.kind == "charge"]
        return mine[0].note["settings"], batches, drawn

    @contextmanager
    def _writing(self) -> Iterator[Book]:
        with self.table.account.store.writing() as book:
            holder = _require_open(book, self.table.table_id, self.release)
            if holder != self.holder:
                raise AccountError(
                    "Somebody else resumed this release, so nothing can be charged to it here. Let "
                    "them finish it.",
                    code="E_LOCKED",
                )
            yield book

    def _append(self, book: Book, kind: chain.Kind, rho: Fraction, note: dict[str, Any]) -> Entry:
        identity = self.table.table_id
        return book.append(kind, identity, release=self.release, rho=rho, note=note)


def _left(entries: Sequence[Entry], table_id: str) -> Fraction:
    return chain.total_of(entries, table_id) - chain.spent_on(entries, table_id)


def _check_left(book: Book, table_id: str, rho: Fraction) -> None:
    left = _left(book.every(), table_id)
    if rho > left:
        raise _exceeds(rho, left)


def _exceeds(rho: Fraction, left: Fraction) -> BudgetError:
    return BudgetError(
        f"This would cost a person rho = {float(rho):.6g}; the account has {float(left):.6g} left. "
        "Nothing was drawn. Ask for less, or have the custodian set another total.",
        code="E_OVERSPEND",
        asked=float(rho),
        left=float(left),
    )


def _require_open(book: Book, table_id: str, release: str) -> str:
    """Return who holds an open release, or refuse."""
    book.end()
    mine = [entry for entry in book.of(release) if entry.table_id == table_id]
    kinds = {entry.kind for entry in mine}
    if "open" not in kinds or kinds & set(chain.ENDS):
        found = "has ended" if "open" in kinds else "is not in the account of this table"
        raise AccountError(
            f"The release {release[:12]!r} {found}. Take one that is unfinished.", code="E_RELEASE"
        )
    holder: str = [e for e in mine if e.kind in ("open", "resume")][-1].note["holder"]
    return holder
