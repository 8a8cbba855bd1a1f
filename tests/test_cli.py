"""The command line writes released values only."""

# Over 400 lines: one command line; a test for each of its options.

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.__main__ import main
from engine.commands import app, asked
from engine.exporting import bundle
from engine.mechanisms import catalogue, outlook
from tests.support import ROOT, SAMPLES

TITANIC = [str(SAMPLES / "titanic.csv"), "--domain", str(SAMPLES / "titanic.domain.json")]
SEED, RECORDS = "918273645", "2201"


def arguments(folder: Path, **changes: Any) -> list[str]:
    """A good command line with some options changed."""
    options = {"workload": "2", "epsilon": "1", "delta": "1e-9", "seed": SEED, "out": str(folder)}
    options.update(changes)
    flags = [text for name, value in options.items() for text in (f"--{name}", value) if value]
    return ["run", *TITANIC, *flags]


def everything(out: Path) -> dict[str, str]:
    """The text of every file written."""
    return {
        str(p.relative_to(out)): p.read_text("utf-8") for p in sorted(out.rglob("*")) if p.is_file()
    }


def marginal_files(out: Path) -> dict[tuple[str, ...], list[dict[str, str]]]:
    """Rows of each marginal's file, by the attributes in its header."""
    found = {}
    for path in sorted((out / "marginals").rglob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
            names = tuple(n for n in rows[0] if n not in ("count", "std"))
            found[names] = rows
    return found


def test_a_shell_command_writes_marginals_ledger_and_settings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "engine", *arguments(tmp_path / "out")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "100" in done.stderr  # the progress bar's last line
    files = everything(tmp_path / "out")
    assert {"ledger.json", "settings.json"} <= files.keys()
    assert len(marginal_files(tmp_path / "out")) == 6
    assert "Traceback" not in done.stderr + done.stdout


EARLIER = (
    "aim-grem", "aim-grem-maxent", "aim-grem-plain", "aim-grem-paper", "residual-planner",
    "residual-planner-max", "equal-split", "uniform",
)  # fmt: skip
"""What earlier versions called them."""


@pytest.mark.parametrize(
    "name", sorted({*EARLIER, *(entry.option for entry in catalogue.entries("forms"))})
)
def test_what_is_written_is_what_the_same_run_releases(name: str, tmp_path: Path) -> None:
    assert main(arguments(tmp_path, mechanism=name)) == 0
    domain = engine.Domain.from_json(SAMPLES / "titanic.domain.json")
    run = engine.run(
        catalogue.find(name).make(),
        engine.Table.from_csv(SAMPLES / "titanic.csv", domain),
        engine.Workload.all_kway(domain, 2),
        epsilon=1.0,
        delta=1e-9,
        seed=int(SEED),
    )
    files = marginal_files(tmp_path)
    for estimate in run.release.estimates():
        names = tuple(domain[i].name for i in estimate.attrs)
        rows = files[names]
        frame = estimate.to_frame()
        assert [float(r["count"]) for r in rows] == frame["count"].tolist()
        # A completed table's variance is not known, and so not written.
        std = ["" if estimate.std is None else repr(estimate.std)] * len(rows)
        assert [r["std"] for r in rows] == std
        for n in names:
            assert [r[n] for r in rows] == frame[n].tolist()
    ledger = json.loads((tmp_path / "ledger.json").read_text("utf-8"))
    spent = sum(Fraction(e["rho"]) for e in ledger["entries"])
    assert spent == run.release.ledger.spent == Fraction(ledger["spent"])
    assert spent <= Fraction(ledger["total"])
    settings = json.loads((tmp_path / "settings.json").read_text("utf-8"))
    assert settings["epsilon"] == 1.0
    assert settings["delta"] == 1e-9
    assert settings["mechanism"] == run.release.mechanism
    assert settings["demonstration"]


def test_nothing_private_and_no_seed_is_written_or_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(tmp_path)) == 0
    shown = capsys.readouterr()
    texts = {**everything(tmp_path), "out": shown.out, "err": shown.err}
    domain = engine.Domain.from_json(SAMPLES / "titanic.domain.json")
    private = engine.Private(engine.Table.from_csv(SAMPLES / "titanic.csv", domain))
    exact = {
        f"{float(v)!r}"
        for attrs in engine.Workload.all_kway(domain, 2).marginals
        for v in private.marginal(attrs).values.ravel().tolist()
        if v > 0
    }
    for name, text in texts.items():
        assert SEED not in text, name
        assert str(SAMPLES) not in text, name
        words = set(text.replace(",", " ").replace("\n", " ").replace("]", " ").split())
        assert RECORDS not in words, name
        assert not exact & words, name
        for private_word in ("mean_l1", "exact", "true_error", "seed"):
            assert f'"{private_word}"' not in text, name


