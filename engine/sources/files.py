"""Parquet, Arrow and CSV files of any size, single or by the folder, by ``pyarrow.dataset``."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.dataset as pads

from engine.domain import Domain
from engine.errors import DataError
from engine.sources.batches import BATCH_ROWS, BatchSource
from engine.sources.coded import columns_of, missing_columns

Format = Literal["parquet", "arrow", "csv"]
_ENDINGS: dict[str, Format] = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow",
    ".ipc": "arrow", ".csv": "csv", ".tsv": "csv", ".txt": "csv",
}  # fmt: skip


def dataset(
    where: str | Path | Sequence[str | Path],
    domain: Domain,
    *,
    format: Format | None = None,
    separator: str = ",",
    **options: Any,
) -> BatchSource:
    """Open a file, a folder with all that is below it, a pattern such as ``data/*.parquet``.

    Args:
        where: Path, folder, pattern, or several paths.
        domain: Declared attributes.
        format: By default as the names end. All files have one format.
        separator: Of CSV files, which are UTF-8 with a header line; every cell is taken as text,
            as a table from the same file takes it.
        **options: As of ``BatchSource``.

    Raises:
        DataError: If there is no file (``E_FILE``), it cannot be read (``E_FORMAT``), a column is
            missing (``E_COLUMN``). Values are checked when they are counted.
    """
    paths = _paths(where)
    kind = format or _format(paths)
    wanted = columns_of(domain, options.get("count_column"))
    try:
        files = list(_opened(paths, kind, separator, wanted).get_fragments())
        columns = [[*file.physical_schema.names, *_of_folder(file)] for file in files]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(error) from error
    for names in columns:
        missing_columns(wanted, names)

    def batches() -> Iterator[pa.RecordBatch]:
        for file in files:
            try:
                yield from _batches(file, wanted)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise _unreadable(error) from error

    return BatchSource(batches, domain, **options)


def _batches(file: pads.Fragment, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read one file with its own types: a code is a number in one year and a text in another."""
    held, said = file.physical_schema, _of_folder(file)
    inside = [name for name in wanted if name in held.names]
    # Few ahead: what is read and not yet counted is memory too.
    for batch in file.to_batches(
        schema=held, columns=inside, batch_size=BATCH_ROWS, batch_readahead=2
    ):
        for name in wanted:
            if name not in inside:
                batch = batch.append_column(name, pa.array([said[name]] * batch.num_rows))
        yield batch


def _of_folder(file: pads.Fragment) -> dict[str, Any]:
    """Return what a file's folders say of all its records, as in ``year=2024/part.parquet``."""
    return dict(pads.get_partition_keys(file.partition_expression))


def _paths(where: str | Path | Sequence[str | Path]) -> list[str]:
    if isinstance(where, str | Path):
        path = Path(where)
        if path.is_dir():
            found = sorted(
                str(p) for p in path.rglob("*") if p.is_file() and p.suffix.lower() in _ENDINGS
            )
        else:
            found = [str(path)] if path.exists() else sorted(glob.glob(str(where), recursive=True))
    else:
        found = [str(path) for path in where]
    if not found:
        raise DataError(
            f"There is no file at {where}. Name a Parquet, Arrow or CSV file, a folder of them, or "
            "a pattern such as data/*.parquet.",
            code="E_FILE",
        )
    return found


def _format(paths: Sequence[str]) -> Format:
    kinds = {_ENDINGS.get(Path(path).suffix.lower()) for path in paths}
    if len(kinds) != 1 or None in kinds:
        raise DataError(
            "The files' names do not say one format. Name files of one kind (.parquet, .arrow or "
            ".csv), or say format=.",
            code="E_FORMAT",
        )
    return kinds.pop()  # type: ignore[return-value]


def _opened(
    paths: Sequence[str], kind: Format, separator: str, wanted: Sequence[str]
) -> pads.Dataset:
    if kind != "csv":
        return pads.dataset(list(paths), format=kind, partitioning="hive")
    parse = pacsv.ParseOptions(delimiter=separator, newlines_in_values=True)
    # Every column is a text: pyarrow would guess a type from the first block.
    convert = pacsv.ConvertOptions(
        column_types={name: pa.string() for name in wanted}, strings_can_be_null=False
    )
    return pads.dataset(
        list(paths),
        format=pads.CsvFileFormat(parse_options=parse, convert_options=convert),
        partitioning="hive",
    )


def _unreadable(error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError("A file is gone. Check the path.", code="E_FILE")
    if "columns" in str(error) and "Expected" in str(error):
        return DataError(
            "A line of a CSV file has more or fewer cells than its header. Read it with "
            "Table.from_file, which shows where, or correct it.",
            code="E_CSV_SHAPE",
        )
    return DataError(
        "A file cannot be read as what its name says. Check the files, or read them with a query "
        "(sources.duckdb).",
        code="E_FORMAT",
    )
