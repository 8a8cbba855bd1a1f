"""How much memory a run takes, from public sizes alone, and whether this machine has it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from engine.errors import WorkloadError
from engine.workload import Workload

_BASE = 900_000
"""Bytes that any run takes."""
PER_VALUE = 75
"""Bytes for each value of the longest attribute while its 1-way marginal is measured."""
_PER_ROW, _ROWS = 20_000, 1024
"""Bytes of a row while posterior means are computed, and how many rows there are at once."""
_PER_MEAN = 230
"""Bytes for each value of the longest attribute while its posterior mean is put together."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a run's memory follows from: public sizes, nothing else.

    Args:
        cells: Of all marginals of the closure.
        largest: Of the largest one.
        longest: Values of the longest attribute.
        sets: Of the closure.
        degree: Most attributes of a marginal.
    """

    cells: int
    largest: int
    longest: int
    sets: int
    degree: int

    @classmethod
    def of(cls, workload: Workload) -> Shape:
        """Of this workload's closure."""
        layout = workload.layout
        degree = max(map(len, workload.closure))
        longest = max(workload.domain.sizes)
        return cls(layout.total_cells, int(layout.cells.max()), longest, len(layout), degree)


def memory_needed(
    workload: Workload, *, per_cell: float, per_largest: float, per_set: float, per_value: int = 0
) -> int:
    """Estimate a run's memory above the idle process, in bytes, from public sizes alone.

    Args:
        workload: What is to be answered.
        per_cell: Bytes held for each cell of the closure: 8 for a float64, more where exact counts
            (1 to 4) stand beside it.
        per_largest: Bytes for each cell of the largest marginal while it is worked on.
        per_set: Bytes held for each marginal of the closure.
        per_value: Bytes for each value of the longest attribute.

    Peaks measured at rho = 1 lie within a factor 1.5 of it (tests/test_memory.py). Where noise
    hides less, adaptive mechanisms select large marginals that they leave alone here, and each
    round that measures one holds 8 bytes more for each of its cells.
    """
    shape = Shape.of(workload)
    return _BASE + math.ceil(
        per_cell * shape.cells
        + per_largest * shape.largest
        + per_set * shape.sets
        + per_value * shape.longest
    )


def memory_of_selecting(workload: Workload, *, full: bool = False) -> int:
    """Estimate what rounds take that keep the errors of all candidates as float64.

    Four tenths of the sets are selected sooner or later, at rho = 1.
    """
    selected = 0.4
    return memory_needed(
        workload,
        per_cell=10.5 + 8 * selected,
        per_largest=32 if full else 0,
        per_set=700 + math.ceil(3000 * selected),
        per_value=PER_VALUE,
    )


def memory_of_measuring(workload: Workload, *, solver: bool = False) -> int:
    """Estimate what measuring everything once takes, answered without completion.

    Args:
        workload: What is measured.
        solver: Whether a program is solved for the plan.
    """
    per_set = 7_000 if solver else 1_400
    return memory_needed(workload, per_cell=11, per_largest=21, per_set=per_set)


def memory_of_completing(workload: Workload, *, steps: int = 0, forecast: bool = True) -> int:
    """Estimate what runs take that complete tables one at a time.

    Args:
        workload: What is to be answered.
        steps: How many measure all of it: at rho = 1 noise hides most in all but the last; 0 for
            rounds, which hold counts alone for all cells.
        forecast: Whether plans are compared, which holds some numbers for each set.
    """
    fitting = 0 if Shape.of(workload).degree < 3 else 40
    needed = memory_needed(
        workload,
        per_cell=4 + 8 * steps if steps else 2.5,
        per_largest=40 + fitting if steps else 20,
        per_set=13_000 if forecast else 2_200,
        per_value=_PER_MEAN,
    )
    return needed + memory_of_rows(workload)


def memory_of_rows(workload: Workload) -> int:
    """Estimate what posterior means of 1-way marginals take, some rows at once."""
    return _PER_ROW * min(max(workload.domain.sizes), _ROWS)


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
