"""Links to a moment: table, workload, budget, seed, round and marginal in an address.

Only of the tables that come with the explorer: an address never holds data of a visitor's table,
not even a hash of it, which would let anyone confirm a guess.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st

import engine
from pages.parts import messages, samples, session, text

NAMES = (
    "sample", "attributes", "degree", "marginals", "epsilon", "delta", "mechanism", "seed", "round",
    "marginal",
)  # fmt: skip
_FOLLOWED, _NOTES = "link_followed", "link_notes"
_MOST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """A moment that somebody asks for.

    Args:
        settings: The run.
        round: The round to look at.
        rounds: How many rounds to make.
        marginal: The table to look at, by its attributes' names.
    """

    settings: session.Settings
    round: int
    rounds: int
    marginal: tuple[str, ...] | None = None


# -- from a moment to an address -------------------------------------------------------------------


def is_public(run: session.Watched) -> bool:
    """Whether the run's table comes with the explorer, so that others have it as well."""
    return run.settings.sample in samples.cards()


def query(
    run: session.Watched, view: int, marginal: tuple[str, ...] | None = None
) -> dict[str, str]:
    """Return what an address needs to say of this moment; empty for a visitor's own table."""
    if not is_public(run):
        return {}
    settings = run.settings
    said = {
        "sample": settings.sample,
        "attributes": ",".join(settings.attributes),
        "degree": str(settings.degree),
        "epsilon": repr(settings.epsilon),
        "delta": repr(settings.delta),
        "mechanism": settings.mechanism,
        "seed": str(settings.seed),
        "round": str(view),
    }
    if settings.marginals:
        said["marginals"] = tables_text(settings)
    return said if marginal is None else said | {"marginal": ",".join(marginal)}


def tables_text(settings: session.Settings) -> str:
    """Write a visitor's own list of tables, with their weights."""
    return json.dumps([[list(names), weight] for names, weight in settings.marginals])


def address(page: str, said: Mapping[str, str]) -> str:
    """Return the whole address of a page at a moment."""
    here = urlsplit(st.context.url or "http://localhost:8501")
    folder = here.path.rpartition("/")[0]
    return (
        f"{here.scheme}://{here.netloc}{folder}/{page}?{urlencode(said, safe=',', quote_via=quote)}"
    )


# -- from what somebody wrote to a moment ----------------------------------------------------------


def read(said: Mapping[str, Any]) -> tuple[Wanted, list[str]]:
    """Understand what can be understood; the rest becomes a default and a note that says so."""
    notes: list[str] = []

    def take(name: str, default: Any, understand: Callable[[Any], Any]) -> Any:
        try:
            return understand(said[name]) if name in said else default
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            shown = ", ".join(default) if isinstance(default, tuple) else default
            instead = "it is left out" if default is None else f"{shown} is taken instead"
            notes.append(f"The {name} in it cannot be used; {instead}.")
            return default

    sample = take("sample", "adult", _one_of(samples.cards()))
    usual = session.default_settings(sample)
    settings = session.Settings(
        sample=sample,
        attributes=take("attributes", usual.attributes, _names_of(sample)),
        degree=take("degree", usual.degree, _whole(1, 4)),
        epsilon=take("epsilon", usual.epsilon, _between(0.0, 1000.0)),
        delta=take("delta", usual.delta, _between(0.0, 1.0)),
        seed=take("seed", usual.seed, _whole(0, _MOST_SEED)),
        mechanism=take("mechanism", usual.mechanism, _mechanism),
    )
    asked = take("marginals", (), _tables_of(settings.attributes))
    settings = replace(settings, marginals=asked)
    if settings.degree > len(settings.attributes):
        most = len(settings.attributes)
        notes.append(f"There are only {most} attributes; tables are over so many.")
        settings = replace(settings, degree=most)
    at = take("round", 1, _whole(0, 1_000_000))
    marginal = take("marginal", None, _names_of(sample, among=settings.attributes))
    return Wanted(settings, at, max(at, take("rounds", at, _whole(0, 1_000_000))), marginal), notes


