"""Which mechanism is better here? Repeated trials with paired seeds, and where AIM+GReM loses."""

from __future__ import annotations

import math

import streamlit as st

from engine import charts
from engine.demonstrating import comparison
from engine.demonstrating.comparison import BASELINES, CONTENDERS, FINISHES, METRICS, Trial
from engine.errors import OptionError
from engine.showing import contenders, fields, versus
from pages.parts.comparing import address, away, running
from pages.parts.drawing import figures, form, lecture, messages, text
from pages.parts.navigation import host, live
from pages.parts.navigation.frame import through_app
from pages.parts.visit import samples, study, turns
from pages.parts.visit.asked import Compared
from pages.parts.visit.worker import Job

HERO, RIVAL = "aim_grem", "residual_planner"

# -- the settings ----------------------------------------------------------------------------------


def presets() -> None:
    """Three comparisons by one click each."""
    with st.container(horizontal=True):
        for name, (label, icon, _) in running.PRESETS.items():
            st.button(label, icon=icon, key=f"preset_{name}", on_click=address.preset, args=(name,))
    if host.is_class():
        st.caption("These three are made once for everybody on this server.")


def choose() -> None:
    """Ask for another comparison."""
    refused = st.session_state.get("compare_refusal")
    box = st.expander("Compare something else", icon=":material/tune:", key="compare_settings")
    with box:
        form.table()
        form.attributes()
        form.degree()
        mechanisms = st.multiselect(
            fields.MECHANISMS.label, [key for key in CONTENDERS if key not in BASELINES],
            default=[HERO, "aim_grem_paper", RIVAL, "product"], key="compare_mechanisms",
            persist_state="session", format_func=lambda key: CONTENDERS[key].name,
            help="Equal split and Uniform are always compared with. “Full update” and the fixed "
                 "sequences are the paper's ablations; on many attributes they are slow.",
        )  # fmt: skip
        epsilons, trials, seed = _how()
        finishes = st.pills(
            "Each with post-processing too", list(FINISHES), selection_mode="multi",
            key="compare_finishes", persist_state="session", format_func=FINISHES.__getitem__,
            help="From the same release, at no cost: raw (not measured counts as zero), the "
                 "nearest tables without negative cells (together, or each alone by simplex), and "
                 "completed. Tells a better measurement from a better last step.",
        )  # fmt: skip
        if st.button("Compare", type="primary", icon=":material/play_arrow:", key="compare_start"):
            chosen = tuple(key for key in CONTENDERS if key in {*mechanisms, *BASELINES})
            _try(chosen, epsilons, trials, seed, tuple(finishes))
    if refused:
        st.error(text.plain(refused, longest=600), icon=":material/error:")


def _how() -> tuple[str, int, int]:
    first, second, third = st.columns([3, 2, 2])
    with first:
        epsilons = st.text_input(
            "Values of ε", value=", ".join(f"{e:g}" for e in running.GRID),
            key="compare_epsilons", persist_state="session",
            help=fields.EPSILONS.help,
        )  # fmt: skip
    with second:
        trials = st.number_input(
            fields.TRIALS.label, 1, running.MOST_TRIALS, 5, key="compare_trials",
            persist_state="session", help=fields.TRIALS.help,
        )  # fmt: skip
    with third:
        seed = st.number_input(
            "First seed", 0, None, 0, key="compare_seed", persist_state="session"
        )
    return epsilons, int(trials), int(seed)


def _try(
    mechanisms: tuple[str, ...], epsilons: str, trials: int, seed: int, finishes: tuple[str, ...]
) -> None:
    now, attributes = study.here(), study.attributes()
    degree = now.degree
    try:
        grid = tuple(fields.budgets(epsilons))
    except OptionError as error:
        st.session_state["compare_refusal"] = str(error)
        st.rerun()
    if not attributes or degree > len(attributes):
        st.session_state["compare_refusal"] = (
            f"Tables over {degree} attributes need at least {degree}; {len(attributes)} are "
            "chosen. Choose more, or a smaller degree."
        )
        st.rerun()
    running.begin(Compared(now.sample, attributes, degree, mechanisms, grid, trials, seed=seed,
                    finishes=finishes, table=samples.number(now.sample)))  # fmt: skip
    st.rerun()


# -- while it runs ---------------------------------------------------------------------------------


