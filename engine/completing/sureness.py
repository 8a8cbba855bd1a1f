"""How sure is each completed answer? Intervals and expected errors from released values alone.

A completed table's error has two parts: noise, and what was not measured. Both are played through
in a few made-up worlds (a parametric bootstrap). In each of them

* a truth is drawn: the completed tables, plus what measurements leave open of every interaction.
  Its size is drawn too, from sizes learned from released values (``sizes``);
* the same residuals are measured again, with as much noise as they had, and completed again;
* the error of that answer is what the truth of that world says it is.

Interactions never measured are part of a world's truth and of no measurement. Where fewer than
ENOUGH of as many attributes were measured, nothing released tells their size: then there is no
interval, and ``why`` says so. Answers without completion have Gaussian noise of a known variance.

It costs no budget: only what was released is looked at. Source: Efron and Tibshirani 1993,
"An Introduction to the Bootstrap", chapters 6 and 13; engine/COMPLETION_NOTES.md, "How sure".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from engine import axes, compiling
from engine.checking import found, whole
from engine.completing import shrinking, sizes
from engine.completing.completed import Completed
from engine.domain import subsets
from engine.errors import OptionError
from engine.noise import MadeUp
from engine.released import Beliefs, Estimate, Measurement
from engine.residuals import privacy_cost
from engine.types import AttributeSet, FloatArray, SameValues, frozen

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 10
"""Worlds that are made up: each costs about what completing the release costs."""
ENOUGH = 3
"""Measured interactions of as many attributes from which the size of others is told."""
_NEIGHBOURS = 8.0
"""Cells of similar size count as this many more draws of a cell's own error."""


@dataclass(frozen=True, slots=True, eq=False)
class Interval(SameValues):
    """Between which counts each true cell of one marginal lies, at a level; or why nobody knows.

    Args:
        estimate: The answer it belongs to.
        level: Share of true cells that such intervals are meant to hold.
        lower: Lower ends, records, zero or more for completed answers; None where not known.
        upper: Upper ends; None where not known.
        expected_l1: Expected L1 error of the marginal, records; None where not known.
        why: Why it is not known; empty where it is.

    Shapes:
        lower and upper: that of the estimate's values.
    """

    estimate: Estimate
    level: float
    lower: FloatArray | None
    upper: FloatArray | None
    expected_l1: float | None
    why: str = ""

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, frozen(values))

    def to_frame(self) -> pd.DataFrame:
        """Return the estimate's frame with ``lower`` and ``upper``: missing where not known."""
        frame = self.estimate.to_frame()
        for name in ("lower", "upper"):
            values = getattr(self, name)
            frame[self.estimate.column(name)] = math.nan if values is None else values.ravel()
        return frame


@dataclass(frozen=True, slots=True)
class Number:
    """A number derived from one marginal, with its interval; ends are None where not known."""

    value: float
    level: float
    lower: float | None
    upper: float | None
    why: str = ""


