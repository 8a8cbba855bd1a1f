"""Loops over cells: interpreted while there is little to do, compiled (numba) as soon as there is.

Compiling takes seconds, once on a machine; interpreting the same Python takes microseconds a cell.
So the first ``FREE_WORK`` elements that a process hands to these loops are interpreted, which is
all of a run on a small table, and nobody waits for a compiler. The two agree but for the rounding
of sums. ``prepare`` compiles everything and keeps the code on disk.

numba is imported when the first loop is compiled; it alone takes half a second.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
FREE_WORK = 3_000_000
"""Array elements handed to loops before they are compiled: about a second of interpreting."""


class _Work:
    """How much this process has interpreted, and whether somebody asked for compiled loops."""

    __slots__ = ("free", "left", "lock")

    def __init__(self) -> None:
        self.left: float = FREE_WORK
        self.free: float = FREE_WORK
        self.lock = threading.RLock()


_work = _Work()
_loops: list[Loop] = []


class Loop:
    """One loop over cells: a plain function, and its compiled form once that is worth its price.

    Args:
        function: Written so that numba can compile it; it may call other loops.
        plain: What to run instead of it while nothing is compiled; by default the function itself.
            It gives the same integers.
    """

    __slots__ = ("__dict__", "_alike", "_compiled", "_plain", "function")

    def __init__(
        self, function: Callable[..., Any], plain: Callable[..., Any] | None = None
    ) -> None:
        self.function, self._plain = function, plain or function
        self._alike = plain is not None
        self._compiled: Callable[..., Any] | None = None
        update_wrapper(self, function)
        _loops.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run it, compiled if it is or if there is too much to interpret."""
        if self._alike and _work.left > 0:
            return self._beside(*arguments)
        if self._compiled is not None and _work.left <= 0:
            return self._compiled(*arguments)
        if _work.left > 0:
            _work.left -= sum(a.size for a in arguments if isinstance(a, np.ndarray))
            if _work.left > 0:
                return self._plain(*arguments)
        return self.compiled()(*arguments)

    def _beside(self, *arguments: Any) -> Any:
        """Counting: both forms give the same integers, so each call decides for itself.

        How long the records are is private. If it were taken off the free work, the loops that
        follow, whose sums are rounded otherwise once compiled, would tell it in released digits.
        """
        if sum(a.size for a in arguments if isinstance(a, np.ndarray)) <= _work.free:
            return self._plain(*arguments)
        return self.compiled()(*arguments)

    def compiled(self) -> Callable[..., Any]:
        """Return the compiled form, made for the types of its first arguments when called."""
        with _work.lock:
            if self._compiled is None:
                self._compiled = _dispatcher(self.function)
            return self._compiled


def compiled(function: F) -> F:
    """Make a function a ``Loop``; for the type checker it stays what it is."""
    return cast("F", Loop(function))


def compiled_beside(plain: F) -> Callable[[F], F]:
    """Make a function a ``Loop`` that has a NumPy form, run while nothing is compiled."""
    return lambda function: cast("F", Loop(function, plain))


def _dispatcher(function: Callable[..., Any]) -> Callable[..., Any]:
    """Hand a function to numba, with the loops it calls in their compiled form."""
    import numba

    names = function.__globals__
    called = {
        name: loop.compiled()
        for name in function.__code__.co_names
        if isinstance(loop := names.get(name), Loop)
    }
    linked = types.FunctionType(
        function.__code__, {**names, **called}, function.__name__, function.__defaults__
    )
    update_wrapper(linked, function)
    del linked.__dict__["__wrapped__"]  # numba would unwrap it
    # Sums may be reassociated, products added unrounded: that is what makes them fast.
    options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "nsz", "contract"}}
    try:
        made = numba.njit(cache=True, **options)(linked)
    except RuntimeError:  # nowhere to keep the compiled code: compile in each process
        made = numba.njit(**options)(linked)
    return cast("Callable[..., Any]", made)


@contextmanager
def free_work(elements: float) -> Iterator[None]:
    """Interpret so much work from here on: 0 compiles everything, infinity nothing."""
    before = _work.left, _work.free
    _work.left = _work.free = elements
    try:
        yield
    finally:
        _work.left, _work.free = before


def loops() -> tuple[Loop, ...]:
    """All loops of the modules imported so far."""
    return tuple(_loops)
