"""One rule for "the same value", over every type that a cell may have."""

from __future__ import annotations

import datetime as dt
import unicodedata
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.codes import encode
from engine.coding import canonical, number, same, text_of
from engine.domain import Attribute, Domain, Missing

CELLS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.decimals(-1000, 1000, places=2),
    st.booleans(),
    st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    st.text(max_size=8),
)


@given(CELLS)
def test_a_cell_is_itself_and_its_text(cell: Any) -> None:
    assert same(cell, cell)
    assert same(cell, text_of(cell))
    assert same(f"  {text_of(cell)} ", cell)


@given(CELLS, CELLS, CELLS)
def test_being_the_same_is_an_equivalence(one: Any, two: Any, three: Any) -> None:
    assert same(one, two) == same(two, one)
    if same(one, two) and same(two, three):
        assert same(one, three)


@given(st.integers(-(10**9), 10**9))
def test_a_whole_number_is_one_number_in_every_type(value: int) -> None:
    for written in (
        float(value), Decimal(value), np.int64(value), np.float64(value), str(value),
        f"{value}.0", f"{value}.", f"{value}.00", f"+{value}" if value >= 0 else f"−{-value}",
    ):  # fmt: skip
        assert same(value, written), written
    assert not same(value, value + 1)
    assert not same(value, f"0{abs(value)}")


@given(st.decimals(-99, 99, places=2))
def test_a_decimal_number_is_the_float_that_prints_it(value: Decimal) -> None:
    assert same(value, float(value))
    assert same(value, str(value).replace(".", ","), decimal=",") == (value == int(value)) or (
        canonical(str(value).replace(".", ","), decimal=",") == canonical(value)
    )


@given(st.text(max_size=10))
def test_a_text_is_itself_in_every_unicode_form(text: str) -> None:
    assert same(unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text))


@pytest.mark.parametrize(
    ("one", "other"),
    [("01", "1"), ("1e3", "1000"), ("1,000", "1000"), ("$5", "5"), (True, 1), (True, "yes"),
     ("a", "A"), ("NA", ""), ("1.5", "1,5"), ("2024-01-31 00:01", "2024-01-31")],
)  # fmt: skip
def test_what_is_not_the_same_stays_apart(one: Any, other: Any) -> None:
    assert not same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("true", True), ("FALSE", False), ("2024-01-31 00:00:00", dt.date(2024, 1, 31)),
     (pd.Timestamp("2024-01-31"), "2024-01-31"), (np.datetime64("2024-01-31"), "2024-01-31"),
     (None, ""), (float("nan"), ""), (pd.NA, ""), (-0.0, 0), (np.float32(0.7), 0.7)],
)  # fmt: skip
def test_other_types_are_the_texts_that_stand_for_them(one: Any, other: Any) -> None:
    assert same(one, other)


def test_single_precision_is_not_below_the_edge_it_stands_for() -> None:
    domain = Domain((Attribute("x", "numeric", edges=(0.0, 0.7, 1.0)),))
    values = np.array([0.7, 0.69, 1.0], np.float32)
    frames = (
        pd.DataFrame({"x": values}), pa.table({"x": values}), {"x": values},
        [{"x": value} for value in values],
    )  # fmt: skip
    for frame in frames:
        table = engine.Table.from_frame(frame, domain)
        assert engine.Private(table).marginal((0,)).values.tolist() == [1, 2]


def test_labels_that_one_rule_would_join_are_told_apart_as_texts() -> None:
    attribute = Attribute("x", values=("1", "1.0", "2"), outside="other")
    assert encode(attribute, ["1", "1.0", "1.00", "2.0"]).codes.tolist() == [0, 1, 3, 2]


def test_how_cells_are_compared_can_be_declared() -> None:
    exact = Attribute("x", values=("1", "w"), outside="other", compare="text")
    assert encode(exact, ["1", "1.0", "W"]).codes.tolist() == [0, 2, 2]
    folded = Attribute("x", values=("1", "w x"), outside="other", compare="folded")
    assert encode(folded, ["1.0", " W  X"]).codes.tolist() == [0, 1]
    with pytest.raises(engine.DomainError, match="compare"):
        Attribute("x", values=("a",), compare="sound")  # type: ignore[arg-type]


def test_missing_codes_come_before_labels_and_equal_texts_before_equal_values() -> None:
    attribute = Attribute("x", values=("9", "1"), missing=Missing(("9.0", "-1")))
    assert encode(attribute, ["9", "9.0", "-1.0", "1.0", ""]).codes.tolist() == [0, 2, 2, 1, 2]


@given(st.integers(2**60, 2**60 + 40))
def test_whole_numbers_beyond_floating_point_keep_their_places(value: int) -> None:
    attribute = Attribute("x", "integer", bounds=(2**60, 2**60 + 40))
    assert encode(attribute, [str(value)]).codes.tolist() == [value - 2**60]


