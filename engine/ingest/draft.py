"""A table on its way to becoming a preview: what is looked at in any kind of file."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.attributes import Attribute
from engine.errors import DataError
from engine.exact import Exact
from engine.ingest import leftovers, names, readings
from engine.ingest.choices import Choices
from engine.ingest.limits import Limits
from engine.ingest.notes import Note, Offer, counted, were
from engine.ingest.preview import Preview
from engine.ingest.questions import LOOKED_AT, expanded, maybe_thousands, questions

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
    declared: dict[str, Attribute] = field(default_factory=dict)
    missing_codes: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def preview(self, asked: Choices, name: str) -> Preview:
        """Finish: what is no record, labels, what there is to ask, and the choices made."""
        if self.choices.get("header_line"):
            self._leave_lines_out(asked)
            self._leave_columns_out()
        labels, notes = names.label_columns(self.names)
        self.notes += notes
        if asked.counts:
            labels = self._count(labels, asked.counts)
        self.notes += _table_notes(labels, self.columns, len(self.lines))
        self._choose_decimal(asked)
        self._choose_missing(asked)
        self.choices |= {
            name: getattr(asked, name)
            for name in ("counts", "person", "seed", "dates")
            if getattr(asked, name) not in (None, 0)
        }
        preview = Preview(
            _frame(self.columns, len(self.lines)),
            labels,
            tuple(self.notes),
            MappingProxyType(self.choices),
            MappingProxyType(self.alternatives),
            self.first_lines,
            self.lines,
            name,
            self.declared,
            self.missing_codes,
        )
        return _questioned(preview)

    def _leave_lines_out(self, asked: Choices) -> None:
        """Leave further lines of the header out, and lines that repeat it, each with a note."""
        if asked.first_line is not None:
            self.choices["first_line"] = asked.first_line
            skipped = int(np.count_nonzero(self.lines < asked.first_line))
            if skipped and leftovers.header_lines(self.names, self.columns)[0] == skipped:
                self._name_groups(leftovers.rows(self.columns, 0, skipped))
            self._keep(self.lines >= asked.first_line)
        elif len(self.lines):
            number, sure = leftovers.header_lines(self.names, self.columns)
            if number and sure:
                self._name_groups(leftovers.rows(self.columns, 0, number))
                self.notes.append(leftovers.header_lines_note(self.lines[:number].tolist()))
                self.choices["first_line"] = int(self.lines[number])
                self._keep(np.arange(len(self.lines)) >= number)
            elif number:
                first, after = self.lines[:2].tolist()
                self.notes.append(leftovers.second_header_note(first, after))
        again = leftovers.repeated_headers(self.names, self.columns)
        if again.any():
            kept = asked.repeated_headers == "kept"
            self.notes.append(leftovers.repeated_note(self.lines[again].tolist(), kept=kept))
            if not kept:
                self._keep(~again)
        self.choices["repeated_headers"] = asked.repeated_headers
        totals = leftovers.totals_inside(self.columns)
        if asked.last_line is not None:  # what was brought back is known
            totals = totals[totals < len(self.lines) - 1]
        if len(totals):
            self.notes.append(leftovers.totals_note(self.lines[totals].tolist()))

    def _name_groups(self, further: list[list[str]]) -> None:
        """Name the columns of a group by the second header line too."""
        below = leftovers.rows(self.columns, len(further), 300)
        if leftovers.fills_gaps(self.names, further[0], below):
            self.names = leftovers.group_names(self.names, further[0])

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        mask = pa.array(kept)
        self.columns = [column.filter(mask) for column in self.columns]
        self.lines = self.lines[kept]

    def _leave_columns_out(self) -> None:
        """Leave columns without a name and without a cell out."""
        held = [
            bool(name.strip()) or any_text(column)
            for name, column in zip(self.names, self.columns, strict=True)
        ]
        if all(held) or not any(held) or not len(self.lines):
            return
        gone = [j for j, kept in enumerate(held) if not kept]
        self.notes.append(leftovers.empty_columns_note(gone, len(held)))
        self.names = tuple(name for name, kept in zip(self.names, held, strict=True) if kept)
        self.columns = [c for c, kept in zip(self.columns, held, strict=True) if kept]

    def _count(self, labels: tuple[str, ...], counts: str) -> tuple[str, ...]:
        """Repeat each row as often as its column of counts says, and leave that column out."""
        if counts not in labels:
            raise DataError(
                f"The table has no column {counts!r} to say how many persons a row stands for. "
                "Name one of its columns.",
                code="E_COLUMN",
            )
        at = labels.index(counts)
        rest = [column for j, column in enumerate(self.columns) if j != at]
        places = expanded(rest, self.columns[at], self.lines, Limits().cells)
        self.columns = [column.take(pa.array(places)) for column in rest]
        self.lines = self.lines[places]
        return tuple(label for label in labels if label != counts)

    def _choose_decimal(self, asked: Choices) -> None:
        found, note = _decimal(self.columns, self.choices.get("separator"), self.lines)
        self.choices["decimal"] = asked.decimal or found
        self.alternatives["decimal"] = (".", ",")
        if note is None and found == "." and len(self.lines):
            note = maybe_thousands(self.columns, self.lines)
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
                    offers=(Offer("They mean missing everywhere", {"missing": tuple(tokens)}),),
                )
            )


def _questioned(preview: Preview) -> Preview:
    """Add what there is to ask about the columns."""
    if preview.schema_only:
        return preview
    asked = tuple(questions(preview))
    others = dict(preview.alternatives)
    codes = [
        code
        for proposal in preview.attributes(*preview.labels[:LOOKED_AT])
        for code in (*proposal.missing_codes, *proposal.may_be_missing)
    ]
    others["missing"] = tuple(dict.fromkeys([*others.get("missing", ()), *codes]))
    return preview.changed(
        warnings=(*preview.warnings, *asked), alternatives=MappingProxyType(others)
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
    if rows == 1:
        found.append(
            Note(
                "W_ONE_ROW",
                "There is one row: whatever is counted is about one person, and noise hides it.",
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


def _decimal(
    columns: list[pa.ChunkedArray], separator: object, lines: NDArray[np.int32]
) -> tuple[str, Note | None]:
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
    if comma == 0:
        asked = maybe_thousands(columns, lines, mark=",")
        if asked is not None:
            return ",", asked
    return ",", Note(
        "W_DECIMAL_COMMA",
        "Numbers seem to be written with a decimal comma (1,5 is one and a half). Say so if the "
        "comma "
        "separates thousands.",
        choice="decimal",
        offers=(Offer("The comma sets thousands apart", {"decimal": "."}),),
    )


def _missing_tokens(columns: list[pa.ChunkedArray]) -> dict[str, int]:
    tokens = pa.array(sorted(readings.MISSING_TOKENS), pa.large_string())
    pattern = rf"^(?:\.[A-Za-z_]|{readings.WORDS})$"
    found: dict[str, int] = {}
    for column in columns[:2000]:
        met = pc.value_counts(column)  # each text is looked at once, however many cells hold it
        texts = met.field("values")
        coded = pc.match_substring_regex(texts, pattern)
        for entry in met.filter(pc.or_(pc.is_in(texts, value_set=tokens), coded)).to_pylist():
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
