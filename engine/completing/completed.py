"""Complete every marginal by maximum entropy, given what was measured (engine/COMPLETION_NOTES.md).

GReM counts a residual that was never measured as zero. Here the table of a marginal is built from
the bottom. What was measured is shrunk towards what the levels below predict, by as much as noise
demands (``shrinkage``). What was not measured is as the levels below imply, no more.

* total: as estimated, not below zero (``totals``; lowered where noise hides the cells, if asked);
* one attribute: posterior mean of its counts;
* two, measured: the product of the two, plus the posterior mean of the interaction, raked to the
  two tables of one attribute; or, where that is likelier, its own zeros (``sparse``);
* two, not measured: through the attribute x that both were measured with and that says most of
  both, q_ax q_xc / q_x; the product where there is none;
* three or more: the table of maximum entropy with these pairs and with the completed larger
  marginals whose own residual was measured, plus the interaction where it was measured itself.

Everything here is a function of beliefs, which are released. Tables stay non-negative. Those of two
attributes agree with those of one, unless their own zeros were taken; larger ones that were
measured themselves need not, as GReM's do (``consistency`` makes them agree).
"""

# Over 400 lines: one class, whose tables are completed and kept up to date by the same rules. Loops
# over cells, priors, fits and routes are in modules of their own, and so is who asks (keeping).

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine import axes, threads
from engine.completing import fitting, routes, shrinkage, shrinking, sparse, triples
from engine.completing.projection import projected
from engine.completing.totals import UNBIASED, Total, total_of
from engine.layout import Layout
from engine.released import Beliefs
from engine.types import AttributeSet, FloatArray, IntArray

Kind: TypeAlias = Literal["maxent", "sparse"]
"""Whether measured interactions are normal ones, or may also be a table's own zeros."""
RELATIVE = 0.3
"""Expected interaction relative to the predicted table, for each attribute beyond the first."""
LEARNERS = 32
"""Most free numbers of an interaction that learns its size from others; more tell it themselves."""
NEARLY_ALL = 0.9
"""Share of a degree's interactions that must have been measured for them to learn."""
_PARALLEL_CELLS = 200_000
"""Cells below which a second thread costs more than it brings."""


