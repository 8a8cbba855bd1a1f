"""Files and data frames as tables: what ``Table.from_file`` and ``Table.from_frame`` ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.domain import Domain
from engine.errors import DataError
from engine.ingest.choices import Choices
from engine.ingest.domains import draft_domain
from engine.ingest.encode import encode
from engine.ingest.frames import read_frame
from engine.ingest.preview import Preview
from engine.ingest.reading import read
from engine.tables import Table


class _Reader:
    """Reads files and frames under the choices of the Data page."""

    def table_of_file(
        self, source: Any, domain: Domain, choices: Mapping[str, Any], notes: list[str] | None
    ) -> Table:
        preview = read(source, _chosen(choices))
        return _table(preview, domain, choices, notes)

    def table_of_frame(
        self, frame: Any, domain: Domain, choices: Mapping[str, Any], notes: list[str] | None
    ) -> Table:
        return _table(read_frame(frame, _chosen(choices)), domain, choices, notes)


READER = _Reader()


def drafted(source: Any, *columns: str, title: str = "", **choices: Any) -> Domain:
    """Propose a domain for a file or a data frame: what ``Domain.draft`` asks."""
    chosen = _chosen(choices)
    is_file = isinstance(source, str | bytes | Path) or hasattr(source, "read")
    preview = read(source, chosen) if is_file else read_frame(source, chosen)
    return draft_domain(preview, *columns, title=title)


def _chosen(choices: Mapping[str, Any]) -> Choices:
    """Make one value of choices given singly, or as ``choices=`` and singly."""
    given = dict(choices)
    whole = given.pop("choices", None) or Choices()
    try:
        return replace(whole, **given)
    except TypeError:
        raise DataError(
            f"One of {', '.join(sorted(given))} is no choice of reading. The choices are listed in "
            "engine.ingest.Choices.",
            code="E_CHOICE",
        ) from None


def _table(
    preview: Preview, domain: Domain, choices: Mapping[str, Any], notes: list[str] | None
) -> Table:
    if notes is not None:
        notes += [note.sentence for note in preview.warnings]
    return encode(preview, domain, person=_chosen(choices).person)
