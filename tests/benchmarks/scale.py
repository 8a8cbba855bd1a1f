"""Counting beyond memory: rows a second, memory, and the ratio to DuckDB's GROUPING SETS.

    python -m tests.benchmarks.scale data --rows 10000000 --out people.parquet
    python -m tests.benchmarks.scale count people.parquet
    python -m tests.benchmarks.scale duckdb people.parquet --sets 60

Each command prints one line of JSON. ``duckdb`` counts some of the triples only: its time grows
with their number. Memory is the process's peak, less what it had after its imports.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import engine
from engine import sources
from engine.layout import Layout

SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 30, 50)
DOMAIN = engine.Domain(tuple(
    engine.Attribute(f"a{i}", values=tuple(f"v{v}" for v in range(n)))
    if i % 3
    else engine.Attribute(f"a{i}", kind="integer", bounds=(0, n - 1))
    for i, n in enumerate(SIZES)
))  # fmt: skip
TRIPLES = list(itertools.combinations(range(len(SIZES)), 3))


def data(options: argparse.Namespace) -> dict[str, object]:
    """Write rows of whole numbers and texts, a million at a time."""
    rng, left, writer = np.random.default_rng(0), options.rows, None
    while left > 0:
        rows = min(left, 1_000_000)
        table = pa.table({
            a.name: pa.array(codes.astype(np.int16)) if a.kind == "integer"
            else pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), list(a.labels))
            for a in DOMAIN
            for codes in [rng.binomial(a.size - 1, 0.4, rows)]
        })  # fmt: skip
        writer = writer or pq.ParquetWriter(options.out, table.schema)
        writer.write_table(table)
        left -= rows
    assert writer is not None
    writer.close()
    return {"rows": options.rows, "bytes": Path(options.out).stat().st_size}


def count(options: argparse.Namespace) -> dict[str, object]:
    """Count all triples of a file with our own loop."""
    layout = Layout(DOMAIN.sizes, TRIPLES)
    warm = sources.stream(pq.ParquetFile(options.file).read_row_group(0).slice(0, 1000), DOMAIN)
    warm.count_into(layout, np.empty(layout.total_cells, np.uint32))  # the loop is compiled
    before, start, cpu = _peak(), time.perf_counter(), time.process_time()
    source = sources.dataset(options.file, DOMAIN)
    counts = np.empty(layout.total_cells, np.uint32)
    source.count_into(layout, counts)
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    rows = int(counts[layout.slice(0)].sum())
    return {
        "rows": rows, "triples": len(TRIPLES), "seconds": wall, "cpu": used,
        "rows_per_cpu_second": rows / used, "peak_mib": (_peak() - before) / 1024,
        "counts_mib": counts.nbytes / 2**20, "check": int((counts.astype(np.int64) ** 2).sum()),
    }  # fmt: skip


def grouping_sets(options: argparse.Namespace) -> dict[str, object]:
    """Count some triples with SQL."""
    import duckdb

    asked = TRIPLES[:: max(1, len(TRIPLES) // options.sets)][: options.sets]
    names = [", ".join(f"a{i}" for i in triple) for triple in asked]
    columns = ", ".join(f"a{i}" for i in sorted(set(itertools.chain(*asked))))
    sql = (
        f"SELECT {columns}, count(*) AS n FROM '{options.file}' "
        f"GROUP BY GROUPING SETS ({', '.join(f'({name})' for name in names)})"
    )
    start, cpu = time.perf_counter(), time.process_time()
    with duckdb.connect() as connection:
        cells = len(connection.execute(sql).fetchall())
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    return {
        "triples": len(asked), "cells": cells, "seconds": wall, "cpu": used,
        "cpu_of_all_triples": used * len(TRIPLES) / len(asked),
    }  # fmt: skip


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    made = commands.add_parser("data")
    made.add_argument("--rows", type=int, default=10_000_000)
    made.add_argument("--out", required=True)
    made.set_defaults(run=data)
    counted = commands.add_parser("count")
    counted.add_argument("file")
    counted.set_defaults(run=count)
    sql = commands.add_parser("duckdb")
    sql.add_argument("file")
    sql.add_argument("--sets", type=int, default=60)
    sql.set_defaults(run=grouping_sets)
    options = parser.parse_args()
    print(json.dumps(options.run(options)))


if __name__ == "__main__":
    main()
