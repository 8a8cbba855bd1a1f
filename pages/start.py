"""What does a run look like? One is shown at once, on a sample, with three ways on."""

from __future__ import annotations

import streamlit as st

import engine
from engine import charts, compiling, views
from engine.demonstrating import recorded
from engine.demonstrating.recorded import Recorded
from pages.parts.drawing import figures, lecture, messages, text
from pages.parts.navigation.frame import through_app
from pages.parts.setup import spending
from pages.parts.visit import samples, session, study


@st.cache_resource(show_spinner=False)
def first_run() -> Recorded:
    """A finished run on the first sample, read from a file: the same for everybody."""
    return recorded.read(recorded.path(study.FIRST))


@st.cache_resource(show_spinner=False)
def strip_of_rounds() -> list[tuple[str, charts.Figure]]:
    """One released table as the run goes on, and the truth it never shows."""
    shown = first_run()
    domain, last = shown.run.release.domain, len(shown.run.rounds)
    first, second = (domain[i].name for i in shown.look)
    with compiling.for_a_picture():  # the first page waits for no compiler
        exact = views.comparison(shown.comparison(last))
        answers = {at: shown.run.at(at).estimate(*shown.look) for at in _moments(shown)}
    limits = charts.shared_limits(exact, "released", "exact")
    titles = {0: "Before round 1", last: f"After round {last}, the last"}
    strip = [
        charts.heatmap(
            views.released(answer), "released", (first, second),
            title=titles.get(at, f"After round {at}"), limits=limits, small=True,
        )
        for at, answer in answers.items()
    ]  # fmt: skip
    names = (first, second)
    strip.append(
        charts.heatmap(exact, "exact", names, title="The truth", limits=limits, small=True)
    )
    return [(f"frame_{k}", figure) for k, figure in enumerate(strip)]


def _moments(shown: Recorded) -> list[int]:
    """Before the first round, after the first that brought something new here, after the last."""
    last = len(shown.run.rounds)
    for at, event in enumerate((shown.run.events[0], *shown.run.rounds)):
        measured = getattr(event, "measurements", ())
        if any(set(shown.look) <= set(m.attrs) for m in measured):
            return sorted({0, at, last})
    return [0, last]


QUESTIONS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("What does the mechanism do to my numbers?", "learn", {"section": "tour"}),
    ("What do bounds and clamping bias?", "learn", {"section": "knobs", "knob": "bounds"}),
    ("What does the number of bins do?", "learn", {"section": "knobs", "knob": "bins"}),
    ("What do weights do?", "learn", {"section": "knobs", "knob": "weights"}),
    ("What with more than ten columns?", "compare", {"compare": "wins"}),
    ("Original beside released: how far off?", "marginals", {}),
    ("Which mistakes give people away?", "learn", {"section": "lab"}),
)


def questions(release: engine.Release) -> None:
    """What people ask of such tools, each answered one click away."""
    st.header("Questions people ask")
    st.caption("Each is answered one click away.")
    columns = st.columns(2)
    for k, (question, page, said) in enumerate(QUESTIONS):
        with columns[k % 2]:
            st.page_link(
                f"pages/{page}.py", label=question, icon=":material/help:", query_params=said
            )
    epsilon, delta = release.epsilon, release.delta
    if epsilon is None or delta is None:
        return
    box = st.expander(
        f"What does this ε = {epsilon:g} mean for one person?", icon=":material/help:",
        key="start_person", on_change="rerun",
    )  # fmt: skip
    if box.open:
        with box:
            rho = float(release.ledger.total)
            spending.risk(spending.Budget(epsilon, delta, rho), shown.sample)


through_app()
shown = first_run()
run, title = shown.run, samples.cards()[shown.sample].title
st.title("Private tables, one round at a time")
st.markdown(
    f"A mechanism answers **{len(run.release.workload.weights)} tables of counts** about "
    f"{text.plain(title)} without giving any person away. It looks for the table it knows "
    "worst, measures it with noise, mends everything that depends on it, and repeats until its "
    f"privacy budget (ε = {run.release.epsilon:g}) is spent. Below is a run of "
    f"{len(run.rounds)} rounds."
)

st.caption(
    "It is AIM+GReM in rounds, what was not measured completed by maximum entropy. Small tables "
    "can be measured all at once as well: a choice on Setup, where that promises more than rounds."
)

ways = st.columns(3)
with ways[0].container(border=True, height="stretch"):
    st.markdown("**Watch a run**")
    st.caption("Step through it, round by round: what was chosen, what it cost, what got better.")
    st.page_link("pages/rounds.py", label="Step it yourself", icon=":material/play_arrow:")
with ways[1].container(border=True, height="stretch"):
    st.markdown("**Teach a class**")
    st.caption("Same seed, same run on every screen. Arrow keys step, Space plays.")
    if st.button("Open the Titanic run", icon=":material/school:", key="teach"):
        session.start(lecture.class_run())
        st.switch_page("pages/rounds.py")
    st.page_link("pages/learn.py", label="Tour, figures, quiz", icon=":material/menu_book:")
with ways[2].container(border=True, height="stretch"):
    st.markdown("**Use my own table**")
    st.caption("A CSV, Excel or Parquet file; it stays in this session. Or only names, to plan.")
    st.page_link("pages/data.py", label="Load a table", icon=":material/table:")

questions(run.release)

names = " × ".join(text.plain(name) for name in (run.release.domain[i].name for i in shown.look))
st.header("One of the tables, as the run goes on")
st.caption(f"{names}, people in each cell. Same colours in every picture.")
for column, (key, figure) in zip(st.columns(4), strip_of_rounds(), strict=False):
    with column:
        figures.draw(figure, key, table=False)

left, right = st.columns([3, 2])
with left:
    spent = charts.ledger(views.budget(run.events[: len(run.rounds) + 1]), at=len(run.rounds))
    figures.draw(spent, "start_ledger")
    st.caption(
        "Each round pays twice: a little to choose a table (orange), the rest to measure it (blue)."
    )
with right:
    curve = views.errors(shown.errors, shown.records)
    figures.draw(charts.error_curve(curve, at=len(run.rounds)), "start_error")
st.caption(f"{messages.BANNER} (This is a public sample table.)")
