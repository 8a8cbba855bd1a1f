"""What all releases of a table have cost together: one file that never says too little.

Every charge is on the disk before what it pays for is drawn. A table is known by the hash of its
name with a secret that its custodian declares, never by its rows. While a release is open, all that
it may spend counts as spent; afterwards, what it did spend.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine.accounting import Charge, checked_rho, exact_sum
from engine.errors import AccountError, BudgetError
from engine.releasing import chain
from engine.releasing.chain import Entry

LEAST_SECRET = 16
"""Fewest characters of the secret: names alone can be guessed."""


class Account:
    """An account in a file; ``Account.create`` makes a new one.

    Args:
        path: The file. A missing one is refused and never made anew: what was spent would be
            forgotten.

    Raises:
        AccountError: If the file is missing, cannot be used, or its chain is broken
            (``E_ACCOUNT``).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise AccountError(
                f"There is no account {self.path.name!r}. Give the right path; or, if this is the "
                "first release ever, make one: Account.create(path)."
            )
        self.verify()

    @classmethod
    def create(cls, path: str | Path) -> Account:
        """Make a new, empty account.

        Raises:
            AccountError: If there is a file already, or none can be made.
        """
        path = Path(path)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise AccountError(f"There is a file {path.name!r} already. Open it instead.") from None
        except OSError as error:
            raise AccountError(
                f"The account cannot be made ({error.strerror}). Choose another folder."
            ) from None
        chain.create(path)
        return cls(path)

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries in order, the chain checked.

        Raises:
            AccountError: If the chain is broken (``E_ACCOUNT``).
        """
        with chain.connected(self.path) as database:
            return chain.every(database)

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
        with chain.connected(self.path, write=True) as database:
            known = [
                e for e in chain.every(database) if e.kind == "table" and e.table_id == identity
            ]
            if wanted is None and not known:
                raise AccountError(
                    f"The account does not know a table {name!r} with this secret. Give a total if "
                    "it is new; otherwise correct the name or the secret."
                )
            if wanted is not None and not (known and known[-1].rho == wanted):
                chain.append(database, "table", identity, rho=wanted, note={"name": name})
        return TableAccount(self, identity, name)

    def __repr__(self) -> str:
        return f"Account({self.path.name!r})"


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

    def begin(self, *, rho: Fraction, settings: dict[str, Any]) -> OpenRelease:
        """Reserve what a release may cost one person, before anything is drawn.

        Raises:
            BudgetError: If the table's total would be exceeded (``E_OVERSPEND``).
            AccountError: If it cannot be written down.
        """
        opened = OpenRelease(self, uuid.uuid4().hex, uuid.uuid4().hex)
        note = {"holder": opened.holder, "settings": settings}
        with chain.connected(self.account.path, write=True) as database:
            _check_left(database, self.table_id, rho)
            chain.append(
                database, "open", self.table_id, release=opened.release, rho=rho, note=note
            )
        return opened

    def resume(self, release: str) -> OpenRelease:
        """Go on with an interrupted release; whoever held it before can no longer charge to it.

        Raises:
            AccountError: If there is no such open release.
        """
        opened = OpenRelease(self, release, uuid.uuid4().hex)
        with chain.connected(self.account.path, write=True) as database:
            _require_open(database, self.table_id, release)
            chain.append(
                database, "resume", self.table_id, release=release, note={"holder": opened.holder}
            )
        return opened

    def abandon(self, release: str) -> None:
        """End an interrupted release: what was charged stands, the rest is free again.

        Raises:
            AccountError: If there is no such open release.
        """
        with chain.connected(self.account.path, write=True) as database:
            _require_open(database, self.table_id, release)
            chain.append(database, "abandon", self.table_id, release=release)
            database.execute("DELETE FROM draws WHERE release = ?", (release,))

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
        with self._writing() as database:
            left = self._sum(database, "open") - self._sum(database, "charge")
            if rho > left:
                raise _exceeds(rho, left)
            self._keep(database, drawn)
            self._append(database, "charge", rho, {"charges": plain, "times": times})

    def lost(self, rho: Fraction) -> None:
        """Pay again for a draw whose result was lost: what was drawn once is spent.

        Raises:
            BudgetError: If the table's total does not allow it (``E_OVERSPEND``).
        """
        with self._writing() as database:
            _check_left(database, self.table.table_id, rho)
            self._append(database, "lost", rho, {})

    def close(self, *, spent: Fraction) -> Entry:
        """End the release: from now on it counts what it spent.

        Raises:
            AccountError: If the charges do not add up to what the release says.
        """
        with self._writing() as database:
            charged = self._sum(database, "charge")
            if charged != spent:
                raise AccountError(
                    f"The release says it spent rho = {float(spent):.6g}; {float(charged):.6g} was "
                    "charged. Abandon it, and report this as a fault."
                )
            database.execute("DELETE FROM draws WHERE release = ?", (self.release,))
            return self._append(database, "close", Fraction(0), {})

    def recorded(self) -> tuple[dict[str, Any], list[list[Any]], list[bytes]]:
        """Return what the release was opened with, its batches of charges, and the draws kept."""
        mine = [e for e in self.table.account.entries() if e.release == self.release]
        with chain.connected(self.table.account.path) as database:
            found = database.execute(
                "SELECT body FROM draws WHERE release = ? ORDER BY number", (self.release,)
            ).fetchall()
        batches = [e.note["charges"] for e in mine if e.kind == "charge"]
        return mine[0].note["settings"], batches, [body for (body,) in found]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with chain.connected(self.table.account.path, write=True) as database:
            holder = _require_open(database, self.table.table_id, self.release)
            if holder != self.holder:
                raise AccountError(
                    "Somebody else resumed this release, so nothing can be charged to it here. Let "
                    "them finish it.",
                    code="E_LOCKED",
                )
            yield database

    def _append(
        self, database: sqlite3.Connection, kind: chain.Kind, rho: Fraction, note: dict[str, Any]
    ) -> Entry:
        identity = self.table.table_id
        return chain.append(database, kind, identity, release=self.release, rho=rho, note=note)

    def _sum(self, database: sqlite3.Connection, kind: chain.Kind) -> Fraction:
        found = database.execute(
            "SELECT rho FROM entries WHERE release = ? AND kind = ?", (self.release, kind)
        )
        return exact_sum([Fraction(rho) for (rho,) in found])

    def _keep(self, database: sqlite3.Connection, drawn: Sequence[bytes]) -> None:
        (kept,) = database.execute(
            "SELECT COUNT(*) FROM draws WHERE release = ?", (self.release,)
        ).fetchone()
        database.executemany(
            "INSERT INTO draws VALUES (?, ?, ?)",
            [(self.release, kept + k, body) for k, body in enumerate(drawn)],
        )


def _left(entries: Sequence[Entry], table_id: str) -> Fraction:
    return chain.total_of(entries, table_id) - chain.spent_on(entries, table_id)


def _check_left(database: sqlite3.Connection, table_id: str, rho: Fraction) -> None:
    left = _left(chain.every(database), table_id)
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


def _require_open(database: sqlite3.Connection, table_id: str, release: str) -> str:
    """Return who holds an open release, or refuse."""
    chain.last(database)
    kinds = [kind for (kind,) in database.execute(
        "SELECT DISTINCT kind FROM entries WHERE release = ? AND table_id = ?", (release, table_id)
    )]  # fmt: skip
    if "open" not in kinds or set(kinds) & set(chain.ENDS):
        found = "has ended" if "open" in kinds else "is not in the account of this table"
        raise AccountError(
            f"The release {release[:12]!r} {found}. Take one that is unfinished.", code="E_RELEASE"
        )
    (note,) = database.execute(
        "SELECT note FROM entries WHERE release = ? AND kind IN ('open', 'resume') "
        "ORDER BY number DESC LIMIT 1",
        (release,),
    ).fetchone()
    holder: str = json.loads(note)["holder"]
    return holder
