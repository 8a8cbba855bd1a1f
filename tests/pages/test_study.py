"""One study: whatever page comes after whatever page, strip, forms, charts and run agree."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import engine
from pages.parts.navigation.frame import PAGES
from pages.parts.visit import samples, session, study
from tests.pages.conftest import ROOT, texts

NAMES = tuple(name for name, _, _ in PAGES)
PAIRS = [(first, second) for first in NAMES for second in NAMES]
EPSILON, MECHANISM = 2.5, "aim_grem_plain"
OWN = ("".join(["fur,paws\n", *(f"f{i % 3},p{i % 2}\n" for i in range(90))])).encode()
KEPT = ("upload", "table", "table_sample", "domain", "domain_source", "table_name", "table_number")
SHOW_OTHERS = ("start", "learn", "data", "about")
"""Pages that name other samples: with figures recorded for everybody, to choose from, to thank."""


def opened(
    page: str, state: dict[str, Any] | None = None, said: dict[str, str] | None = None
) -> AppTest:
    """Open a page in a new session, by an address if there is one."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for name, value in (state or {}).items():
        app.session_state[name] = value
    for name, value in (said or {}).items():
        app.query_params[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def address(app: AppTest) -> dict[str, str]:
    """What the address says now."""
    return {name: v if isinstance(v, str) else v[0] for name, v in app.query_params.items()}


def went(app: AppTest, page: str) -> AppTest:
    """Go to a page as the menu does: the address says nothing but the page."""
    app.query_params.clear()
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


@pytest.fixture(scope="module")
def own() -> dict[str, Any]:
    """What a session holds after a visitor has used a table of their own."""
    app = opened("data")
    app.button_group(key="data_kind").set_value("own").run()
    app.file_uploader(key="file_0").set_value(("praxis.csv", OWN, "text/csv")).run()
    app.button(key="use_table").click().run()
    assert not app.exception
    return {name: app.session_state[name] for name in KEPT}


def agrees(app: AppTest, page: str, sample: str) -> None:
    """Everything on the page is about the same table, budget and mechanism."""
    now = app.session_state["study"]
    assert (now.sample, now.epsilon, now.mechanism) == (sample, EPSILON, MECHANISM)
    strip = str(app.markdown[0].value).replace("\\", "")
    if page == "release":
        is_no_part_of_it(app, strip, sample)
        return
    title = "praxis.csv" if sample == samples.OWN else samples.cards()[sample].title
    assert title in strip
    assert f"ε {EPSILON:g}" in strip
    assert study.mechanism_name(MECHANISM) in strip
    assert "The settings are others" not in texts(app)
    fields = {w.key: w.value for w in [*app.selectbox, *app.number_input, *app.multiselect]}
    wanted = {"sample": sample, "epsilon": EPSILON, "mechanism": MECHANISM}
    for key in fields.keys() & wanted.keys():
        assert fields[key] == wanted[key], key
    if page == "data":
        assert f"In use now: {title}" in texts(app).replace("\\", "")
    attributes = fields.get(f"attributes_{sample}")
    assert attributes is None or attributes == list(now.chosen.get(sample, attributes))
    assert {"sample", "epsilon", "mechanism"} <= fields.keys() or page not in (
        "plan", "rounds", "what_if",
    )  # fmt: skip
    assert not any(error.value for error in app.error), "no field is refused"
    run = app.session_state["visit"].run if "visit" in app.session_state else None
    if run is not None:
        assert (run.settings.sample, run.settings.epsilon) == (sample, EPSILON)
        assert run.settings.mechanism == MECHANISM
    drawn = " ".join(chart.proto.spec + chart.proto.alt for chart in app.get("vega_lite_chart"))
    if page not in SHOW_OTHERS:
        assert "education" not in drawn
        assert "Adult" not in texts(app)


def is_no_part_of_it(app: AppTest, strip: str, sample: str) -> None:
    """Release says nothing of the study: what is released was not looked at before."""
    assert "No true value is shown on this page" in strip
    said = texts(app) + "".join(w.value for w in app.warning)
    assert "praxis" not in said
    assert not app.get("vega_lite_chart")
    assert not app.dataframe
    if sample == samples.OWN:
        assert "makes no private release" in said or "A release needs both" in said


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_page_after_every_page_shows_the_sample_in_use(first: str, second: str) -> None:
    said = {"sample": "hair_eye_color", "epsilon": str(EPSILON), "mechanism": MECHANISM,
            "degree": "2"}  # fmt: skip
    app = opened(first, {"hide_not_private": True}, said)
    agrees(app, first, "hair_eye_color")
    agrees(went(app, second), second, "hair_eye_color")


@pytest.fixture(scope="module")
def walker(own: dict[str, Any]) -> AppTest:
    """One session on a visitor's own table, which goes from pair to pair."""
    mine = study.Study(
        sample=samples.OWN, degree=2, epsilon=EPSILON, seed=None, mechanism=MECHANISM
    )
    return opened("start", {**own, "hide_not_private": True, "study": mine, "at": "start"})


def round_trip() -> list[tuple[str, str]]:
    """All pairs in an order in which each begins where the one before ended."""
    ways, path, tour = {name: list(NAMES) for name in NAMES}, [NAMES[0]], []
    while path:
        if ways[path[-1]]:
            path.append(ways[path[-1]].pop())
        else:
            tour.append(path.pop())
    tour.reverse()
    return list(itertools.pairwise(tour))


@pytest.mark.parametrize(("first", "second"), round_trip())
def test_every_page_after_every_page_shows_one_s_own_table(
    walker: AppTest, first: str, second: str
) -> None:
    if walker.session_state["at"] != first:
        went(walker, first)
    agrees(went(walker, second), second, samples.OWN)
    walker.session_state["at"] = second


def test_the_round_trip_goes_every_way_once() -> None:
    assert sorted(round_trip()) == sorted(PAIRS)


# -- what went wrong -------------------------------------------------------------------------------


def test_setup_after_rounds_shows_the_settings_of_the_run() -> None:
    app = opened("rounds")
    went(app, "plan")
    assert app.number_input(key="epsilon").value == 1.0
    assert app.text_input(key="delta").value == "1e-9"
    assert len(app.multiselect(key="attributes_adult").value) == 5
    assert not app.error
    assert not app.button(key="plan_start").disabled


def test_watch_a_run_after_use_this_table_watches_that_table(own: dict[str, Any]) -> None:
    app = opened("rounds")
    went(app, "data")
    app.button_group(key="data_kind").set_value("own").run()
    app.file_uploader(key="file_0").set_value(("praxis.csv", OWN, "text/csv")).run()
    app.button(key="use_table").click().run()
    went(app, "marginals")
    assert "praxis.csv" in app.info[0].value.replace("\\", ""), "the run of Adult is put away"
    went(app, "rounds")
    run = app.session_state["visit"].run
    assert (run.title, run.settings.sample, app.session_state["visit"].view) == (
        "praxis.csv", samples.OWN, 1,
    )  # fmt: skip


def test_the_form_after_the_titanic_run_says_titanic() -> None:
    app = opened("start")
    app.button(key="teach").click().run()
    went(app, "rounds")
    assert app.selectbox(key="sample").value == "titanic"
    app.button(key="start_run").click().run()
    assert app.session_state["visit"].run.settings.sample == "titanic"


def test_where_study_and_run_differ_one_button_makes_them_agree() -> None:
    app = opened("rounds", said={"sample": "titanic"})
    app.number_input(key="epsilon").set_value(3.0).run()
    app.selectbox(key="degree").set_value(2).run()
    for page in ("rounds", "marginals", "export", "what_if", "compare", "learn"):
        went(app, page)
        said = texts(app).replace("\\", "")
        assert "**2-way tables, ε = 3**" in said, page
        assert app.button(key="run_study"), page
    app.button(key="run_study").click().run()
    assert app.session_state["visit"].run.settings.epsilon == 3.0
    assert not [b for b in app.button if b.key == "run_study"]


def test_settings_that_cannot_be_read_are_named_and_the_run_stays() -> None:
    app = opened("rounds", said={"sample": "titanic"})
    kept = app.session_state["visit"].run
    app.text_input(key="delta").set_value("tiny").run()
    assert "not complete" in texts(app)
    app.button(key="run_study").click().run()
    assert "δ is no number" in app.error[0].value.replace("\\", "")
    assert app.session_state["visit"].run is kept


# -- seeds of one's own table ----------------------------------------------------------------------


def test_one_s_own_table_has_new_noise_each_time(own: dict[str, Any]) -> None:
    mine = study.Study(sample=samples.OWN, seed=None, degree=2)
    app = opened("rounds", {**own, "study": mine})
    first = app.session_state["visit"].run
    app.button(key="start_run").click().run()
    second = app.session_state["visit"].run
    assert first.settings == second.settings
    assert first.settings.seed is None
    one, other = (run.moments[0].event.measurements[0].values for run in (first, second))
    assert (one != other).all(), "the same noise twice gives the table away"
    assert "Fixed seed" not in texts(app)


def test_a_seed_twice_on_one_s_own_table_is_refused(own: dict[str, Any]) -> None:
    mine = study.Study(sample=samples.OWN, seed=7, degree=2)
    app = opened("rounds", {**own, "study": mine})
    kept = app.session_state["visit"].run
    assert kept.settings.seed == 7
    app.number_input(key="epsilon").set_value(3.0).run()
    app.button(key="start_run").click().run()
    assert "Seed 7 was used on your table" in "".join(e.value for e in app.error)
    assert app.session_state["visit"].run is kept
    app.number_input(key="seed").set_value(8).run()
    app.button(key="start_run").click().run()
    assert app.session_state["visit"].run.settings.seed == 8


def test_a_sample_may_have_a_seed_twice_and_the_same_run_may_be_repeated(
    own: dict[str, Any],
) -> None:
    app = opened("rounds", said={"sample": "titanic"})
    app.number_input(key="epsilon").set_value(3.0).run()
    app.button(key="start_run").click().run()
    assert app.session_state["visit"].run.settings.epsilon == 3.0
    mine = study.Study(sample=samples.OWN, seed=7, degree=2)
    app = opened("rounds", {**own, "study": mine})
    before = app.session_state["visit"].run
    app.button(key="start_run").click().run()
    after = app.session_state["visit"].run
    assert after is not before
    assert after.settings == before.settings


# -- a reload --------------------------------------------------------------------------------------


def test_a_reload_comes_back_to_a_public_run_without_a_word() -> None:
    app = opened("rounds", said={"sample": "titanic"})
    app.button(key="next").click().run()
    app.button(key="next").click().run()
    app.button(key="back").click().run()
    before = app.session_state["visit"]
    again = opened("rounds", said=address(app))
    after = again.session_state["visit"]
    assert (after.view, after.run.rounds) == (before.view, before.run.rounds) == (2, 3)
    assert after.run.settings == before.run.settings
    assert "could not be followed" not in texts(again)


def test_a_reload_asks_for_one_s_own_file_by_name_of_kind(own: dict[str, Any]) -> None:
    mine = study.Study(sample=samples.OWN, degree=2, epsilon=EPSILON, seed=None)
    app = opened("rounds", {**own, "study": mine})
    said = address(app)
    assert not {"attributes", "seed", "marginals", "marginal"} & said.keys()
    assert "praxis" not in str(said)
    for page in ("rounds", "marginals", "what_if", "compare", "plan", "export"):
        again = opened(page, said=said)
        strip = again.markdown[0].value
        assert "**Your own file**" in strip
        assert "Adult" not in strip
        assert "Choose it again" in texts(again)
        assert "visit" not in again.session_state or again.session_state["visit"].run is None
    again.button(key="no_own").click().run()
    assert "Adult" in again.markdown[0].value


def test_the_budget_waits_for_the_file() -> None:
    app = opened("data", said={"sample": "own", "epsilon": "2.5", "degree": "2"})
    app.button_group(key="data_kind").set_value("own").run()
    app.file_uploader(key="file_0").set_value(("praxis.csv", OWN, "text/csv")).run()
    app.button(key="use_table").click().run()
    now = app.session_state["study"]
    assert (now.sample, now.epsilon, now.degree, now.awaits) == (samples.OWN, 2.5, 2, False)


def test_settings_are_refused_before_anything_is_counted() -> None:
    with pytest.raises(engine.EngineError):
        session.begin(study.Settings("titanic", ("Sex",), degree=3))


def test_the_data_page_warns_at_the_limit_that_a_run_is_refused_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = """
import engine
from pages.parts.entry import overview
overview.size_meter(engine.Domain.from_sizes({"a": 4, "b": 4}))
"""
    assert not AppTest.from_string(page).run().warning
    monkeypatch.setattr(study, "MOST_CELLS", 15)  # beside all pairs: 16 cells
    assert AppTest.from_string(page).run().warning
