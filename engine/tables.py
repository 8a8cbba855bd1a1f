"""Records, and exact counts of them. Nothing in this module may leave: every value is private.

Counting stands behind one small interface, ``CountSource``: a table of integer codes here, a
database elsewhere.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.domain import Attribute, Domain
from engine.errors import DataError
from engine.layout import Layout
from engine.types import AttributeSet, IntArray

_DROP, _OUTSIDE, _MISSING = -1, -2, -3
_PARALLEL_ROWS = 4096
"""Below this many rows a second counting thread costs more than it brings."""


class CountSource(Protocol):
    """Anything that can count records exactly."""

    @property
    def domain(self) -> Domain:
        """The declared domain of the records."""
        ...

    def count(self, sets: Sequence[AttributeSet]) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (position in ``sets``, exact counts in domain order), in any order."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class ExactMarginal:
    """True counts of one marginal: private, so it is neither printed nor pickled.

    Shapes:
        values: (n_i for i in attrs), int64, read-only; unit: records.
    """

    attrs: AttributeSet
    values: IntArray

    def __repr__(self) -> str:
        return f"ExactMarginal(attrs={self.attrs}, private)"

    def __reduce__(self) -> NoReturn:
        _refuse_copy("An exact marginal")


class Table:
    """Records as integer codes, one row of ``codes`` for each attribute.

    Make one with ``from_csv``, ``from_frame`` or ``from_codes``.
    """

    __slots__ = ("_codes", "_domain")

    def __init__(self, codes: NDArray[Any], domain: Domain) -> None:
        self._codes, self._domain = codes, domain

    @property
    def domain(self) -> Domain:
        """The declared domain."""
        return self._domain

    @property
    def codes(self) -> NDArray[Any]:
        """The private records: shape (attributes, records), read-only, smallest unsigned type."""
        return self._codes

    def __repr__(self) -> str:
        # The number of records is private too.
        return f"Table({len(self._domain)} attributes; the records are private)"

    # -- making one -----------------------------------------------------------------------------

    @classmethod
    def from_codes(cls, codes: NDArray[Any] | Sequence[Sequence[int]], domain: Domain) -> Table:
        """Make a table of integer codes, shape (records, attributes), each 0 .. size - 1.

        Raises:
            DataError: If the shape does not fit the domain, the codes are no integers, or one lies
                outside its attribute's domain (``E_VALUE``).
        """
        array = np.asarray(codes)
        if array.size == 0 and array.ndim < 2:
            array = np.zeros((0, len(domain)), dtype=np.int64)
        if array.ndim != 2 or array.shape[1] != len(domain):
            raise DataError(
                f"The codes have shape {array.shape}; (records, {len(domain)}), one column for "
                "each attribute of the domain, is needed. Select and order the columns.",
                code="E_COLUMN",
            )
        if array.dtype.kind not in "iu":
            raise DataError(
                f"The codes are of type {array.dtype}; integers are needed. Code each value by its "
                "position in the domain.",
                code="E_VALUE",
            )
        for attribute, column in zip(domain, array.T, strict=True):
            _check_codes(attribute, column)
        return cls._packed([array[:, i] for i in range(len(domain))], domain)

    @classmethod
    def from_frame(cls, frame: Any, domain: Domain) -> Table:
        """Make a table from a pandas data frame whose columns carry the attributes' names.

        Cells are read as their texts; None, NaN and NA are missing. Other columns are ignored.

        Raises:
            DataError: As ``from_csv``.
        """
        names = [str(name) for name in frame.columns]
        _check_header(names, domain)
        columns = [_texts(frame.iloc[:, names.index(name)]) for name in domain.names]
        return cls._encoded(columns, domain, first_line=None)

    @classmethod
    def from_csv(cls, source: str | Path | bytes, domain: Domain) -> Table:
        """Read a CSV file (UTF-8, comma, header line; gzip is recognised by content) strictly.

        Columns that the domain does not name are ignored. Cells are taken as text, blanks around
        them removed.

        Raises:
            DataError: If the file cannot be read, a column is missing or named twice
                (``E_COLUMN``), a line has the wrong number of fields (``E_CSV_SHAPE``), a value
                lies outside its declared domain (``E_VALUE``), or a cell is missing where the
                domain has no rule for it (``E_MISSING``).
        """
        rows = _csv_rows(source)
        header = [name.strip() for name in next(rows, [])]
        _check_header(header, domain)
        kept = [header.index(name) for name in domain.names]
        columns = _columns(rows, len(header), kept)
        return cls._encoded(columns, domain, first_line=2)

    @classmethod
    def _encoded(
        cls, columns: Sequence[Sequence[str]], domain: Domain, *, first_line: int | None
    ) -> Table:
        encoded = [
            _encode(attribute, column) for attribute, column in zip(domain, columns, strict=True)
        ]
        keep = np.logical_and.reduce([codes != _DROP for codes in encoded])
        for attribute, codes in zip(domain, encoded, strict=True):
            # A record that is left out may hold anything elsewhere.
            _check_encoded(attribute, np.where(keep, codes, 0), first_line)
        return cls._packed([codes[keep] for codes in encoded], domain)

    @classmethod
    def _packed(cls, columns: Sequence[NDArray[Any]], domain: Domain) -> Table:
        # One type for all columns keeps them in one block; the largest domain decides.
        codes = np.empty(
            (len(domain), len(columns[0])), dtype=np.min_scalar_type(max(domain.sizes) - 1)
        )
        for row, column in zip(codes, columns, strict=True):
            row[:] = column
        codes.flags.writeable = False
        return cls(codes, domain)

    # -- counting -------------------------------------------------------------------------------

    def count(self, sets: Sequence[AttributeSet]) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (position in ``sets``, exact counts in domain order), in any order.

        Cell numbers are combined attribute by attribute, so sets that share their first attributes
        share that work; two threads count where there are rows enough.
        """
        layout = Layout(self._domain.sizes, sets)
        order = sorted(range(len(sets)), key=lambda k: layout.axes(k))
        groups = [list(g) for _, g in groupby(order, key=lambda k: layout.axes(k)[:-1])]
        if self._codes.shape[1] < _PARALLEL_ROWS or len(groups) < 2 or (os.cpu_count() or 1) < 2:
            for group in groups:
                yield from self._count_group(layout, group)
            return
        with ThreadPoolExecutor(2) as pool:
            for counted in pool.map(lambda group: list(self._count_group(layout, group)), groups):
                yield from counted

    def _count_group(
        self, layout: Layout, group: Sequence[int]
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Count sets whose memory axes agree in all but the last."""
        rows = self._codes.shape[1]
        prefix = layout.axes(group[0])[:-1]
        cell: IntArray = np.zeros(rows, dtype=np.int64)
        for i in prefix:
            cell *= layout.sizes[i]
            cell += self._codes[i]
        last = np.empty_like(cell)
        for k in group:
            shape = tuple(layout.sizes[i] for i in layout.axes(k))
            if not shape:
                yield k, np.asarray(rows)
                continue
            np.multiply(cell, shape[-1], out=last)
            last += self._codes[layout.axes(k)[-1]]
            counts = np.bincount(last, minlength=math.prod(shape))
            yield k, layout.in_domain_order(counts, k)


class Private:
    """The only handle on exact counts that mechanisms get; it cannot be printed, pickled or copied.

    Counts are taken once and kept for the workloads last used.

    Args:
        source: A table, or anything else that counts.
    """

    __slots__ = ("_counts", "_source", "_workspace")

    _KEPT = 2

    def __init__(self, source: CountSource) -> None:
        self._source = source
        self._counts: dict[tuple[AttributeSet, ...], tuple[Layout, NDArray[Any]]] = {}
        self._workspace: dict[object, object] = {}

    @property
    def domain(self) -> Domain:
        """The declared domain, which is public."""
        return self._source.domain

    def marginal(self, attrs: AttributeSet) -> ExactMarginal:
        """Return the exact counts over ``attrs`` in domain order."""
        for layout, flat in list(self._counts.values()):
            if attrs in layout.index:
                found = layout.view(flat, layout.index[attrs])
                break
        else:
            found = next(counts for _, counts in self._source.count([attrs]))
        values: IntArray = np.array(found, dtype=np.int64, order="C")
        values.flags.writeable = False
        return ExactMarginal(attrs, values)

    def counts(self, layout: Layout) -> NDArray[Any]:
        """Return the exact counts of every set of the layout, in its order, read-only.

        Counts are as small an unsigned integer type as the number of records allows.
        """
        kept = self._counts.pop(layout.sets, None)
        if kept is None:
            total = int(next(counts for _, counts in self._source.count([()])))
            flat = np.empty(layout.total_cells, dtype=np.min_scalar_type(max(total, 1)))
            for k, counts in self._source.count(layout.sets):
                layout.view(flat, k)[...] = counts
            flat.flags.writeable = False
            kept = layout, flat
        while len(self._counts) >= self._KEPT:
            self._counts.pop(next(iter(self._counts)))
        self._counts[layout.sets] = kept
        return kept[1]

    def borrow(self, key: object) -> object | None:
        """Take a run's working memory out; nobody else gets it until ``lend`` puts it back."""
        return self._workspace.pop(key, None)

    def lend(self, key: object, memory: object) -> None:
        """Keep one run's working memory (exact values inside) for its next step."""
        while len(self._workspace) >= self._KEPT:
            self._workspace.pop(next(iter(self._workspace)), None)
        self._workspace[key] = memory

    def __repr__(self) -> str:
        return f"Private({len(self.domain)} attributes; the counts stay here)"

    def __reduce__(self) -> NoReturn:
        _refuse_copy("Private counts")

    def __copy__(self) -> NoReturn:
        _refuse_copy("Private counts")


def _refuse_copy(what: str) -> NoReturn:
    raise TypeError(
        f"{what} cannot be pickled or copied: exact values do not leave the process. "
        "Pickle the state, the events or the release instead."
    )


# -- reading ------------------------------------------------------------------------------------


def _csv_rows(source: str | Path | bytes) -> Iterator[list[str]]:
    if isinstance(source, bytes):
        content = source
    else:
        try:
            content = Path(source).read_bytes()
        except OSError as error:
            raise DataError(
                f"The table cannot be read ({error.strerror}). Give the path of a CSV file."
            ) from None
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise DataError(
                f"The table's gzip data are damaged ({error}). Compress it again."
            ) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"The table is not UTF-8 (line {line}). Save it as UTF-8.", code="E_FORMAT"
        ) from None
    return csv.reader(io.StringIO(text, newline=""), strict=True)


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
        raise DataError(
            f"The table is no proper CSV after record {line - 1} ({error}). Correct its quotes.",
            code="E_CSV_SHAPE",
        ) from None
    return columns


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


