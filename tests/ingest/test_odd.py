"""Small files with one trait each that files of surveys and offices have: the right value of each.

Each kind has siblings made here, so that no file is known by heart.
"""

# Over 400 lines: one trait of a file after the other; the list is the test.

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import ingest
from engine.domain import Attribute, Domain, Missing

ODD = Path(__file__).parent / "odd"


def codes(preview: ingest.Preview) -> set[str]:
    return {note.code for note in preview.warnings}


def note(preview: ingest.Preview, code: str) -> ingest.Note:
    return next(found for found in preview.warnings if found.code == code)


def counts(preview: ingest.Preview, attribute: Attribute) -> dict[str, int]:
    table = ingest.encode(preview, Domain((attribute,)))
    exact = engine.Private(table).marginal((0,)).values
    return dict(zip(attribute.labels, exact.tolist(), strict=True))


def drafted(preview: ingest.Preview, label: str) -> Attribute:
    return ingest.proposed_attribute(preview.attributes(label)[0])


def written(header: list[str], rows: list[list[str]], *, separator: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


# -- one value, one code ---------------------------------------------------------------------------


def test_missing_codes_written_as_floats_are_missing() -> None:
    preview = ingest.read(ODD / "missing_codes_as_floats.csv", missing=("-9", "999"))
    age = Attribute("age", "integer", bounds=(0, 99), outside="clamp", missing=Missing())
    found = counts(preview, age)
    assert sum(found.values()) == 12
    assert found["(missing)"] == 3
    assert {int(k) for k, n in found.items() if n and k != "(missing)"} == {
        19, 27, 34, 38, 45, 51, 56, 63, 72,
    }  # fmt: skip


def test_missing_codes_of_an_attribute_are_compared_by_value() -> None:
    preview = ingest.read(ODD / "missing_codes_as_floats.csv")
    age = Attribute(
        "age", "integer", bounds=(0, 99), outside="clamp", missing=Missing(("-9", "999"))
    )
    assert counts(preview, age)["(missing)"] == 3
    table = engine.Table.from_csv(ODD / "missing_codes_as_floats.csv", Domain((age,)))
    assert engine.Private(table).marginal((0,)).values[-1] == 3


def test_a_codebook_s_whole_codes_hold_for_cells_written_as_floats() -> None:
    domain = Domain.from_json(ODD / "category_codes_as_floats.domain.json")
    preview = ingest.read(ODD / "category_codes_as_floats.csv")
    assert list(counts(preview, domain["schooling"]).values()) == [6, 5, 5, 4, 0]
    table = engine.Table.from_csv(ODD / "category_codes_as_floats.csv", domain)
    assert engine.Private(table).marginal((0,)).values.tolist() == [6, 5, 5, 4, 0]
    apart = Attribute("schooling", values=("01", "2", "3", "4"), outside="other")
    assert list(counts(preview, apart).values()) == [0, 5, 5, 4, 6]


def test_towns_are_one_however_their_accents_are_written() -> None:
    preview = ingest.read(ODD / "accents_written_two_ways.csv")
    assert "8 cells" in note(preview, "W_DECOMPOSED").sentence
    wanted = {"Nîmes": 7, "Orléans": 12, "Pau": 5}
    assert counts(preview, drafted(preview, "town")) == wanted
    declared = Attribute("town", values=("Orléans", "Nîmes", "Pau"), outside="other")
    assert counts(preview, declared)["(other)"] == 0


# -- nobody merged, dropped or made up -------------------------------------------------------------


def test_a_top_code_among_numbers_is_no_blank() -> None:
    preview = ingest.read(ODD / "top_code_among_numbers.csv")
    found = counts(preview, drafted(preview, "age"))
    assert found["(missing)"] == 2
    assert found["90+"] == 3
    assert sum(found.values()) == 30
    said = note(preview, "W_TOP_CODES")
    assert said.choice
    assert {tuple(offer.change) for offer in said.offers} == {("outside",), ("missing_codes",)}


@pytest.mark.parametrize(
    ("cell", "value"), [("90+", 90), (">=90", 90), ("<5", 5), ("1,234*", 1234), ("90 and over", 90)]
)
def test_an_open_end_counts_at_the_nearest_bound_where_that_is_the_rule(
    cell: str, value: int
) -> None:
    ages = [str(20 + i % 60) for i in range(40)]
    preview = ingest.read(written(["age", "x"], [[a, "u"] for a in [*ages, cell]]))
    draft = drafted(preview, "age")
    assert counts(preview, draft)[draft.other] == 1
    assert draft.other == cell
    wide = Attribute("age", "integer", bounds=(5, 90), outside="clamp")
    assert counts(preview, wide)[str(min(value, 90))] >= 1


def test_a_header_repeated_inside_is_no_person() -> None:
    preview = ingest.read(ODD / "header_repeated_inside.csv")
    assert len(preview.frame) == 30
    assert note(preview, "W_REPEATED_HEADER").lines == (12, 23)
    assert drafted(preview, "travel").values == ("bike", "bus", "car")
    kept = ingest.read(ODD / "header_repeated_inside.csv", repeated_headers="kept")
    assert len(kept.frame) == 32
    assert "W_REPEATED_HEADER" in codes(kept)


def test_question_texts_and_import_ids_below_the_names_are_no_persons() -> None:
    preview = ingest.read(ODD / "three_header_rows.csv")
    assert preview.labels == ("Finished", "Q1", "Q2", "Q3")
    assert len(preview.frame) == 15
    assert note(preview, "W_HEADER_LINES").lines == (2, 3)
    assert preview.attributes("Q1")[0].kind == "integer"
    offer = note(preview, "W_HEADER_LINES").offers[0]
    assert len(ingest.read(ODD / "three_header_rows.csv", **offer.choices).frame) == 17


def test_labels_and_units_below_the_names_are_left_out_or_asked_about() -> None:
    people = [[str(20 + i), str(150 + i), "yes" if i % 2 else "no"] for i in range(20)]
    two = [["Age in years", "Height of body", "Has a card?"], ["years", "cm", ""], *people]
    preview = ingest.read(written(["age", "height", "card"], two))
    assert len(preview.frame) == 20
    assert note(preview, "W_HEADER_LINES").lines == (2, 3)
    one = ingest.read(written(["age", "height", "card"], [["years", "cm", ""], *people]))
    said = note(one, "W_SECOND_HEADER")
    assert (len(one.frame), said.lines) == (21, (2,))
    chosen = written(["age", "height", "card"], [["years", "cm", ""], *people])
    assert len(ingest.read(chosen, **said.offers[0].choices).frame) == 20


def test_the_first_line_of_data_can_be_chosen() -> None:
    preview = ingest.read(b"a,b\nx,y\nu,v\n1,2\n3,4\n", first_line=4)
    assert preview.labels == ("a", "b")
    assert preview.frame.to_numpy().tolist() == [["1", "2"], ["3", "4"]]
    assert preview.choices["first_line"] == 4


def test_a_second_table_below_a_blank_line_is_not_read_as_persons() -> None:
    preview = ingest.read(ODD / "two_tables_stacked.csv")
    assert len(preview.frame) == 18
    said = note(preview, "W_SECOND_TABLE")
    assert said.lines == (21,)
    assert "line 21" in said.sentence
    assert len(ingest.read(ODD / "two_tables_stacked.csv", **said.offers[0].choices).frame) == 31


@pytest.mark.parametrize("width", [2, 3, 5])
def test_a_second_table_of_another_width_is_found(width: int) -> None:
    first = written(["sex", "age", "town"], [["fm"[i % 2], str(30 + i), "Pau"] for i in range(9)])
    names = ["dwelling", "rooms", "heating", "floor", "area"][:width]
    cells = ["flat", "3", "gas", "2", "70"][:width]
    preview = ingest.read(first + b"\n\n" + written(names, [cells] * 6))
    assert len(preview.frame) == 9
    assert "W_SECOND_TABLE" in codes(preview)


def test_rows_set_apart_by_blank_lines_stay_one_table() -> None:
    rows = [["fm"[i % 2], str(30 + i), ["Pau", "Trim"][i % 2]] for i in range(12)]
    text = written(["sex", "age", "town"], rows).decode().splitlines()
    text[6:6] = ["", ""]
    preview = ingest.read(("\n".join(text) + "\n").encode())
    assert len(preview.frame) == 12
    assert "W_SECOND_TABLE" not in codes(preview)


@pytest.mark.parametrize("name", ["count", "Freq", "n", "Anzahl", "number of persons"])
def test_an_already_counted_table_asks_before_a_line_is_a_person(name: str) -> None:
    rows = [[s, a, str(10 * i + 7)] for i, (s, a) in enumerate((s, a) for s in "fm" for a in "abc")]
    data = written(["sex", "age_group", name], rows)
    preview = ingest.read(data)
    said = note(preview, "W_COUNTED")
    as_persons, as_rows = (ingest.read(data, **offer.choices) for offer in said.offers)
    assert len(as_persons.frame) == sum(int(row[2]) for row in rows)
    assert as_persons.labels == ("sex", "age_group")
    assert len(as_rows.frame) == 6
    assert "W_COUNTED" not in codes(as_persons) | codes(as_rows)


def test_a_column_called_count_among_persons_is_not_asked_about() -> None:
    rows = [["fm"[i % 2], str(i % 3)] for i in range(30)]
    assert "W_COUNTED" not in codes(ingest.read(written(["sex", "count"], rows)))


def test_dots_that_may_set_thousands_apart_are_named_with_column_and_line() -> None:
    rows = [["x", "12"], ["y", "1.250"], ["z", "13.400"]] * 5
    said = note(ingest.read(written(["k", "pay"], rows)), "W_THOUSANDS")
    assert "column 2" in said.sentence
    assert said.lines == (3,)
    again = ingest.read(written(["k", "pay"], rows), **said.offers[0].choices)
    assert again.attributes("pay")[0].bounds == (12, 13400)


def test_infinite_and_overflowing_numbers_are_said() -> None:
    rows = [[str(i), str(i / 2)] for i in range(20)] + [["20", "inf"], ["21", "1e999"]]
    preview = ingest.read(written(["k", "x"], rows))
    said = note(preview, "W_INFINITE")
    assert "2 values" in said.sentence
    assert preview.attributes("x")[0].bounds == (0, 9.5)


def test_one_row_is_said() -> None:
    assert "W_ONE_ROW" in codes(ingest.read(b"a,b\n1,2\n"))


# -- who is protected ------------------------------------------------------------------------------


def test_columns_that_say_whose_row_it_is_are_left_out_and_the_rows_of_a_person_told() -> None:
    preview = ingest.read(ODD / "several_rows_a_person.csv")
    kept = {p.label: p.keep for p in preview.attributes()}
    assert not kept["record_id"]
    assert not kept["email"]
    said = note(preview, "W_SEVERAL_ROWS")
    assert "up to 4 rows" in said.sentence
    assert "Whose row it is" in said.sentence
    assert said.offers[0].change == {"person": "record_id", "rows": 4}


@pytest.mark.parametrize("name", ["patient_id", "hh_serial", "respondent no", "caseid", "userId"])
def test_repeating_identifiers_are_known_by_their_names(name: str) -> None:
    rows = [[str(500 + i // 3), "ab"[i % 2]] for i in range(60)]
    proposal = ingest.read(written([name, "x"], rows)).attributes(name)[0]
    assert (proposal.kind, proposal.keep, proposal.rows_each) == ("identifier", False, 3)


def test_the_rows_kept_of_a_person_do_not_depend_on_others() -> None:
    rows = [[f"p{i % 7}", str(i)] for i in range(70)]
    domain = Domain((Attribute("v", "integer", bounds=(0, 99)),), rows_per_person=2)

    def kept(rows: list[list[str]], seed: int) -> dict[str, set[str]]:
        preview = ingest.read(written(["who", "v"], rows))
        table = ingest.encode(preview, domain, person="who", seed=seed)
        values = np.flatnonzero(engine.Private(table).marginal((0,)).values).tolist()
        owner = {row[1]: row[0] for row in rows}
        found: dict[str, set[str]] = {}
        for value in values:
            found.setdefault(owner[str(value)], set()).add(str(value))
        return found

    whole = kept(rows, 5)
    assert all(len(values) == 2 for values in whole.values())
    fewer = kept([row for row in rows if row[0] != "p3"], 5)
    assert fewer == {who: values for who, values in whole.items() if who != "p3"}
    assert kept(rows, 5) == whole
    assert any(kept(rows, seed) != whole for seed in range(3))


def test_a_date_s_year_is_counted_whatever_other_columns_are_called() -> None:
    preview = ingest.read(ODD / "date_part_name_taken.csv")
    domain = ingest.draft_domain(preview)
    assert len(set(domain.names)) == 3
    alone = ingest.draft_domain(preview, "birth", "ward")
    years = {int(text[:4]) for text in preview.frame["c0"]}
    found = counts(preview, alone.attributes[0])
    assert {int(label) for label, n in found.items() if n and label.isdigit()} == years
    assert Domain.from_dict(domain.to_dict()) == domain


# -- proposals -------------------------------------------------------------------------------------


def test_dates_without_marks_are_read_as_dates() -> None:
    preview = ingest.read(ODD / "dates_without_marks.csv")
    for label, first, last in (("born", 1934, 2002), ("admitted", 2018, 2023)):
        attribute = drafted(preview, label)
        assert attribute.bounds == (first, last)
        found = counts(preview, attribute)
        assert (sum(found.values()), found["(missing)"]) == (30, 0)


def test_eight_digits_that_are_no_days_are_no_dates() -> None:
    rows = [[str(10_000_000 + 137 * i), "x"] for i in range(40)]
    assert ingest.read(written(["number", "k"], rows)).attributes("number")[0].kind != "date"


def test_bands_and_scales_come_in_their_order() -> None:
    preview = ingest.read(ODD / "bands_and_scales_out_of_order.csv")
    assert drafted(preview, "turnover").values == ("0-10k", "10k-100k", "100k-1M", "1M-5M", "5M+")
    assert drafted(preview, "alter").values == (
        "unter 20", "20 bis 40", "40 bis 60", "60 bis 80", "über 80",
    )  # fmt: skip
    assert drafted(preview, "opinion").values == (
        "Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree", "Don't know",
    )  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        ["under 1k", "1k-5k", "5k-1M", "over 1M"],
        ["moins de 20 ans", "20 à 39 ans", "40 à 59 ans", "60 ans et plus"],
        ["menos de 18", "18 a 30", "31 a 60", "más de 60"],
        ["unter 1.000 €", "1.000 bis 2.000 €", "2.000 € und mehr"],
        ["Montag", "Dienstag", "Mittwoch", "Sonntag"],
        ["lundi", "mardi", "jeudi", "dimanche"],
        ["Januar", "März", "Oktober", "Dezember"],
        ["enero", "febrero", "diciembre"],
        ["stimme nicht zu", "stimme eher zu", "stimme zu", "weiß nicht"],
        ["never", "sometimes", "always", "Refused"],
        ["Winter 2018", "Spring 2019", "Autumn 2019"],
        ["2008/09", "2009/10", "2010/11"],
        ["1-5M", "5-10M", "10M+"],
    ],
)
def test_siblings_of_bands_and_scales_come_in_their_order(values: list[str]) -> None:
    rows = [[value, "x"] for value in values[::-1] * 6]
    preview = ingest.read(written(["v", "k"], rows))
    assert preview.attributes("v")[0].kind == "ordinal"
    assert drafted(preview, "v").values == tuple(values)


def test_school_years_are_no_months() -> None:
    preview = ingest.read(ODD / "school_years.csv")
    proposal = preview.attributes("school_year")[0]
    assert proposal.kind == "ordinal"
    assert "date" in proposal.alternatives
    assert set(counts(preview, drafted(preview, "school_year")).values()) == {5}
    assert len(proposal.values) == 7


def test_usual_missing_codes_are_offered_and_not_taken() -> None:
    preview = ingest.read(ODD / "survey_missing_codes.csv")
    wanted = {"age": ("998", "999"), "hours": ("-9", "-8"), "satisfaction": ("-9",)}
    assert {p.label: p.may_be_missing for p in preview.attributes()} == wanted
    assert {"-9", "-8", "998", "999"} <= set(preview.alternatives["missing"])
    said = [found for found in preview.warnings if found.code == "W_MISSING_CODES"]
    assert [found.choice for found in said] == ["missing"] * 3
    for label in wanted:
        assert drafted(preview, label).missing is None
    taken = ingest.read(ODD / "survey_missing_codes.csv", missing=("-9", "-8", "998", "999"))
    missing = {
        p.label: counts(taken, drafted(taken, p.label))["(missing)"] for p in taken.attributes()
    }
    assert missing == {"age": 5, "hours": 5, "satisfaction": 2}
    for label, codes_ in wanted.items():
        attribute = ingest.proposed_attribute(preview.proposal(label, missing=codes_))
        assert counts(preview, attribute)["(missing)"] == missing[label]


@pytest.mark.parametrize(
    ("values", "codes_"),
    [
        (["34", "51", "67", "95", "98", "99"], ()),  # ages
        (["1", "2", "3", "4", "5", "8", "9"], ("8", "9")),
        (["1200", "3400", "88888", "99999"], ()),
        (["12", "30", "55", "9999"], ("9999",)),
        (["0", "-12", "-30", "5", "-9"], ()),  # temperatures
    ],
)
def test_codes_that_stand_near_the_other_values_are_not_offered(
    values: list[str], codes_: tuple[str, ...]
) -> None:
    rows = [[value, "x"] for value in values * 4]
    found = ingest.read(written(["v", "k"], rows)).attributes("v")[0].may_be_missing
    if values[0] == "1200":
        assert set(found) <= {"88888", "99999"}
    else:
        assert found == codes_


def test_extended_missing_codes_are_offered_together() -> None:
    preview = ingest.read(ODD / "extended_missing_codes.csv")
    proposal = preview.attributes("income")[0]
    assert proposal.kind == "integer"
    assert set(proposal.missing_codes) == {".", ".a", ".b"}
    assert {".", ".a", ".b"} <= set(preview.alternatives["missing"])
    assert counts(preview, drafted(preview, "income"))["(missing)"] == 9


def test_spellings_that_differ_in_capitals_are_pointed_out_and_joined_when_asked() -> None:
    rows = [[v, "x"] for v in ["w", "m"] * 10 + ["W", "M", "w"]]
    preview = ingest.read(written(["sex", "k"], rows))
    said = note(preview, "W_VARIANTS")
    assert said.offers[0].change == {"compare": "folded"}
    proposal = preview.attributes("sex")[0]
    assert len(drafted(preview, "sex").values or ()) == 4
    joined = ingest.folded_attribute(proposal, drafted(preview, "sex"))
    assert counts(preview, joined) == {"m": 11, "w": 12}
    assert Domain.from_dict(Domain((joined,)).to_dict())["sex"] == joined


def test_a_column_of_several_answers_is_split_into_yes_and_no() -> None:
    cells = ["bus;bike", "bus", "bike; walk", "walk;bus;bike", "", "bus"] * 3
    preview = ingest.read(written(["travel", "k"], [[cell, "x"] for cell in cells]))
    assert "W_SEVERAL_ANSWERS" in codes(preview)
    made = ingest.split_answers(preview.attributes("travel")[0])
    assert [a.name for a in made] == ["travel: bike", "travel: bus", "travel: walk"]
    found = {a.name: counts(preview, a)["yes"] for a in made}
    assert found == {"travel: bike": 9, "travel: bus": 12, "travel: walk": 6}
    domain = Domain(made)
    assert Domain.from_dict(domain.to_dict()) == domain


# -- what is no table ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("not_a_table_lfs_pointer.csv", "Git LFS pointer.*[Ff]etch the real file"),
        ("not_a_table_arff.csv", "ARFF"),
        ("not_a_table_sql_dump.csv", "SQL dump"),
        ("not_a_table_spss_portable.csv", "SPSS portable"),
        ("command_line.zip", "zip archive.*Unpack it first"),
    ],
)
def test_what_is_no_table_is_refused_by_name(file: str, named: str) -> None:
    with pytest.raises(engine.DataError, match=named) as caught:
        ingest.read(ODD / file)
    assert caught.value.code == "E_FORMAT"
    domain = Domain((Attribute("sex", values=("f", "m")),))
    with pytest.raises(engine.DataError, match=named):
        engine.Table.from_file(ODD / file, domain)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"@RELATION x\r\n@ATTRIBUTE a NUMERIC\r\n@DATA\r\n1\r\n", "ARFF"),
        (b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t (a int);\n", "SQL"),
        (b"/*!40101 x */;\nDROP TABLE IF EXISTS `t`;\nCREATE TABLE `t` (\n`a` int);\n", "SQL"),
        (b"<html><body><table><tr><td>1</td></tr></table></body></html>", r"HTML.*\.xls"),
    ],
)
def test_siblings_that_are_no_tables_are_refused_by_name(data: bytes, named: str) -> None:
    with pytest.raises(engine.DataError, match=named):
        ingest.read(data, name="table.xls")


# -- one reader everywhere -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["semicolons.csv", "commas.csv"])
def test_a_file_is_one_table_by_whatever_way_it_is_read(kind: str) -> None:
    domain = Domain.from_json(ODD / "command_line_sex.domain.json")
    for file in (f"command_line_{kind}", "command_line.xlsx", "command_line.parquet"):
        table = engine.Table.from_file(ODD / file, domain)
        by_page = ingest.encode(ingest.read((ODD / file).read_bytes()), domain)
        for found in (table, by_page):
            assert engine.Private(found).marginal((0,)).values.tolist() == [13, 3]


def test_a_date_s_part_of_an_older_domain_file_is_read_by_its_name() -> None:
    domain = Domain.from_json(ODD / "command_line_date_part.domain.json")
    table = engine.Table.from_file(ODD / "command_line_commas.csv", domain)
    years = engine.Private(table).marginal((0,)).values
    assert years.sum() == 16
    assert years[1995 - 1950] == 3
