"""Where an account is kept: SQLite or PostgreSQL, one schema and one set of statements for both.

All that is done in one ``writing`` block is one transaction, during which nobody else writes. It is
on the disk when the block ends, or it never happened: ``synchronous=EXTRA`` in SQLite, a commit
that waits for its flush in PostgreSQL, whose server must not have ``fsync`` off. A connection that
is lost while it commits is an error like any other: what it would have paid for is not drawn.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlalchemy import (
    DDL,
    CheckConstraint,
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    func,
    select,
    text,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from engine import checking
from engine.accounting import exact_sum
from engine.errors import AccountError
from engine.releasing import chain
from engine.releasing.chain import Entry, Kind

_WAIT = 30
"""Seconds to wait for another process that is writing."""

SCHEMA = MetaData()
ENTRIES = Table(
    "entries", SCHEMA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    *(Column(name, Text, nullable=False, index=name == "release") for name in chain.COLUMNS[1:]),
)  # fmt: skip
HEAD = Table(
    "head", SCHEMA,
    Column("one", Integer, CheckConstraint("one = 1"), primary_key=True, autoincrement=False),
    Column("format", Text), Column("number", Integer), Column("hash", Text),
)  # fmt: skip
DRAWS = Table(
    "draws", SCHEMA,
    Column("release", Text, primary_key=True), Column("number", Integer, primary_key=True),
    Column("body", LargeBinary, nullable=False),
)  # fmt: skip
_GUARDS = {
    "sqlite": (
        "CREATE TRIGGER entries_stay BEFORE UPDATE ON entries "
        "BEGIN SELECT RAISE(ABORT, 'entries are not changed'); END",
        "CREATE TRIGGER entries_remain BEFORE DELETE ON entries "
        "BEGIN SELECT RAISE(ABORT, 'entries are not deleted'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION entries_stay() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'entries are neither changed nor deleted'; END $$",
        "CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION entries_stay()",
    ),
}
for _dialect, _statements in _GUARDS.items():
    for _statement in _statements:
        _guard = DDL(_statement)  # type: ignore[no-untyped-call]
        event.listen(ENTRIES, "after_create", _guard.execute_if(dialect=_dialect))


class Book:
    """An account while it is open, for reading or for writing."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def every(self) -> tuple[Entry, ...]:
        """All entries, the whole chain checked."""
        rows = self._connection.execute(select(ENTRIES).order_by(ENTRIES.c.number)).fetchall()
        return chain.checked(rows, self._head())

    def end(self) -> tuple[int, str]:
        """Number and hash of the last entry, checked."""
        last = select(ENTRIES).order_by(ENTRIES.c.number.desc()).limit(1)
        return chain.ending(self._connection.execute(last).fetchone(), self._head())

    def append(self, kind: Kind, table_id: str, **fields: Any) -> Entry:
        """Add an entry to the chain."""
        row = chain.next_row(self.end(), kind, table_id, **fields)
        self._connection.execute(ENTRIES.insert(), dict(zip(chain.COLUMNS, row, strict=True)))
        self._connection.execute(HEAD.update().values(number=row[0], hash=row[-1]))
        return chain.entry_of(row)

    def of(self, release: str, *kinds: Kind) -> list[Entry]:
        """Entries of a release, of these kinds or of all."""
        wanted = select(ENTRIES).where(ENTRIES.c.release == release).order_by(ENTRIES.c.number)
        if kinds:
            wanted = wanted.where(ENTRIES.c.kind.in_(kinds))
        return [chain.entry_of(row) for row in self._connection.execute(wanted)]

    def sum(self, release: str, kind: Kind) -> Fraction:
        """What entries of one kind add up to."""
        return exact_sum([entry.rho for entry in self.of(release, kind)])

    def keep(self, release: str, drawn: Sequence[bytes]) -> None:
        """Keep what was drawn."""
        mine = select(func.count()).select_from(DRAWS).where(DRAWS.c.release == release)
        kept = self._connection.execute(mine).scalar_one()
        rows = [
            {"release": release, "number": kept + k, "body": body} for k, body in enumerate(drawn)
        ]
        if rows:
            self._connection.execute(DRAWS.insert(), rows)

    def kept(self, release: str) -> list[bytes]:
        """What was drawn, in order."""
        mine = select(DRAWS.c.body).where(DRAWS.c.release == release).order_by(DRAWS.c.number)
        return [bytes(body) for (body,) in self._connection.execute(mine)]

    def forget(self, release: str) -> None:
        """Keep its draws no longer."""
        self._connection.execute(DRAWS.delete().where(DRAWS.c.release == release))

    def start(self) -> None:
        """Lay out an empty account."""
        SCHEMA.create_all(self._connection, checkfirst=False)
        first = {"one": 1, "format": chain.FORMAT, "number": 0, "hash": chain.START}
        self._connection.execute(HEAD.insert(), first)

    def _head(self) -> Sequence[Any] | None:
        return self._connection.execute(
            select(HEAD.c.format, HEAD.c.number, HEAD.c.hash)
        ).fetchone()


