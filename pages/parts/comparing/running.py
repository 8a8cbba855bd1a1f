"""Which comparison is looked at: presets, the first one shown, and how one is begun."""

from __future__ import annotations

from typing import Any

import streamlit as st

import engine
from engine.demonstrating import comparison
from engine.demonstrating.comparison import BASELINES, Trial
from pages.parts.navigation import host
from pages.parts.visit import samples, study
from pages.parts.visit.asked import Compared
from pages.parts.visit.worker import Job

MOST_RUNS, MOST_TRIALS, MOST_EPSILONS = 2_000, 50, 20
_STATE = "comparison"
GRID = (0.1, 0.316, 1.0, 3.16, 10.0)
FEW = (0.1, 1.0, 10.0)
QUICK = 20_000  # cells of a comparison that is made without being asked for
USUAL = ("aim_grem", "aim_grem_paper", "residual_planner", "product", *BASELINES)


def loses() -> Compared:
    """One table of three attributes: asking first is not worth what it costs."""
    chosen = samples.cards()["ucb_admissions"].default_attributes
    return Compared("ucb_admissions", chosen, 3, USUAL, GRID, 5)


def wins() -> Compared:
    """A large table and a small budget: most of the workload is not worth measuring."""
    everything = samples.domain("adult_paper").names
    return Compared("adult_paper", everything, 3, USUAL, (0.1, 0.316, 1.0), 3)


def figure_four() -> Compared:
    """The paper's picture: error and time relative to ResidualPlanner over the whole range of ε."""
    everything = samples.domain("adult_paper").names
    three = ("aim_grem", "aim_grem_paper", "residual_planner", *BASELINES)
    return Compared("adult_paper", everything, 3, three, GRID, 5)


PRESETS = {
    "loses": ("It loses: Berkeley, 3 attributes", ":material/trending_down:", loses),
    "wins": ("It beats ResidualPlanner: Adult, 13 attributes", ":material/trending_up:", wins),
    "figure_four": ("The paper's Figure 4: Adult, five ε", ":material/insights:", figure_four),
}


def current() -> Job[Trial] | None:
    """This visitor's comparison; at first a small one of the table in use, if it is a sample."""
    found: Job[Trial] | None = st.session_state.get(_STATE)
    if found is None or not _exists(found.about):
        asked = first()
        if asked is None:
            return None
        found = st.session_state[_STATE] = host.shared(asked, lambda: start(asked))
    return found


def _exists(asked: Compared) -> bool:
    """Whether the table compared on is still there."""
    there = asked.sample in samples.choices()
    return there and samples.number(asked.sample) == asked.table


def first() -> Compared | None:
    """A few quick trials of the study's table; none of the visitor's own, or of a large one."""
    now, names = study.here(), study.attributes()
    if now.sample == samples.OWN or now.awaits or not names:
        return None
    domain = samples.domain(now.sample).select(*names)
    degree = min(now.degree, len(names))
    cells = engine.Workload.all_kway(domain, degree).layout.total_cells
    return Compared(now.sample, names, degree, USUAL, FEW, 3) if cells <= QUICK else None


def start(asked: Compared) -> Job[Trial]:
    """Begin a comparison in a thread of its own.

    Raises:
        engine.EngineError: If a setting is refused.
    """
    table = samples.columns(asked.sample, asked.attributes)
    workload = study.held(engine.Workload.all_kway(table.domain, asked.degree))
    _check(asked)
    private = engine.Private(table)

    def make(cancelled: Any) -> Any:
        return comparison.trials(
            private,
            workload,
            comparison.contenders(*asked.contenders),
            epsilons=asked.epsilons,
            delta=asked.delta,
            seeds=range(asked.seed, asked.seed + asked.trials),
            cancelled=cancelled,
        )

    return Job(make, asked.runs, asked)


def _check(asked: Compared) -> None:
    for epsilon in asked.epsilons:
        engine.rho_from(epsilon=epsilon, delta=asked.delta)
    if asked.runs > MOST_RUNS:
        raise engine.OptionError(
            f"That is {asked.runs:,} runs; at most {MOST_RUNS:,} are made here. Take fewer trials, "
            "mechanisms or values of ε."
        )


def begin(asked: Compared, *, shared: bool = False) -> None:
    """Put a new comparison in the place of the one shown; refused, it stays."""
    st.session_state.pop("compare_refusal", None)
    try:
        new = host.shared(asked, lambda: start(asked)) if shared else start(asked)
    except engine.EngineError as error:
        st.session_state["compare_refusal"] = str(error)
        return
    old: Job[Trial] | None = st.session_state.get(_STATE)
    if old is not None and not is_shared(old):
        old.cancel()
    st.session_state[_STATE] = new


def set_form(asked: Compared) -> None:
    """Let the form say what is compared."""
    st.session_state["compare_mechanisms"] = [m for m in asked.mechanisms if m not in BASELINES]
    st.session_state["compare_epsilons"] = ", ".join(f"{e:g}" for e in asked.epsilons)
    st.session_state["compare_trials"] = asked.trials
    st.session_state["compare_seed"] = asked.seed
    st.session_state["compare_finishes"] = list(asked.finishes)


def is_shared(job: Job[Trial]) -> bool:
    """Whether others look at it too; then nobody may stop it."""
    asked: Compared = job.about
    if asked in (loses(), first()):
        return True
    return host.is_class() and asked in [make() for _, _, make in PRESETS.values()]
