from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt
import numpy as np
import pytest

import engine
from engine import charts, views
from engine.demonstrating import watching
from engine.types import AttributeSet
from pages.parts.visit import session

HOSTILE = [
    "$x$", ":red[x]", "*a*", "[a](b)", "<script>", "a.b", "a[b]", "a:b", "a'b", 'a"b', "a\\b", "",
    "two\nlines", "constructor", "toString", "__proto__", "שלום", "🙂", "x" * 300, "=1+1",
]  # fmt: skip


def watched(degree: int = 2, *, attributes: int = 4, hostile: bool = False) -> session.Watched:
    """A short run on a small table."""
    names = HOSTILE[:20] if hostile else [f"attribute {k}" for k in range(20)]
    values = tuple(HOSTILE) if hostile else tuple("abc")
    domain = engine.Domain(
        tuple(engine.Attribute(name, values=values) for name in names[-attributes:])
    )
    codes = np.random.default_rng(0).integers(0, len(values), (500, attributes))
    private = engine.Private(engine.Table.from_codes(codes, domain))
    workload = engine.Workload.all_kway(domain, degree)
    mechanism, rng = engine.AimGrem(completion="none"), engine.rehearsal_noise(0)
    run = watching.begin(mechanism, private, workload, rho=0.5, rng=rng)
    settings = session.Settings("none", domain.names, epsilon=7.0)
    return session.watched(run, settings, "").stepped().stepped()


def figures(run: session.Watched) -> Iterator[charts.Figure]:
    """Every kind of figure that a run has."""
    event, seen = run.moments[2].event, run.moments[2].seen
    assert isinstance(event, engine.RoundEnded)
    assert event.selected is not None
    assert seen is not None
    domain = run.domain
    yield charts.ledger(views.budget(run.events(2)), at=2)
    yield charts.error_curve(views.errors(run.errors(), run.records), at=2)
    ghosts = [
        charts.Ghost("before", views.errors([9.0, 8.0], 500)),
        charts.Ghost("what if", views.errors(run.errors(), 500)),
    ]
    yield charts.error_curve(views.errors(run.errors(), run.records), at=2, ghosts=ghosts)
    yield charts.selection(
        views.selection(seen, domain, event.selected),
        others=seen.others,
        others_probability=seen.others_probability,
    )
    yield charts.lattice(views.allocation(event, domain, event.selected))
    yield charts.measured(views.measured(event.measurements, domain))
    before, after = run.moments[1].state.beliefs, run.moments[2].state.beliefs
    changed = views.touched(before, after, event, run.workload)
    yield charts.touched(changed, domain.names, threshold=event.threshold)
    yield from tables(run, (0, 1) if (0, 1) in run.workload.closure else (0,))


def rebuilt(figure: charts.Figure) -> dict[str, Any]:
    """What Altair makes of a figure's description, checked against the schema."""
    with alt.theme.enable("none"):
        content: dict[str, Any] = figure.chart.to_dict()
    return content


def tables(run: session.Watched, attrs: AttributeSet) -> Iterator[charts.Figure]:
    names = tuple(run.domain[i].name for i in attrs)
    estimate = run.release(2).estimate(*attrs)
    frame = views.comparison(engine.compare(estimate, run.private))
    yield charts.bars(
        views.comparison(engine.compare(run.release(2).estimate(0), run.private)), names[0],
        title="One",
    )  # fmt: skip
    if len(names) == 2:
        pair = (names[0], names[1])
        for column in ("exact", "released", "difference", "difference_sd"):
            yield charts.heatmap(frame, column, pair, title="Two")


@pytest.mark.parametrize(
    ("degree", "attributes"), [(1, 1), (1, 3), (2, 4), (3, 4), (4, 5), (2, 9), (3, 8)]
)
def test_every_chart_is_valid_and_labelled(degree: int, attributes: int) -> None:
    for figure in figures(watched(degree, attributes=attributes)):
        content = rebuilt(figure)
        assert content == figure.spec() | {"$schema": content["$schema"]}
        assert figure.alt.endswith(".")
        assert content["title"]["text"]
        assert figure.badge in content["title"]["subtitle"]
        assert content["usermeta"]["embedOptions"]["actions"] is False
        assert len(figure.frame)


