"""AIM+GReM: select a badly known marginal, measure its residuals, reconstruct, repeat.

The state always says what the next round will use, so a view made before a step shows what the
step will do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from engine import grem
from engine.accounting import Ledger
from engine.domain import Domain, subsets
from engine.errors import BudgetError, OptionError
from engine.measure import measure_marginal, measure_residuals
from engine.mechanisms.base import check_omission, choice, memory_needed, require_memory
from engine.noise import RandomSource
from engine.planner import plan_marginal
from engine.released import Allocation, Beliefs, Measurement
from engine.residuals import privacy_cost
from engine.selection import (
    EXPECTED_ABSOLUTE,
    Candidates,
    Scores,
    borrow_candidates,
    lend_candidates,
    noise_std,
    score,
    select,
)
from engine.tables import Private
from engine.trace import Release, RoundEnded, Started, Work
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload

MEASURE_SHARE = Fraction(9, 10)
"""Share of every round's budget that measuring gets; selecting gets the rest."""
ANNEALING = 4
"""Growth of the round budgets after a round that brought little: sigma halves, epsilon doubles."""


@dataclass(frozen=True, slots=True)
class AimState:
    """Where a run stands: released values and exact budgets, nothing else.

    Args:
        workload: What is to be answered.
        beliefs: Every residual estimate so far.
        ledger: What was charged so far.
        rho_measure: What the next round will spend on measuring.
        rho_select: What it will spend on selecting.
        round: Rounds done.
        last: Whether the next round is the last.
        finished: Whether there is none.
        rehearsal: Whether the noise was a demonstration's.
    """

    workload: Workload
    beliefs: Beliefs
    ledger: Ledger
    rho_measure: Fraction
    rho_select: Fraction
    round: int
    last: bool
    finished: bool
    rehearsal: bool


