"""AIM with Private-PGM, as published: a graphical model in GReM's place (extra ``pgm``, mbi).

The peer that AIM+GReM is measured against. The model answers everything consistently and without
negative cells. The price: its size grows with what was measured, so candidates that would make it
too large are left out. Every round fits it from the start.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from engine.accounting import Ledger
from engine.completing.release import Release
from engine.domain import Domain
from engine.errors import OptionError
from engine.measure import measure_marginal
from engine.mechanisms.sized import by_size
from engine.noise import RandomSource
from engine.released import Beliefs, Estimate, Measurement
from engine.residuals import reconstruct
from engine.selection import (
    EXPECTED_ABSOLUTE,
    Scores,
    noise_std,
    rounding_of_scores,
    rounding_of_sums,
    select,
    selection_epsilon,
)
from engine.tables import Private
from engine.trace import RoundEnded, Started, Work
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload

ROUNDS_PER_ATTRIBUTE = 16
_MEASURE = Fraction(9, 10)


@dataclass(frozen=True, slots=True)
class PgmState:
    """Where a run stands: released values, the model fitted to them, and exact budgets.

    ``measured`` holds each measured marginal with the rho it was measured at; ``model`` is mbi's.
    """

    workload: Workload
    beliefs: Beliefs
    ledger: Ledger
    measured: tuple[tuple[AttributeSet, FloatArray, Fraction], ...]
    model: Any
    rho_measure: Fraction
    rho_select: Fraction
    round: int
    last: bool
    finished: bool
    rehearsal: bool


@dataclass(frozen=True, slots=True)
class AimPgm:
    """AIM and a graphical model.

    Args:
        max_megabytes: Largest model; a candidate may use the share of it that was spent so far.
        iterations: Steps of mirror descent in a round; the last fit takes ten times as many.

    Raises:
        OptionError: If an option is no positive number, or mbi is not installed.

    Source:
        McKenna et al. 2022 (AIM), McKenna et al. 2019 (Private-PGM).
    """

    max_megabytes: float = 80.0
    iterations: int = 100

    def __post_init__(self) -> None:
        if not self.max_megabytes > 0 or not self.iterations >= 1:
            raise OptionError("max_megabytes and iterations must be positive. Choose larger ones.")
        _mbi()

    @by_size
    def start(
        self, private: Private, workload: Workload, *, rho: Fraction, rng: RandomSource
    ) -> tuple[PgmState, Started]:
        """Measure every 1-way marginal and fit the first model."""
        planned = ROUNDS_PER_ATTRIBUTE * len(workload.domain)
        rho_measure, rho_select = _MEASURE * rho / planned, (1 - _MEASURE) * rho / planned
        state = PgmState(
            workload, Beliefs(), Ledger(rho), (), None, rho_measure, rho_select,
            round=0, last=False, finished=False, rehearsal=rng.rehearsal,
        )  # fmt: skip
        residuals: list[Measurement] = []
        for attrs in workload.closure:
            if len(attrs) == 1:
                state, found = _measured(state, attrs, private, rng)
                residuals += found
        state = _plan_last(replace(state, model=self._fit(state, last=False)))
        return state, Started(
            mechanism=repr(self),
            rho_total=rho,
            rho_measure=state.rho_measure,
            rho_select=state.rho_select,
            max_rounds=math.ceil(state.ledger.left / (state.rho_measure + state.rho_select)),
            measurements=tuple(residuals),
            charges=state.ledger.entries,
            work=Work(residuals=len(residuals)),
            rehearsal=rng.rehearsal,
        )

    @by_size
    def step(
        self, state: PgmState, private: Private, rng: RandomSource
    ) -> tuple[PgmState, RoundEnded]:
        """Select, measure, fit."""
        if state.finished:
            raise OptionError("The run is finished: no round is left. Start another run.")
        scores = self._scores(state, private)
        ledger, gamma = select(
            scores.log_weights,
            scores.closure,
            private=private,
            rho=state.rho_select,
            ledger=state.ledger,
            rng=rng,
        )
        before = _answer(state.model, gamma)
        after, found = _measured(replace(state, ledger=ledger), gamma, private, rng)
        after = replace(after, model=self._fit(after, last=state.last), round=state.round + 1)
        change = float(np.abs(_answer(after.model, gamma) - before).sum())
        threshold = EXPECTED_ABSOLUTE * noise_std(state.rho_measure) * before.size
        annealed = not state.last and change <= threshold
        if annealed:
            after = replace(
                after, rho_measure=4 * after.rho_measure, rho_select=4 * after.rho_select
            )
        after = replace(after, finished=True) if state.last else _plan_last(after)
        return after, RoundEnded(
            round=after.round,
            selected=gamma,
            rho_measure=state.rho_measure,
            rho_select=state.rho_select,
            allocations=(),
            measurements=found,
            charges=after.ledger.entries[len(state.ledger.entries) :],
            rho_spent=after.ledger.spent,
            change=change,
            threshold=threshold,
            annealed=annealed,
            last=state.last,
            work=Work(scores=len(scores.error_term), residuals=len(found)),
        )

    def done(self, state: PgmState) -> bool:
        """Whether no round is left."""
        return state.finished

    def release(self, state: PgmState) -> Release:
        """Return what was measured, answered by GReM; the model's answers are ``estimates``."""
        return Release(state.workload, state.beliefs, state.ledger, repr(self), state.rehearsal)

    def estimates(self, state: PgmState) -> Iterator[Estimate]:
        """Answer the workload's marginals from the model."""
        for gamma in state.workload.weights:
            values = _answer(state.model, gamma).reshape(state.workload.domain.shape(gamma))
            yield Estimate(state.workload.domain, gamma, values, None, (), "pgm")

    def _scores(self, state: PgmState, private: Private) -> Scores:
        workload = state.workload
        share = float(state.ledger.spent / state.ledger.total)
        kept = [
            k
            for k, attrs in enumerate(workload.closure)
            if attrs and (self._size(state, attrs) <= self.max_megabytes * share or len(attrs) == 1)
        ]
        weights = workload.candidate_weights()[kept]
        l1 = np.array([
            np.abs(_answer(state.model, attrs) - private.marginal(attrs).values.ravel()).sum()
            for attrs in (workload.closure[k] for k in kept)
        ])  # fmt: skip
        # Cut off, and rounding added to the sensitivity, as completed tables are.
        total = float(np.abs(_answer(state.model, workload.closure[kept[0]])).sum())
        most, cells = 4.0 * (total + 1.0), int(workload.layout.cells[kept].max())
        error = weights * np.minimum(l1, most)
        noise = weights * (EXPECTED_ABSOLUTE * noise_std(state.rho_measure))
        noise = noise * workload.layout.cells[kept]
        rounded = rounding_of_scores(
            most, rounding_of_sums(cells, most, total), float(noise.max() / weights.max())
        )
        sensitivity = weights.max() * (1.0 + rounded)
        log_weights = (error - noise) * (selection_epsilon(state.rho_select) / (2 * sensitivity))
        # ``Scores`` numbers its candidates from the second set on: the total is none.
        return Scores(((), *(workload.closure[k] for k in kept)), error, noise, log_weights)

    def _size(self, state: PgmState, attrs: AttributeSet) -> float:
        cliques = [*(measured for measured, _, _ in state.measured), attrs]
        size: float = _mbi().junction_tree.hypothetical_model_size(
            _domain(state.workload.domain), cliques
        )
        return size

    def _fit(self, state: PgmState, *, last: bool) -> Any:
        mbi = _mbi()
        measurements = [
            mbi.LinearMeasurement(values.ravel(), attrs, math.sqrt(1 / (2 * rho)))
            for attrs, values, rho in state.measured
        ]
        return mbi.estimation.MirrorDescent().estimate(
            _domain(state.workload.domain),
            measurements,
            iters=self.iterations * (10 if last else 1),
            warm_start=state.model,
        )


