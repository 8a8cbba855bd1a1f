"""What lies a click away from the cockpit: measured values, answers, one table, the account."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import streamlit as st

import engine
from engine import charts, views
from engine.types import AttributeSet
from pages.parts.drawing import figures, messages, text
from pages.parts.rounds import cockpit, lane, why
from pages.parts.visit import session

MORE = "rounds_more"


def show(run: session.Watched, view: int) -> None:
    """One part at a time; which one is remembered, and the others are not made."""
    if session.visit().marginal is not None:  # a link asked for a table
        st.session_state.setdefault(MORE, "table")
    wanted = st.pills(
        "More of this round", list(PARTS), key=MORE, persist_state="session",
        format_func=lambda name: PARTS[name][0], label_visibility="collapsed",
    )  # fmt: skip
    if wanted is not None:
        PARTS[wanted][1](run, view)


# -- the round -------------------------------------------------------------------------------------


def measured(run: session.Watched, view: int) -> None:
    """Why in full, and every value that came back."""
    why.in_full(run, view)
    event = run.moments[view].event
    inside = list(event.measurements) if not isinstance(event, engine.Finished) else []
    if isinstance(event, engine.RoundEnded):
        gamma = set(cockpit.shown(run, event))
        inside = [m for m in inside if set(m.attrs) <= gamma]
    if inside:
        figures.draw(charts.measured(views.measured(inside, run.domain)), "measured")


def changed(run: session.Watched, view: int) -> None:
    """Which answers a round moved, and how many cells it had to write."""
    event = run.moments[view].event
    if not isinstance(event, engine.RoundEnded):
        st.caption("No round has changed an answer yet.")
        return
    before, after = run.moments[view - 1].state.beliefs, run.moments[view].state.beliefs
    frame = views.touched(before, after, event, run.workload)
    figures.draw(charts.touched(frame, run.domain.names, threshold=event.threshold), "touched")
    if event.work.cells:
        total = run.workload.layout.total_cells
        st.caption(
            f"Lazy update: {event.work.cells:,} of {total:,} cells were rewritten "
            f"({views.percent(event.work.cells / total)}); a full one rewrites them all."
        )


def one_table(run: session.Watched, view: int) -> None:
    """Any table at this round: true, private and their difference."""
    event = run.moments[view].event
    chosen = getattr(event, "selected", None) or run.workload.marginals[0]
    sets = [attrs for attrs in run.workload.closure if attrs]
    asked = _asked_for(run, sets)
    if asked and f"look_{run.number}" not in st.session_state:
        st.session_state[f"look_{run.number}"] = asked
    with st.container(horizontal=True, vertical_alignment="bottom"):
        look = st.selectbox(
            "Table", [0, *range(1, len(sets) + 1)], key=f"look_{run.number}", width=420,
            format_func=lambda k: run.domain.label(sets[k - 1]) if k else "the one just chosen",
        )  # fmt: skip
        gamma = sets[look - 1] if look else chosen
        gamma, at = _flat(run, gamma)
        unit = st.segmented_control(
            "Difference in", ["records", "noise σ"], default="records", required=True,
            key="unit", persist_state="session",
        )  # fmt: skip
    session.visit().marginal = _looked_at(run)
    estimate = run.release(view).estimate(*gamma)
    if len(gamma) - len(at) == 1:
        _draw_bars(run, estimate, gamma)
    else:
        _draw_trio(run, estimate, at, "difference_sd" if unit == "noise σ" else "difference")


def _looked_at(run: session.Watched) -> tuple[str, ...] | None:
    """Names of the table chosen to look at; None if it is whatever the round chose."""
    look = st.session_state.get(f"look_{run.number}")
    if look is None:
        return session.visit().marginal
    attrs = [a for a in run.workload.closure if a][look - 1] if look else ()
    return tuple(run.domain[i].name for i in attrs) or None


def _asked_for(run: session.Watched, sets: list[AttributeSet]) -> int:
    """Position of the table that a link asked for; 0 if none did."""
    names = session.visit().marginal
    if names is None or not set(names) <= set(run.domain.names):
        return 0
    attrs = run.domain.attrs(*names)
    return sets.index(attrs) + 1 if attrs in sets else 0


def _flat(run: session.Watched, gamma: AttributeSet) -> tuple[AttributeSet, dict[int, int]]:
    """Choose two attributes to look at; of three, the third may be held at one value."""
    if len(gamma) < 3:
        return gamma, {}
    domain = run.domain
    pairs = sorted(combinations(gamma, 2), key=domain.cells, reverse=True)
    pair = st.selectbox(
        "Seen along", pairs, format_func=domain.label, key=f"pair_{run.number}_{gamma}", width=320
    )
    if len(gamma) > 3:
        return pair, {}
    third = next(i for i in gamma if i not in pair)
    labels = domain[third].labels
    value = st.selectbox(
        f"{text.plain(domain[third].name)} is", [-1, *range(len(labels))],
        format_func=lambda k: "anything (summed)" if k < 0 else labels[k],
        key=f"slice_{run.number}_{gamma}_{third}", width=240,
    )  # fmt: skip
    return (pair, {}) if value < 0 else (gamma, {third: value})


def _draw_bars(run: session.Watched, estimate: engine.Estimate, gamma: AttributeSet) -> None:
    frame = views.released(estimate)
    if not figures.hidden():
        frame = views.comparison(engine.compare(estimate, run.private))
    name = run.domain[gamma[0]].name
    figures.draw(charts.bars(frame, name, title="Released and true" if not figures.hidden() else
                             "Released"), "bars")  # fmt: skip


def _draw_trio(
    run: session.Watched, estimate: engine.Estimate, at: dict[int, int], difference: str
) -> None:
    first, second = (run.domain[i].name for i in estimate.attrs if i not in at)
    names = (first, second)
    if figures.hidden():
        frame = views.released(estimate, at)
        figures.draw(charts.heatmap(frame, "released", names, title="Private"), "private")
        st.caption("True counts and differences are hidden.")
        return
    frame = views.comparison(engine.compare(estimate, run.private), at)
    limits = charts.shared_limits(frame, "exact", "released")
    left, middle, right = st.columns(3)
    with left:
        figures.draw(charts.heatmap(frame, "exact", names, title="True", limits=limits), "true")
    with middle:
        figure = charts.heatmap(frame, "released", names, title="Private", limits=limits)
        figures.draw(figure, "private", keep=True)
    with right:
        title = "Private less true"
        figures.draw(charts.heatmap(frame, difference, names, title=title), "difference")
    st.caption(messages.NEGATIVE if estimate.completion is None else messages.COMPLETED)


def account(run: session.Watched, view: int) -> None:
    """The sum of all charges, each as an exact fraction."""
    frame, ledger = views.budget(run.events(view)), run.release(view).ledger
    spent, left = float(ledger.spent), float(ledger.left)
    delta = run.settings.delta
    person = run.release(view).rho_of_a_person
    so_far = engine.epsilon_from(rho=person, delta=delta) if person else 0.0
    total = float(ledger.total)
    st.markdown(
        f"spent **{spent:.12g}** + left **{_rest(left, total)}** = total **{total:.12g}** "
        f"in ρ, exactly. Spent so far: ε = {so_far:.4g} at δ = {delta:g}."
    )
    box = st.expander("Every charge as an exact fraction", key="fractions", on_change="rerun")
    if box.open:
        names = {-1: "", 0: "before"}
        lines = [
            f"{names.get(number, number):>7}  {part:<8} {exact}"
            for number, part, exact in zip(
                frame["round"], frame["part"], frame["exact"], strict=True
            )
        ]
        box.code("\n".join([*lines, f"{'':>7}  {'total':<8} {ledger.total}"]), language=None)
    sentence = messages.rerun_sentence(run)
    if sentence is not None:
        st.info(text.plain(sentence), icon=":material/functions:")


def _rest(left: float, total: float) -> str:
    """What is left; what rounding down to the ledger's fractions leaves is as good as nothing."""
    return "0" if left < 1e-12 * total else f"{left:.12g}"


def numbers(run: session.Watched, view: int) -> None:
    """The numbers behind the cockpit's pictures, as tables."""
    figures.table(charts.ledger(views.budget(run.events(view)), at=view))
    figures.table(charts.error_curve(views.errors(run.errors(), run.records), at=view,
                                     normalized=run.records > 0))  # fmt: skip
    event, seen = run.moments[view].event, run.moments[view].seen
    if not isinstance(event, engine.RoundEnded):
        return
    figures.table(charts.lattice(views.allocation(event, run.domain, cockpit.shown(run, event))))
    if seen is not None:
        frame = views.selection(seen, run.domain, event.selected)
        figures.table(
            charts.selection(frame, others=seen.others, others_probability=seen.others_probability)
        )


Part = tuple[str, Callable[[session.Watched, int], None]]
PARTS: dict[str, Part] = {
    "measured": ("What was measured", measured),
    "changed": ("Answers that changed", changed),
    "table": ("One table, closely", one_table),
    "beside": ("Beside ResidualPlanner", lane.show),
    "numbers": ("All numbers", numbers),
    "account": ("Account", account),
}
