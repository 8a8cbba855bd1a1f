"""One screen for a round: what was spent, why, and side by side choice, noise and error."""

from __future__ import annotations

from html import escape

import numpy as np
import streamlit as st

import engine
from engine import charts, views
from engine.showing.poured import poured
from engine.types import AttributeSet
from pages.parts.drawing import figures, lecture, text
from pages.parts.rounds import fork, why
from pages.parts.visit import session

HEIGHT = 280
"""Of a picture, in pixels: three of them fit beneath everything else on a screen 800 high."""
CANDIDATES, FROM_AFAR = 6, 3
"""Rows of the choice, and as many as a room can read."""
_MANY_CELLS = 300_000


def show(run: session.Watched, view: int) -> None:
    """Everything about a round that is to be seen together."""
    with st.container(key="cockpit"):
        budget(run, view)
        why.headline(run, view)
        shares = [6, 8, 5] if lecture.presenting() else [5, 5, 4]
        left, middle, right = st.columns(shares, gap="medium")
        with left:
            choice(run, view)
        with middle:
            noise(run, view)
        with right:
            error(run, view)


# -- the budget ------------------------------------------------------------------------------------


def budget(run: session.Watched, view: int) -> None:
    """A thin strip: what each round paid to choose and to measure, to one scale with the rest."""
    frame = views.budget(run.events(view))
    total, at = float(run.rho), 0.0
    parts = []
    for number, part, rho in zip(frame["round"], frame["part"], frame["rho"], strict=True):
        if part == "left":
            continue
        at += float(rho)
        past = "" if number == view else " past"
        title = f"{'before round 1' if number == 0 else f'round {number}'}, {part}: ρ {rho:.3g}"
        width = f"{100 * float(rho) / total:.4f}%"
        parts.append(f'<i class="{part}{past}" style="width:{width}" title="{escape(title)}"></i>')
    share = views.percent(at / total) if at else "0 %"
    sentence = f"{share} of the budget ρ = {total:.4g} is spent after round {view}"
    st.html(
        f'<div class="spent" role="img" aria-label="{escape(sentence)}">{"".join(parts)}</div>'
        f'<div class="said"><span><b>{share} of the budget</b> spent, ρ {at:.4g} of {total:.4g} '
        f"({_epsilon(run, view)})</span>"
        '<span class="key select">to choose</span><span class="key measure">to measure</span>'
        "<span>● released</span></div>"
    )


def _epsilon(run: session.Watched, view: int) -> str:
    person, delta = run.release(view).rho_of_a_person, run.settings.delta
    epsilon = engine.epsilon_from(rho=person, delta=delta) if person else 0.0
    return f"ε {epsilon:.3g} of {run.settings.epsilon:g}"


# -- the choice ------------------------------------------------------------------------------------


def choice(run: session.Watched, view: int) -> None:
    """Which marginal looked worst for its noise, and which was drawn."""
    seen = run.moments[view].seen
    if view == 0 or seen is None:
        if why.at_once(run):
            why.instead_of_a_choice(run)
            return
        st.markdown("**Nothing is selected**")
        st.caption(
            "Rounds choose after this." if view == 0 and run.most_rounds > 1 else
            "Everything is measured: no table is chosen before another."
        )  # fmt: skip
        if view == 0:
            before(run)
        return
    event = run.moments[view].event
    assert isinstance(event, engine.RoundEnded)
    frame = views.selection(seen, run.domain, event.selected)
    afar = lecture.presenting()
    most = FROM_AFAR if afar else CANDIDATES
    kept = frame[(np.arange(len(frame)) < most) | frame["chosen"].to_numpy()]
    dropped = frame.drop(kept.index)
    figure = charts.selection(
        kept.reset_index(drop=True), others=seen.others + len(dropped),
        others_probability=seen.others_probability + float(dropped["probability"].sum()),
        above=afar, legend=False,
    )  # fmt: skip
    height = round(figure.form()["height"]) if afar else HEIGHT
    figures.draw(figure, "selection", table=False, said=False, height=height)
    if not figures.hidden():
        st.html(_TERMS)


def before(run: session.Watched) -> None:
    """What was measured before anything was chosen."""
    event = run.moments[0].event
    assert isinstance(event, engine.Started)
    if event.measurements:
        figure = charts.measured(views.measured(event.measurements, run.domain))
        figures.draw(figure, "measured_before", table=False, said=False, height=HEIGHT)


def shown(run: session.Watched, event: engine.RoundEnded) -> AttributeSet:
    """The marginal a round is about."""
    return event.selected if event.selected is not None else run.workload.marginals[0]


# -- the noise -------------------------------------------------------------------------------------


def noise(run: session.Watched, view: int) -> None:
    """Where the round's budget went: residuals by size, what was known, what was added."""
    event = run.moments[view].event
    if not isinstance(event, engine.RoundEnded):
        st.markdown("**Nothing is shared out yet**")
        st.caption("From round 1 on: how the budget is shared out among residuals.")
        return
    frame = views.allocation(event, run.domain, shown(run, event))
    ink = "#C9D1DB" if st.context.theme.type == "dark" else "#3B4654"
    afar = lecture.presenting()
    figure = poured(frame, ink=ink, height=round(HEIGHT * (0.8 if afar else 1.15)), brief=afar)
    figures.draw(figure, "lattice", table=False, said=False)
    st.html(_VESSELS)


_TERMS = (
    '<div class="said"><span class="key error">error</span><span class="key select">noise</span>'
    '<span class="key score">score: error − noise</span></div>'
)
_VESSELS = (
    '<div class="said"><span class="key known">known before</span>'
    '<span class="key measure">poured in now (log scale)</span>'
    "<span>square: share of the cost</span></div>"
)

# -- the error -------------------------------------------------------------------------------------


def error(run: session.Watched, view: int) -> None:
    """The error curve, and which answers moved most."""
    curve = views.errors(run.errors(), run.records)
    ghosts = [fork.drawn(run, ghost) for ghost in session.visit().ghosts]
    figure = charts.error_curve(curve, at=view, normalized=run.records > 0, ghosts=ghosts)
    figures.draw(figure, "error", table=False, said=False,
                 height=HEIGHT - (100 if lecture.presenting() else 60))  # fmt: skip
    fork.say()
    why.outcome(run, view)
    if view:
        _moved(run, view)


def _moved(run: session.Watched, view: int) -> None:
    """The answers that a round moved most: released values before and after."""
    event = run.moments[view].event
    if not isinstance(event, engine.RoundEnded) or run.workload.cells > _MANY_CELLS:
        return
    before_it, after_it = run.moments[view - 1].state.beliefs, run.moments[view].state.beliefs
    frame = views.touched(before_it, after_it, event, run.workload)
    most = frame.sort_values("moved", ascending=False).head(2 if lecture.presenting() else 3)
    said = [
        f"{text.plain(label, longest=60)} **{moved:,.0f}**"
        for label, moved in zip(most["label"], most["moved"], strict=True)
        if moved > 0
    ]
    if said:
        st.caption(f"● Moved most (records): {' · '.join(said)}")
