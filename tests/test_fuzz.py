"""Whatever is given to a reader, it reads it or refuses it with a typed error."""

from __future__ import annotations

import contextlib
import copy
import gzip
import json
import math
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.mechanisms import catalogue
from engine.trace import event_from_dict, event_to_dict
from tests.support import make_domain

DOMAIN = engine.Domain(
    (
        engine.Attribute("a", values=("x", "y"), missing=engine.Missing(("?",), rule="drop")),
        engine.Attribute("b", "integer", bounds=(0, 3), outside="clamp"),
        engine.Attribute("c", "numeric", edges=(0.0, 1.0, 2.5), missing=engine.Missing()),
    )
)
MECHANISMS = {entry.key: entry.make for entry in catalogue.entries()}


def content_of(mechanism: Any) -> engine.Run:
    domain = make_domain([2, 3])
    table = engine.Table.from_codes([[0, 1]], domain)
    return engine.run(mechanism, table, engine.Workload.all_kway(domain, 2), rho=1, seed=0)


CONTENT = content_of(engine.AimGrem(completion="none"))
FIELDS = st.text('xy?0123.e-+_ "\r\n,\x00\u0661é', max_size=6)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 10**20)
    | st.floats()
    | st.text("ab/1 \u0301é", max_size=4)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "values", "kind", "format", "attrs", "event", "rho", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


ODD = [
    None, True, 0, -1, 1.5, 10**20, math.nan, math.inf, "", "a", "1/0", "\ud800", [], {}, ["a"],
    [1], [None], [[]], {"x": 1},
]  # fmt: skip
"""What stands in a file that something else wrote."""


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    found = [path]
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with something else in one place."""
    if not path:
        return new
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return value


@given(st.binary(max_size=40), st.booleans())
def test_any_bytes_are_a_table_or_a_data_error(content: bytes, packed: bool) -> None:
    for head in (b"", b"a,b,c\n"):
        given_bytes = gzip.compress(head + content) if packed else head + content
        with contextlib.suppress(engine.DataError):
            engine.Table.from_csv(given_bytes, DOMAIN)


@given(st.lists(st.tuples(FIELDS, FIELDS, FIELDS), max_size=4))
def test_any_fields_are_a_table_within_the_domain_or_a_data_error(
    rows: list[tuple[str, str, str]],
) -> None:
    text = "a,b,c\n" + "".join(",".join(row) + "\n" for row in rows)
    with contextlib.suppress(engine.DataError):
        codes = engine.Table.from_csv(text.encode(), DOMAIN).codes
        assert (codes.max(axis=1, initial=0) < np.array(DOMAIN.sizes)).all()


@given(JSON)
def test_any_json_is_a_domain_or_a_domain_error(content: Any) -> None:
    with contextlib.suppress(engine.DomainError):
        engine.Domain.from_dict(content)


def test_a_domain_with_anything_in_one_place_is_read_back_or_refused() -> None:
    content = DOMAIN.to_dict()
    for path in places(content):
        for value in ODD:
            with contextlib.suppress(engine.DomainError):
                domain = engine.Domain.from_dict(changed(content, path, value))
                again = engine.Domain.from_dict(json.loads(json.dumps(domain.to_dict())))
                assert again == domain, (path, value)
                assert again.hash == domain.hash, (path, value)


def test_a_release_with_anything_in_one_place_is_read_or_refused() -> None:
    content = CONTENT.release.to_dict()
    for path in places(content):
        for value in ODD:
            with contextlib.suppress(engine.EngineError):
                release = engine.Release.from_dict(changed(content, path, value))
                for estimate in release.estimates():
                    assert np.isfinite(estimate.values).all(), (path, value)


def test_an_event_with_anything_in_one_place_is_read_or_refused() -> None:
    for event in CONTENT.events[:2] + CONTENT.events[-1:]:
        content = event_to_dict(event)
        for path in places(content):
            for value in ODD:
                with contextlib.suppress(engine.EngineError):
                    event_from_dict(changed(content, path, value))


@pytest.mark.parametrize("key", MECHANISMS)
def test_what_any_mechanism_writes_with_something_else_in_one_place_is_read_or_refused(
    key: str,
) -> None:
    run = content_of(MECHANISMS[key]())
    # One odd value a place, another for each mechanism: all of them in all places take minutes.
    odd = cycle(ODD[list(MECHANISMS).index(key) :] + ODD)
    content = run.release.to_dict()
    for path in places(content):
        value = next(odd)
        with contextlib.suppress(engine.EngineError):
            release = engine.Release.from_dict(changed(content, path, value))
            for estimate in release.estimates():
                assert np.isfinite(estimate.values).all(), (path, value)
    for event in run.events[:2] + run.events[-1:]:
        content = event_to_dict(event)
        for path in places(content):
            with contextlib.suppress(engine.EngineError):
                event_from_dict(changed(content, path, next(odd)))


@given(JSON)
def test_any_sets_are_a_workload_or_a_workload_error(sets: Any) -> None:
    with contextlib.suppress(engine.WorkloadError):
        engine.Workload(sets, DOMAIN)


@given(JSON)
def test_any_codes_are_a_table_or_a_data_error(codes: Any) -> None:
    with contextlib.suppress(engine.DataError):
        engine.Table.from_codes(codes, DOMAIN)
