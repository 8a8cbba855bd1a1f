"""The paper's experiments, repeated: what ``tests/benchmarks/paper.py`` kept, shown again."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from engine.charts import BLUE, NOT_PRIVATE, RED, Badge, Figure
from pages.parts.drawing import figures, lecture, text

FOLDER = Path(__file__).parents[2] / "tests" / "benchmarks"
"""Where a checkout keeps them; an installation without its tests has none."""
_PUBLIC = "figure3"  # times on random numbers; everything else compares with records
_MARKS: dict[Badge, tuple[str, str]] = {"public": ("■", BLUE), NOT_PRIVATE: ("▲", RED)}


def experiments() -> None:
    """One experiment at a time: its chart, what the paper says, what came out here, and why."""
    path = FOLDER / "paper.csv"
    if not path.exists():
        st.info(
            "The figures are kept beside the tests of a checkout, and this installation has none. "
            "In a checkout, tests/benchmarks/paper.py makes them.",
            icon=":material/info:",
        )
        return
    lecture.prose(
        "The experiments of the paper were run again with this code. Pick one: its chart, then "
        "**what came out here** beside **what the paper says**, and why they differ."
    )
    lines = pd.read_csv(path, dtype=str, keep_default_na=False)
    name = st.pills(
        "Experiment", _names(lines), default="figure4", required=True,
        key="repeated_name", format_func=_called, persist_state="session",
    ) or "figure4"  # fmt: skip
    _experiment(name, lines[(lines["experiment"] == name) & (lines["paper"] != "")])
    st.caption(
        "The paper's ACS and Loans tables are not public: their shapes are filled here with "
        "made-up rows. Times are of another machine. Everything is in tests/benchmarks/paper.md."
    )


def _names(lines: pd.DataFrame) -> list[str]:
    """What there is a line or a chart of, by number."""
    charts = {path.name.removesuffix(".vl.json") for path in (FOLDER / "figures").glob("*.json")}
    return sorted(charts | set(lines["experiment"]), key=lambda name: int(_number(name)))


def _number(name: str) -> str:
    return name.lstrip("figuretabl")


def _called(name: str) -> str:
    number = _number(name)
    return f"{name.removesuffix(number).capitalize()} {number}"


def _experiment(name: str, said: pd.DataFrame) -> None:
    if figures.hidden() and name != _PUBLIC:
        st.caption(f"{_called(name)}: hidden, since it is computed from the records.")
        return
    path = FOLDER / "figures" / f"{name}.vl.json"
    if path.exists():
        said = _chart(name, json.loads(path.read_text(encoding="utf-8")), said)
    once = said.assign(why=said["why"].mask(said["why"].duplicated(), ""))
    for row in once.to_dict("records"):
        st.markdown(_beside(row))
    if not len(said):
        st.caption("The paper states no number about this one.")


def _beside(row: dict[Any, Any]) -> str:
    """One line: what was measured, our number, the paper's words, and why they differ."""
    case, measure, ours, paper, why = (
        text.plain(row[column], longest=500)
        for column in ("case", "measure", "ours", "paper", "why")
    )
    reason = f"  \n:gray[{why[:1].upper()}{why[1:]}.]" if why else ""
    return f"{case}: {measure} **{ours}** here; the paper: **{paper}**.{reason}"


def _chart(name: str, spec: dict[str, Any], said: pd.DataFrame) -> pd.DataFrame:
    """Draw one table's part of a chart; returns what the paper says about that part."""
    rows = spec["data"]["values"]
    parts = list(dict.fromkeys(row["data"] for row in rows))
    part = st.pills(
        "Part", parts, default=parts[0], required=True, key=f"repeated_{name}",
        label_visibility="collapsed", persist_state="session",
    ) or parts[0]  # fmt: skip
    rows = [row for row in rows if row["data"] == part]
    if name != _PUBLIC:  # its sentences are about several parts
        said = said[said["case"].str.startswith(f"{part}, ")]
        said = said.assign(case=said["case"].str.removeprefix(f"{part}, "))
    figures.draw(_figure(name, spec, part, rows, said), f"repeated_chart_{name}")
    return said


def _figure(
    name: str, spec: dict[str, Any], part: str, rows: list[dict[str, Any]], said: pd.DataFrame
) -> Figure:
    badge: Badge = "public" if name == _PUBLIC else NOT_PRIVATE
    title = f"{spec['title']}: {part}"
    heading = {
        "text": textwrap.wrap(title, 40),
        "subtitle": f"{_MARKS[badge][0]} {badge}",
        "subtitleColor": _MARKS[badge][1],
        "subtitleFontSize": 13,
    }
    content = {**spec, "title": heading, "data": {"values": rows}}
    facts = [f"{row['case']}, {row['measure']}: {row['ours']}" for row in said.to_dict("records")]
    sentence = ". ".join([title, *facts[:3]]) + "."
    return Figure(title, content, sentence, badge, pd.DataFrame(rows))
