# ruff: noqa: E501 - tables of cases read best one case a line
"""A random table written in a random dialect reads back equal, and nothing crashes the reader."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from engine import ingest
from engine.errors import EngineError
from tests.ingest.corpus import CASES

FUZZ_SECONDS = float(os.environ.get("INGEST_FUZZ_SECONDS", "5"))
"""How long the fuzz target runs; CI asks for 60."""

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1")
LATIN = st.characters(min_codepoint=32, max_codepoint=0xFF, exclude_categories=["Cc"])
ANY = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\u2028\u2029")


def write(
    rows: Sequence[Sequence[str]], *, separator: str, end: str, quote_all: bool, encoding: str
) -> bytes:
    buffer = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(buffer, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return buffer.getvalue().encode(encoding)


def tables(cell: st.SearchStrategy[str], *, columns: int = 5) -> st.SearchStrategy[list[list[str]]]:
    return st.integers(2, columns).flatmap(
        lambda width: st.lists(
            st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=8
        )
    )


def names(width: int) -> list[str]:
    return [f"name {'abcdefgh'[j]}" for j in range(width)]


@settings(deadline=None, max_examples=150)
@given(
    rows=tables(st.text(ANY, max_size=12)),
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    quote_all=st.booleans(),
    packed=st.booleans(),
    mark=st.booleans(),
)
@example([["", "x"], ["", ""]], ",", "\n", False, False, False)
@example([['"', ","], ["\\", "'"]], ";", "\r\n", True, True, True)
def test_any_text_reads_back_equal_when_the_dialect_is_given(
    rows: list[list[str]], separator: str, end: str, quote_all: bool, packed: bool, mark: bool
) -> None:
    table = [names(len(rows[0])), *rows]
    encoding = "utf-8-sig" if mark else "utf-8"
    data = write(table, separator=separator, end=end, quote_all=quote_all, encoding=encoding)
    preview = ingest.read(
        gzip.compress(data) if packed else data,
        separator=separator, header_line=1, last_line=10**6, trim=False, quoting='"', escape="",
        encoding="utf-8",
    )  # fmt: skip
    assert preview.labels == tuple(table[0])
    assert preview.frame.to_numpy().tolist() == rows


WORDS = st.sampled_from(
    ["Oslo", "Rome", "Köln", "São Paulo", "x", "left-hand", "a b", "O'Hara", "yes", "No", "über", "B2", "it is, so",
     "one; two", 'say "hi"', "line\nbreak", "ABC"]
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-999, 99999).map(str), st.floats(-1e4, 1e4).map("{:.2f}".format), st.just("")
)


@settings(deadline=None, max_examples=150)
@given(
    data=st.data(),
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    quote_all=st.booleans(),
    encoding=st.sampled_from(ENCODINGS),
)
def test_ordinary_tables_read_back_equal_with_nothing_said(
    data: st.DataObject, separator: str, end: str, quote_all: bool, encoding: str
) -> None:
    kinds = data.draw(
        st.lists(st.sampled_from("nw"), min_size=1, max_size=5).map(lambda k: ["n", *k])
    )
    columns = [NUMBERS if kind == "n" else WORDS for kind in kinds]
    rows = data.draw(st.lists(st.tuples(*columns).map(list), min_size=4, max_size=12))
    assume(all(any(row[j] for row in rows) for j in range(len(kinds))))
    assume(any(rows[-1]))
    table = [names(len(kinds)), *rows]
    content = write(table, separator=separator, end=end, quote_all=quote_all, encoding=encoding)
    preview = ingest.read(content)
    assert preview.labels == tuple(table[0])
    assert preview.choices["separator"] == separator
    assert preview.frame.to_numpy().tolist() == rows


@settings(deadline=None, max_examples=60)
@given(rows=st.lists(WORDS, min_size=2, max_size=12), quote_all=st.booleans())
def test_one_column_reads_back_equal(rows: list[str], quote_all: bool) -> None:
    data = write(
        [["town"], *([row] for row in rows)],
        separator=",",
        end="\n",
        quote_all=quote_all,
        encoding="utf-8",
    )
    assume(len(set(rows)) > 1)
    preview = ingest.read(data)
    assert preview.frame.to_numpy().tolist() == [[row] for row in rows]


# -- fuzz ---------------------------------------------------------------------------------------


def mutated(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 8)):
        where = rng.randrange(len(data) + 1)
        match rng.randrange(7):
            case 0:
                data[where:where] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 9)))
            case 1:
                del data[where : where + rng.randint(1, 20)]
            case 2:
                data[where:where] = rng.choice(
                    [b'"', b"\n", b",", b";", b"\0", b"\r", b"'", b"\\", b"\xff", b"\t"]
                )
            case 3:
                data[where:where] = rng.choice(seeds)[: rng.randint(1, 200)]
            case 4:
                data[where:where] = data[where : where + 50] * rng.randint(1, 20)
            case 5:
                data[:0] = rng.choice(
                    [codecs.BOM_UTF16_LE, codecs.BOM_UTF8, b"\x1f\x8b", b"PK\x03\x04", b"PAR1"]
                )
            case 6:
                del data[rng.randrange(len(data) + 1) :]
    return bytes(data)


def look_at(data: bytes, chosen: dict[str, object]) -> str:
    """Read some bytes all the way to a table; return the outcome. Only typed errors may come."""
    try:
        preview = ingest.read(data, **chosen)  # type: ignore[arg-type]
        assert len(preview.labels) == len(set(preview.labels)) == preview.frame.shape[1]
        assert len(preview.lines) == len(preview.frame)
        repr(preview)
        labels = preview.labels[:8]
        proposals = preview.attributes(*labels)
        kept = [p.label for p in proposals if p.keep]
        if kept and len(preview.frame):
            ingest.encode(preview, ingest.draft_domain(preview, *kept))
    except EngineError as error:
        return error.code
    return "table"


def test_fuzzed_files_give_tables_or_typed_errors_quickly() -> None:
    seeds = [case.content() for case in CASES if not callable(case.data) or case.error is None]
    seeds = [seed for seed in seeds if len(seed) < 20_000]
    rng = random.Random(20261130)
    until = time.monotonic() + FUZZ_SECONDS
    outcomes: dict[str, int] = {}
    while time.monotonic() < until:
        data = mutated(rng, seeds)
        chosen: dict[str, object] = {}
        if rng.random() < 0.3:
            chosen = rng.choice(
                [{"separator": ";"}, {"header_line": rng.randrange(5)}, {"quoting": ""}, {"encoding": "cp1252"},
                 {"long_rows": "widen"}, {"long_rows": "skip"}, {"last_line": 3}, {"escape": "\\"}, {"trim": False}]
            )  # fmt: skip
        outcome = look_at(data, chosen)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        assert outcome == "table" or outcome.startswith("E_")
    assert outcomes["table"] > 0
    assert len(outcomes) > 3


@pytest.mark.parametrize("chosen", [{}, {"separator": ","}, {"header_line": 0}])
def test_every_byte_alone_is_harmless(chosen: dict[str, object]) -> None:
    for byte in range(256):
        look_at(bytes([byte]) * 3, chosen)
        look_at(b"a,b\n" + bytes([byte]) + b"1,2\n", chosen)
