"""The paper's ablation: a fixed sequence of marginals instead of selection (section 6, Table 2).

Half of the budget goes to the 1-way marginals, half to the workload's marginals in order; after
each measurement the whole workload is reconstructed, lazily or in full.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from engine.accounting import Ledger
from engine.completing.release import Release
from engine.errors import OptionError
from engine.grem import Reconstruction
from engine.measure import measure_marginal
from engine.mechanisms.measuring import measure_selected
from engine.mechanisms.memory import memory_needed, require_memory
from engine.mechanisms.options import check_omission, choice
from engine.mechanisms.sized import by_size
from engine.noise import RandomSource
from engine.released import Beliefs, Measurement
from engine.tables import Private
from engine.trace import RoundEnded, Started, Work
from engine.types import IntArray
from engine.workload import Workload


@dataclass(frozen=True, slots=True)
class SequenceState:
    """Where a run stands: released values, budgets and the position in the sequence."""

    workload: Workload
    beliefs: Beliefs
    ledger: Ledger
    rho_measure: Fraction
    round: int
    rehearsal: bool


@dataclass(frozen=True, slots=True)
class FixedSequence:
    """Measure every workload marginal once, in order, keeping all estimates up to date.

    Args:
        update: ``"lazy"`` or ``"full"`` reconstruction after each measurement.
        noise: ``"crp"`` or ``"iid"``.
        respend: As for ``AimGrem``; off as in the paper.
        omit_below: As for ``AimGrem``.

    Source:
        Paper, section 6, "Algorithmic improvements".
    """

    update: Literal["lazy", "full"] = "lazy"
    noise: Literal["crp", "iid"] = "crp"
    respend: bool = False
    omit_below: float = 1e-3

    def __post_init__(self) -> None:
        choice("update", self.update, ("lazy", "full"))
        choice("noise", self.noise, ("crp", "iid"))
        check_omission(self.omit_below, self.respend)

    @property
    def name(self) -> str:
        """What people call it."""
        return "Fixed sequence"

    @property
    def settings(self) -> str:
        """Name and options, as releases carry them."""
        return repr(self)

    def memory_needed(self, workload: Workload) -> int:
        """Estimate the memory of a run in bytes: estimates and measurements as float64."""
        return memory_needed(workload, per_cell=16, per_largest=36, per_set=2_700)

    @by_size
    def start(
        self, private: Private, workload: Workload, *, rho: Fraction, rng: RandomSource
    ) -> tuple[SequenceState, Started]:
        """Measure the 1-way marginals with half of the budget."""
        require_memory(self.memory_needed(workload))
        singles = [attrs for attrs in workload.closure if len(attrs) == 1]
        ledger = Ledger(rho)
        measured: list[Measurement] = []
        for attrs in singles:
            ledger, residuals = measure_marginal(
                private, attrs, rho=rho / 2 / len(singles), ledger=ledger, rng=rng
            )
            measured += residuals
        share = ledger.left / len(workload.weights)
        state = SequenceState(
            workload, Beliefs().combined(measured), ledger, share, 0, rng.rehearsal
        )
        _lend(private, state.beliefs, _estimates(state))
        layout = workload.layout
        return state, Started(
            mechanism=self.settings,
            rho_total=rho,
            rho_measure=share,
            rho_select=Fraction(0),
            max_rounds=len(workload.weights),
            measurements=tuple(measured),
            charges=ledger.entries,
            work=Work(len(layout), layout.total_cells, 0, len(measured)),
            rehearsal=rng.rehearsal,
        )

    @by_size
    def step(
        self, state: SequenceState, private: Private, rng: RandomSource
    ) -> tuple[SequenceState, RoundEnded]:
        """Measure the next marginal and reconstruct."""
        if self.done(state):
            raise OptionError("The run is finished: no marginal is left. Start another run.")
        gamma = state.workload.marginals[state.round]
        ledger, allocations, measured = measure_selected(
            private,
            gamma,
            state.beliefs,
            rho=state.rho_measure,
            noise=self.noise,
            omission=(self.omit_below, self.respend),
            ledger=state.ledger,
            rng=rng,
        )
        beliefs = state.beliefs.combined(measured)
        touched = self._reconstruct(state, beliefs, measured, private)
        after = replace(state, beliefs=beliefs, ledger=ledger, round=state.round + 1)
        cells = int(state.workload.layout.cells[touched].sum())
        return after, RoundEnded(
            round=after.round,
            selected=gamma,
            rho_measure=state.rho_measure,
            rho_select=Fraction(0),
            allocations=allocations,
            measurements=measured,
            charges=ledger.entries_since(state.ledger),
            rho_spent=ledger.spent,
            change=None,
            threshold=None,
            annealed=False,
            last=self.done(after),
            work=Work(len(touched), cells, 0, len(measured)),
        )

    def done(self, state: SequenceState) -> bool:
        """Whether every marginal was measured."""
        return state.round == len(state.workload.weights)

    def release(self, state: SequenceState) -> Release:
        """Return the estimates so far, with the ledger."""
        return Release(state.workload, state.beliefs, state.ledger, self.settings, state.rehearsal)

    def _reconstruct(
        self,
        state: SequenceState,
        beliefs: Beliefs,
        measured: tuple[Measurement, ...],
        private: Private,
    ) -> IntArray:
        """Bring every estimate up to date; nothing private goes in."""
        found = private.borrow(("estimates", id(state.beliefs)))
        estimates = found.estimates if isinstance(found, _Current) else _estimates(state)
        if self.update == "full":
            touched = estimates.rebuild(beliefs)
        else:
            changes = beliefs.changes_since(state.beliefs, [m.attrs for m in measured])
            touched = estimates.update(changes)
        _lend(private, beliefs, estimates)
        return touched


@dataclass(frozen=True, slots=True)
class _Current:
    """Estimates and the beliefs they stand at; holding those keeps their identity from reuse."""

    beliefs: Beliefs
    estimates: Reconstruction


def _lend(private: Private, beliefs: Beliefs, estimates: Reconstruction) -> None:
    private.lend(("estimates", id(beliefs)), _Current(beliefs, estimates))


def _estimates(state: SequenceState) -> Reconstruction:
    estimates = Reconstruction(state.workload.layout)
    estimates.update(state.beliefs.changes_since(Beliefs()))
    return estimates
