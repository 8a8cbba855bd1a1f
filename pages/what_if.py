"""What would another choice do? Two settings from the same starting point and seed, overlaid."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pandas as pd
import streamlit as st

import engine
from engine.demonstrating import comparison
from engine.demonstrating.comparison import Point, Setting
from engine.exact import Exact
from engine.showing import versus
from engine.showing.frames.rounds import spending
from engine.types import AttributeSet
from pages.parts.drawing import figures, form, lecture, messages, text
from pages.parts.navigation import live
from pages.parts.navigation.frame import through_app
from pages.parts.visit import samples, session, study, turns
from pages.parts.visit.asked import Changed
from pages.parts.visit.worker import Job

CHANGES = {
    "epsilon": "ε doubled",
    "rows": "ten times the rows",
    "workload": "another workload",
    "coarser": "coarser values",
}
EVERY = 0.02  # least share of the budget between two judgements of a run
_STATE = "what_if"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pair(Exact):
    """Both settings, ready to run, and what they are judged by."""

    settings: tuple[Setting, Setting]
    truths: tuple[engine.Private, engine.Private]
    sets: tuple[tuple[AttributeSet, ...], tuple[AttributeSet, ...]]
    names: tuple[str, str]
    domain: engine.Domain


# -- the two settings ------------------------------------------------------------------------------


def pair(asked: Changed) -> Pair:
    """Make both settings.

    Raises:
        engine.EngineError: If one of them is refused.
    """
    base = asked.base
    table = samples.columns(base.sample, base.attributes)
    first = _setting(table, base)
    sets = first.workload.marginals
    same = (first.private, first.private)
    names = (_name(base), _changed_name(asked))
    if asked.change == "epsilon":
        rho = Fraction(engine.rho_from(epsilon=base.epsilon * asked.factor, delta=base.delta))
        return Pair((first, first.changed(rho=rho)), same, (sets, sets), names, table.domain)
    if asked.change == "rows":
        more = engine.Private(comparison.repeat_table(table, 10))
        settings = (first, first.changed(private=more))
        return Pair(settings, (first.private, more), (sets, sets), names, table.domain)
    if asked.change == "workload":
        workload = study.held(engine.Workload.all_kway(table.domain, asked.degree))
        judged = _both_answer(first.workload, workload)
        settings = (first, first.changed(workload=workload))
        return Pair(settings, same, (judged, judged), names, table.domain)
    return _coarser(asked, table, first, names)


def _setting(table: engine.Table, base: study.Settings) -> Setting:
    workload = base.workload(table.domain)
    rho = Fraction(engine.rho_from(epsilon=base.epsilon, delta=base.delta))
    return Setting(engine.Private(table), workload, rho, {})


def _both_answer(first: engine.Workload, second: engine.Workload) -> tuple[AttributeSet, ...]:
    """The largest tables that both workloads answer."""
    common = [attrs for attrs in first.closure if attrs and attrs in second.layout.index]
    return tuple(a for a in common if not any(set(a) < set(b) for b in common))


def _coarser(asked: Changed, table: engine.Table, first: Setting, names: tuple[str, str]) -> Pair:
    merged = {table.domain.names.index(name): asked.together for name in asked.merged}
    coarse = comparison.merge_table(table, merged)
    second = _setting(coarse, asked.base)
    sets = second.workload.marginals
    settings = (first.changed(merged=merged), second)
    return Pair(settings, (second.private, second.private), (sets, sets), names, coarse.domain)


def _name(base: study.Settings) -> str:
    return f"as it is: ε {base.epsilon:g}, {_tables(base)}"


def _tables(base: study.Settings) -> str:
    return "your own list" if base.marginals else f"{base.degree}-way"


def _changed_name(asked: Changed) -> str:
    return {
        "epsilon": f"ε × {asked.factor:g}: ε {asked.base.epsilon * asked.factor:g}",
        "rows": "ten times the rows",
        "workload": f"workload of {asked.degree}-way tables",
        "coarser": f"{asked.together} adjacent values made one",
    }[asked.change]


def start(asked: Changed) -> Job[tuple[int, Point]]:
    """Begin both runs, one after the other, in a thread of its own.

    Raises:
        engine.EngineError: If a setting is refused.
    """
    both, mechanism = pair(asked), session.MECHANISMS[asked.base.mechanism].make
    # One seed for both, so that they differ in one thing only.
    seed = secrets.randbits(32) if asked.base.seed is None else asked.base.seed

    def make(cancelled: Callable[[], bool]) -> Iterator[tuple[int, Point]]:
        for who in (0, 1):
            points = comparison.path(
                mechanism(), both.settings[who], both.truths[who], both.sets[who],
                seed=seed, every=EVERY, cancelled=cancelled,
            )  # fmt: skip
            for point in points:
                yield who, point

    return Job(make, None, (asked, both.names, both.domain))


# -- asking ----------------------------------------------------------------------------------------


def base() -> study.Settings | None:
    """The study, which may be changed here too; None while a field of it cannot be read."""
    with st.expander("Starting point", icon=":material/tune:", key="what_if_settings"):
        form.whole()
    try:
        return study.settings()
    except engine.EngineError as error:
        st.error(text.plain(error, longest=600), icon=":material/error:")
        return None


def change(start_from: study.Settings) -> Changed:
    """Ask what is different in the second setting."""
    kind = st.segmented_control(
        "What if …", list(CHANGES), default="epsilon", required=True, key="what_if_change",
        format_func=CHANGES.__getitem__, persist_state="session",
    ) or "epsilon"  # fmt: skip
    asked = Changed(start_from, kind)
    if kind == "epsilon":
        factor = st.select_slider(
            "ε times", [0.25, 0.5, 2.0, 4.0, 10.0], value=2.0, key="what_if_factor",
            persist_state="session", format_func=lambda f: f"{f:g}",
        )  # fmt: skip
        return replace(asked, factor=float(factor))
    if kind == "workload":
        others = [k for k in (1, 2, 3, 4) if k != start_from.degree]
        degree = st.segmented_control(
            "Tables over", others, default=others[min(1, len(others) - 1)], required=True,
            key=f"what_if_other_{start_from.degree}", format_func=lambda k: f"{k}-way",
        )  # fmt: skip
        return replace(asked, degree=int(degree or 2))
    return _coarse_choice(asked) if kind == "coarser" else asked


def _coarse_choice(asked: Changed) -> Changed:
    domain = samples.domain(asked.base.sample)
    sizes = {name: domain[name].size for name in asked.base.attributes}
    largest = [name for name, size in sizes.items() if size > 3] or list(sizes)[:1]
    left, right = st.columns([3, 2])
    key = f"what_if_merged_{asked.base.sample}_{len(sizes)}"
    st.session_state.setdefault(key, largest)
    merged = left.multiselect(
        "Make adjacent values one in", list(sizes), key=key, persist_state="session"
    )
    together = right.select_slider(
        "How many together", [2, 3, 4, 5, 10], value=2, key="what_if_together",
        persist_state="session",
    )  # fmt: skip
    return replace(asked, merged=tuple(merged), together=int(together))


EXPLAIN = {
    "epsilon": "A larger ε is a larger budget and a weaker promise. Both runs begin with the same "
    "random numbers; with more budget the same draws are scaled down.",
    "rows": "Every record is taken ten times: a simulation of a larger population with the same "
    "shares, not more data. Noise does not grow with the rows, so errors relative to N fall.",
    "workload": "Both are judged on the tables that both can answer, those over fewer attributes. "
    "Asking for less leaves more budget for each.",
    "coarser": "Both are judged on the coarse tables: the finer answers are added up, noise and "
    "all. Values are merged in their declared order, without looking at a record.",
}


# -- showing ---------------------------------------------------------------------------------------


@st.fragment
def watch() -> None:
    """How far the two runs are; the only part that asks again by itself."""
    job = current()
    if job is None or not job.running:
        st.rerun()
    done = job.done
    who, spent = (done[-1][0], done[-1][1].spent) if done else (0, 0.0)
    said = f"{job.about[1][who]}: {spent:.0%} of its budget"
    st.progress(min((who + spent) / 2, 1.0), turns.waiting(job.place) if job.place else said)
    st.button("Stop here", icon=":material/stop:", key="what_if_cancel", on_click=job.cancel)
    live.ask_again(0.5)


def current() -> Job[tuple[int, Point]] | None:
    """This visitor's two runs."""
    return st.session_state.get(_STATE)


