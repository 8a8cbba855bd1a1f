"""What may I take away? Released values as files, a link, a session to come back to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

import engine
from engine.demonstrating import teaching
from engine.exporting import bundle as export
from engine.exporting.report import report
from engine.types import AttributeSet
from pages.parts.drawing import messages, text
from pages.parts.exporting import preview
from pages.parts.navigation import links, saved, strip
from pages.parts.navigation.frame import PAGES, through_app
from pages.parts.visit import samples, session, study

RELEASE, TEACHING = "Release only", "Teaching bundle"
POSTS = {
    "none": "as estimated (may be negative where nothing is completed)",
    "clip": "negative cells cut, rest rescaled",
    "simplex": "nearest table without negative cells",
    "consistent": "all tables made to agree (may be negative)",
    "consistent-nonnegative": "all tables made to agree, negative cells nearly gone",
}
NEVER = {
    "True counts": "the table itself",
    "True errors and scores": "computed from the records",
    "Number of records": "even that tells whether one person is in it",
    "Seed and file name": "whoever knows the seed can subtract the noise",
}
MIMES = {
    "zip": "application/zip",
    "csv": "text/csv",
    "json": "application/json",
    "html": "text/html",
    "ipynb": "application/x-ipynb+json",
}
_MOST_LESSON_CELLS = 200_000
_MANY_CELLS = 500_000


# -- what there is ---------------------------------------------------------------------------------


def taken(run: session.Watched) -> tuple[engine.Release, list[engine.Event]]:
    """The whole run so far: what could be released of it, and how it came about."""
    settings = run.settings
    release = run.release(run.rounds).beside(run.private.odometer.reading())
    release = release.promised(epsilon=settings.epsilon, delta=settings.delta)
    events = run.events(run.rounds)
    if run.finished:
        events.append(engine.Finished(run.rounds, release.ledger.spent, release.ledger.left))
    return release, events


def lesson(run: session.Watched) -> bytes:
    """The teaching bundle of a public sample: marginals beside the truth until it is enough."""
    release, events = taken(run)
    singles = [attrs for attrs in run.workload.closure if len(attrs) == 1]
    sets, cells = [], 0
    for attrs in dict.fromkeys([*singles, *run.workload.weights]):
        cells += run.domain.cells(attrs)
        if cells <= _MOST_LESSON_CELLS:
            sets.append(attrs)
    return teaching.teaching_bundle(
        release,
        events,
        evaluation=engine.evaluate(release, run.private),
        comparisons=[engine.compare(release.estimate(*a), run.private) for a in sets],
    )


# -- the bundle ------------------------------------------------------------------------------------


def bundle(run: session.Watched) -> engine.Release:
    """Choose what to take, see what is inside, take it."""
    release, events = taken(run)
    public = links.is_public(run)
    _standing(run, release)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(
            "What to take", [RELEASE, TEACHING], default=RELEASE, required=True, key="export_kind",
            persist_state="session", disabled=not public,
        )  # fmt: skip
        teach = public and kind == TEACHING
        if teach:
            _take_lesson(run)
        else:
            _take_release(run, release, events)
    _in_short(release, teach=teach)
    if not public:
        st.caption("Teaching bundles show true counts; they are made of the public samples only.")
    left, right = st.columns([5, 6], gap="large")
    with left:
        _contents(teach)
    with right:
        attrs, post = _choose(run)
        answer = _answered(run, release, post).estimate(*attrs)
        preview.show(run, answer, teach=teach)
    if not teach:
        _take_files(release, events, answer)
    return release


def _standing(run: session.Watched, release: engine.Release) -> None:
    ledger, most = release.ledger, run.most_rounds
    done = "finished" if run.finished else f"at most {_rounds(most)}, so it is not finished"
    title = text.plain(run.title) or "Your table"
    share = f"{100 * float(ledger.spent / ledger.total):.3g}"
    st.markdown(
        f"**{title}**: {_rounds(run.rounds)} done ({done}), {share} % of the budget spent. "
        f"{len(run.workload.weights)} marginals, {run.workload.cells:,} cells."
    )
    if release.demonstration:
        reasons = " ".join(text.plain(reason, longest=400) for reason in release.demonstration)
        st.warning(f"Demonstration, not a private release. {reasons}", icon=":material/warning:")


def _rounds(count: int) -> str:
    return f"{count} round{'' if count == 1 else 's'}"


def _in_short(release: engine.Release, *, teach: bool) -> None:
    """What is in the file, before anything else is said of it."""
    count = len(release.workload.weights)
    if teach:
        st.markdown(
            f"In it: the release **and the true counts** of {count:,} marginals or as many as fit, "
            "marked as not private. For lessons on public samples."
        )
        return
    st.markdown(
        f"In it: **{count:,} marginals** with noise as CSV files, the release and its exact ledger "
        "(JSON), every round (JSON), a report (HTML), a notebook. **Not in it**: true counts, true "
        "errors, the number of records, the seed."
    )


def _contents(teach: bool) -> None:
    st.header("What is inside")
    inside = teaching.CONTENTS if teach else export.CONTENTS
    rows = [(f"`{name}`", text.plain(what)) for name, what in inside.items()]
    if teach:
        st.error(text.plain(teaching.WHY), icon=":material/visibility:")
    else:
        rows += [(f"~~{name}~~", f"not in it: {why}") for name, why in NEVER.items()]
    frame = pd.DataFrame(rows, columns=["File", "What it holds"])
    st.table(frame, hide_index=True, border="horizontal")


def _posts(run: session.Watched) -> list[str]:
    """What can be done to answers here; a choice that cannot any more is forgotten."""
    # To agree without negative cells takes many passes over all tables: seconds for large ones.
    few = run.workload.cells <= _MANY_CELLS
    posts = [post for post in POSTS if few or post != "consistent-nonnegative"]
    if st.session_state.get("export_post", "none") not in posts:
        st.session_state["export_post"] = "none"
    return posts


def _choose(run: session.Watched) -> tuple[AttributeSet, str]:
    st.header("A look inside")
    sets = [attrs for attrs in run.workload.closure if attrs] or [()]
    default = next((k for k, attrs in enumerate(sets) if len(attrs) == 2), 0)
    number = st.selectbox(
        "Marginal", range(len(sets)), index=default, key=f"export_marginal_{run.number}",
        format_func=lambda k: run.domain.label(sets[k]),
    )  # fmt: skip
    post = st.selectbox(
        "Answers", _posts(run), format_func=POSTS.__getitem__, key="export_post",
        persist_state="session", help="Free: it sees released values only.",
    )  # fmt: skip
    return sets[number], post


def _answered(run: session.Watched, release: engine.Release, post: str) -> export.Answers:
    """What answers; kept while neither the run nor the choice changes."""
    of = (run.token, post)
    kept: tuple[Any, export.Answers] | None = st.session_state.get(_ANSWERED)
    if kept is None or kept[0] != of:
        kept = of, export.POSTPROCESS[post](release)
        st.session_state[_ANSWERED] = kept
    return kept[1]


def _take_release(
    run: session.Watched, release: engine.Release, events: list[engine.Event]
) -> None:
    posts = _posts(run)
    post = st.session_state.get("export_post", posts[0])  # chosen further down
    _button(
        "Download the bundle", "folder_zip", "release.zip",
        lambda: export.bundle(release, events, post=post), main=True,
    )  # fmt: skip


def _take_files(
    release: engine.Release, events: list[engine.Event], answer: engine.Estimate
) -> None:
    """Buttons; each makes its file only when it is clicked, and none reruns the page."""
    if release.workload.cells > _MANY_CELLS:
        st.caption("So many cells take a few seconds to write; the page stays usable meanwhile.")
    st.caption("Or one file alone:")
    name = f"{export.file_name(answer.label)}.csv"
    with st.container(horizontal=True):
        _button("This marginal (CSV)", "table", name, lambda: export.marginal_csv(answer))
        _button(
            "Release (JSON)", "data_object", "release.json",
            lambda: export.as_json(release.to_dict()),
        )  # fmt: skip
        _button("Report (HTML)", "article", "report.html", lambda: report(release, events))
        _button(
            "Notebook", "menu_book", "run.ipynb", lambda: export.notebook_alone(release, events)
        )


def _take_lesson(run: session.Watched) -> None:
    _button(
        "Download the teaching bundle", "school", "TEACHING-not-private.zip",
        lambda: lesson(run), main=True,
    )  # fmt: skip
    st.caption(f"{messages.SEEDED} The true tables stop at {_MOST_LESSON_CELLS:,} cells.")


def _button(
    label: str, icon: str, name: str, make: Callable[[], str | bytes], *, main: bool = False
) -> None:
    st.download_button(
        label, make, file_name=name, mime=MIMES[name.rpartition(".")[2]],
        icon=f":material/{icon}:", on_click="ignore", type="primary" if main else "secondary",
        key=f"take_{icon}",
    )  # fmt: skip


# -- coming back -----------------------------------------------------------------------------------


def link(run: session.Watched) -> None:
    """Show the address of this moment."""
    st.header("A link to this moment")
    here = session.visit()
    if not links.is_public(run):
        links.show(run, here.view, "rounds", None)
        return
    titles = {name: title for name, title, _ in PAGES if name != PAGES[0][0]}
    names = [name for name in titles if name not in ("data", "about")]
    page = st.selectbox(
        "It opens", names, names.index("rounds"), format_func=titles.__getitem__, key="link_page"
    )
    links.show(run, here.view, str(page), here.marginal)


def keep(run: session.Watched) -> None:
    """Save the session."""
    public = links.is_public(run)
    st.caption(
        "Settings and position, no data. Reloading makes the same run again from its seed."
        if public
        else "Settings only: no data, no file name, no seed. Reloading asks for the file again."
    )
    view = session.visit().view
    _button("Download session (JSON)", "save", "session.json", lambda: saved.text(run, view))


def reload() -> None:
    """Come back to a saved session."""
    found = st.file_uploader(
        "Reload a saved session", type="json", key="session_file", max_upload_size=1,
    )  # fmt: skip
    if found is None:
        st.session_state.pop(_LOADED, None)
        return
    if st.session_state.get(_LOADED) == found.file_id:
        _say_loaded()
        return
    st.session_state[_LOADED] = found.file_id
    st.session_state[_SAID] = _load(found.getvalue())
    strip.refresh()
    st.rerun()


_LOADED, _SAID, _ANSWERED = "session_loaded", "session_said", "export_answered"


def _load(packed: bytes) -> tuple[bool, str]:
    """Do what the file says; returns whether it worked, and a sentence."""
    try:
        wanted = saved.read(packed)
    except engine.EngineError as error:
        return False, str(error)
    if isinstance(wanted, saved.OwnTable):
        session.put_away()
        study.await_own(
            wanted.attributes, epsilon=wanted.epsilon, delta=study.written(wanted.delta),
            degree=wanted.degree, mechanism=wanted.mechanism,
        )  # fmt: skip
        return True, (
            f"The session was on a table of your own with {len(wanted.attributes)} attributes. "
            "Budget, workload and mechanism are restored; choose the file again."
        )
    notes = links.go_to(wanted)
    links.forget()
    run = session.visit().run
    if notes or run is None:
        return False, " ".join(notes)
    return True, f"Back at round {session.visit().view} of {run.title}."


def _say_loaded() -> None:
    worked, sentence = st.session_state.get(_SAID, (True, ""))
    kind = st.success if worked else st.error
    kind(text.plain(sentence, longest=600))
    if worked:
        st.page_link("pages/rounds.py", label="Watch it", icon=":material/replay:")


def show_code(run: session.Watched, release: engine.Release) -> None:
    """Show the Python that makes this run and its bundle."""
    box = st.expander("Show me the code", icon=":material/code:", key="code", on_change="rerun")
    if not box.open:
        return
    table, domain = "my_table.csv", "my_table.domain.json"
    if links.is_public(run):
        card = samples.cards()[run.settings.sample]
        table, domain = f"sample_data/{card.table}", f"sample_data/{card.domain}"
    box.code(export.code(release, table=table, domain=domain), language="python", wrap_lines=True)
    box.caption(
        "Without a seed it draws new noise: with real data it would spend the budget again."
    )


def nothing_yet() -> None:
    """Say what there will be, and where to begin."""
    st.markdown(
        "There is no run yet. Make one and come back, or reload one: what is taken away is made of "
        "its released values and of nothing else."
    )
    st.page_link("pages/rounds.py", label="Make a run", icon=":material/play_arrow:")
    left, right = st.columns([6, 5], gap="large")
    with left:
        _contents(teach=False)
    with right:
        st.header("Come back")
        reload()


# -- the page --------------------------------------------------------------------------------------

through_app()
st.title("Export")
run = session.visit().run
if run is None:
    nothing_yet()
else:
    release = bundle(run)
    st.divider()
    left, right = st.columns([6, 5], gap="large")
    with left:
        link(run)
        show_code(run, release)
    with right:
        st.header("Come back later")
        keep(run)
        reload()