class Completed:
    """The completed tables of a closure: those of two attributes kept, larger ones made on demand.

    Kept up to date in place; rebuilt from the same beliefs it holds the same numbers to the bit.

    Args:
        layout: Closed under subsets, sorted by size; tables are in its memory order.
        beliefs: What was measured.
        total: What every table adds up to (``totals``).
        kind: Whether tables may be sparse beyond what smaller ones say (``sparse``).
    """

    def __init__(
        self, layout: Layout, beliefs: Beliefs, total: Total = UNBIASED, kind: Kind = "maxent"
    ) -> None:
        self.layout = layout
        self.kind = kind
        self.beliefs = beliefs
        self.adds_up_to = total
        d = len(layout.sizes)
        self._sizes: IntArray = np.array(layout.sizes, dtype=np.int64)
        self._rank: IntArray = np.lexsort((np.arange(d), self._sizes)).argsort()
        self._one_at: IntArray = np.concatenate([[0], np.cumsum(self._sizes)])
        self._flat_ones = np.zeros(int(self._one_at[-1]))
        self._ones = np.split(self._flat_ones, self._one_at[1:-1])  # views
        pairs = [attrs for attrs in layout.sets if len(attrs) == 2]
        self._pairs: IntArray = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        cells = self._sizes[self._pairs].prod(axis=1)
        starts = np.concatenate([[0], np.cumsum(cells)])
        self._flat = np.zeros(int(starts[-1]))
        first, second = self._pairs.T
        self._pair_at: IntArray = np.full((d, d), -1, dtype=np.int64)
        self._pair_at[first, second] = self._pair_at[second, first] = starts[:-1]
        self._information = np.zeros((d, d))
        self._through: IntArray = np.full((d, d), -1, dtype=np.int64)
        self._pair_measured: NDArray[np.bool_] = np.zeros((d, d), dtype=np.bool_)
        self._measured: dict[AttributeSet, tuple[FloatArray, shrinkage.Evidence]] = {}
        # What interactions have in common, by degree, where they learn it; None until asked for.
        self._learned: dict[int, FloatArray | None] = {}
        # Of larger interactions, from these beliefs; emptied with them.
        self._gains: dict[AttributeSet, FloatArray] = {}
        self._total = 0.0
        self._degree: IntArray = np.array([len(attrs) for attrs in layout.sets], dtype=np.int64)
        self._completed_by: IntArray = np.full((d, d), triples.PRODUCT, dtype=np.int64)
        # Triples that their pairs say all of.
        self._implied: NDArray[np.bool_] = self._degree == 3
        self._refresh(everything=True, changed=beliefs)

    @property
    def total(self) -> float:
        """What every table adds up to, up to the fit."""
        return self._total

    # -- answering ------------------------------------------------------------------------------

    def table(self, gamma: AttributeSet) -> FloatArray:
        """Return the completed table over gamma, in domain order; a new array."""
        if len(gamma) == 0:
            return np.array(self._total)
        if len(gamma) == 1:
            return self._ones[gamma[0]].copy()
        if len(gamma) == 2:
            return self._pair(*gamma).copy()
        return self._larger(gamma)

    def l1_from(self, counts: NDArray[Any], positions: IntArray, l1: FloatArray) -> None:
        """Set ``l1`` at these positions of the layout to the distances from exact counts.

        The result is private, like the counts; nothing of it is kept here.
        """
        layout = self.layout
        plain = self._implied[positions]
        for k in positions[~plain].tolist():
            difference = self.table(layout.sets[k]) - layout.view(counts, k)
            l1[k] = float(np.abs(difference).sum())
        which = positions[plain]
        if not len(which):
            return

        def compare(first: int, last: int) -> None:
            triples.distances(
                self._flat,
                self._pair_at,
                self._completed_by,
                layout.axis_attr,
                layout.axis_size,
                layout.offsets,
                counts,
                which,
                l1,
                first,
                last,
            )

        work = layout.cells[which]
        threads.in_threads(compare, threads.parts(work, at_least=_PARALLEL_CELLS))

    def _larger(self, gamma: AttributeSet) -> FloatArray:
        """Three attributes or more: fit what lies below, then add the interaction measured."""
        table = self._below(gamma)
        if gamma not in self.beliefs:
            return table
        observed, found = self._found(gamma, table)
        self._gains[gamma] = found.gain
        return self._with(gamma, table, observed, found).table

    def _with(
        self,
        tau: AttributeSet,
        predicted: FloatArray,
        observed: FloatArray,
        found: shrinkage.Evidence,
    ) -> sparse.Answer:
        """Add a measured interaction to a prediction."""
        prior = self._prior(tau)
        added = shrinkage.interaction(observed, found, prior)
        normal = projected(predicted + added, self._total)
        if self.kind != "sparse":
            return sparse.Answer(normal, 0.0)
        freedom = self._free(tau)
        return sparse.averaged(
            predicted + observed,
            predicted,
            normal,
            normal_gain=shrinkage.likelihood(found, prior),
            variance=freedom / predicted.size / self.beliefs[tau].precision,
            freedom=freedom,
        )

    def _below(self, gamma: AttributeSet) -> FloatArray:
        """Three attributes or more: the table of maximum entropy that fits what lies below."""
        larger = self._larger_below(gamma)
        if len(gamma) == 3:
            # In memory order, as the loop does it: what contradicts depends on the order.
            order = sorted(range(3), key=lambda k: (self.layout.sizes[gamma[k]], gamma[k]))
            a, b, c = (gamma[k] for k in order)
            table = fitting.fit_three(self._pair(a, b), self._pair(a, c), self._pair(b, c))
            table = table.transpose([order.index(k) for k in range(3)])
        else:
            covered = {pair for below in larger for pair in combinations(below, 2)}
            axis = {i: k for k, i in enumerate(gamma)}
            targets = {below: self._larger(below) for below in larger}
            targets |= {p: self._pair(*p) for p in combinations(gamma, 2) if p not in covered}
            at = {tuple(axis[i] for i in below): table for below, table in targets.items()}
            table = fitting.fit(tuple(self.layout.sizes[i] for i in gamma), at)
        return table

    def _larger_below(self, gamma: AttributeSet) -> list[AttributeSet]:
        """Largest measured proper subsets of gamma with three attributes or more."""
        found: list[AttributeSet] = []
        for size in range(len(gamma) - 1, 2, -1):
            for below in combinations(gamma, size):
                if below in self.beliefs and not any(set(below) <= set(f) for f in found):
                    found.append(below)
        return found

    def _found(
        self, tau: AttributeSet, predicted: FloatArray
    ) -> tuple[FloatArray, shrinkage.Evidence]:
        """Return the interaction measured over tau, beyond a prediction, and what it says."""
        belief = self.beliefs[tau]
        observed = axes.center_all(belief.values) - shrinking.centered(predicted)
        freedom = self._free(tau)
        variance = freedom / predicted.size / belief.precision
        found = shrinkage.evidence(observed, predicted, variance=variance, freedom=freedom)
        return observed, found

    def _prior(self, tau: AttributeSet) -> FloatArray | None:
        """What measured interactions of as many attributes have in common, if tau learns it."""
        degree = len(tau)
        if degree not in self._learned or self._free(tau) > LEARNERS:
            return None
        found = self._learned[degree]
        if found is None:
            measured = sorted(tau for tau in self.beliefs if len(tau) == degree)
            small = [tau for tau in measured if self._free(tau) <= LEARNERS]
            found = shrinkage.learned([self.gain(tau) for tau in small])
            self._learned[degree] = found
        return found

    def gain(self, tau: AttributeSet) -> FloatArray:
        """What a measured interaction says of its own size: ``shrinkage.Evidence.gain``."""
        if len(tau) == 2:
            return self._measured[tau][1].gain
        if tau not in self._gains:
            self._gains[tau] = self._found(tau, self._below(tau))[1].gain
        return self._gains[tau]

    def _learnable(self) -> dict[int, FloatArray | None]:
        """Degrees of which nearly all interactions were measured.

        Where fewer were, rounds chose them for their size: they say little of others. And every
        round would move all of them a little: twice the work, on the shape of ACS.
        """
        attributes = len({i for tau in self.beliefs for i in tau})
        measured = Counter(len(tau) for tau in self.beliefs)
        nearly_all = {
            degree
            for degree, number in measured.items()
            if degree > 1 and number >= NEARLY_ALL * math.comb(attributes, degree)
        }
        small = {
            len(tau)
            for tau in self.beliefs
            if len(tau) in nearly_all and self._free(tau) <= LEARNERS
        }
        return dict.fromkeys(small)

    # -- keeping up to date ---------------------------------------------------------------------

    def advance(self, beliefs: Beliefs, changed: Collection[AttributeSet]) -> IntArray:
        """Move to newer beliefs, given which residuals changed.

        Returns:
            Positions of the sets whose table changed, in increasing order.
        """
        self.beliefs = beliefs
        return self._refresh(everything=False, changed=changed)

    def _refresh(self, *, everything: bool, changed: Collection[AttributeSet]) -> IntArray:
        everything = everything or () in changed
        self._gains = {}
        for tau in changed:
            if len(tau) == 2:
                self._pair_measured[tau] = self._pair_measured[tau[::-1]] = True
            elif len(tau) == 3 and tau in self.layout.index:
                self._implied[self.layout.index[tau]] = False
        ones = [
            i for i in range(len(self.layout.sizes))
            if (everything or (i,) in changed) and (i,) in self.layout.index
        ]  # fmt: skip
        learned, self._learned = self._learned, self._learnable()
        self._total = total_of(self.beliefs, self.layout.sizes, self.adds_up_to)
        for i in ones:
            self._ones[i][...] = self._one(i)
        learning = {*learned, *self._learned}
        moved = self._refresh_pairs(ones, changed, learning=2 in learning)
        touched = self._touched(ones, moved, changed)
        if changed and max(learning, default=0) > 2:  # all of them learn from each other
            return np.union1d(touched, np.flatnonzero(self._degree > 2))
        return touched

    def _refresh_pairs(
        self, ones: list[int], changed: Collection[AttributeSet], *, learning: bool
    ) -> NDArray[np.bool_]:
        """Returns which pairs moved, (d, d); ``learning``: from each other, now or until now."""
        first, second = self._pairs.T
        one_moved = np.zeros(len(self._sizes), dtype=np.bool_)
        one_moved[ones] = True
        moved = one_moved[:, None] | one_moved
        for tau in changed:
            if len(tau) == 2:
                moved[tau] = moved[tau[::-1]] = True
        moved &= self._pair_measured
        for a, b in self._pairs[moved[first, second]].tolist():
            self._measured[a, b] = self._found((a, b), self._product(a, b))
        if learning and moved.any():
            for pair in self._measured:
                if self._free(pair) <= LEARNERS:
                    moved[pair] = moved[pair[::-1]] = True
        for a, b in self._pairs[moved[first, second]].tolist():
            self._shrink_pair(a, b)
        before, self._through = self._through, routes.strongest(self._information)
        self._completed_by = np.where(self._pair_measured, triples.MEASURED, self._through)
        x = self._through[first, second]
        stale = np.where(
            x < 0, one_moved[first] | one_moved[second], moved[first, x] | moved[x, second]
        )
        stale |= x != before[first, second]
        stale &= ~self._pair_measured[first, second]
        moved[first[stale], second[stale]] = moved[second[stale], first[stale]] = True
        self._complete(self._pairs[stale])
        return moved

    def _shrink_pair(self, a: int, b: int) -> None:
        """Complete a measured pair."""
        table, share = self._with((a, b), self._product(a, b), *self._measured[a, b])
        # Between cells that are zero, sums that disagree would move records into those few left.
        if share <= 0.5:
            table = shrinking.raked(table, self._ones[a], self._ones[b])
        self._pair(a, b)[...] = table
        self._information[a, b] = self._information[b, a] = routes.mutual_information(table)

    def _free(self, tau: AttributeSet) -> int:
        """Dimension of the residual over tau."""
        return math.prod(self.layout.sizes[i] - 1 for i in tau)

    def _complete(self, which: IntArray) -> None:
        """Complete pairs that were not measured."""

        def complete(begin: int, end: int) -> None:
            routes.complete(
                self._flat,
                self._pair_at,
                self._flat_ones,
                self._one_at,
                self._sizes,
                self._rank,
                self._through,
                self._total,
                which,
                begin,
                end,
            )

        work = self._sizes[which].prod(axis=1)
        threads.in_threads(complete, threads.parts(work, at_least=_PARALLEL_CELLS))

    def _touched(
        self, ones: list[int], pairs: NDArray[np.bool_], changed: Iterable[AttributeSet]
    ) -> IntArray:
        layout = self.layout
        if () in changed:
            return np.arange(len(layout))
        touched = np.zeros(len(layout), dtype=np.bool_)
        for i in ones:
            touched[layout.index[(i,)]] = True
        # One attribute more than there is: the padding of short sets.
        stale = np.pad(pairs, (0, 1))
        for first, second in combinations(layout.axis_attr.T, 2):
            touched |= stale[first, second]
        for tau in changed:
            if len(tau) > 2:
                touched[layout.containing(tau)] = True
        return np.flatnonzero(touched)

    def expected_precisions(self) -> dict[AttributeSet, float]:
        """Say how well the size of each interaction is known before it is measured, as a precision.

        The interaction over tau is taken as RELATIVE^(2|tau| - 2) times the square of the table
        that its 1-way marginals predict: the more attributes, the less is left to say. Of two
        attributes or more, none of them one-valued.
        """
        sizes = self.layout.sizes
        squares = [float(np.square(table).sum()) for table in self._ones]
        total = max(self._total, 1.0)
        found = {}
        for tau in self.layout.sets:
            if len(tau) > 1 and all(sizes[i] > 1 for i in tau):
                freedom = math.prod(sizes[i] - 1 for i in tau)
                energy = total**2 * math.prod(squares[i] / total**2 for i in tau)
                energy *= RELATIVE ** (2 * len(tau) - 2)
                found[tau] = freedom / max(energy, 1e-300)
        return found

    # -- one and two attributes -----------------------------------------------------------------

    def _one(self, i: int) -> FloatArray:
        n = self.layout.sizes[i]
        even = np.full(n, self._total / n)
        belief = self.beliefs.get((i,))
        if belief is None:
            return even
        noisy = even + axes.center_all(belief.values)
        variance = (n - 1) / n / belief.precision
        mean = self._total / n
        return projected(shrinkage.counts(noisy, mean=mean, variance=variance), self._total)

    def _pair(self, a: int, b: int) -> FloatArray:
        """The table over two attributes, in the order asked for: a view."""
        sizes = self.layout.sizes
        start = int(self._pair_at[a, b])
        cells = self._flat[start : start + sizes[a] * sizes[b]]
        if (sizes[a], a) < (sizes[b], b):
            return cells.reshape(sizes[a], sizes[b])
        return cells.reshape(sizes[b], sizes[a]).T

    def _product(self, a: int, b: int) -> FloatArray:
        product: FloatArray = np.outer(self._ones[a], self._ones[b] / max(self._total, 1e-300))
        return product
