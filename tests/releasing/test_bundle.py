"""The bundle of a release: checked by a program of its own, which sees what is planted."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.errors import OptionError
from engine.releasing import bundle, verify
from engine.releasing.account import Account
from engine.releasing.run import Released
from tests.releasing import registry
from tests.releasing.test_account import SECRET, released
from tests.support import ROOT

MECHANISMS: dict[str, Any] = {
    "completed": engine.AimGrem(finish="rounds"),
    "plain": engine.AimGrem(completion="none"),
    "planner": engine.ResidualPlanner(),
    "split": engine.EqualSplit(),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Released]:
    """A release of each."""
    path = tmp_path_factory.mktemp("account") / "account.db"
    account = Account.create(path).table("people", secret=SECRET, total=10)
    return {name: released(account, mechanism=m) for name, m in MECHANISMS.items()}


def written(content: bytes, folder: Path) -> Path:
    """The archive unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_the_checker_in_the_bundle_finds_it_good_without_the_engine(
    made: dict[str, Released], name: str, tmp_path: Path
) -> None:
    content = bundle.bundle(made[name])
    assert content == bundle.bundle(made[name])
    (tmp_path / "b.zip").write_bytes(content)
    folder = written(content, tmp_path / "b")
    for given in ("b.zip", "b"):
        done = subprocess.run(
            [sys.executable, "-I", "-W", "error", str(folder / "verify.py"), given],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("GOOD\n")
    agrees = "marginals agree with the residuals" in done.stdout
    assert agrees == (made[name].release.completion is None)


def test_the_checker_is_short_and_imports_nothing_of_the_engine() -> None:
    text = (ROOT / "engine" / "releasing" / "verify.py").read_text("utf-8")
    assert len(text.splitlines()) <= 200
    assert "import engine" not in text
    assert "from engine" not in text


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")


def first_measured(trace: Any) -> Any:
    return next(m for e in trace["events"] for m in e.get("measurements", []) if m["attrs"])


def single(release: Any) -> Any:
    return next(x for x in release["residuals"] if len(x["attrs"]) == 1)


def double(content: Any) -> None:
    content["precision"] *= 2


def fraction_added(content: Any) -> None:
    content["values"] = content["values"] + 1e-3 if not isinstance(content["values"], list) else [
        v + 1e-3 for v in content["values"]
    ]  # fmt: skip


PLANTED: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "epsilon": ("release", lambda r: r.update(epsilon=0.5), "prove epsilon"),
    "a charge": ("release", lambda r: r["ledger"]["entries"].pop(), "charges are not what"),
    "a total": ("release", lambda r: r["ledger"].update(total="1/1000"), "more was spent"),
    "rehearsal": ("release", lambda r: r.update(rehearsal=True), "demonstration"),
    "a domain": ("release", lambda r: r["domain"].update(title="other"), "another hash"),
    "rows": ("release", lambda r: r["domain"].update(rows_per_person=2), "another hash"),
    "a residual": ("release", lambda r: fraction_added(single(r)), "does not follow"),
    "a precision": ("release", lambda r: double(r["residuals"][0]), "is another"),
    "an account": ("account", lambda a: a.update(rho_of_a_person="1/7"), "another cost"),
    "a table": ("account", lambda a: a.update(total="1/1000"), "overspent"),
    "claimed precision": ("trace", lambda t: double(first_measured(t)), "not paid for"),
    "float noise": ("trace", lambda t: fraction_added(first_measured(t)), "whole numbers"),
    "a free round": ("trace", lambda t: t["events"][0]["charges"].clear(), "charged otherwise"),
}  # fmt: skip


@pytest.mark.parametrize("planted", list(PLANTED))
def test_the_checker_sees_what_was_changed(
    made: dict[str, Released], planted: str, tmp_path: Path
) -> None:
    name, change, says = PLANTED[planted]
    folder = written(bundle.bundle(made["plain"]), tmp_path)
    edit(folder / f"{name}.json", change)
    with pytest.raises(SystemExit, match=says):
        verify.main(str(folder))


