"""What is the answer, how sure? Any table at any round, beside the truth and its own noise."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

import engine
from engine import charts, views
from engine.types import AttributeSet
from pages.parts.drawing import code, figures, form, messages, text
from pages.parts.navigation import strip
from pages.parts.navigation.frame import through_app
from pages.parts.visit import samples, session, study

if TYPE_CHECKING:
    import pandas as pd

FORMS: dict[str, Callable[[engine.Estimate], engine.Estimate] | None] = {
    "raw": None,
    "clip": engine.clip,
    "simplex": engine.simplex,
}
FORM_SAYS = {
    "raw": messages.NEGATIVE,
    "clip": "Negative counts were set to zero and the rest scaled to the estimated total. Nothing "
    "was spent for that, but sums over cells are biased now.",
    "simplex": "Moved to the nearest table without negative counts and with the estimated total. "
    "Nothing was spent for that, but sums over cells are biased now.",
}
MOST_SLICES = 8


def empty() -> None:
    """Nothing was run: say what there would be, and lead there."""
    title = text.plain(samples.choices()[study.here().sample].title, longest=60)
    st.info(
        f"No run of **{title}** yet, so there is no answer to look at. Here you will see every "
        "table that a run answers, at any round: true, private and their difference, and how sure: "
        "with intervals where noise alone decides, or with the reason why there are none.",
        icon=":material/grid_on:",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Run it to its end", type="primary", key="marginals_run"):
            _run_to_the_end()
        st.page_link("pages/plan.py", label="Set up a run", icon=":material/tune:")
        st.page_link("pages/rounds.py", label="Step through one", icon=":material/replay:")


def _run_to_the_end() -> None:
    here = session.visit()
    if not form.start():
        if here.refusal is not None:
            st.error(text.plain(here.refusal[1], longest=600), icon=":material/error:")
        return
    with st.spinner("Running…"):
        while here.run is not None and session.advance(here.run.token):
            pass
    assert here.run is not None
    here.look_at(here.run.rounds)
    st.rerun()


# -- which table, at which round -------------------------------------------------------------------


def choose(run: session.Watched) -> AttributeSet:
    """Pick a table and a round."""
    here = session.visit()
    sets = [attrs for attrs in run.workload.closure if attrs]
    st.session_state.setdefault("marginal", _first(run))
    if st.session_state["marginal"] not in sets:
        st.session_state["marginal"] = _first(run)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        chosen = st.selectbox(
            f"Table (type to search {len(sets):,})", sets, key="marginal",
            format_func=run.domain.label, persist_state="session",
        )  # fmt: skip
    with right:
        if run.rounds:
            st.session_state["marginals_round"] = min(here.view, run.rounds)
            st.slider(
                f"After round (of {run.rounds} done)", 0, run.rounds, key="marginals_round",
                on_change=_seek, help="0 is before the first round. Looking back draws no noise.",
            )  # fmt: skip
    return chosen


def _first(run: session.Watched) -> AttributeSet:
    pairs = [attrs for attrs in run.workload.closure if len(attrs) == 2]
    return pairs[0] if pairs else next(attrs for attrs in run.workload.closure if attrs)


def _seek() -> None:
    here = session.visit()
    here.look_at(int(st.session_state["marginals_round"]))
    here.playing = False


def slice_of(run: session.Watched, gamma: AttributeSet) -> tuple[AttributeSet, dict[int, int]]:
    """Two attributes to draw; every other one summed over, or held at one value.

    Returns:
        The table to answer, and where to cut it.
    """
    if len(gamma) < 3:
        return gamma, {}
    domain = run.domain
    name = f"{run.number}_{gamma}"
    pairs = sorted(combinations(gamma, 2), key=domain.cells, reverse=True)
    columns = st.columns(len(gamma) - 1)
    pair = columns[0].selectbox(
        "Seen along",
        pairs,
        format_func=domain.label,
        key=f"along_{name}",
        persist_state="session",
    )
    at: dict[int, int] = {}
    for column, other in zip(columns[1:], [i for i in gamma if i not in pair], strict=True):
        value = _held(column, domain[other], f"held_{name}_{other}")
        if value >= 0:
            at[other] = value
    return tuple(sorted({*pair, *at})), at


def _held(column: Any, attribute: engine.Attribute, key: str) -> int:
    """The value an attribute is held at; -1 to sum over it."""
    labels = attribute.labels
    chosen: int = column.selectbox(
        f"{text.plain(attribute.name)} is", [-1, *range(len(labels))], key=key,
        persist_state="session",
        format_func=lambda k: "anything (summed)" if k < 0 else labels[k],
    )  # fmt: skip
    return chosen


def how(estimate: engine.Estimate, *, heat: bool) -> tuple[str, charts.Scale, str]:
    """Choose form, scale and the difference's unit."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        form = st.segmented_control(
            "Counts", list(FORMS), default="raw", required=True, key="form",
            persist_state="session", help="Raw: as estimated. Clip, simplex: no negative counts.",
        )  # fmt: skip
        legal = ["linear", "symlog"]
        if heat and float(_formed(estimate, form).values.min()) > 0:
            legal.append("log")
        if st.session_state.get("scale", "linear") not in legal:
            st.session_state["scale"] = "linear"
        scale = st.segmented_control(
            "Scale", legal, default="linear", required=True, key="scale", persist_state="session",
            help="Logarithms need counts above zero; symlog shows zero and below too.",
        )  # fmt: skip
        unit = "records"
        if heat and not figures.hidden() and form == "raw" and estimate.std:
            unit = st.segmented_control(
                "Difference in", ["records", "noise σ"], default="records", required=True,
                key="unit", persist_state="session",
            )  # fmt: skip
        st.toggle("Hide what is not private", key=figures.HIDE, persist_state="session")
    return form, cast("charts.Scale", scale), unit


