"""What a reader must be able to tell apart: marks that never cover, colours, rings, names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import charts, views
from engine.mechanisms import catalogue
from engine.showing import versus
from engine.showing.palette import INK
from tests.pages.test_charts import watched

LIGHT, DARK = "#FFFFFF", "#0E1117"
"""Streamlit's pages."""


def linear(colour: str) -> Any:
    srgb = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio."""
    low, high = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(colour: str) -> Any:
    """CIELAB, in which equal distances look about equally large."""
    matrix = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(matrix @ linear(colour) / [0.95047, 1.0, 1.08883])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def styles() -> dict[str, str]:
    return {entry.key: entry.style.colour for entry in catalogue.entries("comparison")}


def test_no_two_mechanisms_have_colours_that_look_alike() -> None:
    for (one, first), (other, second) in itertools.combinations(styles().items(), 2):
        assert float(np.linalg.norm(lab(first) - lab(second))) > 20, (one, other)
    assert float(np.linalg.norm(lab("#1F82C4") - lab("#0B3C5D"))) < 40, "two blues are near"


@pytest.mark.parametrize("page", [LIGHT, DARK])
def test_every_mechanism_shows_on_a_light_and_on_a_dark_page(page: str) -> None:
    for key, colour in styles().items():
        assert contrast(colour, page) > 1.9, key


def layers(figure: charts.Figure) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    spec = figure.spec()
    for layer in spec["layer"]:
        yield layer["mark"], {**spec.get("encoding", {}), **layer["encoding"]}


def test_in_the_select_chart_no_mark_covers_another() -> None:
    """A bar in its own lane; beneath it a tick that is taller than the dot beside it."""
    run = watched(2)
    seen = run.moments[1].seen
    assert seen is not None
    frame = views.selection(seen, run.domain, None)
    figure = charts.selection(frame, others=3, others_probability=0.1)
    marks = {mark["type"]: mark for mark, _ in layers(figure)}
    bar, tick, dot = marks["bar"], marks["tick"], marks["circle"]
    assert bar["yOffset"] + bar["height"] / 2 < tick["yOffset"] - tick["height"] / 2 + 1e-9
    assert tick["yOffset"] == dot["yOffset"]
    diameter = 2 * float(np.sqrt(dot["size"] / np.pi))
    assert tick["thickness"] < diameter < tick["height"], "neither hides the other"
    order = figure.spec()["layer"][0]["encoding"]["y"]["sort"]
    step = (figure.spec()["height"] - 8) / len(order)
    assert tick["yOffset"] + tick["height"] / 2 <= step / 2, "rows do not reach into each other"


def test_labels_of_the_select_chart_stand_beside_their_bars() -> None:
    run = watched(2)
    seen = run.moments[1].seen
    assert seen is not None
    figure = charts.selection(
        views.selection(seen, run.domain, None), others=0, others_probability=0.0
    )
    axis = figure.spec()["layer"][0]["encoding"]["y"]["axis"]
    assert "labelOffset" not in axis
    assert axis["labelLimit"] >= 150


def test_the_ring_of_the_lattice_shows_on_a_light_and_on_a_dark_page() -> None:
    run = watched(2)
    event = run.moments[2].event
    assert isinstance(event, engine.RoundEnded)
    assert event.selected is not None
    figure = charts.lattice(views.allocation(event, run.domain, event.selected))
    rings = [mark for mark, encoding in layers(figure) if "ring" in str(encoding.get("size"))]
    halo, ring = rings
    assert (halo["color"], ring["color"]) == ("white", INK)
    assert halo["strokeWidth"] > ring["strokeWidth"]
    for page in (LIGHT, DARK):
        assert max(contrast("#FFFFFF", page), contrast(INK, page)) > 12


def test_lines_carry_their_names_and_need_no_legend() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        [(k, r, r / 2, 1 / (r + 1 + k / 50)) for k in (0, 1) for r in range(3)],
        columns=["who", "round", "spent", "error"],
    )
    names = ("ε = 1", "a setting with quite a long name")
    figure = versus.overlay(frame, names)
    ends = figure.columns["ends"]
    assert ends["name"][0].strip("\u200b") == names[0]
    assert "\n" in ends["said"][1]
    assert all(
        channel.get("legend", 0) is None
        for _, encoding in layers(figure)
        for name, channel in encoding.items()
        if name in ("color", "strokeDash", "shape")
    )
    down = figure.spec()["layer"][0]["encoding"]["y"]["scale"]["domain"]
    pixels = [280 * np.log(p / down[0]) / np.log(down[1] / down[0]) for p in ends["place"]]
    assert abs(pixels[0] - pixels[1]) >= 29, "two lines of text"
