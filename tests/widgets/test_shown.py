"""What results show of themselves: every kind, hostile labels, nothing private, no library."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest

import engine
from engine import charts
from engine.demonstrating.evaluation import NotReleased
from engine.showing import html, notebook, pictures, sheets, values
from tests.support import ROOT

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</div></svg>", "$x$", r"\(y\)",
    "a'b", 'a"b', "two\nlines", "constructor", "__proto__", "", "שלום", "🙂", "x" * 300,
    "&lt;b&gt;", "javascript:alert(1)", "a.b[0]:Q", "=1+1", "`code`", "*a*",
]  # fmt: skip
RECORDS = 1009
"""A prime that stands nowhere unless somebody counts."""


def hostile_table(names: list[str]) -> engine.Table:
    domain = engine.Domain(
        tuple(engine.Attribute(name, values=tuple(HOSTILE)) for name in names), title=HOSTILE[0],
        row=HOSTILE[1],
    )  # fmt: skip
    codes = np.minimum(np.random.default_rng(0).geometric(0.2, (RECORDS, len(names))) - 1, 19)
    return engine.Table.from_codes(codes, domain)


def results(names: list[str]) -> Iterator[Any]:
    """Every kind of result on a table with these names."""
    table = hostile_table(names)
    workload = engine.Workload.all_kway(table.domain, 2)
    private, aim = engine.Private(table), engine.AimGrem(completion="none")
    run = engine.run(aim, private, workload, epsilon=1.0, delta=1e-9, seed=0)
    yield from (table.domain, table, private, workload, run, run.release, run.release.ledger)
    estimate, alone = run.release.estimate(0, 1), run.release.estimate(0)
    yield from (estimate, alone, run.release.estimate())
    yield from (engine.compare(estimate, table), engine.compare(alone, table))
    yield engine.evaluate(run.release, private)
    state, _ = next(engine.rounds(aim, private, workload, rho=0.5, rng=engine.rehearsal_noise(0)))
    yield engine.insight(aim, state, private)
    yield engine.run(engine.ResidualPlanner(), private, workload, rho=0.5, seed=0)


class Reader(HTMLParser):
    """Collects tags and the attributes that could do something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.acts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name.startswith("on") or (name in ("href", "src") and value):
                self.acts.append(f"{name}={(value or '')[:30]}")


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


ALLOWED = {
    "div", "span", "b", "br", "code", "table", "thead", "tbody", "tr", "th", "td", "figure",
    "figcaption", "img", "wbr",
}  # fmt: skip


DRAWN = {"svg", "g", "path", "text", "tspan", "rect", "line", "defs", "linearGradient", "stop",
         "clipPath"}  # fmt: skip


def check_harmless(text: str) -> None:
    reader = read(text)
    assert set(reader.tags) <= ALLOWED
    assert all(act.startswith("src=data:image/svg+xml") for act in reader.acts)
    for address in re.findall(r'src="([^"]*)"', text):
        drawn = ElementTree.fromstring(unquote(address.partition(",")[2]))
        for node in drawn.iter():
            assert node.tag.partition("}")[2] in DRAWN
            assert not any(name.startswith("on") or "href" in name for name in node.attrib)


def test_every_result_has_text_and_html_and_says_who_may_see_it() -> None:
    kinds = set()
    for result in results(["age", "sex"]):
        kinds.add(type(result).__name__)
        assert type(result).__name__ in repr(result)
        bundle = notebook.mimebundle(result)
        assert bundle["text/plain"] == repr(result)
        marks = {kind for kind in html.KINDS if kind in values.render(result)}
        assert marks, result
        not_private = isinstance(result, NotReleased)
        assert (html.NOT_PRIVATE in marks) == not_private
    assert kinds >= {
        "Domain", "Table", "Workload", "Run", "Release", "Estimate", "Ledger", "Evaluation",
        "Comparison", "Insight", "Private",
    }  # fmt: skip


def test_hostile_labels_are_escaped_everywhere() -> None:
    for result in results([HOSTILE[0], HOSTILE[1]]):
        check_harmless(values.render(result))
        check_harmless(notebook.mimebundle(result)["text/html"])


