"""Loops on both cores: work cut into parts of about equal size, and two threads that share it.

Compiled loops hold no interpreter lock, so threads are enough.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from itertools import pairwise

import numpy as np

from engine.types import IntArray

_THREADS = min(2, os.cpu_count() or 1)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="engine")


if hasattr(os, "register_at_fork"):
    # A forked child has none of the parent's threads, and must not wait for them.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def in_threads(call: Callable[[int, int], None], bounds: list[int]) -> None:
    """Run ``call(first, last)`` for each pair of neighbouring bounds, on both cores."""
    waiting = deque(pairwise(bounds))

    def work() -> None:
        while True:
            try:
                first, last = waiting.popleft()
            except IndexError:
                return
            call(first, last)

    # This thread works too: less to wait for, and nothing if the others are busy elsewhere.
    # They go by the size of the same workload (``compiling``).
    others = [
        _pool().submit(copy_context().run, work) for _ in range(min(_THREADS, len(waiting)) - 1)
    ]
    try:
        work()
    finally:
        for other in others:
            if not other.cancel():
                other.result()


def parts(work: IntArray, *, at_least: int) -> list[int]:
    """Cut a list of work items into contiguous parts of about equal work, at most a few a thread.

    Args:
        work: Cost of each item.
        at_least: Work below which threads cost more than they bring.
    """
    total = int(work.sum())
    if total < at_least or _THREADS < 2 or len(work) < 2:
        return [0, len(work)]
    count = 4 * _THREADS
    targets = total * np.arange(1, count) // count
    cuts = np.searchsorted(np.cumsum(work), targets, side="left") + 1
    return [0, *sorted({int(cut) for cut in cuts if 0 < cut < len(work)}), len(work)]
