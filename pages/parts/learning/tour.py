"""The guided tour: one round of a real run, in six steps."""

from __future__ import annotations

import streamlit as st

import engine
from engine import charts, views
from pages.parts.drawing import figures, lecture, text
from pages.parts.learning import lessons
from pages.parts.visit import session

TITLES = (
    "What is asked for", "Which table is known worst?", "Where does the noise go?",
    "What came back?", "Which answers change?", "What did it cost, and what is better?",
)  # fmt: skip
STEP = "learn_tour_step"


def tour() -> None:
    """Six steps with a way forward and back."""
    run = lessons.recorded()
    step = min(int(st.session_state.get(STEP, 0)), len(TITLES) - 1)
    at = _round(run)
    st.header(f"{step + 1} of {len(TITLES)} · {TITLES[step]}")
    (_asked, _worst, _noise, _back, _changed, _cost)[step](run, at)
    with st.container(horizontal=True):
        st.button("Back", icon=":material/chevron_left:", key="tour_back", disabled=step == 0,
                  on_click=_go, args=(step - 1,))  # fmt: skip
        if step + 1 < len(TITLES):
            st.button("Next", icon=":material/chevron_right:", key="tour_next", type="primary",
                      on_click=_go, args=(step + 1,))  # fmt: skip
        else:
            st.page_link("pages/rounds.py", label="Step it yourself", icon=":material/play_arrow:")


def at_its_end() -> bool:
    """Whether the last step is shown, so that the way leads on to the next section."""
    return int(st.session_state.get(STEP, 0)) + 1 >= len(TITLES)


def _go(step: int) -> None:
    st.session_state[STEP] = step


def _round(run: session.Watched) -> int:
    """The first round that chose a table of several attributes."""
    for at, moment in enumerate(run.moments):
        if len(getattr(moment.event, "selected", None) or ()) > 1:
            return at
    return 1


def _event(run: session.Watched, at: int) -> engine.RoundEnded:
    event = run.moments[at].event
    assert isinstance(event, engine.RoundEnded)
    return event


def _asked(run: session.Watched, at: int) -> None:
    tables = ", ".join(text.plain(run.domain.label(a)) for a in run.workload.marginals)
    st.markdown(
        f"{text.plain(run.title)}: who was aboard, in four attributes. Wanted are "
        f"{len(run.workload.weights)} tables of counts: {tables}. Each person counts in every one "
        "of them, so exact tables could give somebody away. Every answer gets **noise**, and all "
        f"noise is paid from one **budget**: ε = {run.settings.epsilon:g}."
    )
    lecture.prose(
        "Before round 1 each attribute alone is measured, with the same noise for all. A grey band "
        "is where noise alone would fall."
    )
    started = run.moments[0].event
    assert isinstance(started, engine.Started)
    frame = views.measured(started.measurements, run.domain)
    figures.draw(charts.measured(frame), "tour_measured")


def _worst(run: session.Watched, at: int) -> None:
    event, seen = _event(run, at), run.moments[at].seen
    assert seen is not None
    assert event.selected is not None
    if figures.hidden():
        st.caption("Scores are computed from the records: hidden.")
        return
    pair = run.moments[at - 1].error, run.moments[at].error
    first = views.explain(event, seen, run.domain, pair, run.records)[0]
    st.markdown(text.plain(first, longest=500))
    lecture.prose(
        "A table's score is how wrong its answer is now (blue), less the error that measuring it "
        "would leave anyway (orange). Then the **exponential mechanism** draws: likely the highest "
        "score, never surely."
    )
    frame = views.selection(seen, run.domain, event.selected)
    figures.draw(
        charts.selection(frame, others=seen.others, others_probability=seen.others_probability),
        "tour_selection",
    )


def _noise(run: session.Watched, at: int) -> None:
    event = _event(run, at)
    assert event.selected is not None
    frame = views.allocation(event, run.domain, event.selected)
    bought = frame[frame["added"] > 0].sort_values("share", ascending=False)
    top = bought.iloc[0]
    st.markdown(
        f"The chosen table is taken apart into residuals, and the round's budget goes where least "
        f"is known: **{views.percent(float(top['share']))}** of it to "
        f"{text.plain(top['label'])}. What earlier rounds bought (the rings) is not bought again. "
        "More budget on a residual is **less** noise on it: its σ stands above the disc."
    )
    figures.draw(charts.lattice(frame), "tour_lattice")


def _back(run: session.Watched, at: int) -> None:
    event = _event(run, at)
    st.markdown(
        "Only noisy residuals come back. A value inside the grey band may be noise and nothing "
        "else; the long blue ticks outside say something about the people aboard."
    )
    frame = views.measured(event.measurements, run.domain)
    figures.draw(charts.measured(frame), "tour_back_chart")


def _changed(run: session.Watched, at: int) -> None:
    event = _event(run, at)
    before, after = run.moments[at - 1].state.beliefs, run.moments[at].state.beliefs
    frame = views.touched(before, after, event, run.workload)
    st.markdown(
        "Every table that holds a measured residual is mended, so all answers still agree with "
        "each other. Tables that hold none stay as they are: the **lazy update**."
    )
    figures.draw(charts.touched(frame, run.domain.names, threshold=event.threshold), "tour_touched")


def _cost(run: session.Watched, at: int) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(
            "The ledger gains two segments: choosing (orange) and measuring (blue). What is left "
            f"pays for the other rounds; this run has {run.rounds}."
        )
        figures.draw(charts.ledger(views.budget(run.events(at)), at=at), "tour_ledger")
    with right:
        curve = views.errors(run.errors(), run.records)
        figures.draw(charts.error_curve(curve, at=at), "tour_error")
