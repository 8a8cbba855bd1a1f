"""Tables that are not in memory: engines read them in batches, our own loop counts each batch.

Here lives what opens a source (Parquet files and folders, Arrow files, CSV in pieces, DuckDB, any
stream of Arrow batches), codes its batches by the declared domain, and counts them. A source is a
``CountSource``: it goes wherever a table goes, and the same records give the same integers. What
reads a file as a whole and proposes a domain lives in ``ingest``; no mechanism is known here.

    source = engine.sources.dataset("people/", domain)
    engine.run(engine.AimGrem(), source, workload, epsilon=1, delta=1e-9)
"""

from engine.sources.batches import BatchSource
from engine.sources.database import duckdb
from engine.sources.files import dataset
from engine.sources.named import is_named, named
from engine.sources.streams import stream

__all__ = ["BatchSource", "dataset", "duckdb", "is_named", "named", "stream"]
