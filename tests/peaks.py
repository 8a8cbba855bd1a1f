"""Peak memory of runs above the idle process, each in a child of its own (Linux).

    python -m tests.peaks aim_grem,uniform "20000 2" "2 3 4:3"

The second part names shapes: sizes, and the workload's degree (2 if none is given).
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine import compiling
from engine.mechanisms import catalogue


def cases(keys: Iterable[str], shapes: Iterable[str]) -> Iterator[tuple[str, str, int, int]]:
    """Yield mechanism, shape, bytes estimated, and bytes measured."""
    context = multiprocessing.get_context("fork")
    shapes = list(shapes)
    for key in keys:
        for shape in shapes:
            receiving, sending = context.Pipe(duplex=False)
            child = context.Process(target=_measure, args=(key, shape, sending))
            child.start()
            sending.close()
            said, peak = receiving.recv()
            child.join()
            yield key, shape, said, peak


def _measure(key: str, shape: str, told: Any) -> None:
    sizes, _, degree = shape.partition(":")
    with compiling.free_work(0):
        _run(key, [2, 3, 2, 6, 4], 3, records=4)  # compiled and imported
        mechanism, table, workload = _case(
            key, list(map(int, sizes.split())), int(degree or 2), 1000
        )
        said = mechanism.memory_needed(workload)
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak is what there is now
        idle = _status("VmRSS")
        _go(mechanism, table, workload)
        told.send((said, _status("VmHWM") - idle))


def _case(key: str, sizes: list[int], degree: int, records: int) -> tuple[Any, Any, Any]:
    domain = engine.Domain.from_sizes({f"a{i}": n for i, n in enumerate(sizes)})
    shares = np.random.default_rng(1).random((records, len(sizes))) ** 3
    table = engine.Table.from_codes((shares * sizes).astype(np.int64), domain)
    return catalogue.find(key).make(), table, engine.Workload.all_kway(domain, degree)


def _run(key: str, sizes: list[int], degree: int, records: int) -> None:
    _go(*_case(key, sizes, degree, records))


def _go(mechanism: Any, table: Any, workload: Any) -> None:
    release = engine.run(mechanism, table, workload, rho=1.0, seed=0).release
    for estimate in release.estimates():
        del estimate


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(list(cases(sys.argv[1].split(","), sys.argv[2:]))))
