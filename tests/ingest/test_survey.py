"""Files of SPSS, Stata and SAS: what they declare becomes the declared domain."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import engine
from engine import ingest
from engine.domain import Domain

pyreadstat = pytest.importorskip("pyreadstat")

PEOPLE = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 1.0, None, 9.0, 2.0],
        "age": [33.0, 998.0, 45.0, 20.0, 61.0, None],
        "town": ["Pau", "Trim", "", "Pau", "Pau", "Trim"],
    }
)


@pytest.fixture
def spss(tmp_path: Path) -> Path:
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(
        PEOPLE, path, column_labels={"sex": "Sex of the respondent"},
        variable_value_labels={"sex": {1: "Male", 2: "Female", 9: "Refused"}},
        missing_ranges={"sex": [9], "age": [{"lo": 998, "hi": 999}]},
    )  # fmt: skip
    return path


def counts(preview: ingest.Preview, label: str) -> dict[str, int]:
    attribute = ingest.proposed_attribute(preview.attributes(label)[0])
    table = ingest.encode(preview, Domain((attribute,)))
    found = engine.Private(table).marginal((0,)).values.tolist()
    return {k: n for k, n in zip(attribute.labels, found, strict=True) if n}


def test_value_labels_and_missing_values_of_spss_are_the_declared_domain(spss: Path) -> None:
    preview = ingest.read(spss)
    assert preview.choices["format"] == "survey"
    sex = ingest.proposed_attribute(preview.attributes("sex")[0])
    assert (sex.values, sex.source, sex.read_from_data) == (("Male", "Female"), "declared", ())
    assert sex.missing is not None
    assert sex.missing.codes == ("Refused",)
    assert sex.description == "Sex of the respondent"
    assert counts(preview, "sex") == {"Male": 2, "Female": 2, "(missing)": 2}
    assert counts(preview, "age") == {"20": 1, "33": 1, "45": 1, "61": 1, "(missing)": 2}
    assert "W_DECLARED" in {note.code for note in preview.warnings}


def test_an_spss_file_is_a_table_for_python_and_the_command_line_too(spss: Path) -> None:
    domain = ingest.draft_domain(ingest.read(spss))
    table = engine.Table.from_file(spss, domain)
    assert engine.Private(table).marginal(()).values == 6


def test_tagged_missing_values_of_stata_keep_their_kinds(tmp_path: Path) -> None:
    path = tmp_path / "people.dta"
    frame = pd.DataFrame({"job": [1.0, "a", "b", 2.0, 2.0], "n": [1, 2, 3, 4, 5]})
    pyreadstat.write_dta(
        frame, path, variable_value_labels={"job": {1: "nurse", 2: "cook", "a": "refused"}},
        missing_user_values={"job": ["a", "b"]},
    )  # fmt: skip
    preview = ingest.read(path)
    assert preview.frame["c0"].tolist() == ["nurse", "refused", ".b", "cook", "cook"]
    assert counts(preview, "job") == {"nurse": 1, "cook": 2, "(missing)": 2}
    assert "W_TAGGED_MISSING" in {note.code for note in preview.warnings}


@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
def test_every_version_of_stata_is_known(version: int, tmp_path: Path) -> None:
    path = tmp_path / "x.dta"
    pyreadstat.write_dta(pd.DataFrame({"a": [1.0, 2.5]}), path, version=version)
    assert ingest.read(path.read_bytes()).frame["c0"].tolist() == ["1", "2.5"]


@pytest.mark.parametrize("kind", ["xport", "por"])
def test_transport_files_of_sas_and_spss_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{kind}"
    getattr(pyreadstat, f"write_{kind}")(PEOPLE[["age", "town"]], str(path))
    preview = ingest.read(path.read_bytes())
    assert [label.lower() for label in preview.labels] == ["age", "town"]
    assert preview.frame["c0"].tolist() == ["33", "998", "45", "20", "61", ""]


def test_dates_of_spss_are_dates(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    days = [dt.date(1990 + i, 1 + i, 3) for i in range(5)]
    pyreadstat.write_sav(pd.DataFrame({"born": [*days, None], "k": range(6)}), path)
    preview = ingest.read(path)
    assert preview.attributes("born")[0].kind == "date"
    assert preview.frame["c0"].tolist() == [*(day.isoformat() for day in days), ""]


def test_a_scale_with_labels_at_its_ends_only_is_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    frame = pd.DataFrame({"trust": [float(i % 11) for i in range(60)] + [99.0], "k": range(61)})
    pyreadstat.write_sav(
        frame, path, variable_value_labels={"trust": {0: "none", 10: "full", 99: "no answer"}},
        missing_ranges={"trust": [99]},
    )  # fmt: skip
    preview = ingest.read(path)
    assert "trust" not in preview.declared
    found = counts(preview, "trust")
    assert (found["(missing)"], found["0"], found["10"]) == (1, 6, 5)


def test_a_damaged_file_is_refused_by_its_name(spss: Path) -> None:
    with pytest.raises(engine.DataError, match="SPSS file, damaged") as caught:
        ingest.read(spss.read_bytes()[:200])
    assert caught.value.code == "E_FORMAT"


def test_without_the_package_the_extra_is_named(spss: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(engine.DataError, match="pyreadstat"):
        ingest.read(spss)


def test_values_of_one_letter_are_no_tags_where_the_variable_holds_texts(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    frame = pd.DataFrame({"q": ["a", "b", "c", "X"] * 5, "k": range(20)})
    pyreadstat.write_sav(
        frame, path, missing_ranges={"q": ["X"]},
        variable_value_labels={"q": {"a": "Alpha", "b": "Beta", "c": "Gamma", "X": "refused"}},
    )  # fmt: skip
    assert counts(ingest.read(path), "q") == {"Alpha": 5, "Beta": 5, "Gamma": 5, "(missing)": 5}


@pytest.mark.parametrize(("low", "high"), [(-9_999_999, -1), (97, 99)])
def test_all_that_lies_in_a_declared_range_is_missing(low: int, high: int, tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    inside = [-9.0, -8.0, -99.0] if low < 0 else [97.25, 98.5, 99.0]
    frame = pd.DataFrame({"q": [float(i % 50) + 0.5 for i in range(60)] + inside})
    pyreadstat.write_sav(frame, path, missing_ranges={"q": [{"lo": low, "hi": high}]})
    preview = ingest.read(path)
    assert preview.attributes("q")[0].bounds == (0.5, 49.5)
    assert counts(preview, "q")["(missing)"] == 3


def test_values_without_a_label_are_said_to_be_counted_as_other(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    names = {1: "low", 2: "middle", 3: "high"}
    frame = pd.DataFrame({"q": [1.0, 2, 3, 7] * 5})
    pyreadstat.write_sav(frame, path, variable_value_labels={"q": names})
    preview = ingest.read(path)
    assert counts(preview, "q")["(other)"] == 5
    assert "W_UNNAMED_VALUES" in {note.code for note in preview.warnings}


def test_a_date_out_of_the_calendar_is_said_and_does_not_stop_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    frame = pd.DataFrame({"when": [1.3e10, 1.0e15], "k": [1.0, 2.0]})
    pyreadstat.write_sav(frame, path, variable_format={"when": "DATETIME20"})
    preview = ingest.read(path)
    assert len(preview.frame) == 2
    assert "W_DATES_AS_NUMBERS" in {note.code for note in preview.warnings}
