"""The entries of an account: a chain of hashes, and what they add up to.

Each entry carries the hash of the one before, so an account that was edited, torn or shortened does
not fit together, and is refused. Where entries are kept is the matter of ``store``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Literal

from engine.accounting import exact_sum
from engine.errors import AccountError

FORMAT = "aim-grem-account/1"
START = "0" * 64
COLUMNS = (
    "number", "kind", "table_id", "release", "rho", "note", "written", "previous", "hash",
)  # fmt: skip

Kind = Literal["table", "public", "open", "resume", "charge", "lost", "close", "abandon"]
ENDS = ("close", "abandon")
_DAY_ONLY = ("charge", "lost", "close")
"""Told to the day: from second to second they would say how long each step took, which depends on
the records."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the account.

    Args:
        number: Counted from 1, without gaps.
        kind: ``table`` sets a total, ``public`` says why a table is, ``open`` reserves, ``charge``
            spends of it, ``lost`` spends beyond it, ``close`` and ``abandon`` give back what was
            not spent.
        table_id: Which table.
        release: Which release; empty for ``table``.
        rho: In terms of one person.
        note: What else belongs to it.
        written: When, by the clock of the machine; of what happens during a release only the day.
            Nothing depends on it.
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


def checked(rows: Iterable[Sequence[Any]], head: Sequence[Any] | None) -> tuple[Entry, ...]:
    """Return all entries, the whole chain checked against the row that says how it ends.

    Raises:
        AccountError: With the first entry that does not fit.
    """
    entries = tuple(map(entry_of, rows))
    previous = START
    for number, entry in enumerate(entries, start=1):
        if (entry.number, entry.previous, entry.hash) != (number, previous, hash_of(entry)):
            raise broken(f"entry {number} does not fit the ones before it")
        previous = entry.hash
    check_head(head, len(entries), previous)
    return entries


def ending(row: Sequence[Any] | None, head: Sequence[Any] | None) -> tuple[int, str]:
    """Return number and hash of the last entry, checked against the row beside them."""
    number, hashed = 0, START
    if row is not None:
        entry = entry_of(row)
        if entry.hash != hash_of(entry):
            raise broken(f"entry {entry.number} was changed")
        number, hashed = entry.number, entry.hash
    check_head(head, number, hashed)
    return number, hashed


def next_row(
    end: tuple[int, str],
    kind: Kind,
    table_id: str,
    *,
    release: str = "",
    rho: Fraction = Fraction(0),
    note: dict[str, Any] | None = None,
) -> tuple[Any, ...]:
    """Return the row that follows an ending."""
    number, previous = end
    written = datetime.now(UTC).isoformat(timespec="seconds")
    if kind in _DAY_ONLY:
        written = written[:10]
    entry = Entry(number + 1, kind, table_id, release, rho, note or {}, written, previous, "")
    return (*_plain(entry), hash_of(entry))


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


def statement_of(entries: Sequence[Entry], table_id: str) -> str | None:
    """Why a table is public, as it was said last; None if nobody said so."""
    said = [e.note["statement"] for e in entries if e.kind == "public" and e.table_id == table_id]
    return said[-1] if said else None


def was_released(entries: Sequence[Entry], table_id: str) -> bool:
    """Whether a release of a table was begun."""
    return any(e.kind == "open" and e.table_id == table_id for e in entries)


# -- rows -----------------------------------------------------------------------------------------


def entry_of(row: Sequence[Any]) -> Entry:
    """Read a row."""
    try:
        number, kind, table_id, release, rho, note, written, previous, hashed = row
        return Entry(
            number, kind, table_id, release, Fraction(rho), json.loads(note), written, previous,
            hashed,
        )  # fmt: skip
    except (TypeError, ValueError, ArithmeticError):
        raise broken(f"entry {row[0]} cannot be read") from None


def _plain(entry: Entry) -> tuple[Any, ...]:
    note = json.dumps(entry.note, sort_keys=True, ensure_ascii=True)
    return (
        entry.number, entry.kind, entry.table_id, entry.release, str(entry.rho), note,
        entry.written, entry.previous,
    )  # fmt: skip


def hash_of(entry: Entry) -> str:
    """The hash of everything in an entry but the hash."""
    return hashlib.sha256(json.dumps(_plain(entry)).encode()).hexdigest()


def check_head(head: Sequence[Any] | None, number: int, hashed: str) -> None:
    """Compare the row beside the entries with the last of them."""
    if head is None or tuple(head) != (FORMAT, number, hashed):
        raise broken(f"it ends at entry {number}, and should not")


def broken(what: str) -> AccountError:
    """An account that nothing can be charged to any more."""
    return AccountError(
        f"The account's chain is broken: {what}. Nothing can be released on it. Restore the file "
        "from its last copy, and add by hand what was released since."
    )
