"""The map in engine/README.md is that of the tree, and its two paths can be walked."""

from __future__ import annotations

import importlib
import re
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import engine
from tests import house
from tests.support import ROOT, SAMPLES

TEXT = (ROOT / "engine" / "README.md").read_text("utf-8")
MOST_STOPS = 10


def section(title: str) -> str:
    """What stands beneath a heading, up to the next one."""
    found = re.search(rf"^#+ {title}\n(.*?)(?=^#)", TEXT, re.S | re.M)
    assert found, title
    return found[1]


def tables() -> list[list[list[str]]]:
    """Names in the first column of each table in the section on rooms, row by row."""
    blocks = re.findall(r"(?:^\|.*\n)+", section("Rooms"), re.M)
    return [
        [re.findall(r"`([^`]+)`", row.split("|")[1]) for row in block.splitlines()[2:]]
        for block in blocks
    ]


def test_the_rooms_are_those_of_the_house_from_top_to_bottom() -> None:
    rooms, _ = tables()
    named = [name.rstrip("/") for row in rooms for name in row]
    inside = [name for name in named if name in house.ROOMS]
    assert inside == list(reversed(house.ROOMS))
    face = {name or "__init__" for name in house.FACE}
    assert set(named) == {"pages", "app.py", *face, *house.ROOMS}
    for name in named:
        assert any(
            (folder / kind).exists()
            for folder in (ROOT, ROOT / "engine")
            for kind in (name, f"{name}.py")
        ), name


def test_every_package_of_the_engine_is_on_the_map() -> None:
    packages = {path.parent.name for path in (ROOT / "engine").glob("*/__init__.py")}
    named = {name.rstrip("/") for row in tables()[0] for name in row}
    assert packages <= named


def test_the_paper_s_modules_are_all_there_from_top_to_bottom() -> None:
    _, paper = tables()
    assert [name for row in paper for name in row] == list(reversed(house.FLAT))


PATHS = ("One table through a run", "One epsilon from the form to the noise")


def stops(title: str) -> list[str]:
    """The functions on a path, as ``module:name``."""
    return re.findall(r"^\d+\. `([^`]+)`", section(title), re.M)


def function(stop: str) -> Any:
    """What a stop names."""
    module, _, name = stop.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("title", PATHS)
def test_a_path_has_at_most_ten_stops_and_none_twice(title: str) -> None:
    found = stops(title)
    assert 2 < len(found) <= MOST_STOPS
    assert len({stop.partition(":")[0] for stop in found}) == len(found), "a module twice"
    assert all(callable(function(stop)) for stop in found)


def first_calls(wanted: list[str], go: Callable[[], object]) -> list[str]:
    """The stops in the order in which they are called first."""
    codes = {getattr(function(s), "__func__", function(s)).__code__: s for s in wanted}
    met: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in codes:
            met.setdefault(codes[frame.f_code])

    before = sys.getprofile()
    sys.setprofile(watch)
    threading.setprofile(watch)
    try:
        go()
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
    return list(met)


def test_a_table_goes_through_a_run_by_the_stops_in_their_order() -> None:
    def go() -> None:
        domain = engine.Domain.from_json(SAMPLES / "titanic.domain.json")
        table = engine.Table.from_csv(SAMPLES / "titanic.csv", domain)
        workload = engine.Workload.all_kway(domain, 2)
        mechanism = engine.AimGrem(finish="rounds")
        engine.run(mechanism, table, workload, rho=0.1, seed=0).release.estimate(0)

    found = stops(PATHS[0])
    assert first_calls(found, go) == found


def test_an_epsilon_goes_from_the_form_to_the_noise_by_the_stops_in_their_order() -> None:
    pytest.importorskip("streamlit")
    from streamlit.testing.v1 import AppTest

    # A page with the one field: what Setup has, and nothing beside it.
    page = "from pages.parts.drawing import form\nform.epsilon()\nform.start()"

    def go() -> None:
        app = AppTest.from_string(page, default_timeout=60).run()
        assert not app.exception
        assert not app.error

    found = stops(PATHS[1])
    assert first_calls(found, go) == found
