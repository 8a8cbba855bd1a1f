"""Records, and exact counts of them. Nothing in this module may leave: every value is private.

Counting stands behind one small interface, ``CountSource``: a table of integer codes here, a
database elsewhere.
"""

# Over 400 lines: a table and the only handle on its counts; what sees records stands together.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine import counting, strict_csv
from engine.accounting import Charge, Ledger
from engine.checking import expect, found
from engine.domain import Attribute, Domain
from engine.errors import DataError, DomainError
from engine.exact import Exact
from engine.exact_noise import charged
from engine.layout import Layout
from engine.odometer import Odometer
from engine.types import AttributeSet, IntArray

_SMALL, _MOST_ALONE = 2, 4096
"""Attributes of a marginal that is kept once counted, and how many are."""


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


@runtime_checkable
class Foreseeing(CountSource, Protocol):
    """A source whose every count is a pass over its records: better told what will be asked."""

    odometer: Odometer

    def foresee(self, sets: Sequence[AttributeSet]) -> None:
        """Count all of these at once and keep them, if their cells are not too many."""
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


class Reader(Protocol):
    """What reads any file and any data frame into a table: the room ``ingest`` does."""

    def table_of_file(
        self, source: Any, domain: Domain, choices: Mapping[str, Any], notes: list[str] | None
    ) -> Table:
        """Read a file under these choices."""
        ...

    def table_of_frame(
        self, frame: Any, domain: Domain, choices: Mapping[str, Any], notes: list[str] | None
    ) -> Table:
        """Read a data frame under these choices."""
        ...


_reader: list[Callable[[], Reader]] = []


def read_with(reader: Callable[[], Reader]) -> None:
    """Say who reads files for ``Table``; this module stands below, and knows no file but CSV."""
    _reader[:] = [reader]


class Table(Exact):
    """Records as integer codes of a declared domain; they are private, and so is their number.

    Make one with ``from_file``, ``from_frame``, ``from_codes``, or ``from_csv`` (strict).
    """

    __slots__ = ("_codes", "_domain", "odometer")

    def __init__(
        self, codes: NDArray[Any], domain: Domain, odometer: Odometer | None = None
    ) -> None:
        self._codes, self._domain = codes, domain
        self.odometer = odometer or Odometer()
        self.odometer.of(domain.names, codes)

    @property
    def domain(self) -> Domain:
        """The declared domain."""
        return self._domain

    @property
    def codes(self) -> NDArray[Any]:
        """The private records: shape (attributes, records), read-only, smallest unsigned type.

        Deprecated: ``select`` gives a table of some attributes; nothing else needs the records.
        """
        return self._codes

    def select(self, *attributes: str | int) -> Table:
        """Return the table of some of the attributes, in the order given here.

        Raises:
            DomainError: If one is unknown or named twice.
        """
        domain = self._domain.select(*attributes)
        positions = [self._domain.attrs(attribute)[0] for attribute in attributes]
        # Of the same records: what is spent on one is spent on both.
        chosen = Table._packed([self._codes[position] for position in positions], domain)
        return Table(chosen._codes, domain, self.odometer)

    def declare_public(self, statement: str) -> None:
        """Say, in words, that the records are public: true values may be shown after a release.

        Raises:
            DataError: If it is not said in words (``E_PROTECTED``).
        """
        self.odometer.declare_public(statement)

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
        expect(domain, Domain, "a Domain", "Write Table.from_codes(codes, domain).")
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
    def from_frame(
        cls, frame: Any, domain: Domain, *, notes: list[str] | None = None, **choices: Any
    ) -> Table:
        """Make a table from a data frame whose columns carry the attributes' names.

        The frame is a pandas or Polars data frame, an Arrow table, anything with the Arrow stream
        (``__arrow_c_stream__``) or data frame (``__dataframe__``) protocol, a dict of columns, or
        a list of records. Cells are read as the texts that stand for them; None, NaN and NA are
        missing. Columns that the domain does not name are ignored.

        Args:
            frame: The records.
            domain: Their declared domain.
            notes: Takes what there is to check, one sentence each.
            **choices: How cells are read, as in ``engine.ingest.read``: ``missing``, ``decimal``,
                ``person`` and so on.

        Raises:
            DataError: As ``from_file``; if it is no data frame (``E_FORMAT``).
        """
        expect(domain, Domain, "a Domain", "Write Table.from_frame(frame, domain).")
        return _reader[0]().table_of_frame(frame, domain, choices, notes)

    @classmethod
    def from_file(
        cls,
        source: str | Path | bytes,
        domain: Domain,
        *,
        notes: list[str] | None = None,
        **choices: Any,
    ) -> Table:
        """Read any file that the Data page reads: delimited text, Excel, Parquet, a survey's file.

        Args:
            source: Path or content, packed with gzip or not.
            domain: Declared attributes; each has a column, or says of which it is made.
            notes: Takes what there is to check in the file, one sentence each.
            **choices: What is not to be found from the content, as in ``engine.ingest.read``:
                ``separator``, ``sheet``, ``missing``, ``person`` and so on. A domain file may hold
                them: ``engine.ingest.Choices.from_json``.

        Raises:
            DataError: If the file cannot be read, a column is missing (``E_COLUMN``), a value lies
                outside its declared domain (``E_VALUE``), or a cell is missing where the domain has
                no rule for it (``E_MISSING``).
        """
        expect(domain, Domain, "a Domain", "Write Table.from_file(path, domain).")
        return _reader[0]().table_of_file(source, domain, choices, notes)

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
        expect(domain, Domain, "a Domain", "Write Table.from_csv(path, domain).")
        return cls._packed(strict_csv.codes_of(source, domain), domain)

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
        counting.add_counts(layout, self._codes, counts)


