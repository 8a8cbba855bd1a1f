"""Scratch follows what is worked on, and estimates of memory count it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np

import engine
from engine import compiling
from engine.completing import completed, shrinkage


def peak_of(work: Callable[[], object], *, interpreted: bool) -> int:
    """Most bytes held at once; arrays made within loops count if those are interpreted."""
    with compiling.free_work(np.inf if interpreted else 0):
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def test_posterior_means_of_a_wide_attribute_take_no_row_of_nodes_for_every_cell() -> None:
    # Cells times nodes and shapes: 20,000 x 2 values took 554 MiB where 0.18 were said.
    noisy = np.random.default_rng(0).normal(0, 50, 12_000)

    def work() -> object:
        return shrinkage.counts(noisy, mean=1.0, variance=2500.0)

    work()  # compiled
    assert peak_of(work, interpreted=False) < 48 << 20


def test_completing_pairs_takes_no_square_of_the_largest_size() -> None:
    domain = engine.Domain.from_sizes({"wide": 4_000, "a": 2, "b": 2})
    wide = engine.Workload([(0, 1), (1, 2)], domain)
    beliefs = engine.Beliefs().combined(
        [engine.Measurement((), np.array(100.0), 1.0), engine.Measurement((1,), np.zeros(1), 1.0)]
    )
    peak = peak_of(lambda: completed.Completed(wide.layout, beliefs), interpreted=True)
    assert peak < 24 << 20  # 4,000² cells of 8 bytes are 122 MiB


def test_an_estimate_counts_the_largest_marginal_and_the_rows_of_a_wide_attribute() -> None:
    # Measured above the idle process: 34 MiB at 20,000 x 2 and 89 MiB at 200,000 x 2 values.
    for size, measured in ((20_000, 34), (200_000, 89)):
        domain = engine.Domain.from_sizes({"wide": size, "a": 2})
        workload = engine.Workload.all_kway(domain, 2)
        said = engine.AimGrem().memory_needed(workload) / 2**20
        assert measured / 1.5 <= said <= 1.5 * measured
