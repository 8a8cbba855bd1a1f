"""The file behind an account: SQLite, and entries that form a chain of hashes.

A transaction is on the disk when it returns (``synchronous=EXTRA``), or it never happened. Each
entry carries the hash of the one before, and a row beside them the number and hash of the last: a
file that was edited, torn or shortened does not fit, and is refused.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from engine.accounting import exact_sum
from engine.errors import AccountError

FORMAT = "aim-grem-account/1"
_WAIT = 30.0
"""Seconds to wait for another process that is writing."""
_START = "0" * 64
_COLUMNS = "number, kind, table_id, release, rho, note, written, previous, hash"
SCHEMA = """
CREATE TABLE entries (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, table_id TEXT NOT NULL, release TEXT NOT NULL,
    rho TEXT NOT NULL, note TEXT NOT NULL, written TEXT NOT NULL, previous TEXT NOT NULL,
    hash TEXT NOT NULL);
CREATE INDEX entries_by_release ON entries (release);
CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), format TEXT, number INTEGER, hash TEXT);
CREATE TABLE draws (
    release TEXT NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (release, number));
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are not changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are not deleted'); END;
"""

Kind = Literal["table", "open", "resume", "charge", "lost", "close", "abandon"]
ENDS = ("close", "abandon")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the account.

    Args:
        number: Counted from 1, without gaps.
        kind: ``table`` sets a total, ``open`` reserves, ``charge`` spends of it, ``lost`` spends
            beyond it, ``close`` and ``abandon`` give back what was not spent.
        table_id: Which table.
        release: Which release; empty for ``table``.
        rho: In terms of one person.
        note: What else belongs to it.
        written: When, by the clock of the machine; nothing depends on it.
        previous: Hash of the entry before.
        hash: Hash of all of this.
    """

    number: int
    kind: Kind
    table_id: str
    release: str
    rho: Fraction
    note: dict[str, Any]
    written: str
    previous: str
    hash: str


@contextmanager
def connected(path: Path, *, write: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the file; what goes wrong with it becomes an ``AccountError``.

    With ``write``, all that is done is one transaction: nobody else writes meanwhile, and it is
    kept as a whole, or not at all.
    """
    try:
        uri = f"{path.resolve().as_uri()}?mode=rw"
        database = sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)
        with closing(database):
            database.execute("PRAGMA synchronous=EXTRA")
            if not write:
                yield database
                return
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")
    except sqlite3.Error as error:
        raise AccountError(
            f"The account {path.name!r} cannot be used ({error}); nothing was drawn. Check that "
            "its folder can be written to, that the disk is not full, and that the file is whole."
        ) from None


def create(path: Path) -> None:
    """Fill an empty file."""
    with connected(path) as database:
        database.executescript(f"BEGIN IMMEDIATE;{SCHEMA}COMMIT;")
        database.execute("INSERT INTO head VALUES (1, ?, 0, ?)", (FORMAT, _START))


def every(database: sqlite3.Connection) -> tuple[Entry, ...]:
    """Return all entries, the whole chain checked.

    Raises:
        AccountError: With the first entry that does not fit.
    """
    entries = tuple(
        map(_entry, database.execute(f"SELECT {_COLUMNS} FROM entries ORDER BY number"))
    )
    previous = _START
    for number, entry in enumerate(entries, start=1):
        if (entry.number, entry.previous, entry.hash) != (number, previous, _hash_of(entry)):
            raise _broken(f"entry {number} does not fit the ones before it")
        previous = entry.hash
    _check_head(database, len(entries), previous)
    return entries


def last(database: sqlite3.Connection) -> tuple[int, str]:
    """Return number and hash of the last entry, checked against the row beside them."""
    found = database.execute(
        f"SELECT {_COLUMNS} FROM entries ORDER BY number DESC LIMIT 1"
    ).fetchone()
    number, hashed = 0, _START
    if found is not None:
        entry = _entry(found)
        if entry.hash != _hash_of(entry):
            raise _broken(f"entry {entry.number} was changed")
        number, hashed = entry.number, entry.hash
    _check_head(database, number, hashed)
    return number, hashed


def append(
    database: sqlite3.Connection,
    kind: Kind,
    table_id: str,
    *,
    release: str = "",
    rho: Fraction = Fraction(0),
    note: dict[str, Any] | None = None,
) -> Entry:
    """Add an entry to the chain, within a transaction."""
    number, previous = last(database)
    written = datetime.now(UTC).isoformat(timespec="seconds")
    entry = Entry(number + 1, kind, table_id, release, rho, note or {}, written, previous, "")
    plain = _plain(entry)
    hashed = _hash_of(entry)
    database.execute(f"INSERT INTO entries VALUES ({', '.join('?' * 9)})", (*plain, hashed))
    database.execute("UPDATE head SET number = ?, hash = ?", (entry.number, hashed))
    return _entry((*plain, hashed))


# -- sums -----------------------------------------------------------------------------------------


def spent_on(entries: Sequence[Entry], table_id: str) -> Fraction:
    """What a table's releases cost: of open ones all that they may spend."""
    releases: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.table_id == table_id and entry.release:
            releases.setdefault(entry.release, []).append(entry)
    return exact_sum([cost_of(mine) for mine in releases.values()])


def cost_of(mine: Sequence[Entry]) -> Fraction:
    """What one release counts: what it may spend while it is open, what it spent afterwards."""
    ended = any(entry.kind in ENDS for entry in mine)
    counted = ("charge", "lost") if ended else ("open", "lost")
    return exact_sum([entry.rho for entry in mine if entry.kind in counted])


def total_of(entries: Sequence[Entry], table_id: str) -> Fraction:
    """Most that all releases of a table may cost: the last total that was set."""
    return [e.rho for e in entries if e.kind == "table" and e.table_id == table_id][-1]


# -- rows -----------------------------------------------------------------------------------------


def _entry(row: Sequence[Any]) -> Entry:
    try:
        number, kind, table_id, release, rho, note, written, previous, hashed = row
        return Entry(
            number, kind, table_id, release, Fraction(rho), json.loads(note), written, previous,
            hashed,
        )  # fmt: skip
    except (TypeError, ValueError, ArithmeticError):
        raise _broken(f"entry {row[0]} cannot be read") from None


def _plain(entry: Entry) -> tuple[Any, ...]:
    note = json.dumps(entry.note, sort_keys=True, ensure_ascii=True)
    return (
        entry.number, entry.kind, entry.table_id, entry.release, str(entry.rho), note,
        entry.written, entry.previous,
    )  # fmt: skip


def _hash_of(entry: Entry) -> str:
    return hashlib.sha256(json.dumps(_plain(entry)).encode()).hexdigest()


def _check_head(database: sqlite3.Connection, number: int, hashed: str) -> None:
    head = database.execute("SELECT format, number, hash FROM head").fetchone()
    if head != (FORMAT, number, hashed):
        raise _broken(f"it ends at entry {number}, and should not")


def _broken(what: str) -> AccountError:
    return AccountError(
        f"The account's chain is broken: {what}. Nothing can be released on it. Restore the file "
        "from its last copy, and add by hand what was released since."
    )
