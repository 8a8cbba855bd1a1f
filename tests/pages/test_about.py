from __future__ import annotations

from importlib import metadata

import streamlit as st
from streamlit.testing.v1 import AppTest

import engine
from pages.parts.visit import samples
from tests.pages.conftest import texts


def opened(app: AppTest) -> str:
    app.switch_page("pages/about.py").run()
    assert not app.exception
    return texts(app).replace("\\", "")


def test_opens_with_what_is_assumed_and_what_is_not_covered(app: AppTest) -> None:
    said = opened(app)
    for words in ("adding or removing", "rehearsal", "Other releases", "Time and memory",
                  "not a certified release tool", "read from the data"):  # fmt: skip
        assert words in said


def test_versions_and_citations_are_the_real_ones(app: AppTest) -> None:
    said = opened(app)
    environment, citation = (block.value for block in app.code)
    assert f"aim-grem-explorer {engine.__version__}" in environment
    for name in ("numpy", "cvxpy", "streamlit"):
        assert f"{name} {metadata.version(name)}" in environment
    assert "2602.05674" in citation
    assert engine.__version__ in citation
    adult = samples.cards()["adult"]
    assert adult.attribution in said
    assert "CC BY 4.0" in said


def test_settings_are_read_and_a_risky_one_is_named(app: AppTest) -> None:
    assert "Usage statistics: off" in opened(app) or st.get_option("browser.gatherUsageStats")
    before = st.get_option("browser.gatherUsageStats"), st.get_option("server.address")
    try:
        st.config.set_option("browser.gatherUsageStats", True)
        st.config.set_option("server.address", None)
        risky = opened(app)
        st.config.set_option("browser.gatherUsageStats", False)
        st.config.set_option("server.address", "127.0.0.1")
        safe = opened(app)
    finally:
        st.config.set_option("browser.gatherUsageStats", before[0])
        st.config.set_option("server.address", before[1])
    assert "Usage statistics: on" in risky.replace("*", "")
    assert "other computers too" in risky
    assert "Usage statistics: off" in safe
    assert "this computer only" in safe