def test_the_checker_counts_a_person_with_several_rows() -> None:
    # All releases above are of one row a person, where both costs are the same.
    spent, rows, delta = Fraction(1, 50), 3, 1e-9
    entries = [{"what": "measure", "attrs": [0], "rho": str(spent)}]
    release = {
        "ledger": {"entries": entries, "spent": str(spent), "total": str(spent)},
        "domain": {"rows_per_person": rows}, "delta": delta,
        "epsilon": engine.epsilon_from(rho=rows**2 * spent, delta=delta),
    }  # fmt: skip
    account = {"rho_of_a_person": str(rows**2 * spent), "spent": "1", "total": "1"}
    assert "for a person" in verify.check_ledger(release, account)
    with pytest.raises(SystemExit, match="another cost"):
        verify.check_ledger(release, account | {"rho_of_a_person": str(spent)})
    of_a_record = release | {"epsilon": engine.epsilon_from(rho=spent, delta=delta)}
    with pytest.raises(SystemExit, match="prove epsilon"):
        verify.check_ledger(of_a_record, account)


def test_the_checker_sees_a_changed_cell_of_a_marginal(
    made: dict[str, Released], tmp_path: Path
) -> None:
    folder = written(bundle.bundle(made["planner"]), tmp_path)
    path = sorted((folder / "marginals").iterdir())[0]
    lines = list(csv.reader(path.read_text("utf-8").splitlines()))
    lines[2][2] = repr(float(lines[2][2]) + 1e-3)
    path.write_text("\n".join(",".join(line) for line in lines) + "\n", "utf-8")
    with pytest.raises(SystemExit, match="row 2 does not follow"):
        verify.main(str(folder))


def test_a_demonstration_gets_no_bundle_of_a_release(made: dict[str, Released]) -> None:
    table = engine.Table.from_codes([[0, 0]], engine.Domain.from_sizes({"a": 2, "b": 2}))
    run = engine.run(
        engine.AimGrem(), table, engine.Workload.all_kway(table.domain, 1), epsilon=1, delta=1e-9
    )
    fake = Released(run.release, run.events, made["plain"].receipt)
    with pytest.raises(OptionError) as caught:
        bundle.bundle(fake)
    assert caught.value.code == "E_DEMONSTRATION"


def test_the_deployment_entry_is_one_of_tier_3_once_its_curator_has_filled_it(
    made: dict[str, Released],
) -> None:
    yaml, jsonschema = pytest.importorskip("yaml"), pytest.importorskip("jsonschema")
    text = bundle.deployment(made["plain"])
    checker = jsonschema.Draft202012Validator(registry.TIER_3)
    # As it is made it is refused, for what only a curator knows and for nothing else.
    refused = list(checker.iter_errors(yaml.safe_load(text)))
    assert refused
    assert all("<" in str(e.instance) for e in refused), [e.message for e in refused]
    for place, answer in registry.FILLED.items():
        text = text.replace(place, answer)
    assert "<" not in text
    found = yaml.safe_load(text)
    checker.validate(found)
    parameters = found["deployment"]["privacy_loss"]["privacy_parameters"]
    release = made["plain"].release
    assert parameters["epsilon"] == release.epsilon
    assert parameters["rho"] == float(release.rho_of_a_person)
    assert release.domain.hash in found["deployment"]["dp_variant"]["data_domain"]
    for part, fields in registry.TIER_3["properties"]["deployment"]["properties"].items():
        for field in (None, *fields["required"]):
            without = copy.deepcopy(found)
            without["deployment"].pop(part) if field is None else without["deployment"][part].pop(
                field
            )
            assert not checker.is_valid(without), (part, field)
    # Nothing is in it that the bundle's own files do not say: no time, no number of records.
    assert "number_of_privacy_units" not in text
    assert not re.search(
        r"\d\d:\d\d|20\d\d-\d\d", text.replace(registry.FILLED["<year-month-day>"], "")
    )


def test_the_curve_is_what_rho_proves(made: dict[str, Released]) -> None:
    rows = list(csv.reader(bundle.curve(made["plain"]).splitlines()))[1:]
    assert len(rows) == len(bundle.DELTAS)
    rho = float(made["plain"].release.rho_of_a_person)
    for delta, epsilon in rows:
        assert verify.epsilon_of(rho, float(delta)) == pytest.approx(float(epsilon), rel=1e-9)
