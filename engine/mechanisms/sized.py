"""A mechanism's calls run their loops as the size of their workload says (``engine.compiling``)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from engine import compiling
from engine.workload import Workload

F = TypeVar("F", bound=Callable[..., Any])


def by_size(call: F) -> F:
    """Decorate ``start``, ``step`` or ``scores``: what is given holds the workload, or is it.

    Without it a call is right too; each of its loops then goes by its own arrays.
    """

    @wraps(call)
    def sized(*given: Any, **named: Any) -> Any:
        at_hand = (getattr(g, "workload", g) for g in (*given, *named.values()))
        workload = next(w for w in at_hand if isinstance(w, Workload))
        with compiling.sized(workload.layout.total_cells):
            return call(*given, **named)

    return cast("F", sized)
