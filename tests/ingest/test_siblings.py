"""Siblings of the odd files: the same kinds in other languages, forms and types.

Each test is named after what went wrong with one of them.
"""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xlsxwriter

import engine
from engine import ingest
from engine.domain import Attribute, Domain, Missing
from tests.ingest.corpus import workbook
from tests.ingest.test_odd import codes, counts, drafted, note, written

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


# -- lines that are no persons ---------------------------------------------------------------------


def test_the_header_again_is_known_in_other_capitals_and_below_a_byte_order_mark() -> None:
    rows = [*PEOPLE[:9], ["AGE", "Sex", "town "], *PEOPLE[9:]]
    assert len(ingest.read(written(NAMES, rows)).frame) == 30
    parts = [b"\xef\xbb\xbf" + written(NAMES, PEOPLE[i : i + 15]) for i in (0, 15)]
    pasted = ingest.read(b"".join(parts))
    assert len(pasted.frame) == 30
    assert pasted.attributes("age")[0].kind == "integer"
    assert {"W_BOM", "W_REPEATED_HEADER"} <= codes(pasted)


def test_names_below_a_header_of_groups_are_no_person_and_name_the_columns() -> None:
    rows = [[str(i), str(100 * i), str(120 * i), str(i % 7)] for i in range(1, 20)]
    data = written(["id", "income", "", "hours"], [["", "2019", "2020", ""], *rows])
    preview = ingest.read(data)
    assert preview.labels == ("id", "income 2019", "income 2020", "hours")
    assert len(preview.frame) == 19
    assert ingest.read(data, **preview.choices).labels == preview.labels
    assert "W_HEADER_LINES" in codes(preview)


def test_a_rule_below_the_header_is_no_person() -> None:
    rows = ["| age | sex |", "|:----|-----|", *(f"| {20 + i} | {'fm'[i % 2]} |" for i in range(9))]
    preview = ingest.read("\n".join(rows).encode())
    assert preview.labels == ("age", "sex")
    assert len(preview.frame) == 9


@pytest.mark.parametrize("gap", [b"", b",,\n,,\n"])
def test_a_second_table_is_found_below_no_blank_line_too(gap: bytes) -> None:
    other = written(["dwelling", "rooms", "heating"], [[f"d{i}", str(i), "gas"] for i in range(9)])
    preview = ingest.read(written(NAMES, PEOPLE) + gap + other)
    assert len(preview.frame) == 30
    assert "W_SECOND_TABLE" in codes(preview)


def test_tables_side_by_side_are_pointed_out() -> None:
    rows = [[*p, "", f"d{i}" if i < 9 else "", str(i % 4)] for i, p in enumerate(PEOPLE)]
    preview = ingest.read(written([*NAMES, "", "dwelling", "rooms"], rows))
    assert "side by side" in note(preview, "W_EMPTY_COLUMNS").sentence


def test_totals_inside_are_pointed_out() -> None:
    rows = [*PEOPLE[:9], ["Subtotal", "", ""], *PEOPLE[9:]]
    assert note(ingest.read(written(NAMES, rows)), "W_TOTALS_INSIDE").lines == (11,)


@pytest.mark.parametrize(
    "name", ["population", "Freq.", "_freq_", "aantal", "conteggio", "liczba", "人数", "x"]
)
def test_counts_are_asked_about_in_other_languages_and_beside_shares(name: str) -> None:
    cells = [(s, a) for s in "fm" for a in "abc"]
    rows = [[s, a, str(10 * i + 7), f"{3.3 * i:.1f}"] for i, (s, a) in enumerate(cells)]
    preview = ingest.read(written(["sex", "group", name, "percent"], rows))
    if name == "x":  # nothing but that each combination stands once
        rows = [row[:3] for row in rows]
        preview = ingest.read(written(["sex", "group", name], rows))
    assert len(ingest.read(written(["a", "b", name], [r[:3] for r in rows]), counts=name).frame) > 6
    assert "W_COUNTED" in codes(preview)


def test_a_cross_table_is_pointed_out() -> None:
    preview = ingest.read(written(["sex", "18-24", "25-44", "45+"], [["m", "3", "4", "5"]] * 2))
    assert "W_CROSS_TABLE" in codes(preview)


