"""What will this workload cost? Tables, budget and expected error, before any record is read."""

from __future__ import annotations

import time

import numpy as np
import streamlit as st

import engine
from engine import charts, views
from pages.parts.drawing import code, figures, form, text
from pages.parts.navigation.frame import through_app
from pages.parts.setup import asking, foreseen, spending
from pages.parts.visit import samples, session, study

SLOW = 30.0


# -- what to expect --------------------------------------------------------------------------------


def _rows_known(sample: str, budget: spending.Budget) -> int | None:
    """A publicly known size to compare errors with; never counted from the records."""
    key = f"about_{sample}"
    st.session_state.setdefault(key, samples.choices()[sample].rows)
    rows = st.number_input(
        "About how many rows (public knowledge)", min_value=1, step=1, key=key,
        persist_state="session",
        help="Only to read errors as shares. It is what you declare, not counted here.",
    )  # fmt: skip
    if rows and budget.delta >= 1 / rows:
        st.warning(f"δ is not below 1 ÷ {rows:,}, the number of rows declared. Choose a smaller δ.")
    return int(rows) if rows else None


def _records(count: float) -> str:
    return f"{count:,.0f}" if count >= 100 else f"{count:.3g}"


def _share(error: float, rows: int | None) -> str:
    return f"{views.percent(error / rows)} of {rows:,} rows" if rows else "records"


def _expect(
    workload: engine.Workload, budget: spending.Budget, rows: int | None
) -> tuple[engine.Prediction, engine.Prediction]:
    """Say the predicted mean error, beside the slider."""
    planner = engine.ResidualPlanner().predict(workload, rho=budget.rho)
    split = engine.EqualSplit().predict(workload, rho=budget.rho)
    for column, name, error in zip(
        st.columns(2), ("ResidualPlanner", "Equal split"), (planner.mean_l1, split.mean_l1),
        strict=True,
    ):  # fmt: skip
        column.metric(
            f"Mean error, {name}", _records(error), _share(error, rows), delta_color="off",
            delta_arrow="off", border=True,
        )  # fmt: skip
    st.caption(
        "Expected L1 error of a table in records: all cells' errors added up, mean over the tables "
        "asked for. Answering zero everywhere errs by 100 %. AIM+GReM adapts to the data, so its "
        "error is known only afterwards; it is made for the cases where these two are large."
    )
    return planner, split


def _wanted(planner: engine.Prediction, budget: spending.Budget, rows: int | None) -> None:
    """The smallest epsilon for an error; from sizes alone."""
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    unit = "% of the rows" if rows else "records"
    st.session_state.setdefault("wanted", 10.0)
    wanted = left.number_input(
        f"Mean error wanted ({unit})", min_value=0.0, step=1.0, format="%g", key="wanted",
        persist_state="session",
    )  # fmt: skip
    records = wanted / 100 * rows if rows else wanted
    with right:
        if not records > 0:
            st.caption("Write an error above zero: noise never leaves none.")
            return
        try:
            epsilon = views.smallest_epsilon(
                planner.mean_l1, wanted=records, rho=budget.rho, delta=budget.delta
            )
            engine.rho_from(epsilon=epsilon, delta=budget.delta)
        except engine.EngineError:
            st.caption("No ε up to 1000 comes to that. Ask for fewer tables, or a larger error.")
            return
        st.button(
            f"Needs ε = {epsilon:.4g} with ResidualPlanner: use it", key="use_wanted",
            on_click=study.put, args=("epsilon", epsilon),
        )  # fmt: skip


def _figures(
    workload: engine.Workload,
    budget: spending.Budget,
    both: tuple[engine.Prediction, engine.Prediction],
) -> None:
    planner, split = both
    left, right = st.columns(2, gap="large")
    with left:
        epsilons = np.geomspace(0.01, 100, 17).tolist()
        curve = views.predicted_curve(
            planner.mean_l1, split.mean_l1, rho=budget.rho, delta=budget.delta, epsilons=epsilons
        )
        at = (planner.mean_l1, split.mean_l1)
        figure = charts.predicted_curve(curve, epsilon=budget.epsilon, at=at)
        figures.draw(figure, "predicted_curve")
    with right:
        frame = views.predicted(workload, planner.expected_l1, split.expected_l1)
        figures.draw(charts.predicted(frame), "predicted")


