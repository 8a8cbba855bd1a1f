"""A picture's form is built once, its numbers each time: forms hold no data, and share none."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import engine
from engine import charts, views
from engine.showing import template
from engine.showing.figure import column
from engine.showing.line_ends import Span, span, spread
from tests.pages.test_charts import HOSTILE, figures, rebuilt, watched

CANARY = "canary 8251"


def table(name: str, values: tuple[str, ...], seed: int) -> Any:
    """A release on a table of its own."""
    domain = engine.Domain(
        (engine.Attribute(name, values=values), engine.Attribute("b", values=("p", "q", "r")))
    )
    codes = np.random.default_rng(seed).integers(0, 2, (50, 2))
    workload = engine.Workload.all_kway(domain, 2)
    return engine.run(
        engine.ResidualPlanner(), engine.Table.from_codes(codes, domain), workload, rho=1.0,
        seed=seed,
    ).release  # fmt: skip


def drawn(release: Any) -> charts.Figure:
    frame = views.released(release.estimate(0, 1))
    names = release.domain.names
    return charts.heatmap(frame, "released", (names[0], names[1]), title="A table")


def test_a_form_is_built_once_whatever_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    import altair as alt

    drawn(table("a", ("x", "y"), 0))
    monkeypatch.setattr(alt, "Chart", None)  # whoever builds now fails
    second = drawn(table("other", ("u", "v"), 1))
    monkeypatch.undo()
    assert rebuilt(second)["layer"][0]["encoding"]["x"]["title"] == charts.safe("other")


def test_two_tables_never_share_data_through_a_form() -> None:
    first = drawn(table(CANARY, (CANARY, "y"), 0))
    before = json.dumps(first.spec())
    second = drawn(table("a", ("x", "y"), 1))
    assert CANARY in before
    assert CANARY not in json.dumps(second.spec())
    # Changing one's own description, as front ends do, changes nobody else's.
    spoiled = first.spec()
    spoiled["layer"][0]["encoding"]["x"]["sort"].append(CANARY)
    spoiled["layer"][0]["encoding"]["color"]["scale"]["domain"][0] = 8251
    spoiled["datasets"]["cells"].clear()
    assert json.dumps(first.spec()) == before
    assert json.dumps(drawn(table(CANARY, (CANARY, "y"), 0)).spec()) == before


def test_no_form_holds_anything_of_what_was_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[template.Template] = []
    filled = template.Template.filled

    def noted(form: template.Template, values: Any) -> Any:
        seen.append(form)
        return filled(form, values)

    run = watched(2, attributes=8, hostile=True)
    monkeypatch.setattr(template.Template, "filled", noted)
    shown = list(figures(run))
    assert len([figure.spec() for figure in shown]) == len(seen)
    forms = json.dumps([form.content for form in seen])
    for text in (name for name in HOSTILE if len(name) > 4):
        assert json.dumps(text)[1:-1] not in forms, text


def test_a_choice_of_a_form_is_never_a_number_or_a_long_text() -> None:
    @template.form
    def made(*, choice: Any) -> Any:
        raise AssertionError

    with pytest.raises(AssertionError, match="a few words"):
        made(choice=3.5)
    with pytest.raises(AssertionError, match="a few words"):
        made(choice=CANARY * 3)


def test_a_place_without_a_value_is_an_error() -> None:
    form = template.Template({"title": template.slot("title"), "sort": template.slots("order")})
    assert form.filled({"title": "a", "order": ["x", "y"]}) == {"title": "a", "sort": ["x", "y"]}
    with pytest.raises(KeyError, match="order"):
        form.filled({"title": "a"})


def test_texts_of_users_are_never_taken_for_places() -> None:
    text = template.slot("title")
    form = template.Template({"title": template.slot("title"), "sort": template.slots("order")})
    assert form.filled({"title": text, "order": [text]}) == {"title": text, "sort": [text]}


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (np.array([1.0, np.nan, np.inf]), [1.0, None, None]), (np.array([1, 2, 3]), [1, 2, 3]),
        (pd.Series(["a", "b", "c"]), ["a", "b", "c"]), (2.5, [2.5] * 3), ("x", ["x"] * 3),
        ([1.0, float("nan"), "a"], [1.0, None, "a"]), (np.array([True, False, True]), [1, 0, 1]),
    ],
)  # fmt: skip
def test_columns_are_plain_and_finite(values: Any, wanted: list[Any]) -> None:
    found = column(values, 3)
    assert found == wanted
    json.dumps(found, allow_nan=False)


def test_a_figure_is_a_chart_for_whoever_wants_one() -> None:
    import altair as alt

    figure = drawn(table("a", ("x", "y"), 0))
    again = charts.Figure(figure.title, figure.chart, figure.alt, figure.badge, figure.frame)
    assert isinstance(again.chart, alt.Chart | alt.LayerChart)
    assert again.spec()["layer"] == figure.spec()["layer"]
    assert again.spec()["datasets"] == figure.spec()["datasets"]


# -- names at the ends of lines --------------------------------------------------------------------


@pytest.mark.parametrize("shares", [[0.5, 0.5, 0.5], [0.0, 0.01, 1.0], [1.0] * 5, [0.2], []])
def test_names_never_stand_on_each_other(shares: list[float]) -> None:
    places = spread(shares, 200)
    gaps = np.diff(sorted(places))
    assert (gaps >= 15 / 200 - 1e-9).all()
    assert all(0 <= place <= 1 for place in places)
    assert [places[k] for k in np.argsort(shares, kind="stable")] == sorted(places)


def test_names_that_have_room_stay_beside_their_lines() -> None:
    assert spread([0.2, 0.5, 0.8], 300) == [0.2, 0.5, 0.8]


@pytest.mark.parametrize("scale", [Span(0.0, 4.0), Span(0.01, 100.0, log=True)])
def test_a_scale_is_read_both_ways(scale: Span) -> None:
    for share in (0.0, 0.3, 1.0):
        assert scale.share(scale.at(share)) == pytest.approx(share)
    assert scale.widened(0.25).share(scale.high) == pytest.approx(0.75)


def test_a_scale_holds_its_values_with_room() -> None:
    assert span([2.0, 8.0], log=False).ends == [0.0, pytest.approx(8.48)]
    assert span([-1.0], log=False).low < -1.0
    single = span([3.0], log=True)
    assert single.low < 3.0 < single.high
