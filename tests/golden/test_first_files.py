"""What the first version wrote still loads, and what it called still can be called.

The files in ``first`` were written by the commit before the rooms were made (0bab156): five runs on
Titanic with their answers, a bundle, sessions and domain files, and the names and arguments of all
that was public. Two constructors have changed on purpose: ``Run`` and ``AimState`` are values with
other fields, and what they were asked for can still be asked.
"""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import ingest
from engine.__main__ import main
from engine.trace import event_from_dict
from pages.parts.navigation import saved
from tests.support import ROOT

FIRST = Path(__file__).parent / "first"
NAMES = json.loads((FIRST / "names.json").read_text())
RUNS = json.loads(gzip.decompress((FIRST / "runs.json.gz").read_bytes()))
MADE_OTHERWISE = {"AimState", "Run"}


def parameters(value: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(value).parameters)


@pytest.mark.parametrize("module", NAMES)
def test_every_public_name_of_the_first_version_takes_what_it_took(module: str) -> None:
    for name, told in NAMES[module].items():
        value = getattr(importlib.import_module(module), name)
        for member in told.get("members", ()):
            assert hasattr(value, member), (name, member)
        if "arguments" not in told or name in MADE_OTHERWISE:
            continue
        now = parameters(value)
        anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in now.values())
        missing = set(told["arguments"]) - set(now)
        assert anything or not missing, (name, missing)
        new = [p for n, p in now.items() if n not in told["arguments"]]
        optional = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
        needed = [p.name for p in new if p.default is p.empty and p.kind not in optional]
        assert not needed, (name, needed)


@pytest.mark.parametrize("name", RUNS)
def test_releases_and_traces_of_the_first_version_answer_as_they_did(name: str) -> None:
    told = RUNS[name]
    release = engine.Release.from_dict(told["release"])
    events = [event_from_dict(event) for event in told["events"]]
    found = [estimate.values.ravel() for estimate in release.estimates()]
    for values, before in zip(found, told["answers"], strict=True):
        np.testing.assert_allclose(values, before, rtol=1e-9, atol=1e-9 * max(np.abs(before)))
    run = engine.Run.of(events, release)
    assert run.events == tuple(events)
    last = list(engine.beliefs_after(events))[-1]
    assert {attrs: last[attrs] for attrs in last} == {
        attrs: release.beliefs[attrs] for attrs in release.beliefs
    }


def test_a_notebook_of_the_first_version_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(FIRST / "bundle.zip") as bundle:
        bundle.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    told: dict[str, Any] = {}
    for cell in json.loads(Path("notebook.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            # Its last cell is for a table of one's own: here the sample that it was made of.
            own = f"TABLE = {str(ROOT / 'sample_data' / 'titanic.csv')!r}"
            exec("".join(cell["source"]).replace("TABLE = None", own), told)
    assert told["again"].release.mechanism == told["release"].mechanism
    assert told["release"].domain == engine.Domain.from_json("domain.json")


@pytest.mark.parametrize("name", ["sample", "list"])
def test_sessions_of_the_first_version_are_read(name: str) -> None:
    packed = (FIRST / f"{name}.session.json").read_bytes()
    wanted = saved.read(packed)
    assert not isinstance(wanted, saved.OwnTable)
    said = json.loads(packed)
    for field in ("sample", "degree", "epsilon", "delta", "seed", "mechanism"):
        assert getattr(wanted.settings, field) == said[field]
    assert wanted.settings.attributes == tuple(said["attributes"])
    asked = tuple(
        (tuple(names), weight) for names, weight in json.loads(said.get("marginals", "[]"))
    )
    assert wanted.settings.marginals == asked


def test_a_session_of_the_first_version_on_a_table_of_one_s_own_is_read() -> None:
    wanted = saved.read((FIRST / "own.session.json").read_bytes())
    assert wanted == saved.OwnTable(
        ("Class", "Sex", "Age", "Survived"), 2, 1.5, 1e-7, "aim_grem_paper"
    )


def test_domain_files_of_the_first_version_are_read(tmp_path: Path) -> None:
    domain = engine.Domain.from_json(FIRST / "people.domain.json")
    assert domain.names == ("age", "city", "income", "joined (year)", "note")
    assert domain.sizes == (47, 3, 10, 3, 4)
    assert all(attribute.source == "data" for attribute in domain)
    rows = b"age,city,income,joined,note\n31,Oslo,10.5,2020-01-03,x\n4,Rome,99,2021-05-06,\n"
    table = ingest.encode(ingest.read(rows), domain)
    assert engine.Private(table).marginal(()).values == 2
    sizes = engine.Domain.from_json(FIRST / "sizes.domain.json")
    assert sizes == engine.Domain.from_sizes({"a": 2, "b": 3})


def command(*arguments: str) -> Callable[[Path], int]:
    sample = ROOT / "sample_data" / "titanic"
    given = [f"{sample}.csv", "--domain", f"{sample}.domain.json", "--workload", "1"]
    given += ["--epsilon", "1", "--delta", "1e-9", "--seed", "0", "--quiet"]
    return lambda out: main(["run", *given, *arguments, "--out", str(out)])


@pytest.mark.parametrize(
    "arguments", [(), ("--mechanism", "aim-grem-paper"), ("--postprocess", "clip")]
)
def test_the_command_line_of_the_first_version_writes_its_files(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    assert command(*arguments)(tmp_path / "out") == 0
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")}
    assert {"ledger.json", "settings.json", "release.json", "index.csv"} <= written
    assert "marginals/00001_Class.csv" in written
