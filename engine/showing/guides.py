"""Axes, legends and tooltips with the text sizes of all charts; named sources of data."""

from __future__ import annotations

from typing import Any


def source(name: str) -> Any:
    """Start a chart on the data of that name, which each picture brings along."""
    import altair as alt

    return alt.Chart(alt.NamedData(name=name))


def axis_with(**settings: Any) -> Any:
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


SHORT = {"labelExpr": "format(datum.value, '~s')"}
"""Numbers such as 12k, each by itself: a format alone writes 2 as 0.002k beside thousands."""


def light_grid(**settings: Any) -> Any:
    """Return an axis with faint lines across the chart."""
    return axis_with(grid=True, gridOpacity=0.25, **settings)


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


def axis_beside(**settings: Any) -> Any:
    """Write each row's label beside its bar."""
    defaults: dict[str, Any] = {"labelLimit": 190, "labelOverlap": False, "ticks": False}
    return axis_with(**(defaults | settings))


def legend_with(**settings: Any) -> Any:
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


def scale_of(values: list[str], looks: list[Any]) -> Any:
    """Return a scale that gives each of these words its look."""
    import altair as alt

    return alt.Scale(domain=values, range=looks)


def as_part(mark: Any, name: str, looks: Any, *, legend: bool = True) -> Any:
    """Give a layer a name in the legend, and the colour that goes with it.

    Args:
        mark: The layer.
        name: One of the words of ``looks``, without a quotation mark.
        looks: Colours by name, as ``scale_of`` makes them.
        legend: Whether this layer brings the legend along.
    """
    import altair as alt

    shown = {"title": None, "legend": legend_with()} if legend else {}
    return mark.transform_calculate(part=f"'{name}'").encode(
        color=alt.Color("part:N", scale=looks, **shown)
    )


def tips(**fields: tuple[str, str | None]) -> list[Any]:
    """Return what pointing at a mark shows: field, title, and the format of a number."""
    import altair as alt

    return [
        alt.Tooltip(f"{field}:{'N' if form is None else 'Q'}", title=title, format=form or "")
        for field, (title, form) in fields.items()
    ]
