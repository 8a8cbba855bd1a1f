"""The tables that come with the explorer, found from wherever a notebook runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import engine
from engine.errors import DataError

FOLDER = "sample_data"


def sample(name: str, *attributes: str) -> engine.Table:
    """Return a sample table, or some of its attributes.

    Looked for where ``ENGINE_SAMPLE_DATA`` says, then beside the engine's source, then in the
    working folder and those above it.

    Args:
        name: For example ``"adult"`` or ``"titanic"``.
        *attributes: The attributes wanted, in order; none means all.

    Raises:
        DataError: If there is no such sample.
        DomainError: If the sample has no such attribute.
    """
    folder = _folder(name)
    domain = engine.Domain.from_json(folder / f"{name}.domain.json")
    file = next(path for path in sorted(folder.glob(f"{name}.csv*")))
    return engine.Table.from_csv(file, domain.select(*attributes) if attributes else domain)


def _folder(name: str) -> Path:
    for folder in _places():
        if name.isidentifier() and (folder / f"{name}.domain.json").is_file():
            return folder
    raise DataError(
        f"There is no sample {name!r} near here. Run the notebook inside the explorer's checkout, "
        "or set ENGINE_SAMPLE_DATA to its folder sample_data.",
        code="E_DATA",
    )


def _places() -> Iterator[Path]:
    if told := os.environ.get("ENGINE_SAMPLE_DATA"):
        yield Path(told)
    yield Path(engine.__file__).resolve().parents[1] / FOLDER
    here = Path.cwd()
    yield from (folder / FOLDER for folder in (here, *here.parents))
