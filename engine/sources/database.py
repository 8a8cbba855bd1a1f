"""Whatever DuckDB opens: its own files, Parquet, CSV, and the databases that it can attach."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from engine.domain import Domain
from engine.errors import DataError, OptionError
from engine.sources.batches import BATCH_ROWS, BatchSource
from engine.sources.coded import columns_of, missing_columns


def duckdb(
    database: str | Path = ":memory:",
    domain: Domain | None = None,
    *,
    table: str | None = None,
    query: str | None = None,
    **options: Any,
) -> BatchSource:
    """Read a table, a view or a query with DuckDB, batch by batch; nothing is materialised.

    DuckDB reads, filters and joins; it does not count. The rows of a query have no order of their
    own, which does not matter for counts.

    Args:
        database: DuckDB's file, opened for reading only; ``:memory:`` for a query over files.
        domain: Declared attributes.
        table: Name of a table or view; exactly one of it and ``query`` is needed.
        query: What to read, such as ``SELECT * FROM 'people/*.parquet' WHERE year = 2024``.
        **options: As of ``BatchSource``.

    Raises:
        OptionError: If DuckDB is not installed (extra ``duckdb``), or not one of ``table`` and
            ``query`` is given.
        DataError: If the database cannot be opened (``E_FILE``), the query fails (``E_FORMAT``),
            or a column is missing (``E_COLUMN``).
    """
    # Long: what is checked now and what is read later hold the same query.
    engine = _module()
    if domain is None or (table is None) == (query is None):
        raise OptionError(
            "A domain and exactly one of table= and query= are needed. Write "
            "sources.duckdb('people.db', domain, table='people')."
        )
    wanted = columns_of(domain, options.get("count_column"))
    held = query if query is not None else f"SELECT * FROM {_quoted(str(table))}"
    chosen = f"SELECT {', '.join(map(_quoted, wanted))} FROM ({held.strip().rstrip(';')})"

    def connected() -> Any:
        try:
            return engine.connect(str(database), read_only=str(database) != ":memory:")
        except engine.Error as error:
            raise DataError(
                f"DuckDB cannot open {database}. Check the path, and that no program writes to it.",
                code="E_FILE",
            ) from error

    with connected() as connection:
        try:
            names = [row[0] for row in connection.execute(f"DESCRIBE {held}").fetchall()]
        except engine.Error as error:
            raise DataError(f"DuckDB says: {_first_line(error)}", code="E_FORMAT") from error
    missing_columns(wanted, names)

    def batches() -> Iterator[pa.RecordBatch]:
        with connected() as connection:
            try:
                yield from connection.sql(chosen).to_arrow_reader(BATCH_ROWS)
            except engine.Error as error:
                # Its text may quote a cell.
                raise DataError(
                    "DuckDB could not read the rows to their end. Try the query in DuckDB itself.",
                    code="E_FORMAT",
                ) from error

    return BatchSource(batches, domain, **options)


def _module() -> Any:
    try:
        return importlib.import_module("duckdb")
    except ImportError:
        raise OptionError(
            "DuckDB is not installed. Install the extra: pip install 'aim-grem-explorer[duckdb]'."
        ) from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