def _formed(estimate: engine.Estimate, form: str) -> engine.Estimate:
    change = FORMS[form]
    return change(estimate) if change else estimate


# -- the answer ------------------------------------------------------------------------------------


def show(run: session.Watched, gamma: AttributeSet) -> None:
    """The table, as private as the visitor wants to see it."""
    at_round = min(session.visit().view, run.rounds)
    answered, at = slice_of(run, gamma)
    raw = run.release(at_round).estimate(*answered)
    heat = len(answered) - len(at) == 2
    form, scale, unit = how(raw, heat=heat)
    estimate = _formed(raw, form)
    _said(raw, form)
    compared = None if figures.hidden() else engine.compare(estimate, run.private)
    if heat:
        _trio(run, estimate, compared, at, scale, unit)
        _slices(run, estimate, gamma, answered, at, scale)
    else:
        _bars(run, estimate, compared, scale)
    _coverage(run, estimate, compared, at)
    names = [run.domain[i].name for i in answered]
    completion = None if form == "raw" else form
    code.show(code.answer(run.settings, names, at=at_round, completion=completion), "marginals")


def _said(raw: engine.Estimate, form: str) -> None:
    negative = int((raw.values < 0).sum())
    found = f"{negative:,} of {raw.values.size:,} raw cells are below zero. "
    said = FORM_SAYS[form]
    if form == "raw" and raw.completion is not None:
        said = messages.COMPLETED
    st.caption((found if negative else "") + said)


def _bars(
    run: session.Watched,
    estimate: engine.Estimate,
    compared: engine.Comparison | None,
    scale: charts.Scale,
) -> None:
    frame = views.released(estimate) if compared is None else views.comparison(compared)
    name = run.domain[estimate.attrs[0]].name
    title = "Released" if compared is None else "Released and true"
    plain: charts.Scale = "symlog" if scale == "symlog" else "linear"
    figures.draw(charts.bars(frame, name, title=title, scale=plain), "marginal_bars")


def _trio(
    run: session.Watched,
    estimate: engine.Estimate,
    compared: engine.Comparison | None,
    at: dict[int, int],
    scale: charts.Scale,
    unit: str,
) -> None:
    first, second = (run.domain[i].name for i in estimate.attrs if i not in at)
    names = (first, second)
    key = f"{estimate.attrs}_{at}"
    points = [
        (int(point["i0"]), int(point["i1"]))
        for name in ("true", "private", "difference")
        for point in figures.picked(f"{name}_{key}")
    ]
    if compared is None:
        frame = views.released(estimate, at)
        figure = charts.heatmap(
            frame, "released", names, title="Private", scale=scale, pick=True, marked=points
        )
        figures.draw(figure, f"private_{key}", on_pick=_nothing)
        st.caption("True counts and differences are hidden.")
        _picked_cells(frame, names, points)
        return
    frame = views.comparison(compared, at)
    _side_by_side(frame, names, key, points, scale, unit)
    _picked_cells(frame, names, points)


def _side_by_side(
    frame: pd.DataFrame,
    names: tuple[str, str],
    key: str,
    points: list[tuple[int, int]],
    scale: charts.Scale,
    unit: str,
) -> None:
    """True, private, and their difference; the first two share their colours."""
    limits = charts.shared_limits(frame, "exact", "released")
    kind = "difference_sd" if unit == "noise σ" else "difference"
    three = (
        ("exact", "True", "true"),
        ("released", "Private", "private"),
        (kind, "Private less true", "difference"),
    )
    for column, (what, title, name) in zip(st.columns(3), three, strict=True):
        with column:
            figure = charts.heatmap(
                frame, what, names, title=title, limits=None if what == kind else limits,
                scale=scale, pick=True, marked=points,
            )  # fmt: skip
            figures.draw(figure, f"{name}_{key}", keep=True, on_pick=_nothing)


