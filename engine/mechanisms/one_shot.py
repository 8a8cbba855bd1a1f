"""Batch mechanisms: everything is planned from sizes alone, then measured in one round.

ResidualPlanner is the best of them for what it optimises; EqualSplit and Uniform are baselines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from engine.accounting import Ledger, checked_rho
from engine.checking import expect
from engine.completing.release import Release
from engine.domain import subsets
from engine.errors import OptionError
from engine.forecast import Prediction, predict
from engine.measure import measure_marginal, measure_residuals
from engine.mechanisms.memory import memory_needed, memory_of_measuring, require_memory
from engine.mechanisms.options import choice
from engine.mechanisms.sized import by_size
from engine.noise import RandomSource
from engine.planner import WorkloadPlan, plan_sum
from engine.planner_reference import plan_max
from engine.released import Allocation, Belief, Beliefs, Measurement
from engine.residuals import privacy_cost
from engine.tables import Private
from engine.trace import RoundEnded, Started, Work
from engine.types import AttributeSet
from engine.workload import Workload


@dataclass(frozen=True, slots=True, repr=False)
class OneShotState:
    """Before or after the one round; ``allocations`` is the plan, empty for whole marginals."""

    workload: Workload
    beliefs: Beliefs
    ledger: Ledger
    allocations: tuple[Allocation, ...]
    finished: bool
    rehearsal: bool

    def __repr__(self) -> str:
        stands = "finished" if self.finished else f"{len(self.allocations):,} residuals planned"
        return f"OneShotState({stands}, {self.beliefs!r}, {self.ledger!r})"


class _OneShot:
    """Start plans, the one step measures everything."""

    __slots__ = ()
    _all_at_once: ClassVar[bool] = True
    name: ClassVar[str]
    """What people call it."""

    @property
    def settings(self) -> str:
        """Name and options, as releases carry them."""
        return repr(self)

    def memory_needed(self, workload: Workload) -> int:
        """Estimate the memory of a run in bytes: counts as small integers, residuals as float64."""
        return memory_of_measuring(workload)

    @by_size
    def start(
        self, private: Private, workload: Workload, *, rho: Fraction, rng: RandomSource
    ) -> tuple[OneShotState, Started]:
        """Plan; nothing is measured or charged yet."""
        require_memory(self.memory_needed(workload))
        state = OneShotState(
            workload, Beliefs(), Ledger(rho), self._plan(workload, rho), False, rng.rehearsal
        )
        started = Started(
            mechanism=self.settings,
            rho_total=rho,
            rho_measure=rho,
            rho_select=Fraction(0),
            max_rounds=1,
            measurements=(),
            charges=(),
            work=Work(),
            rehearsal=rng.rehearsal,
        )
        return state, started

    @by_size
    def step(
        self, state: OneShotState, private: Private, rng: RandomSource
    ) -> tuple[OneShotState, RoundEnded]:
        """Measure everything that was planned."""
        if state.finished:
            raise OptionError("The run is finished: no round is left. Start another run.")
        if self._all_at_once:
            private.counts(state.workload.layout)  # much faster than one by one
        ledger, measured = self._measure(state, private, rng)
        beliefs = Beliefs().combined(measured)
        after = replace(state, beliefs=beliefs, ledger=ledger, finished=True)
        return after, RoundEnded(
            round=1,
            selected=None,
            rho_measure=ledger.total,
            rho_select=Fraction(0),
            allocations=state.allocations,
            measurements=measured,
            charges=ledger.entries,
            rho_spent=ledger.spent,
            change=None,
            threshold=None,
            annealed=False,
            last=True,
            work=Work(residuals=len(measured)),
        )

    def done(self, state: OneShotState) -> bool:
        """Whether the round is done."""
        return state.finished

    def release(self, state: OneShotState) -> Release:
        """Return the estimates, with the ledger."""
        return Release(state.workload, state.beliefs, state.ledger, self.settings, state.rehearsal)

    def predict(self, workload: Workload, *, rho: float | Fraction) -> Prediction:
        """Say what error this budget will give, from sizes alone.

        Raises:
            BudgetError: If rho is no budget.
        """
        expect(workload, Workload, "a Workload", "Write Workload.all_kway(domain, 2).")
        return predict(workload, self._predicted_beliefs(workload, checked_rho(rho)))

    def _plan(self, workload: Workload, rho: Fraction) -> tuple[Allocation, ...]:
        raise NotImplementedError

    def _measure(
        self, state: OneShotState, private: Private, rng: RandomSource
    ) -> tuple[Ledger, tuple[Measurement, ...]]:
        return measure_residuals(private, state.allocations, ledger=state.ledger, rng=rng)

    def _predicted_beliefs(self, workload: Workload, rho: Fraction) -> Beliefs:
        plan = self._plan(workload, rho)
        return Beliefs({a.attrs: _precise(a.attrs, a.added) for a in plan if a.added > 0})


@dataclass(frozen=True, slots=True)
class ResidualPlanner(_OneShot):
    """Measure every residual of the workload once, at optimal precisions.

    Args:
        objective: ``"sum"`` for the least weighted sum of variances (closed form), ``"max"`` for
            the least weighted maximum over marginals (CVXPY with Clarabel).

    Source:
        Xiao et al. 2023; engine/README.md, "ResidualPlanner".
    """

    name: ClassVar[str] = "ResidualPlanner"

    objective: Literal["sum", "max"] = "sum"

    def __post_init__(self) -> None:
        choice("objective", self.objective, ("sum", "max"))

    def memory_needed(self, workload: Workload) -> int:
        """Estimate the memory of a run in bytes: residuals as float64, and the solver's."""
        return memory_of_measuring(workload, solver=self.objective == "max")

    def plan(self, workload: Workload, *, rho: float | Fraction) -> WorkloadPlan:
        """Return the planned precisions, before anything is measured.

        Raises:
            BudgetError: If rho is no budget.
            SolverError: If the objective is ``"max"`` and the solver stops short.
        """
        planner = plan_sum if self.objective == "sum" else plan_max
        return planner(workload, rho=checked_rho(rho))

    def _plan(self, workload: Workload, rho: Fraction) -> tuple[Allocation, ...]:
        plan = self.plan(workload, rho=rho)
        return tuple(
            Allocation(tau, 0.0, x, cost * Fraction(x) / 2)
            for tau, x, cost in zip(plan.taus, plan.precision.tolist(), plan.costs, strict=True)
        )


