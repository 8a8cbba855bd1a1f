"""Links to a moment: table, workload, budget, seed, round and marginal in an address.

Only of the tables that come with the explorer: an address never holds data of a visitor's table,
not even a hash of it, which would let anyone confirm a guess.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st

import engine
from pages.parts.drawing import messages, text
from pages.parts.visit import samples, session, study

NAMES = (
    "sample", "attributes", "degree", "marginals", "epsilon", "delta", "mechanism", "seed", "round",
    "rounds", "marginal",
)  # fmt: skip
RUN_PAGES = ("rounds", "marginals", "export")
"""Pages that show the run; the others show the study."""
_OWN_SAYS = ("degree", "epsilon", "delta", "mechanism")
_FOLLOWED, _NOTES = "link_followed", "link_notes"
_WRITTEN, _WRITTEN_AT, _LATE = "links_written", "links_written_at", 1.0
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

    settings: study.Settings
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
    said = settings_query(run.settings) | {"round": str(view)}
    return said if marginal is None else said | {"marginal": ",".join(marginal)}


def settings_query(settings: study.Settings) -> dict[str, str]:
    """Return what an address says of the settings of a public table."""
    said = {
        "sample": settings.sample,
        "attributes": ",".join(settings.attributes),
        "degree": str(settings.degree),
        "epsilon": repr(settings.epsilon),
        "delta": repr(settings.delta),
        "mechanism": settings.mechanism,
    }
    if settings.seed is not None:
        said["seed"] = str(settings.seed)
    if settings.marginals:
        said["marginals"] = tables_text(settings)
    return said


def tables_text(settings: study.Settings) -> str:
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
    usual = study.usual(sample)
    settings = study.Settings(
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


def follow(page: str) -> None:
    """Go to the moment that the address names, unless it is the one that the page itself wrote."""
    said = _said()
    if not said or said == st.session_state.get(_FOLLOWED) or _is_echo(said):
        return
    st.session_state[_FOLLOWED] = said
    st.session_state[_WRITTEN] = []
    if said.get("sample") == samples.OWN:
        _go_to_own(said)
        st.session_state[_NOTES] = []
        return
    wanted, notes = read(said)
    if "round" in said or page in RUN_PAGES:
        notes += go_to(wanted)
    else:
        study.take(wanted.settings)
    st.session_state[_NOTES] = notes


def _said() -> dict[str, str]:
    return {name: st.query_params[name] for name in NAMES if name in st.query_params}


def _is_echo(said: dict[str, str]) -> bool:
    """Whether the request left the browser before it heard of the address written last."""
    written: list[dict[str, str]] = st.session_state.get(_WRITTEN, [])
    late = time.monotonic() - st.session_state.get(_WRITTEN_AT, -10.0) < _LATE
    return late and said in written


def go_to(wanted: Wanted) -> list[str]:
    """Go to a moment: of the run there is, or of one made again; returns what was not possible."""
    here = session.visit()
    run = here.run
    if run is None or run.settings != wanted.settings or run.rounds < wanted.rounds:
        try:
            _make(wanted)
        except engine.EngineError as error:
            return [str(error)]
        run = here.run
        assert run is not None
    study.take(wanted.settings)
    here.look_at(min(wanted.round, run.rounds))
    here.playing, here.marginal = False, wanted.marginal
    if wanted.round > run.rounds:
        return [f"This run has {run.rounds} rounds, not {wanted.round}; this is its last."]
    return []


def _make(wanted: Wanted) -> None:
    """Make a run up to the rounds wanted, with progress.

    Raises:
        engine.EngineError: If a setting is refused; the run being watched stays.
    """
    slot, shown = st.empty(), time.monotonic()
    try:
        for run in session.resume(wanted.settings, rounds=wanted.rounds):
            if time.monotonic() - shown > 0.2:
                shown = time.monotonic()
                part = min(run.rounds / max(wanted.rounds, 1), 1.0)
                slot.progress(part, f"Round {run.rounds} of {wanted.rounds}…")
    finally:
        slot.empty()


def _go_to_own(said: Mapping[str, str]) -> None:
    """Look at a round of the visitor's own run; without it, ask for the file again."""
    here = session.visit()
    if samples.OWN in samples.choices():
        if here.run is not None and here.run.settings.sample == samples.OWN and "round" in said:
            with contextlib.suppress(ValueError):
                here.look_at(min(max(int(said["round"]), 0), here.run.rounds))
                here.playing = False
        return
    wanted, _ = read({name: said[name] for name in _OWN_SAYS if name in said})
    kept = wanted.settings
    study.await_own(
        degree=kept.degree,
        epsilon=kept.epsilon,
        delta=study.written(kept.delta),
        mechanism=kept.mechanism,
    )


# -- the address as one goes -----------------------------------------------------------------------


def keep_address(page: str) -> None:
    """Let the address say what is to be seen, so that a reload or a copy comes back to it."""
    here, now = session.visit(), study.here()
    run = here.run
    if now.awaits:
        return
    if run is not None and (page in RUN_PAGES or not study.differences(run.settings)):
        said = query(run, here.view, here.marginal) or _own_query(run.settings, here.view)
        if run.rounds > here.view:
            said["rounds"] = str(run.rounds)
    else:
        try:
            settings = study.settings()
        except engine.EngineError:
            return
        if settings == study.usual():
            said = {}
        elif settings.sample == samples.OWN:
            said = _own_query(settings)
        else:
            said = settings_query(settings)
    _write(said)


def _write(said: dict[str, str]) -> None:
    there = _said()
    if said == there:
        st.session_state[_FOLLOWED] = said
        return
    st.session_state[_WRITTEN] = [*st.session_state.get(_WRITTEN, [])[-20:], there]
    st.session_state[_WRITTEN_AT] = time.monotonic()
    st.session_state[_FOLLOWED] = said
    others = {n: st.query_params.get_all(n) for n in st.query_params if n not in NAMES}
    st.query_params.from_dict({**others, **said})


def _own_query(settings: study.Settings, view: int | None = None) -> dict[str, str]:
    """Of the visitor's own table: that it is theirs, and nothing that its rows or names say."""
    said = {
        "sample": samples.OWN,
        "degree": str(settings.degree),
        "epsilon": repr(settings.epsilon),
        "delta": repr(settings.delta),
        "mechanism": settings.mechanism,
    }
    return said if view is None else said | {"round": str(view)}


def forget() -> None:
    """Say no more of what a link asked for: another run is watched now."""
    st.session_state.pop(_NOTES, None)


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
