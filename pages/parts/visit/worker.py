"""Long work beside the script: a thread that a session owns, asked by a fragment how far it is.

The thread knows nothing of Streamlit and nothing of the session; both hold the same small record.
What is done is kept whatever happens: cancelled, failed or finished. When a session is gone, the
thread stops before its next step.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import engine
from pages.parts.visit import turns

T = TypeVar("T")
FAILED = "Something went wrong here. What was done until then is kept; the log says more."


@dataclass(slots=True)
class Progress(Generic[T]):
    """What thread and session share; each field is written by one of them only."""

    total: int | None
    cancel: threading.Event = field(default_factory=threading.Event)
    done: list[T] = field(default_factory=list)
    error: str | None = None
    whole: bool = False
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None


class Job(Generic[T]):
    """Work in a thread of its own, piece by piece.

    Args:
        make: Given a function that says whether to stop, yields the pieces.
        total: How many pieces there will be, if that is known.
        about: What the work is, to be shown with its results.
        line: Where it waits for its turn.
    """

    def __init__(
        self, make: Callable[[Callable[[], bool]], Iterator[T]], total: int | None, about: Any, *,
        line: turns.Line | None = None,
    ) -> None:  # fmt: skip
        self.about = about
        self._progress: Progress[T] = Progress(total)
        # The thread holds the record, not the job: a job that nobody holds any more stops it.
        weakref.finalize(self, self._progress.cancel.set)
        self._line = line or turns.LINE
        self._ticket = self._line.join(turns.visitor())
        if self._ticket is None:
            self._progress.error, self._progress.ended = turns.BUSY, time.monotonic()
        work = (make, self._progress, self._line, self._ticket)
        self._thread = threading.Thread(target=_work, args=work, daemon=True)
        self._thread.start()

    @property
    def done(self) -> list[T]:
        """The pieces so far: a copy."""
        return list(self._progress.done)

    @property
    def running(self) -> bool:
        """Whether more is to come."""
        return self._progress.ended is None

    @property
    def place(self) -> int:
        """Its place in the line of the server, from 1; 0 once it goes on."""
        return self._line.place(self._ticket) if self._ticket is not None else 0

    @property
    def cancelled(self) -> bool:
        """Whether it was stopped before its end."""
        return not self.running and not self._progress.whole and self.error is None

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop, and has not yet."""
        return self.running and self._progress.cancel.is_set()

    @property
    def error(self) -> str | None:
        """Why it stopped by itself."""
        return self._progress.error

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1; 0 as long as the total is not known."""
        return min(len(self._progress.done) / self.total, 1.0) if self.total else 0.0

    @property
    def total(self) -> int:
        """How many pieces were asked for; 0 if that is not known."""
        return self._progress.total or 0

    @property
    def seconds(self) -> float:
        """Time since it began, or that it took."""
        return (self._progress.ended or time.monotonic()) - self._progress.began

    def cancel(self) -> None:
        """Ask it to stop; what is done is kept."""
        self._progress.cancel.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long for its end; says whether it has come."""
        self._thread.join(seconds)
        return not self.running


def _work(
    make: Callable[[Callable[[], bool]], Iterator[T]],
    progress: Progress[T],
    line: turns.Line,
    ticket: turns.Ticket | None,
) -> None:
    if ticket is None:
        return
    stop = progress.cancel.is_set
    try:
        if not line.enter(ticket, stop):
            return
        progress.began = time.monotonic()
        for piece in make(stop):
            progress.done.append(piece)
            if stop() or (line.step_back(ticket) and not line.enter(ticket, stop)):
                break
        progress.whole = not progress.cancel.is_set() or len(progress.done) == progress.total
    except engine.EngineError as error:
        progress.error = str(error)
    except Exception:  # a traceback belongs in the log
        logging.getLogger(__name__).exception("a worker failed")
        progress.error = FAILED
    finally:
        line.leave(ticket)
        progress.ended = time.monotonic()
