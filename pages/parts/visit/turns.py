"""Whose long work goes on: one line for all visitors of a server, with stated limits.

As many pieces of work run at once as the machine has cores (at least two), one of each visitor.
Whoever comes later waits in a line and sees the place in it. Work that has run for a while steps
back to the line's end between two of its pieces when others wait: a long comparison does not keep a
class from theirs.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

AT_ONCE = max(2, os.cpu_count() or 2)
MOST_WAITING = 60
AWHILE = 5.0
"""Seconds after which work makes room for others between two pieces."""
_LOOK = 0.2
BUSY = (
    f"There are {MOST_WAITING} pieces of work in the line of this server; no more are taken. Try "
    "again in a few minutes, or run the explorer on your own machine."
)


class Line:
    """Work that goes on, and work that waits.

    Args:
        at_once: How much goes on at the same time.
        most_waiting: How much may wait.
    """

    def __init__(self, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._at_once, self._most = at_once, most_waiting
        self._moved = threading.Condition()
        self._waiting: deque[Ticket] = deque()
        self._running: list[Ticket] = []

    def join(self, owner: str) -> Ticket | None:
        """Take the last place; None where the line is full. An owner "" is nobody's limit."""
        with self._moved:
            if len(self._waiting) >= self._most:
                return None
            ticket = Ticket(self, owner)
            self._waiting.append(ticket)
            return ticket

    def place(self, ticket: Ticket) -> int:
        """Return the place in the line, from 1; 0 for what goes on or has left."""
        with self._moved:
            return self._waiting.index(ticket) + 1 if ticket in self._waiting else 0

    def enter(self, ticket: Ticket, stop: Callable[[], bool]) -> bool:
        """Wait for the turn; False if it was stopped before."""
        with self._moved:
            while not stop():
                if self._next() is ticket:
                    self._waiting.remove(ticket)
                    self._running.append(ticket)
                    ticket.since = time.monotonic()
                    self._moved.notify_all()
                    return True
                self._moved.wait(_LOOK)
        return False

    def leave(self, ticket: Ticket) -> None:
        """Give up the place or the turn."""
        with self._moved:
            if ticket in self._running:
                self._running.remove(ticket)
            elif ticket in self._waiting:
                self._waiting.remove(ticket)
            self._moved.notify_all()

    def step_back(self, ticket: Ticket) -> bool:
        """Go to the line's end if others wait and it ran for a while; says whether it did."""
        with self._moved:
            if time.monotonic() - ticket.since < AWHILE or self._next(freed=ticket) is None:
                return False
            self._running.remove(ticket)
            self._waiting.append(ticket)
            self._moved.notify_all()
            return True

    def _next(self, freed: Ticket | None = None) -> Ticket | None:
        """Return the first that may go on: there is room, and nothing of its owner goes on."""
        running = [ticket for ticket in self._running if ticket is not freed]
        if len(running) >= self._at_once:
            return None
        busy = {ticket.owner for ticket in running if ticket.owner}
        return next((ticket for ticket in self._waiting if ticket.owner not in busy), None)


class Ticket:
    """A place in a line.

    Args:
        line: The line.
        owner: Whose work it is.
    """

    def __init__(self, line: Line, owner: str) -> None:
        self.line, self.owner = line, owner
        self.since = 0.0


LINE = Line()


def visitor() -> str:
    """Return who asks: a name drawn for the session, "" outside of one."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ""
    return str(st.session_state.setdefault("turns_visitor", secrets.token_hex(8)))


def waiting(place: int) -> str:
    """Say the place in the line, for a progress bar."""
    return f"Waiting: place {place} in the line of this server"