@given(st.floats(-30, 30), st.sampled_from(["refuse", "clamp", "other"]))
def test_a_number_falls_into_the_bin_that_holds_it(value: float, outside: Any) -> None:
    edges = (-5.0, -0.5, 0.0, 7.5)
    attribute = Attribute("x", "numeric", edges=edges, outside=outside)
    code = int(encode(attribute, [repr(value)]).codes[0])
    if edges[0] <= value <= edges[-1]:
        low, high = edges[code], edges[code + 1]
        assert low <= value < high or value == high == edges[-1]
    else:
        nearest = 0 if value < edges[0] else 2
        assert code == {"refuse": -2, "clamp": nearest, "other": 3}[outside]


@pytest.mark.parametrize("text", ["inf", "-inf", "1e999"])
def test_infinite_numbers_go_to_the_nearest_bound_only_where_that_is_the_rule(text: str) -> None:
    for outside, code in (("clamp", 0 if text[0] == "-" else 1), ("other", 2), ("refuse", -2)):
        attribute = Attribute("x", "numeric", edges=(0, 1, 2), outside=outside)  # type: ignore[arg-type]
        assert encode(attribute, [text]).codes.tolist() == [code]
    assert number(text) in (float("inf"), float("-inf"))


# -- one table by whatever library holds it --------------------------------------------------------

COLUMNS = {
    "age": [31.0, 4.0, None, 50.0],
    "code": [1.0, 2.0, None, 1.0],
    "town": ["Orle\u0301ans", "Pau", None, "Orl\u00e9ans"],
    "card": [True, False, None, True],
    "born": [dt.date(1990, 5, 1), dt.date(1980, 1, 31), None, dt.date(1990, 1, 1)],
}
DOMAIN = Domain(
    (
        Attribute("age", "integer", bounds=(0, 99), missing=Missing()),
        Attribute("code", values=("1", "2"), missing=Missing()),
        Attribute("town", values=("Orl\u00e9ans", "Pau"), missing=Missing()),
        Attribute("card", values=("true", "false"), missing=Missing()),
        Attribute("born (year)", "integer", bounds=(1980, 1990), missing=Missing()),
    )
)


class _Stream:
    """Anything with the Arrow stream protocol."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def frames() -> dict[str, Any]:
    polars = pytest.importorskip("polars")
    plain = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in COLUMNS.items()})
    return {
        "pandas objects": plain,
        "pandas types": plain.convert_dtypes(),
        "pandas categories": plain.assign(town=plain["town"].astype("category")),
        "polars": polars.DataFrame(COLUMNS),
        "arrow": pa.table(COLUMNS),
        "stream": _Stream(pa.table(COLUMNS)),
        "dict": COLUMNS,
        "records": [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values())],  # noqa: B905
    }


@pytest.mark.parametrize(
    "kind",
    ["pandas objects", "pandas types", "pandas categories", "polars", "arrow", "stream", "dict",
     "records"],
)  # fmt: skip
def test_a_frame_of_any_library_is_the_same_table(kind: str) -> None:
    private = engine.Private(engine.Table.from_frame(frames()[kind], DOMAIN))
    found = [np.flatnonzero(private.marginal((i,)).values).tolist() for i in range(5)]
    assert found == [[4, 31, 50, 100], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 10, 11]]
    assert private.marginal((2,)).values.tolist() == [2, 1, 1]


@pytest.mark.parametrize("value", [3, "a table", None, [1, 2], np.zeros((2, 2)), {"a": 3}])
def test_what_is_no_frame_is_refused_in_one_sentence(value: Any) -> None:
    with pytest.raises(engine.DataError, match=r"Give|Put") as caught:
        engine.Table.from_frame(value, DOMAIN)
    assert caught.value.code == "E_FORMAT"


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(engine.DataError, match="different numbers of cells"):
        engine.Table.from_frame({"a": [1], "b": [1, 2]}, DOMAIN)


def test_a_choice_that_is_none_is_named() -> None:
    with pytest.raises(engine.DataError, match="seperator"):
        engine.Table.from_file(b"a\n1\n", DOMAIN, seperator=";")


def test_numpy_integers_are_positions() -> None:
    assert DOMAIN[np.int64(1)].name == "code"
    assert DOMAIN.attrs(np.uint8(1), "age") == (0, 1)
    with pytest.raises(engine.DomainError):
        DOMAIN.attrs(np.True_)


def test_a_table_gives_some_of_its_attributes() -> None:
    table = engine.Table.from_frame(COLUMNS, DOMAIN)
    some = table.select("town", "age")
    assert some.domain.names == ("town", "age")
    assert engine.Private(some).marginal((0,)).values.tolist() == [2, 1, 1]
