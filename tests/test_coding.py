"""When a cell is a value: numbers as people write them, codes that only look like numbers."""

from __future__ import annotations

import pytest

import engine
from engine.attributes import Attribute, Missing
from engine.codes import MISSING, OUTSIDE, encode
from engine.coding import canonical, number, same

AGE = Attribute("age", "integer", bounds=(0, 5_000))


@pytest.mark.parametrize("text", ["1_000", "0x10", "1e", "1,00", "nan", "١٢"])
def test_what_python_reads_and_people_do_not_write_is_no_number(text: str) -> None:
    assert number(text) is None
    assert encode(AGE, [text]).codes.tolist() == [OUTSIDE]


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [("1,000", ".", 1000.0), ("1.000", ",", 1000.0), ("(3)", ".", -3.0), ("-3", ".", -3.0),
     ("3,5", ",", 3.5), ("12 %", ".", 12.0), ("1e3", ".", 1000.0)],
)  # fmt: skip
def test_numbers_are_read_as_they_are_meant(text: str, decimal: str, value: float) -> None:
    assert number(text, decimal) == value


def test_a_code_with_leading_zeros_is_a_text() -> None:
    assert not same("01", "1")
    assert same("1.0", "1")
    attribute = Attribute("zip", values=("01", "1"))
    assert encode(attribute, ["01", "1", "1.0", "001"]).codes.tolist() == [0, 1, 1, OUTSIDE]


def test_a_mark_that_is_no_decimal_mark_makes_no_number() -> None:
    assert canonical("3,5") == "3,5"
    assert canonical("3,5", decimal=",") == canonical("3,50", decimal=",")
    assert not same("3,5", "3.5")


def test_labels_that_nobody_declared_are_no_values() -> None:
    attribute = Attribute(
        "job", values=("nurse", "cook"), outside="other", missing=Missing(codes=("?",))
    )
    assert attribute.labels == ("nurse", "cook", "(other)", "(missing)")
    coded = encode(attribute, ["nurse", "(other)", "(missing)", "pilot", "?", ""])
    assert coded.codes.tolist() == [0, 2, 2, 2, 3, 3]
    assert coded.undeclared.tolist() == [False, True, True, True, False, False]
    strict = Attribute("job", values=("nurse",), missing=Missing())
    assert encode(strict, ["(missing)"]).codes.tolist() == [OUTSIDE]


def test_a_code_for_missing_is_missing_even_where_it_is_a_declared_value() -> None:
    attribute = Attribute("n", values=("1", "9"), missing=Missing(codes=("9",)))
    assert encode(attribute, ["9", "9.0", "1"]).codes.tolist() == [2, 2, 0]
    # What only this file calls missing gives way to a declared value.
    assert encode(Attribute("n", values=("1", "9")), ["9", ""], missing=["9"]).codes.tolist() == [
        1, MISSING,
    ]  # fmt: skip


def test_a_table_counts_such_cells_where_they_belong() -> None:
    domain = engine.Domain([AGE])
    with pytest.raises(engine.DataError) as refused:
        engine.Table.from_csv(b"age\n1_000\n", domain)
    assert refused.value.code == "E_VALUE"


def test_what_came_from_the_rows_says_so() -> None:
    assert Attribute("a", values=("x",), source="data").read_from_data
    assert not Attribute("a", values=("x",)).read_from_data
