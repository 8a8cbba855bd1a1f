"""Declarations of attributes, and sets of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine import ingest
from engine.domain import Derived, subsets
from engine.ingest import Choices
from tests.strategies import domains
from tests.support import SAMPLES


def test_an_attribute_set_is_sorted_whatever_order_names_it(domain: engine.Domain) -> None:
    assert domain.attrs("job", "age") == (0, 3)
    assert domain.attrs(3, "age") == (0, 3)
    assert domain.attrs() == ()
    assert domain.label((0, 3)) == "age × job"
    assert domain.label(()) == "total"


@given(domains())
def test_cells_are_the_product_of_the_shape(domain: engine.Domain) -> None:
    for attrs in subsets(tuple(range(len(domain)))):
        product = 1
        for n in domain.shape(attrs):
            product *= n
        assert domain.cells(attrs) == product


def test_cells_are_python_integers_of_any_size() -> None:
    domain = engine.Domain.from_sizes({f"a{i}": 100 for i in range(20)})
    assert domain.cells(tuple(range(20))) == 10**40


@pytest.mark.parametrize("size", [0, -1, 2.0, "3", True, None, 10**9, float("nan")])
def test_a_size_that_is_none_is_refused_and_named(size: Any) -> None:
    with pytest.raises(engine.DomainError, match="'age'") as caught:
        engine.Domain.from_sizes({"age": size})
    assert caught.value.code == "E_DOMAIN"
    assert "needed" in str(caught.value)


def test_labels_equal_after_unicode_normalisation_are_duplicates() -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    with pytest.raises(engine.DomainError, match="twice") as caught:
        engine.Attribute("drink", values=(composed, decomposed))
    assert caught.value.code == "E_DOMAIN"
    with pytest.raises(engine.DomainError, match="attribute name"):
        engine.Domain.from_sizes({composed: 2, decomposed: 2})


@pytest.mark.parametrize(
    "fields",
    [
        {"values": ()},
        {"values": ("a", "a")},
        {"values": ("a", 1)},
        {"values": None},
        {"values": ("a",), "edges": (0, 1)},
        {"values": ("a",), "outside": "clamp"},
        {"values": ("a",), "outside": "ignore"},
        {"values": ("a", "(other)"), "outside": "other"},
        {"values": ("a",), "kind": "text"},
        {"values": ("a",), "source": "rumour"},
        {"values": ("a",), "missing": engine.Missing(rule="replace")},
        {"values": ("a", "(missing)"), "missing": engine.Missing()},
        {"values": ("a",), "missing": engine.Missing(rule="guess")},
        {"kind": "integer", "bounds": (3, 2)},
        {"kind": "integer", "bounds": (0, 10**9)},
        {"kind": "integer", "bounds": (0.0, 1)},
        {"kind": "integer", "bounds": (False, 1)},
        {"kind": "numeric", "edges": (1.0,)},
        {"kind": "numeric", "edges": (1.0, 1.0)},
        {"kind": "numeric", "edges": (0.0, float("inf"))},
        {"kind": "numeric", "edges": (0.0, float("nan"), 2.0)},
    ],
)
def test_a_declaration_that_describes_no_values_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(engine.DomainError, match="'thing'") as caught:
        engine.Attribute("thing", **fields)
    assert caught.value.code == "E_DOMAIN"


def test_a_domain_without_attributes_or_with_a_repeated_name_is_refused() -> None:
    with pytest.raises(engine.DomainError, match="no attribute"):
        engine.Domain(())
    one = engine.Attribute("x", values=("a",))
    with pytest.raises(engine.DomainError, match="'x' twice"):
        engine.Domain((one, one))


@pytest.mark.parametrize("wanted", [("age", "age"), ("nobody",), (4,), (-1,), (True,), (1.0,)])
def test_an_unknown_or_repeated_attribute_is_refused(
    domain: engine.Domain, wanted: tuple[Any, ...]
) -> None:
    with pytest.raises(engine.DomainError) as caught:
        domain.attrs(*wanted)
    assert caught.value.code == "E_DOMAIN"


def test_other_and_missing_are_values_too() -> None:
    attribute = engine.Attribute(
        "x", values=("a", "b"), outside="other", missing=engine.Missing(codes=("?",))
    )
    assert attribute.size == 4
    assert tuple(attribute.labels) == ("a", "b", "(other)", "(missing)")


def test_bins_say_which_edge_belongs_to_them() -> None:
    attribute = engine.Attribute("x", "numeric", edges=(0.0, 1.5, 2.0))
    assert tuple(attribute.labels) == ("[0, 1.5)", "[1.5, 2]")


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.domain.json")), ids=lambda p: p.name)
def test_a_domain_file_round_trips(path: Path, tmp_path: Path) -> None:
    domain = engine.Domain.from_json(path)
    domain.to_json(tmp_path / "again.json")
    again = engine.Domain.from_json(tmp_path / "again.json")
    assert again == domain
    assert again.hash == domain.hash
    assert domain.read_from_data == ("paper" in path.name)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"format": "aim-grem-domain/1"}',
        b'{"format": "aim-grem-domain/1", "attributes": [3]}',
        b'{"format": "aim-grem-domain/1", "attributes": []}',
        b'{"format": "aim-grem-domain/1", "attributes": [{"name": "x", "color": 1}]}',
        b'{"format": "aim-grem-domain/1", "attributes": [{"name": "x", "values": "abc"}]}',
        b'{"format": "aim-grem-domain/1", "attributes": [{"name": "x", "values": [1, 2]}]}',
        b'{"format": "aim-grem-domain/1", "attributes": [{"name": 3, "values": ["a"]}]}',
        b'{"format": "aim-grem-domain/1", "attributes":'
        b' [{"name": "x", "kind": "integer", "bounds": [1]}]}',
        b'{"format": "aim-grem-domain/1", "attributes":'
        b' [{"name": "x", "kind": "numeric", "edges": ["a", "b"]}]}',
        b'{"format": "aim-grem-domain/1", "attributes":'
        b' [{"name": "x", "values": ["a"], "missing": "drop"}]}',
    ],
)  # fmt: skip
def test_a_file_that_declares_no_domain_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.domain.json"
    path.write_bytes(content)
    with pytest.raises(engine.DomainError) as caught:
        engine.Domain.from_json(path)
    assert caught.value.code == "E_DOMAIN"


def test_a_missing_domain_file_is_refused_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(engine.DomainError, match=r"nowhere\.json") as caught:
        engine.Domain.from_json(tmp_path / "nowhere.json")
    assert str(tmp_path) not in str(caught.value)


def test_a_selection_keeps_the_order_asked_for(domain: engine.Domain) -> None:
    assert domain.select("job", "age").names == ("job", "age")
    with pytest.raises(engine.DomainError):
        domain.select("job", "job")


@given(st.lists(st.integers(0, 9), unique=True, max_size=5).map(lambda x: tuple(sorted(x))))
def test_subsets_come_by_size_and_each_once(attrs: tuple[int, ...]) -> None:
    found = subsets(attrs)
    assert found[0] == ()
    assert found[-1] == attrs
    assert len(set(found)) == len(found) == 2 ** len(attrs)
    assert list(found) == sorted(found, key=lambda s: (len(s), s))


def test_a_domain_is_hashed_by_its_declaration() -> None:
    one = engine.Domain.from_sizes({"a": 2, "b": 3})
    other = engine.Domain.from_sizes({"b": 3, "a": 2})
    assert one.hash != other.hash
    assert one == engine.Domain.from_dict(json.loads(json.dumps(one.to_dict())))


# -- which part came from the rows -----------------------------------------------------------------


def drafted() -> engine.Attribute:
    return engine.Attribute("age", "integer", bounds=(17, 90), source="data")


def test_declaring_one_part_leaves_the_mark_on_the_others() -> None:
    age = drafted()
    assert age.read_from_data == ("lowest", "highest", "missing")
    one = age.known("highest")
    assert (one.source, one.read_from_data) == ("data", ("lowest", "missing"))
    assert engine.Domain((one,)).read_from_data
    every = one.known()
    assert (every.source, every.read_from_data, every.declared) == ("declared", (), ())
    assert replace(one, source="declared").read_from_data == ()
    assert replace(one, bounds=(0, 90)).read_from_data == ("lowest", "missing")


def test_the_mark_of_each_part_is_kept_in_the_domain_file() -> None:
    domain = engine.Domain((drafted().known("lowest"), engine.Attribute("x", values=("a",))))
    again = engine.Domain.from_dict(json.loads(json.dumps(domain.to_dict())))
    assert again == domain
    assert again["age"].read_from_data == ("highest", "missing")
    assert "declared" not in domain.to_dict()["attributes"][1]
    with pytest.raises(engine.DomainError, match="declared part"):
        engine.Attribute("age", "integer", bounds=(0, 1), source="data", declared=("all",))  # type: ignore[arg-type]


def test_the_column_of_a_derived_attribute_is_no_part_of_the_hash() -> None:
    plain = engine.Attribute("born (year)", "integer", bounds=(1950, 2009))
    made = replace(plain, derived=Derived("born", "year"))
    domain = engine.Domain((made,))
    assert domain.hash == engine.Domain((plain,)).hash
    assert engine.Domain.from_dict(domain.to_dict()) == domain
    with pytest.raises(engine.DomainError, match="two ways"):
        replace(plain, derived=Derived("born", "year", contains="x"))


def test_reading_choices_stand_in_the_file_and_not_in_the_domain(tmp_path: Path) -> None:
    choices = Choices(separator=";", missing=("-9",), person="id")
    domain = engine.Domain((engine.Attribute("x", values=("a",)),))
    domain.to_json(tmp_path / "d.json", reading=choices.to_dict())
    assert engine.Domain.from_json(tmp_path / "d.json").hash == domain.hash
    assert Choices.from_json(tmp_path / "d.json") == choices
    assert "reading" not in engine.Domain.from_json(tmp_path / "d.json").to_dict()
    with pytest.raises(engine.DataError, match="cannot be read"):
        Choices.from_dict({"seperator": ";"})


@pytest.mark.parametrize("part", ["month", "quarter", "weekday"])
def test_one_empty_date_changes_nothing_of_the_domain(part: Any) -> None:
    def domain(rows: str) -> engine.Domain:
        proposal = ingest.read(f"born,x\n{rows}".encode()).attributes("born")[0]
        return engine.Domain((ingest.proposed_attribute(proposal, part=part),))

    full = domain("2020-01-31,1\n2021-03-02,2\n")
    gap = domain("2020-01-31,1\n2021-03-02,2\n,3\n")
    assert full == gap
    assert full.hash == gap.hash
    assert not full.read_from_data
    odd = domain("2020-01-31,1\n2021-03-02,2\nNA,3\n")
    assert odd["born (" + part + ")"].labels == full["born (" + part + ")"].labels
    assert odd.read_from_data  # that NA means missing was read from a row
