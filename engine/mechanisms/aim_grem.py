"""AIM+GReM: select a badly known marginal, measure its residuals, reconstruct, repeat."""

# Over 400 lines: one class, whose options and four calls are read together. What stands for itself
# is in aim_state, aim_events, choosing, deciding, measuring and rescoring.

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from engine import grem
from engine.accounting import Ledger
from engine.completing import keeping
from engine.completing.release import Release
from engine.completing.totals import LOWERED, UNBIASED, Total
from engine.errors import OptionError
from engine.measure import measure_marginal, measure_residuals
from engine.mechanisms import choosing, deciding
from engine.mechanisms.aim_events import ended, started
from engine.mechanisms.aim_state import (
    MEASURE_SHARE,
    AimState,
    anneal,
    plan_last,
    plan_step,
    resumed,
    with_budget,
)
from engine.mechanisms.measuring import measure_selected, measure_with_known
from engine.mechanisms.memory import (
    fits_memory,
    memory_of_completing,
    memory_of_rows,
    memory_of_selecting,
    require_memory,
)
from engine.mechanisms.options import check_omission, choice
from engine.mechanisms.rescoring import CompletedCandidates, LoweredCandidates
from engine.mechanisms.sized import by_size
from engine.noise import RandomSource
from engine.planner import plan_rest
from engine.released import Allocation, Beliefs, Measurement
from engine.selection import (
    EXPECTED_ABSOLUTE,
    Budgets,
    Candidates,
    Scores,
    borrow_candidates,
    lend_candidates,
    mean_error,
    noise_std,
    score,
    select,
)
from engine.tables import Private
from engine.trace import RoundEnded, Started, Work
from engine.types import AttributeSet
from engine.workload import Workload

SHRUNK_NOISE = 0.7
"""Share of a measurement's noise that is left in a completed table, which shrinks it."""
ROUNDS_PER_ATTRIBUTE = 16
"""Nominal number of rounds of AIM (McKenna et al. 2022)."""
_PLAIN = {"allocation": "marginal", "nominal": "closure", "finish": "rounds"}
_IN_LOOP = {"allocation": "workload", "nominal": "attribute", "finish": "plan"}
"""What goes with completed tables in the loop, unless the caller says otherwise."""

AnyCandidates: TypeAlias = Candidates | CompletedCandidates