class Sureness:
    """Intervals for every answer of one release; ``Release.sureness`` makes it.

    Its worlds are made when first asked for, and kept.
    """

    def __init__(
        self,
        tables: Completed | None,
        answer: Callable[[AttributeSet], Estimate],
        *,
        seed: int,
        draws: int = DRAWS,
    ) -> None:
        if whole(seed) is None or int(seed) < 0:
            raise OptionError(f"The seed is {found(seed)}. Give a whole number, zero or more.")
        if whole(draws) is None or int(draws) < 2:
            raise OptionError(f"{found(draws)} worlds were asked for. Give 2 or more.")
        self._tables, self._answer = tables, answer
        self.seed, self.draws = int(seed), int(draws)
        self._worlds: list[_World] | None = None
        self._errors: dict[AttributeSet, FloatArray] = {}

    def interval(self, gamma: AttributeSet, *, level: float = 0.9) -> Interval:
        """Return the interval of each cell of the marginal over gamma.

        Raises:
            OptionError: If the level is not between 0 and 1.
        """
        level = _level(level)
        answer = self._answer(gamma)
        if why := self._why(answer):
            return Interval(answer, level, None, None, None, why)
        values = answer.values
        if self._tables is None:
            assert answer.std is not None  # estimates without completion have one
            half = NormalDist().inv_cdf(0.5 + level / 2) * answer.std
            expected = values.size * math.sqrt(2 / math.pi) * answer.std
            return Interval(answer, level, values - half, values + half, expected)
        errors = self._of(gamma)
        half_of = half_widths(values.ravel(), errors, level).reshape(values.shape)
        lower: FloatArray = np.maximum(values - half_of, 0.0)
        expected = float(np.abs(errors).sum(axis=1).mean())
        return Interval(answer, level, lower, values + half_of, expected)

    def number(
        self,
        gamma: AttributeSet,
        weights: FloatArray,
        *,
        among: FloatArray | None = None,
        level: float = 0.9,
    ) -> Number:
        """Return a sum of weighted cells (a total, a difference), or its share of another sum.

        Args:
            gamma: Of which marginal.
            weights: One for each cell: 1 and 0 for a total, 1 and -1 for a difference.
            among: Weights of the sum that it is a share of, if it is a share.
            level: As for intervals.

        Shapes:
            weights and among: that of the marginal.
        """
        level = _level(level)
        answer = self._answer(gamma)
        values = answer.values
        for given in (weights, among):
            if given is not None and np.shape(given) != values.shape:
                raise OptionError(
                    f"The weights have shape {np.shape(given)}; one for each cell is needed: "
                    f"{values.shape}."
                )

        def derived(table: FloatArray) -> float:
            top = float(np.sum(weights * table))
            return top if among is None else top / max(float(np.sum(among * table)), 1e-9)

        value, why = derived(values), self._why(answer)
        if why:
            return Number(value, level, None, None, why)
        if self._tables is None:
            return Number(value, level, None, None, GAUSSIAN)
        # The truth of a world may be where the answer is, less the error made there.
        worlds = [derived(np.maximum(values - e.reshape(values.shape), 0)) for e in self._of(gamma)]
        spread = math.sqrt(sum((w - value) ** 2 for w in worlds) / len(worlds))
        half = _student(0.5 + level / 2, self.draws) * spread
        return Number(value, level, value - half, value + half)

    def _why(self, answer: Estimate) -> str:
        """Why there is no interval, or nothing."""
        if self._tables is None:
            return UNMEASURED if answer.unmeasured else ""
        measured = Counter(len(tau) for tau in self._tables.beliefs)
        for tau in answer.unmeasured:
            if len(tau) > 1 and measured[len(tau)] < ENOUGH:
                return unseen(len(tau), len(answer.attrs), measured[len(tau)])
        return "" if all((i,) in self._tables.beliefs for i in answer.attrs) else UNMEASURED

    def _of(self, gamma: AttributeSet) -> FloatArray:
        """Errors in every world, (draws, cells)."""
        if gamma not in self._errors:
            assert self._tables is not None
            with compiling.sized(self._tables.layout.total_cells):
                if self._worlds is None:
                    learned = _Learned(self._tables)
                    self._worlds = [
                        _World(self._tables, learned, b, self.seed) for b in range(self.draws)
                    ]
                self._errors[gamma] = np.array([w.error(gamma).ravel() for w in self._worlds])
        return self._errors[gamma]


UNMEASURED = (
    "Not known: a part of this table was never measured, and nothing released tells its size."
)
GAUSSIAN = "Not known: correlations between the cells of uncompleted answers are not followed."


def unseen(degree: int, attributes: int, measured: int) -> str:
    """Say that interactions of so many attributes cannot be seen."""
    seen = "none was" if not measured else f"only {measured} {'was' if measured == 1 else 'were'}"
    below = "Pairs" if degree == 3 else f"Tables of fewer than {degree} attributes"
    return (
        f"Not known: this table of {attributes} attributes depends on interactions of {degree} "
        f"attributes, of which {seen} measured. {below} cannot see them (exclusive or is one)."
    )


class _Learned:
    """Plausible sizes of every interaction, in each world of ``sizes``."""

    def __init__(self, tables: Completed) -> None:
        self.taus = tuple(
            tau
            for tau in tables.layout.sets
            if len(tau) > 1 and all(tables.layout.sizes[i] > 1 for i in tau)
        )
        self.at = {tau: k for k, tau in enumerate(self.taus)}
        found = sizes.learned(tables, self.taus) if self.taus else None
        self.structure = np.zeros((sizes.WORLDS, 0)) if found is None else found.structure
        self.sampling = np.zeros((sizes.WORLDS, 0)) if found is None else found.sampling


