"""What happens in each round, and why? A run, stepped, played and looked back on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import streamlit as st

import engine
from engine import charts, views
from engine.types import AttributeSet
from pages.parts import figures, form, lecture, links, messages, session, strip, study, text
from pages.parts.frame import through_app

SPEEDS = {"slow": 3.0, "normal": 1.6, "fast": 0.8}
SEE_ROUNDS = "To see rounds, choose **AIM+GReM, as published** in the settings above."


# -- which run -------------------------------------------------------------------------------------


def choose() -> None:
    """The study's form, and a start on request."""
    with st.expander("Table, workload and budget", icon=":material/tune:", key="settings"):
        form.whole()
        if form.start_button("start_run"):
            links.forget()
            st.rerun()


# -- the player ------------------------------------------------------------------------------------


def watch(pace: float | None) -> None:
    """The player and everything about the round it stands at; one fragment.

    Args:
        pace: Seconds between two rounds that its timer was made for; None without one.
    """
    here = session.visit()
    _run_to_end(here)
    _fork_if_asked(here)
    _tick(here)
    if _pace(here) != pace:
        st.rerun()
    assert here.run is not None
    _player(here, here.run)
    strip.refresh()
    links.keep_address("rounds")
    if lecture.asks(here.run, here.view):
        return
    _so_far(here.run, here.view)
    if here.view:
        _round(here.run, here.view)
    else:
        _before(here.run)
    _marginal(here.run, here.view)
    _account(here.run, here.view)


def _player(here: session.Visit, run: session.Watched) -> None:
    token, view = run.token, here.view
    at_end = run.finished and view == run.rounds
    with st.container(horizontal=True, vertical_alignment="bottom", key="player"):
        _button("First", "first_page", "F", _go, (0,), disabled=view == 0)
        _button("Back", "chevron_left", "B", _go, (view - 1,), disabled=view == 0)
        icon = "pause" if here.playing else "play_arrow"
        _button("Pause" if here.playing else "Play", icon, "P", _play, (), key="play")
        _button("Next", "chevron_right", "N", _forward, (token, view), disabled=at_end, main=True)
        _button("Last", "last_page", "L", _ask_for_end, (), disabled=at_end)
        st.segmented_control(
            "Speed", list(SPEEDS), default="normal", required=True, key="speed",
            label_visibility="collapsed", persist_state="session",
        )  # fmt: skip
        st.toggle("Hide what is not private", key=figures.HIDE, persist_state="session")
    if run.rounds:
        st.session_state["round"] = view
        st.slider(
            "Round looked at (looking back draws no new noise)", 0, run.rounds, key="round",
            on_change=_seek,
        )  # fmt: skip


def _button(
    label: str,
    icon: str,
    shortcut: str,
    action: Callable[..., None],
    args: tuple[object, ...],
    *,
    key: str | None = None,
    disabled: bool = False,
    main: bool = False,
) -> None:
    st.button(
        label, icon=f":material/{icon}:", shortcut=shortcut, on_click=action, args=args,
        key=key or label.lower(), disabled=disabled, type="primary" if main else "secondary",
    )  # fmt: skip


def _go(view: int) -> None:
    here = session.visit()
    here.look_at(view)
    here.playing = False


def _seek() -> None:
    here, wanted = session.visit(), int(st.session_state["round"])
    if not here.is_echo(wanted):
        _go(wanted)


def _forward(token: session.Token, view: int) -> None:
    """Look at the round after ``view``; made now if it is not yet. Twice the same is once."""
    here = session.visit()
    here.playing = False
    _to(here, token, view + 1)


def _to(here: session.Visit, token: session.Token, target: int) -> None:
    assert here.run is not None
    if target > here.run.rounds:
        session.advance(token)
    here.look_at(min(target, here.run.rounds))


def _play() -> None:
    here = session.visit()
    assert here.run is not None
    here.playing = not here.playing
    if here.playing and here.run.finished and here.view == here.run.rounds:
        here.look_at(0)  # once more from the beginning
    here.ticked = time.monotonic()


def _tick(here: session.Visit) -> None:
    """While playing: go on by one round when it is time."""
    assert here.run is not None
    if not here.playing:
        return
    now = time.monotonic()
    if now - here.ticked >= 0.9 * (_pace(here) or 0.0):
        here.ticked = now
        _to(here, here.run.token, here.view + 1)
    if here.run.finished and here.view == here.run.rounds:
        here.playing = False


def _pace(here: session.Visit) -> float | None:
    return SPEEDS[st.session_state.get("speed") or "normal"] if here.playing else None


def _ask_for_end() -> None:
    here = session.visit()
    here.to_end, here.playing = True, False