class Store:
    """A file of SQLite, or a database of PostgreSQL by its address.

    Args:
        where: A path, or ``postgresql+psycopg://user@host/database``.

    Raises:
        AccountError: If an address cannot be read, or psycopg is not there.
    """

    def __init__(self, where: str | Path) -> None:
        if not (isinstance(where, str) and "://" in where):
            where = checking.path(where, "an account")
        self.path = None if "://" in str(where) else Path(where)
        self.name = self.path.name if self.path is not None else _shown(str(where))
        self._engine = _file(self.path) if self.path is not None else _server(str(where))

    @contextmanager
    def reading(self) -> Iterator[Book]:
        """Open it to read: everything as it was at one moment."""
        with self._open(write=False) as book:
            yield book

    @contextmanager
    def writing(self) -> Iterator[Book]:
        """Open it to write, alone."""
        with self._open(write=True) as book:
            yield book

    @contextmanager
    def _open(self, *, write: bool) -> Iterator[Book]:
        try:
            with self._engine.connect() as connection:
                _begin(connection, write=write)
                yield Book(connection)
                if write:
                    connection.commit()
        except (SQLAlchemyError, sqlite3.Error) as error:
            reason = getattr(error, "orig", None) or error
            raise AccountError(
                f"The account {self.name!r} cannot be used ({_line(reason)}); nothing was drawn. "
                "Check that its folder can be written to or its server be reached, that the disk "
                "is not full, and that the account is whole."
            ) from None


def create(where: str | Path) -> None:
    """Make a new, empty account; one that is there already is refused.

    Raises:
        AccountError: If there is one, or none can be made.
    """
    store = Store(where)
    if store.path is not None:
        try:
            os.close(os.open(store.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise AccountError(
                f"There is a file {store.name!r} already. Open it instead."
            ) from None
        except OSError as error:
            raise AccountError(
                f"The account cannot be made ({error.strerror}). Choose another folder."
            ) from None
    with store.writing() as book:
        book.start()


def _file(path: Path) -> Engine:
    uri = f"{path.resolve().as_uri()}?mode=rw"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)

    return create_engine("sqlite://", creator=connect, poolclass=NullPool)


def _server(address: str) -> Engine:
    try:
        url = make_url(address)
        if url.get_backend_name() != "postgresql":
            raise ArgumentError("no PostgreSQL")
        waiting = {"connect_timeout": _WAIT, "tcp_user_timeout": 1000 * _WAIT, "keepalives_idle": 5}
        return create_engine(
            url.set(drivername="postgresql+psycopg"), poolclass=NullPool, connect_args=waiting
        )
    except (ArgumentError, NoSuchModuleError):
        raise AccountError(
            "The account's address cannot be read. Give a file, or an address such as "
            "postgresql://user@host/database."
        ) from None
    except ImportError:
        raise AccountError(
            "An account on a server needs psycopg. Install the extra: "
            "pip install 'aim-grem-explorer[team]'."
        ) from None


def _begin(connection: Connection, *, write: bool) -> None:
    """Take the lock, or a snapshot; and see to it that a commit waits for the disk."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA synchronous=EXTRA")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
        return
    if not write:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        return
    if connection.execute(text("SHOW fsync")).scalar_one() != "on":
        raise AccountError(
            "The account's server has fsync off, so a charge could be forgotten when it stops. "
            "Switch it on."
        )
    connection.execute(text("SET LOCAL synchronous_commit TO on"))
    connection.execute(text(f"SET LOCAL lock_timeout TO '{_WAIT}s'"))
    # One after the other; the name is no key of another program's by accident.
    connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(chain.FORMAT))))


def _shown(address: str) -> str:
    """An address without its password."""
    try:
        return make_url(address).render_as_string(hide_password=True)
    except ArgumentError:
        return "account"


def _line(reason: object) -> str:
    return " ".join(str(reason).split())
