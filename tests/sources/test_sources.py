"""Sources that are read in batches: the same integers as a table of the same records."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine import codes, coding, sources
from engine.__main__ import main
from engine.layout import Layout
from engine.trace import event_to_dict

DOMAIN = engine.Domain((
    engine.Attribute(
        "age", kind="integer", bounds=(0, 99), outside="clamp",
        missing=engine.Missing(codes=("-9",)),
    ),
    engine.Attribute("income", kind="numeric", edges=(0.0, 0.7, 10.0, 1e6), outside="other",
                     missing=engine.Missing(codes=("-1",))),
    engine.Attribute("city", values=("Oslo", "Łódź", "1"), outside="other",
                     missing=engine.Missing(codes=("?",))),
    engine.Attribute("born", kind="integer", bounds=(1900, 2030), outside="clamp",
                     missing=engine.Missing(rule="drop"),
                     derived=engine.domain.Derived("birthday", "year")),
    engine.Attribute("yes", values=("yes", "no"),
                     derived=engine.domain.Derived("answers", contains="b")),
))  # fmt: skip


def people(rows: int = 5_000, seed: int = 0) -> pa.Table:
    """Records with every kind of cell that the domain has a rule for."""
    rng = np.random.default_rng(seed)
    gone = rng.random(rows) < 0.05
    days = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, rows), unit="D")
    return pa.table({
        "age": pa.array(rng.choice([-9, *range(-3, 110)], rows), mask=gone),
        "other": pa.array(rng.normal(size=rows)),
        "income": pa.array(rng.choice([-1.0, 0.0, 0.7, 9.99, 1e6, 2e6, 0.3], rows), mask=gone),
        "city": pa.array(rng.choice(["Oslo", " Łódź", "1.0", "?", "Rome"], rows), mask=gone)
        .dictionary_encode(),
        "birthday": pa.array(days.date, mask=gone),
        "answers": pa.array(rng.choice(["a", "a;b", "c; b"], rows)),
    })  # fmt: skip


def counts_of(source: engine.CountSource, degree: int = 2) -> np.ndarray:
    """All marginals up to a degree, flat."""
    names = range(len(source.domain))
    sets = [s for k in range(degree + 1) for s in itertools.combinations(names, k)]
    layout = Layout(source.domain.sizes, sets)
    counts = np.empty(layout.total_cells, np.int64)
    source.count_into(layout, counts)
    return counts


def as_parquet(table: pa.Table, folder: Path) -> sources.BatchSource:
    path = folder / "people.parquet"
    pq.write_table(table, path, row_group_size=700)
    return sources.dataset(path, DOMAIN)


def as_folder(table: pa.Table, folder: Path) -> sources.BatchSource:
    """Several files below a folder, one with plain texts where others have a dictionary."""
    for k, part in enumerate((table.slice(0, 1), table.slice(1, 2_000), table.slice(2_001))):
        below = folder / f"year={k}"
        below.mkdir()
        if k == 1:
            at = part.schema.get_field_index("city")
            part = part.set_column(at, "city", part["city"].cast(pa.string()))
        pq.write_table(part, below / "part.parquet")
    return sources.dataset(folder, DOMAIN)


def as_arrow(table: pa.Table, folder: Path) -> sources.BatchSource:
    with pa.ipc.new_file(str(folder / "people.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=300)
    return sources.dataset(folder / "*.arrow", DOMAIN)


def as_csv(table: pa.Table, folder: Path) -> sources.BatchSource:
    path = folder / "people.csv"
    table.to_pandas().astype({"age": "Int64"}).to_csv(path, index=False, sep=";")
    return sources.dataset(path, DOMAIN, separator=";")


def as_duckdb(table: pa.Table, folder: Path) -> sources.BatchSource:
    duckdb = pytest.importorskip("duckdb")
    path = folder / "people.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("held", table.to_pandas().astype({"age": "Int64"}))
        connection.execute('CREATE TABLE "my people" AS SELECT * FROM held')
    return sources.duckdb(path, DOMAIN, table="my people")


def as_query(table: pa.Table, folder: Path) -> sources.BatchSource:
    pytest.importorskip("duckdb")
    pq.write_table(table, folder / "people.parquet")
    return sources.duckdb(
        domain=DOMAIN, query=f"SELECT * FROM '{folder}/*.parquet' WHERE other < 1e9;"
    )


def as_stream(table: pa.Table, folder: Path) -> sources.BatchSource:
    return sources.stream(table, DOMAIN)


def as_reader(table: pa.Table, folder: Path) -> sources.BatchSource:
    return sources.stream(lambda: table.to_reader(max_chunksize=99), DOMAIN)


def as_polars(table: pa.Table, folder: Path) -> sources.BatchSource:
    polars = pytest.importorskip("polars")
    return sources.stream(polars.from_arrow(table), DOMAIN)


def as_pandas(table: pa.Table, folder: Path) -> sources.BatchSource:
    return sources.stream(table.to_pandas().astype({"age": "Int64"}), DOMAIN)


OPENERS = [
    as_parquet, as_folder, as_arrow, as_csv, as_duckdb, as_query, as_stream, as_reader,
    as_polars, as_pandas,
]  # fmt: skip
Opener = Callable[[pa.Table, Path], sources.BatchSource]


@pytest.mark.parametrize("opened", OPENERS)
def test_every_source_has_the_integers_of_the_table(opened: Opener, tmp_path: Path) -> None:
    table = people()
    source, held = opened(table, tmp_path), engine.Table.from_frame(table, DOMAIN)
    assert source.records() == held.records() < len(table), "some are dropped"
    assert counts_of(source).tolist() == counts_of(held).tolist()


@pytest.mark.parametrize("opened", [as_parquet, as_duckdb, as_reader])
def test_the_same_noise_gives_the_same_release_to_the_byte(opened: Opener, tmp_path: Path) -> None:
    table = people(800)
    workload = engine.Workload.all_kway(DOMAIN, 2)
    told = []
    for source in (opened(table, tmp_path), engine.Table.from_frame(table, DOMAIN)):
        run = engine.run(engine.AimGrem.paper(), source, workload, rho=0.5, seed=3)
        told.append(([event_to_dict(e) for e in run.events], run.release.to_dict()))
    assert told[0] == told[1]


def test_a_run_is_two_passes_however_many_marginals_it_asks_for(tmp_path: Path) -> None:
    source = as_parquet(people(800), tmp_path)
    run = engine.run(
        engine.AimGrem.paper(), source, engine.Workload.all_kway(DOMAIN, 2), rho=1.0, seed=0
    )
    assert len(run.rounds) > 3
    assert source.passes == 2, "one for the number of records, one for all counts"
    engine.run(engine.ResidualPlanner(), source, engine.Workload.all_kway(DOMAIN, 2), rho=1.0)
    assert source.passes == 2


def test_counts_too_many_to_keep_are_passes_and_still_right(tmp_path: Path) -> None:
    table, workload = people(300), engine.Workload.all_kway(DOMAIN, 2)
    few = sources.stream(table, DOMAIN, most_cells=10)
    run = engine.run(engine.EqualSplit(), few, workload, rho=1.0, seed=0)
    held = engine.run(
        engine.EqualSplit(), engine.Table.from_frame(table, DOMAIN), workload, rho=1.0, seed=0
    )
    assert run.release == held.release


class Watched:
    """Batches that are made as they are read, and say how many are alive."""

    def __init__(self, batches: int) -> None:
        self.batches, self.made = batches, 0

    def __call__(self) -> Iterator[pa.RecordBatch]:
        for k in range(self.batches):
            self.made += 1
            yield people(64, seed=k).to_batches()[0]


def test_batches_are_read_as_they_are_counted_and_not_before() -> None:
    watched, rows = Watched(6), []
    source = sources.BatchSource(watched, DOMAIN, progress=lambda n: rows.append((n, watched.made)))
    source.records()
    assert rows == [(64 * k, k) for k in range(1, 7)]


# -- what is wrong with a source ----------------------------------------------------------------


def strict(**changed: Any) -> engine.Domain:
    age = dataclasses.replace(DOMAIN["age"], outside="refuse", missing=None, **changed)
    return engine.Domain((age,))


def test_the_first_bad_record_is_named_over_all_batches() -> None:
    ages = pa.table({"age": [*range(50), 120, 7]})
    source = sources.stream(lambda: ages.to_reader(max_chunksize=7), strict())
    with pytest.raises(
        engine.DataError, match=r"outside its declared domain .*record 51"
    ) as caught:
        source.records()
    assert caught.value.code == "E_VALUE"
    gaps = sources.stream(pa.table({"age": [1, None, None]}), strict())
    with pytest.raises(engine.DataError, match=r"missing cell .*record 2") as caught:
        gaps.records()
    assert caught.value.code == "E_MISSING"


def test_bad_records_are_refused_before_anything_is_charged() -> None:
    source = sources.stream(pa.table({"age": [1, 2, 500]}), strict())
    with pytest.raises(engine.DataError):
        engine.run(
            engine.AimGrem(), source, engine.Workload.all_kway(source.domain, 1), rho=1, seed=0
        )
    assert source.odometer.reading().rho == 0


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda f: sources.dataset(f / "nothing.parquet", DOMAIN), "E_FILE", "no file"),
        (lambda f: sources.dataset(_junk(f), DOMAIN), "E_FORMAT", "cannot be read"),
        (lambda f: sources.dataset(_csv(f, "age;city\n1;2\n"), DOMAIN), "E_COLUMN", "no column"),
        (lambda f: sources.dataset(_csv(f, "age\n1\n1,2\n"), strict()).records(), "E_CSV_SHAPE",
         "more or fewer"),
        (lambda f: sources.stream(pa.table({"x": [1]}), DOMAIN), "E_COLUMN", "no column 'age'"),
        (lambda f: sources.stream([1, 2], DOMAIN), "E_FORMAT", "cannot be streamed"),
        (lambda f: sources.stream(people(9).to_reader(), DOMAIN), "E_FORMAT", "only once"),
        (lambda f: sources.stream(pa.table({"age": [1], "n": [0.5]}), strict(), count_column="n")
         .records(), "E_VALUE", "survey weight"),
    ],
)  # fmt: skip
def test_what_is_no_source_is_refused_in_a_sentence(
    make: Callable[[Path], object], code: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(engine.DataError, match=words) as caught:
        make(tmp_path)
    assert caught.value.code == code


def _junk(folder: Path) -> Path:
    (folder / "junk.parquet").write_bytes(b"no parquet")
    return folder / "junk.parquet"


def _csv(folder: Path, text: str) -> Path:
    (folder / "a.csv").write_text(text, "utf-8")
    return folder / "a.csv"


def test_dates_in_texts_that_batches_cannot_be_sure_of_are_refused() -> None:
    table = people(30)
    at = table.schema.get_field_index("birthday")
    other = table.set_column(at, "birthday", pa.array(["03/04/1960"] * 30))
    with pytest.raises(engine.DataError, match="2024-01-31"):
        sources.stream(other, DOMAIN).records()


# -- rows that stand for several persons -----------------------------------------------------------


def test_an_already_counted_table_counts_persons() -> None:
    table = people(400)
    times = np.random.default_rng(1).integers(0, 4, 400)
    source = sources.stream(
        table.append_column("persons", pa.array(times)), DOMAIN, count_column="persons"
    )
    repeated = table.take(pa.array(np.repeat(np.arange(400), times)))
    held = engine.Table.from_frame(repeated, DOMAIN)
    assert source.records() == held.records()
    assert counts_of(source).tolist() == counts_of(held).tolist()


# -- the fast way of coding numbers ----------------------------------------------------------------

VALUES = st.one_of(
    st.integers(-120, 120).map(float),
    st.sampled_from([0.7, 9.99, 10.0, 1e6, -0.0, 0.1 + 0.2, 1e300, float("inf"), float("nan")]),
    st.floats(-200, 200),
)
NUMERIC = st.builds(
    engine.Attribute,
    name=st.just("x"),
    kind=st.just("numeric"),
    edges=st.lists(st.sampled_from([-9.0, 0.0, 0.3, 0.7, 10.0, 99.0]), min_size=2, unique=True).map(
        lambda edges: tuple(sorted(edges))
    ),
    outside=st.sampled_from(["refuse", "clamp", "other"]),
    missing=st.sampled_from([
        None, engine.Missing(), engine.Missing(codes=("-9", "99.0", "x"), rule="drop"),
        engine.Missing(codes=("0",), rule="replace", value="10"),
        engine.Missing(codes=("007",), rule="replace", value="1e9"),
    ]),
)  # fmt: skip
INTEGER = NUMERIC.map(
    lambda a: dataclasses.replace(
        a, kind="integer", edges=None, bounds=(int(a.edges[0]), int(a.edges[-1] + 1))
    )
)


@given(st.one_of(NUMERIC, INTEGER), st.lists(VALUES, max_size=12))
@settings(deadline=None)
def test_numbers_are_coded_as_their_texts_are(
    attribute: engine.Attribute, values: list[float]
) -> None:
    fast = codes.encode_numbers(attribute, np.array(values, dtype=np.float64), missing=("5",))
    slow = codes.encode(attribute, [coding.text_of(v) for v in values], missing=("5",))
    assert fast is not None
    assert fast.codes.tolist() == slow.codes.tolist()
    assert fast.undeclared.tolist() == slow.undeclared.tolist()


def test_files_of_other_types_and_folders_that_say_a_value_are_one_table(tmp_path: Path) -> None:
    domain = engine.Domain((
        engine.Attribute("code", values=("1", "2", "x")),
        engine.Attribute("year", kind="integer", bounds=(2023, 2025)),
    ))  # fmt: skip
    for year, held in ((2023, [1, 2, 2]), (2024, ["1", "x", "2"]), (2025, [1.0, 2.0, 1.0])):
        below = tmp_path / f"year={year}"
        below.mkdir()
        pq.write_table(pa.table({"more": [0] * 3, "code": held}), below / "a.parquet")
    source = sources.dataset(tmp_path, domain)
    table = np.array(engine.Private(source).marginal((0, 1)).values)
    assert table.tolist() == [[1, 1, 2], [2, 1, 1], [0, 1, 0]]


def test_counting_in_pieces_that_lose_the_total_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison of sources bites: a source that skips a batch differs."""
    table = people(500)
    source = sources.stream(lambda: table.to_reader(max_chunksize=99), DOMAIN)
    inner = source._batches
    monkeypatch.setattr(source, "_batches", lambda: itertools.islice(inner(), 1, None))
    assert counts_of(source).tolist() != counts_of(engine.Table.from_frame(table, DOMAIN)).tolist()


