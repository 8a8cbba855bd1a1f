"""From bytes to a preview of what was understood."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.errors import DataError
from engine.ingest import content, foreign
from engine.ingest.choices import Choices
from engine.ingest.delimited import Progress
from engine.ingest.limits import Limits
from engine.ingest.parquet import read_parquet
from engine.ingest.preview import Preview
from engine.ingest.source import Source, bytes_of
from engine.ingest.spreadsheet import read_workbook
from engine.ingest.survey import read_survey
from engine.ingest.text import read_text

_READ_AS = {
    "text": read_text,
    "excel": read_workbook,
    "parquet": read_parquet,
    "survey": read_survey,
}


def read(
    source: Source,
    choices: Choices | None = None,
    *,
    name: str | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
    **said: Any,
) -> Preview:
    r"""Read any table a person has and say how it was understood.

    Every choice left None is found from the content; the name of the file decides nothing.

    Args:
        source: Path, bytes, or a binary file.
        choices: How to read it.
        name: The file's name, for people; taken from a path.
        limits: Sizes to keep to.
        progress: Called now and then with the share that is done, 0 to 1.
        **said: Single choices by name (see ``Choices``), instead of or on top of ``choices``.

    Raises:
        DataError: If no table can be had: ``E_FILE``, ``E_FORMAT``, ``E_EMPTY``, ``E_TOO_LARGE``,
            ``E_CSV_SHAPE``, ``E_ENCODING``, ``E_SHEET``, ``E_COLUMN`` or ``E_CHOICE``.

    >>> preview = read(b"age;city\n31;Oslo\n4;Rome\n")
    >>> preview.labels, preview.frame["c0"].tolist(), preview.choices["separator"]
    (('age', 'city'), ['31', '4'], ';')
    """
    limits = limits or Limits()
    asked = replace(choices or Choices(), **said)
    data, name = bytes_of(source, limits, name)
    kind = content.kind_of(data)
    if kind == "gzip":
        data = content.gunzip(data, limits)
        kind = content.kind_of(data)
        if kind == "gzip":
            raise foreign.refused("an archive inside an archive")
    if asked.format is not None and asked.format != kind:
        raise DataError(
            f"The file holds {kind}, not {asked.format}. Leave the format to be found from the "
            "content.",
            code="E_FORMAT",
        )
    try:
        draft = _READ_AS[kind](data, asked, limits, progress)
    except UnicodeError:
        raise DataError(
            "The text cannot be read in the encoding asked for. Choose another encoding.",
            code="E_ENCODING",
        ) from None
    del data  # before the columns are put together: they need the room
    if progress is not None:
        progress(1.0)
    return draft.preview(asked, name)
