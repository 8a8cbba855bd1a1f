from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator

import pytest

import engine
from pages.parts.visit.worker import FAILED, Job

Stop = Callable[[], bool]


def counting(upto: int, gate: threading.Semaphore) -> Callable[[Stop], Iterator[int]]:
    """Pieces 0, 1, ..., each let through by the gate."""

    def make(stop: Stop) -> Iterator[int]:
        for k in range(upto):
            while not gate.acquire(timeout=0.01):
                if stop():
                    return
            yield k

    return make


def test_cancelling_keeps_what_is_done() -> None:
    gate = threading.Semaphore(3)
    job = Job(counting(10, gate), 10, "about")
    while len(job.done) < 3:
        time.sleep(0.005)
    job.cancel()
    assert job.wait(5)
    assert job.done == [0, 1, 2]
    assert job.cancelled
    assert job.error is None


def test_finishing_is_no_cancelling() -> None:
    job = Job(counting(4, threading.Semaphore(4)), 4, None)
    assert job.wait(5)
    job.cancel()
    assert (job.done, job.cancelled, job.share) == ([0, 1, 2, 3], False, 1.0)


def test_two_jobs_neither_block_nor_mix() -> None:
    first_gate, second_gate = threading.Semaphore(0), threading.Semaphore(5)
    first = Job(counting(5, first_gate), 5, None)
    second = Job(counting(5, second_gate), 5, None)
    assert second.wait(5), "the second does not wait for the first"
    assert (first.done, second.done) == ([], [0, 1, 2, 3, 4])
    first.cancel()
    assert first.wait(5)


def test_a_job_that_nobody_holds_any_more_stops() -> None:
    stopped = threading.Event()

    def make(stop: Stop) -> Iterator[int]:
        while not stop():
            time.sleep(0.002)
        stopped.set()
        yield 0

    job = Job(make, 1, None)
    del job
    gc.collect()
    assert stopped.wait(5)


@pytest.mark.parametrize(
    ("error", "said"),
    [(engine.OptionError("Choose some."), "Choose some."), (KeyError("a value"), FAILED)],
)
def test_an_error_keeps_what_is_done_and_shows_no_traceback(error: Exception, said: str) -> None:
    def make(stop: Stop) -> Iterator[int]:
        yield 7
        raise error

    job = Job(make, 2, None)
    assert job.wait(5)
    assert (job.done, job.error) == ([7], said)
