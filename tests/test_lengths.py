"""Modules and functions of a size one holds in the head; those that are longer say why."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.support import ROOT

MODULE, FUNCTION, MOST_LONG = 400, 40, 3
REASON, LONG = "# Over 400 lines: ", "# Long: "


def texts(*folders: str) -> Iterator[tuple[str, str]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), path.read_text("utf-8")


def too_long(text: str) -> bool:
    """Whether a module is over the limit and does not say why before its first import."""
    return text.count("\n") > MODULE and REASON not in text.partition("\nfrom ")[0]


def long_functions(text: str) -> Iterator[str]:
    """Functions of more lines, docstring and all inside, that do not say why."""
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            told = len((ast.get_docstring(node, clean=False) or "").splitlines())
            whole = lines[node.lineno - 1 : node.end_lineno]
            if len(whole) - told > FUNCTION and not any(LONG in line for line in whole):
                yield node.name


def test_a_module_over_400_lines_says_why_and_there_are_three_at_most() -> None:
    code = [*texts("engine", "pages"), ("app.py", (ROOT / "app.py").read_text("utf-8"))]
    assert sum(text.count("\n") > MODULE for _, text in code) <= MOST_LONG
    assert [name for name, text in [*code, *texts("tests")] if too_long(text)] == []


def test_a_function_over_40_lines_says_why() -> None:
    found = [
        (name, long) for name, text in texts("engine", "pages") for long in long_functions(text)
    ]
    assert found == []


def test_what_is_too_long_is_seen() -> None:
    body = "def f():\n" + "    x = 1\n" * FUNCTION
    assert list(long_functions(body)) == ["f"]
    assert list(long_functions(body.replace(":\n", f":\n    {LONG}one table.\n", 1))) == []
    told = "    more\n" * 50
    assert list(long_functions('def f():\n    """Say.\n' + told + '    """\n')) == []
    assert too_long("x = 1\n" * 401)
    assert not too_long(f"{REASON}a table.\n\nfrom x import y\n" + "x = 1\n" * 401)
