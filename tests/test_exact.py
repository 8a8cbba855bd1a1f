"""Nothing that holds an exact value prints it, pickles it, copies it or compares it."""

from __future__ import annotations

import ast
import copy
import dataclasses
import importlib
import inspect
import pickle
import re
import types
from collections.abc import Iterator

import numpy as np
import pytest

import engine
from engine.exact import Exact
from engine.mechanisms.rescoring import CompletedCandidates
from engine.selection import Budgets, Candidates, score
from tests import house
from tests.support import ROOT, make_domain

NOTHING_EXACT = {
    # In rooms of exact values, and yet without one; each for a reason.
    "tables.CountSource": "a protocol: what counts is behind it",
    "tables.Foreseeing": "the same",
    "selection.Budgets": "public budgets",
    "demonstrating.knobs.Clamped": "of invented incomes",
    "demonstrating.knobs.Binned": "the same",
    "demonstrating.trials.Contender": "a mechanism and its name",
    "demonstrating.finishes.Crossed": "names of mechanisms and of finishes",
    "demonstrating.bugs.Bug": "the text of a mistake",
    "demonstrating.bugs.Found": "an audit on two tables invented for it",
    "demonstrating.pouring.Step": "a public budget, shared out",
    "demonstrating.pouring.Poured": "the same",
    "ingest.limits.Limits": "public sizes",
    "ingest.dialect.CsvReader": "a protocol",
    "ingest.dialect.Dialect": "separators and quotes",
    "ingest.encoding.Encoding": "a name, and how many characters do not fit it",
    "ingest.notes.Offer": "a choice to make, in words",
    "ingest.notes.Note": "a sentence without any cell",
    "ingest.structure.Structure": "names of columns",
    "ingest.names._Labels": "names of columns",
    "ingest.choices.Choices": "choices of a person",
    "ingest.reader._Reader": "functions, no table",
    "tables.Reader": "a protocol: what a reader of files does",
    "showing.figure.Figure": "its Columns are named lists of numbers to draw, with a badge",
    "showing.touched._Way": "the same",
    # Widgets and threads cannot be pickled, copied or printed as values.
    "widgets.player.Explorer": "a widget",
    "widgets.trials.Trials": "a widget",
    "widgets.form.Setup": "a widget",
}
ROOMS = (
    "tables", "selection", "measure", "demonstrating", "ingest", "sources", "mechanisms.rescoring",
)  # fmt: skip
"""Where a new class is taken for one that holds exact values, until the list above says why not."""


def classes() -> Iterator[tuple[str, type, ast.ClassDef]]:
    """Every class of the engine with its full name and its source."""
    for name, text in house.sources().items():
        if name == "__main__":
            continue
        module = importlib.import_module(f"engine.{name}".rstrip("."))
        for node in ast.parse(text).body:
            found = getattr(module, node.name, None) if isinstance(node, ast.ClassDef) else None
            if isinstance(found, type) and not issubclass(found, BaseException):
                assert isinstance(node, ast.ClassDef)
                yield f"{name}.{node.name}", found, node


def holds(node: ast.ClassDef, exact: set[str]) -> bool:
    """Whether a field, or what it is made of, is of an exact type."""
    said = [part.annotation for part in node.body if isinstance(part, ast.AnnAssign)]
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            said += [a.annotation for a in (*part.args.args, *part.args.kwonlyargs) if a.annotation]
    words = {word for note in said for word in re.findall(r"\w+", ast.unparse(note))}
    return bool(words & exact)


def test_every_class_that_can_hold_an_exact_value_is_of_one_kind() -> None:
    every = list(classes())
    exact = {kind.__name__ for _, kind, _ in every if issubclass(kind, Exact)} | {"CountSource"}
    assert {"Private", "Table", "Candidates", "CompletedCandidates", "Trial", "Preview"} <= exact
    open_ones = [
        name
        for name, kind, node in every
        if (name.startswith(ROOMS) or holds(node, exact))
        and not issubclass(kind, Exact)
        and name not in NOTHING_EXACT
    ]
    assert open_ones == []
    assert not set(NOTHING_EXACT) - {name for name, _, _ in every}, "named, and not there"


