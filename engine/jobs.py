"""Long work in a thread of its own, with progress and a way to stop it.

Pages and notebooks wait alike. The thread holds a small record and never the job: once nobody
holds the job, its work stops at its next report. What it has kept until then stays.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class CancelledError(Exception):
    """Somebody asked the work to stop."""


class Report:
    """What work tells of itself, and where it hears that it should stop.

    Calling it, often, with the share done (0 to 1) and a word on it ends the work where it was
    cancelled.
    """

    def __init__(self) -> None:
        self.share, self.word = 0.0, ""
        self.began = time.monotonic()
        self.ended: float | None = None
        self.error: BaseException | None = None
        self._cancel = threading.Event()

    def __call__(self, share: float, word: str = "") -> None:
        """Say how far it is.

        Raises:
            CancelledError: If the work was cancelled.
        """
        self.share, self.word = share, word
        if self._cancel.is_set():
            raise CancelledError

    def cancelled(self) -> bool:
        """Whether it should stop, for work that ends by itself then."""
        return self._cancel.is_set()

    def cancel(self) -> None:
        """Ask the work to stop."""
        self._cancel.set()

    def begin(self) -> None:
        """Count the time from now on: what came before was waiting."""
        self.began = time.monotonic()


class Job(Generic[T]):
    """One piece of work in a thread of its own.

    Args:
        work: Gets a ``Report``, to be called often; what it returns is the result.
    """

    def __init__(self, work: Callable[[Report], T]) -> None:
        self._report, self._made = Report(), list[T]()
        weakref.finalize(self, self._report.cancel)
        given = (work, self._report, self._made)
        self._thread = threading.Thread(target=_do, args=given, daemon=True)
        self._thread.start()

    @property
    def result(self) -> T | None:
        """What the work returned; None before its end, or if it has none."""
        return self._made[0] if self._made else None

    @property
    def raised(self) -> BaseException | None:
        """What ended the work before its end, being cancelled included."""
        return self._report.error

    @property
    def running(self) -> bool:
        """Whether more is to come."""
        return self._report.ended is None

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop and has not stopped yet."""
        return self.running and self._report.cancelled()

    @property
    def cancelled(self) -> bool:
        """Whether it was stopped before its end."""
        return isinstance(self.raised, CancelledError)

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return min(self._report.share, 1.0)

    @property
    def word(self) -> str:
        """What the work said last."""
        return self._report.word

    @property
    def seconds(self) -> float:
        """Time since it began, or that it took."""
        return (self._report.ended or time.monotonic()) - self._report.began

    def cancel(self) -> None:
        """Ask it to stop; what is done is kept."""
        self._report.cancel()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for its end, at most so long; says whether it has come."""
        self._thread.join(seconds)
        return not self.running


def _do(work: Callable[[Report], T], report: Report, made: list[T]) -> None:
    try:
        made.append(work(report))
    except BaseException as error:  # noqa: BLE001 - told by whoever asks for the result
        report.error = error.with_traceback(None)  # its frames would keep the records alive
    finally:
        report.ended = time.monotonic()
