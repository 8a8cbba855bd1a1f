"""The one study of a visit: table, attributes, tables asked for, budget, mechanism, seed.

Every form is a view of it. A widget is given its value from here whenever it is drawn, and its
callback writes the new one back, so no page keeps a setting of its own. A run carries the settings
it was made with; ``differences`` says where the study has moved on since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import streamlit as st

import engine
from engine.mechanisms import catalogue
from pages.parts.visit import samples

MOST_CELLS = 30_000_000
"""Cells of all marginals that a page holds: about 400 MB while it runs."""
FIRST, FIRST_MECHANISM = "adult", "aim_grem_rounds"
"""What a visit begins with: a run that shows rounds."""
Asked: TypeAlias = dict[tuple[str, ...], float]
"""Tables by the names of their attributes, with weights."""
_STUDY = "study"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is started with: a study at one moment.

    Args:
        sample: Name of the table; ``samples.OWN`` for the visitor's.
        attributes: Their names.
        degree: Every table over so many of them is asked for.
        epsilon: The budget.
        delta: Its other half.
        seed: Repeats the noise; None draws new noise each time.
        mechanism: Key of the mechanism.
        marginals: Tables asked for with their weights; empty: all over ``degree`` attributes.
        table: Which of the visitor's own tables, counted from 1; 0 for a sample.
    """

    sample: str
    attributes: tuple[str, ...]
    degree: int = 3
    epsilon: float = 1.0
    delta: float = 1e-9
    seed: int | None = 0
    mechanism: str = "aim_grem"
    marginals: tuple[tuple[tuple[str, ...], float], ...] = ()
    table: int = 0

    def workload(self, domain: engine.Domain) -> engine.Workload:
        """What is asked for, of the domain of these attributes.

        Raises:
            engine.EngineError: If it is no workload, or more than a page holds.
        """
        if self.marginals:
            return held(engine.Workload(dict(self.marginals), domain))
        return held(engine.Workload.all_kway(domain, self.degree))


def too_large(cells: int) -> bool:
    """Whether tables of so many cells together are more than a page holds."""
    return cells > MOST_CELLS


def held(workload: engine.Workload) -> engine.Workload:
    """Return a workload that a page can hold.

    Raises:
        engine.WorkloadError: If it has too many cells (``E_TOO_LARGE``).
    """
    cells = workload.layout.total_cells
    if too_large(cells):
        raise engine.WorkloadError(
            f"These marginals and their subsets have {cells:,} cells; this page holds "
            f"{MOST_CELLS:,}. Choose fewer attributes, or marginals over fewer of them.",
            code="E_TOO_LARGE",
        )
    return workload


@dataclass(slots=True)
class Study:
    """What the visitor has chosen, as the fields of a form hold it.

    Args:
        sample: Name of the table.
        chosen: Attributes chosen, for each table that was looked at.
        degree: Every table over so many attributes is asked for, unless ``listed``.
        listed: Whether the tables asked for are the visitor's own list.
        lists: That list, for each table.
        epsilon: The budget; None while its field is empty.
        delta: Its other half, as it was written.
        seed: None draws new noise each time.
        mechanism: Key of the mechanism.
        awaits: Whether the visitor's own file is to be chosen again: a reload forgot it, or a saved
            session was about it.
        awaited: Attributes that were chosen of it.
    """

    sample: str = FIRST
    chosen: dict[str, tuple[str, ...]] = field(default_factory=dict)
    degree: int = 3
    listed: bool = False
    lists: dict[str, Asked] = field(default_factory=dict)
    epsilon: float | None = 1.0
    delta: str = "1e-9"
    seed: int | None = 0
    mechanism: str = FIRST_MECHANISM
    awaits: bool = False
    awaited: tuple[str, ...] = ()


def here() -> Study:
    """This visitor's study."""
    found = st.session_state.get(_STUDY)
    if not isinstance(found, Study):
        found = st.session_state[_STUDY] = Study()
    if found.sample not in samples.choices():  # the visitor's own table is gone
        choose_table(found, FIRST)
    return found


# -- from the study to settings --------------------------------------------------------------------


def attributes() -> tuple[str, ...]:
    """The attributes chosen, in the table's order."""
    now = here()
    usual = samples.choices()[now.sample].default_attributes
    return now.chosen.get(now.sample, usual)


def asked() -> Asked:
    """The visitor's own list for the table, to be changed in place."""
    now = here()
    return now.lists.setdefault(now.sample, {})


def settings() -> Settings:
    """What a run would be started with now.

    Raises:
        engine.OptionError: If a field cannot be read, with the field's code.
    """
    now = here()
    try:
        delta = float(now.delta)
    except ValueError:
        raise engine.OptionError(
            "δ is no number; write one, for example 1e-9.", code="E_DELTA"
        ) from None
    if now.epsilon is None:
        raise engine.OptionError("ε is empty; write a number, for example 1.", code="E_EPSILON")
    names = attributes()
    listed = tuple((a, w) for a, w in asked().items() if set(a) <= set(names))
    if now.listed and not listed:
        raise engine.WorkloadError(
            "No table is asked for; at least one is needed. Add one to your list on Setup."
        )
    return Settings(
        now.sample, names, now.degree, float(now.epsilon), delta, now.seed, now.mechanism,
        listed if now.listed else (), samples.number(now.sample),
    )  # fmt: skip


def usual(sample: str = FIRST) -> Settings:
    """The settings a table begins with: small enough for readable pictures."""
    names = samples.choices()[sample].default_attributes
    seed = None if sample == samples.OWN else 0
    return Settings(
        sample, names, min(3, len(names)), seed=seed, mechanism=FIRST_MECHANISM,
        table=samples.number(sample),
    )  # fmt: skip


