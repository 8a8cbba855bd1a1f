"""A file's content, its size checked before it is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from engine.errors import DataError
from engine.ingest import content
from engine.ingest.limits import Limits, megabytes

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO


def bytes_of(source: Source, limits: Limits, name: str | None) -> tuple[bytes, str]:
    """Return the file's content, its size checked before it is read."""
    if isinstance(source, bytes | bytearray | memoryview):
        data = source if isinstance(source, bytes) else None
        size = len(source) if not isinstance(source, memoryview) else source.nbytes
        if size > limits.file:
            raise content.too_large(size, limits)
        return data if data is not None else bytes(source), name or ""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            size = path.stat().st_size
            if size > limits.file:
                raise content.too_large(size, limits)
            return path.read_bytes(), name or path.name
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no path"
            raise DataError(
                f"The file cannot be read ({reason}). Give the path of a file that exists and is "
                "readable.",
                code="E_FILE",
            ) from None
    try:
        data = source.read(limits.file + 1)
    except (AttributeError, ValueError):  # no file at all, or one that was closed
        data = None
    if not isinstance(data, bytes):
        raise DataError(
            f"A value of type {type(source).__name__} cannot be read as a file; its path, its "
            "bytes, or an open binary file is needed. Write open(path, 'rb').",
            code="E_FILE",
        )
    if len(data) > limits.file:
        raise DataError(
            f"The file is larger than {megabytes(limits.file)}, the most that can be read. Keep "
            "only "
            "the columns that are needed, or take a part of the rows.",
            code="E_TOO_LARGE",
        )
    return data, name or str(getattr(source, "name", "") or "")