@pytest.mark.parametrize(
    "name", ["Fallnummer", "Patienten-ID", "lfd. Nr", "matricule", "nº de expediente", "bsn"]
)
def test_columns_that_say_whose_row_it_is_are_known_in_other_languages(name: str) -> None:
    rows = [[str(50_000 + i // 3), "ab"[i % 2]] for i in range(60)]
    preview = ingest.read(written([name, "x"], rows))
    assert not preview.attributes(name)[0].keep
    assert note(preview, "W_SEVERAL_ROWS").offers[0].change == {"person": name, "rows": 3}


def test_hashes_say_whose_row_it_is_whatever_the_column_is_called() -> None:
    rows = [[f"{0xA1B2C3D4E5F6A7B8 + i // 3:016x}", "ab"[i % 2]] for i in range(60)]
    assert "W_SEVERAL_ROWS" in codes(ingest.read(written(["who", "x"], rows)))


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["REFUSED", "Don’t know", "k. A.", "geen antwoord", "(leer)"])
def test_words_for_missing_are_known_in_any_capitals_and_other_languages(word: str) -> None:
    rows = [[str(1000 + 17 * i), "u"] for i in range(60)] + [[word, "u"]] * 3
    preview = ingest.read(written(["pay", "k"], rows))
    assert preview.attributes("pay")[0].kind == "integer"
    assert counts(preview, drafted(preview, "pay"))[word] == 3
    assert "W_MISSING_TOKENS" in codes(preview)


def test_missing_codes_among_words_are_offered() -> None:
    rows = [[["red", "green", "blue", "-9"][i % 4], "u"] for i in range(40)]
    preview = ingest.read(written(["colour", "k"], rows))
    assert preview.attributes("colour")[0].may_be_missing == ("-9",)


def test_a_dash_of_a_text_program_is_a_minus() -> None:
    rows = [[str(i), "u"] for i in range(20)] + [["–9", "u"], ["−9", "u"], ["-9", "u"]]
    preview = ingest.read(written(["x", "k"], rows), missing=("-9",))
    assert counts(preview, drafted(preview, "x"))["(missing)"] == 3


@pytest.mark.parametrize("other", ["Os\u200blo", "Ｏｓｌｏ", "OSLO"])
def test_spellings_that_look_alike_are_pointed_out(other: str) -> None:
    rows = [[town, "u"] for town in ["Oslo", other, "Rome"] * 5]
    assert "W_VARIANTS" in codes(ingest.read(written(["town", "k"], rows)))


def test_commas_that_may_set_thousands_apart_are_asked_about() -> None:
    rows = [["x", "1,250"], ["y", "13,400"], ["z", "900"]] * 5
    said = note(ingest.read(written(["k", "pay"], rows, separator=";")), "W_THOUSANDS")
    again = ingest.read(written(["k", "pay"], rows, separator=";"), **said.offers[0].choices)
    assert again.attributes("pay")[0].bounds == (900, 13400)


@pytest.mark.parametrize("cells", [["€ 5", "$ 7", "€ 9"], ["5%", "0.5", "7%"]])
def test_numbers_of_several_units_are_pointed_out(cells: list[str]) -> None:
    rows = [[cell, "u"] for cell in cells * 4]
    assert "W_MIXED_UNITS" in codes(ingest.read(written(["x", "k"], rows)))


# -- dates -----------------------------------------------------------------------------------------

DAYS = [dt.date(1931, 1, 15) + dt.timedelta(days=701 * i) for i in range(25)]
SPANISH = [
    "enero", "febrero", "marzo", "abril", "mayo", "junio",
    "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
]  # fmt: skip


@pytest.mark.parametrize(
    "cells",
    [
        [f"{d.day} de {SPANISH[d.month - 1]} de {d.year}" for d in DAYS],
        [d.strftime("%a, %d %b %Y") for d in DAYS],
        [d.strftime("%Y%m%d103000") for d in DAYS],
    ],
    ids=["Spanish", "weekday", "packed with a time"],
)
def test_other_forms_of_dates_are_dates(cells: list[str]) -> None:
    preview = ingest.read(written(["d", "k"], [[cell, "u"] for cell in cells]))
    attribute = drafted(preview, "d")
    assert attribute.bounds == (DAYS[0].year, DAYS[-1].year)
    assert sum(counts(preview, attribute).values()) == 25


@pytest.mark.parametrize("bad", ["2023-02-30", "00000000"])
def test_what_is_no_day_among_dates_is_counted_apart_and_said(bad: str) -> None:
    form = "%Y%m%d" if bad.isdecimal() else "%Y-%m-%d"
    rows = [[d.strftime(form), "u"] for d in DAYS] + [[bad, "u"]]
    preview = ingest.read(written(["d", "k"], rows))
    assert counts(preview, drafted(preview, "d"))["(no date)"] == 1
    offer = note(preview, "W_NO_DATE").offers[0]
    again = preview.proposal("d", missing=offer.change["missing_codes"])
    assert counts(preview, ingest.proposed_attribute(again))["(missing)"] == 1


def test_years_of_two_digits_are_said() -> None:
    rows = [[d.strftime("%d.%m.%y"), "u"] for d in DAYS]
    assert "W_SHORT_YEARS" in codes(ingest.read(written(["d", "k"], rows)))


def test_whether_the_day_stands_first_is_asked_and_can_be_answered() -> None:
    rows = [[f"{1 + i % 12}/{1 + i % 7}/2020", "u"] for i in range(30)]
    data = written(["d", "k"], rows)
    said = note(ingest.read(data), "W_DAY_OR_MONTH")
    months = []
    for offer in said.offers:
        preview = ingest.read(data, **offer.choices)
        assert "W_DAY_OR_MONTH" not in codes(preview)
        month = ingest.proposed_attribute(preview.attributes("d")[0], part="month")
        months.append(list(counts(preview, month).values())[:12])
    assert months[0] == [3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2]
    assert sum(months[1][7:]) == 0


# -- order -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        ["styczeń", "luty", "marzec"],
        ["janeiro", "fevereiro", "março"],
        ["maandag", "woensdag", "zondag"],
        ["segunda-feira", "terça-feira", "domingo"],
        ["Totalmente en desacuerdo", "En desacuerdo", "De acuerdo", "Totalmente de acuerdo"],
        ["helemaal mee oneens", "mee oneens", "mee eens", "helemaal mee eens", "weet niet"],
        ["1 - strongly disagree", "2", "3", "10 - strongly agree"],
        ["Q4 2018", "Q1 2019", "Q1 2020"],
        ["Never", "Once a month", "Once a week", "Every day"],
        ["bajo", "medio", "alto"],
    ],
)
def test_scales_of_other_languages_and_numbered_steps_come_in_their_order(
    values: list[str],
) -> None:
    rows = [[value, "u"] for value in values[::-1] * 5]
    preview = ingest.read(written(["v", "k"], rows))
    assert drafted(preview, "v").values == tuple(values)
    assert drafted(preview, "v").kind == "ordinal"


