"""A second lane: what ResidualPlanner does with the same budget, and who is nearer where."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import engine
from engine import views
from engine.demonstrating import beside
from engine.showing import versus
from engine.showing.poured import poured
from pages.parts.drawing import figures, lecture, text
from pages.parts.rounds import cockpit
from pages.parts.visit import samples, session

RIVAL = "residual_planner"
_KEPT = "rounds_rival"
_ROWS = 8


def show(run: session.Watched, view: int) -> None:
    """Its plan beside both curves; then marginal by marginal, with the reason."""
    if run.settings.mechanism == RIVAL:
        st.caption("This run is ResidualPlanner's already.")
        return
    try:
        with st.spinner("ResidualPlanner's run…"):
            rival = of(run)
    except engine.EngineError as error:
        st.error(text.plain(error, longest=600), icon=":material/error:")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        _plan(run, view, rival)
    with right:
        _curves(run, rival)
    _marginals(run, view, rival)


def of(run: session.Watched) -> beside.Rival:
    """ResidualPlanner's run for this one; made once, and counted as a run of its own."""
    kept = st.session_state.get(_KEPT)
    if kept is not None and kept[0] == run.number:
        rival: beside.Rival = kept[1]
        return rival
    made = run.settings
    # Two runs of an own table with one seed could be subtracted from each other.
    seed = None if made.sample == samples.OWN else made.seed
    private = engine.Private(samples.columns(made.sample, made.attributes))
    rng = engine.rehearsal_noise(seed)
    rival = beside.planner(private, run.workload, rho=run.rho, rng=rng)
    spent = rival.release.ledger.spent
    session.visit().past.append((replace(made, mechanism=RIVAL, seed=seed), spent))
    st.session_state[_KEPT] = (run.number, rival)
    return rival


def _plan(run: session.Watched, view: int, rival: beside.Rival) -> None:
    event = run.moments[view].event
    gamma = run.workload.marginals[0]
    if isinstance(event, engine.RoundEnded):
        gamma = cockpit.shown(run, event)
    st.markdown(f"**ResidualPlanner on {text.plain(run.domain.label(gamma))}, all at once**")
    frame = views.allocation(rival.event, run.domain, gamma)
    ink = "#C9D1DB" if st.context.theme.type == "dark" else "#3B4654"
    afar = lecture.presenting()
    height = round(cockpit.HEIGHT * (0.8 if afar else 1.15))
    figure = poured(frame, ink=ink, height=height, brief=afar)
    figures.draw(figure, "rival_plan", table=False, said=False)
    st.caption(
        "It knows no table before: every residual gets what the workload alone says, and "
        "nothing is spent on choosing."
    )


def _curves(run: session.Watched, rival: beside.Rival) -> None:
    if figures.hidden():
        st.caption("Both error curves: hidden, since they are computed from the records.")
        return
    spent = [float(run.release(k).ledger.spent / run.rho) for k in range(run.rounds + 1)]
    frame = beside.by_budget(run.errors(), spent, rival, run.records)
    names = (session.MECHANISMS[run.settings.mechanism].title, "ResidualPlanner")
    title = "Error by budget spent"
    figures.draw(versus.overlay(frame, names, title=title), "rival_curves", table=False)


def _marginals(run: session.Watched, view: int, rival: beside.Rival) -> None:
    if figures.hidden():
        return
    frame = beside.by_marginal(run.release(view), run.events(view), rival, run.private)
    better = int((frame["difference"] < 0).sum())
    whole = len(frame)
    st.markdown(
        f"**Marginal by marginal, after round {view}**: the run is nearer in {better:,} of "
        f"{whole:,}, ResidualPlanner (its whole budget spent) in {whole - better:,}."
    )
    shown = frame.head(_ROWS).assign(
        nearer=["the run" if d < 0 else "ResidualPlanner" for d in frame["difference"].head(_ROWS)]
    )[["label", "nearer", "first", "second", "reason"]]
    figures.rows(
        shown.set_axis(
            ["marginal", "nearer", "the run's error ÷ N", "ResidualPlanner's",
             "the run knows it"], axis=1
        )
    )  # fmt: skip
    st.caption(
        f"▲ not private. The {min(_ROWS, whole)} largest differences. ResidualPlanner measures "
        "every marginal directly; where a run in rounds did so too, it could spend more on it."
    )
