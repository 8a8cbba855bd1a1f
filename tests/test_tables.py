"""Counting, reading, and what never leaves."""

from __future__ import annotations

import copy
import gzip
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import engine
from engine.domain import subsets
from engine.tables import ExactMarginal
from tests.reference import dense
from tests.strategies import tables
from tests.support import SAMPLES, make_domain

CANARY = "zq-canary-7"


def text_domain(**fields: Any) -> engine.Domain:
    """One categorical attribute a (values x, y) with these rules."""
    return engine.Domain((engine.Attribute("a", values=("x", "y"), **fields),))


def codes_of(text: str, domain: engine.Domain) -> list[list[int]]:
    """The codes a CSV text is read as, one list for each attribute."""
    return engine.Table.from_csv(text.encode(), domain).codes.tolist()


# -- counting --------------------------------------------------------------------------------------


@given(tables())
def test_exact_counts_are_what_counting_record_by_record_gives(table: engine.Table) -> None:
    private = engine.Private(table)
    d = len(table.domain)
    for attrs in subsets(tuple(range(d))):
        exact = private.marginal(attrs)
        assert exact.values.dtype == np.int64
        np.testing.assert_array_equal(
            exact.values, dense.counts(table.codes.T, table.domain.sizes, attrs)
        )


@given(tables())
def test_counts_of_a_layout_are_the_marginals_in_its_order(table: engine.Table) -> None:
    layout = engine.Workload.all_kway(table.domain, len(table.domain)).layout
    private = engine.Private(table)
    flat = private.counts(layout)
    for k, attrs in enumerate(layout.sets):
        np.testing.assert_array_equal(layout.view(flat, k), private.marginal(attrs).values)


def test_counting_in_threads_gives_the_same_counts() -> None:
    rng = np.random.default_rng(0)
    domain = make_domain([3, 1, 5, 4])
    codes = np.stack([rng.integers(0, n, size=10_000) for n in domain.sizes], axis=1)
    private = engine.Private(engine.Table.from_codes(codes, domain))
    layout = engine.Workload.all_kway(domain, 3).layout
    flat = private.counts(layout)
    for k, attrs in enumerate(layout.sets):
        np.testing.assert_array_equal(
            layout.view(flat, k), dense.counts(codes, domain.sizes, attrs)
        )


def test_counts_are_exact_beyond_single_precision() -> None:
    # A float32 table would lose the last of 2**24 + 1 records.
    class Many:
        domain = make_domain([2])

        def records(self) -> int:
            return 2**24 + 1

        def count_into(self, layout: Any, counts: np.ndarray) -> None:
            for k, attrs in enumerate(layout.sets):
                layout.view(counts, k)[...] = [2**24 + 1, 0] if attrs else 2**24 + 1

    private = engine.Private(Many())
    layout = engine.Workload.all_kway(Many.domain, 1).layout
    assert private.marginal((0,)).values.tolist() == [2**24 + 1, 0]
    assert private.counts(layout).tolist() == [2**24 + 1, 2**24 + 1, 0]


def test_the_adult_table_of_the_paper_has_the_paper_s_sizes(adult: engine.Table) -> None:
    assert adult.codes.shape == (13, 45_222)
    assert adult.domain.sizes == (74, 7, 16, 16, 7, 14, 6, 5, 2, 97, 96, 41, 2)
    cells = [engine.Workload.all_kway(adult.domain, k).cells for k in (1, 2, 3)]
    assert cells == [383, 60_016, 5_020_010]


@pytest.mark.parametrize(
    ("name", "rows"),
    [("titanic", 2201), ("ucb_admissions", 4526), ("penguins", 344), ("anes96", 944),
     ("hair_eye_color", 592)],
)  # fmt: skip
def test_every_sample_table_fits_its_declared_domain(name: str, rows: int) -> None:
    domain = engine.Domain.from_json(SAMPLES / f"{name}.domain.json")
    assert engine.Table.from_csv(SAMPLES / f"{name}.csv", domain).codes.shape[1] == rows


