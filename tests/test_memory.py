"""Scratch follows what is worked on, and estimates of memory count it."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import compiling
from engine.completing import completed, shrinkage
from engine.mechanisms import catalogue, memory
from tests.support import ROOT, make_domain


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


def test_estimates_are_those_of_peaks_that_were_measured() -> None:
    # MiB above the idle process, rho = 1 (tests/peaks.py); "rounds" by finish="rounds".
    twenty = [int(n) for n in np.linspace(2, 60, 20)]
    sixty = [int(n) for n in np.linspace(2, 10, 60)]
    measured: list[tuple[list[int], int, dict[str, float]]] = [
        ([20_000, 2], 2, {"aim_grem": 29.8, "aim_grem_rounds": 29.5, "mwem_grem": 6.5}),
        ([10**6, 2], 2, {"aim_grem": 365, "aim_grem_rounds": 391, "aim_grem_plain": 108,
                         "mwem_grem": 284, "residual_planner": 65, "sequence_crp": 139}),
        ([2000, 2000, 2], 2, {"aim_grem": 163, "aim_grem_rounds": 110, "aim_grem_plain": 38.8,
                              "aim_grem_full": 161, "mwem_grem": 589, "residual_planner": 123,
                              "equal_split": 131, "sequence_iid": 184}),
        ([200, 200, 50], 3, {"aim_grem": 173, "aim_grem_rounds": 36, "mwem_grem": 321,
                             "residual_planner": 62, "sequence_crp": 98}),
        (twenty, 3, {"aim_grem": 72, "aim_grem_rounds": 69, "aim_grem_plain": 533,
                     "aim_grem_full": 541, "mwem_grem": 535, "residual_planner": 284,
                     "equal_split": 307, "sequence_crp": 469}),
        (sixty, 2, {"aim_grem": 29.4, "aim_grem_rounds": 33, "aim_grem_plain": 6.9,
                    "mwem_grem": 2.4, "residual_planner": 3.1, "sequence_crp": 6.1}),
        ([3] * 300, 2, {"aim_grem": 109, "aim_grem_plain": 109}),
    ]  # fmt: skip
    for sizes, degree, peaks in measured:
        workload = engine.Workload.all_kway(make_domain(sizes), degree)
        for key, peak in peaks.items():
            said = catalogue.find(key).make().memory_needed(workload) / 2**20
            assert peak / 1.5 <= said <= 1.5 * peak, (sizes[:3], key, said, peak)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are Linux's to tell")
def test_no_mechanism_of_the_catalogue_takes_much_more_or_less_than_it_says() -> None:
    # One at a time in children: the default took up to 2,000 times what it said.
    keys = [entry.key for entry in catalogue.entries() if not entry.extra]
    command = [sys.executable, "-m", "tests.peaks", ",".join(keys), "900 900 2"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = json.loads(found.stdout)
    assert [key for key, *_ in told] == keys
    for key, _, said, peak in told:
        slack = 6 << 20  # what a process takes or gives back by the way
        assert peak / 1.5 - slack <= said <= 1.5 * peak + slack, (key, said >> 20, peak >> 20)


def test_what_could_not_be_held_is_refused_or_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ten records over 10^6 x 2 values: 17 GiB were taken, and what was drawn was lost.
    domain = make_domain((10**6, 2))
    table = engine.Table.from_codes([[k * 99_991, k % 2] for k in range(10)], domain)
    workload = engine.Workload.all_kway(domain, 2)
    for entry in catalogue.entries():
        if entry.extra or entry.one_ways:
            continue
        mechanism = entry.make()
        needed = mechanism.memory_needed(workload)
        monkeypatch.setattr(memory, "_memory", lambda needed=needed: needed // 2)
        with pytest.raises(engine.WorkloadError) as caught:
            engine.run(mechanism, table, workload, rho=1.0, seed=0)
        assert caught.value.code == "E_TOO_LARGE", entry.key
    assert table.odometer.reading().rho == 0


def test_measuring_everything_in_steps_is_not_begun_where_it_could_not_be_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Every step's answers stay: five times what one takes.
    domain = make_domain((300, 300, 2))
    workload = engine.Workload.all_kway(domain, 2)
    table = engine.Table.from_codes([[k, k, k % 2] for k in range(300)], domain)
    needed = engine.AimGrem().memory_needed(workload)
    for room, by_size in ((1.2 * needed, False), (9 * needed, True)):
        monkeypatch.setattr(memory, "_memory", lambda room=room: int(room))
        run = engine.run(engine.AimGrem(), table, workload, rho=1.0, seed=0)
        assert run.started.decision is not None
        assert run.started.decision.startswith("By size") is by_size
