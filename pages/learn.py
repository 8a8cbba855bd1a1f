"""Residuals, noise, plans and choices on small numbers that can be changed; glossary and quiz."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from pages.parts.comparing import repeated
from pages.parts.drawing import figures, lecture, messages, text
from pages.parts.learning import exercises, knobs, lab, pictures, teachers, texts, tour, water
from pages.parts.navigation import host
from pages.parts.navigation.frame import through_app
from pages.parts.visit import session, study

SECTION = "learn_section"


# -- words -----------------------------------------------------------------------------------------


def glossary() -> None:
    """Every term, to be searched."""
    search = st.text_input(
        "Search the glossary", key="learn_search", placeholder="for example: residual",
        persist_state="session",
    )  # fmt: skip
    terms = texts.found(search)
    if not terms:
        st.info(f"No term holds “{text.plain(search)}”. Try a shorter word.")
        return
    st.caption(f"{len(terms)} of {len(texts.GLOSSARY)} terms")
    columns = st.columns(2, gap="large")
    half = (len(terms) + 1) // 2
    for column, part in zip(columns, (terms[:half], terms[half:]), strict=True):
        column.markdown("\n\n".join(map(_term, part)) or "")


def _term(term: texts.Term) -> str:
    letter = f" · {text.plain(term.letter)}" if term.letter else ""
    code = f" · `{term.code}`" if term.code else ""
    return f"**{text.plain(term.term)}**{letter}{code}  \n{text.plain(term.meaning, longest=500)}"


def quiz() -> None:
    """Eight questions; an answer counts when it is first checked."""
    given: dict[int, int] = st.session_state.setdefault("quiz_given", {})
    right = sum(texts.QUIZ[k].right == answer for k, answer in given.items())
    st.metric("Score", f"{right} of {len(texts.QUIZ)}",
              f"{len(given)} answered", delta_color="off", delta_arrow="off")  # fmt: skip
    for k, question in enumerate(texts.QUIZ):
        _question(k, question, given)
    if len(given) == len(texts.QUIZ):
        _end(right)
    if given:
        st.button("Start again", icon=":material/restart_alt:", key="quiz_again", on_click=_again)


def _question(k: int, question: texts.Question, given: dict[int, int]) -> None:
    with st.container(border=True):
        answer = st.radio(
            f"**{k + 1}.** {question.text}", range(len(question.answers)), index=None,
            format_func=question.answers.__getitem__, key=f"quiz_{k}", disabled=k in given,
            persist_state="session",
        )  # fmt: skip
        if k not in given:
            st.button("Check", key=f"quiz_check_{k}", disabled=answer is None,
                      on_click=_check, args=(k, answer))  # fmt: skip
            return
        if given[k] == question.right:
            st.success(f"Right. {question.why}", icon=":material/check:")
        else:
            best = question.answers[question.right]
            st.warning(f"It is “{best}”. {question.why}", icon=":material/close:")


def _check(k: int, answer: int | None) -> None:
    if answer is not None:
        st.session_state.setdefault("quiz_given", {}).setdefault(k, answer)


def _again() -> None:
    st.session_state["quiz_given"] = {}
    for k in range(len(texts.QUIZ)):
        st.session_state[f"quiz_{k}"] = None


def _end(right: int) -> None:
    count = len(texts.QUIZ)
    said = "All of them!" if right == count else f"{right} of {count}."
    st.info(f"{said} Every question has its figure on this page.", icon=":material/flag:")


# -- the lecture -----------------------------------------------------------------------------------


def plan() -> None:
    """Fifty minutes, with what to open and what to ask."""
    with st.container(border=True):
        st.markdown("**Before the class**")
        lecture.toggles(where="learn")
        st.button("Open the Titanic run, seed 7", icon=":material/directions_boat:",
                  key="lecture_titanic", on_click=_titanic)  # fmt: skip
        st.download_button(
            "Handout to print", texts.handout(), "handout.html", "text/html",
            icon=":material/print:", key="lecture_handout", on_click="ignore",
        )  # fmt: skip
        st.caption(
            "Links for a class: /learn?section=water opens a section, /compare?compare=wins a "
            "comparison, and lecture=1 in any address turns both switches on."
        )
        st.caption(
            "This server is a class host: uploads are off, demonstration runs are shared."
            if host.is_class()
            else f"For a class on one server start it with {text.plain(host.VARIABLE)} set to 1: "
            "uploads are then off and demonstration runs are made once for everybody."
        )
    for beat in texts.LECTURE:
        _beat(beat)


def _beat(beat: texts.Beat) -> None:
    when, what, way = st.columns([1, 5, 2], vertical_alignment="center")
    when.markdown(f":gray[{beat.minutes} min]")
    ask = f"  \n:material/record_voice_over: *{beat.ask}*" if beat.ask else ""
    what.markdown(f"**{beat.title}** · {beat.what}{ask}")
    if beat.page:
        way.page_link(f"pages/{beat.page}.py", label=f"Open {beat.title}",
                      icon=":material/arrow_forward:")  # fmt: skip
    else:
        way.button(f"Open {beat.title}", key=f"beat_{beat.section}", on_click=_open,
                   args=(beat.section,))  # fmt: skip


def _open(section: str) -> None:
    st.session_state[SECTION] = section


def _titanic() -> None:
    session.start(replace(study.usual("titanic"), seed=7))


def for_teachers() -> None:
    """Topics of a course, and where they are."""
    names = {key: title for key, (title, _) in SECTIONS.items()}
    teachers.show(names, TITLES, _open)


def forward() -> None:
    """Back and Next among the sections; the keys of Rounds press them."""
    order, at = list(SECTIONS), list(SECTIONS).index(section)
    st.divider()
    with st.container(horizontal=True):
        if at and section != "tour":
            st.button(
                f"Back: {SECTIONS[order[at - 1]][0]}", icon=":material/chevron_left:",
                key="learn_back", on_click=_open, args=(order[at - 1],), help="Key: B or ←",
            )  # fmt: skip
        if at + 1 < len(order):
            st.button(
                f"Next: {SECTIONS[order[at + 1]][0]}", icon=":material/chevron_right:",
                key="learn_next", on_click=_open, args=(order[at + 1],), type="primary",
                help="Key: N or →",
            )  # fmt: skip


TITLES = {"plan": "Setup", "rounds": "Rounds", "compare": "Compare", "marginals": "Marginals",
          "data": "Data"}  # fmt: skip


# -- the page --------------------------------------------------------------------------------------

SECTIONS: dict[str, tuple[str, Callable[[], None]]] = {
    "tour": ("Tour", tour.tour),
    "apart": ("Residuals", pictures.apart),
    "noise": ("Noise", pictures.noise),
    "water": ("Water filling", water.water),
    "lazy": ("Lazy update", pictures.lazy),
    "anneal": ("Annealing", pictures.anneal),
    "choose": ("Choosing", pictures.choose),
    "negative": ("Below zero", pictures.negative),
    "knobs": ("Bounds, bins, weights", knobs.show),
    "lab": ("Bug lab", lab.show),
    "exercises": ("Exercises", exercises.show),
    "paper": ("The paper", repeated.experiments),
    "glossary": ("Glossary", glossary),
    "quiz": ("Quiz", quiz),
    "lecture": ("Lecture", plan),
    "teachers": ("For teachers", for_teachers),
}

through_app()
st.title("Learn")
link = lecture.linked("section", SECTIONS)
if link:
    st.session_state[SECTION] = link
section = st.pills(
    "Section", list(SECTIONS), default="tour", required=True, key=SECTION,
    format_func=lambda name: SECTIONS[name][0], label_visibility="collapsed",
    persist_state="session",
) or "tour"  # fmt: skip
if section in ("tour",) and not figures.hidden():
    st.caption(f"{messages.BANNER} (This is a public sample table.)")
SECTIONS[section][1]()
if section != "tour" or tour.at_its_end():  # until then its own Next is the only one
    forward()
