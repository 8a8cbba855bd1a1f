"""A result folder that appears whole or not at all: written aside, then renamed."""

from __future__ import annotations

import os
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
        aside.chmod(0o755)
        _swap(aside, out)
    except BaseException:  # also a person who presses Ctrl-C
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _swap(aside: Path, out: Path) -> None:
    """Put a folder in the place of another, which is there until the new one is."""
    if not out.exists():
        aside.rename(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    out.rename(old / "old")
    try:
        aside.rename(out)
    except BaseException:
        (old / "old").rename(out)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def new_file(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all: on a full disk the old one stays."""
    handle, aside = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(aside).chmod(0o644)
        Path(aside).replace(path)
    except BaseException:  # also a person who presses Ctrl-C
        Path(aside).unlink(missing_ok=True)
        raise
