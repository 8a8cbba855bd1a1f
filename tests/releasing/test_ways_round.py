"""No way round: what a released table is asked for in its process, in a later one, from the shell.

Also what a release says of the records by the way: how many there are, how long it took, notes.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import pickle
import re
import traceback
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.__main__ import main
from engine.odometer import MEMORY
from engine.releasing import bundle
from engine.releasing.account import Account, TableAccount
from engine.releasing.run import release
from tests.releasing.test_account import account, released, small
from tests.releasing.test_commands import arguments, files

__all__ = ["account", "files"]  # fixtures


def release_it(account: TableAccount, table: engine.Table, workload: engine.Workload) -> Any:
    """A release of all of it."""
    return release(
        engine.ResidualPlanner(), table, workload, epsilon=1.0, delta=1e-9, account=account
    )


def protected(show: Callable[[], object]) -> bool:
    """Whether it is refused as what it is."""
    try:
        show()
    except engine.DataError as error:
        return error.code == "E_PROTECTED"
    return False


def test_the_same_records_read_again_are_known_in_this_process(account: TableAccount) -> None:
    table, workload = small()
    release_it(account, table, workload)
    again, _ = small()
    rows = again.codes.T
    ways: list[Callable[[], engine.Table]] = [
        lambda: again,
        lambda: engine.Table.from_codes(rows.astype(np.int64), again.domain),
        lambda: again.select("a1", "a0"),
        lambda: engine.Table.from_codes(rows[:, ::-1], again.domain.select(2, 1, 0)),
        lambda: engine.Table.from_codes(
            rows, engine.Domain(again.domain.attributes, title="another title")
        ),
    ]
    for way in ways:
        other = way()
        mine = engine.Workload.all_kway(other.domain, 1)
        assert protected(lambda o=other, w=mine: engine.run(engine.EqualSplit(), o, w, rho=1))
    # Other records of the same domain are another table.
    other = engine.Table.from_codes(rows[:-1], again.domain)
    engine.run(engine.EqualSplit(), other, workload, rho=1)
    # What is said of one is said of all of them.
    again.declare_public("made up for this test")
    engine.run(engine.EqualSplit(), engine.Table.from_codes(rows, again.domain), workload, rho=1)


def test_no_part_of_a_mechanism_rehearses_on_a_released_table(account: TableAccount) -> None:
    """Who writes a mechanism of their own calls these, and no ``run``."""
    table, workload = small()
    mechanism, private = engine.AimGrem(finish="rounds"), engine.Private(table)
    rng, ledger = engine.rehearsal_noise(1), engine.Ledger(Fraction(1))
    state, _ = mechanism.start(private, workload, rho=Fraction(1), rng=rng)
    release_it(account, table, workload)
    ways: dict[str, Callable[[], object]] = {
        "measure": lambda: engine.measure_marginal(
            private, (0,), rho=Fraction(1, 9), ledger=ledger, rng=rng
        ),
        "start": lambda: mechanism.start(private, workload, rho=Fraction(1), rng=rng),
        "step": lambda: mechanism.step(state, private, rng),
        "state": lambda: next(iter(engine.rounds(mechanism, private, workload, state=state))),
        "trials": lambda: list(
            engine.trials(table, workload, ["equal_split"], epsilons=[1.0], delta=1e-9, seeds=[0])
        ),
    }
    assert [name for name, way in ways.items() if not protected(way)] == []


def test_no_widget_shows_or_rehearses_a_released_table(account: TableAccount) -> None:
    widgets = pytest.importorskip("engine.widgets")
    table, workload = small()
    before = engine.run(engine.EqualSplit(), table, workload, rho=1)
    release_it(account, table, workload)
    assert protected(lambda: widgets.explore(before, table=table, truth=True))
    assert protected(lambda: widgets.explore(table, workload=workload))
    widgets.explore(before)  # released values alone
    for form in (widgets.compare(table, workload, trials=1), widgets.setup(table)):
        shown = run_to_its_end(form)
        assert "private release was made of this table" in shown


def run_to_its_end(form: Any) -> str:
    """Press Run, wait, and return all that is shown."""
    form.runner.start()
    form.runner.wait(60)
    return " ".join(str(one.value) for one in of_all(form) if hasattr(one, "value"))


def of_all(widget: Any) -> list[Any]:
    """A widget and all within."""
    return [widget, *(one for child in getattr(widget, "children", ()) for one in of_all(child))]


def test_a_receipt_knows_of_rehearsals_of_the_same_records_read_before(
    account: TableAccount,
) -> None:
    before, workload = small()
    engine.run(engine.EqualSplit(), before, workload, rho=1)
    del before
    assert release_it(account, small()[0], workload).receipt.looked
    MEMORY.forget()
    assert not release_it(account, small()[0], workload).receipt.looked


def test_what_is_remembered_of_records_keeps_none_of_them_and_is_of_this_process() -> None:
    table, workload = small()
    engine.run(engine.EqualSplit(), table, workload, rho=1)
    seen = [digest for known in MEMORY._known.values() for one in known for digest in one]
    assert [len(digest) for digest in seen] == [64] * len(seen)
    assert len(seen) == 3
    odometer = table.odometer
    del table
    assert [ref() for _, ref in odometer._columns] == [None], "an odometer keeps records alive"


WAYS: dict[str, Callable[[Any, Any, Any], object]] = {
    "repr": lambda t, p, r: repr((t, p)),
    "str": lambda t, p, r: f"{t} {p}",
    "format": lambda t, p, r: f"{t!s:>40} {p!a}",
    "pickle of the table": lambda t, p, r: pickle.dumps(t),
    "pickle of the counts": lambda t, p, r: pickle.dumps(p),
    "copy": lambda t, p, r: copy.copy(t),
    "deepcopy": lambda t, p, r: copy.deepcopy({"kept": p}),
    "asdict": lambda t, p, r: dataclasses.asdict(t),
    "replace": lambda t, p, r: dataclasses.replace(p),
    "vars": lambda t, p, r: vars(t),
    "json": lambda t, p, r: json.dumps(t),
    "json by default": lambda t, p, r: json.dumps(t, default=str),
    "iteration": lambda t, p, r: list(t),
    "length": lambda t, p, r: len(t),
    "comparison": lambda t, p, r: (t == t, p == p),
    "array": lambda t, p, r: np.asarray(t),
    "marginal": lambda t, p, r: str(p.marginal((0,))),
    "pickle of a marginal": lambda t, p, r: pickle.dumps(p.marginal((0,))),
    "asdict of a marginal": lambda t, p, r: dataclasses.asdict(p.marginal((0,))),
    "evaluate": lambda t, p, r: engine.evaluate(r.release, t),
    "compare": lambda t, p, r: engine.compare(r.release.estimate(0), p),
    "run": lambda t, p, r: engine.run(engine.EqualSplit(), t, r.release.workload, rho=1),
    "rounds": lambda t, p, r: next(
        iter(engine.rounds(engine.AimGrem(), p, r.release.workload, rho=1))
    ),
    "notebook": lambda t, p, r: shown_in_a_notebook(t, p),
}


def shown_in_a_notebook(*values: Any) -> str:
    """What IPython would show."""
    from engine.showing import notebook

    return "".join(str(notebook.mimebundle(value)) for value in values)


@pytest.mark.parametrize("way", list(WAYS))
def test_a_way_round_gives_nothing_of_the_records(
    account: TableAccount, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Each is refused, or what comes of it holds neither the number of records nor a count."""
    domain = engine.Domain(
        (
            engine.Attribute("place", values=("here", "there")),
            engine.Attribute("state", values=("well", "ill")),
        )
    )
    rows = [[0, 0]] * 7919 + [[1, 1]] * 6007  # primes, as is neither their sum's neighbourhood
    table = engine.Table.from_codes(rows, domain)
    made = release_it(account, table, engine.Workload.all_kway(domain, 2))
    private = engine.Private(table)
    try:
        found = str(WAYS[way](table, private, made))
    except Exception as error:
        logging.getLogger("ways").exception("refused")
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        found = "".join(told.format()) + caplog.text
    for count in ("7919", "7,919", "6007", "6,007", "13926", "13,926"):
        assert count not in found


