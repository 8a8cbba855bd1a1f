"""The one list of mechanisms: who reads a name, offers a choice or draws a line reads it here.

Pages, command line, widgets, comparison, charts, exported code, benchmarks and tests take their
mechanisms from ``entries``, so a new one is written into ``_ENTRIES`` and nowhere else. The list
itself cannot be changed while a program runs; ``extended`` adds entries for the length of a block,
for tests and for trying a mechanism out.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

from engine.errors import OptionError
from engine.mechanisms.aim_grem import AimGrem
from engine.mechanisms.aim_pgm import AimPgm
from engine.mechanisms.fixed_sequence import FixedSequence
from engine.mechanisms.mwem_grem import MwemGrem
from engine.mechanisms.one_shot import EqualSplit, ResidualPlanner, Uniform

V = TypeVar("V")
Place: TypeAlias = Literal["forms", "comparison"]
"""Where a choice is offered: the forms that start a run (pages, widgets, command line), or the
comparison of mechanisms."""
EVERYWHERE: frozenset[Place] = frozenset({"forms", "comparison"})
COMPARED: frozenset[Place] = frozenset({"comparison"})
FORMS: frozenset[Place] = frozenset({"forms"})
EXTRAS = {"pgm": "mbi"}
"""The package that each extra of pyproject.toml brings along."""


@dataclass(frozen=True, slots=True)
class Style:
    """How charts show a mechanism: never by colour alone.

    Args:
        colour: As ``#RRGGBB``.
        mark: Shape of a point, one of Vega's.
        dash: Lengths of dashes and gaps, pixels.
    """

    colour: str
    mark: str
    dash: tuple[int, ...] = (1, 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One mechanism, with everything others must know of it.

    Args:
        key: Names it in links, sessions, frames and, with dashes, on the command line.
        label: Names it in charts and sentences.
        make: Makes it.
        code: Python that makes it, after ``import engine``.
        style: How charts show it.
        note: What a form adds to the label.
        aliases: Keys and labels of earlier versions; all are understood for ever.
        adaptive: Whether rounds choose by scores (``base.Adaptive``).
        rebudgetable: Whether a run can go on under another budget (``base.Rebudgetable``).
        gives_variances: Whether its answers come with the variance of their noise.
        extra: The extra of pyproject.toml that it needs.
        places: Where it is offered.
        one_ways: Whether the comparison runs it on the 1-way marginals only and answers with their
            product.
    """

    key: str
    label: str
    make: Callable[[], Any]
    code: str
    style: Style
    note: str = ""
    aliases: tuple[str, ...] = ()
    adaptive: bool = False
    rebudgetable: bool = False
    gives_variances: bool = True
    extra: str | None = None
    places: frozenset[Place] = EVERYWHERE
    one_ways: bool = False

    @property
    def title(self) -> str:
        """The label as a form shows it."""
        return f"{self.label}{self.note}"

    @property
    def option(self) -> str:
        """The key as the command line writes it."""
        return self.key.replace("_", "-")

    @property
    def available(self) -> bool:
        """Whether the extra it needs is installed."""
        return self.extra is None or importlib.util.find_spec(EXTRAS[self.extra]) is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Everything it answers to; the command line's spelling comes on top."""
        return (self.key, self.label, self.title, *self.aliases)