class Private(Exact):
    """The only handle on exact counts that mechanisms get; it cannot be printed, pickled or copied.

    Counts are taken once and kept for the workloads last used. ``odometer`` counts what all runs
    on the table have cost, whichever handle they had.

    Args:
        source: A table, or anything else that counts.
    """

    __slots__ = ("_alone", "_counts", "_source", "_workspace", "odometer")

    _KEPT = 2

    def __init__(self, source: CountSource) -> None:
        if isinstance(source, Private) or not isinstance(getattr(source, "domain", None), Domain):
            raise DataError(
                f"{found(source)} cannot be counted; a Table is needed, once. Make one with "
                "Table.from_frame(frame, domain), Table.from_file(path, domain) or "
                "load_sample(name)."
            )
        self._source = source
        self.odometer = source.odometer if isinstance(source, Table | Foreseeing) else Odometer()
        self._counts: dict[tuple[AttributeSet, ...], tuple[Layout, NDArray[Any]]] = {}
        self._alone: dict[AttributeSet, ExactMarginal] = {}
        self._workspace: dict[object, object] = {}

    @property
    def domain(self) -> Domain:
        """The declared domain, which is public."""
        return self._source.domain

    def foresee(self, sets: Sequence[AttributeSet]) -> None:
        """Say which marginals a run will ask for; a table in memory has no need to know."""
        if isinstance(self._source, Foreseeing):
            self._source.foresee(sets)

    def marginal(self, attrs: AttributeSet) -> ExactMarginal:
        """Return the exact counts over ``attrs`` in domain order."""
        if not isinstance(attrs, tuple):
            raise _no_set(attrs)
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
            if tuple(sorted({*attrs})) != attrs:
                raise _no_set(attrs)
            self.domain.cells(attrs)  # refuses what is no set of positions
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

    def charge(self, ledger: Ledger, rng: object, *charges: Charge) -> Ledger:
        """Charge a ledger before something is drawn, and count it for the table.

        Raises:
            BudgetError: If the ledger refuses; nothing is counted then.
            DataError: If a private release was made of the table, and this is a rehearsal
                (``E_PROTECTED``).
        """
        if getattr(rng, "rehearsal", False):
            self.odometer.check_may_rehearse()
        longer = charged(ledger, rng, *charges)
        self.odometer.add(longer, charges)
        return longer

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


def _no_set(attrs: object) -> DomainError:
    return DomainError(
        f"{attrs!r} is no set of attributes; a sorted tuple of positions is needed. Make one of "
        "names: domain.attrs(...)."
    )


def _read_only(counts: NDArray[Any]) -> IntArray:
    values: IntArray = np.array(counts, dtype=np.int64, order="C")
    values.flags.writeable = False
    return values


def _check_codes(attribute: Attribute, column: NDArray[Any]) -> None:
    outside = (column < 0) | (column >= attribute.size)
    if outside.any():
        raise DataError(
            f"Attribute {attribute.name!r} has a code outside its domain 0 to {attribute.size - 1} "
            f"(first in record {int(outside.argmax()) + 1}). Widen the domain, or correct the "
            "code.",
            code="E_VALUE",
        )