# -- reading ---------------------------------------------------------------------------------------


def test_columns_are_found_by_name_and_others_are_ignored() -> None:
    domain = engine.Domain.from_sizes({"b": 3, "a": 2})
    assert codes_of("a,extra,b\n1,!,2\n0,?,0\n", domain) == [[2, 0], [1, 0]]


def test_gzip_is_recognised_by_content_and_a_byte_order_mark_is_skipped() -> None:
    domain = engine.Domain.from_sizes({"a": 2})
    plain = b"\xef\xbb\xbfa\n1\n0\n"
    for content in (plain, gzip.compress(plain)):
        assert engine.Table.from_csv(content, domain).codes.tolist() == [[1, 0]]


def test_a_header_only_file_is_an_empty_table_like_any_other() -> None:
    assert engine.Table.from_csv(b"a\n", engine.Domain.from_sizes({"a": 2})).codes.shape == (1, 0)


def test_text_that_looks_missing_is_a_value_where_it_is_declared() -> None:
    values = ("NA", "None", "null", "nan", "01234", "1234", "True")
    domain = engine.Domain((engine.Attribute("a", values=values),))
    text = "a\n" + "\n".join(values) + "\n"
    assert codes_of(text, domain) == [list(range(len(values)))]
    frame = pd.DataFrame({"a": list(values)})
    assert engine.Table.from_frame(frame, domain).codes.tolist() == [list(range(len(values)))]


def test_each_missing_rule_does_what_it_says() -> None:
    text = 'a\nx\n?\n""\ny\n'
    category = text_domain(missing=engine.Missing(codes=("?",)))
    assert codes_of(text, category) == [[0, 2, 2, 1]]
    drop = text_domain(missing=engine.Missing(codes=("?",), rule="drop"))
    assert codes_of(text, drop) == [[0, 1]]
    replace = text_domain(missing=engine.Missing(codes=("?",), rule="replace", value="y"))
    assert codes_of(text, replace) == [[0, 1, 1, 1]]


def test_a_dropped_record_may_hold_anything_elsewhere() -> None:
    domain = engine.Domain(
        (
            engine.Attribute("a", values=("x",), missing=engine.Missing(("?",), rule="drop")),
            engine.Attribute("b", values=("u",)),
        )
    )
    assert codes_of("a,b\nx,u\n?,elsewhere\n", domain) == [[0], [0]]


def test_each_rule_for_undeclared_values_does_what_it_says() -> None:
    assert codes_of("a\nz\nx\n", text_domain(outside="other")) == [[2, 0]]
    clamp = engine.Domain(
        (
            engine.Attribute("i", "integer", bounds=(3, 5), outside="clamp"),
            engine.Attribute("n", "numeric", edges=(0.0, 1.0, 2.0), outside="clamp"),
        )
    )
    assert codes_of("i,n\n1,-7\n9,99\n4,1\n", clamp) == [[0, 2, 1], [0, 1, 1]]


def test_a_bin_holds_its_left_edge_and_the_last_bin_both() -> None:
    domain = engine.Domain((engine.Attribute("n", "numeric", edges=(0.0, 1.0, 2.0)),))
    assert codes_of("n\n0\n0.999\n1\n1.5\n2\n", domain) == [[0, 0, 1, 1, 1]]


