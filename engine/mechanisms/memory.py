"""How much memory a run takes, from public sizes alone, and whether this machine has it."""

from __future__ import annotations

import os

from engine.errors import WorkloadError
from engine.workload import Workload

_PER_CELL_WORKED_ON = 60
"""Bytes for each cell of the largest marginal while it is measured and reconstructed."""
_PER_CELL_OF_A_PAIR = 90
"""Bytes for each cell of the largest pair while its interaction is shrunk."""
_PER_ROW, _ROWS = 28_000, 1024
"""Bytes of a row while posterior means are computed, and how many rows there are at once."""


def memory_needed(workload: Workload, *, per_cell: int, per_set: int = 800) -> int:
    """Estimate a run's memory above the idle process, in bytes, from public sizes alone.

    Args:
        workload: What is to be answered.
        per_cell: Bytes held for each cell of the closure: 8 for a float64, more where exact counts
            (2 or 4) and passing copies stand beside it.
        per_set: Bytes held for each marginal of the closure.

    Measured peaks lie within a factor 1.5 of it (tests/benchmarks/speed.py, case memory).
    """
    largest = int(workload.layout.cells.max())
    kept = per_cell * workload.layout.total_cells + per_set * len(workload.closure)
    return kept + _PER_CELL_WORKED_ON * largest


def memory_of_completing(workload: Workload) -> int:
    """Estimate what completing takes beside: rows for some 1-way cells at once, and one pair."""
    pairs = [workload.domain.cells(attrs) for attrs in workload.closure if len(attrs) == 2]
    rows = _PER_ROW * min(max(workload.domain.sizes), _ROWS)
    return rows + _PER_CELL_OF_A_PAIR * max(pairs, default=0)


def fits_memory(bytes_needed: int) -> bool:
    """Whether so much fits into nine tenths of this machine's memory; true where none is told."""
    available = _memory()
    return available is None or bytes_needed <= 0.9 * available


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system says
        return None


def require_memory(bytes_needed: int) -> None:
    """Refuse before anything is spent if a run cannot fit into memory (``E_TOO_LARGE``)."""
    available = _memory()
    if available is not None and not fits_memory(bytes_needed):
        raise WorkloadError(
            f"The run needs about {bytes_needed / 2**30:.1f} GiB of memory; this machine has "
            f"{available / 2**30:.1f} GiB. Choose fewer attributes, a lower degree, or coarser "
            "bins.",
            code="E_TOO_LARGE",
        )
