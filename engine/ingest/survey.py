"""Files of statistical packages (SPSS, Stata, SAS) with what they declare of their variables.

Value labels become values, declared missing values become missing codes: declared by whoever made
the file, not read from its rows. Needs the extra ``survey`` (pyreadstat).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from engine.attributes import Attribute, Missing
from engine.coding import text_of
from engine.errors import DataError
from engine.exact import Exact
from engine.ingest import content
from engine.ingest.choices import Choices
from engine.ingest.delimited import Progress
from engine.ingest.draft import Draft
from engine.ingest.limits import Limits
from engine.ingest.notes import Note, counted, were

_MOST_CODES = 50


def read_survey(data: bytes, asked: Choices, limits: Limits, progress: Progress | None) -> Draft:
    """Read a file of SPSS, Stata or SAS."""
    name = content.survey_name(data)
    frame, about, dated = _frame(data, name, limits)
    labels = list(frame.columns)
    codes = {label: _missing_codes(about, label, frame[label]) for label in labels}
    made = [_Variable(label, frame[label], about, codes[label]) for label in labels]
    columns = [_chunked(variable.texts()) for variable in made]
    declared = {v.label: v.attribute() for v in made if v.listed}
    notes = _notes(made) if dated else [_dates_note(), *_notes(made)]
    lines = np.arange(1, len(frame) + 1, dtype=np.int32)
    choices = {"format": "survey", "trim": asked.trim}
    draft = Draft(tuple(labels), columns, lines, notes, choices, {}, declared=declared)
    draft.missing_codes = {v.label: v.missing for v in made if v.missing and not v.listed}
    return draft


def _frame(data: bytes, name: str, limits: Limits) -> tuple[pd.DataFrame, Any, bool]:
    """Return the cells, what is declared of them, and whether dates could be read as dates."""
    # Long: three ways to read a file, and what each refusal says.
    try:
        import pyreadstat
    except ImportError:
        raise DataError(
            f"The file is {name}; reading it needs the package pyreadstat (the extra "
            '"survey"). Install it, or save the table as CSV.',
            code="E_FORMAT",
        ) from None
    reader, tagged = {
        "an SPSS file": (pyreadstat.read_sav, True),
        "an SPSS portable file": (pyreadstat.read_por, False),
        "a Stata file": (pyreadstat.read_dta, True),
        "a SAS transport file": (pyreadstat.read_xport, False),
        "a SAS file": (pyreadstat.read_sas7bdat, True),
    }[name]
    options = {"user_missing": True} if tagged else {}
    try:
        with _named(data) as path:
            _, about = reader(path, metadataonly=True)
            rows, columns = about.number_rows or 0, about.number_columns or 0
            if rows * max(1, columns) > limits.cells or columns > limits.columns:
                raise DataError(
                    f"The file declares {rows:,} rows and {columns:,} columns; at most "
                    f"{limits.cells:,} cells can be read. Keep only the columns that are needed.",
                    code="E_TOO_LARGE",
                )
            dated = True
            try:
                frame, about = reader(path, **options)
            except OverflowError:  # a date before the year 1 or after 9999
                dated = False
                frame, about = reader(path, disable_datetime_conversion=True, **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OSError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"The file is {name}, damaged or of a version that cannot be read. Save the table "
            "as CSV where it was made, and choose that.",
            code="E_FORMAT",
        ) from None
    if not len(frame.columns):
        raise content.empty()
    return frame, about, dated


@contextmanager
def _named(data: bytes) -> Iterator[str]:
    """Give the bytes a path, in memory where the system can: nothing is written then."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("table")
        try:
            with os.fdopen(os.dup(handle), "wb") as file:
                file.write(data)
            yield f"/proc/self/fd/{handle}"
        finally:
            os.close(handle)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table")
        with open(path, "wb") as copy:
            copy.write(data)
        yield path


def _missing_codes(about: Any, label: str, cells: pd.Series[Any]) -> tuple[Any, ...]:
    """Return the values that the file declares missing: numbers, texts, or tags ("a" for .a).

    A range means its whole numbers where they are few, and every value in it that is there.
    """
    codes: list[Any] = list((about.missing_user_values or {}).get(label, ()))
    named = (about.variable_value_labels or {}).get(label, {})
    for given in (about.missing_ranges or {}).get(label, ()):
        low, high = given["lo"], given["hi"]
        if low == high:
            codes.append(low)
            continue
        codes += [v for v in named if isinstance(v, int | float) and low <= v <= high]
        whole = isinstance(low, int | float) and high - low < _MOST_CODES
        codes += [float(v) for v in np.arange(low, high + 1)] if whole else []
        held = pd.unique(cells.dropna())
        codes += [v for v in held if isinstance(v, int | float) and low <= v <= high]
    if not _holds_texts(about, label):
        codes += [v for v in named if isinstance(v, str) and len(v) == 1 and v.isalpha()]
    return tuple(dict.fromkeys(codes))