@dataclass(frozen=True, slots=True)
class AimGrem:
    """AIM with residual measurements, and with tables completed by maximum entropy.

    ``AimGrem(completion="none")`` is plain GReM, ``AimGrem.paper()`` exactly the paper's mechanism.

    Args:
        update: ``"lazy"`` touches only marginals that contain a measured residual; ``"full"``
            reconstructs and scores everything in every round (the paper's baseline, same numbers).
        noise: ``"crp"`` shares each round's budget out by conditional ResidualPlanner; ``"iid"``
            adds isotropic noise to the selected marginal.
        respend: Whether the budget share of omitted residuals goes to the others.
        omit_below: Residuals with a smaller share of the round's budget are not measured (eta).
        completion: ``"sparse"`` answers with tables completed by maximum entropy that may have
            zeros of their own, ``"maxent"`` with those that have none (``completed``; what was the
            default), ``"none"`` with GReM's, where what was not measured counts as zero. Within a
            run, scores and forecasts are made with those of ``"maxent"`` either way.
        total: What completed tables add up to: the estimated number of records (``"unbiased"``),
            or one up to a standard deviation lower where noise hides the cells (``"lowered"``: less
            L1 error on sparse tables, and counts that add up to less than the N beside them).
        in_loop: Whether rounds score completed tables too, not only the answer.
        allocation: What ``"crp"`` shares a round's budget among: the residuals of the selected
            marginal, weighed by its own variance (``"marginal"``), or those and all measured
            before, weighed by the whole workload's variance (``"workload"``). None: the latter in
            the loop.
        nominal: Number of rounds that the first round budgets are made for: twice the closure (the
            paper's) or AIM's 16 an ``"attribute"``. None: the latter in the loop.
        finish: ``"plan"`` shares the budget by the expected sizes of interactions, in a few steps,
            where that promises more than rounds (``choosing``); ``"auto"`` measures the whole
            workload at once where the error there is, asked for with noise, is large enough;
            ``"rounds"`` does neither. None: plan in the loop.

    Raises:
        OptionError: If an option is none of these.

    Source:
        Paper, section 5 and Algorithm 4; engine/README.md says what the paper leaves
        open.
    """

    update: Literal["lazy", "full"] = "lazy"
    noise: Literal["crp", "iid"] = "crp"
    respend: bool = True
    omit_below: float = 1e-3
    completion: Literal["none", "maxent", "sparse"] = "sparse"
    in_loop: bool = True
    allocation: Literal["marginal", "workload"] | None = None
    nominal: Literal["closure", "attribute"] | None = None
    finish: Literal["rounds", "auto", "plan"] | None = None
    total: Total = UNBIASED

    def __post_init__(self) -> None:
        choice("update", self.update, ("lazy", "full"))
        choice("noise", self.noise, ("crp", "iid"))
        check_omission(self.omit_below, self.respend)
        choice("completion", self.completion, ("none", "maxent", "sparse"))
        choice("in_loop", self.in_loop, (True, False))
        choice(
            "total", self.total, (UNBIASED, LOWERED) if self.completion != "none" else (UNBIASED,)
        )
        # What the caller left open follows from the completion.
        in_loop = self.in_loop and self.completion != "none"
        object.__setattr__(self, "in_loop", in_loop)
        fitting = _IN_LOOP if in_loop else _PLAIN
        for name, value in fitting.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
            also = ("auto",) if name == "finish" and in_loop else ()
            choice(name, getattr(self, name), (_PLAIN[name], *also, _IN_LOOP[name]))

    @classmethod
    def paper(cls) -> AimGrem:
        """The mechanism exactly as published.

        Nothing is completed, and what omitted residuals would cost stays unspent.
        """
        return cls(completion="none", respend=False)

    @property
    def name(self) -> str:
        """What people call it."""
        return "AIM+GReM"

    @property
    def settings(self) -> str:
        """Name and options, as releases carry them."""
        completion = f", completion={self.completion!r}"
        if self.completion != "none" or any(getattr(self, k) != v for k, v in _PLAIN.items()):
            completion += (
                f", in_loop={self.in_loop}, allocation={self.allocation!r}, "
                f"nominal={self.nominal!r}, finish={self.finish!r}"
            )
        if self.completion != "none":
            completion += f", total={self.total!r}"
        return (
            f"AimGrem(update={self.update!r}, noise={self.noise!r}, respend={self.respend}, "
            f"omit_below={self.omit_below:g}{completion})"
        )

    def memory_needed(self, workload: Workload) -> int:
        """Estimate the memory of a run in bytes, at a usual budget (``memory``).

        Completed tables are made one at a time, so that in rounds only counts stand for every cell.
        Measuring everything takes more; ``_choose`` and ``_decide`` see to it that there is so
        much.
        """
        if self.finish == "plan" and choosing.goes_by_size(workload):
            return memory_of_completing(workload, steps=1)
        return self._memory_of_rounds(workload)

    def _memory_of_rounds(self, workload: Workload) -> int:
        if self.in_loop:
            forecast = choosing.few_enough(workload)
            return memory_of_completing(workload, forecast=forecast)
        needed = memory_of_selecting(workload, full=self.update == "full")
        return needed + (memory_of_rows(workload) if self.completion != "none" else 0)

    def planned_rounds(self, workload: Workload) -> int:
        """Return the nominal number of rounds that the first round's budgets are made for."""
        if self.nominal == "attribute":
            return ROUNDS_PER_ATTRIBUTE * len(workload.domain)
        return 2 * len(workload.closure)

    # -- the four calls -------------------------------------------------------------------------

    @by_size
    def start(
        self, private: Private, workload: Workload, *, rho: Fraction, rng: RandomSource
    ) -> tuple[AimState, Started]:
        """Plan the rounds and measure every 1-way marginal of the closure with isotropic noise."""
        require_memory(min(self.memory_needed(workload), self._memory_of_rounds(workload)))
        planned = self.planned_rounds(workload)
        rho_measure = MEASURE_SHARE * rho / planned
        rho_select = (1 - MEASURE_SHARE) * rho / planned
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
            round=0, phase="finished" if only_total else "rounds", rehearsal=rng.rehearsal,
        )  # fmt: skip
        decision = None
        if not state.finished and self.finish == "auto":
            state, decision = self._decide(state, private, rng)
        if not state.finished and self.finish == "plan":
            state, decision = self._choose(state)
        if state.phase == "rounds":
            state = plan_last(state)
        return state, started(state, self.settings, rho, measured, decision)

    @by_size
    def step(
        self, state: AimState, private: Private, rng: RandomSource
    ) -> tuple[AimState, RoundEnded]:
        """Select a marginal, measure its residuals, update what contains them."""
        if state.finished:
            raise OptionError("The run is finished: no round is left. Start another run.")
        if state.whole:
            return self._finish(state, private, rng)
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
        completion = None if self.completion == "none" else self.completion
        return Release(
            state.workload, state.beliefs, state.ledger, self.settings, state.rehearsal,
            completion=completion, total=self.total,
        )  # fmt: skip

    def resumed(self, release: Release, number: int, following: RoundEnded | None) -> AimState:
        """Return the state after a round, from the release then and the round that followed."""
        return resumed(release, number, following)

    def with_budget(self, state: AimState, *, rho: Fraction) -> AimState:
        """Return the state as if the whole budget were this: for "what if" beside a run.

        Its ledger and its release say so, and the release cannot be exported.
        What was spent stays as it is. What is left, and so the budget of every round to come, grows
        by one factor: the same plan from here on, carried out more precisely.

        Raises:
            BudgetError: If no round is left to spend it on, or more was spent already
                (``E_OVERSPEND``).
        """
        return with_budget(state, rho=rho)

    # -- one round ------------------------------------------------------------------------------

    def selects(self, state: AimState) -> bool:
        """Whether the next round selects a marginal: not where it measures everything."""
        return state.phase in ("rounds", "last")

    @by_size
    def scores(self, state: AimState, private: Private) -> Scores:
        """Score every candidate for the next round: private, for selection and for teaching.

        Raises:
            OptionError: If the next round selects nothing.
        """
        if state.whole:
            raise OptionError(
                "The next round measures the whole workload and selects nothing, so there are no "
                "scores. Take the step."
            )
        candidates = self._candidates(state, private)
        scores = score(candidates, self._budgets(state))
        lend_candidates(private, candidates)
        return scores

    def _step(
        self,
        state: AimState,
        private: Private,
        candidates: AnyCandidates,
        rng: RandomSource,
    ) -> tuple[AimState, RoundEnded]:
        # Long: a round as the paper writes it, in its order.
        ledger, gamma = select(
            candidates.log_weights(self._budgets(state)),
            state.workload.closure,
            private=private,
            rho=state.rho_select,
            ledger=state.ledger,
            rng=rng,
        )
        ledger, allocations, measured = self._measure(state, gamma, private, ledger, rng)
        beliefs = state.beliefs.combined(measured)
        changes = beliefs.changes_since(state.beliefs, [m.attrs for m in measured])
        within = {tau: z for tau, z in changes.items() if set(tau) <= set(gamma)}
        change = grem.change_of(within, state.workload.domain.sizes)
        noise = noise_std(state.rho_measure) * state.workload.domain.cells(gamma)
        threshold = EXPECTED_ABSOLUTE * noise
        touched = candidates.advance(beliefs, changes)
        after = replace(
            state,
            beliefs=beliefs,
            ledger=ledger,
            round=state.round + 1,
            phase="finished" if state.last else "rounds",
        )
        annealed = not state.last and change <= threshold
        if not state.last:
            after = plan_last(anneal(after) if annealed else after)
        cells = int(state.workload.layout.cells[touched].sum())
        return after, ended(
            state,
            after,
            selected=gamma,
            allocations=allocations,
            measured=measured,
            moved=(change, threshold),
            annealed=annealed,
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
        if self.noise == "iid" or self.allocation == "marginal":
            return measure_selected(
                private,
                gamma,
                state.beliefs,
                rho=state.rho_measure,
                noise=self.noise,
                omission=(self.omit_below, self.respend),
                ledger=ledger,
                rng=rng,
            )
        return measure_with_known(
            private,
            gamma,
            state.beliefs,
            state.workload,
            rho=state.rho_measure,
            omit_below=self.omit_below,
            ledger=ledger,
            rng=rng,
        )

    def _budgets(self, state: AimState) -> Budgets:
        share = SHRUNK_NOISE if self.in_loop else 1.0
        return Budgets(state.rho_measure, state.rho_select, noise_share=share)

    def _candidates(self, state: AimState, private: Private) -> AnyCandidates:
        kind: type[AnyCandidates] = Candidates
        if self.in_loop:
            kind = LoweredCandidates if self.total == LOWERED else CompletedCandidates
        always = self.update == "full"
        return borrow_candidates(
            private,
            state.beliefs,
            kind,
            lambda: kind(private, state.workload, state.beliefs, rebuild_always=always),
        )

    # -- rounds, or everything at once ----------------------------------------------------------

    def _decide(self, state: AimState, private: Private, rng: RandomSource) -> tuple[AimState, str]:
        """Ask with noise how wrong the first tables are: rounds, or everything at once."""
        fits = fits_memory(memory_of_completing(state.workload, steps=2))
        return deciding.decide(
            state, lambda: self._mean_error(state, private), private=private, rng=rng, fits=fits
        )

    def _choose(self, state: AimState) -> tuple[AimState, str]:
        """Decide by forecasts from released values: by size in a few steps, or rounds."""
        # Where noise hides little, every step measures all there is.
        if not fits_memory(memory_of_completing(state.workload, steps=len(choosing.PARTS) + 1)):
            return state, "Rounds. Measuring everything would take more memory than there is."
        by_size, said = choosing.decide(
            state.workload, state.beliefs, state.ledger.left, self.total
        )
        return (plan_step(state) if by_size else state), said

    def _mean_error(self, state: AimState, private: Private) -> int:
        candidates = self._candidates(state, private)
        error = mean_error(candidates)
        lend_candidates(private, candidates)
        return error

    def _finish(
        self, state: AimState, private: Private, rng: RandomSource
    ) -> tuple[AimState, RoundEnded]:
        """Measure residuals of the whole workload with the round's budget."""
        plan = self._plan(state)
        ledger, measured = measure_residuals(private, plan, ledger=state.ledger, rng=rng)
        after = replace(
            state,
            beliefs=state.beliefs.combined(measured),
            ledger=ledger,
            round=state.round + 1,
            phase="finished" if state.last else state.phase,
        )
        if not state.last:
            after = plan_step(after)
        return after, ended(
            state, after, allocations=plan, measured=measured, work=Work(residuals=len(measured))
        )

    def _plan(self, state: AimState) -> tuple[Allocation, ...]:
        """Share the round's budget among the residuals of the whole workload."""
        workload, rho = state.workload, state.rho_measure
        if self.finish == "plan":
            return choosing.shared(workload, state.beliefs, self.total).plan(rho)
        # What its size already says of an interaction is worth as much as a measurement.
        tables = keeping.kept(workload.layout, state.beliefs, self.total)
        return plan_rest(workload, state.beliefs, rho=rho, expected=tables.expected_precisions())