def _ensure(asked: Changed) -> Job[tuple[int, Point]] | None:
    """The job for what is asked: started if it is not there; None if it is refused."""
    job = current()
    if job is not None and job.about[0] == asked:
        return job
    if not asked.base.attributes:
        st.error("No attribute is chosen. Choose at least one above.", icon=":material/error:")
        return None
    try:
        new = start(asked)
    except engine.EngineError as error:
        st.error(text.plain(str(error), longest=600), icon=":material/error:")
        return None
    if job is not None:
        job.cancel()
    st.session_state[_STATE] = new
    new.wait(0.7)  # most are done by then, and nothing flickers
    return new


def results(job: Job[tuple[int, Point]]) -> None:
    """The overlay, its difference, and where the two differ."""
    _, names, domain = job.about
    if job.error:
        st.error(text.plain(job.error, longest=600), icon=":material/error:")
    if job.cancelled:
        st.info("Stopped; what was done until then is below.", icon=":material/stop_circle:")
        st.button("Run both again", key="what_if_again", on_click=_forget)
    runs = [[p for who, p in job.done if who == k] for k in (0, 1)]
    if not all(runs):
        return
    _numbers(runs, names)
    if all(run[-1].round == 1 for run in runs):
        st.caption(
            "Both measured everything at once. To see rounds, choose "
            f"“{study.mechanism_name(study.FIRST_MECHANISM)}”."
        )
    if figures.hidden():
        st.caption("Errors are computed from the records: hidden.")
    else:
        _overlaid(runs, names, domain)
    narrow, _ = st.columns([3, 2])
    with narrow:
        spent = spending({name: run[-1].release for name, run in zip(names, runs, strict=True)})
        figures.draw(versus.allocation(spent), "what_if_allocation")