# -- what it costs, and the start ------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def slowness() -> float:
    """How much slower this machine is than the one the seconds of ``views.cost`` come from."""
    a = np.ones(1_000_000)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        np.add(a, a, out=a)
        times.append(time.perf_counter() - began)
    return float(min(max(min(times) / 6e-4, 0.5), 10.0))


def _mechanism() -> None:
    left, right = st.columns([3, 1])
    with left:
        form.mechanism()
    with right:
        form.seed()


def _cost(mechanism: str, workload: engine.Workload) -> None:
    cost = views.cost(session.MECHANISMS[mechanism].make(), workload, slowness=slowness())
    shown = (
        ("Tables asked for", f"{cost.marginals:,}", f"{cost.cells:,} cells"),
        ("With their subsets", f"{cost.all_marginals:,}", f"{cost.all_cells:,} cells"),
        ("Rounds, at most", f"{cost.rounds:,}", "often far fewer" if cost.rounds > 1 else "one"),
        ("Time, at most about", _time(cost.seconds), "charts not counted"),
        ("Memory, about", _memory(cost.memory), "beyond the app itself"),
    )
    for column, (label, value, more) in zip(st.columns(5), shown, strict=True):
        column.metric(label, value, more, delta_color="off", delta_arrow="off")
    if cost.seconds > SLOW:
        st.info(
            f"To its end this run takes up to {_time(cost.seconds)}. It can be stopped at any "
            "round and keeps what it has. Fewer attributes or smaller tables are faster.",
            icon=":material/hourglass:",
        )


def _time(seconds: float) -> str:
    if seconds < 1:
        return "1 s"
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _memory(amount: int) -> str:
    return f"{max(amount / 1e6, 1):,.0f} MB"


def _start(*, ready: bool) -> None:
    begin = st.button(
        "Start this run", type="primary", key="plan_start", icon=":material/play_arrow:",
        disabled=not ready, help="Reads the records, and opens Rounds.",
    )  # fmt: skip
    if not ready:
        st.caption("Mend what is marked above, then a run can start.")
    if begin and ready:
        if form.start():
            st.switch_page("pages/rounds.py")
        refusal = session.visit().refusal
        if refusal is not None:
            st.error(text.plain(refusal[1], longest=600), icon=":material/error:")


# -- the page --------------------------------------------------------------------------------------

through_app()
st.title("Setup")
st.markdown(
    ":blue-badge[■ public] Everything here follows from sizes and settings alone. "
    "**No record is read** before a run starts."
)
st.header("1 · What is asked for")
left, right = st.columns(2, gap="large")
workload = None
with left:
    domain = asking.domain()
    if domain is not None:
        asking.ask(domain)
        workload = asking.workload(domain)
with right:
    if domain is not None:
        asking.grid(domain, workload)

sample = study.here().sample
st.header("2 · How private, how accurate")
left, right = st.columns(2, gap="large")
with left:
    budget = spending.budget()
    if budget is not None:
        rows = _rows_known(sample, budget)
        if workload is not None:
            both = _expect(workload, budget, rows)
with right:
    if budget is not None:
        spending.risk(budget, sample)

if workload is not None and budget is not None:
    st.header("3 · What to expect")
    _wanted(both[0], budget, rows)
    _figures(workload, budget, both)
    foreseen.show(workload, budget.rho, rows)

st.header("4 · What it costs, and the start")
_mechanism()
ready = workload is not None and budget is not None
if workload is not None:
    _cost(study.here().mechanism, workload)
_start(ready=ready)
if ready:
    code.show(code.setup(study.settings()), "setup")
