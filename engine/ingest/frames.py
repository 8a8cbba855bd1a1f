"""Data frames of any library as a preview: the same table that their file would give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.interchange

from engine.coding import text_of
from engine.errors import DataError
from engine.ingest.choices import Choices
from engine.ingest.draft import Draft
from engine.ingest.parquet import as_texts
from engine.ingest.preview import Preview


def read_frame(frame: Any, choices: Choices | None = None, *, name: str = "") -> Preview:
    """Understand a data frame as ``read`` understands a file.

    Args:
        frame: A pandas or Polars data frame, an Arrow table, anything with ``__arrow_c_stream__``
            or ``__dataframe__``, a dict of columns, or a list of records (dicts).
        choices: How its cells are read; choices about a file's text do nothing.
        name: What to call it, for people.

    Raises:
        DataError: If it is no data frame (``E_FORMAT``), or its columns differ in length
            (``E_COLUMN``).

    >>> read_frame({"age": [31, 4.0, None], "city": ["Oslo", "Rome", "Oslo"]}).labels
    ('age', 'city')
    """
    asked = choices or Choices()
    names, columns = _columns(frame)
    if not names:
        raise DataError(
            "The data frame has no column; a table needs at least one. Give its columns names.",
            code="E_EMPTY",
        )
    if len({len(column) for column in columns}) > 1:
        raise DataError(
            "The columns have different numbers of cells; one cell for each record is needed. "
            "Complete the short ones.",
            code="E_COLUMN",
        )
    if asked.trim:
        columns = [pc.utf8_trim_whitespace(column) for column in columns]
    lines = np.arange(1, len(columns[0]) + 1, dtype=np.int32)
    draft = Draft(tuple(names), columns, lines, [], {"format": "frame", "trim": asked.trim}, {})
    return draft.preview(asked, name)


def _columns(frame: Any) -> tuple[list[str], list[pa.ChunkedArray]]:
    if isinstance(frame, pd.DataFrame):
        names = [text_of(name) for name in frame.columns]
        return names, [_pandas_texts(frame.iloc[:, j]) for j in range(len(names))]
    if isinstance(frame, Mapping):
        return [str(name) for name in frame], [_texts(column) for column in frame.values()]
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__dataframe__"):
        return _arrow_columns(frame)
    if _are_records(frame):
        names = list(dict.fromkeys(str(name) for record in frame for name in record))
        return names, [_texts([record.get(name) for record in frame]) for name in names]
    raise DataError(
        f"A value of type {type(frame).__name__} is no table. Give a pandas or Polars data frame, "
        "an Arrow table, a dict of columns, or a list of records.",
        code="E_FORMAT",
    )


def _are_records(frame: Any) -> bool:
    return (
        isinstance(frame, Sequence)
        and not isinstance(frame, str | bytes)
        and len(frame) > 0
        and all(isinstance(record, Mapping) for record in frame)
    )


def _arrow_columns(frame: Any) -> tuple[list[str], list[pa.ChunkedArray]]:
    try:
        if hasattr(frame, "__arrow_c_stream__"):
            table = pa.table(frame)
        else:
            table = pyarrow.interchange.from_dataframe(frame)
        columns = [as_texts(column) for column in table.columns]
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError, RuntimeError):
        raise DataError(
            f"The columns of this {type(frame).__name__} cannot be taken over. Give a pandas data "
            "frame, or write it to a Parquet file.",
            code="E_FORMAT",
        ) from None
    return list(table.column_names), columns


def _pandas_texts(column: pd.Series[Any]) -> pa.ChunkedArray:
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = _texts(column.cat.categories.to_series()).to_pylist()
        codes = column.cat.codes.to_numpy()
        return _chunked(["" if code < 0 else labels[code] for code in codes])
    if column.dtype == np.float32 or column.dtype == np.float16:
        return _chunked([text_of(value) for value in column.to_numpy()])
    if isinstance(column.dtype, pd.ArrowDtype):
        return as_texts(pa.chunked_array(pa.array(column)))
    if isinstance(column.dtype, pd.Float32Dtype):
        single = column.to_numpy(dtype=np.float32, na_value=np.nan)
        return _chunked([text_of(value) for value in single])
    gone = column.isna().to_numpy()
    cells = column.to_numpy(dtype=object)
    return _chunked(["" if g else text_of(c) for c, g in zip(cells, gone, strict=True)])


def _texts(column: Any) -> pa.ChunkedArray:
    if isinstance(column, pd.Series):
        return _pandas_texts(column)
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return as_texts(pa.chunked_array([column]) if isinstance(column, pa.Array) else column)
    if hasattr(column, "__arrow_c_stream__"):  # a Polars series: its cells would lose their type
        return as_texts(pa.chunked_array(column))
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise DataError(
            f"A column of type {type(column).__name__} holds no cells; a list or an array is "
            "needed. Put the cells into a list.",
            code="E_FORMAT",
        )
    return _chunked([text_of(value) for value in column])


def _chunked(texts: list[str]) -> pa.ChunkedArray:
    try:
        return pa.chunked_array([pa.array(texts, pa.large_string())])
    except UnicodeEncodeError:
        mended = [text.encode("utf-8", "replace").decode() for text in texts]
        return pa.chunked_array([pa.array(mended, pa.large_string())])
