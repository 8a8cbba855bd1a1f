"""Where the scales of a run end: the same in each of its rounds, so that what moves has moved.

They follow from what was released in the whole run, never from the round looked at.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from engine.mechanisms.base import Run
from engine.showing.badges import Limits, spanning
from engine.showing.frames import rounds as moments
from engine.showing.frames import tables as cells
from engine.showing.frames.rounds import Z95
from engine.showing.tables import shared_limits
from engine.trace import Finished
from engine.types import AttributeSet

if TYPE_CHECKING:
    from engine.released import Estimate

_FEW = 12
"""Rounds of a run whose distances are all computed."""


class Spans:
    """The ends of a run's scales, found when first asked for.

    Args:
        run: A finished run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._limits: dict[AttributeSet, Limits] = {}

    @cached_property
    def reach(self) -> float:
        """Largest measured value of the run, in its noise's standard deviations."""
        told = (e.measurements for e in self._run.events if not isinstance(e, Finished))
        scaled = (
            float(np.abs(one.values).max()) * (one.precision / 2 ** len(one.attrs)) ** 0.5
            for measurements in told
            for one in measurements
            if one.values.size
        )
        return max(scaled, default=0.0)

    @cached_property
    def most(self) -> float | None:
        """How far a round moved an answer, at most: of long runs the chosen ones are looked at."""
        run, chosen = self._run, [event.change for event in self._run.rounds]
        if len(run.rounds) > _FEW and None not in chosen:
            return max((change for change in chosen if change is not None), default=None)
        moved: list[float] = []
        for number, event in enumerate(run.rounds[:_FEW], start=1):
            before, after = run.at(number - 1).beliefs, run.at(number).beliefs
            frame = moments.touched(before, after, event, run.release.workload)
            moved.append(float(frame["moved"].max()))
        return max(moved, default=None)

    def limits(self, attrs: AttributeSet) -> Limits:
        """Return the ends of a marginal's counts: before the first round and at the end."""
        if attrs not in self._limits:
            run = self._run
            ends = [run.at(k).estimate(*attrs) for k in (0, len(run.rounds))]
            self._limits[attrs] = spanning([_ends(estimate) for estimate in ends])
        return self._limits[attrs]


def _ends(estimate: Estimate) -> Limits:
    limits = shared_limits(cells.released(estimate), "released")
    if len(estimate.attrs) != 1:
        return limits
    noise = Z95 * (estimate.std or 0.0)  # bars have whiskers
    return Limits(min(limits.low, limits.low - noise), limits.high + noise, limits.badge)