# -- the command line ---------------------------------------------------------------------------


def test_the_command_line_counts_in_batches_what_it_reads_as_a_whole(tmp_path: Path) -> None:
    table = people(300).drop(["birthday"]).to_pandas().astype({"age": "Int64"})
    domain = DOMAIN.select("age", "income", "city")
    domain.to_json(tmp_path / "people.domain.json")
    table.to_parquet(tmp_path / "people.parquet")
    asked = ["--domain", str(tmp_path / "people.domain.json"), "--workload", "1", "--rho", "1",
             "--seed", "5", "--quiet"]  # fmt: skip
    told = []
    for k, name in enumerate(
        (["people.parquet"], ["people.parquet", "--in-batches"], ["*.parquet"])
    ):
        out = tmp_path / f"out{k}"
        assert main(["run", str(tmp_path / name[0]), *name[1:], *asked, "--out", str(out)]) == 0
        told.append({p.name: p.read_bytes() for p in sorted((out / "marginals").rglob("*.csv"))})
    assert told[0] == told[1] == told[2]
    assert len(told[0]) == 3


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("duckdb:people.db", [], "names no table"),
        ("duckdb:nothing.db?table=x", [], "cannot open"),
        ("no/such/*.parquet", [], "no file"),
        ("*.csv", ["--person", "id"], "read as a whole"),
    ],
)
def test_what_the_command_line_cannot_open_is_said(
    name: str, more: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb")
    DOMAIN.to_json(tmp_path / "people.domain.json")
    code = main([
        "run", name, *more, "--domain", str(tmp_path / "people.domain.json"), "--workload", "1",
        "--rho", "1", "--out", str(tmp_path / "out"),
    ])  # fmt: skip
    assert code != 0
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