def _nothing() -> None:
    """A click only runs the page again, which reads it."""


def _picked_cells(
    frame: pd.DataFrame, names: tuple[str, str], points: list[tuple[int, int]]
) -> None:
    """The cells clicked on, in numbers; without a click, how to get there."""
    chosen = views.cells_at(frame, points)
    if not len(chosen):
        st.caption("Click on cells (with Shift: several) to compare them here in numbers.")
        return
    chosen = chosen.assign(
        low=chosen["released"] - 1.96 * chosen["std"],
        high=chosen["released"] + 1.96 * chosen["std"],
    )
    certain = bool((chosen["std"] > 0).all())  # else completed, or not measured yet
    columns = {"c0": names[0], "c1": names[1] + "\u200b" * (names[0] == names[1])}
    columns |= {"released": "private"}
    columns |= {"low": "95 % from", "high": "to"} if certain else {}
    if "exact" in chosen:
        columns |= {"exact": "true", "difference": "difference"}
        columns |= {"difference_sd": "in noise σ"} if certain else {}
    known = "" if certain else "; no interval is known"
    st.markdown(f"**Cells clicked on** (records{known})")
    rounded = chosen[list(columns)].round({c: 2 if c == "difference_sd" else 1 for c in columns})
    figures.rows(rounded.set_axis(list(columns.values()), axis=1))


def _slices(
    run: session.Watched,
    estimate: engine.Estimate,
    gamma: AttributeSet,
    answered: AttributeSet,
    at: dict[int, int],
    scale: charts.Scale,
) -> None:
    """The slices of a table of three attributes, side by side."""
    if len(gamma) != 3:
        return
    shown = [i for i in answered if i not in at]
    third = next(i for i in gamma if i not in shown)
    name, labels = run.domain[third].name, run.domain[third].labels
    box = st.expander(
        f"All slices side by side: one for each value of {text.plain(name)}",
        key="slices", on_change="rerun", icon=":material/view_module:",
    )  # fmt: skip
    if not box.open:
        return
    whole = _formed(
        run.release(min(session.visit().view, run.rounds)).estimate(*gamma),
        estimate.completion or "raw",
    )
    frames = [views.released(whole, {third: k}) for k in range(min(len(labels), MOST_SLICES))]
    limits = charts.spanning([charts.shared_limits(frame, "released") for frame in frames])
    first, second = (run.domain[i].name for i in shown)
    with box:
        for begin in range(0, len(frames), 4):
            for column, k in zip(
                st.columns(min(4, max(2, len(frames)))), range(begin, len(frames)), strict=False
            ):
                with column:
                    figure = charts.heatmap(
                        frames[k], "released", (first, second), title=f"{name}: {labels[k]}",
                        limits=limits, small=True, scale="linear" if scale == "log" else scale,
                    )  # fmt: skip
                    figures.draw(figure, f"slice_{k}", table=False)
        if len(labels) > MOST_SLICES:
            st.caption(f"The first {MOST_SLICES} of {len(labels)}; choose any other above.")


def _coverage(
    run: session.Watched,
    estimate: engine.Estimate,
    compared: engine.Comparison | None,
    at: dict[int, int],
) -> None:
    """Whether the intervals hold what they say, and where they cannot."""
    st.header("Do the intervals hold?")
    adaptive = isinstance(run.mechanism, engine.Adaptive) and session.visit().view > 0
    limits = views.coverage_limits(estimate, adaptive=adaptive)
    covered = views.coverage(compared) if compared is not None else None
    left, right = st.columns(2, gap="large")
    with left:
        if covered is not None:
            whole = " of the whole table" if at else ""
            st.markdown(
                f"Of {covered.cells:,} cells{whole}, **{covered.inside:,}** fell inside their "
                f"95 % interval (expected {covered.expected:,.0f})."
            )
            st.caption("▲ not private (never released): counted with the true values.")
        elif compared is None:
            st.caption("How many hold the truth is hidden: it is counted with the true values.")
        for limit in limits:
            st.markdown(f":material/info: {text.plain(limit, longest=500)}")
        if not limits:
            st.markdown(
                ":material/check: Everything within was measured as planned: 95 % is what noise "
                "alone gives."
            )
        st.caption("An interval covers the mechanism's noise only, not errors in the table itself.")
    if covered is not None and compared is not None:
        with right:
            figures.draw(charts.noise_shape(views.noise_shape(compared)), "noise_shape")


# -- the page --------------------------------------------------------------------------------------

through_app()
st.title("Marginals")
watched = session.visit().run
if watched is None:
    empty()
else:
    messages.banner()
    marginal = choose(watched)
    strip.refresh()
    st.header(text.plain(watched.domain.label(marginal)))
    show(watched, marginal)
