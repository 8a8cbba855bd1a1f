"""Loops over cells: interpreted where there is little to do, compiled (numba) where there is more.

Compiling takes seconds, once on a machine; interpreting the same Python takes microseconds a cell.
So runs of small workloads are interpreted, and nobody waits for a compiler there; larger ones are
compiled from the first call on. The two agree but for the rounding of sums, and a last digit can
decide what a plan leaves out. So which of them serves a call follows from public sizes alone
(``sized``; a call outside of it goes by its own arrays), never from what the process did before.
The same seeded call then gives the same bits whenever it is made. ``prepare`` compiles everything
and keeps the code on disk.

numba is imported when the first loop is compiled; it alone takes half a second.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Limits:
    """Up to how much work loops are interpreted: each about a second of it.

    Args:
        workload: Cells of all marginals of a run; it passes over them a thousand times.
        call: Elements of one call's arrays, outside of a run.
        counting: Elements where NumPy can do the same.
    """

    workload: float = 2_000
    call: float = 300_000
    counting: float = 3_000_000


_limits = Limits()
_making = threading.RLock()
_small: ContextVar[float | None] = ContextVar("small", default=None)
"""Cells of the workload at hand; of this thread and those that it hands its work to."""
_shown: ContextVar[bool] = ContextVar("shown", default=False)
"""Whether numbers are for a picture only, and nobody should wait for a compiler."""
_loops: list[Loop] = []


class Loop:
    """One loop over cells: a plain function, and its compiled form once that is worth its price.

    Args:
        function: Written so that numba can compile it; it may call other loops.
        plain: What to run instead of it while nothing is compiled; by default the function itself.
        integers: Whether ``plain`` gives the same integers, and so may serve any call. Else it
            differs by rounding, and serves the calls that would be interpreted.
    """

    __slots__ = ("__dict__", "_alike", "_compiled", "_plain", "function")

    def __init__(
        self,
        function: Callable[..., Any],
        plain: Callable[..., Any] | None = None,
        *,
        integers: bool = False,
    ) -> None:
        self.function, self._plain = function, plain or function
        self._alike = integers
        self._compiled: Callable[..., Any] | None = None
        update_wrapper(self, function)
        _loops.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run it, compiled if there is too much to interpret."""
        cells = _small.get()
        if cells is None or self._alike or _shown.get():
            interpreted = self._interpreted(arguments)
        else:
            interpreted = cells <= _limits.workload
        if interpreted:
            return self._plain(*arguments)
        return (self._compiled or self.compiled())(*arguments)

    def _interpreted(self, arguments: tuple[Any, ...]) -> bool:
        """Whether there is so little to do, outside of a run or while counting: by public sizes."""
        if _shown.get():
            return True
        # Counting: both forms give the same integers, so each call may go by the number of records,
        # which is private. Nothing else may: released digits would tell it.
        most = _limits.counting if self._alike else _limits.call
        return sum(a.size for a in arguments if isinstance(a, np.ndarray)) <= most

    def compiled(self) -> Callable[..., Any]:
        """Return the compiled form, made for the types of its first arguments when called."""
        with _making:
            if self._compiled is None:
                self._compiled = _dispatcher(self.function)
            return self._compiled


def compiled(function: F) -> F:
    """Make a function a ``Loop``; for the type checker it stays what it is."""
    return cast("F", Loop(function))


def compiled_beside(plain: F, *, integers: bool = False) -> Callable[[F], F]:
    """Make a function a ``Loop`` that has a NumPy form, run while nothing is compiled."""
    return lambda function: cast("F", Loop(function, plain, integers=integers))


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
    options: dict[str, Any] = {
        "nogil": True,
        # Sums may be reassociated, products added unrounded: that is what makes them fast.
        "fastmath": {"reassoc", "nsz", "contract"},
        # A loop called by another would stand in memory twice, once on its own and once as
        # optimised for the caller, with sums in another order. Which of them is linked depends on
        # whether the code was compiled in this process or read from disk.
        "forceinline": True,
        "no_cfunc_wrapper": True,
    }
    try:
        made = numba.njit(cache=True, **options)(linked)
    except RuntimeError:  # nowhere to keep the compiled code: compile in each process
        made = numba.njit(**options)(linked)
    return cast("Callable[..., Any]", made)


@contextmanager
def sized(cells: int) -> Iterator[None]:
    """Let loops inside go by the size of the workload at hand, not each by its own arrays.

    Args:
        cells: Of all marginals of the workload and the subsets of them: public.
    """
    token = _small.set(cells)
    try:
        yield
    finally:
        _small.reset(token)


@contextmanager
def for_a_picture() -> Iterator[None]:
    """Interpret everything inside, whatever its size: for tables whose last digits nobody sees.

    A run must not be made or answered in it: its numbers would not be those of the same call
    elsewhere.
    """
    token = _shown.set(True)
    try:
        yield
    finally:
        _shown.reset(token)


@contextmanager
def free_work(elements: float) -> Iterator[None]:
    """Interpret so much work, in a workload and in a call: 0 compiles everything, inf nothing."""
    global _limits
    before, _limits = _limits, Limits(elements, elements, elements)
    try:
        yield
    finally:
        _limits = before


def loops() -> tuple[Loop, ...]:
    """All loops of the modules imported so far."""
    return tuple(_loops)