def test_a_frame_reads_as_its_csv_text_would() -> None:
    domain = engine.Domain(
        (
            engine.Attribute("i", "integer", bounds=(0, 3), missing=engine.Missing()),
            engine.Attribute("c", values=("u", "v"), missing=engine.Missing()),
        )
    )
    frame = pd.DataFrame({"c": ["u", None, "v"], "i": [1.0, 2.0, np.nan]})
    assert engine.Table.from_frame(frame, domain).codes.tolist() == [[1, 2, 4], [0, 2, 1]]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "E_COLUMN"),
        (b"b\nx\n", "E_COLUMN"),
        (b"a,a\nx,x\n", "E_COLUMN"),
        (b"a,b\nx\n", "E_CSV_SHAPE"),
        (b"a,b\nx,1,2\n", "E_CSV_SHAPE"),
        (b'a\n"x\n', "E_CSV_SHAPE"),
        (b'"a\nx\n', "E_CSV_SHAPE"),
        (b"a\n\xff\n", "E_FORMAT"),
        ("a\nx\n".encode("utf-16"), "E_FORMAT"),
        (b"a\nz\n", "E_VALUE"),
        (b'a\n""\n', "E_MISSING"),
        (gzip.compress(b"a\nx\n", mtime=0)[:-9], "E_FORMAT"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused(content: bytes, code: str) -> None:
    with pytest.raises(engine.DataError) as caught:
        engine.Table.from_csv(content, text_domain())
    assert caught.value.code == code


def test_damaged_gzip_data_are_refused_wherever_the_damage_is() -> None:
    packed = gzip.compress(b"a\n" + b"x\ny\n" * 300, mtime=0)
    for position in range(10, len(packed)):
        damaged = bytearray(packed)
        damaged[position] ^= 0xFF
        with pytest.raises(engine.DataError):
            engine.Table.from_csv(bytes(damaged), text_domain())


def test_a_missing_file_is_refused(tmp_path: Any) -> None:
    with pytest.raises(engine.DataError, match="cannot be read") as caught:
        engine.Table.from_csv(tmp_path / "none.csv", text_domain())
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("rows", [["x", CANARY], ["x", "", CANARY], [CANARY]])
@pytest.mark.parametrize("kind", ["categorical", "integer", "numeric"])
def test_no_message_holds_a_cell(rows: list[str], kind: str) -> None:
    declared: dict[str, Any] = {
        "categorical": {"values": ("x",)},
        "integer": {"bounds": (0, 3)},
        "numeric": {"edges": (0.0, 1.0)},
    }[kind]
    domain = engine.Domain(
        (engine.Attribute("a", kind, **declared), engine.Attribute("b", values=("u",)))  # type: ignore[arg-type]
    )
    text = "a,b\n" + "".join(f'"{cell}",u\n' for cell in rows)
    for make in (
        lambda: engine.Table.from_csv(text.encode(), domain),
        lambda: engine.Table.from_csv(text.encode() + f'"{CANARY}\n'.encode(), domain),
        lambda: engine.Table.from_csv(text.encode() + f"{CANARY}\n".encode(), domain),
        lambda: engine.Table.from_csv(text.encode() + f"{CANARY}\xff".encode("latin-1"), domain),
        lambda: engine.Table.from_frame(pd.DataFrame({"a": rows, "b": "u"}), domain),
    ):
        with pytest.raises(engine.DataError) as caught:
            make()
        seen: BaseException | None = caught.value
        while seen is not None:  # causes and contexts are printed in tracebacks too
            assert CANARY not in str(seen)
            assert CANARY not in repr(seen)
            assert CANARY not in repr(seen.__dict__)
            seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)


def test_a_refused_cell_is_placed_by_attribute_record_and_line() -> None:
    with pytest.raises(engine.DataError, match=r"'a'.*record 3, line 4") as caught:
        codes_of("a\nx\ny\nz\n", text_domain())
    assert "outside" in str(caught.value)


