"""What will this workload cost? Tables, budget and expected error, before any record is read."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

import engine
from engine import charts, views
from pages.parts import code, figures, form, samples, session, study, text
from pages.parts.frame import through_app

# Ten stops a decade, evenly apart on a log scale. (No text below: Streamlit would show it.)
STOPS = [round(base * 10.0**power, 6) for power in (-2, -1, 0, 1)
         for base in (1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)] + [100.0]  # fmt: skip
WEIGHTS = {
    "much less accurate": 0.25,
    "less accurate": 0.5,
    "like the others": 1.0,
    "more accurate": 2.0,
    "much more accurate": 4.0,
}
MOST_IN_GRID = 20
CAUTION, ALMOST_NONE = 5.0, 10.0  # cautioned against above these; small ones never are
SLOW = 30.0


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent."""

    epsilon: float
    delta: float
    rho: float


# -- what is asked for -----------------------------------------------------------------------------


def _domain() -> engine.Domain | None:
    """Choose table and attributes; no domain if none is chosen."""
    form.table()
    form.attributes()
    if not study.attributes():
        st.error("No attribute is chosen; at least one is needed. Choose one above.")
        return None
    return samples.domain(study.here().sample).select(*study.attributes())


def _ask(domain: engine.Domain) -> None:
    """Choose the tables asked for."""
    now = study.here()
    st.session_state["plan_kind"] = "my own list" if now.listed else "all of one size"
    st.segmented_control(
        "Which tables", ["all of one size", "my own list"], key="plan_kind", required=True,
        on_change=_change_kind,
    )  # fmt: skip
    if now.listed:
        _own_list(domain)
    else:
        form.degree()


def _change_kind() -> None:
    """Switch the kind; the first own list starts from the tables asked for until then."""
    now = study.here()
    now.listed = st.session_state["plan_kind"] == "my own list"
    if now.listed and not study.asked():
        study.add_all(now.degree)


def _own_list(domain: engine.Domain) -> None:
    """Any table, each with a weight; by keyboard here, by a click in the grid beside."""
    asked, sample = study.asked(), study.here().sample
    st.caption("Add or remove any table here, or click on squares of the grid.")
    left, right = st.columns(2)
    with left:
        wanted = st.multiselect(
            "One table over", list(domain.names), key=f"one_table_{sample}", max_selections=6,
            persist_state="session", placeholder="Choose its attributes", format_func=form.named,
        )  # fmt: skip
    with right:
        word = st.select_slider(
            "It shall be", list(WEIGHTS), value="like the others", key="weight_word",
            persist_state="session",
            help="How the error is shared out among the tables. The privacy is that of ε alone: "
            "a weight protects nobody more or less.",
        )  # fmt: skip
        st.caption("less accurate ↔ more accurate")
    names = tuple(name for name in domain.names if name in wanted)
    with st.container(horizontal=True):
        st.button(
            "Change it" if names in asked else "Add it", key="own_add", disabled=not names,
            icon=":material/add:", on_click=_put, args=(names, WEIGHTS[word]),
        )  # fmt: skip
        st.button(
            "Remove it", key="own_remove", disabled=names not in asked, icon=":material/remove:",
            on_click=_take, args=(names,),
        )  # fmt: skip
        for degree in (1, 2, 3):
            st.button(
                f"All {form.KWAYS[degree]}", key=f"own_all_{degree}", on_click=study.add_all,
                args=(degree,), disabled=degree > len(domain),
                help="Adds those that are not there yet.",
            )  # fmt: skip
        st.button("None", key="own_none", on_click=asked.clear, disabled=not asked)
    _listed(asked, domain)


def _put(names: tuple[str, ...], weight: float) -> None:
    study.asked()[names] = weight


def _take(names: tuple[str, ...]) -> None:
    study.asked().pop(names, None)


def _listed(asked: dict[tuple[str, ...], float], domain: engine.Domain) -> None:
    waiting = [names for names in asked if not set(names) <= set(domain.names)]
    there = len(asked) - len(waiting)
    if not there:
        st.error("No table is asked for; at least one is needed. Add one, or all pairs.")
    if waiting:
        st.info(
            f"{len(waiting):,} tables of your list wait: an attribute of theirs is not chosen now. "
            "They are kept."
        )
    if there:
        words = {weight: word for word, weight in WEIGHTS.items()}
        with st.expander(f"Your list: {there:,} tables", key="own_listed"):
            lines = [
                " × ".join(text.plain(form.named(name)) for name in names)
                + f" · {words.get(weight, f'weight {weight:g}')}"
                for names, weight in asked.items()
                if names not in waiting
            ]
            st.markdown("\n".join(f"- {line}" for line in lines[:100]))
            if len(lines) > 100:
                st.caption(f"and {len(lines) - 100:,} more")


