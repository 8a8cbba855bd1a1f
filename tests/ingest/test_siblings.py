"""Siblings of the odd files: the same kinds in other languages, forms and types.

Each test is named after what went wrong with one of them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import engine
from engine import ingest
from engine.domain import Attribute, Domain, Missing

PEOPLE = [[str(20 + i), "fm"[i % 2], ["Pau", "Trim", "Vannes"][i % 3]] for i in range(30)]
NAMES = ["age", "sex", "town"]


def of_frame(frame: Any, attribute: Attribute) -> list[float]:
    table = engine.Table.from_frame(frame, Domain((attribute,)))
    found: list[float] = engine.Private(table).marginal((0,)).values.tolist()
    return found


# -- data frames -----------------------------------------------------------------------------------

EDGES = Attribute("v", "numeric", edges=(0, 0.1, 0.7, 1.0))
CELLS = [0.0, 0.1, 0.3, 0.7, 1.0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(CELLS, dtype="float32").astype("category"),
        pd.Series(CELLS, dtype="float[pyarrow]"),
        pd.Series(CELLS, dtype="Float32"),
        pa.array(CELLS, pa.float32()).dictionary_encode(),
        [Decimal(str(cell)) for cell in CELLS],
    ],
    ids=["categorical", "arrow", "nullable", "dictionary", "decimal"],
)
def test_single_precision_is_the_shortest_decimal_in_any_column_type(column: Any) -> None:
    assert of_frame({"v": column}, EDGES) == [1, 2, 2]


def test_a_masked_cell_is_missing_and_no_value() -> None:
    digits = Attribute("v", values=("1", "2", "3"), outside="other", missing=Missing())
    column = np.ma.array([1, 2, 3], mask=[False, False, True])
    assert of_frame({"v": column}, digits) == [1, 1, 0, 0, 1]


class _Interchange:
    def __dataframe__(self, *arguments: Any, **options: Any) -> Any:
        return pa.table({"v": ["a", "b", "b"]}).__dataframe__(*arguments, **options)


def test_the_data_frame_protocol_is_taken() -> None:
    assert of_frame(_Interchange(), Attribute("v", values=("a", "b"))) == [1, 2]


def test_polars_categories_and_single_precision_are_taken() -> None:
    polars = pytest.importorskip("polars")
    towns = polars.DataFrame({"v": polars.Series(["a", "b", "b"], dtype=polars.Categorical)})
    assert of_frame(towns, Attribute("v", values=("a", "b"))) == [1, 2]
    assert of_frame({"v": polars.Series(CELLS, dtype=polars.Float32)}, EDGES) == [1, 2, 2]


def test_a_frame_s_column_without_a_name_is_called_so() -> None:
    frame = pd.DataFrame([[1, 2]] * 3, columns=[None, "b"])
    assert ingest.read_frame(frame).labels == ("column 1 (no name)", "b")