def _forget() -> None:
    st.session_state.pop(_STATE, None)


def _overlaid(runs: list[list[Point]], names: tuple[str, str], domain: engine.Domain) -> None:
    frame = pd.DataFrame(
        [(k, p.round, p.spent, p.error) for k, run in enumerate(runs) for p in run],
        columns=["who", "round", "spent", "error"],
    )
    left, right = st.columns([3, 2], gap="large")
    # Of two runs of one round there is nothing between the start and the end to look at.
    stepwise = any(run[-1].round > 1 for run in runs)
    if stepwise:
        with left:
            figures.draw(versus.overlay(frame, names), "overlay")
            figures.draw(versus.difference(frame, names), "gap")
    with right if stepwise else left:
        ends = [run[-1].per_marginal for run in runs]
        rows: list[dict[str, Any]] = [
            {
                "label": domain.label(attrs), "cells": domain.cells(attrs),
                "first": ends[0][attrs], "second": ends[1][attrs],
                "difference": ends[0][attrs] - ends[1][attrs],
            }
            for attrs in ends[0]
        ]  # fmt: skip
        table = pd.DataFrame(rows).sort_values(
            "difference", key=lambda gaps: gaps.abs(), ascending=False, ignore_index=True
        )
        title = "At the end, by marginal"
        figures.draw(versus.dumbbell(table, *names, title=title, most=11), "what_if_ends")


def _numbers(runs: list[list[Point]], names: tuple[str, str]) -> None:
    lines = []
    for name, run in zip(names, runs, strict=True):
        last = run[-1]
        ledger = last.release.ledger
        rounds = "1 round" if last.round == 1 else f"{last.round} rounds"
        error = "" if figures.hidden() else f", mean error {last.error:.4g} of N"
        lines.append(
            f"- **{text.plain(name)}**: ρ = {float(ledger.total):.4g}, {rounds}, "
            f"{len(last.release.beliefs)} residuals measured{error}"
        )
    st.markdown("\n".join(lines))


def compare_with(start_from: study.Settings) -> None:
    """Ask for the change, run both and show them."""
    asked = change(start_from)
    lecture.prose(EXPLAIN[asked.change])
    seed = "new noise" if start_from.seed is None else f"seed {start_from.seed}"
    st.markdown(
        f"{study.mechanism_name(start_from.mechanism)}, from "
        f"**{text.plain(samples.choices()[start_from.sample].title)}**, "
        f"{len(start_from.attributes)} attributes, {_tables(start_from)}, "
        f"ε = {start_from.epsilon:g}, δ = {start_from.delta:g}, {seed}."
    )
    job = _ensure(asked)
    if job is not None and job.running:
        watch()
    elif job is not None:
        results(job)


# -- the page --------------------------------------------------------------------------------------

through_app()
st.title("What if")
messages.banner()
lecture.prose(
    "Two runs of a mechanism from the same table and the same seed, with one thing different. "
    "Errors are compared with the truth, so all of this is simulation."
)
start_from = base()
if start_from is not None:
    compare_with(start_from)
