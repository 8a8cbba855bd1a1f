"""The list of planted faults stays true while code moves, and its command tells what survives."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace

import pytest

from tests.faults import running
from tests.faults.__main__ import chosen, main, run
from tests.faults.fault import COMPILED, ROOT, Fault
from tests.faults.planted import PARTS

FAULTS = [fault for part in PARTS.values() for fault in part]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_text_of_every_fault_is_there_once_and_the_fault_is_python(fault: Fault) -> None:
    fault = fault.found()
    assert fault.occurrences() == 1, f"{fault.path} holds it {fault.occurrences()} times"
    assert fault.after != fault.before
    if fault.path.endswith(".py"):
        ast.parse(fault.planted((ROOT / fault.path).read_text("utf-8")))
    for test in fault.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).exists(), file
        if name:
            assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text("utf-8"), test


def test_there_are_enough_faults_of_each_kind() -> None:
    assert not [name for name, n in Counter(f.name for f in FAULTS).items() if n > 1]
    assert len(FAULTS) >= 80
    assert len(PARTS["privacy"]) >= 30
    assert len(PARTS["completion"]) >= 25
    assert all(fault.tests and fault.harm.endswith(".") for fault in FAULTS)


def test_compiled_modules_are_those_with_compiled_functions() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "engine").rglob("*.py")
        if "\n@compiled" in path.read_text("utf-8")
    }
    assert found == set(COMPILED)


def test_a_tenth_is_drawn_from_all_and_by_its_seed() -> None:
    options = main.__globals__["argparse"].Namespace(part=None, only=None, tenth=3)
    tenth = chosen(options)
    assert len(tenth) == -(-len(FAULTS) // 10)
    assert tenth == chosen(options)
    options.tenth = 4
    assert tenth != chosen(options)


EASY = Fault("easy", "engine/axes.py", "def ", "def ", "Nothing.", ("tests/test_axes.py",))


def test_what_survives_and_what_is_not_there_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    path, before = "engine/version.py", "__version__"
    text = (ROOT / path).read_text("utf-8")
    assert text.count(before) == 1
    tests = ("tests/test_axes.py",)
    harmless = Fault("harmless", path, before, f"_unused = 1\n{before}", "Nothing.", tests)
    missing = replace(harmless, name="missing", before="nowhere to be found")
    harmful = Fault("harmful", path, before, f"raise ValueError\n{before}", "All.", tests)
    assert run([harmful], jobs=1) == 0
    assert run([harmless, missing], jobs=1) == 1
    told = capsys.readouterr().out
    assert "caught" in told
    assert "SURVIVED" in told
    assert "BROKEN" in told
    assert "2 of 2 faults planted; 2 not caught" in told


def test_a_test_that_fails_anyway_catches_nothing(tmp_path: object) -> None:
    with running.folder() as folder:
        copy = running.Copy(running.Path(folder))
        (copy.root / "tests" / "test_always.py").write_text("def test_no():\n    assert False\n")
        fault = replace(EASY, tests=("tests/test_always.py",))
        assert list(running.clean([fault], copy))
