"""For a room: what the projector button changes, and what may not be cut."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import texts


def specs(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def sizes(part: Any) -> Iterator[float]:
    """Every size of letters that a chart's description names."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key.lower().endswith("fontsize") and isinstance(value, int | float):
                yield value
            else:
                yield from sizes(value)
    elif isinstance(part, list):
        for inside in part:
            yield from sizes(inside)


def sheets(app: AppTest) -> str:
    return "\n".join(str(block.proto.body) for block in app.get("html"))


def test_the_button_enlarges_the_whole_page_and_not_its_fragment_alone(rounds: AppTest) -> None:
    assert "html { font-size: 20px" not in sheets(rounds)
    assert min(min(sizes(spec)) for spec in specs(rounds)) < 18
    rounds.button(key="projector").click().run()
    assert not rounds.exception
    assert "html { font-size: 20px" in sheets(rounds), "letters outside of charts are larger too"
    assert len(specs(rounds)) == 3
    for spec in specs(rounds):
        assert min(sizes(spec)) >= 18, spec["title"]
    rounds.button(key="projector").click().run()
    assert "html { font-size: 20px" not in sheets(rounds)


def test_a_room_reads_the_names_of_candidates_in_full(rounds: AppTest) -> None:
    """Beside bars, large names left no room for bars; above them they are whole."""
    rounds.button(key="projector").click().run()
    choice = next(spec for spec in specs(rounds) if "worst" in str(spec["title"]["text"]))
    axis = choice["layer"][0]["encoding"]["y"]["axis"]
    assert axis["labelAlign"] == "left"
    assert not any("…" in row for row in choice["layer"][0]["encoding"]["y"]["sort"])


def test_no_legend_of_the_cockpit_is_cut(rounds: AppTest) -> None:
    """The third entry of the choice's legend was: the keys are words of the page now."""
    for spec in specs(rounds):
        for layer in spec["layer"]:
            colour = layer["encoding"].get("color", {})
            assert "field" not in colour or colour.get("legend", "") is None
    assert "score: error − noise" in sheets(rounds)
    assert "square: share of the cost" in sheets(rounds)
    rounds.toggle(key="hide_not_private").set_value(True).run()
    assert "score: error − noise" not in sheets(rounds), "no key of a picture that is hidden"
    assert "hidden" in texts(rounds)