def _texts(column: Any) -> list[str]:
    missing = column.isna().to_numpy()
    return [
        "" if gone else str(cell)
        for cell, gone in zip(column.to_numpy(dtype=object), missing, strict=True)
    ]


def _check_codes(attribute: Attribute, column: NDArray[Any]) -> None:
    outside = (column < 0) | (column >= attribute.size)
    if outside.any():
        raise DataError(
            f"Attribute {attribute.name!r} has a code outside its domain 0 to {attribute.size - 1} "
            f"(first in record {int(outside.argmax()) + 1}). Widen the domain, or correct the "
            "code.",
            code="E_VALUE",
        )


def _encode(attribute: Attribute, column: Sequence[str]) -> IntArray:
    # Every distinct text is understood once, however many records hold it.
    meaning = encode_texts(attribute, set(column))
    codes: IntArray = np.fromiter(map(meaning.__getitem__, column), np.int64, len(column))
    return codes


def _check_encoded(attribute: Attribute, codes: IntArray, first_line: int | None) -> None:
    for problem, refuse in ((_MISSING, _refuse_missing), (_OUTSIDE, _refuse_outside)):
        if (codes == problem).any():
            refuse(attribute, int((codes == problem).argmax()), first_line)


def encode_texts(attribute: Attribute, texts: Iterable[str]) -> dict[str, int]:
    """Return the code of each distinct cell text under the attribute's declared rules.

    -1: leave the record out; -2: outside the domain, to be refused; -3: missing without a rule.
    """
    values = {value: code for code, value in enumerate(attribute.labels)}
    if attribute.kind == "numeric":
        values = {}
    edges = np.array(attribute.edges) if attribute.edges is not None else None
    missing = attribute.missing
    codes = set(missing.codes) if missing else set()
    return {
        text: _code(attribute, text if text in values else text.strip(), values, edges, codes)
        for text in texts
    }


