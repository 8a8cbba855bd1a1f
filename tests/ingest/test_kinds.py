# ruff: noqa: E501 - tables of cases read best one case a line
"""What is proposed for a column: the right kind, its reason, and never an attribute in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import ingest
from engine.domain import Domain
from engine.ingest import readings
from engine.ingest.kinds import Proposal
from engine.ingest.scales import ordered
from tests.ingest.shared import shared_data

RIGHT = json.loads((Path(__file__).parent / "right_kinds.json").read_text(encoding="utf-8"))


def right_kinds(file: str) -> dict[str, str]:
    return {label: kind for kind, labels in RIGHT[file].items() for label in labels}


def proposals(file: str) -> tuple[Proposal, ...]:
    return ingest.read(shared_data() / file).attributes()


@pytest.mark.parametrize("file", list(RIGHT))
def test_at_least_nine_in_ten_columns_get_the_right_kind(file: str) -> None:
    right, found = right_kinds(file), proposals(file)
    assert {p.label for p in found} == set(right), "every column has its right kind written down"
    wrong = {p.label: (p.kind, right[p.label]) for p in found if p.kind != right[p.label]}
    assert len(wrong) <= 0.1 * len(found), wrong


@pytest.mark.parametrize("file", list(RIGHT))
def test_the_right_kind_is_one_click_away_where_it_was_not_proposed(file: str) -> None:
    right = right_kinds(file)
    for proposal in proposals(file):
        kind = right[proposal.label]
        assert proposal.kind == kind or kind in proposal.alternatives, proposal.label


@pytest.mark.parametrize("file", list(RIGHT))
def test_a_drafted_domain_holds_every_record(file: str) -> None:
    preview = ingest.read(shared_data() / file)
    domain = ingest.draft_domain(preview)
    assert domain.read_from_data
    table = ingest.encode(preview, domain)
    assert table.codes.shape == (len(domain), len(preview.frame))
    assert Domain.from_dict(domain.to_dict()) == domain


def column(*cells: str, label: str = "x", **choices: str) -> Proposal:
    text = "\n".join([f'"{label}"', *(f'"{cell}"' for cell in cells)]) + "\n"
    return ingest.read(text.encode(), header_line=1, separator=",", **choices).attributes()[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cells", "label", "kind"),
    [
        (["yes", "no", "yes"], "x", "yes/no"),
        (["0", "1", "0", ""], "x", "yes/no"),
        (["ja", "nein"], "x", "yes/no"),
        (["1", "2", "1", "2", "1"], "sex", "categorical"),
        (["34", "35", "34", "71", "12"], "age", "integer"),
        (["1.5", "2.25", "3.5"], "x", "numeric"),
        (["€ 1.50", "€ 2.25", "€ 1,003.50"], "x", "numeric"),
        (["12%", "15%", "7.5%"], "x", "numeric"),
        (["01234", "01235", "01234", "00501", "01234", "01235"], "zip", "categorical"),
        ([str(10**17 + i) for i in range(30)], "x", "identifier"),
        ([str(i) for i in range(1, 60)], "row", "identifier"),
        ([f"p{i:04}" for i in range(60)], "x", "identifier"),
        ([f"user{i}@example.org" for i in range(30)], "mail", "identifier"),
        ([f"I think that item {i} was rather good" for i in range(40)], "x", "text"),
        (["a"] * 5, "x", "constant"),
        (["", ""], "x", "empty"),
        (["2020-01-31", "2021-05-01", ""], "x", "date"),
        (["31/01/2020", "01/05/2021"], "x", "date"),
        (["Mar-2018", "Apr-2018"], "x", "date"),
        (["low", "high", "medium", "low"], "x", "ordinal"),
        (["18-24", "25-34", "65+", "<18"], "age group", "ordinal"),
        (["NA", "DE", "FR", "NA"], "country", "categorical"),
        (["12", "NA", "15", "99", "7", "NA"], "pay", "integer"),
        (["3", "x4", "5", "3", "z", "y"], "x", "categorical"),
        (["inf", "1.5", "-inf", "2.5"], "x", "numeric"),
    ],
)
def test_a_column_reads_as_its_cells_suggest(cells: list[str], label: str, kind: str) -> None:
    assert column(*cells, label=label).kind == kind


def test_a_code_among_numbers_is_offered_as_missing_and_stays_a_value_among_categories() -> None:
    numbers = column("12", "NA", "15", "99", "7", "NA", label="pay")
    assert numbers.missing_codes == ("NA",)
    attribute = ingest.proposed_attribute(numbers)
    assert attribute.missing is not None
    assert attribute.labels[-1] == "NA"
    categories = ingest.proposed_attribute(column("NA", "DE", "FR", "NA", label="country"))
    assert categories.missing is None
    assert categories.values == ("DE", "FR", "NA")


def test_dates_that_could_be_either_way_are_marked() -> None:
    assert column("01/02/2020", "03/04/2020").ambiguous
    assert not column("01/02/2020", "13/04/2020").ambiguous
    assert not column("01/02/2020", "03/14/2020").day_first


def test_decimal_commas_are_numbers_once_the_mark_is_known() -> None:
    assert column("1,5", "2,25", "3,75").kind == "numeric"
    assert column("1.234,5", "2.000,25").kind == "numeric"
    assert column("1,234", "12,000", label="pay").kind == "integer"


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("1", ".", 1), ("-0", ".", 0), (" 7 ", ".", 7), ("1e3", ".", 1000), (".5", ".", 0.5),
        ("1,234,567.5", ".", 1234567.5), ("1.234.567,5", ",", 1234567.5), ("1 234,5", ",", 1234.5),
        ("1'234.5", ".", 1234.5), ("$1,234", ".", 1234), ("12 %", ".", 12), ("(12)", ".", -12),
        ("−3", ".", -3), ("1,5", ".", None), ("1.5", ",", None), ("1,23,456", ".", None), ("", ".", None),
        ("abc", ".", None), ("1_000", ".", None), ("0x10", ".", None), ("1.2.3", ".", None), ("nan", ".", None),
        ("12a", ".", None), ("1 2", ".", None), ("٣", ".", None),
    ],
)  # fmt: skip
def test_numbers_are_read_or_refused(text: str, decimal: str, value: float | None) -> None:
    assert readings.number(text, decimal) == value


def test_values_come_in_the_order_people_expect() -> None:
    assert ordered(["item 10", "item 9"]) == ("item 9", "item 10")
    assert ordered(["2", "10", "1.5"]) == ("1.5", "2", "10")
    assert ordered(["Mar", "Jan"]) == ("Jan", "Mar")


def test_a_proposal_prints_no_cell() -> None:
    assert "secret" not in repr(column("secret", "other", "secret"))
