"""A declared domain at a glance: its attributes, and how large what could be asked for is."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from engine.domain import Domain
from pages.parts.entry import upload
from pages.parts.visit import study


def attributes(domain: Domain) -> None:
    """Show the attributes and their values."""
    rows = [
        {
            "attribute": attribute.name,
            "kind": attribute.kind,
            "values": attribute.size,
            "such as": ", ".join(list(attribute.labels[:4])),
            "missing": attribute.missing.rule if attribute.missing else "",
            "from": attribute.source,
        }
        for attribute in domain
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="The attributes and their values")


def size_meter(domain: Domain) -> None:
    """Say how large what could be asked for is, before anything runs; from the domain alone."""
    cells = upload.sizes(domain)
    one, two, three, everything = st.columns(4)
    one.metric("Cells, one attribute", _amount(cells["one"]))
    two.metric("Cells, all pairs", _amount(cells["two"]))
    three.metric("Cells, all triples", _amount(cells["three"]))
    everything.metric("Possible records", _amount(cells["all"]))
    if study.too_large(cells["two"]):
        st.warning(
            "All pairs together are too large to hold on a page. Use coarser bins, or fewer "
            "attributes.",
            icon=":material/data_usage:",
        )


def _amount(number: int) -> str:
    if number < 100_000:
        return f"{number:,}"
    if number < 10**15:
        return f"{number:.3g}" if number >= 10**9 else f"{number / 1e6:,.3g} M"
    return f"10^{math.floor(math.log10(number))}"