def _holds_texts(about: Any, label: str) -> bool:
    """Tell a variable of texts, whose values of one letter are values and no tags."""
    return (about.readstat_variable_types or {}).get(label) == "string"


class _Variable(Exact):
    """One variable: its cells as texts, and what is declared of it."""

    def __init__(
        self, label: str, cells: pd.Series[Any], about: Any, codes: tuple[Any, ...]
    ) -> None:
        self.label = label
        self._cells = cells
        self._numeric = not _holds_texts(about, label)
        tags = codes if self._numeric else ()
        self._tags = {c for c in tags if isinstance(c, str) and len(c) == 1}
        named: Mapping[Any, str] = (about.variable_value_labels or {}).get(label, {})
        self._named = {v: str(n) for v, n in sorted(named.items(), key=_by_value)}
        held = list(pd.unique(cells.dropna()))
        self.unnamed = [v for v in held if v not in self._named and v not in codes]
        values = {v: n for v, n in self._named.items() if v not in codes}
        # Labels at the ends of a scale name no values: the numbers between have none.
        self.listed = len(values) > 1 and len(self.unnamed) <= len(values)
        self._texts = _distinct(self._named) if self.listed else {}
        extra = [v for v in held if v in codes or (isinstance(v, str) and v in self._tags)]
        self.missing = tuple(dict.fromkeys(self._text(c) for c in (*codes, *extra)))
        self.description = str((about.column_names_to_labels or {}).get(label) or "")
        self._values = tuple(self._text(v) for v in values)
        self.tagged = sorted(self._tags)

    def _text(self, value: Any) -> str:
        if value in self._texts:
            return self._texts[value]
        if self._numeric and isinstance(value, str) and value in self._tags:
            return f".{value}"
        text = text_of(value)
        return text.removesuffix(".0") if isinstance(value, float) else text

    def texts(self) -> list[str]:
        """Return each cell's text; a missing one without a code is empty."""
        known = {value: self._text(value) for value in pd.unique(self._cells.dropna())}
        gone = self._cells.isna().to_numpy()
        cells = self._cells.to_numpy(dtype=object)
        return ["" if g else known[c] for c, g in zip(cells, gone, strict=True)]

    def attribute(self) -> Attribute:
        """Return what the file declares; values that it does not name are counted as Other."""
        unnamed = bool(self.unnamed)
        return Attribute(
            self.label,
            values=self._values,
            outside="other" if unnamed else "refuse",
            missing=Missing(codes=self.missing),
            description=self.description,
            # That there are others was read from the rows.
            source="data" if unnamed else "declared",
            declared=("missing",) if unnamed else (),
        )


def _by_value(item: tuple[Any, str]) -> tuple[bool, Any]:
    return isinstance(item[0], str), item[0]


def _distinct(named: Mapping[Any, str]) -> dict[Any, str]:
    """Return each value's label, with the code where two have the same one."""
    labels = [name.strip() for name in named.values()]
    return {
        value: f"{name.strip()} ({text_of(value).removesuffix('.0')})"
        if labels.count(name.strip()) > 1 or not name.strip()
        else name.strip()
        for value, name in named.items()
    }


def _chunked(texts: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts, pa.large_string())])


def _dates_note() -> Note:
    return Note(
        "W_DATES_AS_NUMBERS",
        "A date of the file lies before the year 1 or after 9999, so dates and times were read as "
        "the numbers that the file holds (days or seconds). Correct that date to have them as "
        "dates.",
    )


def _notes(variables: list[_Variable]) -> list[Note]:
    declared = [v for v in variables if v.listed]
    coded = [v for v in variables if v.missing]
    found = []
    if declared or coded:
        found.append(
            Note(
                "W_DECLARED",
                f"The file itself declares the values of {counted(len(declared), 'column')} and "
                f"what means missing in {counted(len(coded), 'column')}: taken over as the "
                "declared domain. Check that this is the codebook and no list made from the rows.",
            )
        )
    unnamed = [v for v in declared if v.unnamed]
    if unnamed:
        found.append(
            Note(
                "W_UNNAMED_VALUES",
                f"{counted(len(unnamed), 'column')} {were(len(unnamed), 'holds', 'hold')} values "
                "that the file gives no label: counted as Other together. List them as values "
                "under Domain to keep them apart.",
            )
        )
    tagged = sum(len(v.tagged) for v in variables)
    if tagged:
        found.append(
            Note(
                "W_TAGGED_MISSING",
                f"{counted(tagged, 'kind')} of missing values (.a, .b, ...) {were(tagged)} kept "
                "apart as texts; each counts as missing until you list it as a value.",
            )
        )
    return found
