"""What every chart has: the figure, its sources, axes and legends, title and badge."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.showing import pictures
from engine.showing.badges import MARKS, NOT_PRIVATE, Badge
from engine.showing.palette import GREEN, RED

if TYPE_CHECKING:
    import pandas as pd

COLOURS = {"released": GREEN, "public": "#2E86C1", NOT_PRIVATE: RED}


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A chart with what it needs to be understood without seeing it.

    Args:
        title: A few words.
        chart: The Altair chart.
        alt: One sentence that says what is to be seen.
        badge: Whether it may be seen outside.
        frame: The numbers, with column names for people; texts in it are as users wrote them.
    """

    title: str
    chart: Any
    alt: str
    badge: Badge
    frame: pd.DataFrame

    @property
    def private(self) -> bool:
        """Whether true values can be read from it."""
        return self.badge == NOT_PRIVATE

    def spec(self) -> dict[str, Any]:
        """Return the Vega-Lite description, not checked against its schema.

        The check is most of the time a chart takes; the tests make it for every kind of chart.
        """
        bare = self.chart.copy(deep=False)
        bare.datasets = {}
        content: dict[str, Any] = bare.to_dict(validate=False)
        return {**content, "datasets": self.chart.datasets}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return pictures.mimebundle(self)


def finished(
    chart: Any,
    sources: Sources,
    title: str,
    sentence: str,
    badge: Badge,
    frame: pd.DataFrame,
    *,
    height: int,
) -> Figure:
    """Add title, badge and the settings that hold for all charts."""
    import altair as alt

    heading = alt.TitleParams(
        text=textwrap.wrap(title, 40) or [title],
        subtitle=f"{MARKS[badge]} {badge}",
        subtitleColor=COLOURS[badge],
        subtitleFontSize=13,
        subtitlePadding=4,
        fontSize=16,
        anchor="start",
        frame="bounds",
        offset=10,
    )
    # Set on the finished chart: each of Altair's own ways would copy and check everything again.
    chart.title = heading
    chart.height = height
    # The width is the page's, the height that of the plot alone: axes and legend come on top.
    chart.autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
    chart.padding = {"left": 0, "right": 6, "top": 2, "bottom": 2}
    chart.config = alt.Config(view=alt.ViewConfig(stroke=None))
    chart.usermeta = {"embedOptions": {"actions": False}}
    chart.datasets = sources.datasets
    return Figure(title, chart, sentence, badge, frame.reset_index(drop=True))


class Sources:
    """The records behind a chart, kept aside until it is finished.

    Altair copies a chart, its records included, at every step of its making.
    """

    __slots__ = ("datasets",)

    def __init__(self) -> None:
        self.datasets: dict[str, list[dict[str, Any]]] = {}

    def chart(self, frame: pd.DataFrame) -> Any:
        """Start a chart on plain records: no row limit, NaN and infinity as null."""
        import altair as alt

        name = f"rows{len(self.datasets)}"
        columns = [column for column in frame.columns if column != "names"]
        text = frame[columns].to_json(orient="records", double_precision=15)
        self.datasets[name] = json.loads(text)
        return alt.Chart(alt.NamedData(name=name))


def axis_with(**settings: Any) -> Any:
    """Return an axis with the text sizes of all charts, and these settings."""
    """Return an axis with the text sizes of all charts, and these settings."""
    import altair as alt

    defaults: dict[str, Any] = {
        "labelFontSize": 13,
        "titleFontSize": 14,
        "titlePadding": 6,
        "labelPadding": 4,
        "grid": False,
    }
    return alt.Axis(**(defaults | settings))


def axis_above() -> Any:
    """Write each row's label above its bar: the bars then have the whole width, on a phone too."""
    return axis_with(
        orient="left",
        labelAlign="left",
        labelBaseline="middle",
        labelPadding=-1,
        labelOffset=-18,
        labelLimit=330,
        labelOverlap=False,
        ticks=False,
        domain=False,
        zindex=1,
    )


def legend_with(**settings: Any) -> Any:
    """Return a legend below the chart with the text sizes of all charts, and these settings."""
    """Return a legend below the chart with the text sizes of all charts, and these settings."""
    import altair as alt

    defaults: dict[str, Any] = {
        "orient": "bottom",
        "labelFontSize": 13,
        "titleFontSize": 13,
        "symbolSize": 120,
        "labelLimit": 200,
        "columns": 3,
        "offset": 6,
    }
    return alt.Legend(**(defaults | settings))


def tips(**fields: tuple[str, str | None]) -> list[Any]:
    """Return what pointing at a mark shows: field, title, and the format of a number."""
    """Return what pointing at a mark shows: field, title, and the format of a number."""
    import altair as alt

    return [
        alt.Tooltip(f"{field}:{'N' if form is None else 'Q'}", title=title, format=form or "")
        for field, (title, form) in fields.items()
    ]
