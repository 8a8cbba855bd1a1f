"""A bundle holds released values only, and is the same for the same release."""

# Over 400 lines: one bundle; every test opens it by the same few helpers.

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.demonstrating import teaching
from engine.exporting import bundle as export
from engine.exporting import replay
from engine.trace import event_from_dict
from tests.support import Tape, make_domain, play, random_case

RECORDS, SEED = 10_007, 918_273_645
TOKENS = ("zq-canary-alpha", "zq-canary-omega")


def unpacked(packed: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode("utf-8") for name in archive.namelist()}


def run_on(table: Any, *, degree: int = 2, seed: int = 0) -> engine.Run:
    workload = engine.Workload.all_kway(table.domain, degree)
    plain = engine.AimGrem(completion="none")
    return engine.run(plain, table, workload, epsilon=1.0, delta=1e-9, seed=seed)


@pytest.fixture(scope="module")
def small() -> engine.Run:
    domain = make_domain([3, 4, 2])
    codes = np.random.default_rng(1).integers(0, [3, 4, 2], (200, 3))
    return run_on(engine.Table.from_codes(codes, domain))


def test_a_bundle_holds_what_it_says_and_is_read_back_equal(small: engine.Run) -> None:
    found = unpacked(export.bundle(small.release, small.events))
    assert list(found) == sorted(found)
    for name in export.CONTENTS:
        assert any(file == name or file.startswith(name) for file in found), name
    again = engine.Release.from_dict(json.loads(found["release.json"]))
    assert again.to_dict() == small.release.to_dict()
    events = [event_from_dict(e) for e in json.loads(found["trace.json"])["events"]]
    reread = unpacked(export.bundle(again, events))
    # What was read from files says so wherever a release speaks for itself, and nowhere else.
    speaks = {"README.txt", "notebook.ipynb", "report.html", "settings.json"}
    assert {name for name in found if found[name] != reread[name]} == speaks
    assert all("as read" in reread[name] for name in speaks)
    assert "DEMONSTRATION" in found["README.txt"]
    assert small.release.domain.hash in found["README.txt"]
    ledger = json.loads(found["ledger.json"])
    assert sum(Fraction(e["rho"]) for e in ledger["entries"]) == Fraction(ledger["spent"])
    rows = list(csv.DictReader(io.StringIO(found["index.csv"])))
    assert len(rows) == 3
    for row, estimate in zip(rows, small.release.estimates(), strict=True):
        cells = list(csv.DictReader(io.StringIO(found[f"marginals/{row['file']}"])))
        assert [float(c["count"]) for c in cells] == estimate.values.ravel().tolist()


def test_the_bundle_depends_on_nothing_but_the_transcript() -> None:
    # SECURITY 4.4, T8: the same selections and measured values on another table, the same bytes.
    for seed in range(6):
        rng = np.random.default_rng(seed)
        domain, codes, workload = random_case(rng)
        unrelated = np.stack([rng.integers(0, n, size=57) for n in domain.sizes], axis=1)
        tape = Tape(seed=seed)
        packed = []
        for records, source in ((codes, tape), (unrelated, None)):
            table = engine.Table.from_codes(records, domain)
            rng_of_run = source or tape.replay()
            _, events, release = play(
                engine.AimGrem(completion="none"),
                table,
                workload,
                rho=Fraction(1, 3),
                rng=rng_of_run,
            )
            packed.append(export.bundle(release.promised(epsilon=6.0, delta=1e-9), events))
            packed.append(export.notebook_alone(release, events).encode())
        assert packed[:2] == packed[2:]


