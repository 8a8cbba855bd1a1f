"""Counts are kept in the smallest type that holds all records in one cell, and in none smaller."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from tests.support import make_domain


@pytest.mark.parametrize("records", [1, 255, 256, 257, 65_535, 65_536, 65_537])
def test_all_records_in_one_cell_are_counted(records: int) -> None:
    domain = make_domain([2, 2])
    table = engine.Table.from_codes(np.zeros((records, 2), np.int64), domain)
    private = engine.Private(table)
    workload = engine.Workload.all_kway(domain, 2)
    flat = private.counts(workload.layout)
    assert int(flat.max()) == records
    for attrs in workload.closure:
        exact = private.marginal(attrs).values
        assert int(exact.sum()) == int(exact.max()) == records
    alone = engine.Private(table).marginal((0,)).values
    assert alone.tolist() == [records, 0]
