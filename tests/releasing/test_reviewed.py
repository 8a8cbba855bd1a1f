"""A release as a reviewer takes it apart: by code of its own, from what was written alone.

Nothing of the engine's accounting, conversion or reconstruction is used here but to make the
release: charges are added up from the account's rows by SQL, precisions and estimates from the
bundle's files by linear algebra, and each draw is watched where it is made.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
import signal
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import engine
from engine.exact_noise import ExactNoise, GridScores
from engine.releasing import bundle
from engine.releasing.account import Account
from engine.releasing.run import release
from tests.releasing.test_account import SECRET, in_children
from tests.support import make_domain

MECHANISMS: dict[str, Callable[[], Any]] = {
    "rounds": lambda: engine.AimGrem(finish="rounds"),
    "plain": lambda: engine.AimGrem(completion="none"),
    "default": engine.AimGrem,
    "planner": engine.ResidualPlanner,
    "mwem": engine.MwemGrem,
    "split": engine.EqualSplit,
}


def table_of(sizes: list[int], count: int, rows: int = 1) -> engine.Table:
    """Some records; a person may have several."""
    domain = engine.Domain(make_domain(sizes).attributes, title="people", rows_per_person=rows)
    rng = np.random.default_rng(5)
    codes = np.stack([rng.integers(0, n, size=count) for n in sizes], axis=1)
    return engine.Table.from_codes(codes, domain)


@pytest.mark.parametrize("name", list(MECHANISMS))
@pytest.mark.parametrize("rows", [1, 3])
def test_charges_of_account_events_and_ledger_pay_for_every_draw(
    name: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An odometer of the reviewer's own: at each draw, what the file has paid so far."""
    path, drawn = tmp_path / "account.db", [Fraction(0)]

    def paid() -> Fraction:
        with sqlite3.connect(path) as rows_of:
            found = rows_of.execute("SELECT rho FROM entries WHERE kind IN ('charge', 'lost')")
            total = sum((Fraction(rho) for (rho,) in found), Fraction(0))
        rows_of.close()
        return total

    noisy, choose = ExactNoise.noisy, ExactNoise.choose_exactly

    def watched_noisy(self: Any, exact: Any, *, variance: Fraction, sensitivity: int) -> Any:
        drawn[0] += rows**2 * Fraction(sensitivity) / (2 * variance)
        assert drawn[0] <= paid(), "drawn before it was on the disk"
        return noisy(self, exact, variance=variance, sensitivity=sensitivity)

    def watched_choose(self: Any, scores: GridScores) -> int:
        drawn[0] += rows**2 * scores.epsilon**2 / 8
        assert drawn[0] <= paid(), "chosen before it was on the disk"
        return choose(self, scores)

    monkeypatch.setattr(ExactNoise, "noisy", watched_noisy)
    monkeypatch.setattr(ExactNoise, "choose_exactly", watched_choose)
    table = table_of([3, 2, 4], 60, rows)
    account = Account.create(path).table("people", secret=SECRET, total=1)
    workload = engine.Workload.all_kway(table.domain, 2)
    made = release(MECHANISMS[name](), table, workload, epsilon=1.5, delta=1e-7, account=account)
    assert drawn[0] > 0
    told = [c.rho for e in made.events for c in getattr(e, "charges", ())]
    ledger = [c.rho for c in made.release.ledger.entries]
    assert told == ledger
    assert drawn[0] <= rows**2 * sum(ledger) == paid() == made.receipt.rho_of_a_person
    # All but rounding to more noise is drawn for; the promise holds for the sum, by another way.
    assert drawn[0] > (1 - Fraction(1, 10**6)) * paid()
    assert delta_at(1.5, float(paid())) <= 1e-7


def delta_at(epsilon: float, rho: float) -> float:
    """The least delta that rho-zCDP proves, by minimising over the order itself."""

    def log_delta(a: float) -> float:
        return (a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a) - math.log(a - 1)

    found = optimize.minimize_scalar(lambda u: log_delta(1 + math.exp(u)), bounds=(-8, 12),
                                     method="bounded", options={"xatol": 1e-12})  # fmt: skip
    return math.exp(found.fun)


# -- the bundle, without its own checker -----------------------------------------------------------