@st.fragment
def watch() -> None:
    """How far it is; the only part of the page that asks again by itself."""
    job = running.current()
    if job is None or not job.running:
        st.rerun()
    done = job.done
    left = job.seconds / len(done) * (job.total - len(done)) if done else math.nan
    when = f", about {left:,.0f} s left" if done and left >= 1 else ""
    said = f"{len(done):,} of {job.total:,} runs{when}"
    st.progress(job.share, turns.waiting(job.place) if job.place else said)
    if not running.is_shared(job):
        st.button(
            "Stop here and keep what is done", icon=":material/stop:", key="compare_cancel",
            on_click=job.cancel,
        )  # fmt: skip
    if done and not figures.hidden():
        bands = comparison.bands(done)
        figures.draw(contenders.error_bands(bands, unit=METRICS["mean_l1"]), "live")
    live.ask_again(1.0)


# -- what came out ---------------------------------------------------------------------------------


def results(job: Job[Trial]) -> None:
    """Every picture of a comparison that has ended, by itself or not."""
    rows, asked = job.done, job.about
    if job.error:
        st.error(text.plain(job.error, longest=600), icon=":material/error:")
    if job.cancelled:
        st.info(
            f"Stopped after {len(rows):,} of {job.total:,} runs; everything below is from these.",
            icon=":material/stop_circle:",
        )
    if not rows:
        return
    if figures.hidden():
        st.caption("Errors are computed from the records: hidden.")
        return
    metric = st.segmented_control(
        "Error", list(METRICS), default="mean_l1", required=True, key="compare_metric",
        format_func=METRICS.__getitem__, persist_state="session",
    )  # fmt: skip
    metric = metric or "mean_l1"
    _words(rows, metric)
    shown: dict[str, charts.Figure] = {}
    _curves(rows, metric, shown)
    _closely(rows, asked, metric, shown)
    _time(rows, metric, shown)
    if not job.running:
        away.offer(rows, asked, shown)


def _draw(figure: charts.Figure, key: str, shown: dict[str, charts.Figure]) -> None:
    """Draw a figure and keep it by its title, for whoever wants to take it away."""
    shown[figure.title] = figure
    figures.draw(figure, key)


def _words(rows: list[Trial], metric: str) -> None:
    said = comparison.verdict(rows, metric=metric)
    if not said:
        return
    under = said[0].startswith(f"{CONTENDERS[HERO].name} is under a baseline")
    with st.container(border=True):
        st.markdown("**Who wins here**")
        if under:
            st.markdown(f":orange-badge[under a baseline] {text.plain(said[0], longest=600)}")
        parts = [comparison.in_words(rows, HERO, r, metric) for r in _rivals(rows)]
        said = [*said[under:], *(part for part in parts if part is not None)]
        st.markdown("\n".join(f"- {text.plain(s, longest=900)}" for s in said))
    lecture.prose(
        "Why? Selecting pays when most of the workload is not worth its noise: many large tables, "
        "little budget. On few small tables there is nothing to select, and a plan that knows the "
        "whole workload from the start, with all the budget in one round, is hard to beat. As "
        "published, what was never measured counts as zero; where little was, even the product of "
        "the 1-way tables fills it better. The default completes it."
    )


def _rivals(rows: list[Trial]) -> list[str]:
    """Mechanisms other than the hero, as they answer by themselves."""
    return [key for key in dict.fromkeys(r.mechanism for r in rows) if key in list(CONTENDERS)
            and key != HERO]  # fmt: skip


def _curves(rows: list[Trial], metric: str, shown: dict[str, charts.Figure]) -> None:
    bands = comparison.bands(rows, metric)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _draw(contenders.error_bands(bands, unit=METRICS[metric]), "bands", shown)
    with right:
        others = [m for m in dict.fromkeys(r.mechanism for r in rows) if m != HERO]
        if HERO not in {r.mechanism for r in rows} or not others:
            return
        rival = st.selectbox(
            "AIM+GReM, seed by seed, with", others,
            index=others.index(RIVAL) if RIVAL in others else 0, key="compare_rival",
            format_func=lambda key: CONTENDERS[key].name,
        )  # fmt: skip
        frame = comparison.paired(rows, HERO, rival, metric)
        figure = contenders.paired(frame, CONTENDERS[HERO].name, CONTENDERS[rival].name)
        _draw(figure, "paired", shown)
        lecture.prose(
            "Trials are simulation, not a release. Trial k has seed k for everyone; only "
            "mechanisms that begin alike also share their first noise."
        )


