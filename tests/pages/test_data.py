# ruff: noqa: E501 - tables of cases read best one case a line
"""The Data page: opens empty, does its job on an upload, explains a mistake, survives hostile text."""

# Over 400 lines: one page, whose tests share one upload and its helpers.

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from engine.domain import Attribute, Domain
from pages.parts.entry import upload

APP = str(Path(__file__).parents[2] / "app.py")
PEOPLE = (
    b"Survey of May;;;\n;;;\nid;sex;age;pay\n"
    + b"".join(
        f"p{i:03};{'fm'[i % 2]};{20 + i % 50};{1000 + 7 * i},50\n".encode() for i in range(120)
    )
    + b"Total;;;9999\n"
)
HOSTILE = (
    "$x$,:smile:,*a*,<b>bold</b>,a.b,a[b],a:b,a'b,\"a\"\"b\",a\\b,,constructor,__proto__,1. age,"
    "![x](http://x.invalid/y.png),`code`,{}\n".format("x" * 300)
    + "\n".join(",".join(["constructor", "$1$ and $2$", "<script>", ":red[x]"][(i + j) % 4] for j in range(17)) for i in range(8))
    + "\n"
).encode()  # fmt: skip


def opened() -> AppTest:
    at = AppTest.from_file(APP, default_timeout=60).switch_page("pages/data.py").run()
    assert not at.exception
    return at


def with_file(name: str, data: bytes) -> AppTest:
    at = opened()
    at.button_group(key="data_kind").set_value("own").run()
    at.file_uploader[0].set_value((name, data, "text/csv")).run()
    assert not at.exception
    return at


def here(at: AppTest) -> upload.Upload:
    found: upload.Upload = at.session_state["upload"]
    return found


def said(at: AppTest) -> str:
    kinds: list[Any] = [*at.error, *at.warning, *at.info, *at.success, *at.markdown, *at.caption]
    return "\n".join(str(element.value) for element in kinds)


def test_it_opens_with_nothing() -> None:
    at = opened()
    assert at.title[0].value == "Data"
    assert "table" not in at.session_state


def test_an_example_is_handed_over_with_its_domain() -> None:
    at = opened()
    at.selectbox(key="data_sample").set_value("titanic").run()
    at.button(key="use_sample").click().run()
    assert not at.exception
    assert at.session_state["domain"].names == ("Class", "Sex", "Age", "Survived")
    assert at.session_state["table"].codes.shape == (4, 2201)
    assert at.session_state["domain_source"] != "data"


def test_a_messy_file_is_read_shown_and_used() -> None:
    at = with_file("people.csv", PEOPLE)
    preview = here(at).preview
    assert preview is not None
    assert preview.frame.shape == (120, 4)
    assert here(at).chosen == ["sex", "age", "pay"]
    assert "things to check" in said(at)
    at.button(key="use_table").click().run()
    assert not at.exception
    assert at.session_state["domain"].names == ("sex", "age", "pay")
    assert at.session_state["domain_source"] == "data"
    assert at.session_state["table"].codes.shape == (3, 120)
    assert "Ready" in said(at)


def test_a_guess_is_corrected_and_the_file_read_again() -> None:
    at = with_file("people.csv", PEOPLE)
    version = here(at).version
    at.number_input(key=f"last_line_{version}").set_value(124).run()
    assert not at.exception
    preview = here(at).preview
    assert preview is not None
    assert len(preview.frame) == 121
    at.selectbox(key=f"separator_{here(at).version}").set_value(",").run()
    assert not at.exception
    at.button(key=f"found_{here(at).version}").click().run()
    preview = here(at).preview
    assert preview is not None
    assert preview.frame.shape == (120, 4)