def _grid(domain: engine.Domain, workload: engine.Workload | None) -> None:
    """Attributes by attributes: what is asked for, and what is within it."""
    if len(domain) > MOST_IN_GRID:
        st.caption(f"The grid of pairs is drawn for at most {MOST_IN_GRID} attributes.")
        return
    own = study.here().listed
    frame = views.asked(domain, workload.weights if workload else {})
    # A click is an event, not a state: a fresh chart after each one.
    key = f"asked_{st.session_state.setdefault('asked_clicks', 0)}"
    figure = charts.asked(frame, domain.names, pick=own)
    figures.draw(figure, key, on_pick=_clicked if own else None)


def _clicked() -> None:
    """Add the squares clicked on, or remove them if they are there."""
    names_now = study.attributes()
    for square in figures.picked(f"asked_{st.session_state['asked_clicks']}"):
        positions = sorted({int(square["first"]), int(square["second"])})
        names = tuple(names_now[i] for i in positions if i < len(names_now))
        if names in study.asked():
            _take(names)
        else:
            _put(names, 1.0)
    st.session_state["asked_clicks"] += 1


def _workload(domain: engine.Domain) -> engine.Workload | None:
    """The workload, or what is wrong with it and a way out."""
    now = study.here()
    tables = tuple((a, w) for a, w in study.asked().items() if set(a) <= set(domain.names))
    if now.listed and not tables:
        return None
    wanted = study.Settings(
        now.sample, domain.names, now.degree, marginals=tables if now.listed else ()
    )
    try:
        return wanted.workload(domain)
    except engine.EngineError as error:
        st.error(text.plain(error, longest=600), icon=":material/error:")
        if not now.listed:
            _remedy(wanted, domain)
        return None


def _remedy(settings: study.Settings, domain: engine.Domain) -> None:
    """Offer the largest degree that is possible."""
    for degree in range(min(settings.degree, len(domain) + 1) - 1, 0, -1):
        try:
            workload = replace(settings, degree=degree).workload(domain)
        except engine.EngineError:
            continue
        st.button(
            f"Ask for all {form.KWAYS[degree]} tables instead ({workload.cells:,} cells)",
            key="plan_remedy", on_click=_set, args=("degree", degree),
        )  # fmt: skip
        return


def _set(field: str, value: object) -> None:
    setattr(study.here(), field, value)


# -- the budget ------------------------------------------------------------------------------------


def _budget() -> Budget | None:
    """Epsilon by slider or number, delta, and rho in both directions; None if one is refused."""
    epsilon = study.here().epsilon
    st.session_state["epsilon_stop"] = _nearest(float(epsilon or 1.0))
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.caption("← more private", width="content")
        st.caption("more accurate →", width="content")
    st.select_slider(
        "ε (log scale)", STOPS, key="epsilon_stop", format_func=lambda stop: f"{stop:g}",
        on_change=_from_slider, label_visibility="collapsed",
    )  # fmt: skip
    first, second, third = st.columns(3)
    with first:
        form.epsilon()
    with second:
        form.delta()
    budget, refusal = _read(epsilon, study.here().delta)
    with third:
        st.session_state["rho"] = budget.rho if budget else None
        st.number_input(
            "ρ (zCDP)", format="%.6g", key="rho", on_change=_from_rho, step=None,
            help="What the mechanism spends. It follows from ε and δ; written here, ε follows.",
        )  # fmt: skip
    refused = st.session_state.pop("rho_refused", None)
    for message in filter(None, (refusal, refused)):
        st.error(text.plain(message, longest=600), icon=":material/error:")
    return budget


def _nearest(epsilon: float) -> float:
    if not epsilon > 0:
        return STOPS[0]
    return min(STOPS, key=lambda stop: abs(math.log(stop / epsilon)))


def _from_slider() -> None:
    study.here().epsilon = st.session_state["epsilon_stop"]


def _from_rho() -> None:
    """The epsilon of the rho that was written; a refusal leaves epsilon as it is."""
    try:
        rho, delta = st.session_state["rho"], float(study.here().delta)
        epsilon = engine.epsilon_from(rho=rho, delta=delta)
        engine.rho_from(epsilon=epsilon, delta=delta)
        study.here().epsilon = epsilon
    except (engine.EngineError, ValueError) as error:
        st.session_state["rho_refused"] = str(error)


