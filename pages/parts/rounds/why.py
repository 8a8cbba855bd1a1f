"""Why a round did what it did: one sentence for the room, the others a click away."""

from __future__ import annotations

import streamlit as st

import engine
from engine import views
from pages.parts.drawing import figures, form, lecture, text
from pages.parts.navigation import links
from pages.parts.visit import session, study

FAR_OFF = 0.8
"""A mean error above this share of N says little about the table: it is explained then."""


def headline(run: session.Watched, view: int) -> None:
    """The one sentence, in large type; it lights up when the round changes."""
    with st.container(key=f"why_{'odd' if view % 2 else 'even'}"):
        if view == 0:
            st.markdown(f"**Before round 1.** {opening(run)}")
            return
        st.markdown(f"**Why round {view} did what it did:** {_first(run, view)}")


def instead_of_a_choice(run: session.Watched) -> None:
    """Why a run goes at once, where others show their choice; and the way to rounds."""
    started = run.moments[0].event
    assert isinstance(started, engine.Started)
    st.markdown("**Nothing is selected: everything is measured at once**")
    st.markdown(_decided(started))
    st.button(
        "Run it in rounds instead", icon=":material/replay:", key="in_rounds",
        on_click=_in_rounds, type="primary",
        help="The same table and budget: each round chooses one table by its noisy error.",
    )  # fmt: skip


def _first(run: session.Watched, view: int) -> str:
    event, moment = _event(run, view), run.moments[view]
    if event.selected is None:
        if at_once(run):
            return f"nothing is selected, {_measured(run, view)}."
        return "nothing is selected, this mechanism measures everything at once."
    if moment.seen is not None and not figures.hidden():
        return text.plain(_both(run, view)[0], longest=500)
    return text.plain(views.explain_released(event, run.domain)[0], longest=500)


def _measured(run: session.Watched, view: int) -> str:
    """What a round measures that selects nothing: everything, at once or in a few steps."""
    if run.most_rounds == 1:
        return "everything is measured at once"
    return (
        f"step {view} of {run.most_rounds} measures every residual, most precisely where most is "
        "expected"
    )


def _both(run: session.Watched, view: int) -> tuple[str, str]:
    """The first and the last sentence, which compare with the records."""
    event, seen = _event(run, view), run.moments[view].seen
    assert seen is not None
    pair = run.moments[view - 1].error, run.moments[view].error
    first, last = views.explain(event, seen, run.domain, pair, run.records)
    return first, last


def _event(run: session.Watched, view: int) -> engine.RoundEnded:
    event = run.moments[view].event
    assert isinstance(event, engine.RoundEnded)
    return event


def outcome(run: session.Watched, view: int) -> None:
    """What became better, under the curve; and what a flat curve means."""
    if figures.hidden():
        return
    if view and run.moments[view].seen is not None:
        lecture.prose(f":small[{text.plain(_both(run, view)[1], longest=500)}]")
    error = run.moments[view].error / run.records if run.records else 0.0
    if view and run.finished and error > FAR_OFF:
        st.caption(_too_few(run))


def _too_few(run: session.Watched) -> str:
    """About how large a budget would be needed for an error of a tenth; not private."""
    made = run.settings
    rho = float(run.rho)
    needed = ""
    try:
        planner = engine.ResidualPlanner().predict(run.workload, rho=rho).mean_l1
        epsilon = views.smallest_epsilon(
            planner, wanted=run.records / 10, rho=rho, delta=made.delta
        )
        needed = f" About ε = {epsilon:.2g} would be needed for an error of 10 %."
    except engine.EngineError:
        pass
    return (
        f"The curve stays high because {run.records:,} records at ε = {made.epsilon:g} are too few "
        f"for these tables.{needed}"
    )


def in_full(run: session.Watched, view: int) -> None:
    """Every sentence there is about the round."""
    if view == 0:
        st.markdown(opening(run))
        return
    sentences = list(views.explain_released(_event(run, view), run.domain))
    if run.moments[view].seen is not None and not figures.hidden():
        first, last = _both(run, view)
        sentences = [first, *sentences, last]
    st.markdown(" ".join(text.plain(s, longest=500) for s in sentences))


# -- before the first round ------------------------------------------------------------------------


def opening(run: session.Watched) -> str:
    """What was done before anything was chosen."""
    event = run.moments[0].event
    assert isinstance(event, engine.Started)
    if not event.measurements:
        return (
            "Nothing is measured yet: this mechanism has one round for everything. Press **Next**."
        )
    first = "Every attribute alone was measured, all with the same noise."
    if at_once(run):
        return f"{first} Then everything is measured at once. Press **Next**."
    return (
        f"{first} {_decided(event)} Tables of several attributes are answered from these until a "
        "round measures more. Press **Next**."
    )


def at_once(run: session.Watched) -> bool:
    """Whether a mechanism that could go in rounds decided to measure everything in one."""
    state = run.moments[0].state
    return isinstance(state, engine.AimState) and state.whole


def _decided(event: engine.Started) -> str:
    return text.plain(event.decision, longest=600) if event.decision else ""


def _in_rounds() -> None:
    study.here().mechanism = study.FIRST_MECHANISM
    form.start()
    links.forget()