# -- what is no table ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"/annex/objects/SHA256E-s12--ab.csv\n", "git-annex"),
        (b"MIME-Version: 1.0\nX-Document-Type: Workbook\n\n<x>\n", "MHTML"),
        (b"% a, b\n" * 900 + b"@RELATION x\n@ATTRIBUTE a REAL\n@DATA\n1\n", "ARFF"),
        (b"--\n-- PostgreSQL database dump\n--\nSET a = 0;\nCOPY t (a) FROM stdin;\n1\n", "SQL"),
        (b"USE [db]\nGO\nINSERT [t] ([a]) VALUES (1)\nGO\n", "SQL"),
        (b'CHARSET="ANSI";\nMATRIX="POP";\nDATA=\n1 2;\n', "PC-Axis"),
        (b"DATA LIST FREE / id age.\nBEGIN DATA\n1 33\n2 34\nEND DATA.\n", "SPSS"),
        (b"data people;\ninput id age;\ndatalines;\n1 33\n;\nrun;\n", "SAS"),
        (b"structure(list(a = c(1, 2)), class = 'data.frame')\n", "R code"),
        (b"\\begin{tabular}{ll}\na & b \\\\\n1 & 2 \\\\\n\\end{tabular}\n", "LaTeX"),
        (b"From: a@b.c\nTo: d@e.f\nSubject: data\n\nHello\n", "e-mail"),
    ],
)
def test_more_that_is_no_table_is_refused_by_name(data: bytes, named: str) -> None:
    with pytest.raises(engine.DataError, match=named) as caught:
        ingest.read(data)
    assert caught.value.code == "E_FORMAT"


# -- workbooks -------------------------------------------------------------------------------------


def test_merged_cells_give_each_of_their_rows_the_value() -> None:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(2, 1, ["town", "age"])
        sheet.merge_range(3, 1, 5, 1, "Pau")
        sheet.write_column(3, 2, [31, 32, 33, 34])
        sheet.write(6, 1, "Trim")
    preview = ingest.read(buffer.getvalue())
    assert counts(preview, drafted(preview, "town")) == {"Pau": 3, "Trim": 1}
    offer = note(preview, "W_MERGED").offers[0]
    first = ingest.read(buffer.getvalue(), **offer.choices)
    assert first.frame["c0"].tolist() == ["Pau", "", "", "Trim"]


def test_a_sheet_of_remarks_or_a_hidden_one_is_not_read_for_the_table() -> None:
    remarks = ("Remarks", [["About this file"], ["made by nobody"]])
    preview = ingest.read(workbook(remarks, ("Data", [NAMES, *PEOPLE])))
    assert preview.labels == tuple(NAMES)
    offer = note(preview, "W_SHEETS").offers[0]
    assert offer.choices == {"sheet": "Remarks"}
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        for name in ("secret", "Data"):
            book.add_worksheet(name).write_row(0, 0, [name, "x"])
            book.get_worksheet_by_name(name).write_row(1, 0, [1, 2])
        book.get_worksheet_by_name("Data").activate()
        book.get_worksheet_by_name("Data").set_first_sheet()
        book.get_worksheet_by_name("secret").hide()
    assert ingest.read(buffer.getvalue()).labels == ("Data", "x")


def test_a_record_that_holds_another_column_s_name_is_no_header() -> None:
    text = "town,,mother\nmother,1,Oslo\n" + "Rome,2,Bergen\nParis,3,Lyon\n" * 3
    preview = ingest.read(text.encode())
    assert len(preview.frame) == 7
    assert "W_HEADER_LINES" not in {note.code for note in preview.warnings}
