"""The comparison in the address, so that a reload or a copied link comes back to it.

Only on tables that come with the explorer: of a visitor's own the address says nothing.
"""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from engine.demonstrating.comparison import BASELINES, CONTENDERS, FINISHES
from pages.parts.comparing import running
from pages.parts.navigation import host, links
from pages.parts.visit import samples, study
from pages.parts.visit.asked import Compared

NAME = "compare"
_FOLLOWED = "compare_followed"
_MOST_SEED = 2**63 - 1


def follow() -> None:
    """Begin the comparison that the address names, unless the page itself wrote it."""
    said = st.query_params.get(NAME)
    if said is None or said == st.session_state.get(_FOLLOWED):
        return
    st.session_state[_FOLLOWED] = said
    if said in running.PRESETS:
        preset(said)
        return
    asked = read(said)
    if asked is None:
        st.session_state["compare_refusal"] = (
            "The link to this comparison cannot be read; the one below is made instead."
        )
        return
    running.set_form(asked)
    running.begin(asked)
    now = study.here()
    study.choose_table(now, asked.sample)
    now.chosen[asked.sample], now.degree = asked.attributes, asked.degree


def preset(name: str) -> None:
    """Begin one of the comparisons that there is a button for."""
    asked = running.PRESETS[name][2]()
    running.set_form(asked)
    running.begin(asked, shared=host.is_class() or name == "loses")


def keep(asked: Compared) -> None:
    """Let the address say what is compared; nothing of a visitor's own table."""
    said = written(asked)
    if said is None:
        if NAME in st.query_params:
            del st.query_params[NAME]
    elif said != st.query_params.get(NAME):
        st.session_state[_FOLLOWED] = said
        st.query_params[NAME] = said


def written(asked: Compared) -> str | None:
    """Write a comparison: a preset by its name; None if the table is the visitor's own."""
    if asked.sample not in samples.cards():
        return None
    for name, (_, _, make) in running.PRESETS.items():
        if asked == make():
            return name
    content = {
        "sample": asked.sample, "attributes": asked.attributes, "degree": asked.degree,
        "mechanisms": asked.mechanisms, "epsilons": asked.epsilons, "trials": asked.trials,
        "delta": asked.delta, "seed": asked.seed, "finishes": asked.finishes,
    }  # fmt: skip
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def read(said: str) -> Compared | None:
    """Understand what ``written`` wrote; None if any part is not what the form would accept."""
    try:
        content = json.loads(said)
        asked = Compared(
            sample=content["sample"],
            attributes=tuple(content["attributes"]),
            degree=content["degree"],
            mechanisms=tuple(content["mechanisms"]),
            epsilons=tuple(float(e) for e in content["epsilons"]),
            trials=content["trials"],
            delta=float(content["delta"]),
            seed=content["seed"],
            finishes=tuple(content["finishes"]),
        )
        fine = _fine(asked)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None
    return asked if fine else None


def _fine(asked: Compared) -> bool:
    whole: list[Any] = [asked.degree, asked.trials, asked.seed]
    return (
        asked.sample in samples.cards()
        and 0 < len(asked.attributes) == len(set(asked.attributes))
        and set(asked.attributes) <= set(samples.domain(asked.sample).names)
        and all(type(number) is int for number in whole)
        and 1 <= asked.degree <= min(4, len(asked.attributes))
        and 1 <= asked.trials <= running.MOST_TRIALS
        and 0 <= asked.seed <= _MOST_SEED - asked.trials
        and 0 < len(asked.mechanisms) == len(set(asked.mechanisms))
        and {*asked.mechanisms, *BASELINES} <= set(CONTENDERS)
        and set(asked.finishes) <= set(FINISHES)
        and 0 < len(asked.epsilons) <= running.MOST_EPSILONS
        and all(0 < e <= 1000 for e in asked.epsilons)
        and 0 < asked.delta < 1
    )


def show(asked: Compared) -> None:
    """Show the link to a comparison, or say why there is none."""
    said = written(asked)
    if said is None:
        st.caption("A link would have to carry your table, so there is none.")
        return
    st.code(links.address("compare", {NAME: said}), language=None, wrap_lines=True)
    st.caption("Makes the same comparison again, with the same numbers.")
