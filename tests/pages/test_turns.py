"""The line for long work: limits, places, fairness between visitors."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from pages.parts.navigation import host
from pages.parts.visit import turns
from pages.parts.visit.turns import Line, Ticket
from pages.parts.visit.worker import Job

Stop = Callable[[], bool]


def joined(line: Line, owner: str) -> Ticket:
    ticket = line.join(owner)
    assert ticket is not None
    return ticket


def never() -> bool:
    return False


def test_no_more_goes_on_at_once_than_the_limit_and_the_rest_has_places() -> None:
    line = Line(at_once=2)
    tickets = [joined(line, owner) for owner in "abcd"]
    assert line.enter(tickets[0], never)
    assert line.enter(tickets[1], never)
    assert [line.place(ticket) for ticket in tickets] == [0, 0, 1, 2]
    line.leave(tickets[0])
    assert line.enter(tickets[2], never)
    assert line.place(tickets[3]) == 1


def test_a_visitor_s_second_work_lets_others_pass() -> None:
    line = Line(at_once=2)
    first, second, other = (joined(line, owner) for owner in "aab")
    assert line.enter(first, never)
    assert line.enter(other, never), "the second of a waits for the first, b for nobody"
    assert line.place(second) == 1


def test_a_full_line_takes_no_more_and_says_so() -> None:
    line = Line(at_once=1, most_waiting=1)
    held = joined(line, "a")
    assert line.enter(held, never)
    assert line.join("b") is not None
    assert line.join("c") is None
    job: Job[int] = Job(lambda stop: iter([1]), 1, None, line=line)
    assert job.error == turns.BUSY
    assert job.wait(5)
    assert job.done == []


def test_work_that_ran_for_a_while_makes_room_between_two_pieces() -> None:
    line = Line(at_once=1)
    long, short = joined(line, "a"), joined(line, "b")
    assert line.enter(long, never)
    assert not line.step_back(long), "it has only begun"
    long.since -= 2 * turns.AWHILE
    assert line.step_back(long)
    assert line.enter(short, never)
    assert line.place(long) == 1


def test_work_stopped_in_the_line_leaves_it() -> None:
    line = Line(at_once=1)
    held = joined(line, "a")
    assert line.enter(held, never)
    begun = threading.Event()

    def make(stop: Stop) -> Iterator[int]:
        begun.set()
        yield 1

    job: Job[int] = Job(make, 1, None, line=line)
    assert job.place == 1
    job.cancel()
    assert job.wait(5)
    assert job.cancelled
    assert not begun.is_set()
    line.leave(held)
    again: Job[int] = Job(make, 1, None, line=line)
    assert again.wait(5)
    assert again.done == [1]


def test_what_the_libraries_hold_is_set_aside_once_and_again_when_modules_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frozen: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    monkeypatch.setattr(gc, "collect", lambda *of: 0)
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)
    monkeypatch.setattr(host.runtime, "exists", lambda: True)
    monkeypatch.setattr(host, "_FROZEN", 0)
    host.settle()
    host.settle()
    assert len(frozen) == 1
    monkeypatch.setitem(sys.modules, "a_module_that_came", sys)
    host.settle()
    assert len(frozen) == 2