def test_a_domain_is_declared() -> None:
    at = with_file("people.csv", PEOPLE)
    key = f"{here(at).version}_c1"
    at.text_area(key=f"values_{key}").set_value("m\nf\nx").run()
    typed = here(at).draft("sex").attribute
    assert typed is not None
    assert (typed.values, typed.read_from_data) == (("m", "f", "x"), ("missing",))
    at.selectbox(key=f"edited_{here(at).version}").set_value("pay").run()
    key = f"{here(at).version}_c3"
    at.number_input(key=f"high_{key}").set_value(5000.0).run()
    key = f"{here(at).version}_c3"
    at.number_input(key=f"bins_{key}").set_value(5).run()
    key = f"{here(at).version}_c3"
    pay = here(at).draft("pay").attribute
    assert pay is not None
    assert pay.edges is not None
    assert (pay.edges[-1], pay.size) == (5000.0, 5)
    assert pay.read_from_data == ("lowest", "missing")  # only what was typed is known
    at.selectbox(key=f"outside_{key}").set_value("other").run()
    at.selectbox(key=f"missing_{key}").set_value("drop").run()
    at.selectbox(key=f"edited_{here(at).version}").set_value("age").run()
    key = f"{here(at).version}_c2"
    at.selectbox(key=f"reading_{key}").set_value("numeric").run()
    assert here(at).draft("age").reading == "numeric"
    at.button(key="use_table").click().run()
    assert not at.exception
    domain = at.session_state["domain"]
    assert domain["pay"].labels[-1] == "(other)"
    assert domain["pay"].missing.rule == "drop"
    assert domain["age"].kind == "numeric"


def test_a_wrong_bound_is_explained_and_changes_nothing() -> None:
    at = with_file("people.csv", PEOPLE)
    at.selectbox(key=f"edited_{here(at).version}").set_value("pay").run()
    before = here(at).draft("pay").attribute
    at.number_input(key=f"high_{here(at).version}_c3").set_value(-5.0).run()
    assert not at.exception
    assert "smaller first" in said(at)
    assert here(at).draft("pay").attribute == before


def test_a_value_outside_its_domain_is_explained_without_showing_it() -> None:
    at = with_file("people.csv", PEOPLE)
    at.text_area(key=f"values_{here(at).version}_c1").set_value("m").run()
    at.button(key="use_table").click().run()
    assert not at.exception
    assert "outside its declared domain" in said(at)
    assert "table" not in at.session_state


def test_a_file_that_is_no_table_is_refused_by_name() -> None:
    at = with_file("table.csv", b"%PDF-1.7 ...")
    assert "PDF" in said(at)
    at.button(key="replace").click().run()
    assert not at.exception
    assert at.session_state["upload"] is None


def test_a_long_row_is_named_and_the_person_decides() -> None:
    at = with_file("table.csv", b"a,b\nx,1\ny,2,3\nx,4\n" + b"y,5\n" * 20)
    assert "line 3" in said(at)
    at.selectbox(key=f"long_rows_{here(at).version}").set_value("skip").run()
    assert not at.exception
    preview = here(at).preview
    assert preview is not None
    assert preview.frame.shape == (22, 2)


def test_hostile_names_and_values_are_only_text() -> None:
    at = with_file("<img src=x>.csv", HOSTILE)
    for label in here(at).chosen:
        at.selectbox(key=f"edited_{here(at).version}").set_value(label).run()
        assert not at.exception
    for element in [*at.markdown, *at.caption, *at.warning]:
        assert not re.search(r"(?<!\\)(<img|!\[x|\$x)", str(element.value))
        assert not getattr(element, "allow_html", False)


def test_a_table_of_ten_thousand_columns_stays_usable() -> None:
    wide = ",".join(f"v{j}" for j in range(10_000)) + "\n" + ("1," * 9_999 + "2\n") * 3
    at = with_file("wide.csv", wide.encode())
    assert len(at.multiselect(key=f"chosen_{here(at).version}").options) <= 300
    at.text_input(key="data_search").set_value("v9999").run()
    assert "v9999" in at.multiselect(key=f"chosen_{here(at).version}").options


def test_a_header_alone_is_enough_to_plan_with() -> None:
    at = with_file("names.csv", b"sex,age\n")
    assert "no rows" in said(at)
    at.multiselect(key=f"chosen_{here(at).version}").set_value(["sex"]).run()
    at.text_area(key=f"values_{here(at).version}_c0").set_value("f\nm").run()
    at.button(key="use_table").click().run()
    assert not at.exception
    assert at.session_state["table"] is None
    assert at.session_state["domain"].sizes[0] >= 2


def test_names_can_be_typed_for_planning() -> None:
    at = opened()
    at.button_group(key="data_kind").set_value("names").run()
    at.text_area(key="data_typed").set_value("sex: f, m\nage: 0..99").run()
    at.button(key="use_names").click().run()
    assert not at.exception
    assert at.session_state["domain"].sizes == (2, 100)
    at.text_area(key="data_typed").set_value("sex").run()
    assert "Line 1" in said(at)


