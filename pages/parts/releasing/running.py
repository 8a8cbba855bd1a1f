"""A release under way: a worker of this session, its progress, a way to cancel it, its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import streamlit as st

import engine
from engine.releasing import bundle, words
from engine.releasing.account import TableAccount
from pages.parts.drawing import text
from pages.parts.navigation import live
from pages.parts.releasing import only
from pages.parts.releasing.asked import Asked
from pages.parts.setup.spending import tiny
from pages.parts.visit import session, turns
from pages.parts.visit.worker import Job

_JOB, _FILE = "release_job", "release_bundle"
FINISHED = "The release is made, and its account is charged."


@dataclass(slots=True)
class Course:
    """How far it is; written by the worker only, and nothing in it depends on the records."""

    account: TableAccount
    share: float = 0.0


def job() -> Job[engine.Released] | None:
    """This session's release, under way or ended."""
    found = st.session_state.get(_JOB)
    return found if isinstance(found, Job) else None


def begin(asked: Asked, account: TableAccount, resume: str | None = None) -> None:
    """Start it in a thread of its own; from here on no row of the table is shown."""
    before = job()
    if before is not None and before.running:  # a double click
        return
    if asked.own:
        public = only.statement()
        if public is None:
            only.released(asked.marked)
            session.put_away()
            if only.was_shown(asked.marked):  # in another tab: the receipt says so
                asked.table.odometer.look()
        else:
            asked.table.declare_public(public)
            account.declare_public(public)
    course = Course(account)

    def progress(share: float, event: engine.Event | None) -> None:
        del event
        course.share = share

    def make(stop: Callable[[], bool]) -> Iterator[engine.Released]:
        yield engine.release(
            asked.make(), asked.table, asked.workload, epsilon=asked.epsilon, delta=asked.delta,
            account=account, resume=resume, progress=progress, cancel=stop,
        )  # fmt: skip

    st.session_state.pop(_FILE, None)
    st.session_state[_JOB] = Job(make, 1, course)


def end() -> None:
    """Put it away, to make another one."""
    st.session_state.pop(_JOB, None)
    st.session_state.pop(_FILE, None)


@st.fragment
def watch() -> None:
    """Its progress, while it runs."""
    found = job()
    if found is None or not found.running:
        st.rerun()
        return
    course: Course = found.about
    said = f"{100 * course.share:.0f} % of the budget spent, {found.seconds:.0f} seconds"
    if found.stopping:
        said = "Cancelling: it ends with what it does just now."
    st.progress(min(1.0, course.share), text=turns.waiting(found.place) if found.place else said)
    st.button(
        "Cancel", key="release_cancel", icon=":material/stop:", on_click=found.cancel,
        disabled=found.stopping,
    )  # fmt: skip
    st.caption("Cancelled, it gives nothing away; what was charged until then stays charged.")
    live.ask_again(1.0)


def result(found: Job[engine.Released]) -> None:
    """What came of it."""
    if not found.done:
        st.error(text.plain(found.error or "Nothing came of it.", longest=900))
        course: Course = found.about
        st.caption(
            f"The account now says ρ = {float(course.account.spent):.4g} of "
            f"{float(course.account.total):.4g} for {text.plain(course.account.name)}."
        )
        st.button("Go back", key="release_again", on_click=end)
        return
    made = found.done[0]
    said = made.receipt
    assert made.release.delta is not None
    st.success(FINISHED, icon=":material/verified_user:")
    st.markdown(
        f"({made.release.epsilon:g}, {tiny(made.release.delta)})-differential privacy for a "
        f"person; ρ = {float(said.rho_of_a_person):.4g}. All releases of this table: "
        f"ρ = {float(said.spent):.4g} of {float(said.total):.4g}."
    )
    st.download_button(
        "Download the bundle", lambda: _packed(made), file_name="release.zip",
        mime="application/zip", icon=":material/folder_zip:", on_click="ignore", type="primary",
        key="release_download",
    )  # fmt: skip
    st.caption(
        "Marginals, measurements, ledger, the curve of ε, a deployment entry, and verify.py, which "
        "checks it all without this program. It is kept nowhere: download it before you leave."
    )
    st.subheader("What may be said about it", divider="gray")
    st.code(words.paragraph(made), language=None, wrap_lines=True)
    st.button("Make another release", key="release_again", on_click=end)


def _packed(made: engine.Released) -> bytes:
    packed: bytes | None = st.session_state.get(_FILE)
    if packed is None:
        packed = st.session_state[_FILE] = bundle.bundle(made)
    return packed


def unfinished(asked: Asked, account: TableAccount) -> None:
    """Interrupted releases of the table: to go on with, or to end."""
    for release in account.unfinished:
        with st.container(horizontal=True, vertical_alignment="center", key=f"open_{release}"):
            st.markdown(
                f":material/pause_circle: The release {release[:8]}… is open, and all it may cost "
                "counts as spent.",
                width="content",
            )
            if st.button("Go on with it", key=f"resume_{release}"):
                begin(asked, account, release)
                st.rerun()
            if st.button("End it", key=f"abandon_{release}"):
                account.abandon(release)
                st.rerun()