def _closely(
    rows: list[Trial], asked: Compared, metric: str, shown: dict[str, charts.Figure]
) -> None:
    names = {r.mechanism for r in rows}
    if HERO not in names or len(names) < 2:
        return
    left, right = st.columns(2, gap="large")
    with left:
        grid = comparison.wins(rows, HERO, metric)
        _draw(contenders.win_grid(grid, CONTENDERS[HERO].name), "wins", shown)
    with right:
        _by_marginal(rows, asked, shown)


def _by_marginal(rows: list[Trial], asked: Compared, shown: dict[str, charts.Figure]) -> None:
    rival = st.session_state.get("compare_rival") or RIVAL
    both = [{r.epsilon for r in rows if r.mechanism == key} for key in (HERO, rival)]
    epsilons = sorted(both[0] & both[1])
    if not epsilons:
        return
    epsilon = st.select_slider(
        "Marginal by marginal, at ε", epsilons, value=epsilons[len(epsilons) // 2],
        key=f"compare_at_{len(epsilons)}", format_func=lambda e: f"{e:g}",
    ) if len(epsilons) > 1 else epsilons[0]  # fmt: skip
    domain = samples.domain(asked.sample).select(*asked.attributes)
    frame = comparison.by_marginal(rows, HERO, rival, epsilon, domain)
    if len(frame):
        first, second = CONTENDERS[HERO].name, CONTENDERS[rival].name
        title = f"By marginal, ε = {epsilon:g}"
        _draw(versus.dumbbell(frame, first, second, title=title), "dumbbell", shown)


def _time(rows: list[Trial], metric: str, shown: dict[str, charts.Figure]) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        frame = comparison.relative(rows, RIVAL, metric)
        if len(frame):
            figure = contenders.trade_off(frame, CONTENDERS[RIVAL].name)
            _draw(figure, "figure_four", shown)
    with right:
        _draw(contenders.run_time(comparison.bands(rows, "seconds")), "time", shown)
        if max(r.seconds for r in rows) < 0.5:
            lecture.prose("Runs this short say little about time: take a larger table.")
        lecture.prose("AIM with a graphical model takes minutes; run it from Python (extra pgm).")


def _about(job: Job[Trial]) -> str:
    asked: Compared = job.about
    finished = ""
    if asked.finishes:
        finished = f"; each mechanism also {', '.join(FINISHES[f] for f in asked.finishes)}"
    return (
        f"**{text.plain(samples.choices()[asked.sample].title)}**, "
        f"{len(asked.attributes)} attributes, all {asked.degree}-way "
        f"tables, {asked.trials} trials at each of {len(asked.epsilons)} values "
        f"of ε, δ = {asked.delta:g}, seeds from {asked.seed}{finished}."
    )


def another_table(job: Job[Trial]) -> None:
    """Say so if the comparison shown is of another table than the one in use."""
    asked, now = job.about, study.here()
    if (asked.sample, asked.table) == (now.sample, samples.number(now.sample)):
        return
    title = text.plain(samples.choices()[now.sample].title, longest=60)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"This comparison is on another table than the one in use, **{title}**.")
        st.button(f"Compare on {title}", key="compare_current", on_click=_on_current)


def _on_current() -> None:
    now = study.here()
    degree = min(now.degree, len(study.attributes()))
    names, few = study.attributes(), running.FEW
    number = samples.number(now.sample)
    running.begin(Compared(now.sample, names, degree, running.USUAL, few, 3, table=number))


# -- the page --------------------------------------------------------------------------------------

through_app()
st.title("Compare")
messages.banner()
lecture.prose(
    "No mechanism wins everywhere. Here AIM+GReM meets ResidualPlanner, which plans everything at "
    "once, and simple baselines that are always shown: who is under them has learnt nothing."
)
address.follow()
presets()
choose()
job = running.current()
if job is None:
    st.info(
        f"Nothing is compared on **{text.plain(samples.choices()[study.here().sample].title)}** "
        "yet: open “Compare something else” and press **Compare**.",
        icon=":material/balance:",
    )
else:
    another_table(job)
    st.markdown(_about(job))
    address.keep(job.about)
    if job.running:
        watch()
    else:
        results(job)