def canary(folder: Path) -> engine.Table:
    """A table with texts that its domain counts as others, and a prime number of records."""
    domain = engine.Domain(
        (
            engine.Attribute("colour", values=("red", "blue"), outside="other"),
            engine.Attribute("size", values=("s", "m", "l")),
        )
    )
    rng = np.random.default_rng(5)
    colours = rng.choice(["red", "blue", *TOKENS], RECORDS, p=[0.6, 0.37, 0.02, 0.01])
    sizes = rng.choice(["s", "m", "l"], RECORDS, p=[0.7, 0.19, 0.11])
    path = folder / "zq-file-of-patients.csv"
    lines = [f"{c},{s}" for c, s in zip(colours, sizes, strict=True)]
    path.write_text("\n".join(["colour,size", *lines]) + "\n", "utf-8")
    return engine.Table.from_csv(path, domain)


def test_no_canary_count_seed_or_file_name_gets_out(tmp_path: Path) -> None:
    # SECURITY 4.4, T9.
    table = canary(tmp_path)
    run = run_on(table, seed=SEED)
    private = engine.Private(table)
    exact = {
        str(int(v))
        for attrs in run.release.workload.closure
        for v in private.marginal(attrs).values.ravel().tolist()
        if v > 99
    }
    assert str(RECORDS) in exact
    errors = [e.l1 for e in engine.evaluate(run.release, private).per_marginal.values()]
    found = unpacked(export.bundle(run.release, run.events))
    found["alone"] = export.notebook_alone(run.release, run.events)
    for name, text in found.items():
        # Whole numbers; digits behind a point or inside a hash are no counts.
        whole = set(re.findall(r"(?<![\w.])\d{3,}(?:\.0)?(?![\w.])", text.replace(",", " ")))
        assert not {w.removesuffix(".0") for w in whole} & exact, name
        for secret in (*TOKENS, "zq-file", str(SEED), str(tmp_path), f"{RECORDS:,}"):
            assert secret not in text, name
        assert not any(repr(error) in text for error in errors), name
        for word in ('"seed"', '"records"', '"exact"', '"score"', "mean_l1", "probability"):
            assert word not in text, name


def test_what_a_spreadsheet_would_run_and_a_browser_would_read_is_made_harmless() -> None:
    hostile = ("=1+1", "@x", "-3", "+4", "<script>alert(1)</script>", "constructor", "x" * 300)
    domain = engine.Domain(
        (engine.Attribute("=name()", values=hostile), engine.Attribute("<b>", values=("🙂", "a")))
    )
    table = engine.Table.from_codes([[k % 7, k % 2] for k in range(50)], domain)
    run = run_on(table)
    found = unpacked(export.bundle(run.release, run.events))
    for name, text in found.items():
        if name.endswith(".csv"):
            for row in csv.reader(io.StringIO(text)):
                assert all(c[:1] not in "=@+\t" for c in row if c), name
                labels = row[:-2] if name.startswith("marginals/") else row[:2]
                assert all(c[:1] != "-" for c in labels), name
    assert "<script>alert" not in found["report.html"]
    assert "<script" not in found["report.html"]
    assert "http" not in re.sub(r'http-equiv="[^"]*"', "", found["report.html"])


def test_quoting_is_the_csv_module_s() -> None:
    texts = ('a "b"', "c,d", "e\nf", "", " g ", "=1+1", "'")
    domain = engine.Domain(
        (engine.Attribute("q,", values=texts), engine.Attribute('"', values=("x",)))
    )
    run = run_on(engine.Table.from_codes([[k % 7, 0] for k in range(30)], domain))
    text = export.marginal_csv(run.release.estimate(0, 1))
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["q,", '"', "count", "std"]
    assert [row[0] for row in rows[1:]] == [export.cell(t) for t in texts]
    assert export.as_csv(rows) == text
    assert export.marginal_csv(run.release.estimate()).startswith("count,std\n")


def test_events_of_another_run_and_unknown_answers_are_refused(small: engine.Run) -> None:
    with pytest.raises(engine.DataError, match="do not begin") as caught:
        export.bundle(small.release, small.events[1:])
    assert caught.value.code == "E_FORMAT"
    with pytest.raises(engine.DataError, match="Give the events of this release"):
        export.bundle(small.release, small.events[:2])
    with pytest.raises(engine.OptionError, match="must be one of"):
        export.bundle(small.release, small.events, post="magic")