def test_users_texts_are_never_fields() -> None:
    allowed = {None}
    for figure in figures(watched(2, attributes=8, hostile=True)):
        for rows in figure.spec()["datasets"].values():
            allowed |= set(rows[0]) if rows else set()
        assert not allowed & set(HOSTILE)
        assert not set(_fields(figure.spec())) & set(HOSTILE)


def _fields(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("field"), str):
            yield part["field"]
        for value in part.values():
            yield from _fields(value)
    elif isinstance(part, list):
        for value in part:
            yield from _fields(value)


def test_labels_are_harmless_and_stay_different() -> None:
    assert charts.safe("constructor") == "\u200bconstructor"
    assert charts.safe("two\nlines") == "\u200btwo lines"
    assert charts.safe("") == "\u200b(no name)"
    assert len(charts.safe("x" * 300)) == 33
    labels = charts.distinct(["x" * 300, "x" * 301, "y"])
    assert len(set(labels)) == 3
    assert labels[1].endswith("(2)")


def test_true_values_need_a_type_of_their_own() -> None:
    run = watched()
    assert views.released(run.release(2).estimate(0, 1)).columns.tolist() == [
        "i0", "c0", "i1", "c1", "released", "std",
    ]  # fmt: skip
    seen = run.moments[1].seen
    with pytest.raises(TypeError, match="cannot be pickled"):
        seen.__reduce__()


def test_the_glimpse_of_an_insight_keeps_the_chosen_one_and_adds_up() -> None:
    run = watched(3, attributes=8)
    for moment in run.moments[1:]:
        seen = moment.seen
        assert seen is not None
        assert any(c.attrs == moment.event.selected for c in seen.candidates)
        total = sum(c.probability for c in seen.candidates) + seen.others_probability
        assert total == pytest.approx(1, abs=1e-9)
        assert len(seen.candidates) + seen.others == len(run.workload.closure) - 1


def test_the_error_read_from_the_scores_is_the_evaluated_one() -> None:
    run = watched(2)
    for at in (1, 2):
        exact = engine.evaluate(run.release(at), run.private).mean_l1
        assert run.moments[at].error == pytest.approx(exact, rel=1e-9)


def test_a_round_without_knowledge_splits_equally() -> None:
    run = watched(2)
    event = run.moments[1].event
    assert isinstance(event, engine.RoundEnded)
    assert event.selected is not None
    frame = views.allocation(event, run.domain, event.selected)
    assert frame["share"].sum() == pytest.approx(1, rel=1e-9)
    assert (frame["after"] == frame["known"] + frame["added"]).all()
    assert (frame["sigma_now"] <= frame["sigma_before"]).all()


def test_touched_answers_are_those_that_hold_what_was_measured() -> None:
    run = watched(2)
    event = run.moments[2].event
    assert isinstance(event, engine.RoundEnded)
    before, after = run.moments[1].state.beliefs, run.moments[2].state.beliefs
    frame = views.touched(before, after, event, run.workload)
    for attrs, row in zip(run.workload.weights, frame.to_dict("records"), strict=True):
        old = run.release(1).estimate(*attrs).values
        new = run.release(2).estimate(*attrs).values
        assert row["moved"] == pytest.approx(float(np.abs(new - old).sum()), abs=1e-6)
        assert row["touched"] == any(set(m.attrs) <= set(attrs) for m in event.measurements)


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0, "0 %"), (1e-9, "< 0.1 %"), (0.5, "50 %"), (0.1234567, "12.3 %"), (1.0, "100 %"),
        (0.9995, "> 99.9 %"), (1 - 1e-9, "> 99.9 %"),
        (0.9999999999999994, "100 %"),  # a finished run: rounding keeps a little of its budget
    ],
)  # fmt: skip
def test_a_share_is_said_without_rounding_away_what_matters(share: float, said: str) -> None:
    assert views.percent(share) == said