# -- codes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codes", "code", "named"),
    [
        ([[0], [2]], "E_VALUE", "'a0'"),
        ([[-1]], "E_VALUE", "'a0'"),
        ([[0.0]], "E_VALUE", "float64"),
        ([[True]], "E_VALUE", "bool"),
        ([["0"]], "E_VALUE", "integers"),
        ([[None]], "E_VALUE", "integers"),
        ([[float("nan")]], "E_VALUE", "integers"),
        ([[0, 1]], "E_COLUMN", "(1, 2)"),
        ([0, 1], "E_COLUMN", "(2,)"),
        (np.zeros((2, 1, 1), int), "E_COLUMN", "(2, 1, 1)"),
        ([[0], [0, 1]], "E_COLUMN", "row"),
        ([[2**70]], "E_VALUE", "integers"),
        (np.array([[2**63]], np.uint64), "E_VALUE", "'a0'"),
    ],
)
def test_codes_that_are_no_positions_in_the_domain_are_refused(
    codes: Any, code: str, named: str
) -> None:
    with pytest.raises(engine.DataError) as caught:
        engine.Table.from_codes(codes, make_domain([2]))
    assert caught.value.code == code
    assert named in str(caught.value)


def test_the_value_one_past_the_end_is_not_put_into_the_last_cell() -> None:
    # The reference implementations' histogramdd does that in silence.
    with pytest.raises(engine.DataError):
        engine.Table.from_codes([[3]], make_domain([3]))


def test_codes_are_kept_read_only_and_apart_from_what_they_were_made_of() -> None:
    mine = np.array([[1], [0]])
    table = engine.Table.from_codes(mine, make_domain([2]))
    mine[0, 0] = 0
    assert table.codes.tolist() == [[1, 0]]
    assert not table.codes.flags.writeable


@pytest.mark.parametrize("empty", [[], np.zeros((0, 1), int), np.zeros((0, 1), np.uint8)])
def test_no_record_at_all_is_a_table(empty: Any) -> None:
    assert engine.Table.from_codes(empty, make_domain([2])).codes.shape == (1, 0)


# -- what never leaves -----------------------------------------------------------------------------


def test_private_values_refuse_to_be_pickled_or_copied(table: engine.Table) -> None:
    private = engine.Private(table)
    for value in (table, private, private.marginal((0,))):
        for leave in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled"):
                leave(value)


def test_no_representation_shows_a_count_or_the_number_of_records(table: engine.Table) -> None:
    private = engine.Private(table)
    private.counts(engine.Workload.all_kway(table.domain, 2).layout)
    for value in (table, private, private.marginal(()), private.marginal((0,))):
        for text in (repr(value), str(value), f"{value}"):
            assert "31" not in text
            assert "[" not in text
            assert "array" not in text


def test_exact_counts_handed_out_cannot_be_written(table: engine.Table) -> None:
    private = engine.Private(table)
    layout = engine.Workload.all_kway(table.domain, 2).layout
    for values in (private.marginal((0,)).values, private.counts(layout)):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0
    assert isinstance(private.marginal((0,)), ExactMarginal)


def test_counts_are_taken_once_for_a_workload(table: engine.Table) -> None:
    class Watched:
        domain = table.domain
        asked = 0

        def records(self) -> int:
            return table.records()

        def count_into(self, layout: Any, counts: np.ndarray) -> None:
            type(self).asked += len(layout.sets)
            table.count_into(layout, counts)

    private = engine.Private(Watched())
    workload = engine.Workload.all_kway(table.domain, 2)
    for seed in range(3):
        engine.run(engine.AimGrem(completion="none"), private, workload, rho=1, seed=seed)
    # Every set once, and what a start may ask for before: the total and the 1-way marginals.
    assert Watched.asked <= len(workload.closure) + 1 + 3 * len(table.domain)


def test_a_small_marginal_is_counted_once_and_cannot_be_written() -> None:
    domain = engine.Domain.from_sizes({"a": 2, "b": 3, "c": 2})
    private = engine.Private(engine.Table.from_codes([[0, 2, 1], [1, 2, 0]], domain))
    small = private.marginal((0, 1))
    assert private.marginal((0, 1)).values is small.values
    assert not small.values.flags.writeable
    assert small.values.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert private.marginal((0, 1, 2)).values.sum() == 2