def test_a_domain_file_is_taken_over() -> None:
    at = with_file("people.csv", PEOPLE)
    domain = Domain(
        (Attribute("sex", values=("f", "m")), Attribute("height", values=("x",))), row="a visit"
    )
    content = json.dumps(domain.to_dict()).encode()
    uploader = next(f for f in at.file_uploader if f.key == f"domain_{here(at).version}")
    uploader.set_value(("d.json", content, "application/json")).run()
    assert not at.exception
    assert here(at).chosen == ["sex"]
    assert here(at).row == "a visit"
    assert "height" in said(at)


def test_several_rows_a_person_are_limited_by_their_id() -> None:
    rows = "".join(f"{i % 10},{'fm'[i % 2]}\n" for i in range(60))
    at = with_file("visits.csv", f"who,sex\n{rows}".encode())
    version = here(at).version
    at.multiselect(key=f"chosen_{version}").set_value(["sex"]).run()
    at.number_input(key=f"rows_{version}").set_value(2).run()
    at.selectbox(key=f"person_{version}").set_value("who").run()
    assert "4 times" in said(at)
    at.button(key="use_table").click().run()
    assert at.session_state["table"].codes.shape == (1, 20)
    assert at.session_state["domain"].rows_per_person == 2


@pytest.mark.parametrize("kind", ["own", "names"])
def test_what_was_decided_is_there_after_a_change_of_page(kind: str) -> None:
    at = with_file("people.csv", PEOPLE)
    at.text_area(key=f"values_{here(at).version}_c1").set_value("m\nf\nx").run()
    kept = {key: at.session_state[key] for key in ("upload", "data_page")}
    again = AppTest.from_file(APP, default_timeout=60).switch_page("pages/data.py")
    for key, value in kept.items():
        again.session_state[key] = value
    again.run()
    assert not again.exception
    assert again.text_area(key=f"values_{here(again).version}_c1").value == "m\nf\nx"
    if kind == "names":
        again.button_group(key="data_kind").set_value("names").run()
        again.button_group(key="data_kind").set_value("own").run()
        assert again.text_area(key=f"values_{here(again).version}_c1").value == "m\nf\nx"


def test_two_changes_at_once_do_not_lose_each_other() -> None:
    at = with_file("people.csv", PEOPLE)
    version = here(at).version
    at.text_area(key=f"values_{version}_c1").set_value("m\nf\nx")
    at.text_input(key=f"row_{version}").set_value("a visit")
    at.run()
    assert not at.exception
    assert here(at).row == "a visit"
    assert here(at).draft("sex").attribute == Attribute(
        "sex", values=("m", "f", "x"), source="data", declared=("values",)
    )


def test_sizes_are_counted_from_the_domain() -> None:
    sizes = upload.sizes(Domain.from_sizes({"a": 2, "b": 3, "c": 5}))
    assert sizes == {"one": 10, "two": 31, "three": 30, "all": 30}


def test_a_table_of_ones_own_is_planned_and_run_like_a_sample() -> None:
    at = with_file("people.csv", PEOPLE)
    at.button(key="use_table").click().run()
    at.switch_page("pages/plan.py").run()
    assert not at.exception
    assert at.selectbox(key="sample").value == "own"
    at.switch_page("pages/rounds.py").run()
    at.button(key="start_run").click().run()
    assert not at.exception
    run = at.session_state["visit"].run
    assert (run.settings.sample, run.title, run.records) == ("own", "people.csv", 120)
    release = run.release(run.rounds)
    assert "people.csv" not in json.dumps(release.to_dict())
    assert release.demonstration[1:]  # its values were read from the rows


def test_names_without_rows_can_be_planned_and_say_why_they_cannot_be_run() -> None:
    at = opened()
    at.button_group(key="data_kind").set_value("names").run()
    at.button(key="use_names").click().run()
    at.switch_page("pages/plan.py").run()
    assert not at.exception
    at.switch_page("pages/rounds.py").run()
    at.button(key="start_run").click().run()
    assert not at.exception
    assert any("no rows" in str(error.value) for error in at.error)


# -- answers and marks -----------------------------------------------------------------------------


def offered(at: AppTest, label: str) -> Any:
    return next(button for button in at.button if label in button.label.replace("\\", ""))


