"""The public tables that come with the explorer, each with a declared domain.

In a checkout they are in ``sample_data``; an installed package carries them beside the app.
"""

from __future__ import annotations

import os
from pathlib import Path

from engine.domain import Domain
from engine.errors import DataError
from engine.tables import Table

_HERE = Path(__file__).parent
FOLDERS = (_HERE.parent / "sample_data", _HERE / "_app" / "sample_data")
"""Where the samples can be: beside the engine in a checkout, inside it once installed."""


def sample_folder() -> Path:
    """Return the folder of the samples: tables, domains and cards.

    ``ENGINE_SAMPLE_DATA`` may name another one.

    Raises:
        DataError: If there is none.
    """
    told = os.environ.get("ENGINE_SAMPLE_DATA")
    for folder in (Path(told), *FOLDERS) if told else FOLDERS:
        if (folder / "titanic.domain.json").is_file():
            return folder
    raise DataError(
        "The sample tables are not beside this engine. Install the package again, or set "
        "ENGINE_SAMPLE_DATA to the folder sample_data of a checkout."
    )


def sample_names() -> tuple[str, ...]:
    """Return the names of the samples, in alphabetical order.

    >>> sample_names()[:3]
    ('adult', 'anes96', 'hair_eye_color')
    """
    found = (path.name.removesuffix(".domain.json") for path in _domains())
    return tuple(sorted(name for name in found if _table_of(name) is not None))


def load_sample(name: str, *attributes: str) -> Table:
    """Load one of the public sample tables, with its declared domain.

    Args:
        name: One of ``sample_names()``.
        *attributes: The attributes wanted, in order; none means all.

    Raises:
        DataError: If there is no such sample.
        DomainError: If the sample has no such attribute.

    >>> load_sample("titanic").domain.names
    ('Class', 'Sex', 'Age', 'Survived')
    """
    path = _table_of(name) if name in sample_names() else None
    if path is None:
        raise DataError(
            f"There is no sample {name!r}; there are {', '.join(sample_names())}. Choose one, or "
            "load your own table."
        )
    domain = Domain.from_json(sample_folder() / f"{name}.domain.json")
    return Table.from_csv(path, domain.select(*attributes) if attributes else domain)


def _domains() -> list[Path]:
    return sorted(sample_folder().glob("*.domain.json"))


def _table_of(name: str) -> Path | None:
    for ending in (".csv", ".csv.gz"):
        path = sample_folder() / f"{name}{ending}"
        if path.is_file():
            return path
    return None