# -- changing it -----------------------------------------------------------------------------------


def put(field: str, value: object) -> None:
    """Set one field of the study."""
    setattr(here(), field, value)


def take(wanted: Settings) -> None:
    """Let the study be what a run was started with."""
    now = here()
    now.awaits, now.awaited = False, ()
    now.sample, now.degree, now.mechanism = wanted.sample, wanted.degree, wanted.mechanism
    now.chosen[wanted.sample] = wanted.attributes
    now.epsilon, now.delta, now.seed = wanted.epsilon, written(wanted.delta), wanted.seed
    now.listed = bool(wanted.marginals)
    if wanted.marginals:
        now.lists[wanted.sample] = dict(wanted.marginals)


def written(number: float) -> str:
    """Write 1e-9 as people do."""
    return f"{number:g}".replace("e-0", "e-")


def choose_table(now: Study, sample: str) -> None:
    """Go over to another table; budget and mechanism stay, the seed only among samples."""
    before, now.sample = now.sample, sample
    count = len(now.chosen.get(sample, samples.choices()[sample].default_attributes))
    now.degree = max(1, min(now.degree, count))
    if (before == samples.OWN) != (sample == samples.OWN):
        # A seed gives the noise of one's own table away to whoever knows it; samples are public.
        now.seed = None if sample == samples.OWN else 0


def use(sample: str) -> None:
    """Make a table that was just loaded or picked the current one, from its usual attributes."""
    now = st.session_state.setdefault(_STUDY, Study())
    for kept in (now.chosen, now.lists):
        if sample == samples.OWN:  # names of an earlier table mean nothing in this one
            kept.pop(sample, None)
    now.listed = now.listed and bool(now.lists.get(sample))
    if now.awaits and sample == samples.OWN:
        if now.awaited and set(now.awaited) <= set(samples.domain(sample).names):
            now.chosen[sample] = now.awaited
    else:
        now.degree = 3
    now.awaits, now.awaited = False, ()
    choose_table(now, sample)


def await_own(attributes: tuple[str, ...] = (), **fields: Any) -> None:
    """Ask for the visitor's own file again; the other fields of the study are known already."""
    now = here()
    for name, value in fields.items():
        setattr(now, name, value)
    now.awaits, now.awaited, now.seed, now.listed = True, attributes, None, False


def give_up_waiting() -> None:
    """Go on with the first sample."""
    now = here()
    now.awaits, now.awaited, now.seed = False, (), 0


def add_all(degree: int) -> None:
    """Add every table over so many attributes to the visitor's list, unless it is there."""
    names = attributes()
    for together in combinations(names, min(degree, len(names))):
        asked().setdefault(together, 1.0)


# -- a form as a view of it ------------------------------------------------------------------------


def view(field: str, key: str | None = None) -> dict[str, Any]:
    """Arguments that make a widget a view of one field: its key, and the way back."""
    key = key or field
    st.session_state[key] = getattr(here(), field)
    return {"key": key, "on_change": _write, "args": (field, key)}


def _write(field: str, key: str) -> None:
    if field == "sample":
        choose_table(here(), st.session_state[key])
    else:
        setattr(here(), field, st.session_state[key])


def attributes_view() -> dict[str, Any]:
    """The same for the attributes of the current table."""
    sample = here().sample
    key = f"attributes_{sample}"
    st.session_state[key] = list(attributes())
    return {"key": key, "on_change": _write_attributes, "args": (sample, key)}


def _write_attributes(sample: str, key: str) -> None:
    choose_attributes(sample, st.session_state[key])


def choose_attributes(sample: str, names: list[str]) -> None:
    """Choose attributes of a table, whatever the order they were picked in."""
    picked = set(names)
    order = samples.domain(sample).names
    here().chosen[sample] = tuple(name for name in order if name in picked)


# -- the study and a run ---------------------------------------------------------------------------


def differences(made_with: Settings) -> list[str]:
    """What the study says now that a run was not made with, in a few words each; empty if alike."""
    try:
        now = settings()
    except engine.EngineError:
        return ["not complete"]
    if now == made_with:
        return []
    if (now.sample, now.table) != (made_with.sample, made_with.table):
        return [samples.choices()[now.sample].title, *_changed(made_with, now, _BUDGET)]
    return _changed(made_with, now, (*_TABLES, *_BUDGET))


_Part: TypeAlias = tuple[str, Callable[[Settings], str]]
_TABLES: tuple[_Part, ...] = (
    ("attributes", lambda s: f"{len(s.attributes)} attributes"),
    ("degree", lambda s: "your own list" if s.marginals else f"{s.degree}-way tables"),
    ("marginals", lambda s: "your own list" if s.marginals else f"{s.degree}-way tables"),
)
_BUDGET: tuple[_Part, ...] = (
    ("epsilon", lambda s: f"ε = {s.epsilon:g}"),
    ("delta", lambda s: f"δ = {s.delta:g}"),
    ("seed", lambda s: "new noise" if s.seed is None else f"seed {s.seed}"),
    ("mechanism", lambda s: mechanism_name(s.mechanism)),
)


def _changed(before: Settings, now: Settings, parts: tuple[_Part, ...]) -> list[str]:
    words = [say(now) for name, say in parts if getattr(before, name) != getattr(now, name)]
    return list(dict.fromkeys(words))


def mechanism_name(key: str) -> str:
    """What a form calls a mechanism; the default says what sets it apart from its rounds."""
    if key == catalogue.DEFAULT:
        return f"{catalogue.find(key).title}, everything where that promises more"
    return catalogue.find(key).title
