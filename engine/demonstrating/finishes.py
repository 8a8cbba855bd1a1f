"""Every mechanism with every post-processing, so that a win can be told from its last step.

``"residual_planner+simplex"`` names a contender and what is done to its answers. All of them start
from the same release: nothing is measured again, and nothing of it costs budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias, TypeVar

from engine.completing.consistency import consistent
from engine.completing.projection import simplex
from engine.completing.release import Release
from engine.mechanisms import catalogue
from engine.released import Estimate
from engine.types import AttributeSet

SIGN = "+"
"""Between a mechanism's key and that of a finish."""
Answers: TypeAlias = Callable[[AttributeSet], Estimate]
V = TypeVar("V")

FINISHES: Mapping[str, str] = {
    "none": "raw",
    "nonnegative": "non-negative",
    "simplex": "simplex",
    "completed": "completed",
}
"""What can be done to answers, and what a chart calls it.

``none``: what was not measured counts as zero. ``nonnegative``: the nearest tables that agree and
have no negative cell. ``simplex``: the same for each table alone. ``completed``: what was not
measured is filled in by maximum entropy.
"""


def answers(release: Release, finish: str = "") -> Answers:
    """Return what answers a marginal with this finish; without one, as the release does itself."""
    if not finish:
        return lambda attrs: release.estimate(*attrs)
    if finish == "completed":
        filled = replace(release, completion="maxent")
        return lambda attrs: filled.estimate(*attrs)
    plain = replace(release, completion=None)
    if finish == "nonnegative":
        tables = consistent(plain, nonnegative=True)
        return lambda attrs: tables.estimate(*attrs)
    if finish == "simplex":
        return lambda attrs: simplex(plain.estimate(*attrs))
    return lambda attrs: plain.estimate(*attrs)


class Crossed(catalogue.Listing[V]):
    """The mechanisms offered in one place; each is also found with a finish, but not listed.

    Args:
        place: Where they are offered.
        value: What to give for an entry.
        finished: What to give for that with a finish.
    """

    __slots__ = ("_finished",)

    def __init__(
        self,
        place: catalogue.Place,
        value: Callable[[catalogue.Entry], V],
        finished: Callable[[V, str], V],
    ) -> None:
        super().__init__(place, value)
        self._finished = finished

    def __getitem__(self, name: str) -> V:
        base, sign, finish = name.partition(SIGN)
        found = super().__getitem__(base)
        if not sign:
            return found
        if finish not in FINISHES:
            raise KeyError(name)
        return self._finished(found, finish)


def split(key: str) -> tuple[str, str]:
    """Return mechanism and finish of a contender's key; the finish is empty if it has none."""
    base, _, finish = key.partition(SIGN)
    return base, finish


def crossed(mechanisms: Iterable[str], finishes: Iterable[str]) -> list[str]:
    """Return each mechanism as it answers itself, and with each of these finishes.

    A product of 1-way tables is one finish already, and the total alone has nothing to finish.
    """
    finishes = tuple(finishes)
    keys = []
    for key in mechanisms:
        keys.append(key)
        entry = catalogue.find(key)
        if not entry.one_ways and key != "uniform":
            keys += [f"{key}{SIGN}{finish}" for finish in finishes]
    return keys


def in_order(keys: Iterable[str]) -> list[str]:
    """Sort contenders as the catalogue does, then by finish; others come last, as they were."""
    bases = {entry.key: k for k, entry in enumerate(catalogue.entries())}
    ends = {finish: k for k, finish in enumerate(["", *FINISHES])}

    def place(key: str) -> tuple[int, int]:
        base, finish = split(key)
        return bases.get(base, len(bases)), ends.get(finish, 0)

    return sorted(dict.fromkeys(keys), key=place)
