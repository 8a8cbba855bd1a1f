"""The Bug lab: a mistake, a prediction, an audit of many runs, and the explanation."""

from __future__ import annotations

import streamlit as st

from engine.demonstrating import bugs
from engine.evidence import Audit
from engine.showing import audited
from pages.parts.drawing import figures, lecture, text

_SHOWS, _HIDES = "The runs prove more than was promised", "The runs prove nothing of it"
_GUESSED = "lab_guessed"


def show() -> None:
    """One mistake at a time."""
    st.markdown(
        "**Nine mistakes that people really made**, one switch each. Read the two lines, predict, "
        "then run the audit: the same lines 40,000 times on two made-up tables that differ by one "
        "person, and what that proves."
    )
    linked = lecture.linked("bug", bugs.BUGS)
    if linked:
        st.session_state["lab_bug"] = linked
    key = st.selectbox(
        "Mistake", list(bugs.BUGS), key="lab_bug", persist_state="session",
        format_func=lambda name: f"{list(bugs.BUGS).index(name) + 1}. {bugs.BUGS[name].title}",
    )  # fmt: skip
    bug = bugs.BUGS[key]
    _lines(bug)
    guessed: dict[str, str] = st.session_state.setdefault(_GUESSED, {})
    if key not in guessed:
        _predict(key, guessed)
        return
    _audit(key, bug, guessed)


def _lines(bug: bugs.Bug) -> None:
    st.markdown(text.plain(bug.story, longest=300))
    left, right = st.columns(2)
    with left:
        st.markdown(":orange-badge[as it was written]")
        st.code(bug.wrong, language="python", wrap_lines=True)
    with right:
        st.markdown(":green-badge[as it should be]")
        st.code(bug.right, language="python", wrap_lines=True)


def _predict(key: str, guessed: dict[str, str]) -> None:
    guess = st.radio(
        "What will an audit of the first line say?", [_SHOWS, _HIDES], index=None,
        key=f"lab_guess_{key}",
    )  # fmt: skip

    def run() -> None:
        if guess is not None:
            guessed[key] = guess
            st.session_state["lab_planted"] = True

    st.button(
        "Run the audit", type="primary", icon=":material/troubleshoot:", key="lab_run",
        disabled=guess is None, on_click=run,
    )  # fmt: skip
    st.caption("The promise is ρ for one person. An audit can accuse; it cannot acquit.")


def _audit(key: str, bug: bugs.Bug, guessed: dict[str, str]) -> None:
    st.session_state.setdefault("lab_planted", True)
    planted = st.toggle(
        "The mistake is in it", key="lab_planted", persist_state="session",
        help="Off: the mended line, with the same noise.",
    )  # fmt: skip
    found = _found(key, planted)
    _verdict(found.audit)
    figures.draw(audited.histograms(found, score=bug.score), f"lab_{key}_{planted}")
    right = (guessed[key] == _SHOWS) == bug.caught
    score = sum((guess == _SHOWS) == bugs.BUGS[name].caught for name, guess in guessed.items())
    st.info(
        f"{'Right' if right else 'Not this time'}: you predicted “{guessed[key].lower()}”. "
        f"{bug.why} ({score} of {len(guessed)} predicted so far.)",
        icon=":material/school:",
    )


@st.cache_data(max_entries=40, show_spinner="40,000 runs on each table…")
def _found(key: str, planted: bool) -> bugs.Found:
    """One audit; the tables are made up and the seed is fixed, so it is everybody's."""
    return bugs.audit(key, planted=planted)


def _verdict(audit: Audit) -> None:
    first, second, third = st.columns(3)
    first.metric("ρ promised to a person", f"{audit.promised:.3g}")
    second.metric("ρ proven: at least", f"{audit.least:.3g}")
    third.metric(
        f"ε at δ = {audit.delta:g}: promised, proven",
        f"{audit.epsilon:.3g}, ≥ {audit.least_epsilon:.3g}",
    )
    if audit.caught:
        st.error(
            f"More than promised: by the data alone ρ is at least {audit.least:.3g}. A correct "
            f"mechanism is accused in {audit.alpha:.1%} of audits at most.",
            icon=":material/gavel:",
        )
    else:
        st.success(
            "No more than promised was seen. That is no proof: a small or rare leak looks like "
            "this too.",
            icon=":material/visibility:",
        )
