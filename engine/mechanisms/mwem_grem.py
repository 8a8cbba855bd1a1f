"""MWEM with GReM: a fixed number of rounds, each measuring the worst marginal with isotropic noise.

Multiplicative weights need the whole joint table; here GReM takes their place, which is what makes
it scale (Mullins et al. 2024). Every round has the same budget, half of it for selecting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from engine.accounting import Ledger
from engine.completing.release import Release
from engine.errors import OptionError
from engine.measure import measure_marginal
from engine.mechanisms.measuring import measure_selected
from engine.mechanisms.memory import PER_VALUE, memory_needed, require_memory
from engine.mechanisms.sized import by_size
from engine.noise import RandomSource
from engine.released import Beliefs, Measurement
from engine.selection import (
    Budgets,
    Candidates,
    Scores,
    borrow_candidates,
    lend_candidates,
    score,
    select,
)
from engine.tables import Private
from engine.trace import RoundEnded, Started, Work
from engine.types import AttributeSet
from engine.workload import Workload


@dataclass(frozen=True, slots=True)
class MwemState:
    """Where a run stands: released values and exact budgets, nothing else."""

    workload: Workload
    beliefs: Beliefs
    ledger: Ledger
    rho_round: Fraction
    round: int
    rehearsal: bool


@dataclass(frozen=True, slots=True)
class MwemGrem:
    """Multiplicative weights' rounds with GReM's reconstruction.

    Args:
        rounds: How many marginals are selected; None: four for each attribute.
        noise: ``"iid"``, as published, or conditional ResidualPlanner (``"crp"``).

    Raises:
        OptionError: If rounds is no positive whole number.

    Source:
        Mullins et al. 2024 (arXiv 2410.01091), "scalable MWEM". The total and the 1-way marginals
        are measured first, with the share of one round.
    """

    rounds: int | None = None
    noise: Literal["iid", "crp"] = "iid"

    def __post_init__(self) -> None:
        number = isinstance(self.rounds, int) and not isinstance(self.rounds, bool)
        if self.rounds is not None and (not number or self.rounds < 1):
            raise OptionError(
                f"rounds is {self.rounds!r}; a whole number of 1 or more, or None, is needed."
            )
        if self.noise not in ("iid", "crp"):
            raise OptionError(f"noise is {self.noise!r}; it must be 'iid' or 'crp'. Choose one.")

    @property
    def name(self) -> str:
        """What people call it."""
        return "MWEM+GReM"

    @property
    def settings(self) -> str:
        """Name and options, as releases carry them."""
        return repr(self)

    def memory_needed(self, workload: Workload) -> int:
        """Estimate the memory of a run in bytes."""
        # It looks at errors alone, which are largest where there are most cells.
        held = 12.0 * self._rounds(workload)
        return memory_needed(
            workload, per_cell=10.5, per_largest=held, per_set=700, per_value=PER_VALUE
        )

    @by_size
    def start(
        self, private: Private, workload: Workload, *, rho: Fraction, rng: RandomSource
    ) -> tuple[MwemState, Started]:
        """Measure the 1-way marginals with the share of one round."""
        require_memory(self.memory_needed(workload))
        first: list[AttributeSet] = [a for a in workload.closure if len(a) == 1]
        first = first or [()]
        planned = self._rounds(workload)
        share = rho / (planned + 1) / len(first) if planned else rho / len(first)
        ledger = Ledger(rho)
        measured: list[Measurement] = []
        for attrs in first:
            ledger, residuals = measure_marginal(private, attrs, rho=share, ledger=ledger, rng=rng)
            measured += residuals
        rho_round = ledger.left / planned if planned else Fraction(0)
        beliefs = Beliefs().combined(measured)
        state = MwemState(workload, beliefs, ledger, rho_round, 0, rng.rehearsal)
        layout = workload.layout
        return state, Started(
            mechanism=self.settings,
            rho_total=rho,
            rho_measure=rho_round / 2,
            rho_select=rho_round / 2,
            max_rounds=planned,
            measurements=tuple(measured),
            charges=ledger.entries,
            work=Work(len(layout), layout.total_cells, len(layout), len(measured)),
            rehearsal=rng.rehearsal,
        )

    @by_size
    def step(
        self, state: MwemState, private: Private, rng: RandomSource
    ) -> tuple[MwemState, RoundEnded]:
        """Select the worst marginal, measure it, update what contains its residuals."""
        # Long: a round as the paper writes it, in its order.
        if self.done(state):
            raise OptionError("The run is finished: no round is left. Start another run.")
        candidates = self._candidates(state, private)
        half = state.rho_round / 2
        log_weights = candidates.log_weights(_budgets(state))
        ledger, gamma = select(
            log_weights,
            state.workload.closure,
            private=private,
            rho=half,
            ledger=state.ledger,
            rng=rng,
        )
        ledger, allocations, measured = measure_selected(
            private,
            gamma,
            state.beliefs,
            rho=half,
            noise=self.noise,
            omission=(0.0, True),
            ledger=ledger,
            rng=rng,
        )
        beliefs = state.beliefs.combined(measured)
        touched = candidates.advance(
            beliefs, beliefs.changes_since(state.beliefs, [m.attrs for m in measured])
        )
        lend_candidates(private, candidates)
        after = replace(state, beliefs=beliefs, ledger=ledger, round=state.round + 1)
        cells = int(state.workload.layout.cells[touched].sum())
        return after, RoundEnded(
            round=after.round,
            selected=gamma,
            rho_measure=half,
            rho_select=half,
            allocations=allocations,
            measurements=measured,
            charges=ledger.entries[len(state.ledger.entries) :],
            rho_spent=ledger.spent,
            change=None,
            threshold=None,
            annealed=False,
            last=self.done(after),
            work=Work(len(touched), cells, len(touched), len(measured)),
        )

    def done(self, state: MwemState) -> bool:
        """Whether no round is left."""
        return state.round >= self._rounds(state.workload)

    def release(self, state: MwemState) -> Release:
        """Return the estimates so far, with the ledger."""
        return Release(state.workload, state.beliefs, state.ledger, self.settings, state.rehearsal)

    def selects(self, state: MwemState) -> bool:
        """Whether the next round selects a marginal: all do."""
        return not self.done(state)

    @by_size
    def scores(self, state: MwemState, private: Private) -> Scores:
        """Score every candidate for the next round: private."""
        candidates = self._candidates(state, private)
        scores = score(candidates, _budgets(state))
        lend_candidates(private, candidates)
        return scores

    def _rounds(self, workload: Workload) -> int:
        if not any(workload.weights):
            return 0  # only the total is asked for: nothing to select
        return 4 * len(workload.domain) if self.rounds is None else self.rounds

    def _candidates(self, state: MwemState, private: Private) -> Candidates:
        return borrow_candidates(
            private,
            state.beliefs,
            Candidates,
            lambda: Candidates(private, state.workload, state.beliefs),
        )


def _budgets(state: MwemState) -> Budgets:
    half = state.rho_round / 2
    # MWEM counts the error alone, not the noise that measuring would leave.
    return Budgets(half, half, noise_share=0.0)