def test_each_thing_to_check_is_answered_with_a_button() -> None:
    rows = "".join(
        f"p{i // 3},{20 + i if i % 7 else 999},{'wWm'[i % 3]},{'bus;car' if i % 2 else 'bus'}\n"
        for i in range(60)
    )
    at = with_file("visits.csv", f"person_id,age,sex,travel\n{rows}".encode())
    offered(at, "A person may have 3 rows").click().run()
    assert (here(at).person, here(at).rows_per_person) == ("person_id", 3)
    offered(at, "999 mean missing here").click().run()
    age = here(at).draft("age").attribute
    assert age is not None
    assert age.missing is not None
    assert age.missing.codes == ("999",)
    assert "999" not in age.labels
    offered(at, "Count such spellings as one value").click().run()
    sex = here(at).draft("sex").attribute
    assert sex is not None
    assert (sex.compare, len(sex.values or ())) == ("folded", 2)
    assert not any("spellings" in button.label for button in at.button), "answered"
    at.button(key="use_table").click().run()
    assert not at.exception
    assert at.session_state["domain"].rows_per_person == 3
    assert "Ready" in said(at)


def test_answers_in_one_cell_become_attributes_of_yes_and_no() -> None:
    cells = ["bus;bike", "bus", "bike;walk", "walk;bus;bike"] * 8
    rows = "".join(f"{cell},{'fm'[i % 2]}\n" for i, cell in enumerate(cells))
    at = with_file("travel.csv", f"travel,sex\n{rows}".encode())
    offered(at, "Split it").click().run()
    at.button(key="use_table").click().run()
    assert not at.exception
    names = at.session_state["domain"].names
    assert names == ("travel: bike", "travel: bus", "travel: walk", "sex")


def test_a_counted_table_is_not_used_before_it_is_said_what_a_row_is() -> None:
    rows = "".join(
        f"{s},{a},{10 + i}\n" for i, (s, a) in enumerate((s, a) for s in "fm" for a in "xyz")
    )
    at = with_file("counts.csv", f"sex,group,count\n{rows}".encode())
    at.button(key="use_table").click().run()
    assert "counted already" in said(at)
    assert "table" not in at.session_state
    offered(at, "As many persons as it says").click().run()
    at.button(key="use_table").click().run()
    assert not at.exception
    assert at.session_state["table"].records() == sum(range(10, 16))


def test_in_use_now_says_that_a_change_was_not_taken_over() -> None:
    at = with_file("people.csv", PEOPLE)
    at.button(key="use_table").click().run()
    assert "last changes" not in said(at)
    at.text_area(key=f"values_{here(at).version}_c1").set_value("m\nf\nx").run()
    assert "as it was before your last changes" in said(at)
    at.button(key="use_table").click().run()
    assert "last changes" not in said(at)


def test_only_what_is_said_to_be_known_loses_its_mark() -> None:
    at = with_file("people.csv", PEOPLE)
    pills = at.button_group(key=f"known_{here(at).version}_c1")
    assert pills.value == []
    pills.set_value(["values", "missing"]).run()
    sex = here(at).draft("sex").attribute
    assert sex is not None
    assert (sex.source, sex.read_from_data) == ("declared", ())
    at.button_group(key=f"known_{here(at).version}_c1").set_value(["values"]).run()
    sex = here(at).draft("sex").attribute
    assert sex is not None
    assert sex.read_from_data == ("missing",)


def test_a_saved_domain_file_holds_how_the_file_is_read() -> None:
    at = with_file("people.csv", PEOPLE)
    at.number_input(key=f"last_line_{here(at).version}").set_value(50).run()
    content = json.dumps(here(at).saved()).encode()
    assert json.loads(content)["reading"] == {"last_line": 50}
    again = with_file("people.csv", PEOPLE)
    uploader = next(f for f in again.file_uploader if f.key == f"domain_{here(again).version}")
    uploader.set_value(("d.json", content, "application/json")).run()
    assert not again.exception
    assert here(again).choices["last_line"] == 50
    assert here(again).domain() == here(at).domain()


def test_one_click_after_the_upload_leads_to_the_rounds_of_ones_own_table() -> None:
    at = with_file("people.csv", PEOPLE)
    at.button(key="use_and_watch").click().run()
    assert not at.exception
    run = at.session_state["visit"].run
    assert (run.settings.sample, run.title, run.records) == ("own", "people.csv", 120)
