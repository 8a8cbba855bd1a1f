"""An attribute of two thousand values gives a picture of some, and the sentence says so."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine import charts, views
from engine.showing import notebook, pictures
from engine.showing.foremost import MOST_BARS, MOST_TICKS

VALUES = 2_000


@pytest.fixture(scope="module")
def run() -> engine.Run:
    domain = engine.Domain(
        (
            engine.Attribute("parish", values=tuple(str(k) for k in range(VALUES))),
            engine.Attribute("sex", values=("f", "m")),
        )
    )
    codes = np.stack([np.arange(40) % 7 * 250, np.arange(40) % 2], axis=1)
    workload = engine.Workload.all_kway(domain, 2)
    table = engine.Table.from_codes(codes, domain)
    return engine.run(engine.AimGrem(completion="none"), table, workload, rho=50.0, seed=0)


@pytest.mark.parametrize(("attributes", "drawn"), [(("parish",), MOST_BARS), (None, MOST_TICKS)])
def test_a_strip_of_many_values_shows_those_with_the_largest_counts(
    run: engine.Run, attributes: tuple[str, ...] | None, drawn: int
) -> None:
    strip = charts.filmstrip(run, *(attributes or ("parish", "sex")))
    shown = [
        {code for rows in figure.spec()["datasets"].values() for code in _codes(rows)}
        for figure in strip.figures
    ]
    assert all(f"{VALUES - drawn:,} of 2,000 are not shown" in f.alt for f in strip.figures)
    assert all(len(codes) == drawn for codes in shown)
    assert all(codes == shown[0] for codes in shown), "one choice for all frames of a strip"
    assert {k * 250 for k in range(7)} <= {int(code) for code in shown[0]}, (
        "the true ones stand out"
    )


def _codes(rows: list[dict[str, object]]) -> list[str]:
    names = ("row", "y", "x")
    labels = [str(row[name]) for row in rows for name in names if name in row]
    return [label.strip("\u200b") for label in labels if label.strip("\u200b").isdigit()]


@pytest.mark.parametrize("attributes", [("parish",), ("parish", "sex")])
def test_pictures_of_many_values_can_be_drawn(run: engine.Run, attributes: tuple[str, ...]) -> None:
    pytest.importorskip("vl_convert")
    assert "<img" in charts.filmstrip(run, *attributes).html()
    assert "<img" in charts.round(run, 1, *attributes).html()
    assert "<svg" in pictures.svg(charts.measured(views.measured(
        run.events[0].measurements, run.release.domain  # type: ignore[union-attr]
    )))  # fmt: skip
    assert notebook.mimebundle(run.release.estimate(*attributes))["text/html"]


def test_the_numbers_beneath_have_every_value(run: engine.Run) -> None:
    figure = charts.bars(views.released(run.release.estimate("parish")), "parish", title="All")
    assert len(figure.frame) == VALUES


def test_ends_of_a_shared_scale_are_those_of_all_values(run: engine.Run) -> None:
    frame = views.released(run.release.estimate("parish", "sex"))
    limits = charts.shared_limits(frame, "released")
    assert limits.low == min(0.0, float(frame["released"].min()))
    assert limits.high == float(frame["released"].max())


def test_a_choice_among_codes_that_do_not_begin_at_zero() -> None:
    from engine.showing.foremost import foremost

    frame = views.framed(
        {"i0": [100 + k for k in range(200)], "c0": [f"v{k}" for k in range(200)],
         "released": [float(k % 150) for k in range(200)], "std": [1.0] * 200},
        charts.RELEASED,
    )  # fmt: skip
    (codes,) = foremost(frame)
    assert len(codes) == MOST_BARS
    assert 249 in codes
    assert 100 not in codes