def _read(epsilon: float | None, written: str) -> tuple[Budget | None, str | None]:
    try:
        delta = float(written)
    except ValueError:
        return None, "δ is no number; write one, for example 1e-9."
    try:
        rho = engine.rho_from(epsilon=epsilon, delta=delta)  # type: ignore[arg-type]
    except engine.EngineError as error:
        return None, str(error)
    assert epsilon is not None
    return Budget(float(epsilon), delta, rho), None


def _risk(budget: Budget, sample: str) -> None:
    """Say in odds what an onlooker can learn, for a person with one row or several."""
    card = samples.choices()[sample]
    st.session_state.setdefault("prior", 10)
    prior = st.slider(
        "Somebody's belief beforehand that a certain person is in the table", 1, 99,
        key="prior", format="%d %%", persist_state="session",
    )  # fmt: skip
    st.session_state.setdefault("rows_each", 1)
    each = st.number_input(
        "Rows of one person, at most", min_value=1, max_value=100, step=1, key="rows_each",
        persist_state="session",
        help="The guarantee is for one row. k rows of one person cost k² times the ρ.",
    )  # fmt: skip
    try:
        rho = budget.rho * each**2
        epsilon = budget.epsilon if each == 1 else engine.epsilon_from(rho=rho, delta=budget.delta)
    except engine.EngineError as error:
        st.error(text.plain(error))
        return
    odds = views.odds(prior=prior / 100, epsilon=epsilon, rho=rho)
    with st.container(border=True, key="risk"):
        st.markdown(
            f"From **{prior} %** to **at most {views.percent(odds.most)}** "
            f"(and at least {views.percent(odds.least)}): so far can everything released move "
            "that belief, whatever else is known."
        )
        st.caption(
            f"The odds grow by e^ε = {math.exp(min(epsilon, 700)):.3g} at most. This bound fails "
            f"only in outcomes with a probability of {_tiny(odds.exception)} together; δ = "
            f"{_tiny(budget.delta)} is the slack of the (ε, δ) promise."
        )
    who = f"Protected: one row, {text.plain(card.row_is)}, added or removed."
    if each > 1:
        who += f" A person with {each} rows has ρ = {rho:.4g} and ε = {epsilon:.3g}."
    st.caption(who)
    if epsilon >= ALMOST_NONE:
        st.error(f"ε = {epsilon:.3g} offers almost no protection.", icon=":material/lock_open:")
    elif epsilon > CAUTION:
        st.warning(
            f"ε = {epsilon:.3g} protects little: odds may grow {math.exp(epsilon):,.0f}-fold.",
            icon=":material/lock_open:",
        )


def _tiny(number: float) -> str:
    """Write 1e-9 as people do."""
    return f"{number:.1g}".replace("e-0", "e-")


# -- what to expect --------------------------------------------------------------------------------


def _rows_known(sample: str, budget: Budget) -> int | None:
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
    workload: engine.Workload, budget: Budget, rows: int | None
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


def _wanted(planner: engine.Prediction, budget: Budget, rows: int | None) -> None:
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
            on_click=_set, args=("epsilon", epsilon),
        )  # fmt: skip


def _figures(
    workload: engine.Workload, budget: Budget, both: tuple[engine.Prediction, engine.Prediction]
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
st.subheader("1 · What is asked for")
left, right = st.columns(2, gap="large")
workload = None
with left:
    domain = _domain()
    if domain is not None:
        _ask(domain)
        workload = _workload(domain)
with right:
    if domain is not None:
        _grid(domain, workload)

sample = study.here().sample
st.subheader("2 · How private, how accurate")
left, right = st.columns(2, gap="large")
with left:
    budget = _budget()
    if budget is not None:
        rows = _rows_known(sample, budget)
        if workload is not None:
            both = _expect(workload, budget, rows)
with right:
    if budget is not None:
        _risk(budget, sample)

if workload is not None and budget is not None:
    st.subheader("3 · What to expect")
    _wanted(both[0], budget, rows)
    _figures(workload, budget, both)

st.subheader("4 · What it costs, and the start")
_mechanism()
ready = workload is not None and budget is not None
if workload is not None:
    _cost(study.here().mechanism, workload)
_start(ready=ready)
if ready:
    code.show(code.setup(study.settings()), "setup")
