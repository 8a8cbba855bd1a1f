"""One batch of Arrow columns as codes of a declared domain: the same codes a table would have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine import codes as coded_as
from engine import coding
from engine.attributes import Attribute, Derived
from engine.codes import DROP
from engine.domain import Domain
from engine.errors import DataError
from engine.exact import Exact
from engine.ingest.encode import derived_texts, refuse_bad
from engine.ingest.parquet import as_texts
from engine.types import IntArray

Column: TypeAlias = "pa.Array[Any]"
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d.*", re.DOTALL)
_WHOLE_NUMBERS = 2**53


def column_of(attribute: Attribute) -> str:
    """Return the name of the column that an attribute is read from."""
    return attribute.derived.column if attribute.derived is not None else attribute.name


def columns_of(domain: Domain, *more: str | None) -> list[str]:
    """Return the columns that a domain needs, each once."""
    return list(dict.fromkeys([*map(column_of, domain), *filter(None, more)]))


class CodedBatch(Exact):
    """Codes of the records of one batch that are kept: private.

    Shapes:
        codes: (attributes, records kept), the smallest unsigned type that holds all.
        persons: (records kept,), how many persons each stands for; None if one each.
        undeclared: (attributes,), how many cells were no declared value.
    """

    __slots__ = ("codes", "dropped", "persons", "undeclared")

    def __init__(
        self, codes: NDArray[Any], persons: IntArray | None, undeclared: IntArray, dropped: int
    ) -> None:
        self.codes, self.persons = codes, persons
        self.undeclared, self.dropped = undeclared, dropped

    def records(self) -> int:
        """Return how many persons the batch holds."""
        return self.codes.shape[1] if self.persons is None else int(self.persons.sum())


def coded(
    batch: pa.RecordBatch,
    domain: Domain,
    *,
    before: int = 0,
    missing: Sequence[str] = (),
    count_column: str | None = None,
) -> CodedBatch:
    """Code one batch.

    Args:
        batch: Holds the columns of ``columns_of``.
        domain: Declared attributes.
        before: How many rows came before, to say where a bad one stands.
        missing: What else means "missing" in this source.
        count_column: Says how many persons a row stands for.

    Raises:
        DataError: If a value is undeclared and its rule is to refuse (``E_VALUE``), or a cell is
            missing without a rule (``E_MISSING``); the first such row is named.
    """

    def where(at: int) -> str:
        return f"first in record {before + at + 1:,}"

    keep = np.ones(batch.num_rows, np.bool_)
    columns, outside = [], []
    for attribute in domain:
        found = _codes(attribute, batch.column(column_of(attribute)), missing)
        columns.append(found.codes)
        outside.append(found.undeclared)
        keep &= found.codes != DROP
    persons = None
    if count_column is not None:
        persons = _whole_counts(batch.column(count_column), before)[keep]
    codes = np.empty(
        (len(domain), int(np.count_nonzero(keep))), np.min_scalar_type(max(domain.sizes) - 1)
    )
    for row, attribute, column in zip(codes, domain, columns, strict=True):
        refuse_bad(attribute, np.where(keep, column, 0), where)
        row[:] = column[keep]
    undeclared = np.array([np.count_nonzero(bad & keep) for bad in outside], np.int64)
    return CodedBatch(codes, persons, undeclared, batch.num_rows - codes.shape[1])


def _codes(attribute: Attribute, column: Column, missing: Sequence[str]) -> coded_as.Coded:
    fast = _codes_of_numbers(attribute, column, missing)
    if fast is not None:
        return fast
    # Every distinct value is understood once, however many records hold it.
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    held = cast("pa.DictionaryArray[Any, Any]", column)
    texts = as_texts(pa.chunked_array([held.dictionary])).to_pylist()
    said = coded_as.encode(
        attribute, _meant(attribute, [*cast("list[str]", texts), ""], missing), missing=missing
    )
    # The last text is the empty one, which a null stands for.
    places = held.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return coded_as.Coded(said.codes[places], said.undeclared[places])


def _codes_of_numbers(
    attribute: Attribute, column: Column, missing: Sequence[str]
) -> coded_as.Coded | None:
    """Code a column of numbers without writing one as a text; None where that is not possible."""
    kind = column.type
    # Single precision is left to texts: 0.7 there is the shortest decimal that rounds to it.
    if not (pa.types.is_integer(kind) or pa.types.is_float64(kind)):
        return None
    if attribute.kind not in ("integer", "numeric") or attribute.derived is not None:
        return None
    if pa.types.is_integer(kind) and len(column) > column.null_count:
        ends = pc.min_max(column).as_py()
        if max(abs(ends["min"]), abs(ends["max"])) > _WHOLE_NUMBERS:
            return None
    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return coded_as.encode_numbers(attribute, values, missing=missing)


def _meant(attribute: Attribute, texts: list[str], missing: Sequence[str]) -> list[str]:
    derived: Derived | None = attribute.derived
    if derived is None:
        return texts
    if derived.part is not None:
        for text in texts:
            if text[:1].isdigit() and not _ISO_DAY.fullmatch(text):
                raise DataError(
                    f"Attribute {attribute.name!r} is a part of dates that are written as texts, "
                    "and batches read one way of writing them: 2024-01-31. Make the column a date "
                    "in the source, or read the file as a whole with Table.from_file.",
                    code="E_VALUE",
                )
    return derived_texts(attribute, derived, texts, missing=missing)


def _whole_counts(column: Column, before: int) -> IntArray:
    """Return the persons that each row stands for.

    Raises:
        DataError: If a count is no whole number (``E_VALUE``): a survey weight is none.
    """
    texts = as_texts(pa.chunked_array([column])).to_pylist()
    numbers = [coding.number(text) for text in cast("list[str]", texts)]
    for at, n in enumerate(numbers):
        if n is None or n < 0 or not n.is_integer() or n > _WHOLE_NUMBERS:
            raise DataError(
                f"The count in record {before + at + 1:,} is no whole number; each row needs one. "
                "A survey weight is no number of persons: one person may then weigh more than one, "
                "and the promised epsilon would not hold. Count persons, or leave weights out.",
                code="E_VALUE",
            )
    return np.array([int(n or 0) for n in numbers], np.int64)


def missing_columns(wanted: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a source that lacks a column.

    Raises:
        DataError: ``E_COLUMN``.
    """
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise DataError(
            f"The source has no column {', '.join(map(repr, lacking))}; it has "
            f"{', '.join(map(repr, names[:12]))}{' …' if len(names) > 12 else ''}. Correct the "
            "domain, or name the columns in a query.",
            code="E_COLUMN",
        )
    double = sorted({name for name in wanted if list(names).count(name) > 1})
    if double:
        raise DataError(
            f"The source has more than one column {double[0]!r}. Rename one of them.",
            code="E_COLUMN",
        )