@pytest.mark.parametrize("post", ["clip", "simplex"])
def test_post_processing_changes_the_answers_and_not_the_release(
    small: engine.Run, post: str
) -> None:
    found = unpacked(export.bundle(small.release, small.events, post=post))
    raw = unpacked(export.bundle(small.release, small.events))
    assert found["release.json"] == raw["release.json"]
    assert json.loads(found["settings.json"])["postprocess"] == post
    for name, text in found.items():
        if name.startswith("marginals/"):
            rows = list(csv.DictReader(io.StringIO(text)))
            assert all(float(row["count"]) >= 0 for row in rows)
            assert {row["std"] for row in rows} == {""}


@pytest.mark.parametrize("post", list(export.POSTPROCESS))
@pytest.mark.parametrize("mechanism", [engine.AimGrem(), engine.AimGrem(completion="none")])
def test_what_a_bundle_says_of_accuracy_is_one_thing_and_true(mechanism: Any, post: str) -> None:
    # marginals/*.csv had an empty std, index.csv beside it 21.16, 13.05, ... for the same tables;
    # the README promised a standard deviation, and that completed counts may be negative.
    domain = make_domain([4, 3, 5])
    codes = np.random.default_rng(1).integers(0, 2, (300, 3))
    table, workload = engine.Table.from_codes(codes, domain), engine.Workload.all_kway(domain, 2)
    run = engine.run(mechanism, table, workload, rho=0.05, seed=0)
    found = unpacked(export.bundle(run.release, run.events, post=post))
    known = mechanism.completion == "none" and post == "none"
    counts = []
    for row in csv.DictReader(io.StringIO(found["index.csv"])):
        cells = list(csv.DictReader(io.StringIO(found[f"marginals/{row['file']}"])))
        assert {c["std"] for c in cells} == {row["std"]}
        assert bool(row["std"]) == known
        counts += [float(c["count"]) for c in cells]
    said = " ".join(found["README.txt"].split())
    assert ("std is the standard deviation" in said) == known
    assert ("std is empty" in said) != known
    assert ("may be negative" in said) != ("Counts are not negative" in said)
    if "Counts are not negative" in said:
        assert min(counts) >= (-0.5 if post == "consistent-nonnegative" else 0.0)
    assert ("±1.96 σ" in found["report.html"]) == (mechanism.completion == "none")
    assert ("noise σ" in found["report.html"]) == (mechanism.completion == "none")
    assert (" ± " in found["report.html"]) == (mechanism.completion == "none")


def test_rho_is_a_record_s_where_it_says_so_and_a_person_s_in_what_runs_again() -> None:
    from dataclasses import replace

    domain = replace(make_domain([3, 2]), rows_per_person=3)
    table = engine.Table.from_codes([[0, 1], [2, 0]], domain)
    workload = engine.Workload.all_kway(domain, 1)
    run = engine.run(engine.Uniform(), table, workload, rho=0.9, seed=0)
    found = unpacked(export.bundle(run.release, run.events))
    said = json.loads(found["settings.json"])
    assert Fraction(said["rho_of_a_person"]) == pytest.approx(9 * Fraction(said["rho"]))
    assert "9 times the ledger's rho" in found["README.txt"]
    assert "ρ = 0.9 for a person with up to 3 records" in found["README.txt"]
    assert "rho=0.9)" in found["notebook.ipynb"]
    assert "rho=0.9)" in export.code(run.release, table="t.csv", domain="d.json")