def _run_to_end(here: session.Visit) -> None:
    """Make all the rounds left, with progress; another click stops it and keeps what was made."""
    if not here.to_end:
        return
    here.to_end = False
    assert here.run is not None
    slot, shown = st.empty(), 0.0
    while not here.run.finished:
        session.advance(here.run.token)
        here.look_at(here.run.rounds)
        if time.monotonic() - shown > 0.15:
            shown = time.monotonic()
            spent = float(here.run.release(here.run.rounds).ledger.spent / here.run.rho)
            slot.progress(min(spent, 1.0), f"Round {here.run.rounds}… (any click stops here)")
    here.look_at(here.run.rounds)
    slot.empty()


# -- the round looked at ---------------------------------------------------------------------------


def _so_far(run: session.Watched, view: int) -> None:
    left, right = st.columns([3, 2])
    with left:
        figures.draw(charts.ledger(views.budget(run.events(view)), at=view), "ledger")
        _why(run, view)
    with right:
        curve = views.errors(run.errors(), run.records)
        ghosts = [_ghost(run, ghost) for ghost in session.visit().ghosts]
        figure = charts.error_curve(curve, at=view, normalized=run.records > 0, ghosts=ghosts)
        figures.draw(figure, "error")
        _beside_the_curve(run, view)


def _ghost(run: session.Watched, ghost: session.Ghost) -> charts.Ghost:
    frame = views.errors(ghost.errors, run.records).assign(
        round=range(ghost.start, ghost.start + len(ghost.errors))
    )
    return charts.Ghost(ghost.label, frame)


def _beside_the_curve(run: session.Watched, view: int) -> None:
    """Offer the fork, the way back from it, and the link to this round."""
    here = session.visit()
    with st.container(horizontal=True, key="beside_curve"):
        if not figures.hidden():
            st.button(
                "What if ε doubled from here?", icon=":material/call_split:", key="fork",
                on_click=_ask_for_fork, disabled=not _forks(run, view), help=_FORK,
            )  # fmt: skip
        link = st.popover(
            "Link to this round", icon=":material/link:", key="link", on_change="rerun"
        )
        if link.open:
            with link:
                links.show(run, view, "rounds", _looked_at(run))
        if here.ghosts and not figures.hidden():
            st.button(
                "Clear the dashed curves",
                icon=":material/close:",
                key="no_ghosts",
                on_click=_clear_ghosts,
            )
    if any(ghost.fork for ghost in here.ghosts) and not figures.hidden():
        st.caption(
            "Simulation, no release: what was spent by then stays spent, all that was left grows "
            "by one factor (so does every round's budget), and the random numbers are the same."
        )


_FORK = (
    "Goes on from the round looked at with twice the ε, as a simulation: a dashed curve. For "
    "mechanisms with rounds, and not at the last one."
)


def _forks(run: session.Watched, view: int) -> bool:
    state = run.moments[view].state
    return not run.mechanism.done(state) and isinstance(run.mechanism, engine.Rebudgetable)


def _ask_for_fork() -> None:
    here = session.visit()
    here.playing, here.fork = False, here.view


def _clear_ghosts() -> None:
    session.visit().ghosts = ()


def _fork_if_asked(here: session.Visit) -> None:
    """Run the fork with progress; another click stops it and keeps nothing of it."""
    at, here.fork = here.fork, None
    if at is None or here.run is None or not _forks(here.run, at):
        return
    slot, shown, ghost = st.empty(), 0.0, None
    try:
        for ghost in session.forked(here.run, at, times=2.0):
            if time.monotonic() - shown > 0.15:
                shown = time.monotonic()
                share = min(ghost.last / max(here.run.most_rounds, 1), 1.0)
                slot.progress(share, f"Simulating round {ghost.last}… (any click stops here)")
    except engine.EngineError as error:
        slot.error(text.plain(error, longest=600))
        return
    slot.empty()
    if ghost is not None:
        here.ghosts = (*(g for g in here.ghosts if not g.fork), ghost)


def _why(run: session.Watched, view: int) -> None:
    event = run.moments[view].event
    with st.container(border=True):
        if not isinstance(event, engine.RoundEnded):
            st.markdown("**Before round 1**")
            st.markdown(_opening(run))
            return
        st.markdown(f"**Why round {view} did what it did**")
        sentences = views.explain_released(event, run.domain)
        seen = run.moments[view].seen
        if seen is not None and not figures.hidden():
            pair = run.moments[view - 1].error, run.moments[view].error
            first, last = views.explain(event, seen, run.domain, pair, run.records)
            sentences = [first, *sentences, last]
        st.markdown(" ".join(text.plain(s, longest=500) for s in sentences))


def _opening(run: session.Watched) -> str:
    event = run.moments[0].event
    assert isinstance(event, engine.Started)
    if not event.measurements:
        return (
            "Nothing is measured yet: this mechanism has one round for everything. Press **Next**."
        )
    first = "Every attribute alone was measured, all with the same noise."
    if _at_once(run):
        return f"{first} {_decided(event)} {SEE_ROUNDS} Press **Next**."
    return (
        f"{first} {_decided(event)} Tables of several attributes are answered from these until a "
        "round measures more. Press **Next**."
    )


