"""Frames: pandas tables that carry the badge of what they were made from.

A ``Frame`` reads like any DataFrame. The badge is promised for these numbers only. What pandas
computes from a frame (a selection, a copy, a join) is a plain DataFrame without a badge, and a
frame that is written to loses its own. Without a badge, a picture is not private.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pandas as pd

from engine.showing.badges import NOT_PRIVATE, Badge, Badged


class Frame(Badged, pd.DataFrame):
    """A table with its badge.

    Args:
        data: Anything a DataFrame is made from.
        badge: Who may see it, by the type of what it was made from.
    """

    # Pickles keep it; what pandas makes of a frame is no Frame and cannot take it over.
    _metadata: ClassVar[list[str]] = ["_badge"]
    _badge: Badge = NOT_PRIVATE
    _kept: Mapping[str, Sequence[Any]] | None = None

    def __init__(self, data: Any, badge: Badge = NOT_PRIVATE) -> None:
        super().__init__(data)  # type: ignore[call-arg]  # pandas-stubs know only __new__
        object.__setattr__(self, "_badge", badge)

    @property
    def badge(self) -> Badge:
        """Who may see it."""
        return self._badge

    @property
    def kept(self) -> Mapping[str, Sequence[Any]] | None:
        """The columns it was made from; None once it was written to, or if they are not kept."""
        return self._kept

    def keep(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Keep the columns it was made from, which are quicker to read than its own."""
        object.__setattr__(self, "_kept", columns)

    def _forget(self) -> None:
        object.__setattr__(self, "_badge", NOT_PRIVATE)
        object.__setattr__(self, "_kept", None)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._forget()
        super().__setitem__(key, value)

    def insert(self, *arguments: Any, **named: Any) -> None:
        """Put in a column, as pandas does; the badge is lost."""
        self._forget()
        super().insert(*arguments, **named)

    def _update_inplace(self, result: Any) -> None:
        self._forget()  # every ``inplace=True`` of pandas ends here
        super()._update_inplace(result)  # type: ignore[misc]  # pandas-stubs leaves it out

    @property
    def loc(self) -> Any:
        """As pandas does; writing to it loses the badge."""
        return _Cells(super().loc, self._forget)

    @property
    def iloc(self) -> Any:
        """As pandas does; writing to it loses the badge."""
        return _Cells(super().iloc, self._forget)

    @property
    def at(self) -> Any:
        """As pandas does; writing to it loses the badge."""
        return _Cells(super().at, self._forget)

    @property
    def iat(self) -> Any:
        """As pandas does; writing to it loses the badge."""
        return _Cells(super().iat, self._forget)


class _Cells:
    """One of pandas' indexers; tells the frame when it is written through."""

    __slots__ = ("_forget", "_indexer")

    def __init__(self, indexer: Any, forget: Callable[[], None]) -> None:
        self._indexer, self._forget = indexer, forget

    def __getitem__(self, key: Any) -> Any:
        return self._indexer[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._forget()
        self._indexer[key] = value

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return _Cells(self._indexer(*arguments, **named), self._forget)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._indexer, name)