def test_pictures_of_a_result_are_pictures_and_not_their_source() -> None:
    pytest.importorskip("vl_convert")
    for result in results(["age", "sex"]):
        if sheets.picture(result):
            drawn = notebook.mimebundle(result)["text/html"]
            assert drawn.count("<img") == len(sheets.picture(result)) > 0
            assert "&lt;figure" not in drawn


def test_a_run_with_many_rounds_says_which_are_left_out_and_that_nothing_is_left() -> None:
    table = hostile_table(["a", "b", "c", "d"])
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.MwemGrem(rounds=14), table, workload, epsilon=1.0, delta=1e-9, seed=0)
    assert "rounds 11 to 12" in values.render(run)
    assert "rounds shown" not in values.render(run)
    left = run.release.ledger
    almost = engine.Ledger(left.total).charge(
        engine.Charge("measure", (0,), left.total * Fraction(10**18 - 1, 10**18))
    )
    assert "nothing" in values.render(almost)
    assert "nothing left" in repr(engine.Finished(3, almost.spent, almost.left))
    assert "0 left" in repr(engine.Finished(3, left.total, Fraction(0)))


def test_results_in_a_list_stand_one_below_the_other() -> None:
    run = next(r for r in results(["age", "sex"]) if isinstance(r, engine.Run))
    bundle = notebook.several(run.rounds)
    assert bundle is not None
    assert bundle["text/html"].count("<b>Round ") == min(len(run.rounds), 6)
    assert notebook.several([]) is notebook.several([1, run]) is None


def test_a_mechanism_shows_what_differs_from_the_default() -> None:
    assert "All settings are the default" in values.render(engine.AimGrem())
    shown = values.render(engine.AimGrem.paper())
    assert "respend" in shown
    assert ">update<" not in shown


def test_an_evaluation_names_attributes() -> None:
    made = next(r for r in results(["age", "sex"]) if isinstance(r, engine.Evaluation))
    assert "age × sex" in values.render(made)
    assert "positions" not in values.render(made)


def test_a_picture_has_its_size_beside_it_and_no_ground_of_its_own() -> None:
    pytest.importorskip("vl_convert")
    run = next(r for r in results(["age", "sex"]) if isinstance(r, engine.Run))
    for figure in charts.round(run, 1).figures:
        drawn = pictures.svg(figure)
        assert 'fill="white"/><g' not in drawn.partition("<g")[0] + drawn[:400]
        assert re.search(r'<img [^>]*width="\d+" height="\d+"', pictures.image(figure))


def test_each_of_many_answers_says_its_name_when_pointed_at() -> None:
    pytest.importorskip("vl_convert")
    table = hostile_table([*HOSTILE[:3], "x", "y", "z", "u"])
    workload = engine.Workload.all_kway(table.domain, 3)
    run = engine.run(engine.AimGrem.paper(), table, workload, rho=0.5, seed=0)
    figure = next(f for f in charts.round(run, 1).figures if f.title == "Which answers changed")
    drawn = pictures.image(figure)
    check_harmless(drawn)
    said = re.findall(r'<span title="([^"]*)"', drawn)
    assert len(said) == len(figure.frame) >= len(workload.weights)
    assert any("x × y × z" in one for one in said)


def test_scales_stay_where_they_are_from_round_to_round() -> None:
    table = hostile_table(["a", "b", "c", "d"])
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.AimGrem.paper(), table, workload, rho=0.5, seed=0)
    ends: dict[str, set[str]] = {}
    for number in range(1, len(run.rounds) + 1):
        for figure in charts.round(run, number, "a", "b").figures:
            for domain in re.findall(r"'domain': (\[[-\d., e]+\])", str(figure.form())):
                ends.setdefault(figure.title, set()).add(domain)
    ends.pop("What the round paid for")  # as deep as the marginal; its discs are absolute
    assert {title: len(found) for title, found in ends.items()} == dict.fromkeys(ends, 1)
    assert len(ends) >= 3


