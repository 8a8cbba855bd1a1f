"""Tables of other libraries, taken over through the Arrow C stream without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from engine.checking import found
from engine.domain import Domain
from engine.errors import DataError
from engine.sources.batches import BatchSource
from engine.sources.coded import columns_of, missing_columns


def stream(frame: Any, domain: Domain, **options: Any) -> BatchSource:
    """Count anything that can be streamed as Arrow batches more than once.

    Args:
        frame: A pandas or Polars data frame, an Arrow table, a DuckDB relation, anything with
            ``__arrow_c_stream__``; or a function that gives one, called for each pass.
        domain: Declared attributes.
        **options: As of ``BatchSource``.

    Raises:
        DataError: If it is no such thing, or can be read only once (``E_FORMAT``); if a column is
            missing (``E_COLUMN``).
    """
    if isinstance(frame, pa.RecordBatchReader):
        raise DataError(
            "A RecordBatchReader can be read only once, and a run may read its table several "
            "times. Give a function that opens it again.",
            code="E_FORMAT",
        )
    again = frame if callable(frame) and not hasattr(frame, "__arrow_c_stream__") else None
    if again is None and not hasattr(frame, "__arrow_c_stream__"):
        raise DataError(
            f"{found(frame)} cannot be streamed. Give a data frame, an Arrow table, anything with "
            "__arrow_c_stream__, or a function that returns one.",
            code="E_FORMAT",
        )
    wanted = columns_of(domain, options.get("count_column"))

    def opened() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_stream(frame if again is None else again())

    if again is None:
        missing_columns(wanted, opened().schema.names)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in opened():
            missing_columns(wanted, batch.schema.names)
            yield batch.select(wanted)

    return BatchSource(batches, domain, **options)
