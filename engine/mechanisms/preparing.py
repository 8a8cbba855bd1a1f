"""Compile every loop over cells by running small made-up tables through every mechanism.

Loops are compiled for the types they are called with, so running is the plainest way to name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from engine import compiling
from engine.completing.consistency import consistent
from engine.domain import Domain
from engine.mechanisms.aim_grem import AimGrem
from engine.mechanisms.base import run
from engine.mechanisms.one_shot import ResidualPlanner
from engine.tables import Table
from engine.workload import Workload

_SIZES = {"a": 2, "b": 3, "c": 4, "d": 300}
"""The last one needs codes of two bytes; the first three alone fit into one."""


def steps() -> Iterator[tuple[str, int]]:
    """Compile what is kept on disk, in the order of need; yields after each step.

    Yields:
        What was compiled, and how many steps there are.
    """
    plan: list[tuple[str, Callable[[], Any]]] = [
        ("AIM+GReM as published", lambda: _run(AimGrem.paper(), "abc", 100)),
        ("completed tables", lambda: _run(AimGrem(finish="rounds"), "abc", 100)),
        ("everything at once", lambda: _run(AimGrem(), "abc", 100)),
        ("larger tables", lambda: _run(AimGrem(), "abd", 300)),
        ("ResidualPlanner", lambda: _run(ResidualPlanner(), "abc", 100)),
        ("tables that agree", lambda: _agree(nonnegative=True)),
    ]
    with compiling.free_work(0):
        for step, compile_it in plan:
            compile_it()
            yield step, len(plan)


def _run(mechanism: Any, names: str, records: int) -> Any:
    domain = Domain.from_sizes({name: _SIZES[name] for name in names})
    codes = np.arange(records)[:, None] * np.array([1, 2, 3]) % np.array(domain.sizes)
    table = Table.from_codes(codes, domain)
    workload = Workload.all_kway(domain, 3)
    release = run(mechanism, table, workload, epsilon=5.0, delta=1e-6, seed=0).release
    return release, list(release.estimates())


def _agree(*, nonnegative: bool) -> None:
    release, _ = _run(ResidualPlanner(), "abc", 100)
    consistent(release, nonnegative=nonnegative)