def test_a_release_says_nothing_of_when_its_steps_were_made(account: TableAccount) -> None:
    made = released(account)
    during = [e for e in account.account.entries() if e.kind in ("charge", "lost", "close")]
    assert len(during) > 3
    assert {len(e.written) for e in during} == {len("2026-12-04")}
    for name, text in bundle.files(made):
        if not name.endswith((".py", ".html")):
            assert not re.search(r"\d\d:\d\d:\d\d|elapsed|duration", text), name


def sizes_and_names(made: Any) -> list[tuple[str, int]]:
    """Names, order and lines of the files of a bundle: what one sees without opening them."""
    return [(name, text.count("\n")) for name, text in bundle.files(made)]


def test_names_order_and_lines_of_a_bundle_do_not_depend_on_the_records(
    account: TableAccount,
) -> None:
    _, workload = small()
    tables = [
        engine.Table.from_codes(np.zeros((count, 3), dtype=np.int64), workload.domain)
        for count in (0, 1, 5000)
    ]
    found = [
        sizes_and_names(
            release(
                engine.ResidualPlanner(),
                table,
                workload,
                epsilon=1.0,
                delta=1e-9,
                account=account,
            )
        )
        for table in tables
    ]
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 10


# -- from the shell --------------------------------------------------------------------------------