@pytest.mark.parametrize("post", ["consistent", "consistent-nonnegative"])
def test_files_can_be_made_to_agree_with_each_other(post: str, tmp_path: Path) -> None:
    assert main(arguments(tmp_path, mechanism="aim-grem-maxent", postprocess=post)) == 0
    counts: dict[tuple[str, str], list[float]] = {}
    for names, rows in marginal_files(tmp_path).items():
        for name in names:
            for label in {row[name] for row in rows}:
                said = sum(float(row["count"]) for row in rows if row[name] == label)
                counts.setdefault((name, label), []).append(said)
    assert all(len(said) == 3 for said in counts.values())
    assert all(max(said) - min(said) < 1e-9 * max(1.0, *said) for said in counts.values())
    assert json.loads((tmp_path / "settings.json").read_text("utf-8"))["postprocess"] == post


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"epsilon": "0"}, "E_EPSILON"),
        ({"epsilon": "-1"}, "E_EPSILON"),
        ({"epsilon": "nan"}, "E_EPSILON"),
        ({"epsilon": "inf"}, "E_EPSILON"),
        ({"delta": "0"}, "E_DELTA"),
        ({"delta": "1"}, "E_DELTA"),
        ({"workload": "9"}, "E_WORKLOAD"),
        ({"workload": "-1"}, "E_WORKLOAD"),
        ({"seed": "-1"}, "E_SEED"),
        ({"domain": "nowhere.json"}, "E_DOMAIN"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_code_and_writes_no_result(
    changes: dict[str, str], code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments(tmp_path / "out", **changes)
    assert main(given) == 2
    shown = capsys.readouterr()
    assert code in shown.err
    assert "Traceback" not in shown.err
    assert not (tmp_path / "out").exists() or not everything(tmp_path / "out")


@pytest.mark.parametrize("changes", [{"epsilon": "much"}, {"mechanism": "magic"}, {"out": ""}])
def test_a_command_line_that_is_none_is_refused(
    changes: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments(tmp_path, **changes))
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_a_table_that_does_not_fit_is_refused_without_a_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "bad.csv"
    table.write_text("Class,Sex,Age,Survived\n1st,Male,zq-canary-7,Yes\n", "utf-8")
    given = arguments(tmp_path / "out")
    given[1] = str(table)
    assert main(given) == 2
    shown = capsys.readouterr()
    assert "E_VALUE" in shown.err
    assert "'Age'" in shown.err
    assert "canary" not in shown.err + shown.out


def test_labels_that_a_spreadsheet_would_run_are_made_harmless(tmp_path: Path) -> None:
    domain = engine.Domain(
        (engine.Attribute("=name()", values=("=1+1", "@x", "-3", "+4", "\tt", "plain")),)
    )
    domain.to_json(tmp_path / "d.json")
    (tmp_path / "t.csv").write_text("=name()\nplain\n", "utf-8")
    given = arguments(tmp_path / "out", domain=str(tmp_path / "d.json"), workload="1")
    given[1] = str(tmp_path / "t.csv")
    del given[2:4]
    assert main(given) == 0
    for path in (tmp_path / "out" / "marginals").rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                assert row[0][0] not in "=@-+\t"


def test_every_run_stamps_itself_a_demonstration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments(tmp_path), "--quiet"]) == 0
    shown = capsys.readouterr()
    assert "DEMONSTRATION" in shown.out
    assert shown.err == ""


