"""Every odd file gives the right table, or the right refusal, with the right warnings."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from engine import ingest
from engine.errors import DataError
from tests.ingest.corpus import CASES, Case


def ids(case: Case) -> str:
    return case.name


def test_names_are_distinct_and_there_are_many() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 120


@pytest.mark.parametrize("case", [case for case in CASES if case.error is None], ids=ids)
def test_a_table_comes_out_right(case: Case) -> None:
    preview = ingest.read(case.content(), **case.chosen)
    frame = preview.frame
    assert list(frame.columns) == [f"c{j}" for j in range(len(preview.labels))]
    assert not frame.isna().any().any()
    if case.labels is not None:
        assert list(preview.labels) == list(case.labels)
    if case.rows is not None:
        assert frame.to_numpy().tolist() == [list(row) for row in case.rows]
    if case.count is not None:
        assert len(frame) == case.count
    if case.first is not None:
        assert frame.iloc[0].tolist() == list(case.first)
    if case.last is not None:
        assert frame.iloc[-1].tolist() == list(case.last)
    alone = {"W_ONE_ROW"} if len(frame) == 1 else set()
    assert {note.code for note in preview.warnings} == set(case.warns) | alone
    assert {k: preview.choices[k] for k in case.choices} == dict(case.choices)
    assert len(preview.lines) == len(frame)


@pytest.mark.parametrize("case", [case for case in CASES if case.error is not None], ids=ids)
def test_a_refusal_has_its_code_and_says_where(case: Case) -> None:
    with pytest.raises(DataError) as caught:
        ingest.read(case.content(), **case.chosen)
    assert caught.value.code == case.error
    assert re.search(case.says, str(caught.value))
    assert str(caught.value).count(". ") >= 1, "a message says what to do"


@pytest.mark.parametrize("case", [case for case in CASES if case.error is None], ids=ids)
def test_the_choices_made_give_the_same_table_when_asked_for(case: Case) -> None:
    preview = ingest.read(case.content(), **case.chosen)
    again = ingest.read(case.content(), **preview.choices)
    assert again.labels == preview.labels
    pd.testing.assert_frame_equal(again.frame, preview.frame)
    assert dict(again.choices) == dict(preview.choices)


@pytest.mark.parametrize("case", [case for case in CASES if case.error is None], ids=ids)
def test_every_column_gets_a_proposal_with_a_reason(case: Case) -> None:
    preview = ingest.read(case.content(), **case.chosen)
    for proposal in preview.attributes(*preview.labels[:50]):
        assert proposal.kind in ingest.READINGS
        assert proposal.reason.endswith(".")
        assert len(proposal.examples) <= 3
        assert proposal.kind not in proposal.alternatives
        assert proposal.keep == (proposal.kind not in {"identifier", "text", "constant", "empty"})
