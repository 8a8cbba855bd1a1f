"""Imports go down one list, what is public is what is listed, and importing stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
import types
from collections.abc import Callable, Iterator

import pytest

import engine
from tests import house
from tests.support import ROOT

SOURCES = house.sources()
SEES_BOTH = {
    "measure", "selection", "demonstrating.evaluation", "demonstrating.trials",
    "showing.values", "showing.notebook", "showing.sheets",
}  # fmt: skip
"""Besides the mechanisms: who may know exact and released values (STYLE, the tree)."""
BELOW_TABLES = ("planner", "grem", "trace", "released")
"""Flat modules that can reach no record, by whatever way; of rooms, ROOMS says it."""
LAZY = {"cvxpy", "altair", "streamlit", "ipywidgets", "pandas"}
ALLOWED_AT_TOP = {
    "pandas": {"ingest", "showing.frame"}, "ipywidgets": {"widgets"},
}  # fmt: skip


def imports(tree: ast.AST, *, top_only: bool = False) -> Iterator[str]:
    """Names of imported modules, those only for the type checker left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif not (top_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            yield from imports(node, top_only=top_only)


def test_imports_go_down_only() -> None:
    assert house.upward(SOURCES) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert house.circles(SOURCES) == []


def test_no_class_is_told_apart_by_its_name() -> None:
    assert house.names_compared(SOURCES) == []


@pytest.mark.parametrize(
    ("module", "line", "found"),
    [
        ("grem", "from engine.showing import html", "engine.grem imports engine.showing.html"),
        ("grem", "def f():\n    import engine.measure", "engine.grem imports engine.measure"),
        ("axes", "import importlib\nimportlib.import_module('engine.trace')", "engine.trace"),
        ("axes", "import importlib\nname = 'x'\nimportlib.import_module(name)", "imports engine"),
        ("released", "if TYPE_CHECKING:\n    from engine.tables import Table", "engine.tables"),
        ("exporting.bundle", "from engine.tables import Table", "imports engine.tables"),
        ("completing.dense", "from engine.mechanisms import base", "engine.mechanisms.base"),
    ],
)
def test_an_import_that_breaks_the_house_is_named(module: str, line: str, found: str) -> None:
    broken = {**SOURCES, module: f"{SOURCES[module]}\n{line}\n"}
    assert any(found in named for named in house.upward(broken))


def test_a_circle_inside_a_room_is_seen() -> None:
    broken = {**SOURCES, "completing.dense": "from engine.completing import completed\n"}
    broken["completing.completed"] += "\nfrom engine.completing import dense\n"
    assert any("completing.completed <-> completing.dense" in c for c in house.circles(broken))


@pytest.mark.parametrize(
    "line",
    [
        'hidden = type(x).__name__ == "Run"',
        "hidden = DRAWN[type(x).__name__]",
        "hidden = DRAWN.get(x.__class__.__qualname__)",
    ],
)
def test_a_class_told_apart_by_its_name_is_seen(line: str) -> None:
    assert len(house.names_compared({"grem": f"class Run: ...\n{line}"})) == 1


def test_exact_and_released_values_never_import_each_other() -> None:
    seen = {name: house.imports(name, text, SOURCES) - {""} for name, text in SOURCES.items()}
    assert "released" not in seen["tables"]
    assert "tables" not in seen["released"]
    both = {n for n, used in seen.items() if {"tables", "released"} <= used and n}
    assert {n for n in both if not n.startswith("mechanisms.")} <= SEES_BOTH
    for below in BELOW_TABLES:
        assert not {"tables", "selection", "measure"} & house.reachable(below, seen), below


@pytest.mark.parametrize("name", list(SOURCES))
def test_no_front_end_and_nothing_heavy_is_imported_at_module_level(name: str) -> None:
    tree = ast.parse(SOURCES[name])
    top = {imported.split(".")[0] for imported in imports(tree, top_only=True)}
    package = name.split(".")[0]
    for heavy in LAZY & top:
        allowed = ALLOWED_AT_TOP.get(heavy, set())
        assert {name, package} & allowed, f"engine.{name} imports {heavy}"
    anywhere = {imported.split(".")[0] for imported in imports(tree)}
    assert "streamlit" not in anywhere
    assert "ipywidgets" not in anywhere or package == "widgets"
    assert "altair" not in anywhere or package in ("showing", "widgets")
    assert not {"random", "secrets"} & anywhere, "randomness is an argument"


def test_only_noise_makes_a_generator() -> None:
    for name, text in SOURCES.items():
        if name != "noise":
            for ambient in ("np.random.", "default_rng", "numpy.random"):
                assert ambient not in text, f"engine.{name} uses {ambient}"


def test_what_is_public_is_what_is_listed_in_order() -> None:
    assert list(engine.__all__) == sorted(engine.__all__)
    assert len(set(engine.__all__)) == len(engine.__all__)
    importable = {
        name
        for name, value in vars(engine).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert importable == set(engine.__all__)


def test_what_is_imported_later_has_its_types_and_dir_shows_public_names_alone() -> None:
    # mypy reads this: of an object without types these calls would be refused.
    read: Callable[..., object] = engine.ingest.read
    framed: Callable[..., object] = engine.views.coverage
    drawn: Callable[..., object] = engine.charts.filmstrip
    assert callable(read)
    assert callable(framed)
    assert callable(drawn)
    later = {"charts", "ingest", "sources", "views", "widgets"}
    assert set(dir(engine)) == {*engine.__all__, "__version__", *later}


def test_every_public_name_says_what_it_is() -> None:
    for name in engine.__all__:
        value = getattr(engine, name)
        if isinstance(value, type) or callable(value):
            assert value.__doc__, name


def test_importing_the_engine_imports_nothing_heavy() -> None:
    code = (
        "import sys, engine\n"
        f"print(sorted({sorted(LAZY | {'IPython', 'matplotlib', 'numba', 'scipy', 'pyarrow'})!r}"
        " & sys.modules.keys()))"
    )
    code = code.replace("['", "{'").replace("'] &", "'} &")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip() == "[]"


def test_pages_never_import_each_other() -> None:
    pages = ROOT / "pages"
    for path in sorted(pages.rglob("*.py")):
        for imported in imports(ast.parse(path.read_text("utf-8"))):
            if imported.startswith("pages."):
                assert imported.startswith("pages.parts"), f"{path.name} imports {imported}"


def test_no_page_asks_again_by_a_clock_that_a_click_on_the_menu_can_meet() -> None:
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                given = {word.arg for word in node.keywords}
                assert "run_every" not in given, f"{path.name}: see pages/parts/navigation/live.py"
                # Closed by that click, it would ask for the page just left.
                popover = ast.unparse(node.func).endswith("popover")
                assert not (popover and "on_change" in given), f"{path.name}: a popover asks"


PARTS = ("visit", "drawing", "navigation", "setup")
"""Packages of ``pages.parts``, lowest first; all others stand above, and beside each other."""


def below(part: str) -> set[str]:
    """What a package of ``pages.parts`` may import besides itself."""
    return set(PARTS[: PARTS.index(part)] if part in PARTS else PARTS)


def wrong_parts(path: str, text: str) -> list[str]:
    """Imports of a module of ``pages.parts`` that go up or aside; what stands in no package too."""
    part = path.split("/")[0]
    return [
        f"{path} imports {imported}"
        for imported in imports(ast.parse(text))
        if imported.startswith("pages.parts")
        and [*imported.split("."), ""][2] not in {part, *below(part)}
    ]


def test_parts_of_pages_stand_in_packages_and_import_down_only() -> None:
    parts = ROOT / "pages" / "parts"
    assert [path.name for path in parts.glob("*.py")] == ["__init__.py"]
    for path in sorted(parts.glob("*/*.py")):
        assert wrong_parts(str(path.relative_to(parts)), path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("visit/session.py", "from pages.parts.drawing import form"),
        ("navigation/links.py", "from pages.parts.rounds import player"),
        ("entry/upload.py", "from pages.parts.rounds.why import say"),
        ("rounds/player.py", "from pages.parts import text"),
    ],
)
def test_a_part_of_pages_that_imports_up_or_aside_is_named(path: str, line: str) -> None:
    assert wrong_parts(path, line) != []