def test_an_earlier_run_s_answers_do_not_pass_for_this_one_s(tmp_path: Path) -> None:
    assert main(arguments(tmp_path, workload="3")) == 0
    assert main([*arguments(tmp_path, workload="1"), "--force"]) == 0
    assert {len(names) for names in marginal_files(tmp_path)} == {1}


# -- the folder ----------------------------------------------------------------------------------


def test_a_folder_that_holds_something_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    assert main(arguments(tmp_path)) == 2
    assert "E_OUT" in capsys.readouterr().err
    assert everything(tmp_path) == {"mine.txt": "mine"}


def test_a_run_that_fails_leaves_no_folder_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundle, "index_csv", fail)
    assert main(arguments(tmp_path / "out")) == 2
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_says_so_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(bundle, "index_csv", interrupt)
    assert main(arguments(tmp_path / "out")) == 130
    assert "cancelled; nothing written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_closes_the_pipe_is_no_mistake(tmp_path: Path) -> None:
    command = f"{sys.executable} -m engine plan --domain {TITANIC[2]} --workload 3 --epsilon 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{command} --json | head -c 1"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_on_a_full_disk_a_file_or_folder_of_before_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = tmp_path / "d.json"
    draft.write_text("before")
    assert main(arguments(tmp_path / "out")) == 0
    before = everything(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for call in (Path.replace, Path.rename):  # the last step of each
        monkeypatch.setattr(Path, call.__name__, full)
    table = str(SAMPLES / "titanic.csv")
    assert main(["draft-domain", table, "--out", str(draft), "--force"]) == 2
    assert main([*arguments(tmp_path / "out", seed="1"), "--force"]) == 2
    assert "No space left" in capsys.readouterr().err
    assert everything(tmp_path) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_full_disk_under_the_output_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "engine", "plan", *TITANIC[1:], "--workload", "1", "--rho", "1"],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


# -- what is asked for ---------------------------------------------------------------------------


def test_settings_given_back_repeat_the_run(tmp_path: Path) -> None:
    first = [*arguments(tmp_path / "a", workload="", mechanism="aim-grem-paper")]
    assert main([*first, "--marginal", "Sex,Class", "--marginal", "Age"]) == 0
    again = ["run", *TITANIC, "--seed", SEED, "--out", str(tmp_path / "b")]
    assert main([*again, "--settings", str(tmp_path / "a" / "settings.json")]) == 0
    assert everything(tmp_path / "a") == everything(tmp_path / "b")