def test_the_code_that_makes_such_a_run_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = make_domain([3, 2])
    domain.to_json(tmp_path / "d.json")
    (tmp_path / "t.csv").write_text("a0,a1\n0,1\n2,0\n", "utf-8")
    table = engine.Table.from_csv(tmp_path / "t.csv", domain)
    run = engine.run(engine.AimGrem(), table, engine.Workload.all_kway(domain, 2), rho=0.9)
    monkeypatch.chdir(tmp_path)
    exec(export.code(run.release, table="t.csv", domain="d.json"), {})
    assert "README.txt" in unpacked((tmp_path / "release.zip").read_bytes())


def test_the_code_of_a_run_keeps_the_weights_of_its_workload() -> None:
    # All pairs, unequally weighed, were written as all pairs alike.
    domain = make_domain([3, 2, 2])
    weights = {(0, 1): 1.0, (0, 2): 5.0, (1, 2): 1.0}
    table, workload = engine.Table.from_codes([[0, 1, 1]], domain), engine.Workload(weights, domain)
    run = engine.run(engine.Uniform(), table, workload, rho=0.9)
    code = export.code(run.release, table="t.csv", domain="d.json")
    (line,) = [line for line in code.splitlines() if line.startswith("workload = ")]
    known: dict[str, Any] = {"engine": engine, "domain": domain}
    exec(line, known)
    assert known["workload"].weights == workload.weights


def test_a_domain_read_from_the_rows_is_not_called_declared() -> None:
    domain = engine.Domain(
        (
            engine.Attribute("a", values=("x", "y"), source="data"),
            engine.Attribute("b", values=("u", "v")),
        )
    )
    table = engine.Table.from_codes([[0, 1]], domain)
    run = engine.run(engine.Uniform(), table, engine.Workload.all_kway(domain, 1), rho=1, seed=0)
    found = unpacked(export.bundle(run.release, run.events))
    for name in ("README.txt", "report.html"):
        assert "read from the data: a" in found[name]
        assert not re.search(r"[Dd]omain[^.]{0,20}declared", found[name])


@pytest.mark.parametrize("post", ["consistent", "consistent-nonnegative"])
def test_answers_can_be_made_to_agree(post: str) -> None:
    domain = make_domain([4, 3, 5, 3])
    codes = np.repeat(np.arange(40)[:, None] % 3, 4, axis=1)  # so that empty cells are many
    run = engine.run(
        engine.AimGrem(), engine.Table.from_codes(codes, domain),
        engine.Workload.all_kway(domain, 3), epsilon=30.0, delta=1e-9, seed=1,
    )  # fmt: skip

    def gap(answers: export.Answers) -> float:
        tables = {e.attrs: e.values for e in answers.estimates()}
        return float(np.abs(tables[0, 1, 2].sum((1, 2)) - tables[0, 1, 3].sum((1, 2))).max())

    answers = export.POSTPROCESS[post](run.release)
    assert gap(run.release) > 0.05
    assert gap(answers) < 1e-9
    written = [answer.values for _, answer in export.answers(run.release, post=post)]
    for one, other in zip(written, answers.estimates(), strict=True):
        assert np.array_equal(one, other.values)
    for attrs in run.release.workload.closure:
        assert answers.estimate(*attrs).attrs == attrs
    found = unpacked(export.bundle(run.release, run.events, post=post))
    assert json.loads(found["settings.json"])["postprocess"] == post
    assert json.loads(found["release.json"]) == json.loads(export.as_json(run.release.to_dict()))


@pytest.mark.parametrize(
    "mechanism",
    ["__import__('os').system('x')", "AimGrem(update=open('x'))", "not python at all (", "a.b()"],
)
def test_a_mechanism_s_name_is_code_only_if_it_is_a_plain_call(
    small: engine.Run, mechanism: str
) -> None:
    from dataclasses import replace

    text = export.notebook(replace(small.release, mechanism=mechanism))
    assert "engine.run(engine.AimGrem(), table" in text
    assert "engine.run(engine.AimGrem(update='lazy'" in export.notebook(small.release)


