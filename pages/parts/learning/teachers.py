"""For teachers: which topic of a usual course is where, with figures, exercises and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from engine.demonstrating import bugs
from pages.parts.learning import exercises


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a course.

    Args:
        title: What courses call it.
        says: What is to be seen here.
        sections: Figures of Learn.
        mistakes: Of the Bug lab.
        pages: Pages of the app.
    """

    title: str
    says: str
    sections: tuple[str, ...]
    mistakes: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


TOPICS = (
    Topic("zCDP and the Gaussian mechanism", "ρ, σ and sensitivity; what ε means for one person",
          ("noise",), ("half", "rows", "mean", "bits"), ("plan",)),
    Topic("Composition and accounting", "an exact ledger, charged before the draw",
          ("tour",), ("late", "ledger", "seed"), ("rounds",)),
    Topic("Matrix mechanism", "residuals as a basis; noise shared out by water filling",
          ("apart", "water"), (), ("plan", "compare")),
    Topic("Exponential mechanism, MWEM and AIM", "choose, measure, update, round by round",
          ("choose", "anneal", "lazy"), ("max",), ("rounds", "compare")),
    Topic("Projection and post-processing", "negative counts, consistency, completion",
          ("negative",), (), ("marginals", "compare")),
    Topic("What is public", "domains, bounds and seeds that must not come from the data",
          ("knobs",), ("domain", "seed"), ("data",)),
)  # fmt: skip


def show(names: dict[str, str], titles: dict[str, str], go: Callable[[str], None]) -> None:
    """One card a topic, with a way to everything in it.

    Args:
        names: Titles of Learn's sections.
        titles: Titles of the app's pages.
        go: Opens a section.
    """
    st.markdown(
        "**Where the topics of a course are.** Every link can be given to a class: "
        "`/learn?section=water` opens a figure, `/learn?section=lab&bug=late` a mistake, "
        "`/learn?section=exercises` the exercises; answers come back as a link."
    )
    for k, topic in enumerate(TOPICS):
        with st.container(border=True):
            st.markdown(f"**{topic.title}** · {topic.says}")
            with st.container(horizontal=True, gap="small"):
                for section in topic.sections:
                    st.button(
                        names[section], key=f"topic_{k}_{section}", icon=":material/animation:",
                        on_click=go, args=(section,),
                    )  # fmt: skip
                for bug in topic.mistakes:
                    st.button(
                        bugs.BUGS[bug].title, key=f"topic_{k}_bug_{bug}",
                        icon=":material/bug_report:", on_click=_mistake, args=(bug, go),
                    )  # fmt: skip
                for page in topic.pages:
                    st.page_link(f"pages/{page}.py", label=titles[page],
                                 icon=":material/arrow_forward:")  # fmt: skip
            numbers = [n for section in (*topic.sections, *(["lab"] if "rows" in topic.mistakes
                       else [])) for n in exercises.of_section(section)]  # fmt: skip
            if numbers:
                st.caption("Exercises: " + ", ".join(map(str, sorted(numbers))))


def _mistake(bug: str, go: Callable[[str], None]) -> None:
    st.session_state["lab_bug"] = bug
    go("lab")
