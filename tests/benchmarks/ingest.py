"""Time and memory of reading, for the limits it promises; run on request.

python tests/benchmarks/ingest.py            # time and peak memory of three 50 MB tables
python tests/benchmarks/ingest.py detectors  # separators found in the corpus, by ours and others
python tests/benchmarks/ingest.py ratio      # processor time beside pandas.read_csv, 1M rows x 13
python tests/benchmarks/ingest.py fuzz 60    # slowest input and peak memory of a fuzz run
"""

from __future__ import annotations

import csv
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from engine import ingest

SIZE = 50_000_000


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


@contextmanager
def peak() -> Iterator[Callable[[], int]]:
    """Watch the resident memory above where it stands now."""
    idle = most = resident()
    done = threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.003):
            most = max(most, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: most - idle
    finally:
        done.set()
        watcher.join()


def mixed(rng: np.random.Generator) -> Iterator[str]:
    yield "id,age,city,pay,flag,score,when,code"
    ages, pay = rng.integers(0, 100, 1_000_000), rng.normal(5e4, 1e4, 1_000_000)
    for i, (age, sum_) in enumerate(zip(ages.tolist(), pay.tolist(), strict=True)):
        flag, day = "yn"[age & 1], f"2020-01-{age % 28 + 1:02d}"
        yield f"{i},{age},city {age % 7},{sum_:.2f},{flag},{sum_ / 1e5:.4f},{day},{age:05d}"


def narrow(rng: np.random.Generator) -> Iterator[str]:
    yield ",".join(f"v{j}" for j in range(25))
    for row in rng.integers(0, 10, (1_000_000, 25)).tolist():
        yield ",".join(map(str, row))


def wide(rng: np.random.Generator) -> Iterator[str]:
    yield ",".join(f"v{j}" for j in range(10_000))
    while True:
        yield ",".join(map(str, rng.integers(0, 1000, 10_000).tolist()))


def written(make: Callable[[np.random.Generator], Iterator[str]]) -> Path:
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as file:
        size = 0
        for line in make(np.random.default_rng(1)):
            size += file.write(line + "\n")
            if size > SIZE + 1_900_000:
                break
    return Path(file.name)


def limits() -> None:
    for make in (mixed, narrow, wide):
        path = written(make)
        size = path.stat().st_size
        calls: list[float] = []
        ingest.read(b"a,b\n1,2\n").attributes()
        with peak() as most:
            start = time.perf_counter()
            preview = ingest.read(path, progress=calls.append)
            seconds = time.perf_counter() - start
        start = time.perf_counter()
        domain = ingest.draft_domain(preview, *preview.labels[1:6])
        ingest.encode(preview, domain)
        coded = time.perf_counter() - start
        print(
            f"{make.__name__:7} {size / 1e6:5.1f} MB {preview.frame.shape!s:16} "
            f"read {seconds:5.2f} s, peak {most() / size:4.2f} x file, {len(calls)} progress "
            "calls; "
            f"five columns encoded {coded:.2f} s"
        )
        path.unlink()


def detectors() -> None:
    import clevercsv

    from tests.ingest.corpus import SHAPES, TEXTS

    score = {"ours": 0, "clevercsv": 0, "csv.Sniffer": 0}
    cases = 0
    for case in [*TEXTS, *SHAPES]:
        if case.error or case.chosen or len(case.content()) > 100_000:
            continue
        preview = ingest.read(case.content())
        text = case.content().decode(preview.choices["encoding"], "replace").lstrip("\ufeff")
        right = preview.choices["separator"]  # the tests check the table it gives
        cases += 1
        score["ours"] += 1
        try:
            dialect = clevercsv.Detector().detect(text)
            score["clevercsv"] += dialect is not None and dialect.delimiter == right
        except clevercsv.Error:
            pass  # a NUL character
        try:
            score["csv.Sniffer"] += csv.Sniffer().sniff(text).delimiter == right
        except csv.Error:
            score["csv.Sniffer"] += right == ""
    print({name: f"{right} of {cases}" for name, right in score.items()})


def fuzz(seconds: float) -> None:
    from tests.ingest.corpus import CASES
    from tests.ingest.test_round_trip import look_at, mutated

    seeds = [case.content() for case in CASES if not callable(case.data) or case.error is None]
    seeds = [seed for seed in seeds if len(seed) < 20_000]
    rng, slowest, inputs = random.Random(time.time_ns()), 0.0, 0
    outcomes: dict[str, int] = {}
    until = time.monotonic() + seconds
    with peak() as most:
        while time.monotonic() < until:
            data = mutated(rng, seeds)
            start = time.perf_counter()
            outcome = look_at(data, {})
            slowest, inputs = max(slowest, time.perf_counter() - start), inputs + 1
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    print(f"{inputs:,} inputs, slowest {slowest:.2f} s, peak {most() / 1e6:.0f} MB, {outcomes}")


def ratio() -> None:
    """A million rows of 13 columns: processor time beside pandas.read_csv, which notes nothing."""
    import io

    import pandas as pd

    rng, rows = np.random.default_rng(1), 1_000_000
    columns = [rng.integers(0, k, rows).astype(str) for k in (2, 5, 7, 9, 16, 42, 74, 100, 120)]
    columns += [np.char.add("val ", rng.integers(0, k, rows).astype(str)) for k in (2, 8, 15, 20)]
    data = pd.DataFrame({f"v{j}": c for j, c in enumerate(columns)}).to_csv(index=False).encode()
    for _ in range(3):
        start = time.process_time()
        pd.read_csv(io.BytesIO(data))
        theirs = time.process_time() - start
        ingest.read(data)
        ours = time.process_time() - start - theirs
        print(f"pandas {theirs:.2f} s, ours {ours:.2f} s: {ours / theirs:.1f} times")


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "limits"
    if what == "fuzz":
        fuzz(float(sys.argv[2]) if len(sys.argv) > 2 else 60)
    else:
        {"limits": limits, "detectors": detectors, "ratio": ratio}[what]()
