"""A look inside: the first rows of a marginal's file, and nothing that is not in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
import streamlit as st

import engine
from engine import views
from pages.parts.drawing import figures, text
from pages.parts.visit import session

_SHOWN = 8


def show(run: session.Watched, answer: engine.Estimate, *, teach: bool) -> None:
    """The first rows as the file has them; beside the truth for a teaching bundle only."""
    columns = [*_label_columns(answer), *_number_columns(answer)]
    if teach and not figures.hidden():
        exact = engine.compare(answer, run.private).exact.ravel()[:_SHOWN]
        columns.append(("true ▲", [f"{value:,.0f}" for value in exact]))
    shown = pd.DataFrame(dict(zip(range(len(columns)), (c for _, c in columns), strict=True)))
    st.table(shown.set_axis(_different(name for name, _ in columns), axis=1), hide_index=True,
             border="horizontal")  # fmt: skip
    left = answer.values.size - len(shown)
    more = f"…and {left:,} more rows. " if left else ""
    why = "▲ not private." if teach else "This is all that the file holds: no true column."
    st.caption(more + why)
    adaptive = isinstance(run.mechanism, engine.Adaptive)
    for limit in views.coverage_limits(answer, adaptive=adaptive):
        st.caption(f":material/info: {text.plain(limit, longest=500)}")


def _label_columns(answer: engine.Estimate) -> Iterator[tuple[str, list[str]]]:
    shown = min(answer.values.size, _SHOWN)
    codes = np.unravel_index(range(shown), answer.values.shape) if answer.attrs else ()
    for i, column in zip(answer.attrs, codes, strict=True):
        attribute = answer.domain[i]
        labels = [text.plain(attribute.labels[k], longest=40) for k in column.tolist()]
        yield text.plain(attribute.name or "(no name)", longest=40), labels


def _number_columns(answer: engine.Estimate) -> Iterator[tuple[str, list[str]]]:
    values = answer.values.ravel()[:_SHOWN].tolist()
    yield "count", [f"{value:,.1f}" for value in values]
    if answer.std:
        yield "noise σ", [f"{answer.std:,.1f}"] * len(values)


def _different(names: Iterable[str]) -> list[str]:
    """Keep names apart: shortened ones may be the same, and an attribute may be called count."""
    seen: Counter[str] = Counter()
    different = []
    for name in names:
        different.append(name + "\u200b" * seen[name])
        seen[name] += 1
    return different
