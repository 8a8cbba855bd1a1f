"""The table of promises and tests is true: each test named there is a test that is there."""

from __future__ import annotations

import ast
import re

from engine.releasing import words
from tests.support import ROOT

TABLE = ROOT / "tests" / "releasing" / "README.md"
_ROW = re.compile(r"^\| (T\d+) \| ([^|]+) \| `([\w/]+\.py)::(\w+)` \|$")


def rows() -> list[tuple[str, str, str, str]]:
    """Kind, what, file and test of each line of the table."""
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| T")]
    found = [_ROW.match(line) for line in lines]
    assert all(found), [line for line, row in zip(lines, found, strict=True) if row is None]
    return [(row[1], row[2], row[3], row[4]) for row in found if row is not None]


def test_every_test_that_is_named_for_a_promise_is_there_and_asserts_something() -> None:
    missing = []
    for kind, _, path, name in rows():
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
        body = ast.unparse(found[0]) if found else ""
        if not re.search(r"\bassert\b|pytest\.raises|settled|check_never_too_little", body):
            missing.append((kind, path, name))
    assert missing == []


def plainly(text: str) -> str:
    """Without marks and line breaks."""
    return " ".join(re.sub(r"[*`]", "", text).replace("- ", " ").split())


def test_the_page_about_says_the_same_words_as_the_page_on_security() -> None:
    said = plainly((ROOT / ".github" / "SECURITY.md").read_text("utf-8"))
    every = (*words.PROMISED, *words.TRUSTED, *words.NOT_COVERED, words.REPORT)
    assert len(every) > 10
    assert [one for one in every if plainly(one) not in said] == []
    about = (ROOT / "pages" / "about.py").read_text("utf-8")
    for name in ("PROMISED", "TRUSTED", "NOT_COVERED", "REPORT"):
        assert f"words.{name}" in about


def test_every_kind_has_its_tests_and_none_is_named_twice() -> None:
    kinds = [kind for kind, *_ in rows()]
    assert set(kinds) == {f"T{number}" for number in range(1, 11)}
    names = [(path, name) for _, _, path, name in rows()]
    assert len(set(names)) == len(names) >= 50
    assert "tests/releasing/README.md" in (ROOT / ".github" / "SECURITY.md").read_text("utf-8")