def _code(
    attribute: Attribute,
    text: str,
    values: dict[str, int],
    edges: NDArray[np.float64] | None,
    missing_codes: set[str],
) -> int:
    if (text == "" and "" not in values) or text in missing_codes:
        if attribute.missing is None:
            return _MISSING
        if attribute.missing.rule == "drop":
            return _DROP
        if attribute.missing.rule == "category":
            return attribute.size - 1
        text = attribute.missing.value or ""
    declared = attribute.size - (
        attribute.missing is not None and attribute.missing.rule == "category"
    )
    if values.get(text, declared) < declared - (attribute.outside == "other"):
        return values[text]
    number = _number(text) if attribute.kind in ("integer", "numeric") else None
    if number is not None:
        code = _numeric_code(attribute, number, edges)
        if code is not None:
            return code
    return declared - 1 if attribute.outside == "other" else _OUTSIDE


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _numeric_code(
    attribute: Attribute, number: float, edges: NDArray[np.float64] | None
) -> int | None:
    clamp = attribute.outside == "clamp"
    if edges is not None:
        if clamp:
            number = min(max(number, float(edges[0])), float(edges[-1]))
        if not edges[0] <= number <= edges[-1]:
            return None
        return min(int(np.searchsorted(edges, number, side="right")) - 1, len(edges) - 2)
    first, last = attribute.bounds or (0, 0)
    if clamp:
        number = min(max(number, first), last)
    if not first <= number <= last or number != int(number):
        return None
    return int(number) - first


def _where(record: int, first_line: int | None) -> str:
    return f"record {record + 1}" + (f", line {record + first_line} or later" if first_line else "")


def _refuse_missing(attribute: Attribute, record: int, first_line: int | None) -> NoReturn:
    raise DataError(
        f"Attribute {attribute.name!r} has a missing cell ({_where(record, first_line)}) and its "
        'domain has no rule for it. Declare "missing": a category of its own, drop the record, or '
        "replace.",
        code="E_MISSING",
    )


def _refuse_outside(attribute: Attribute, record: int, first_line: int | None) -> NoReturn:
    raise DataError(
        f"Attribute {attribute.name!r} has a value outside its declared domain "
        f"({_where(record, first_line)}). Widen the domain, or declare what undeclared values "
        'become ("outside": other or clamp).',
        code="E_VALUE",
    )