def of_pages() -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class of the pages, with the file it stands in; a page cannot be imported."""
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                yield f"{path.relative_to(ROOT / 'pages')}:{node.name}", node


def bases(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).rpartition(".")[2] for base in node.bases}


PAGES_SHOW_IT = {"parts/visit/session.py:Ghost"}
"""Classes of pages that hold exact numbers as plain ones: no type in a field says so."""
PAGES_NOTHING = {
    "parts/visit/study.py:Study": "its Asked are names and weights",
    "parts/visit/worker.py:Job": "a thread",
}


def test_every_class_of_the_pages_that_can_hold_an_exact_value_is_of_that_kind() -> None:
    exact = {kind.__name__ for _, kind, _ in classes() if issubclass(kind, Exact)}
    found = dict(of_pages())
    while True:  # what holds one that holds one
        more = {node.name for node in found.values() if holds(node, exact) or bases(node) & exact}
        more -= exact
        if not more:
            break
        exact |= more
    assert {"Upload", "Visit", "Watched", "Pair"} <= exact
    for name, node in found.items():
        if (node.name in exact or name in PAGES_SHOW_IT) and name not in PAGES_NOTHING:
            assert bases(node) & (exact | {"Exact"}), name
            said = [ast.unparse(part) for part in node.decorator_list]
            wanted = ("slots=True", "eq=False", "repr=False")
            assert all(option in part for part in said for option in wanted), name
    assert PAGES_SHOW_IT | set(PAGES_NOTHING) <= set(found), "named, and not there"


def test_no_exact_data_class_lists_its_fields_for_whoever_asks() -> None:
    kinds = [kind for _, kind, _ in classes() if issubclass(kind, Exact)]
    listing = [kind for kind in kinds if dataclasses.is_dataclass(kind)]
    assert len(listing) > 10
    for kind in listing:
        with pytest.raises(TypeError, match="not listed"):
            dataclasses.fields(object.__new__(kind))
    marginal = engine.Private(
        engine.Table.from_codes([[0], [1]], engine.Domain.from_sizes({"a": 2}))
    ).marginal((0,))
    for way in (dataclasses.asdict, dataclasses.astuple, dataclasses.replace):
        with pytest.raises(TypeError, match="not listed"):
            way(marginal)
    assert marginal.changed(attrs=(1,)).values is marginal.values


def test_a_curve_of_true_errors_beside_a_run_is_not_printed_pickled_or_compared() -> None:
    from pages.parts.visit.session import Ghost

    ghost = Ghost("the run before", 0, (123.456, 78.9))
    assert "123" not in f"{ghost!r} {ghost}"
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(ghost)
    assert ghost != Ghost("the run before", 0, (123.456, 78.9))


@pytest.mark.parametrize(
    "kind", [k for _, k, _ in classes() if issubclass(k, Exact)], ids=lambda k: k.__qualname__
)
def test_an_exact_type_refuses_to_be_pickled_copied_and_compared(kind: type) -> None:
    if inspect.isabstract(kind):
        kind = types.new_class("Concrete", (kind,), exec_body=lambda ns: ns.update(__slots__=()))
        kind.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]
    empty = object.__new__(kind)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(empty, protocol)
    for leave in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            leave(empty)
    assert kind.__eq__ is object.__eq__, "two of them can be compared"
    assert kind.__hash__ is object.__hash__
    # A data class writes a __repr__ of all fields unless it is told not to.
    source = inspect.getsource(kind) if kind.__module__.startswith("engine") else ""
    assert "@dataclass" not in source or "repr=False" in source


def test_what_a_run_works_with_shows_no_count_and_no_error() -> None:
    domain = make_domain([4, 3, 2])
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, n, 10_007) for n in domain.sizes], axis=1)
    table = engine.Table.from_codes(codes, domain)
    private, workload = engine.Private(table), engine.Workload.all_kway(domain, 2)
    run = engine.run(engine.AimGrem(), private, workload, rho=1, seed=0)
    candidates = Candidates(private, workload, run.release.beliefs)
    completed = CompletedCandidates(private, workload, run.release.beliefs)
    evaluated = engine.evaluate(run.release, private)
    (error, *_) = evaluated.per_marginal.values()
    shown = [table, private, private.marginal((0,)), candidates, completed, candidates._errors,
             score(candidates, Budgets(run.release.ledger.total, run.release.ledger.total)),
             evaluated, error, engine.compare(run.release.estimate(0), private)]  # fmt: skip
    for value in shown:
        for text in (repr(value), str(value), f"{value}"):
            assert not re.search(r"\d{3,}|\d\.\d", text), text
    # Every slot of the candidates holds N and every marginal: none of it gets into bytes.
    for value in shown:
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps([value])