def test_a_table_without_rows_is_released_like_another_and_no_note_is_printed(
    files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A refusal, or a note on cells, would tell the records apart without any noise."""
    capfd.readouterr()
    told = []
    for number, rows in enumerate(((), ("a,1,yes", "CANARY,9,no", "b,77,yes"))):
        (files / "people.csv").write_text("\n".join(["place,age,=sum(x)", *rows]) + "\n")
        (files / "out").rename(files / f"out{number}") if (files / "out").exists() else None
        assert main(arguments(files, "--total", "1", "--mechanism", "residual-planner")) == 0
        told.append(capfd.readouterr())
    assert told[0].err == told[1].err
    assert "note" not in told[0].err
    assert "CANARY" not in told[1].out


@pytest.fixture
def shell(files: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run a command as a later process would: nothing is remembered but by the account."""
    assert main(arguments(files, "--total", "1", "--quiet", "--mechanism", "uniform")) == 0
    monkeypatch.delenv("AIM_GREM_ACCOUNT", raising=False)

    def call(name: str, *more: str) -> int:
        MEMORY.forget()
        table, domain = files / "people.csv", files / "people.domain.json"
        given = ["--workload", "1", "--epsilon", "1", "--mechanism", "residual-planner"]
        return main([name, str(table), "--domain", str(domain), *given, *more])

    return call


def test_run_and_compare_refuse_what_the_account_has_released_until_it_is_said_to_be_public(
    files: Path,
    shell: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = str(files / "account.db")
    commands = [["run", "--out", str(files / "run"), "--quiet"], ["compare", "--trials", "1"]]
    for command in commands:
        assert shell(*command, "--account", kept) == 2
        assert "E_PROTECTED" in capsys.readouterr().err
        assert shell(*command, "--account", kept, "--public", "yes") == 2
        assert "in words" in capsys.readouterr().err
    monkeypatch.setenv("AIM_GREM_ACCOUNT", kept)
    for command in commands:
        assert shell(*command) == 2
        assert "E_PROTECTED" in capsys.readouterr().err
    assert not (files / "run").exists()
    assert shell("compare", "--trials", "1", "--public", "made up for this test") == 0
    # The account has it in writing: who looks later need not say it again.
    assert [e.note for e in Account(kept).entries() if e.kind == "public"] == [
        {"statement": "made up for this test"}
    ]
    assert shell(*commands[0]) == 0


def test_an_account_of_other_tables_stops_nobody(files: Path, shell: Callable[..., int]) -> None:
    other = engine.Domain((engine.Attribute("place", values=("a", "b"), outside="other"),))
    other.to_json(files / "people.domain.json")
    assert shell("compare", "--trials", "1", "--account", str(files / "account.db")) == 0
