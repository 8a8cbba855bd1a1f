"""A table on its way to becoming a preview: what is looked at in any kind of file."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.exact import Exact
from engine.ingest import names, readings
from engine.ingest.choices import Choices
from engine.ingest.notes import Note, counted, were
from engine.ingest.preview import Preview

_MANY_COLUMNS = 1000
_TEXT = pd.StringDtype(storage="pyarrow", na_value=np.nan)


@dataclass(slots=True, eq=False, repr=False)
class Draft(Exact):
    """A table on its way to becoming a preview."""

    names: tuple[str, ...]
    columns: list[pa.ChunkedArray]
    lines: NDArray[np.int32]
    notes: list[Note]
    choices: dict[str, Any]
    alternatives: dict[str, tuple[Any, ...]]
    first_lines: tuple[str, ...] = ()

    def preview(self, asked: Choices, name: str) -> Preview:
        """Finish: labels, notes on the whole, and the choices made."""
        labels, notes = names.label_columns(self.names)
        self.notes += notes
        self.notes += _table_notes(labels, self.columns, len(self.lines))
        self._choose_decimal(asked)
        self._choose_missing(asked)
        return Preview(
            _frame(self.columns, len(self.lines)),
            labels,
            tuple(self.notes),
            MappingProxyType(self.choices),
            MappingProxyType(self.alternatives),
            self.first_lines,
            self.lines,
            name,
        )

    def _choose_decimal(self, asked: Choices) -> None:
        found, note = _decimal(self.columns, self.choices.get("separator"))
        self.choices["decimal"] = asked.decimal or found
        self.alternatives["decimal"] = (".", ",")
        if asked.decimal is None and note is not None:
            self.notes.append(note)

    def _choose_missing(self, asked: Choices) -> None:
        tokens = _missing_tokens(self.columns)
        self.choices["missing"] = asked.missing if asked.missing is not None else ()
        self.alternatives["missing"] = tuple(tokens)
        if asked.missing is None and tokens:
            number = sum(tokens.values())
            named = ", ".join(f'"{token}"' for token in list(tokens)[:6])
            self.notes.append(
                Note(
                    "W_MISSING_TOKENS",
                    f"{counted(number, 'cell')} {were(number, 'holds', 'hold')} what often means "
                    f"missing ({named}). Nothing is changed until you say that this means missing.",
                    choice="missing",
                )
            )


def any_text(column: pa.ChunkedArray) -> bool:
    """Tell whether a cell holds anything."""
    return bool((pc.max(pc.binary_length(column)).as_py() or 0) > 0)


def _table_notes(labels: tuple[str, ...], columns: list[pa.ChunkedArray], rows: int) -> list[Note]:
    found = []
    if rows == 0:
        found.append(
            Note(
                "W_HEADER_ONLY",
                "There are names and no rows: enough to declare a domain and to plan, with nothing "
                "to measure.",
            )
        )
        return found
    empty = [j for j, column in enumerate(columns) if not any_text(column)]
    if empty:
        found.append(
            Note(
                "W_EMPTY_COLUMNS",
                f"{counted(len(empty), 'column')} {were(len(empty), 'holds', 'hold')} nothing at "
                "all; leaving such columns out is offered.",
                columns=tuple(f"c{j}" for j in empty[:5]),
            )
        )
    if len(labels) > _MANY_COLUMNS:
        found.append(
            Note(
                "W_MANY_COLUMNS",
                f"The table has {len(labels):,} columns; choose the 15 or fewer that matter.",
            )
        )
    return found


def _decimal(columns: list[pa.ChunkedArray], separator: object) -> tuple[str, Note | None]:
    """Find the decimal mark from the cells that hold one."""
    comma = point = either = 0
    for column in columns[:200]:
        held = column.slice(0, 20_000)
        held = held.filter(pc.match_substring_regex(held, r"^[^A-Za-z]*\d[.,]\d[^A-Za-z]*$"))
        votes = readings.decimal_votes(held.slice(0, 500).to_pylist())
        comma, point, either = comma + votes[0], point + votes[1], either + votes[2]
    commas = comma > point or (comma == point == 0 and either > 0 and separator == ";")
    if not commas:
        return ".", None
    return ",", Note(
        "W_DECIMAL_COMMA",
        "Numbers seem to be written with a decimal comma (1,5 is one and a half). Say so if the "
        "comma "
        "separates thousands.",
        choice="decimal",
    )


def _missing_tokens(columns: list[pa.ChunkedArray]) -> dict[str, int]:
    tokens = pa.array(sorted(readings.MISSING_TOKENS), pa.large_string())
    found: dict[str, int] = {}
    for column in columns[:2000]:
        hit = column.filter(pc.is_in(column, value_set=tokens))
        if len(hit):
            for entry in pc.value_counts(hit).to_pylist():
                found[entry["values"]] = found.get(entry["values"], 0) + entry["counts"]
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _frame(columns: list[pa.ChunkedArray], rows: int) -> pd.DataFrame:
    # The arrays themselves, in pieces as they are: joining or casting them takes twice the room.
    made = {f"c{j}": _text_array(column) for j, column in enumerate(columns)}
    pa.default_memory_pool().release_unused()
    return pd.DataFrame(made, index=pd.RangeIndex(rows), copy=False)


def _text_array(column: pa.ChunkedArray) -> pd.arrays.ArrowStringArray:
    # The stubs do not know the dtype argument yet.
    return pd.arrays.ArrowStringArray(column, dtype=_TEXT)  # type: ignore[call-arg]