@dataclass(frozen=True, slots=True)
class AimGrem:
    """AIM with residual measurements and GReM reconstruction.

    Args:
        update: ``"lazy"`` touches only marginals that contain a measured residual; ``"full"``
            reconstructs and scores everything in every round (the paper's baseline, same numbers).
        noise: ``"crp"`` shares each round's budget out by conditional ResidualPlanner; ``"iid"``
            adds isotropic noise to the selected marginal.
        respend: Whether the budget share of omitted residuals goes to the others.
        omit_below: Residuals with a smaller share of the round's budget are not measured (eta).

    Raises:
        OptionError: If an option is none of these.

    Source:
        Paper, section 5 and Algorithm 4; MATH section 7 decides what the paper leaves open.
    """

    update: Literal["lazy", "full"] = "lazy"
    noise: Literal["crp", "iid"] = "crp"
    respend: bool = True
    omit_below: float = 1e-3

    def __post_init__(self) -> None:
        choice("update", self.update, ("lazy", "full"))
        choice("noise", self.noise, ("crp", "iid"))
        check_omission(self.omit_below, self.respend)

    @classmethod
    def paper(cls) -> AimGrem:
        """The mechanism exactly as published: what omitted residuals would cost stays unspent."""
        return cls(respend=False)

    @property
    def name(self) -> str:
        """Name and options, as releases carry them."""
        return (
            f"AimGrem(update={self.update!r}, noise={self.noise!r}, respend={self.respend}, "
            f"omit_below={self.omit_below:g})"
        )

    def memory_needed(self, workload: Workload) -> int:
        """Estimate the memory of a run in bytes: errors as float64, counts as small integers."""
        return memory_needed(workload, per_cell=11)

    # -- the four calls -------------------------------------------------------------------------

    def start(
        self, private: Private, workload: Workload, *, rho: Fraction, rng: RandomSource
    ) -> tuple[AimState, Started]:
        """Plan the rounds and measure every 1-way marginal of the closure with isotropic noise."""
        require_memory(self.memory_needed(workload))
        sets = len(workload.closure)
        rho_measure = MEASURE_SHARE * rho / (2 * sets)
        rho_select = (1 - MEASURE_SHARE) * rho / (2 * sets)
        first: list[AttributeSet] = [attrs for attrs in workload.closure if len(attrs) == 1]
        only_total = not first
        if only_total:  # nothing to select: the total gets everything
            first, rho_measure = [()], rho
        ledger = Ledger(rho)
        measured: list[Measurement] = []
        for attrs in first:
            ledger, residuals = measure_marginal(
                private, attrs, rho=rho_measure, ledger=ledger, rng=rng
            )
            measured += residuals
        state = AimState(
            workload, Beliefs().combined(measured), ledger, rho_measure, rho_select,
            round=0, last=False, finished=only_total, rehearsal=rng.rehearsal,
        )  # fmt: skip
        state = state if state.finished else _plan_last(state)
        return state, self._started(state, rho, measured)

    def step(
        self, state: AimState, private: Private, rng: RandomSource
    ) -> tuple[AimState, RoundEnded]:
        """Select a marginal, measure its residuals, update what contains them."""
        if state.finished:
            raise OptionError("The run is finished: no round is left. Start another run.")
        candidates = self._candidates(state, private)
        stepped = self._step(state, private, candidates, rng)
        # Not after an error: they may be half advanced, and can be rebuilt.
        lend_candidates(private, candidates)
        return stepped

    def done(self, state: AimState) -> bool:
        """Whether no round is left."""
        return state.finished

    def release(self, state: AimState) -> Release:
        """Return the estimates so far, with the ledger."""
        return Release(state.workload, state.beliefs, state.ledger, self.name, state.rehearsal)

    def with_budget(self, state: AimState, *, rho: Fraction) -> AimState:
        """Return the state as if the whole budget were this: for "what if" beside a run.

        What was spent stays as it is. What is left, and so the budget of every round to come, grows
        by one factor: the same plan from here on, carried out more precisely.

        Raises:
            BudgetError: If no round is left to spend it on, or more was spent already
                (``E_OVERSPEND``).
        """
        before = state.ledger
        if state.finished or rho <= before.spent:
            raise BudgetError(
                f"A budget of rho = {float(rho):.6g} leaves nothing to do here: "
                f"{float(before.spent):.6g} is spent. Fork an earlier round, or give more.",
                code="E_OVERSPEND",
                asked=float(rho),
                left=float(before.left),
            )
        ledger = Ledger(rho).charge(*before.entries)
        factor = ledger.left / before.left
        return replace(
            state,
            ledger=ledger,
            rho_measure=factor * state.rho_measure,
            rho_select=factor * state.rho_select,
        )

    # -- one round ------------------------------------------------------------------------------

    def scores(self, state: AimState, private: Private) -> Scores:
        """Score every candidate for the next round: private, for selection and for teaching."""
        candidates = self._candidates(state, private)
        scores = self._score(state, candidates)
        lend_candidates(private, candidates)
        return scores

    def _step(
        self, state: AimState, private: Private, candidates: Candidates, rng: RandomSource
    ) -> tuple[AimState, RoundEnded]:
        ledger, gamma = select(
            self._score(state, candidates), rho=state.rho_select, ledger=state.ledger, rng=rng
        )
        ledger, allocations, measured = self._measure(state, gamma, private, ledger, rng)
        beliefs = state.beliefs.combined(measured)
        changes = beliefs.changes_since(state.beliefs, [m.attrs for m in measured])
        change = _l1_of(changes, state.workload.domain, gamma)
        noise = noise_std(state.rho_measure) * state.workload.domain.cells(gamma)
        threshold = EXPECTED_ABSOLUTE * noise
        touched = candidates.advance(beliefs, changes)
        after = replace(
            state, beliefs=beliefs, ledger=ledger, round=state.round + 1, finished=state.last
        )
        annealed = not state.last and change <= threshold
        if not state.last:
            after = _plan_last(_anneal(after) if annealed else after)
        cells = int(state.workload.layout.cells[touched].sum())
        return after, RoundEnded(
            round=after.round,
            selected=gamma,
            rho_measure=state.rho_measure,
            rho_select=state.rho_select,
            allocations=allocations,
            measurements=measured,
            charges=ledger.entries_since(state.ledger),
            rho_spent=ledger.spent,
            change=change,
            threshold=threshold,
            annealed=annealed,
            last=state.last,
            work=Work(len(touched), cells, len(touched), len(measured)),
        )

    def _measure(
        self,
        state: AimState,
        gamma: AttributeSet,
        private: Private,
        ledger: Ledger,
        rng: RandomSource,
    ) -> tuple[Ledger, tuple[Allocation, ...], tuple[Measurement, ...]]:
        known = [state.beliefs.precision(tau) for tau in subsets(gamma)]
        if self.noise == "crp":
            allocations = plan_marginal(
                state.workload.domain,
                gamma,
                known,
                rho=state.rho_measure,
                omit_below=self.omit_below,
                respend=self.respend,
            )
            ledger, measured = measure_residuals(private, allocations, ledger=ledger, rng=rng)
            return ledger, allocations, measured
        ledger, measured = measure_marginal(
            private, gamma, rho=state.rho_measure, ledger=ledger, rng=rng
        )
        return ledger, _isotropic(state, measured), measured

    def _score(self, state: AimState, candidates: Candidates) -> Scores:
        return score(candidates, rho_measure=state.rho_measure, rho_select=state.rho_select)

    def _candidates(self, state: AimState, private: Private) -> Candidates:
        return borrow_candidates(
            private,
            state.beliefs,
            lambda: Candidates(
                private, state.workload, state.beliefs, rebuild_always=self.update == "full"
            ),
        )

    def _started(self, state: AimState, rho: Fraction, measured: list[Measurement]) -> Started:
        layout = state.workload.layout
        rounds = 0
        if not state.finished:
            rounds = math.ceil(state.ledger.left / (state.rho_measure + state.rho_select))
        return Started(
            mechanism=self.name,
            rho_total=rho,
            rho_measure=None if state.finished else state.rho_measure,
            rho_select=None if state.finished else state.rho_select,
            max_rounds=rounds,
            measurements=tuple(measured),
            charges=state.ledger.entries,
            work=Work(len(layout), layout.total_cells, len(layout), len(measured)),
            rehearsal=state.rehearsal,
        )


