"""Checks of what a caller gives: the right kind of thing, and whole numbers of any library."""

from __future__ import annotations

import operator
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import OptionError


def expect(value: object, kinds: type[Any] | tuple[type[Any], ...], what: str, remedy: str) -> None:
    """Refuse a value of another kind, with one sentence instead of a failure further down.

    Args:
        value: What was given.
        kinds: One or more types.
        what: What is needed, for example "a Workload".
        remedy: What to do.

    Raises:
        OptionError: If it is none of them (``E_OPTION``).
    """
    if not isinstance(value, kinds):
        raise OptionError(f"{found(value)} was given where {what} is needed. {remedy}")


def numbers(values: object, what: str) -> NDArray[np.float64]:
    """Return values as an array of numbers, or refuse them: texts, frames of texts, ragged rows.

    Args:
        values: What was given.
        what: What is needed, for example "a marginal".

    Raises:
        OptionError: If they are no numbers (``E_OPTION``).
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(
            f"{found(values)} was given where {what} is needed, which holds numbers alone. Give an "
            "array of numbers, or lists of them."
        ) from None


def path(value: object, what: str) -> Path:
    """Return a value as a path, or refuse it: a frame, a number, an open file.

    Args:
        value: What was given.
        what: Whose path is needed, for example "the domain file".

    Raises:
        OptionError: If it is none (``E_OPTION``).
    """
    if not isinstance(value, str | os.PathLike):
        raise OptionError(
            f"{found(value)} was given where the path of {what} is needed. Write it as a text or a "
            "pathlib.Path."
        )
    return Path(value)


def found(value: object) -> str:
    """Name what was given by its type, never by its content.

    >>> found([1, 2]), found(int)
    ('A value of type list', 'The class int')
    """
    if isinstance(value, type):
        return f"The class {value.__name__}"
    return f"A value of type {type(value).__name__}"


def whole(value: object) -> int | None:
    """Return a whole number of any library as an int; None for what is none, truth values too.

    >>> import numpy as np
    >>> whole(np.int64(3)), whole(3.0), whole(True)
    (3, None, None)
    """
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