def test_no_axis_calls_two_records_two_thousand() -> None:
    pytest.importorskip("vl_convert")
    table = hostile_table(["a", "b"])
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(engine.AimGrem.paper(), table, workload, epsilon=900, delta=1e-3, seed=0)
    figure = next(f for f in charts.round(run, 0).figures if f.title == "What was measured")
    words = re.findall(r"<text[^>]*>([^<]*)</text>", pictures.svg(figure))
    assert "1k" in words
    assert {"−2", "2"} <= set(words)


def test_sheets_and_figures_escape_hostile_labels_too() -> None:
    table = hostile_table(HOSTILE[3:6])
    run = engine.run(
        engine.AimGrem(completion="none"),
        table,
        engine.Workload.all_kway(table.domain, 2),
        rho=0.5,
        seed=0,
    )
    for sheet in (charts.round(run, 0), charts.round(run, 1), charts.filmstrip(run, 0, 1)):
        check_harmless(sheet._repr_html_())
        assert sheet.title in repr(sheet)
        for figure in sheet.figures:
            assert figure.alt in figure._repr_mimebundle_()["text/plain"]


SMALL = {"AimState", "Consistent", "CountSource", "Missing", "MwemState", "RandomSource", "Work",
         "Mechanism", "Adaptive", "Rebudgetable", "Account", "Released"}  # fmt: skip
"""Protocols, states and switches, for which their text is enough; accounts say it themselves."""


def test_every_public_value_shows_itself() -> None:
    shown = {kind.__name__ for kind in notebook.SHOWN}
    kinds = {
        name
        for name in engine.__all__
        if isinstance(getattr(engine, name), type)
        and not issubclass(getattr(engine, name), BaseException)
    }
    assert kinds - SMALL == shown


def smaller(names: list[str]) -> Iterator[Any]:
    """Every kind of smaller value of a run on a table with these names."""
    table = hostile_table(names)
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(
        engine.AimGrem(completion="none"), table, workload, epsilon=1.0, delta=1e-9, seed=0
    )
    started, ended, finished = run.events[0], run.rounds[0], run.events[-1]
    yield from (started, ended, finished, *ended.allocations[:1], *ended.measurements[:1])
    yield from (run.release.beliefs, next(iter(run.release.beliefs.values())))
    yield from (run.release.ledger.entries[0], table.domain[0])
    yield from (engine.AimGrem(), engine.MwemGrem(), engine.ResidualPlanner(), engine.EqualSplit())
    yield from (engine.Uniform(), engine.FixedSequence())
    yield engine.ResidualPlanner().predict(workload, rho=1.0)


def test_smaller_values_show_themselves_short_and_harmless() -> None:
    for value in smaller([HOSTILE[0], HOSTILE[1]]):
        assert isinstance(value, notebook.SHOWN), value
        drawn = notebook.mimebundle(value)["text/html"]
        check_harmless(drawn)
        assert len(drawn) < 9_000, "a screenful at most"
        kinds = {kind for kind in html.KINDS if kind in drawn}
        made = isinstance(value, engine.Attribute | engine.Prediction) or hasattr(value, "start")
        assert (html.PUBLIC if made else html.RELEASED) in kinds


def test_a_small_value_says_what_it_is_in_numbers() -> None:
    domain = engine.Domain.from_sizes({"a": 3, "b": 2})
    table = engine.Table.from_codes([[k % 3, k % 2] for k in range(31)], domain)
    run = engine.run(
        engine.AimGrem(completion="none"), table, engine.Workload.all_kway(domain, 2), rho=0.5,
        seed=0,
    )  # fmt: skip
    event = run.rounds[0]
    shown = values.render(event)
    assert "Round 1" in shown
    assert f"{float(event.rho_measure):.4g}" in shown
    (first, *_) = event.measurements
    assert f"{first.precision**-0.5:.4g}" in values.render(first)
    assert f"{first.values.ravel()[0]:,.1f}" in values.render(first)
    assert "completion" in values.render(engine.AimGrem(completion="none"))