def _l1_of(
    changes: Mapping[AttributeSet, FloatArray], domain: Domain, gamma: AttributeSet
) -> float:
    """L1 distance that these changes of residuals move the estimate of gamma."""
    moved = grem.sum_of_parts(changes, gamma, domain.sizes)
    return float(np.abs(moved).sum()) * (domain.cells(gamma) / moved.size)


def _anneal(state: AimState) -> AimState:
    # Paper: the prose says the budget doubles; its algorithm, like AIM's, halves sigma and doubles
    # epsilon, which is four times the rho.
    return replace(
        state, rho_measure=ANNEALING * state.rho_measure, rho_select=ANNEALING * state.rho_select
    )


def _plan_last(state: AimState) -> AimState:
    """If two more rounds do not fit, the next one is the last and gets everything left."""
    left = state.ledger.left
    if left > 2 * (state.rho_measure + state.rho_select):
        return state
    return replace(
        state,
        rho_measure=MEASURE_SHARE * left,
        rho_select=(1 - MEASURE_SHARE) * left,
        last=True,
    )


def _isotropic(state: AimState, measured: tuple[Measurement, ...]) -> tuple[Allocation, ...]:
    """What isotropic noise amounts to for each residual, in the terms of an allocation."""
    shape = state.workload.domain.shape
    return tuple(
        Allocation(
            m.attrs,
            state.beliefs.precision(m.attrs),
            m.precision,
            privacy_cost(shape(m.attrs)) * Fraction(m.precision) / 2,
        )
        for m in measured
    )