_ENTRIES: tuple[Entry, ...] = (
    # In the order in which charts and forms show them.
    Entry(
        "aim_grem", "AIM+GReM", AimGrem, "engine.AimGrem()", Style("#1F82C4", "circle"),
        aliases=("aim_grem_maxent",),
        adaptive=True, rebudgetable=True, gives_variances=False,
    ),
    Entry(
        "aim_grem_rounds", "AIM+GReM, in rounds", lambda: AimGrem(finish="rounds"),
        'engine.AimGrem(finish="rounds")', Style("#1F4E8C", "arrow", (10, 2)),
        adaptive=True, rebudgetable=True, gives_variances=False, places=FORMS,
    ),
    Entry(
        "aim_grem_plain", "AIM+GReM, nothing completed", lambda: AimGrem(completion="none"),
        'engine.AimGrem(completion="none")', Style("#00B5BD", "diamond"),
        adaptive=True, rebudgetable=True,
    ),
    Entry(
        "aim_grem_paper", "AIM+GReM, as published", AimGrem.paper, "engine.AimGrem.paper()",
        Style("#8E44C9", "square", (6, 3)), adaptive=True, rebudgetable=True,
    ),
    Entry(
        "aim_grem_iid", "AIM+GReM, equal noise",
        lambda: AimGrem(noise="iid", completion="none"),
        'engine.AimGrem(noise="iid", completion="none")',
        Style("#B3A2F2", "triangle-left", (3, 3)), note=" (ablation)", aliases=("aim_iid",),
        adaptive=True, rebudgetable=True,
    ),
    Entry(
        "aim_grem_lowered", "AIM+GReM, total lowered", lambda: AimGrem(total="lowered"),
        'engine.AimGrem(total="lowered")', Style("#4C5A8A", "diamond", (6, 2)),
        adaptive=True, rebudgetable=True, gives_variances=False, places=COMPARED,
    ),
    Entry(
        "aim_grem_full", "AIM+GReM, full update",
        lambda: AimGrem(update="full", completion="none"),
        'engine.AimGrem(update="full", completion="none")', Style("#7F9A1E", "square", (2, 2)),
        note=" (ablation)", aliases=("aim_full",), adaptive=True, rebudgetable=True,
        places=COMPARED,
    ),
    Entry(
        "mwem_grem", "MWEM+GReM", MwemGrem, "engine.MwemGrem()",
        Style("#9E2F66", "cross", (4, 2)), adaptive=True,
    ),
    Entry(
        "residual_planner", "ResidualPlanner", ResidualPlanner, "engine.ResidualPlanner()",
        Style("#E69F00", "triangle-up"), note=", one round",
    ),
    Entry(
        "residual_planner_max", "ResidualPlanner, max variance", lambda: ResidualPlanner("max"),
        'engine.ResidualPlanner("max")', Style("#D55E00", "diamond", (6, 3)), note=", one round",
    ),
    Entry(
        "equal_split", "Equal split", EqualSplit, "engine.EqualSplit()",
        Style("#009E73", "triangle-down", (3, 3)), note=", one round",
    ),
    Entry(
        "uniform", "Uniform", Uniform, "engine.Uniform()", Style("#808080", "cross", (2, 4)),
        note=": the total only, spread evenly", aliases=("Total only, spread evenly",),
    ),
    Entry(
        "product", "Product of 1-ways", EqualSplit, "engine.EqualSplit()",
        Style("#E58BC0", "triangle-right", (8, 3, 2, 3)), gives_variances=False, places=COMPARED,
        one_ways=True,
    ),
    Entry(
        "sequence_crp", "Fixed sequence, CRP", FixedSequence, "engine.FixedSequence()",
        Style("#8A5A2B", "diamond"), places=COMPARED,
    ),
    Entry(
        "sequence_iid", "Fixed sequence, equal noise", lambda: FixedSequence(noise="iid"),
        'engine.FixedSequence(noise="iid")', Style("#CDB800", "cross", (6, 3)), places=COMPARED,
    ),
    Entry(
        # Its answers are its model's, not its release's: only benchmarks know to ask for them.
        "aim_pgm", "AIM+PGM", AimPgm, "engine.mechanisms.aim_pgm.AimPgm()",
        Style("#5C5C5C", "arrow", (8, 2)), gives_variances=False, extra="pgm", places=frozenset(),
    ),
)  # fmt: skip
DEFAULT = "aim_grem"
"""What runs unless another is chosen."""

_extra: tuple[Entry, ...] = ()


def entries(place: Place | None = None) -> tuple[Entry, ...]:
    """Return the mechanisms that can run here, in the order in which they are shown.

    Args:
        place: Only those offered there.
    """
    added = {entry.key: entry for entry in _extra}
    listed = [added.pop(entry.key, entry) for entry in _ENTRIES]
    return tuple(
        entry
        for entry in (*listed, *added.values())
        if entry.available and (place is None or place in entry.places)
    )


def find(name: str, place: Place | None = None) -> Entry:
    """Return the entry of this name: its key, label or title, or one of an earlier version.

    Raises:
        OptionError: If none offered there has it.
    """
    there = entries(place)
    for entry in there:
        if name in entry.names or name.replace("-", "_") in entry.names:
            return entry
    raise OptionError(
        f"There is no mechanism {name!r} here; there are {', '.join(e.key for e in there)}. "
        "Choose one of them."
    )


class Listing(Mapping[str, V]):
    """The mechanisms offered in one place, by key; reads the list each time.

    Older names are found too, but not listed.

    Args:
        place: Where they are offered.
        value: What to give for an entry.
        name: What to list it under.
    """

    __slots__ = ("_name", "_place", "_value")

    def __init__(
        self,
        place: Place | None,
        value: Callable[[Entry], V],
        name: Callable[[Entry], str] = lambda entry: entry.key,
    ) -> None:
        self._place, self._value, self._name = place, value, name

    def __getitem__(self, name: str) -> V:
        try:
            return self._value(find(name, self._place))
        except OptionError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter([self._name(entry) for entry in entries(self._place)])

    def __len__(self) -> int:
        return len(entries(self._place))


@contextmanager
def extended(*added: Entry) -> Iterator[None]:
    """Offer further mechanisms, or others under known keys, while this block runs.

    Raises:
        OptionError: If a name of one belongs to another.
    """
    global _extra
    before = _extra
    _extra = (*(entry for entry in before if entry.key not in {a.key for a in added}), *added)
    try:
        _check_names(entries())
        yield
    finally:
        _extra = before


def instead(key: str, make: Callable[[], Any]) -> Entry:
    """Return an entry with another factory, for ``extended``."""
    return replace(find(key), make=make)


def _check_names(listed: tuple[Entry, ...]) -> None:
    owner: dict[str, str] = {}
    for entry in listed:
        for name in entry.names:
            if owner.setdefault(name, entry.key) != entry.key:
                raise OptionError(
                    f"The name {name!r} belongs to the mechanism {owner[name]!r} already; "
                    f"{entry.key!r} needs another. Change its key, label or aliases."
                )


_check_names(_ENTRIES)
