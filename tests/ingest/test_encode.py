# ruff: noqa: E501 - tables of cases read best one case a line
"""From a preview and a declared domain to codes, and private counts of what rules changed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from engine import ingest
from engine.domain import Attribute, Domain, Missing
from engine.errors import DataError, DomainError
from engine.ingest.encode import random_order


def codes(data: bytes, *attributes: Attribute, **choices: object) -> list[list[int]]:
    preview = ingest.read(data, **choices)  # type: ignore[arg-type]
    found: list[list[int]] = ingest.encode(preview, Domain(attributes)).codes.T.tolist()
    return found


AGES = b"age,city\n17,Oslo\n64,Rome\n120,\n-3,Bonn\n40.5,Oslo\n?,Oslo\n"


def test_numbers_outside_go_to_the_nearest_bound() -> None:
    age = Attribute(
        "age", "numeric", edges=(0, 18, 65, 100), outside="clamp", missing=Missing(("?",))
    )
    assert codes(AGES, age) == [[0], [1], [2], [0], [1], [3]]


def test_numbers_outside_go_to_other() -> None:
    age = Attribute("age", "integer", bounds=(17, 64), outside="other", missing=Missing(("?",)))
    assert codes(AGES, age) == [[0], [47], [48], [48], [48], [49]]


def test_texts_outside_go_to_other_and_missing_ones_to_their_own_value() -> None:
    city = ingest.top_list("city", ["Rome", "Oslo"], missing=Missing())
    assert city.labels == ("Rome", "Oslo", "(other)", "(missing)")
    assert codes(AGES, city) == [[1], [0], [3], [2], [1], [1]]


def test_a_value_outside_is_refused_with_its_line_and_not_shown() -> None:
    with pytest.raises(DataError, match="line 5") as caught:
        codes(AGES, Attribute("city", values=("Oslo", "Rome"), missing=Missing()))
    assert caught.value.code == "E_VALUE"
    assert "Bonn" not in str(caught.value)


def test_a_missing_cell_without_a_rule_is_refused() -> None:
    with pytest.raises(DataError, match="line 4") as caught:
        codes(AGES, Attribute("city", values=("Oslo", "Rome", "Bonn")))
    assert caught.value.code == "E_MISSING"


def test_records_with_a_missing_cell_can_be_left_out_or_replaced() -> None:
    values = ("Oslo", "Rome", "Bonn")
    dropped = Attribute("city", values=values, missing=Missing(rule="drop"))
    assert codes(AGES, dropped) == [[0], [1], [2], [0], [0]]
    replaced = Attribute("city", values=values, missing=Missing(rule="replace", value="Rome"))
    assert codes(AGES, replaced) == [[0], [1], [1], [2], [0], [0]]


def test_a_left_out_record_may_hold_anything_elsewhere() -> None:
    age = Attribute(
        "age", "integer", bounds=(0, 120), missing=Missing(("?",), rule="drop"), outside="clamp"
    )
    city = Attribute("city", values=("Oslo",), missing=Missing(rule="drop"))
    assert codes(b"age,city\n?,nowhere\n3,Oslo\n", age, city) == [[3, 0]]


def test_what_a_person_calls_missing_is_missing_unless_it_is_a_declared_value() -> None:
    data = b"a,b\nNA,NA\nx,y\n"
    a = Attribute("a", values=("x",), missing=Missing())
    b = Attribute("b", values=("NA", "y"))
    assert codes(data, a, b, missing=("NA",)) == [[1, 0], [0, 1]]


def test_decimal_commas_thousands_and_signs_are_numbers() -> None:
    pay = Attribute("pay", "numeric", edges=(0, 1000, 2000), outside="refuse")
    assert codes("id;pay\n1;999,5\n2;1.000,5\n3;€ 2.000,00\n".encode(), pay) == [[0], [1], [1]]
    assert codes(b'id,pay\n1,"1,999.5"\n2,$12\n', pay) == [[1], [0]]


def test_a_decimal_comma_is_never_taken_for_another_number() -> None:
    pay = Attribute("pay", "numeric", edges=(0, 1000, 2000))
    with pytest.raises(DataError, match="outside"):
        codes(b'id,pay\n1,"1,5"\n2,7\n', pay, decimal=".")


@pytest.mark.parametrize(
    ("part", "expected"),
    [("year", [[0], [2], [3]]), ("month", [[0], [11], [12]]), ("weekday", [[4], [5], [7]]), ("quarter", [[0], [3], [4]])],
)  # fmt: skip
def test_an_attribute_may_hold_a_part_of_a_date(part: str, expected: list[list[int]]) -> None:
    data = b"born,n\n31/01/2020,1\n17/12/2022,2\n,3\n"
    preview = ingest.read(data)
    proposal = preview.attributes("born")[0]
    attribute = ingest.proposed_attribute(proposal, part=part)  # type: ignore[arg-type]
    assert attribute.name == f"born ({part})"
    assert ingest.encode(preview, Domain((attribute,))).codes.T.tolist() == expected


def test_counts_of_undeclared_values_are_kept_and_kept_private() -> None:
    preview = ingest.read(AGES)
    age = Attribute(
        "age", "numeric", edges=(0, 18, 65, 100), outside="clamp", missing=Missing(("?",), "drop")
    )
    city = ingest.top_list("city", ["Rome", "Oslo"], missing=Missing())
    encoded = ingest.encode_counted(preview, Domain((age, city)))
    assert encoded.counts.outside == {"age": 2, "city": 1}
    assert encoded.counts.dropped == 1
    assert "2" not in repr(encoded.counts)
    with pytest.raises(TypeError, match="private"):
        pickle.dumps(encoded.counts)


def test_a_table_without_rows_is_a_table() -> None:
    preview = ingest.read(b"a,b\n")
    assert preview.schema_only
    table = ingest.encode(preview, Domain((Attribute("a", values=("x",)),)))
    assert table.codes.shape == (1, 0)


def test_an_attribute_without_a_column_is_named() -> None:
    with pytest.raises(DataError, match="'z'") as caught:
        codes(AGES, Attribute("z", values=("x",)))
    assert caught.value.code == "E_COLUMN"


def test_duplicate_records_stay() -> None:
    assert len(codes(b"a,b\n1,2\n1,2\n1,2\n", Attribute("a", values=("1",)))) == 3


def test_a_person_keeps_at_most_k_rows_chosen_at_random() -> None:
    rows = "\n".join(f"{'abc'[i % 3]},{i}" for i in range(30))
    preview = ingest.read(f"who,v\n{rows}\nd,30\n".encode())
    domain = Domain((Attribute("v", "integer", bounds=(0, 30)),), rows_per_person=4)
    seen = set()
    for seed in range(20):
        table = ingest.encode(
            preview, domain, person="who", order=np.random.default_rng(seed).permutation
        )
        values = table.codes[0].tolist()
        assert len(values) == 4 * 3 + 1
        assert all(sum(v % 3 == r and v < 30 for v in values) == 4 for r in range(3))
        seen.update(values)
    assert len(seen) == 31


def test_the_order_of_rows_is_random_unless_it_is_given() -> None:
    orders = {tuple(random_order(20)) for _ in range(5)}
    assert len(orders) == 5
    assert all(sorted(order) == list(range(20)) for order in orders)
    assert len(random_order(0)) == 0


def test_a_row_of_nobody_is_refused_where_rows_are_counted_by_person() -> None:
    preview = ingest.read(b"who,v\na,1\n,2\n")
    with pytest.raises(DataError, match="whose row"):
        ingest.encode(preview, Domain((Attribute("v", "integer", bounds=(0, 3)),)), person="who")


def test_a_domain_says_how_many_rows_a_person_may_have() -> None:
    domain = Domain((Attribute("a", values=("x",)),), rows_per_person=3)
    assert Domain.from_dict(domain.to_dict()) == domain
    assert "rows_per_person" not in Domain((Attribute("a", values=("x",)),)).to_dict()
    assert domain.hash != Domain((Attribute("a", values=("x",)),)).hash
    assert domain.select("a").rows_per_person == 3
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(DomainError, match="most rows"):
            Domain((Attribute("a", values=("x",)),), rows_per_person=wrong)  # type: ignore[arg-type]


def test_bins_and_lists_refuse_what_makes_none() -> None:
    for low, high, bins in ((1, 1, 3), (0, float("inf"), 3), (0, 1, 0)):
        with pytest.raises(DomainError):
            ingest.equal_width(low, high, bins)
    for text in ("", "1", "2 1", "a b", "1 nan"):
        with pytest.raises(DomainError):
            ingest.typed_edges(text)
    assert ingest.typed_edges("0; 1,5; 3", ",") == (0, 1.5, 3)
    assert ingest.pasted_values("x\n\n y \nx") == ("x", "y")