def _at_once(run: session.Watched) -> bool:
    """Whether a mechanism that could go in rounds decided to measure everything in one."""
    state = run.moments[0].state
    return isinstance(state, engine.AimState) and state.whole


def _decided(event: engine.Started) -> str:
    return text.plain(event.decision, longest=600) if event.decision else ""


def _before(run: session.Watched) -> None:
    event = run.moments[0].event
    assert isinstance(event, engine.Started)
    if event.measurements:
        st.subheader("Measured before round 1")
        figures.draw(charts.measured(views.measured(event.measurements, run.domain)), "measured")


def _round(run: session.Watched, view: int) -> None:
    event = run.moments[view].event
    assert isinstance(event, engine.RoundEnded)
    gamma = _shown(run, event)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("1 · Select")
        _select(run, view, event)
    with right:
        st.subheader("2 · Allocate")
        frame = views.allocation(event, run.domain, gamma)
        figures.draw(charts.lattice(frame), "lattice")
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("3 · Measure")
        inside = [m for m in event.measurements if set(m.attrs) <= set(gamma)]
        figures.draw(charts.measured(views.measured(inside, run.domain)), "measured")
    with right:
        st.subheader("4 · Reconstruct")
        _reconstruct(run, view, event)


def _shown(run: session.Watched, event: engine.RoundEnded) -> AttributeSet:
    return event.selected if event.selected is not None else run.workload.marginals[0]


def _select(run: session.Watched, view: int, event: engine.RoundEnded) -> None:
    seen = run.moments[view].seen
    if seen is None:
        if _at_once(run):
            st.markdown(f"Nothing is selected: everything is measured at once. {SEE_ROUNDS}")
        else:
            st.markdown("Nothing is selected: this mechanism measures everything at once.")
        return
    chosen = text.plain(run.domain.label(_shown(run, event)))
    st.markdown(f"Chosen: **{chosen}**. Of all this, only the choice is released.")
    frame = views.selection(seen, run.domain, event.selected)
    figure = charts.selection(frame, others=seen.others, others_probability=seen.others_probability)
    figures.draw(figure, "selection")


def _reconstruct(run: session.Watched, view: int, event: engine.RoundEnded) -> None:
    before, after = run.moments[view - 1].state.beliefs, run.moments[view].state.beliefs
    frame = views.touched(before, after, event, run.workload)
    figures.draw(charts.touched(frame, run.domain.names, threshold=event.threshold), "touched")
    if event.work.cells:
        total = run.workload.layout.total_cells
        st.caption(
            f"Lazy update: {event.work.cells:,} of {total:,} cells were rewritten "
            f"({views.percent(event.work.cells / total)}); a full one rewrites them all."
        )


# -- one marginal ----------------------------------------------------------------------------------


def _marginal(run: session.Watched, view: int) -> None:
    st.subheader("One table, closely")
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


# -- the account -----------------------------------------------------------------------------------


def _account(run: session.Watched, view: int) -> None:
    st.subheader("5 · Account")
    frame, ledger = views.budget(run.events(view)), run.release(view).ledger
    spent, left = float(ledger.spent), float(ledger.left)
    delta = run.settings.delta
    person = run.release(view).rho_of_a_person
    so_far = engine.epsilon_from(rho=person, delta=delta) if person else 0.0
    st.markdown(
        f"spent **{spent:.12g}** + left **{left:.12g}** = total **{float(ledger.total):.12g}** "
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


def _again(run: session.Watched) -> None:
    """Offer another run with other noise; not the same as looking back."""
    seed = run.settings.seed
    label = "Run again with new noise" if seed is None else "Run again with another seed"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(label, icon=":material/casino:", key="again", on_click=_other_noise)
        st.caption("Draws new noise: with real data this would spend the budget again.")
    st.page_link("pages/export.py", label="Take it away", icon=":material/download:")


def _other_noise() -> None:
    run = session.visit().run
    assert run is not None
    seed = run.settings.seed
    session.start(replace(run.settings, seed=None if seed is None else seed + 1))
    links.forget()


def first_run() -> bool:
    """Start the study's run if none is watched; says whether there is one."""
    if session.visit().run is not None:
        return True
    if study.here().awaits:
        return False
    if form.start():
        strip.refresh()
        return True
    refusal = session.visit().refusal
    if refusal is not None:
        st.error(text.plain(refusal[1], longest=600), icon=":material/error:")
    return False


# -- the page --------------------------------------------------------------------------------------

through_app()
st.title("Rounds")
messages.banner()
if first_run():
    choose()
    pace = _pace(session.visit())
    st.fragment(watch, run_every=pace)(pace)
    _again(session.visit().run)  # type: ignore[arg-type]
elif not study.here().awaits:
    choose()
