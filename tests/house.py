"""The rooms of the engine, and what breaks them: found in source texts, so that tests can plant it.

An import counts wherever it stands: at the top, inside a function, for the type checker only, or
as a name given to ``importlib``. A class told apart by its name as text counts as a hidden import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from tests.support import ROOT

FLAT = (
    # The paper, lowest first: a module may import only what stands before it.
    "version",
    "types",
    "errors",
    "checking",
    "exact",
    "attributes",
    "domain_file",
    "domain",
    "coding",
    "codes",
    "compiling",
    "threads",
    "jobs",
    "kernels",
    "axes",
    "residuals",
    "layout",
    "counting",
    "workload",
    "accounting",
    "evidence",
    "odometer",
    "noise",
    "exact_draws",
    "exact_noise",
    "released",
    "planner",
    "planner_reference",
    "grem",
    "forecast",
    "trace",
    "strict_csv",
    "tables",
    "samples",
    "selection",
    "measure",
)
_EXACT = {"exact", "exact_noise", "tables", "samples", "selection", "measure"}
_RELEASED = set(FLAT) - _EXACT
ROOMS: dict[str, set[str]] = {
    # Lowest first, with what each may import besides itself.
    "ingest": {
        "version",
        "types",
        "errors",
        "exact",
        "attributes",
        "domain_file",
        "domain",
        "coding",
        "codes",
        "odometer",
        "tables",
    },
    "sources": {
        "types",
        "errors",
        "checking",
        "exact",
        "attributes",
        "domain",
        "coding",
        "codes",
        "counting",
        "layout",
        "odometer",
        "ingest",
    },
    "completing": _RELEASED,
    "mechanisms": {*FLAT, "completing"},
    "exporting": {*_RELEASED, "completing", "mechanisms"},
    "releasing": {*FLAT, "completing", "mechanisms", "exporting"},
    "demonstrating": {*FLAT, "completing", "mechanisms", "exporting"},
    "showing": {*FLAT, "completing", "mechanisms", "exporting", "demonstrating"},
}
FACE = ("charts", "views", "report", "", "commands", "__main__", "widgets")
"""What users name, above every room; ``""`` is ``engine/__init__.py``."""
ANY = "engine.(any)"
Sources = Mapping[str, str]


def sources() -> dict[str, str]:
    """The text of every module by its name below ``engine``; a package is its ``__init__``."""
    found = {}
    for path in sorted((ROOT / "engine").rglob("*.py")):
        parts = list(path.relative_to(ROOT / "engine").with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path.read_text("utf-8")
    return found


def imports(name: str, text: str, known: Sources) -> set[str]:
    """Modules of the engine that a module imports, by whatever way."""
    found = set()
    tree = ast.parse(text)
    if not name:  # the face says the types of what it imports later: that is never run
        tree.body = [node for node in tree.body if not _for_types(node)]
    for imported in _named(tree):
        if imported == "engine" or imported.startswith("engine."):
            below = imported.removeprefix("engine").removeprefix(".")
            while below and below not in known:  # the last part names something in the module
                below = below.rpartition(".")[0]
            found.add(below)
    # "from engine.showing import html" names the package and the module: the module is meant.
    packages = {f.rpartition(".")[0] for f in found if "." in f} | ({""} if found - {""} else set())
    meant = {f for f in found if f not in packages or f in _used_as_package(text)}
    if any(imported == ANY for imported in _named(ast.parse(text))):
        meant.add("")
    return meant - {name}


def _for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _used_as_package(text: str) -> set[str]:
    return {
        node.names[0].name.removeprefix("engine").removeprefix(".")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import)
    }


def _named(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield _text_of(node.args[0])


def _text_of(node: ast.expr) -> str:
    """The fixed beginning of a module's name given as text."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        return str(node.values[0].value).rstrip(".")
    return ANY  # a name made elsewhere may be any module's


def upward(known: Sources) -> list[str]:
    """Imports that go up, each named."""
    return [
        f"engine.{name} imports engine.{imported}"
        for name, text in known.items()
        for imported in sorted(imports(name, text, known))
        if not _may(name, imported)
    ]


def _may(name: str, imported: str) -> bool:
    room, other = name.split(".")[0], imported.split(".")[0]
    if room in FACE:
        # The top may name everything; the other modules of the face stand below it.
        return room in ("", "commands", "__main__", "widgets") or other in ROOMS
    if other in FACE:
        return False
    if room in FLAT:
        return other in FLAT and FLAT.index(other) < FLAT.index(room)
    assert room in ROOMS, f"engine.{name} has no room"
    return other == room or other in ROOMS[room]


def circles(known: Sources) -> list[str]:
    """Modules that import each other in a circle, those of one circle in one line."""
    seen = {name: imports(name, text, known) - {""} for name, text in known.items()}
    ways = {name: reachable(name, seen) for name in seen}
    joined = {
        tuple(sorted({name, *(other for other in ways[name] if name in ways[other])}))
        for name in seen
        if name in ways[name]
    }
    return [" <-> ".join(circle) for circle in sorted(joined)]


def reachable(name: str, seen: Mapping[str, set[str]]) -> set[str]:
    """Everything a module imports, directly or not."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        for used in seen.get(ahead.pop(), set()) - found:
            found.add(used)
            ahead.append(used)
    return found


def names_compared(known: Sources) -> list[str]:
    """Places where a class of the engine is told apart by its name as text."""
    trees = {name: ast.parse(text) for name, text in known.items()}
    classes = {
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    return [
        f"engine.{name}, line {node.lineno}: {ast.unparse(node)}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.Subscript | ast.Call) and _by_name(node, classes)
    ]


def _by_name(node: ast.Compare | ast.Subscript | ast.Call, classes: set[str]) -> bool:
    def is_class_name(part: ast.expr) -> bool:
        return isinstance(part, ast.Attribute) and part.attr in ("__name__", "__qualname__")

    if isinstance(node, ast.Compare):
        texts = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
        return any(map(is_class_name, (node.left, *node.comparators))) and bool(texts & classes)
    if isinstance(node, ast.Subscript):
        return is_class_name(node.slice)
    lookup = isinstance(node.func, ast.Attribute) and node.func.attr == "get"
    return lookup and any(map(is_class_name, node.args))