def _measured(
    state: PgmState, attrs: AttributeSet, private: Private, rng: RandomSource
) -> tuple[PgmState, tuple[Measurement, ...]]:
    """Measure a whole marginal; its residuals add up to the noisy marginal again."""
    ledger, found = measure_marginal(
        private, attrs, rho=state.rho_measure, ledger=state.ledger, rng=rng
    )
    sizes = state.workload.domain.shape(attrs)
    noisy = np.sum([reconstruct(m.values, m.attrs, attrs, sizes) for m in found], axis=0)
    kept = (*state.measured, (attrs, noisy, state.rho_measure))
    beliefs = state.beliefs.combined(found)
    return replace(state, ledger=ledger, beliefs=beliefs, measured=kept), found


def _plan_last(state: PgmState) -> PgmState:
    left = state.ledger.left
    if left > 2 * (state.rho_measure + state.rho_select):
        return state
    return replace(state, rho_measure=_MEASURE * left, rho_select=(1 - _MEASURE) * left, last=True)


def _answer(model: Any, attrs: AttributeSet) -> FloatArray:
    values: FloatArray = np.asarray(model.project(attrs).datavector(), dtype=np.float64).ravel()
    return values


def _domain(domain: Domain) -> Any:
    return _mbi().Domain(tuple(range(len(domain))), domain.sizes)


def _mbi() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about JAX's own settings
            import mbi
    except ImportError as error:
        raise OptionError(
            f"AIM+PGM needs the package mbi ({error}). Install the extra: pip install "
            '"aim-grem-explorer[pgm]".'
        ) from None
    return mbi
