"""What does a run look like? One is shown at once, on a sample, with three ways on."""

from __future__ import annotations

import streamlit as st

import engine
from engine import charts, views
from pages.parts import figures, messages, session, study, text
from pages.parts.frame import through_app


@st.cache_resource(show_spinner="Making a first run…")
def recorded() -> session.Watched:
    """A finished run on the first sample, the same for everybody."""
    run = session.begin(study.usual())
    while not run.finished:
        run = run.stepped()
    return run


@st.cache_resource(show_spinner=False)
def strip_of_rounds() -> list[tuple[str, charts.Figure]]:
    """One released table as the run goes on, and the truth it never shows."""
    run = recorded()
    first, second = run.workload.domain.attrs(*run.settings.attributes[:2])
    names = (run.domain[first].name, run.domain[second].name)
    frames = {at: views.released(run.release(at).estimate(first, second)) for at in _moments(run)}
    exact = views.comparison(
        engine.compare(run.release(run.rounds).estimate(first, second), run.private)
    )
    limits = charts.shared_limits(exact, "released", "exact")
    titles = {0: "Before round 1", run.rounds: f"After round {run.rounds}, the last"}
    shown = [
        charts.heatmap(
            frame, "released", names, title=titles.get(at, f"After round {at}"), limits=limits,
            small=True,
        )
        for at, frame in frames.items()
    ]  # fmt: skip
    truth = charts.heatmap(exact, "exact", names, title="The truth", limits=limits, small=True)
    shown.append(truth)
    return [(f"frame_{k}", figure) for k, figure in enumerate(shown)]


def _moments(run: session.Watched) -> list[int]:
    """Before the first round, after the first that brought something new here, after the last."""
    gamma = set(run.workload.domain.attrs(*run.settings.attributes[:2]))
    for at, moment in enumerate(run.moments):
        if any(gamma <= set(m.attrs) for m in getattr(moment.event, "measurements", ())):
            return sorted({0, at, run.rounds})
    return [0, run.rounds]


through_app()
run = recorded()
settings = run.settings
st.title("Private tables, one round at a time")
st.markdown(
    f"A mechanism answers **{len(run.workload.weights)} tables of counts** about "
    f"{text.plain(run.title)} without giving any person away. It looks for the table it knows "
    "worst, measures it with noise, mends everything that depends on it, and repeats until its "
    f"privacy budget (ε = {settings.epsilon:g}) is spent. Below is a run of {run.rounds} rounds."
)

st.caption(
    "It is AIM+GReM as published. The default for your own runs also completes what was not "
    "measured, and measures small workloads all at once where that promises more than rounds."
)

ways = st.columns(3)
with ways[0].container(border=True, height="stretch"):
    st.markdown("**Watch a run**")
    st.caption("Step through it, round by round: what was chosen, what it cost, what got better.")
    st.page_link("pages/rounds.py", label="Step it yourself", icon=":material/play_arrow:")
with ways[1].container(border=True, height="stretch"):
    st.markdown("**Teach a class**")
    st.caption("Same seed, same run on every screen. Keys F B P N L step, play and rewind.")
    if st.button("Open the Titanic run", icon=":material/school:", key="teach"):
        session.start(study.usual("titanic"))
        st.switch_page("pages/rounds.py")
    st.page_link("pages/learn.py", label="Tour, figures, quiz", icon=":material/menu_book:")
with ways[2].container(border=True, height="stretch"):
    st.markdown("**Use my own table**")
    st.caption("A CSV, Excel or Parquet file; it stays in this session. Or only names, to plan.")
    st.page_link("pages/data.py", label="Load a table", icon=":material/table:")

names = " × ".join(text.plain(name) for name in settings.attributes[:2])
st.subheader("One of the tables, as the run goes on")
st.caption(f"{names}, people in each cell. Same colours in every picture.")
for column, (key, figure) in zip(st.columns(4), strip_of_rounds(), strict=False):
    with column:
        figures.draw(figure, key, table=False)

left, right = st.columns([3, 2])
with left:
    figures.draw(charts.ledger(views.budget(run.events(run.rounds)), at=run.rounds), "start_ledger")
    st.caption(
        "Each round pays twice: a little to choose a table (orange), the rest to measure it (blue)."
    )
with right:
    curve = views.errors(run.errors(), run.records)
    figures.draw(charts.error_curve(curve, at=run.rounds), "start_error")
st.caption(f"{messages.BANNER} (This is a public sample table.)")
