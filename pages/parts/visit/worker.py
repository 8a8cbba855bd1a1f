"""Long work beside the script: a job that a session owns, asked by a fragment how far it is.

The thread knows nothing of Streamlit and nothing of the session. Work comes in pieces; what is done
is kept whatever happens: cancelled, failed or finished. When a session is gone, the thread stops
before its next step.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import engine
from engine import jobs
from pages.parts.visit import turns

T = TypeVar("T")
Make = Callable[[Callable[[], bool]], Iterator[T]]
FAILED = "Something went wrong here. What was done until then is kept; the log says more."


@dataclass(slots=True)
class Pieces(Generic[T]):
    """What the thread has made so far, and why it stopped by itself; written by the thread."""

    total: int | None
    done: list[T] = field(default_factory=list)
    error: str | None = None


class Job(jobs.Job[None], Generic[T]):
    """Work in a thread of its own, piece by piece.

    Args:
        make: Given a function that says whether to stop, yields the pieces.
        total: How many pieces there will be, if that is known.
        about: What the work is, to be shown with its results.
        line: Where it waits for its turn.
    """

    def __init__(
        self, make: Make[T], total: int | None, about: Any, *, line: turns.Line | None = None
    ) -> None:
        self.about = about
        self._pieces: Pieces[T] = Pieces(total)
        self._line = line or turns.LINE
        self._ticket = self._line.join(turns.visitor())
        if self._ticket is None:
            self._pieces.error = turns.BUSY
            super().__init__(lambda report: None)
            self.wait()
            return
        super().__init__(partial(_work, make, self._pieces, self._line, self._ticket))

    @property
    def done(self) -> list[T]:
        """The pieces so far: a copy."""
        return list(self._pieces.done)

    @property
    def place(self) -> int:
        """Its place in the line of the server, from 1; 0 once it goes on."""
        return self._line.place(self._ticket) if self._ticket is not None else 0

    @property
    def error(self) -> str | None:
        """Why it stopped by itself."""
        return self._pieces.error

    @property
    def total(self) -> int:
        """How many pieces were asked for; 0 if that is not known."""
        return self._pieces.total or 0


def _work(
    make: Make[T], pieces: Pieces[T], line: turns.Line, ticket: turns.Ticket, report: jobs.Report
) -> None:
    stop = report.cancelled
    try:
        if not line.enter(ticket, stop):
            raise jobs.CancelledError
        report.begin()
        for piece in make(stop):
            pieces.done.append(piece)
            report.share = len(pieces.done) / pieces.total if pieces.total else 0.0
            if stop() or (line.step_back(ticket) and not line.enter(ticket, stop)):
                break
        if stop() and len(pieces.done) != pieces.total:
            raise jobs.CancelledError
    except jobs.CancelledError:
        raise
    except engine.EngineError as error:
        pieces.error = str(error)
    except Exception:  # a traceback belongs in the log
        logging.getLogger(__name__).exception("a worker failed")
        pieces.error = FAILED
    finally:
        line.leave(ticket)
