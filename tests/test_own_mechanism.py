"""The mechanism that engine/README.md writes runs wherever the engine's own do."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import engine
from engine import catalogue
from engine.demonstrating import comparison
from tests.support import ROOT
from tests.test_odometer import violations

README = (ROOT / "engine" / "README.md").read_text("utf-8")
SECTION = re.search(r"^## Writing a mechanism\n(.*?)^## ", README, re.S | re.M)
assert SECTION
CODE = "".join(re.findall(r"```python\n(.*?)```", SECTION[1], re.S))


@pytest.fixture(scope="module")
def worst() -> Iterator[Any]:
    """The class that the page writes."""
    written = types.ModuleType("written_in_readme")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, written.__name__, written)  # dataclasses look there
        exec(compile(CODE, "engine/README.md", "exec"), vars(written))
        yield vars(written)["Worst"]


@contextmanager
def offered(worst: Any) -> Iterator[None]:
    style = catalogue.Style("#123456", "circle")
    with catalogue.extended(catalogue.Entry("worst", "Worst first", worst, "Worst()", style)):
        yield


def test_it_is_short_and_uses_what_is_public() -> None:
    body = CODE[CODE.index("class Worst") :]
    assert len([line for line in body.splitlines() if line.strip()]) <= 25
    assert set(re.findall(r"engine\.(\w+)", CODE)) <= set(engine.__all__)


def test_it_spends_its_budget_and_no_more(worst: Any, table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    run = engine.run(worst(), table, workload, epsilon=1.0, delta=1e-9, seed=0)
    assert run.release.ledger.left == 0
    assert run.release.mechanism == "Worst(rounds=5)"
    assert [event.selected for event in run.rounds] == [
        charge.attrs for charge in run.release.ledger.entries if charge.what == "measure"
    ]
    assert violations(worst(), 0) == []


def test_it_competes(worst: Any, table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    named = {"worst": worst(), "uniform": engine.Uniform()}
    made = list(engine.trials(table, workload, named, epsilons=[10.0], seeds=[0, 1]))
    assert comparison.bands(made).set_index("mechanism")["median"].idxmin() == "worst"


def test_it_is_offered_by_the_pages_and_compared_there(
    worst: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("streamlit")
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.testing.v1 import AppTest

    from pages.parts.navigation import links
    from pages.parts.visit import session
    from tests.pages.conftest import knows_the_frame

    monkeypatch.setattr(PagesManager, "__init__", PagesManager.__init__)  # as it was, afterwards
    knows_the_frame()
    with offered(worst):
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
        app.switch_page("pages/plan.py").run()
        assert "Worst first" in app.selectbox(key="mechanism").options
        app.switch_page("pages/compare.py").run()
        assert "Worst first" in app.multiselect(key="compare_mechanisms").options
        wanted, _ = links.read({"sample": "titanic", "mechanism": "worst"})
        assert session.begin(wanted.settings).mechanism == worst()
