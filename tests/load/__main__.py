"""Many visitors at once on this machine, bounded in number and time.

    python -m tests.load                     thirty visitors: pages and Next
    python -m tests.load --visitors 10 --presses 5

Starts a server of its own on the loopback address and ends it. All visitors open Rounds, wait for
each other, and press Next again as soon as the answer has come; then each opens five pages. Nobody
brings a table of their own.
Seconds are what a visitor waits, from the press to the end of the script, over a real web socket;
the processor's seconds are the server's own. Memory is the server's resident size.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

from tests.load.visitors import Visitor, middle, visitor

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("", "plan", "marginals", "compare", "learn")
MOST, LONGEST = 60, 30
_MEBIBYTE = 2**20


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """Run the explorer on a free port; gives its address and process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    process = subprocess.Popen(
        [*command, "--server.port", str(port)], cwd=ROOT, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait(f"http://127.0.0.1:{port}/_stcore/health")
        yield f"127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait(url: str, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5):  # loopback
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("The server did not come up. See what `streamlit run app.py` says.")


def processor(pid: int) -> float:
    """Seconds of processor time that a process has had."""
    held = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(held[11]) + int(held[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Resident size of a process in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEBIBYTE


async def timed(visitors: list[Visitor], call: Callable[[Visitor], Awaitable[object]]) -> str:
    """Have all visitors do something at once; says what they waited."""
    before = [len(one.seconds) for one in visitors]
    await asyncio.gather(*(call(one) for one in visitors))
    waits = [s for one, n in zip(visitors, before, strict=True) for s in one.seconds[n:]]
    return f"median {middle(waits):.2f} s, slowest {max(waits):.2f} s, {len(waits)} answers"


async def load(host: str, pid: int, number: int, presses: int) -> None:
    """Run the whole load on a server."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(visitor(host))
        for page in (*PAGES, "data", "rounds"):  # what the first visitor of a day waits for
            await first.open(page)
        await stepped(first, presses)
        empty = resident(pid)
        alone = await one_visitor(first, pid)
        print(f"one visitor: {alone}")
        opened = [await stack.enter_async_context(visitor(host)) for _ in range(number)]
        print(f"{number} open Rounds: {await timed(opened, lambda one: one.open('rounds'))}")
        spent = processor(pid)
        said = await timed(opened, lambda one: stepped(one, presses))
        spent = (processor(pid) - spent) / (number * (presses + 1))
        print(f"{number} press Next {presses} times: {said}; {spent:.3f} s of processor each")
        for page in PAGES:
            print(f"{number} open {page or 'Start'}: {await timed(opened, _opener(page))}")
        print(f"memory: {(resident(pid) - empty) / number:.2f} MiB a visitor")


def _opener(page: str) -> Callable[[Visitor], Awaitable[object]]:
    return lambda one: one.open(page)


async def stepped(one: Visitor, presses: int) -> None:
    """Go to the first round and press Next so often; a run at its end begins again."""
    await one.press("first")
    for _ in range(presses):
        await one.press("next")


async def one_visitor(one: Visitor, pid: int) -> str:
    """Medians of five of what one visitor costs: Next, and the dearest page's script."""
    await one.open("rounds")
    await one.press("first")
    waits, costs = [], []
    for _ in range(5):
        spent = processor(pid)
        waits.append(await one.press("next"))
        costs.append(processor(pid) - spent)
    pages: dict[str, list[float]] = {page: [] for page in PAGES}
    for page, seconds in pages.items():
        for _ in range(5):
            spent = processor(pid)
            await one.open(page)
            seconds.append(processor(pid) - spent)
    dear = max(pages, key=lambda page: middle(pages[page]))
    await one.open("rounds")
    return (
        f"Next {middle(waits):.3f} s ({middle(costs):.3f} s of processor); the dearest page "
        f"({dear or 'start'}) {middle(pages[dear]):.3f} s of processor"
    )


def main() -> None:
    """Run the load with what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--presses", type=int, default=4)
    asked = parser.parse_args()
    number, presses = min(asked.visitors, MOST), min(asked.presses, LONGEST)
    with server() as (host, pid):
        asyncio.run(load(host, pid, number, presses))


main()
