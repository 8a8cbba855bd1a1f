"""A CSV file whose cells fit its domain, read strictly and with nothing but the standard library.

Files as people have them are read by the room ``ingest``.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from engine import checking
from engine.codes import DROP, MISSING, OUTSIDE, encode
from engine.domain import Attribute, Domain
from engine.errors import DataError
from engine.types import IntArray

_MAX_BYTES = 1 << 30
"""Most bytes a packed table may unpack to."""
_FIRST_LINE = 2
"""Line of the first record: the header stands above it."""


def codes_of(source: str | Path | bytes, domain: Domain) -> list[IntArray]:
    """Return the codes of each attribute, as ``Table.from_csv`` describes it.

    Raises:
        DataError: If the file is no such table.
    """
    rows = _csv_rows(source)
    try:
        header = [name.strip() for name in next(rows, [])]
    except csv.Error as error:
        raise _no_csv("in its header", error) from None
    _check_header(header, domain)
    kept = [header.index(name) for name in domain.names]
    columns = _columns(rows, len(header), kept)
    encoded = [
        _encode(attribute, column) for attribute, column in zip(domain, columns, strict=True)
    ]
    keep = np.logical_and.reduce([codes != DROP for codes in encoded])
    for attribute, codes in zip(domain, encoded, strict=True):
        # A record that is left out may hold anything elsewhere.
        _check_encoded(attribute, np.where(keep, codes, 0))
    return [codes[keep] for codes in encoded]


def _csv_rows(source: str | Path | bytes) -> Iterator[list[str]]:
    if isinstance(source, bytes):
        content = source
    else:
        file = checking.path(source, "a CSV file")
        try:
            content = file.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no path"
            raise DataError(
                f"The table cannot be read ({reason}). Give the path of a CSV file."
            ) from None
    if content[:2] == b"\x1f\x8b":
        content = _unzipped(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"The table is not UTF-8 (line {line}). Save it as UTF-8.", code="E_FORMAT"
        ) from None
    return csv.reader(io.StringIO(text, newline=""), strict=True)


def _unzipped(content: bytes) -> bytes:
    try:
        with gzip.open(io.BytesIO(content)) as file:
            text = file.read(_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise DataError(
            "The table's gzip data are damaged. Compress it again.", code="E_FORMAT"
        ) from None
    if len(text) > _MAX_BYTES:
        raise DataError(
            f"The table unpacks to more than {_MAX_BYTES >> 20} MiB. Unpack it and read a part.",
            code="E_TOO_LARGE",
        )
    return text


def _columns(rows: Iterator[list[str]], width: int, kept: Sequence[int]) -> list[list[str]]:
    columns: list[list[str]] = [[] for _ in kept]
    appends = [(column.append, i) for column, i in zip(columns, kept, strict=True)]
    line = 1
    try:
        for line, row in enumerate(rows, start=2):
            if len(row) != width:
                if not row and width > 1:
                    continue  # a blank line
                raise DataError(
                    f"Record {line - 1} has {len(row)} fields where the header has {width}. "
                    "Correct that line.",
                    code="E_CSV_SHAPE",
                )
            for append, i in appends:
                append(row[i])
    except csv.Error as error:
        raise _no_csv(f"after record {line - 1}", error) from None
    return columns


def _no_csv(where: str, error: csv.Error) -> DataError:
    return DataError(
        f"The table is no proper CSV {where} ({error}). Correct its quotes.", code="E_CSV_SHAPE"
    )


def _check_header(header: Sequence[str], domain: Domain) -> None:
    for name in domain.names:
        found = header.count(name)
        if found != 1:
            raise DataError(
                f"The table has {found or 'no'} column{'s' if found > 1 else ''} named {name!r}; "
                "the domain needs exactly one. Rename the column, or leave the attribute out of "
                "the domain.",
                code="E_COLUMN",
            )


def _encode(attribute: Attribute, column: Sequence[str]) -> IntArray:
    # Every distinct text is understood once, however many records hold it.
    texts = list(dict.fromkeys(column))
    meaning = dict(zip(texts, encode(attribute, texts).codes.tolist(), strict=True))
    codes: IntArray = np.fromiter(map(meaning.__getitem__, column), np.int64, len(column))
    return codes


def _check_encoded(attribute: Attribute, codes: IntArray) -> None:
    for problem, refuse in ((MISSING, _refuse_missing), (OUTSIDE, _refuse_outside)):
        if (codes == problem).any():
            refuse(attribute, int((codes == problem).argmax()))


def _where(record: int) -> str:
    return f"record {record + 1}, line {record + _FIRST_LINE} or later"


def _refuse_missing(attribute: Attribute, record: int) -> NoReturn:
    raise DataError(
        f"Attribute {attribute.name!r} has a missing cell ({_where(record)}) and its "
        'domain has no rule for it. Declare "missing": a category of its own, drop the record, or '
        "replace.",
        code="E_MISSING",
    )


def _refuse_outside(attribute: Attribute, record: int) -> NoReturn:
    raise DataError(
        f"Attribute {attribute.name!r} has a value outside its declared domain "
        f"({_where(record)}). Widen the domain, or declare what undeclared values "
        'become ("outside": other or clamp).',
        code="E_VALUE",
    )