def _one_of(known: Mapping[str, Any]) -> Callable[[Any], str]:
    def understand(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError
        return value

    return understand


def _mechanism(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return session.MECHANISMS[value].key  # older names too


def _names_of(
    sample: str, among: tuple[str, ...] | None = None
) -> Callable[[Any], tuple[str, ...]]:
    known = samples.domain(sample).names if among is None else among

    def understand(value: Any) -> tuple[str, ...]:
        wanted = set(value.split(",") if isinstance(value, str) else value)
        if not wanted or not wanted <= set(known):
            raise ValueError
        return tuple(name for name in known if name in wanted)

    return understand


def _tables_of(
    among: tuple[str, ...],
) -> Callable[[Any], tuple[tuple[tuple[str, ...], float], ...]]:
    def understand(value: Any) -> tuple[tuple[tuple[str, ...], float], ...]:
        asked = []
        for names, weight in json.loads(value):
            if not names or not set(names) <= set(among) or not 1e-9 <= float(weight) <= 1e9:
                raise ValueError
            asked.append((tuple(names), float(weight)))
        return tuple(asked)

    return understand


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def understand(value: Any) -> int:
        if isinstance(value, bool | float) or not low <= int(value) <= high:
            raise ValueError
        return int(value)

    return understand


def _between(low: float, high: float) -> Callable[[Any], float]:
    def understand(value: Any) -> float:
        number = math.nan if isinstance(value, bool) else float(value)
        if not low < number <= high or number == 1.0 == high:
            raise ValueError
        return number

    return understand


# -- following -------------------------------------------------------------------------------------


def follow() -> None:
    """Go to the moment that the address names, once for each address."""
    said = {name: st.query_params[name] for name in NAMES if name in st.query_params}
    if not said or st.session_state.get(_FOLLOWED) == said:
        return
    st.session_state[_FOLLOWED] = said
    wanted, notes = read(said)
    st.session_state[_NOTES] = notes + go_to(wanted)


def go_to(wanted: Wanted) -> list[str]:
    """Make the run again up to the moment asked for; returns what was not possible."""
    slot, shown = st.empty(), time.monotonic()
    try:
        for run in session.resume(wanted.settings, rounds=wanted.rounds):
            if time.monotonic() - shown > 0.2:
                shown = time.monotonic()
                part = min(run.rounds / max(wanted.rounds, 1), 1.0)
                slot.progress(part, f"Round {run.rounds} of {wanted.rounds}…")
    except engine.EngineError as error:
        return [str(error)]
    finally:
        slot.empty()
    here = session.visit()
    here.look_at(min(wanted.round, run.rounds))
    here.marginal = wanted.marginal
    session.fill_widgets(wanted.settings)
    if wanted.round > run.rounds:
        return [f"This run has {run.rounds} rounds, not {wanted.round}; this is its last."]
    return []


def forget() -> None:
    """Take the moment out of the address: another run is watched now."""
    st.session_state.pop(_NOTES, None)
    for name in NAMES:
        if name in st.query_params:
            del st.query_params[name]


def say_notes() -> None:
    """Say what a link asked for and did not get."""
    notes = st.session_state.get(_NOTES) or []
    if notes:
        said = " ".join(text.plain(note, longest=600) for note in notes)
        st.warning(f"The link could not be followed to the letter. {said}", icon=":material/link:")


def show(run: session.Watched, view: int, page: str, marginal: tuple[str, ...] | None) -> None:
    """Show the link to a moment, to be copied; or say why there is none."""
    said = query(run, view, marginal)
    if not said:
        st.markdown(
            "A link would have to carry your table, so there is none. Save the session instead "
            "(Export): it restores the settings and asks for the file again."
        )
        return
    st.code(address(page, said), language=None, wrap_lines=True)
    st.caption(f"Opens the same run at round {view}, with the same numbers. {messages.SEEDED}")
