"""Badges: who may see what a picture shows. Values carry them, and the strictest one wins.

Frames and limits are ``Badged``: what they were made from decided once who may see them. Whatever
carries no badge counts as not private, since nobody knows what it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Badge = Literal["released", "public", "not private (never released)"]
PUBLIC: Badge = "public"
RELEASED: Badge = "released"
NOT_PRIVATE: Badge = "not private (never released)"
ORDER: tuple[Badge, ...] = (PUBLIC, RELEASED, NOT_PRIVATE)
"""The strictest last."""
MARKS: dict[str, str] = {RELEASED: "●", PUBLIC: "■", NOT_PRIVATE: "▲"}


class Badged:
    """A value that carries its badge."""

    __slots__ = ()

    @property
    def badge(self) -> Badge:
        """Who may see it; not private unless the type says otherwise."""
        return NOT_PRIVATE


def badge_of(value: object) -> Badge:
    """Return the badge a value carries; what carries none is not private."""
    return value.badge if isinstance(value, Badged) else NOT_PRIVATE


def strictest(values: Iterator[object] | list[object] | tuple[object, ...]) -> Badge:
    """Return the strictest badge of values; of none at all, not private."""
    badges = [badge_of(value) for value in values]
    return max(badges, key=ORDER.index) if badges else NOT_PRIVATE


@dataclass(frozen=True, slots=True)
class Limits(Badged):
    """Ends of a scale, with the badge of what they were read from.

    A scale that ends at the largest true count tells that count, whatever is drawn on it.

    Args:
        low: Where the scale begins.
        high: Where it ends.
        source: The badge; ends typed in by hand are ``PUBLIC``.
    """

    low: float
    high: float
    source: Badge = NOT_PRIVATE

    @property
    def badge(self) -> Badge:
        """Who may see a picture drawn on this scale."""
        return self.source

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))


def spanning(limits: list[Limits]) -> Limits:
    """Return the least limits that hold all of these; the strictest badge wins."""
    return Limits(
        min(one.low for one in limits), max(one.high for one in limits), strictest([*limits])
    )