def test_html_escapes_whatever_is_not_marked_as_html() -> None:
    hostile = "<b>&</b>"
    assert hostile not in html.box(hostile, html.PUBLIC, hostile)
    assert hostile not in html.table((hostile,), [(hostile,)], align="l")
    assert hostile not in html.facts(a=hostile)
    assert hostile not in html.warning(hostile)
    assert hostile not in html.line("<i>{}</i>", hostile)
    assert "<i>&lt;b&gt;" in html.line("<i>{}</i>", hostile)
    twice = html.escape(html.escape(hostile))
    assert str(twice).count("&amp;amp;") == 1, "what is escaped already is a text like any other"


def test_formula_signs_stand_alone_so_that_no_notebook_typesets_them() -> None:
    assert html.escape("$x$") == "<span>$</span>x<span>$</span>"
    assert html.escape(r"\(x\)") == r"<span>\</span>(x<span>\</span>)"


def test_private_results_never_show_how_many_records_there_are() -> None:
    texts = []
    for result in results(["age", "sex"]):
        if isinstance(result, engine.Table | engine.Private | NotReleased):
            texts += [repr(result), values.render(result)]
    assert not any(number in text for text in texts for number in (f"{RECORDS}", f"{RECORDS:,}"))


def test_the_total_beside_the_truth_shows_no_number_at_all(table: engine.Table) -> None:
    run = engine.run(
        engine.Uniform(), table, engine.Workload.all_kway(table.domain, 1), rho=0.5, seed=0
    )
    shown = notebook.mimebundle(engine.compare(run.release.estimate(), table))["text/html"]
    assert "σ" not in shown


def test_without_vl_convert_a_front_end_gets_the_description(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = next(r for r in results(["age", "sex"]) if isinstance(r, engine.Run))
    monkeypatch.setattr(pictures, "can_draw", lambda: False)
    bundle = notebook.mimebundle(run.release.estimate("age"))
    assert bundle[pictures.VEGA_LITE]["$schema"].endswith("v5.json")
    sheet = charts.round(run, 1)
    assert pictures.VEGA_LITE in sheet.figures[0]._repr_mimebundle_()
    assert "<img" not in sheet.html()
    assert html.escape(sheet.figures[0].alt, longest=600) in sheet.html()


def test_a_round_that_is_not_there_is_refused(table: engine.Table) -> None:
    run = engine.run(
        engine.AimGrem(completion="none"),
        table,
        engine.Workload.all_kway(table.domain, 2),
        rho=0.5,
        seed=0,
    )
    for number in (-1, len(run.rounds) + 1, True, "1"):
        with pytest.raises(engine.OptionError, match="There is no round"):
            run.at(number)  # type: ignore[arg-type]
    last = run.at(len(run.rounds))
    assert last.ledger == run.release.ledger
    assert np.allclose(last.estimate("age").values, run.release.estimate("age").values)
    assert run.at(0).ledger.spent == sum(c.rho for c in run.events[0].charges)
    with pytest.raises(engine.OptionError, match="one or two attributes"):
        sheets.marginal(run.release.estimate())


def test_engine_and_reprs_work_with_no_front_end_and_no_chart_library_installed() -> None:
    code = """
import importlib.abc, sys
BLOCKED = {"ipywidgets", "altair", "IPython", "pandas", "vl_convert", "anywidget", "streamlit"}
class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in BLOCKED:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Block())
import engine
from engine.showing import notebook
domain = engine.Domain.from_sizes({"a": 3, "b": 2})
table = engine.Table.from_codes([[k % 3, k % 2] for k in range(31)], domain)
workload = engine.Workload.all_kway(domain, 2)
run = engine.run(engine.AimGrem(completion="none"), table, workload, rho=0.5, seed=0)
for shown in (domain, table, run, run.release, run.release.ledger, run.release.estimate("a"),
              engine.compare(run.release.estimate("a", "b"), table)):
    bundle = notebook.mimebundle(shown)
    assert sorted(bundle) == ["text/html", "text/plain"], bundle
print("fine")
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "fine", done.stderr


def test_a_workload_of_the_total_alone_can_be_shown(table: engine.Table) -> None:
    run = engine.run(
        engine.AimGrem(completion="none"),
        table,
        engine.Workload([()], table.domain),
        rho=0.5,
        seed=0,
    )
    assert "<img" not in notebook.mimebundle(run)["text/html"]
    for number in range(len(run.rounds) + 1):
        assert charts.round(run, number).figures