@pytest.mark.parametrize(
    "mechanism",
    [
        engine.AimGrem(), engine.AimGrem(completion="none"), engine.AimGrem.paper(),
        engine.AimGrem(noise="iid", completion="none"), engine.AimGrem(in_loop=False),
        engine.AimGrem(finish="rounds"), engine.ResidualPlanner("max"), engine.MwemGrem(),
    ],
)  # fmt: skip
def test_the_code_in_a_bundle_makes_the_very_mechanism_of_the_run(
    small: engine.Run, mechanism: Any
) -> None:
    from dataclasses import replace

    called = replay._call(replace(small.release, mechanism=mechanism.settings).mechanism)
    assert eval(called, {"engine": engine}) == mechanism


def test_a_release_from_before_completion_was_the_default_is_still_plain() -> None:
    before = "AimGrem(update='lazy', noise='crp', respend=True, omit_below=0.001)"
    assert eval(replay._call(before)) == engine.AimGrem(completion="none")


@pytest.mark.parametrize("mechanism", [engine.ResidualPlanner(), engine.Uniform()])
def test_every_mechanism_and_the_total_alone_can_be_exported(mechanism: Any) -> None:
    domain = make_domain([3, 1])
    table = engine.Table.from_codes([[0, 0], [1, 0]], domain)
    for degree in (0, 1, 2):
        workload = engine.Workload.all_kway(domain, degree)
        run = engine.run(mechanism, table, workload, rho=0.5, seed=0)
        found = unpacked(export.bundle(run.release, run.events))
        assert "ρ-zCDP with ρ = 0.5." in found["README.txt"]


def test_a_teaching_bundle_is_marked_in_every_file(small: engine.Run) -> None:
    codes = np.random.default_rng(1).integers(0, [3, 4, 2], (200, 3))
    table = engine.Table.from_codes(codes, small.release.domain)
    packed = teaching.teaching_bundle(
        small.release,
        small.events,
        evaluation=engine.evaluate(small.release, table),
        comparisons=[engine.compare(e, table) for e in small.release.estimates()],
    )
    found = unpacked(packed)
    assert len(found) == 9
    for name, text in found.items():
        assert name.startswith("TEACHING_-_not_private/")
        assert teaching.MARK in text
    path = next(name for name in found if "true_marginals/00001" in name)
    rows = list(csv.DictReader(io.StringIO(found[path])))
    true = engine.Private(table).marginal((0, 1)).values.ravel().tolist()
    assert [float(row["true"]) for row in rows] == true
    assert engine.Release.from_dict(
        json.loads(found["TEACHING_-_not_private/release.json"])
    ).ledger == small.release.ledger  # fmt: skip


def test_a_teaching_bundle_takes_comparisons_of_its_own_domain_only(small: engine.Run) -> None:
    other = engine.Table.from_codes([[0]], make_domain([2]))
    run = run_on(other, degree=1)
    with pytest.raises(engine.OptionError, match="another domain"):
        teaching.teaching_bundle(
            small.release,
            small.events,
            evaluation=engine.evaluate(run.release, other),
            comparisons=[engine.compare(run.release.estimate(0), other)],
        )


@pytest.mark.slow
@pytest.mark.parametrize("alone", [False, True])
def test_the_notebook_runs_top_to_bottom_in_a_clean_kernel(
    small: engine.Run, tmp_path: Path, alone: bool
) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    run, folder = small, tmp_path
    if alone:
        text = export.notebook_alone(run.release, run.events)
    else:
        with zipfile.ZipFile(io.BytesIO(export.bundle(run.release, run.events))) as archive:
            archive.extractall(folder)
        text = (folder / "notebook.ipynb").read_text("utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    shown = json.dumps([c.get("outputs", []) for c in notebook.cells])
    assert "DEMONSTRATION" in shown
    assert "srcdoc" in shown
    assert "at_the_start" in shown
    again = [c for c in notebook.cells if "spends-again" in c.metadata.get("tags", [])]
    assert len(again) == 1
    assert not again[0].outputs, "re-running does nothing until a table is named"
