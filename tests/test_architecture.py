"""Imports go down one list, what is public is what is listed, and importing stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine
from tests.support import ROOT

ENGINE = ROOT / "engine"

ORDER = [
    # Lowest first: a module may import only what stands before it.
    "version",
    "types",
    "errors",
    "html",  # what every result shows itself with
    "domain",
    "kernels",
    "axes",
    "residuals",
    "layout",
    "workload",
    "accounting",
    "noise",
    "released",
    "completion",
    "fitting",
    "triples",
    "routes",
    "shrinking",
    "shrinkage",
    "completed",  # beliefs -> completed estimates, like grem below trace
    "dense",
    "grem",  # beliefs -> estimates: below trace, whose releases answer with it
    "ascent",
    "nonnegative",
    "trace",
    "consistency",  # a release -> tables that agree
    "tables",
    "selection",
    "rescoring",
    "measure",
    "report",
    "export",  # released values only: it cannot reach the records
    "planner",
    "ingest",
    "mechanisms.base",
    "mechanisms.fixed_sequence",
    "mechanisms.one_shot",
    "mechanisms.aim_grem",
    "mechanisms.mwem_grem",
    "mechanisms.aim_pgm",
    "evaluation",
    "teaching",  # true values, marked on every page
    "comparison",
    "views",
    "pictures",
    "charts",
    "charts_compare",
    "charts_learn",
    "sheets",
    "",  # engine/__init__.py
    "__main__",
    "widgets",
]
SEES_BOTH = {"measure", "selection", "rescoring", "evaluation", "comparison"}
"""Besides the mechanisms: who may know exact and released values (STYLE, the tree)."""
BELOW_TABLES = (
    "planner", "completion", "consistency", "grem", "trace", "released", "report", "export",
)  # fmt: skip
"""Who can reach no record, by whatever way."""
LAZY = {"cvxpy", "altair", "streamlit", "ipywidgets", "pandas"}
ALLOWED_AT_TOP = {"pandas": {"ingest", "views"}, "ipywidgets": {"widgets"}}


def modules() -> dict[str, Path]:
    """Every module of the engine by its name below ``engine``; a package is its ``__init__``."""
    found = {}
    for path in sorted(ENGINE.rglob("*.py")):
        parts = list(path.relative_to(ENGINE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


def place(module: str) -> int:
    """Where a module stands in the list; a module of a package stands with its package."""
    while module not in ORDER and "." in module:
        module = module.rpartition(".")[0]
    assert module in ORDER, f"engine.{module} has no place in the order of imports"
    return ORDER.index(module)


def is_guard(node: ast.AST) -> bool:
    """Whether this is ``if TYPE_CHECKING:``."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(tree: ast.AST, *, top_only: bool = False) -> Iterator[str]:
    """Names of imported modules, those only for the type checker left out."""
    for node in ast.iter_child_nodes(tree):
        if is_guard(node):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not (top_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            yield from imports(node, top_only=top_only)


def engine_imports(name: str, *, top_only: bool = False) -> set[str]:
    """Engine modules that a module imports."""
    known = modules()
    found = set()
    for imported in imports(ast.parse(modules()[name].read_text("utf-8")), top_only=top_only):
        if imported == "engine" or imported.startswith("engine."):
            below = imported.removeprefix("engine").removeprefix(".")
            if below in known and (below or imported == "engine"):
                found.add(below)
    # "from engine import axes" names the package and the module: the module is meant.
    if found - {""} and name not in ("__main__",) and not name.startswith("widgets"):
        found.discard("")
    return found


@pytest.mark.parametrize("name", [m for m in modules() if m != "mechanisms"])
def test_imports_go_down_the_list_only(name: str) -> None:
    for imported in engine_imports(name):
        assert place(imported) <= place(name), f"engine.{name} imports engine.{imported}"
        if place(imported) == place(name):
            assert name.split(".")[0] in ("ingest", "widgets")


def test_exact_and_released_values_never_import_each_other() -> None:
    seen = {name: engine_imports(name) for name in modules()}
    assert "released" not in seen["tables"]
    assert "tables" not in seen["released"]
    both = {n for n, used in seen.items() if {"tables", "released"} <= used and n}
    assert {n for n in both if not n.startswith("mechanisms.")} <= SEES_BOTH
    for below in BELOW_TABLES:
        if below in seen:
            assert not {"tables", "selection", "measure"} & _reachable(below, seen), below


def _reachable(name: str, seen: dict[str, set[str]]) -> set[str]:
    """Everything a module imports, directly or not."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        for used in seen[ahead.pop()] - found - {""}:
            found.add(used)
            ahead.append(used)
    return found


@pytest.mark.parametrize("name", list(modules()))
def test_no_front_end_and_nothing_heavy_is_imported_at_module_level(name: str) -> None:
    tree = ast.parse(modules()[name].read_text("utf-8"))
    top = {imported.split(".")[0] for imported in imports(tree, top_only=True)}
    package = name.split(".")[0]
    for heavy in LAZY & top:
        assert package in ALLOWED_AT_TOP.get(heavy, set()), f"engine.{name} imports {heavy}"
    anywhere = {imported.split(".")[0] for imported in imports(tree)}
    assert "streamlit" not in anywhere
    assert "ipywidgets" not in anywhere or package == "widgets"
    assert "altair" not in anywhere or package.startswith("charts") or package == "widgets"
    assert not {"random", "secrets"} & anywhere, "randomness is an argument"


def test_only_noise_makes_a_generator() -> None:
    for name, path in modules().items():
        if name != "noise":
            text = path.read_text("utf-8")
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


def test_every_public_name_says_what_it_is() -> None:
    for name in engine.__all__:
        value = getattr(engine, name)
        if isinstance(value, type) or callable(value):
            assert value.__doc__, name


def test_importing_the_engine_imports_nothing_heavy() -> None:
    code = (
        "import sys, engine\n"
        f"print(sorted({sorted(LAZY | {'IPython', 'matplotlib'})!r} & sys.modules.keys()))"
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
