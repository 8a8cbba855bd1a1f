"""One list of mechanisms: everybody reads it, older names stay, and it says what is true."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.demonstrating import comparison
from engine.exporting import bundle
from engine.mechanisms import catalogue
from engine.showing import contenders
from tests import test_odometer, test_privacy
from tests.support import ROOT, SAMPLES, THROWAWAY, Throwaway, all_mechanisms, make_domain

ALL = catalogue.entries()
FORMS = (
    "aim_grem", "aim_grem_plain", "aim_grem_paper", "aim_grem_iid", "residual_planner",
    "equal_split", "uniform",
)  # fmt: skip
CONTENDERS = (
    "aim_grem", "aim_grem_plain", "aim_grem_paper", "residual_planner", "residual_planner_max",
    "equal_split", "uniform", "product", "aim_iid", "aim_full", "sequence_crp", "sequence_iid",
)  # fmt: skip
TITLES = (
    "AIM+GReM", "AIM+GReM, nothing completed", "AIM+GReM, as published",
    "AIM+GReM, equal noise (ablation)", "ResidualPlanner, one round", "Equal split, one round",
    "Total only, spread evenly",
)  # fmt: skip


@pytest.fixture
def throwaway() -> Iterator[catalogue.Entry]:
    with catalogue.extended(THROWAWAY):
        yield THROWAWAY


def table() -> engine.Table:
    domain = make_domain([3, 2, 2])
    return engine.Table.from_codes([[k % 3, k % 2, k % 2] for k in range(30)], domain)


# -- the list itself -------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.key)
def test_the_code_that_repeats_a_mechanism_makes_it(entry: catalogue.Entry) -> None:
    scope: dict[str, Any] = {}
    exec(f"import engine\nmade = {entry.code}", scope)
    assert scope["made"] == entry.make()


@pytest.mark.parametrize(("names", "place"), [(FORMS, "forms"), (CONTENDERS, "comparison")])
def test_every_key_of_earlier_versions_is_understood(names: Any, place: Any) -> None:
    for name in names:
        catalogue.find(name, place)
    assert catalogue.find("aim_iid").key == "aim_grem_iid"


@pytest.mark.parametrize("title", TITLES)
def test_every_title_of_earlier_versions_is_understood(title: str) -> None:
    assert title in catalogue.find(title, "forms").names


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(engine.OptionError, match=r"'aim'.*aim_grem, aim_grem_rounds"):
        catalogue.find("aim")


def test_no_two_mechanisms_share_a_name_or_a_look() -> None:
    names = [name for entry in ALL for name in dict.fromkeys(entry.names)]
    assert len(set(names)) == len(names)
    assert len({(entry.style.colour, entry.style.mark) for entry in ALL}) == len(ALL)
    with (
        pytest.raises(engine.OptionError, match="'uniform' belongs to"),
        catalogue.extended(replace(THROWAWAY, aliases=("uniform",))),
    ):
        pass
    assert catalogue.entries() == ALL


def test_the_list_is_as_before_after_an_extension_even_when_it_fails() -> None:
    def fail() -> None:
        with catalogue.extended(THROWAWAY):
            assert THROWAWAY in catalogue.entries()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert catalogue.entries() == ALL
    with pytest.raises(TypeError):
        catalogue.Listing("forms", lambda e: e)["new"] = THROWAWAY  # type: ignore[index]


def test_a_mechanism_whose_extra_is_missing_is_not_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package, offered in (("no_such_package", False), ("json", True)):
        monkeypatch.setitem(catalogue.EXTRAS, "test", package)
        needs = replace(THROWAWAY, extra="test")
        with catalogue.extended(needs):
            assert (needs in catalogue.entries()) == offered


@pytest.mark.parametrize("entry", [e for e in ALL if not e.extra], ids=lambda entry: entry.key)
def test_what_a_mechanism_can_do_is_what_the_list_says(entry: catalogue.Entry) -> None:
    mechanism = entry.make()
    workload = engine.Workload.all_kway(table().domain, 2)
    run = engine.run(mechanism, table(), workload, rho=1, seed=0)
    assert entry.adaptive == isinstance(mechanism, engine.Adaptive)
    assert entry.rebudgetable == isinstance(mechanism, engine.Rebudgetable)
    if not entry.one_ways:
        given = [e.variance is not None for e in run.release.estimates()]
        assert given == [entry.gives_variances] * len(given)


# -- a mechanism added in one place ----------------------------------------------------------------


@pytest.mark.usefixtures("throwaway")
def test_a_new_mechanism_is_a_choice_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from engine.__main__ import main

    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert "throw-away" in "".join(capsys.readouterr().out.split())
    domain = str(SAMPLES / "titanic.domain.json")
    asked = ["run", str(SAMPLES / "titanic.csv"), "--domain", domain, "--workload", "1"]
    asked += ["--epsilon", "1", "--delta", "1e-9", "--mechanism", "throw-away", "--quiet"]
    assert main([*asked, "--out", str(tmp_path)]) == 0
    assert '"mechanism": "Throwaway()"' in (tmp_path / "settings.json").read_text("utf-8")


def test_an_unknown_mechanism_is_refused_by_the_command_line_with_the_choices() -> None:
    asked = [sys.executable, "-m", "engine", "run", "t.csv", "--domain", "d", "--workload", "1"]
    asked += ["--epsilon", "1", "--delta", "1e-9", "--out", "o", "--mechanism", "magic"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "invalid choice: 'magic' (choose from 'aim-grem', " in done.stderr


@pytest.mark.usefixtures("throwaway")
def test_a_new_mechanism_competes_and_is_drawn_in_its_own_style() -> None:
    workload = engine.Workload.all_kway(table().domain, 2)
    chosen = comparison.contenders("throw_away", "aim_grem")
    rows = list(
        comparison.trials(
            engine.Private(table()), workload, chosen, epsilons=(1.0,), delta=1e-6, seeds=(0, 1)
        )
    )
    figure = contenders.error_bands(comparison.bands(rows, "mean_l1"), unit="error").spec()
    assert THROWAWAY.style.colour in str(figure)
    assert "Throw-away" in str(figure)


@pytest.mark.usefixtures("throwaway")
def test_a_new_mechanism_is_offered_by_the_widgets() -> None:
    pytest.importorskip("ipywidgets")
    from engine import widgets

    form = widgets.setup(table())
    assert THROWAWAY.title in form.mechanism.options
    form.mechanism.value = THROWAWAY.title
    run = form.start().wait(60)
    assert run is not None
    assert run.release.mechanism == "Throwaway()"
    assert THROWAWAY.title in widgets.compare(table()).mechanisms.options


@pytest.mark.usefixtures("throwaway")
def test_a_new_mechanism_is_offered_by_the_pages_and_their_links_and_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("streamlit")
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.testing.v1 import AppTest

    from tests.pages.conftest import knows_the_frame

    monkeypatch.setattr(PagesManager, "__init__", PagesManager.__init__)  # as it was, afterwards
    knows_the_frame()
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    for page, key in (
        ("plan", "mechanism"),
        ("rounds", "mechanism"),
        ("what_if", "mechanism"),
    ):
        app.switch_page(f"pages/{page}.py").run()
        assert THROWAWAY.title in app.selectbox(key=key).options, page
    app.switch_page("pages/compare.py").run()
    assert THROWAWAY.label in app.multiselect(key="compare_mechanisms").options
    from pages.parts.drawing import code
    from pages.parts.navigation import links
    from pages.parts.visit import session

    wanted, notes = links.read({"sample": "titanic", "mechanism": "throw_away"})
    assert (wanted.settings.mechanism, notes) == ("throw_away", [])
    assert THROWAWAY.code in code.answer(wanted.settings, ("Sex",), at=1)
    assert session.begin(wanted.settings).mechanism == Throwaway()


@pytest.mark.usefixtures("throwaway")
def test_a_new_mechanism_is_named_by_exported_code() -> None:
    workload = engine.Workload.all_kway(table().domain, 1)
    release = engine.run(Throwaway(), table(), workload, rho=1, seed=0).release
    assert f"engine.run({THROWAWAY.code}, " in bundle.code(release, table="t", domain="d")


@pytest.mark.usefixtures("throwaway")
def test_a_new_mechanism_goes_through_the_odometer_and_the_privacy_walk() -> None:
    assert all_mechanisms()["throw_away"] == Throwaway()
    assert test_odometer.violations(all_mechanisms()["throw_away"], 0) == []
    walk = test_privacy.test_nothing_private_can_be_reached_from_states_events_releases_and_runs
    walk("throw_away")


def test_a_new_mechanism_that_draws_without_a_charge_does_not_pass_the_odometer() -> None:
    class Free(Throwaway):
        __slots__ = ()

        def _measure(self, state: Any, private: Any, rng: Any) -> Any:
            _, measured = super()._measure(state, private, rng)
            return state.ledger.charge(), measured

    with catalogue.extended(replace(THROWAWAY, make=Free)):
        found = test_odometer.violations(all_mechanisms()["throw_away"], 0)
    assert any("without a charge" in sentence for sentence in found)
