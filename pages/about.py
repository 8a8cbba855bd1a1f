"""What is assumed, what is not covered, which versions, how to cite."""

from __future__ import annotations

import platform
from importlib import metadata

import streamlit as st

import engine
from engine.releasing import words
from pages.parts.drawing import text
from pages.parts.navigation.frame import through_app
from pages.parts.visit import samples

LIBRARIES = ("numpy", "scipy", "numba", "cvxpy", "clarabel", "pandas", "altair", "streamlit")
PAPER = "Fast Private Adaptive Query Answering for Large Data Domains, arXiv 2602.05674"


@st.cache_data(show_spinner=False)
def environment() -> str:
    """Versions of everything that computes, one a line."""
    lines = [
        f"aim-grem-explorer {engine.__version__}",
        f"python {platform.python_version()} ({platform.python_implementation()})",
        f"system {platform.system()} {platform.machine()}",
    ]
    for name in LIBRARIES:
        try:
            lines.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            lines.append(f"{name} not installed")
    return "\n".join(lines)


def settings() -> list[str]:
    """What this server is set to, in sentences; each true of its settings right now."""
    address = st.get_option("server.address")
    only_here = address in ("127.0.0.1", "localhost", "::1")
    told = st.get_option("browser.gatherUsageStats")
    traces = st.get_option("client.showErrorDetails")
    return [
        "Usage statistics: " + ("**on**. Switch them off in .streamlit/config.toml." if told else
                                "off. Nothing is sent to anybody."),
        "Reachable from: " + ("this computer only." if only_here else "**other computers too**."),
        "Error details in the browser: " + ("none." if traces in ("none", False) else "shown."),
        f"Uploads: up to {st.get_option('server.maxUploadSize')} MB.",
    ]  # fmt: skip


def cite() -> str:
    """How to cite paper and software."""
    return (
        "@misc{aimgrem,\n"
        "  title  = {Fast Private Adaptive Query Answering for Large Data Domains},\n"
        "  eprint = {2602.05674}, archivePrefix = {arXiv}\n"
        "}\n"
        "@software{aimgremexplorer,\n"
        "  title   = {AIM+GReM explorer},\n"
        f"  version = {{{engine.__version__}}}\n"
        "}"
    )


through_app()
st.title("About")
st.markdown(
    "Watch and use differentially private marginals: AIM+GReM chooses what to measure, "
    "ResidualPlanner shares the noise out, GReM puts the answers together. Research and "
    "teaching software, not a certified release tool."
)

left, right = st.columns(2, gap="large")
with left:
    st.header("What is promised, and under which assumptions")
    st.markdown(
        "- **Neighbours**: two tables that differ by adding or removing **one record**. The "
        "promise is about one record, whatever else is known.\n"
        "- **One row is one person.** A person with k rows costs k² times the ρ; Setup says what "
        "that comes to.\n"
        "- **The domain is public**: attributes, values and bins were declared without looking at "
        "the rows.\n"
        "- **The budget is in ρ** (zero-concentrated differential privacy). Every round is charged "
        "as an exact fraction before noise is drawn; ε at a chosen δ follows from the sum.\n"
        "- **The number of rows is private** too. It is estimated like everything else."
    )
    st.header("What is not covered")
    st.markdown(
        "- **Every run but on the Release page is a rehearsal.** Its noise is a seeded "
        "floating-point generator: anyone who knows the seed can subtract it. Do not publish "
        "results as a private release. One is made on the Release page, or from the shell with "
        "`python -m engine release`: exact noise, no seed, an account of all that the table has "
        "cost. What it promises stands below.\n"
        "- **The screen.** What is marked ▲ *not private* compares with the records. *Hide what is "
        "not private* takes it all away.\n"
        "- **Time and memory.** How long a run takes is not protected.\n"
        "- **Other releases** about the same people. Costs add up over all of them, and this app "
        "knows only its own.\n"
        "- **A domain read from the data.** The list of values alone can reveal a person.\n"
        "- **What is true of everybody.** Privacy does not hide facts about a population."
    )
with right:
    st.header("What leaves this computer")
    st.markdown("\n".join(f"- {line}" for line in settings()))
    st.caption("Read from the settings of this server just now.")
    st.header("For everybody's eyes and hands")
    st.markdown(
        "- Colours are told apart by people with colour blindness; shapes, dashes and signs repeat "
        "what they say.\n"
        "- Each chart has a sentence for screen readers, shown beneath it, and its *Numbers*.\n"
        "- Everything that can be clicked in a chart can be done by keyboard too. On Rounds "
        "the keys F, B, P, N and L step, play and rewind.\n"
        "- Light and dark follow your system; the menu at the top right changes it."
    )
    st.header("Versions")
    st.code(environment(), language=None)
    st.caption("The button at its corner copies the environment, for a report of a fault.")

st.header("What a private release promises")
promised, against, outside = st.columns(3, gap="large")
for column, title, said in (
    (promised, "Promised", words.PROMISED),
    (against, "To whom, against whom", words.TRUSTED),
    (outside, "Not covered", words.NOT_COVERED),
):
    column.markdown(f"**{title}**")
    column.markdown("\n".join(f"- {text.plain(one, longest=600)}" for one in said))
st.markdown(f"**If you find a hole in it.** {text.plain(words.REPORT, longest=600)}")
st.caption("The same words, with how each is tested: .github/SECURITY.md in the repository.")

st.header("How to cite")
st.markdown(f"The mechanism: {text.plain(PAPER)}. The software, with its version:")
st.code(cite(), language="bibtex")
st.header("Where the sample tables are from")
for card in samples.cards().values():
    if card.name == "adult_paper":  # Adult with fewer columns: the same source
        continue
    st.markdown(f"- **{text.plain(card.title)}**: {text.plain(card.attribution, longest=600)} "
                f"({text.plain(card.licence)})")  # fmt: skip
st.caption("This software: MIT licence.")