class _World:
    """One made-up truth, measured and completed again."""

    def __init__(self, tables: Completed, learned: _Learned, number: int, seed: int) -> None:
        self._tables, self._learned = tables, learned
        self._number, self._seed = number, seed
        self._open: dict[AttributeSet, FloatArray] = {}
        measured = []
        for tau, belief in tables.beliefs.items():
            truth = tables.table(tau) + self._left_open(tau)
            noise = self._rng(tau, 1).normal(truth.shape) * belief.precision**-0.5
            measured.append(Measurement(tau, axes.sub_all(truth + noise), belief.precision))
        beliefs = Beliefs().combined(measured)
        self._again = Completed(tables.layout, beliefs, tables.adds_up_to, tables.kind)

    def error(self, gamma: AttributeSet) -> FloatArray:
        """Answer less truth, records, (n_i for i in gamma)."""
        return self._again.table(gamma) - self._truth(gamma)

    def _truth(self, gamma: AttributeSet) -> FloatArray:
        """The completed table, and in proportion to it what is open of everything within."""
        table = self._tables.table(gamma)
        relative = np.zeros(table.shape)
        for tau in subsets(gamma):
            if tau in self._tables.beliefs or tau in self._learned.at:
                known = np.maximum(self._tables.table(tau), 1e-6)
                shape = [n if i in tau else 1 for i, n in zip(gamma, table.shape, strict=True)]
                relative = relative + (self._left_open(tau) / known).reshape(shape)
        truth: FloatArray = np.maximum(table * (1.0 + relative), 0.0)
        if gamma in self._tables.beliefs:
            return truth
        # Records are whole: what was not measured is off by their sampling too.
        return self._rng(gamma, 2).poisson(truth)

    def _left_open(self, tau: AttributeSet) -> FloatArray:
        """What measurements leave open of the residual over tau, as drawn in this world."""
        if tau not in self._open:
            table = self._tables.table(tau)
            share = max(float(privacy_cost(table.shape)), 1e-12)
            precision = float(self._tables.beliefs.precision(tau))
            variance = self._prior(tau, table)
            if precision > 0:  # what a measurement leaves of it: precisions add up
                noise = share / precision
                variance = variance * noise / (variance + noise)
            drawn = self._rng(tau, 0).normal(table.shape) * np.sqrt(variance / share)
            self._open[tau] = shrinking.centered(drawn) if tau else drawn
        return self._open[tau]

    def _prior(self, tau: AttributeSet, table: FloatArray) -> FloatArray:
        """Variance of each cell of the interaction before it is measured."""
        if len(tau) < 2:
            alone: FloatArray = np.square(table) + table
            return alone
        k = self._learned.at[tau]
        structure: FloatArray = self._learned.structure[self._number % sizes.WORLDS, k] * np.square(
            table
        )
        if tau not in self._tables.beliefs:
            return structure
        both: FloatArray = (
            structure + self._learned.sampling[self._number % sizes.WORLDS, k] * table
        )
        return both

    def _rng(self, tau: AttributeSet, use: int) -> MadeUp:
        """One stream for each residual and use: the order of asking does not matter."""
        return MadeUp(self._seed, self._number, use, *tau)


def half_widths(values: FloatArray, errors: FloatArray, level: float) -> FloatArray:
    """Return half the width of each cell's interval.

    A cell's own errors are few: those of cells next to it in size stand beside them. What multiple
    of that scale holds a share ``level`` of the errors is found among all cells, each error
    compared with a scale it had no part in.

    Shapes:
        values and the result: (n,); errors: (draws, n).
    """
    draws, n = errors.shape
    squares = np.square(errors)
    order = np.argsort(values, kind="stable")
    window = max(1, min(n, round(math.sqrt(n))))
    mean = np.cumsum(np.concatenate([[0.0], squares.mean(axis=0)[order]]))
    first = np.clip(np.arange(n) - window // 2, 0, n - window)
    beside = np.empty(n)
    beside[order] = (mean[first + window] - mean[first]) / window
    sums = squares.sum(axis=0)
    scale = np.sqrt((sums + _NEIGHBOURS * beside) / (draws + _NEIGHBOURS)) + 1e-12
    without = np.sqrt((sums - squares + _NEIGHBOURS * beside) / (draws - 1 + _NEIGHBOURS)) + 1e-12
    half: FloatArray = float(np.quantile(np.abs(errors) / without, level)) * scale
    return half


def _student(share: float, freedom: int) -> float:
    from scipy import special

    return float(special.stdtrit(freedom, share))


def _level(level: object) -> float:
    if isinstance(level, int | float) and not isinstance(level, bool) and 0 < level < 1:
        return float(level)
    raise OptionError(
        f"The level of an interval is {found(level)}; a number between 0 and 1 is needed, as 0.9."
    )
