"""The command: see the package."""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.faults import running
from tests.faults.fault import Fault
from tests.faults.planted import PARTS


def chosen(options: argparse.Namespace) -> list[Fault]:
    """The faults asked for, in the order of the list."""
    faults = [f for part in options.part or PARTS for f in PARTS[part]]
    if options.only:
        faults = [f for f in faults if options.only in f.name]
    if options.tenth is not None:
        drawn = random.Random(options.tenth).sample(faults, -(-len(faults) // 10))
        faults = [f for f in faults if f in drawn]
    return faults


def _work(share: Sequence[Fault], results: Any) -> None:
    running.prepared()
    with running.folder() as folder:
        copy = running.Copy(Path(folder))
        share = [fault.found(copy.root) for fault in share]
        problems = list(running.clean(share, copy))
        for problem in problems:
            results.put(problem)
        if not problems:
            for outcome in running.outcomes(share, copy):
                results.put(outcome)
    results.put(None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 if a fault survives or the list is wrong."""
    asked = argparse.ArgumentParser(description="Plant faults and see whether tests catch them.")
    asked.add_argument("--part", nargs="+", choices=list(PARTS))
    asked.add_argument("--only", help="faults whose name holds this")
    asked.add_argument("--tenth", type=int, help="a tenth of them, drawn with this seed")
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--list", action="store_true", help="only say what there is")
    options = asked.parse_args(arguments)
    faults = chosen(options)
    if options.list:
        for fault in faults:
            print(f"{fault.name:<52} {fault.path}\n    {fault.harm}")
        print(f"{len(faults)} faults")
        return 0
    return run(faults, options.jobs)


def run(faults: Sequence[Fault], jobs: int) -> int:
    """Go through the faults in so many processes, and tell what became of each."""
    context = multiprocessing.get_context("fork")
    results: Any = context.Queue()
    workers = [
        context.Process(target=_work, args=(share, results), daemon=True)
        for share in running.in_two(faults, jobs)
    ]
    for worker in workers:
        worker.start()
    going, bad, told = len(workers), 0, 0
    while going:
        found = results.get()
        if found is None:
            going -= 1
        elif isinstance(found, str):
            bad += 1
            print(found, flush=True)
        else:
            told += 1
            bad += found.verdict != running.CAUGHT
            print(
                f"{found.verdict:<8} {found.seconds:5.1f} s  {found.fault.name}: {found.told}",
                flush=True,
            )
    print(f"{told} of {len(faults)} faults planted; {bad} not caught", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
