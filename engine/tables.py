"""Records, and exact counts of them. Nothing in this module may leave: every value is private.

Counting stands behind one small interface, ``CountSource``: a table of integer codes here, a
database elsewhere.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from engine import kernels
from engine.domain import Attribute, Domain
from engine.errors import DataError
from engine.exact import Exact
from engine.layout import Layout
from engine.types import AttributeSet, IntArray

_DROP, _OUTSIDE, _MISSING = -1, -2, -3
_MAX_BYTES = 1 << 30
"""Most bytes a packed table may unpack to."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SMALL, _MOST_ALONE = 2, 4096
"""Attributes of a marginal that is kept once counted, and how many are."""
_PARALLEL_ROWS = 500_000
"""Records counted (rows times sets) below which a second thread costs more than it brings."""


class CountSource(Protocol):
    """Anything that can count records exactly."""

    @property
    def domain(self) -> Domain:
        """The declared domain of the records."""
        ...

    def records(self) -> int:
        """Return the number of records: private, like every count."""
        ...

    def count_into(self, layout: Layout, counts: NDArray[Any]) -> None:
        """Write the exact counts of every set of the layout where the layout says."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExactMarginal(Exact):
    """True counts of one marginal: private, so it is neither printed nor pickled.

    Shapes:
        values: (n_i for i in attrs), int64, read-only; unit: records.
    """

    attrs: AttributeSet
    values: IntArray

    def __repr__(self) -> str:
        return f"ExactMarginal(attrs={self.attrs}, private)"


class Table(Exact):
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
        try:
            array = np.asarray(codes)
        except ValueError:
            raise DataError(
                f"The codes are no rectangle; one row of {len(domain)} codes for each record is "
                "needed. Complete the short rows.",
                code="E_COLUMN",
            ) from None
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
        try:
            header = [name.strip() for name in next(rows, [])]
        except csv.Error as error:
            raise _no_csv("in its header", error) from None
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

    def records(self) -> int:
        """Return the number of records: private."""
        return int(self._codes.shape[1])

    def count_into(self, layout: Layout, counts: NDArray[Any]) -> None:
        """Write the exact counts of every set of the layout where the layout says.

        Cell numbers are combined attribute by attribute, so sets that share their leading
        attributes in memory share that work; both cores count where there are rows enough.
        """
        counts[:] = 0
        order: IntArray = np.lexsort(layout.axis_attr.T[::-1]).astype(np.int64)
        work = np.full(len(order), max(self.records(), 1))
        cell = np.int32 if int(layout.cells.max(initial=0)) < 2**31 else np.int64

        def count(first: int, last: int) -> None:
            kernels.count_cells(
                self._codes,
                layout.axis_attr,
                layout.axis_size,
                layout.offsets,
                order,
                counts,
                np.empty(self.records(), dtype=cell),
                first,
                last,
            )

        kernels.in_threads(count, kernels.parts(work, at_least=_PARALLEL_ROWS))


class Private(Exact):
    """The only handle on exact counts that mechanisms get; it cannot be printed, pickled or copied.

    Counts are taken once and kept for the workloads last used.

    Args:
        source: A table, or anything else that counts.
    """

    __slots__ = ("_alone", "_counts", "_source", "_workspace")

    _KEPT = 2

    def __init__(self, source: CountSource) -> None:
        self._source = source
        self._counts: dict[tuple[AttributeSet, ...], tuple[Layout, NDArray[Any]]] = {}
        self._alone: dict[AttributeSet, ExactMarginal] = {}
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
            return self._counted_alone(attrs)
        return ExactMarginal(attrs, _read_only(found))

    def _counted_alone(self, attrs: AttributeSet) -> ExactMarginal:
        """Count one marginal; small ones are kept, since rounds come back to them."""
        kept = self._alone.get(attrs)
        if kept is None:
            alone = Layout(self.domain.sizes, [attrs])
            kept = ExactMarginal(attrs, _read_only(alone.view(self._count(alone), 0)))
            if len(attrs) <= _SMALL and len(self._alone) < _MOST_ALONE:
                self._alone[attrs] = kept
        return kept

    def counts(self, layout: Layout) -> NDArray[Any]:
        """Return the exact counts of every set of the layout, in its order, read-only.

        Counts are as small an unsigned integer type as the number of records allows.
        """
        kept = self._counts.pop(layout.sets, None)
        if kept is None:
            kept = layout, self._count(layout)
        while len(self._counts) >= self._KEPT:
            self._counts.pop(next(iter(self._counts)))
        self._counts[layout.sets] = kept
        return kept[1]

    def _count(self, layout: Layout) -> NDArray[Any]:
        flat = np.empty(layout.total_cells, dtype=np.min_scalar_type(self._source.records()))
        self._source.count_into(layout, flat)
        flat.flags.writeable = False
        return flat

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


def _read_only(counts: NDArray[Any]) -> IntArray:
    values: IntArray = np.array(counts, dtype=np.int64, order="C")
    values.flags.writeable = False
    return values


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
    # Stricter than float(): "1_000" and "infinity" are no numbers in a table.
    return float(text) if _NUMBER.fullmatch(text) else None


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
