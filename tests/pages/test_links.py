"""Links and saved sessions: back at the same moment, and never with anybody's data."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import engine
from pages.parts.navigation import links, saved
from pages.parts.visit import samples, session
from tests.pages.conftest import texts

SETTINGS = session.Settings(
    "titanic", ("Class", "Sex", "Survived"), 2, 1.7, 1e-7, 12, "aim_grem_plain"
)


def visit(app: AppTest) -> Any:
    return app.session_state["visit"]


def made(settings: session.Settings, rounds: int) -> session.Watched:
    run = session.begin(settings)
    for _ in range(rounds):
        run = run.stepped()
    return run


def opened(app: AppTest, page: str, said: dict[str, str]) -> AppTest:
    for name, value in said.items():
        app.query_params[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def test_a_link_opens_the_same_run_at_the_same_round(app: AppTest) -> None:
    run = made(SETTINGS, 3)
    opened(app, "rounds", links.query(run, 2, ("Class", "Sex")))
    there = visit(app)
    assert there.view == 2
    assert there.run.settings == SETTINGS
    ours, theirs = run.release(2), there.run.release(2)
    assert ours.ledger == theirs.ledger
    for attrs, belief in ours.beliefs.items():
        assert np.array_equal(theirs.beliefs[attrs].values, belief.values)
    looked = app.selectbox(key=f"look_{there.run.number}")
    assert looked.value == [a for a in run.workload.closure if a].index((0, 1)) + 1
    assert "could not be followed" not in texts(app)
    assert app.number_input(key="seed").value == 12
    assert app.selectbox(key="sample").value == "titanic"


def test_a_link_is_followed_once(app: AppTest) -> None:
    opened(app, "rounds", links.query(made(SETTINGS, 1), 1))
    app.button(key="next").click().run()
    app.button(key="next").click().run()
    assert visit(app).view == 3, "a rerun does not go back to where the link led"
    app.button(key="again").click().run()
    assert visit(app).run.settings.seed == 13
    assert app.query_params["seed"] == "13", "a refresh would otherwise bring the old run back"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sample", "patients.csv"), ("sample", "../../etc/passwd"), ("attributes", ""),
        ("attributes", "Sex,name"), ("degree", "9"), ("degree", "two"), ("epsilon", "nan"),
        ("epsilon", "0"), ("epsilon", "1e999"), ("delta", "1"), ("delta", "-1"), ("seed", "-1"),
        ("seed", "1.5"), ("seed", "9" * 5000), ("mechanism", "magic"), ("round", "-3"),
        ("round", "<script>alert(1)</script>"), ("marginal", "Age"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_becomes_the_default_and_is_said(name: str, value: str) -> None:
    said = links.query(made(SETTINGS, 0), 0) | {name: value}
    wanted, notes = links.read(said)
    assert any(f"The {name} in it cannot be used" in note for note in notes)
    assert value not in " ".join(notes) or value in ("", "1", "0")
    kept = set(session.Settings.__slots__) - {name}
    if name != "sample":
        assert all(getattr(wanted.settings, k) == getattr(SETTINGS, k) for k in kept)


def test_a_malformed_link_gives_a_plain_message_and_a_run(app: AppTest) -> None:
    opened(app, "rounds", {"sample": "titanic", "epsilon": "much", "round": "99999"})
    said = texts(app).replace("\\", "")
    assert "The epsilon in it cannot be used; 1.0 is taken instead." in said
    assert "rounds, not 99999; this is its last." in said
    assert visit(app).run.finished


def test_a_link_to_a_run_that_is_refused_is_explained(app: AppTest) -> None:
    names = ",".join(samples.domain("adult").names)
    opened(app, "rounds", {"sample": "adult", "attributes": names, "degree": "4"})
    assert "Choose fewer attributes" in texts(app).replace("\\", "")
    assert visit(app).run is not None, "the page goes on with its own default"


def test_an_address_says_nothing_but_settings() -> None:
    said = links.query(made(SETTINGS, 1), 1, ("Sex",))
    assert set(said) <= set(links.NAMES)
    names = [n for name in samples.cards() for n in samples.domain(name).names]
    assert not any("," in name for name in names), "names are joined by commas"


def own(run: session.Watched) -> session.Watched:
    """The run as if its table were a visitor's, called after a file."""
    from dataclasses import replace

    settings = replace(run.settings, sample=samples.OWN)
    return run.changed(settings=settings, title="zq-patients.csv")


def test_a_visitor_s_own_table_has_no_link_and_a_session_without_seed_or_name() -> None:
    run = own(made(SETTINGS, 1))
    assert links.query(run, 1) == {}
    text = saved.text(run, 1)
    assert "zq-patients" not in text
    assert "seed" not in json.loads(text)
    found = saved.read(text.encode())
    assert found == saved.OwnTable(SETTINGS.attributes, 2, 1.7, 1e-7, "aim_grem_plain")


def test_a_saved_session_is_read_back() -> None:
    run = made(SETTINGS, 3)
    assert saved.read(saved.text(run, 1).encode()) == links.Wanted(SETTINGS, 1, 3)


GOOD = json.loads(saved.text(made(SETTINGS, 1), 1))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x80\x04\x95pickle", b"[]", b"{}", b"null", b"[" * 100_000, b"x" * (1 << 19),
        *(json.dumps({k: v for k, v in GOOD.items() if k != left}).encode()
          for left in ("format", "epsilon", "attributes", "rounds")),
        *(json.dumps(GOOD | change).encode() for change in (
            {"sample": "patients"}, {"sample": ["adult"]}, {"attributes": [{}]}, {"epsilon": None},
            {"epsilon": True}, {"seed": 1.5}, {"round": "x"}, {"mechanism": {}}, {"degree": 99},
            {"sample": samples.OWN, "attributes": "x"}, {"sample": samples.OWN, "degree": True},
        )),
    ],
)  # fmt: skip
def test_a_file_that_is_no_session_is_refused_by_a_typed_error(content: bytes) -> None:
    with pytest.raises(engine.DataError, match="no session that can be reloaded") as caught:
        saved.read(content)
    assert caught.value.code == "E_FORMAT"


def test_the_address_shown_on_export_leads_back(app: AppTest) -> None:
    opened(app, "export", links.query(made(SETTINGS, 2), 2))
    shown = next(code.value for code in app.code if "sample=" in code.value)
    parts = urlsplit(shown)
    assert parts.path.endswith("/rounds")
    said = {name: values[0] for name, values in parse_qs(parts.query).items()}
    wanted, notes = links.read(said)
    assert notes == []
    assert (wanted.settings, wanted.round) == (SETTINGS, 2)