def test_a_budget_can_be_rho_and_the_table_can_come_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = arguments(tmp_path / "a", epsilon="", delta="", rho="1/7")
    assert main(given) == 0
    ledger = json.loads((tmp_path / "a" / "ledger.json").read_text("utf-8"))
    assert ledger["total"] == "1/7"
    content = (SAMPLES / "titanic.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    given = arguments(tmp_path / "b", epsilon="", delta="", rho="1/7")
    given[1] = "-"
    assert main(given) == 0
    assert everything(tmp_path / "a") == everything(tmp_path / "b")


def test_a_workload_can_be_a_file_with_weights(tmp_path: Path) -> None:
    wanted = [["Sex", "Class"], {"attributes": ["Age"], "weight": 3}]
    (tmp_path / "w.json").write_text(json.dumps(wanted), "utf-8")
    assert main(arguments(tmp_path / "out", workload=str(tmp_path / "w.json"))) == 0
    release = json.loads((tmp_path / "out" / "release.json").read_text("utf-8"))
    assert release["workload"] == [[[2], 3.0], [[0, 1], 1.0]]


@pytest.mark.parametrize("content", ["{}", '["Age"]', '[["Age"], 3]', "no json"])
def test_a_workload_file_that_is_none_is_refused(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "w.json").write_text(content, "utf-8")
    assert main(arguments(tmp_path / "out", workload=str(tmp_path / "w.json"))) == 2
    assert "E_WORKLOAD" in capsys.readouterr().err


# -- the other commands --------------------------------------------------------------------------


def test_plan_predicts_what_the_engine_predicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *TITANIC[1:], "--workload", "2", "--rho", "0.5", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    workload = engine.Workload.all_kway(engine.Domain.from_json(TITANIC[2]), 2)
    predicted = engine.ResidualPlanner().predict(workload, rho=0.5).mean_l1
    assert said["mean_l1_expected"]["residual-planner"] == predicted
    assert said["marginals"] == 6


def test_plan_says_which_plan_the_default_takes_for_a_declared_number_of_records(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ["plan", *TITANIC[1:], "--workload", "3", "--epsilon", "1", "--delta", "1e-9"]
    assert main([*given, "--records", "2000", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["default"]
    workload = engine.Workload.all_kway(engine.Domain.from_json(TITANIC[2]), 3)
    rho = Fraction(engine.rho_from(epsilon=1, delta=1e-9))
    ahead = outlook.before(workload, rho, records=2000)
    assert told["why"] == ahead.why
    assert told["mean_l1_forecast"] == {plan.name: plan.left for plan in ahead.alternatives}
    assert main([*given, "--records", "2000"]) == 0
    assert f"The default: {ahead.why}" in capsys.readouterr().out
    assert main([*given, "--records", "0"]) != 0
    assert "declared number" in capsys.readouterr().err


def test_compare_says_that_true_errors_are_not_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["compare", *TITANIC, "--workload", "2", "--epsilon", "1", "10", "--trials", "2"]
    assert main([*given, "--csv", str(tmp_path / "t.csv"), "--mechanism", "residual-planner"]) == 0
    said = capsys.readouterr().out
    assert "not private" in said
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 4


def test_a_drafted_domain_says_that_it_was_read_from_the_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "d.domain.json"
    assert main(["draft-domain", str(SAMPLES / "titanic.csv"), "--out", str(out)]) == 0
    assert engine.Domain.from_json(out).read_from_data
    assert "read from the data" in capsys.readouterr().out
    assert main(["draft-domain", str(SAMPLES / "titanic.csv"), "--out", str(out)]) == 2


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for given in ([], *([command] for command in ("run", "app", "plan", "compare", "prepare"))):
        with pytest.raises(SystemExit) as caught:
            main([*given, "--help"])
        assert caught.value.code == 0
        assert len(capsys.readouterr().out) > 200
    with pytest.raises(SystemExit):
        main(["--version"])
    assert engine.__version__ in capsys.readouterr().out


def test_what_is_printed_for_programs_can_be_read_by_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, wanted = TITANIC[0], ["--workload", "1"]
    for given in (
        ["run", *TITANIC, *wanted, "--rho", "1", "--out", str(tmp_path / "out")],
        ["compare", *TITANIC, *wanted, "--trials", "1", "--mechanism", "uniform"],
        ["plan", *TITANIC[1:], *wanted, "--epsilon", "1"],
        ["draft-domain", table, "--out", str(tmp_path / "d.json")],
    ):
        assert main([*given, "--json"]) == 0
        assert isinstance(json.loads(capsys.readouterr().out), dict), given


def test_run_and_compare_offer_every_mechanism_of_the_catalogue(tmp_path: Path) -> None:
    every = {entry.option for entry in catalogue.entries() if entry.places and not entry.one_ways}
    assert {entry.option for entry in asked.releasing()} == every
    for number, name in enumerate(sorted(every)):
        out = tmp_path / str(number)
        assert main(arguments(out, workload="1", mechanism=name)) == 0
        again = ["run", *TITANIC, "--seed", SEED, "--out", f"{out}b"]
        assert main([*again, "--settings", str(out / "settings.json")]) == 0
        assert everything(out) == everything(Path(f"{out}b"))
    compared = ["aim-grem-rounds", "product", "residual-planner+simplex"]
    flags = [text for name in compared for text in ("--mechanism", name)]
    table = tmp_path / "trials.csv"
    given = ["compare", *TITANIC, "--workload", "1", "--trials", "1", *flags, "--csv", str(table)]
    assert main(given) == 0
    assert len(table.read_text("utf-8").splitlines()) == 1 + len(compared)


def test_the_app_is_found_beside_the_engine() -> None:
    assert app.app_folder() == ROOT


def test_a_run_that_fails_after_a_draw_leaves_its_ledger_and_what_was_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(self: Any, *arguments: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(engine.AimGrem, "_measure", fails)
    assert main(arguments(tmp_path, mechanism="aim-grem-paper")) == 2
    told = capsys.readouterr().err
    assert "E_INTERRUPTED" in told
    (written,) = tmp_path.rglob("ledger.json")
    ledger = json.loads(written.read_text("utf-8"))
    assert Fraction(ledger["spent"]) > 0
    content = json.loads((written.parent / "release.json").read_text("utf-8"))
    assert engine.Release.from_dict(content).ledger.spent == Fraction(ledger["spent"])
    assert len(content["residuals"]) > 1


ODD = Path(__file__).parent / "ingest" / "odd"


@pytest.mark.parametrize(
    ("file", "domain"),
    [
        ("command_line_semicolons.csv", "command_line_sex"),
        ("command_line.xlsx", "command_line_sex"),
        ("command_line.parquet", "command_line_sex"),
        ("command_line_commas.csv", "command_line_date_part"),
    ],
)
def test_the_command_line_reads_what_the_data_page_reads(
    file: str, domain: str, tmp_path: Path
) -> None:
    given = ["run", str(ODD / file), "--domain", str(ODD / f"{domain}.domain.json")]
    options = ["--workload", "1", "--epsilon", "50", "--delta", "1e-9", "--seed", "1", "--quiet"]
    assert main([*given, *options, "--out", str(tmp_path / "out")]) == 0
    rows = marginal_files(tmp_path / "out")[("sex",)]
    counts = {row["sex"]: float(row["count"]) for row in rows}
    assert abs(counts["f"] - 13) < 3
    assert abs(counts["m"] - 3) < 3


def test_the_command_line_refuses_a_zip_by_name_and_a_table_without_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "names.csv").write_text("sex\n", "utf-8")
    for table, said in ((ODD / "command_line.zip", "Unpack it"), (tmp_path / "names.csv", "rows")):
        given = ["run", str(table), "--domain", str(ODD / "command_line_sex.domain.json")]
        assert main([*given, "--workload", "1", "--rho", "1", "--out", str(tmp_path / "out")]) == 2
        assert said in capsys.readouterr().err


def test_reading_choices_come_from_the_domain_file_or_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("title\nsex;x\nf;1\n-9;2\nm;3\n", "utf-8")
    sex = engine.Attribute("sex", values=("f", "m"), missing=engine.Missing())
    domain = engine.Domain((sex,))
    domain.to_json(tmp_path / "d.json", reading={"header_line": 2, "missing": ["-9"]})
    domain.to_json(tmp_path / "bare.json")
    run = ["run", str(tmp_path / "t.csv"), "--workload", "1", "--rho", "1", "--quiet", "--domain"]
    assert main([*run, str(tmp_path / "d.json"), "--out", str(tmp_path / "a")]) == 0
    assert main([*run, str(tmp_path / "bare.json"), "--out", str(tmp_path / "b")]) == 2
    assert "E_VALUE" in capsys.readouterr().err
    flags = ["--missing", "-9.0", "--header-line", "2"]
    assert main([*run, str(tmp_path / "bare.json"), *flags, "--out", str(tmp_path / "c")]) == 0
