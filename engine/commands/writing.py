"""A result folder that appears whole or not at all: written aside, then renamed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import engine


def check_free(out: Path, *, force: bool) -> None:
    """Refuse a folder that holds something, unless it may be replaced.

    Raises:
        DataError: If the folder is not empty, or a file stands in its place (``E_OUT``).
    """
    if out.is_dir() and any(out.iterdir()) and not force:
        raise engine.DataError(
            f"The folder {out.name!r} holds something already. Give another --out, or --force to "
            "replace it.",
            code="E_OUT",
        )
    if out.exists() and not out.is_dir():
        raise engine.DataError(
            f"{out.name!r} is a file; --out needs a folder. Give another name.", code="E_OUT"
        )


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Give a folder to write to, which takes the place of ``out`` once all is written."""
    out.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        yield aside
        if out.exists():
            shutil.rmtree(out)
        aside.chmod(0o755)
        aside.rename(out)
    except BaseException:  # also a person who presses Ctrl-C
        shutil.rmtree(aside, ignore_errors=True)
        raise
