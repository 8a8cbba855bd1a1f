"""What every picture has: description, numbers, a sentence, a badge, the table behind it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.showing import pictures
from engine.showing.badges import MARKS, NOT_PRIVATE, Badge, strictest
from engine.showing.palette import BADGES
from engine.showing.template import Template

if TYPE_CHECKING:
    import pandas as pd

Columns = Mapping[str, list[Any]]
"""A source of data by columns, all of one length."""


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Figure:
    """A chart with what it needs to be understood without seeing it.

    Args:
        title: A few words.
        chart: Its description in Vega-Lite, or an Altair chart.
        alt: One sentence that says what is to be seen.
        badge: Whether it may be seen outside.
        frame: The numbers, with column names for people; texts in it are as users wrote them. Or a
            function that returns them, called when somebody asks.
        columns: The numbers that the description draws, by the names of its sources.
        values: What goes to the description's places, if it is a ``Template``.
    """

    title: str
    alt: str
    badge: Badge
    columns: Mapping[str, Columns]
    _form: Template
    _values: Mapping[str, Any]
    _frame: Any

    def __init__(
        self,
        title: str,
        chart: Any,
        alt: str,
        badge: Badge,
        frame: pd.DataFrame | Callable[[], pd.DataFrame],
        columns: Mapping[str, Columns] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(chart, Template):
            chart = Template(chart if isinstance(chart, Mapping) else chart.to_dict())
        given = {"title": title, "alt": alt, "badge": badge, "columns": columns or {}}
        own = {"_form": chart, "_values": values or {}, "_frame": frame}
        for name, value in {**given, **own}.items():
            object.__setattr__(self, name, value)

    @property
    def private(self) -> bool:
        """Whether true values can be read from it."""
        return self.badge == NOT_PRIVATE

    @property
    def frame(self) -> pd.DataFrame:
        """The numbers, with column names for people."""
        if callable(self._frame):
            object.__setattr__(self, "_frame", self._frame().reset_index(drop=True))
        shown: pd.DataFrame = self._frame
        return shown

    @property
    def chart(self) -> Any:
        """The Altair chart, made of the description and checked against its schema."""
        import altair as alt

        return alt.Chart.from_dict(self.spec())

    def form(self) -> dict[str, Any]:
        """Return the Vega-Lite description without the numbers of ``columns``, to be changed."""
        return self._form.filled(self._values)

    def spec(self) -> dict[str, Any]:
        """Return the Vega-Lite description, its numbers as rows.

        It is not checked against the schema, which would take most of the time; the tests check
        every kind of chart.
        """
        rows = {name: _rows(columns) for name, columns in self.columns.items()}
        return {**self.form(), "datasets": rows} if rows else self.form()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return pictures.mimebundle(self)

    def __repr__(self) -> str:
        return f"Figure({self.title!r}, {self.badge}: {self.alt})"


def _rows(columns: Columns) -> list[dict[str, Any]]:
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def column(values: Any, count: int) -> list[Any]:
    """Return a column as plain numbers and texts; None where a number is not finite.

    Args:
        values: An array, a pandas column, a list, or one value for every row.
        count: How many rows there are.
    """
    if isinstance(values, str | int | float) or values is None:
        return [values] * count
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        listed: list[Any] = values.tolist()
        if values.dtype.kind in "iubU" or (values.dtype.kind == "f" and np.isfinite(values).all()):
            return listed
        values = listed
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]


def columns(count: int, **named: Any) -> Columns:
    """Return a source of data for so many rows; see ``column``."""
    return {name: column(values, count) for name, values in named.items()}


def drawn(
    template: Template,
    *,
    title: str,
    sentence: str,
    of: Iterable[object],
    table: Callable[[], pd.DataFrame],
    height: int,
    data: Mapping[str, Columns],
    **values: Any,
) -> Figure:
    """Put numbers, title and badge into a form.

    Args:
        template: The form.
        title: A few words.
        sentence: What is to be seen.
        of: Everything that the picture was made from: the strictest of their badges is its own.
        table: Returns the numbers for people.
        height: Of the plot, in pixels.
        data: Its sources by name.
        **values: What goes to the form's places.
    """
    badge = strictest([*of])
    values |= {
        "_title": textwrap.wrap(title, 40) or [title],
        "_badge": f"{MARKS[badge]} {badge}",
        "_badge_colour": BADGES[badge],
        "_height": height,
    }
    return Figure(title, template, sentence, badge, table, data, values)