@dataclass(frozen=True, slots=True)
class EqualSplit(_OneShot):
    """Measure every workload marginal with isotropic noise, all with the same share of the budget.

    sigma² = |W| / (2 rho). GReM then combines what marginals say of the same residual.
    """

    name: ClassVar[str] = "Equal split"

    def _plan(self, workload: Workload, rho: Fraction) -> tuple[Allocation, ...]:
        return ()

    def _measure(
        self, state: OneShotState, private: Private, rng: RandomSource
    ) -> tuple[Ledger, tuple[Measurement, ...]]:
        ledger = state.ledger
        share = ledger.total / len(state.workload.weights)
        measured: list[Measurement] = []
        for gamma in state.workload.weights:
            ledger, residuals = measure_marginal(private, gamma, rho=share, ledger=ledger, rng=rng)
            measured += residuals
        return ledger, tuple(measured)

    def _predicted_beliefs(self, workload: Workload, rho: Fraction) -> Beliefs:
        domain = workload.domain
        precision = float(2 * rho / len(workload.weights))
        worth: dict[AttributeSet, float] = {}
        for gamma in workload.weights:
            for tau in subsets(gamma):
                spread = domain.cells(gamma) // domain.cells(tau)
                worth[tau] = worth.get(tau, 0.0) + precision / spread
        costly = {tau: x for tau, x in worth.items() if privacy_cost(domain.shape(tau)) > 0}
        return Beliefs({tau: _precise(tau, x) for tau, x in costly.items()})


@dataclass(frozen=True, slots=True)
class Uniform(_OneShot):
    """Measure the total only and spread it evenly: what knowing nothing else amounts to."""

    name: ClassVar[str] = "Uniform"
    _all_at_once: ClassVar[bool] = False

    def memory_needed(self, workload: Workload) -> int:
        """Estimate the memory of a run in bytes: of cells, only those of one answer."""
        return memory_needed(workload, per_cell=0, per_largest=8, per_set=300)

    def _plan(self, workload: Workload, rho: Fraction) -> tuple[Allocation, ...]:
        precision = float(2 * rho)
        if Fraction(precision) > 2 * rho:
            precision = math.nextafter(precision, 0.0)
        return (Allocation((), 0.0, precision, Fraction(precision) / 2),)


def _precise(tau: AttributeSet, precision: float) -> Belief:
    """A belief of which only the precision is known."""
    return Belief(np.zeros((0,) * len(tau)), precision)
