"""A source by its name, as the command line writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from engine.domain import Domain
from engine.errors import DataError
from engine.ingest.choices import Choices
from engine.sources.batches import BatchSource
from engine.sources.database import duckdb
from engine.sources.files import dataset

_DUCKDB = "duckdb:"


def is_named(name: str) -> bool:
    """Tell a folder, a pattern of files or a database from a single file.

    >>> is_named("data/*.parquet"), is_named("duckdb:people.db?table=people"), is_named("a.csv")
    (True, True, False)
    """
    return name.startswith(_DUCKDB) or (
        not Path(name).is_file() and (Path(name).is_dir() or any(mark in name for mark in "*?["))
    )


def named(name: str, domain: Domain, choices: Choices, **options: Any) -> BatchSource:
    """Open ``duckdb:FILE?table=NAME``, ``duckdb:FILE?query=SQL``, a file, a folder or a pattern.

    Args:
        name: What to open.
        domain: Declared attributes.
        choices: Of how cells are read, ``missing``, ``counts`` and ``separator`` are kept to.
        **options: As of ``BatchSource``.

    Raises:
        DataError: If it cannot be opened, or a choice is only for files that are read as a whole
            (``E_CHOICE``).
    """
    _refuse_others(choices)
    options |= {"missing": choices.missing or (), "count_column": choices.counts or None}
    if not name.startswith(_DUCKDB):
        return dataset(name, domain, separator=choices.separator or ",", **options)
    path, _, asked = name.removeprefix(_DUCKDB).partition("?")
    found = parse_qs(asked, strict_parsing=False)
    if set(found) - {"table", "query"} or len(found) != 1:
        raise DataError(
            f"{name!r} names no table. Write duckdb:FILE?table=NAME, or duckdb:FILE?query=SELECT…; "
            "an empty FILE reads a query over files.",
            code="E_FILE",
        )
    what = {key: values[0] for key, values in found.items()}
    return duckdb(path or ":memory:", domain, **what, **options)


def _refuse_others(choices: Choices) -> None:
    kept = {"missing", "counts", "separator", "seed"}
    for name, value in choices.to_dict().items():
        if (
            name in kept
            or (name, value) == ("decimal", ".")
            or (name, value) == ("encoding", "utf-8")
        ):
            continue
        raise DataError(
            f"The reading choice {name!r} holds for a file that is read as a whole, not for one "
            "that is counted in batches. Apply it in the source (a query can), or remove it.",
            code="E_CHOICE",
        )