def files_of(content: bytes) -> dict[str, str]:
    """All text files of a bundle."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def projection(sizes: tuple[int, ...], attrs: tuple[int, ...], tau: tuple[int, ...]) -> np.ndarray:
    """The part of a marginal over ``attrs`` that belongs to ``tau``, as one dense matrix."""
    found = np.ones((1, 1))
    for i in attrs:
        mean = np.full((sizes[i], sizes[i]), 1 / sizes[i])
        found = np.kron(found, np.eye(sizes[i]) - mean if i in tau else mean)
    return found


def decomposing(sizes: tuple[int, ...], tau: tuple[int, ...]) -> np.ndarray:
    """Differences to the first slice along each axis, as one dense matrix."""
    found = np.ones((1, 1))
    for i in tau:
        found = np.kron(found, np.hstack([-np.ones((sizes[i] - 1, 1)), np.eye(sizes[i] - 1)]))
    return found


@pytest.mark.parametrize("name", ["plain", "planner", "split", "rounds"])
def test_a_bundle_s_totals_precisions_and_estimates_follow_from_its_files_alone(
    name: str, tmp_path: Path
) -> None:
    table = table_of([3, 2, 4], 60, 2)
    account = Account.create(tmp_path / "account.db").table("people", secret=SECRET, total=1)
    workload = engine.Workload.all_kway(table.domain, 2)
    made = release(MECHANISMS[name](), table, workload, epsilon=2.0, delta=1e-8, account=account)
    files = files_of(bundle.bundle(made))
    said, trace = json.loads(files["release.json"]), json.loads(files["trace.json"])
    receipt = json.loads(files["account.json"])
    sizes = tuple(receipt["sizes"])
    # Totals.
    costs = [Fraction(entry["rho"]) for entry in said["ledger"]["entries"]]
    assert sum(costs) == Fraction(said["ledger"]["spent"])
    assert 4 * sum(costs) == Fraction(receipt["rho_of_a_person"])
    assert delta_at(said["epsilon"], float(4 * sum(costs))) <= said["delta"]
    # Precisions: of each measurement what its charge buys, by the cost of a residual.
    found: dict[tuple[int, ...], list[tuple[float, np.ndarray]]] = {}
    for event in trace["events"]:
        for one in event.get("measurements", []):
            tau = tuple(one["attrs"])
            found.setdefault(tau, []).append((one["precision"], np.array(one["values"]).ravel()))
    bought = sum(
        Fraction(precision) * math.prod(Fraction(sizes[i] - 1, sizes[i]) for i in tau) / 2
        for tau, parts in found.items() for precision, _ in parts
    )  # fmt: skip
    measured = sum(
        Fraction(c["rho"]) for e in trace["events"] for c in e.get("charges", [])
        if c["what"] == "measure"
    )  # fmt: skip
    assert bought <= measured
    assert float(bought) == pytest.approx(float(measured), rel=1e-6)
    # Estimates: the least-squares marginal of all that was measured, solved densely.
    for entry in said["residuals"]:
        parts = found[tuple(entry["attrs"])]
        total = sum(p for p, _ in parts)
        mean = sum(p * v for p, v in parts) / total
        assert entry["precision"] == pytest.approx(total, rel=1e-12)
        assert np.allclose(np.array(entry["values"]).ravel(), mean, rtol=1e-9, atol=1e-9)
    if said["completion"] is not None:
        return
    names = sorted(n for n in files if n.startswith("marginals/"))
    for file, (attrs, _) in zip(names, said["workload"], strict=True):
        told = [float(row[len(attrs)]) for row in list(csv.reader(files[file].splitlines()))[1:]]
        table_now = np.zeros(math.prod(sizes[i] for i in attrs))
        for size in range(len(attrs) + 1):
            for tau in itertools.combinations(attrs, size):
                entry = next((r for r in said["residuals"] if tuple(r["attrs"]) == tau), None)
                if entry is None:
                    continue
                # Any table over tau with these differences will do: its own part is the residual.
                some = np.linalg.pinv(decomposing(sizes, tau)) @ np.array(entry["values"]).ravel()
                spread = np.ones((1, 1))
                for i in attrs:
                    own = np.eye(sizes[i]) if i in tau else np.full((sizes[i], 1), 1 / sizes[i])
                    spread = np.kron(spread, own)
                table_now += projection(sizes, tuple(attrs), tau) @ spread @ some
        assert np.allclose(table_now, told, rtol=1e-9, atol=1e-6 * max(1.0, abs(table_now).max()))


# -- canaries --------------------------------------------------------------------------------------

TOKEN = b"CANARYtokenOfARow"


def holding(folder: Path, *tokens: bytes) -> list[str]:
    """Files below a folder that hold one of these."""
    every = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in every if any(token in path.read_bytes() for token in tokens)]


@pytest.mark.parametrize("killed", [False, True])
def test_no_canary_is_in_any_file_a_release_has_written_even_if_it_was_killed(
    killed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own folder of temporary files, the account with its journal, the bundle half written."""
    from engine.__main__ import main

    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("TMPDIR", str(own))
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    domain = engine.Domain(
        (
            engine.Attribute("place", values=("a", "b"), outside="other"),
            engine.Attribute("age", kind="integer", bounds=(0, 4), outside="clamp"),
        )
    )
    domain.to_json(tmp_path / "d.json")
    rows = [f"{TOKEN.decode()}{k},{98_765_000 + k}" for k in range(50)]
    table, secret = tmp_path / "private" / "t.csv", tmp_path / "private" / "secret"
    table.parent.mkdir()
    table.write_text("\n".join(["place,age", *rows]) + "\n")
    secret.write_text("a secret that nobody else has")
    Account.create(own / "account.db")

    def work(_: int) -> int:
        if killed:
            draws = itertools.count()
            gaussian = ExactNoise._spend

            def stops(self: Any, rho: Fraction) -> None:
                if next(draws) == 4:
                    os.kill(os.getpid(), signal.SIGKILL)
                gaussian(self, rho)

            ExactNoise._spend = stops  # type: ignore[method-assign]
        os.chdir(own)
        with open(own / "said", "w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            return main(
                ["release", str(table), "--domain", str(tmp_path / "d.json"), "--workload", "2",
                 "--epsilon", "1", "--delta", "1e-9", "--account", str(own / "account.db"),
                 "--name", "people", "--secret-file", str(secret), "--total", "1",
                 "--out", str(own / "out"), "--mechanism", "aim-grem-plain"]
            )  # fmt: skip

    (code,) = in_children(1, work)
    assert code == (-signal.SIGKILL if killed else 0)
    assert (own / "account.db").is_file()
    assert holding(own, TOKEN, b"98765", b"nobody else has", b"t.csv") == []
    assert holding(table.parent, TOKEN) == ["t.csv"], "the search finds what there is"
