"""``release``, ``account`` and ``audit`` from the shell; nothing of the records anywhere (T9)."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import evidence
from engine.__main__ import main
from engine.commands import release as command
from engine.errors import OptionError
from engine.releasing import auditing, verify
from engine.releasing.account import Account

RECORDS = 1009
"""A prime that nothing else equals."""
CANARY = "CANARYrow%dtoken"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A table whose rows hold tokens that no domain names, its domain, a secret, an account."""
    domain = engine.Domain(
        (
            engine.Attribute("place", values=("a", "b"), outside="other"),
            engine.Attribute("age", kind="integer", bounds=(0, 4), outside="clamp"),
            engine.Attribute("=sum(x)", values=("yes", "no")),
        ),
        title="people",
    )
    domain.to_json(tmp_path / "people.domain.json")
    rng = np.random.default_rng(0)
    with (tmp_path / "people.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["place", "age", "=sum(x)"])
        for k in range(RECORDS):
            place = CANARY % k if k % 3 == 0 else "ab"[k % 2]
            rows.writerow([place, 77_000 + k if k % 5 == 0 else int(rng.integers(5)), "yes"])
    (tmp_path / "secret").write_text("kept in a password manager\n")
    assert main(["account", "create", str(tmp_path / "account.db")]) == 0
    return tmp_path


def arguments(files: Path, *more: str) -> list[str]:
    """A release of all pairs."""
    return [
        "release", str(files / "people.csv"), "--domain", str(files / "people.domain.json"),
        "--workload", "2", "--epsilon", "1", "--delta", "1e-9",
        "--account", str(files / "account.db"), "--name", "people",
        "--secret-file", str(files / "secret"), "--out", str(files / "out"), *more,
    ]  # fmt: skip


def test_a_release_from_the_shell_is_a_bundle_that_checks_and_holds_nothing_of_the_records(
    files: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert main(arguments(files, "--total", "1/10", "--mechanism", "aim-grem-plain")) == 0
    shown = capfd.readouterr()
    assert "(1, 1e-09)-differential privacy" in shown.out
    verify.main(str(files / "out"))
    assert capfd.readouterr().out.startswith("GOOD")
    kept = (files / "account.db").read_bytes().decode("latin-1")
    everything = [shown.out, shown.err, caplog.text, kept]
    everything += [p.read_text("utf-8") for p in (files / "out").rglob("*") if p.is_file()]
    assert len(everything) > 10
    domain = engine.Domain.from_json(files / "people.domain.json")
    exact = engine.Private(engine.Table.from_csv(files / "people.csv", domain))
    assert int(exact.marginal(()).values) == RECORDS
    for text in everything:
        assert "CANARY" not in text
        assert "people.csv" not in text
        assert "password manager" not in text
        assert str(files) not in text or text in (shown.out, shown.err)
    for name in ("release.json", "trace.json", "account.json", "settings.json", "ledger.json"):
        assert RECORDS not in numbers(json.loads((files / "out" / name).read_text("utf-8")))


def numbers(content: object) -> set[float]:
    """All numbers in JSON values but the noisy ones: noise may be 0, and a total then the true."""
    if isinstance(content, dict):
        told = [value for name, value in content.items() if name != "values"]
        return {n for value in told for n in numbers(value)}
    if isinstance(content, list):
        return {n for value in content for n in numbers(value)}
    return {content} if isinstance(content, int | float) else set()


def test_the_account_is_listed_verified_and_exported(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(arguments(files, "--total", "1/10", "--quiet", "--mechanism", "equal-split"))
    account = str(files / "account.db")
    capsys.readouterr()
    assert main(["account", "list", account]) == 0
    assert "people: rho 0.0149731 of 0.1 for a person" in capsys.readouterr().out
    assert main(["account", "list", account, "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert table["releases"][0]["state"] == "released"
    assert main(["account", "verify", account]) == 0
    assert "is whole" in capsys.readouterr().out
    assert main(["account", "export", account]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["kind"] for row in rows] == ["table", "open", *["charge"] * 3, "close"]
    assert len(rows) == Account(account).verify()
    assert main(["account", "verify", str(files / "nothing.db")]) == 2
    assert "E_ACCOUNT" in capsys.readouterr().err


def test_what_the_account_does_not_allow_is_refused_with_nothing_written(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(files, "--quiet")) == 2
    assert "does not know a table" in capsys.readouterr().err
    assert main(arguments(files, "--quiet", "--total", "1/1000")) == 2
    assert "E_OVERSPEND" in capsys.readouterr().err
    assert not (files / "out").exists()
    (files / "secret").write_text("short")
    assert main(arguments(files, "--quiet")) == 2
    assert "too short" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(arguments(files, "--seed", "1"))


def test_an_interrupted_release_says_how_to_go_on(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(share: float, event: engine.Event) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "progress_bar", lambda: stop)
    assert main(arguments(files, "--total", "1")) == 130
    said = capsys.readouterr().err
    (release,) = Account(files / "account.db").tables()[0].unfinished
    assert f"--resume {release}" in said
    monkeypatch.undo()
    assert main(arguments(files, "--quiet", "--resume", release)) == 0
    assert Account(files / "account.db").tables()[0].unfinished == ()
    monkeypatch.setattr(command, "progress_bar", lambda: stop)
    assert main(arguments(files, "--force")) == 130
    (release,) = Account(files / "account.db").tables()[0].unfinished
    capsys.readouterr()
    assert main(["account", "abandon", str(files / "account.db"), release]) == 0
    assert "has now cost rho" in capsys.readouterr().out
    assert main(["account", "abandon", str(files / "account.db"), release]) == 2


def test_the_secret_may_come_from_the_environment(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(command.SECRET, "kept in a password manager")
    given = arguments(files, "--total", "1", "--quiet", "--mechanism", "uniform")
    at = given.index("--secret-file")
    assert main([*given[:at], *given[at + 2 :]]) == 0
    account = Account(files / "account.db")
    same = account.table("people", secret="kept in a password manager")
    assert same.spent > 0


# -- audit -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [f for f in auditing.FAULTS if f != "none"])
def test_the_audit_catches_each_planted_fault(
    fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both bounds exceed their promises, and are shown beside them."""
    assert main(["audit", "--runs", "240", "--fault", fault, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["least_epsilon"] > found["epsilon"] == 1.0
    assert max(found["least"], found["divergence"]) > found["promised"]
    assert main(["audit", "--runs", "100", "--fault", fault]) in (0, 1)
    assert (
        "a correct mechanism is accused with probability 0.001 at most" in capsys.readouterr().out
    )


def test_the_audit_accuses_no_correct_mechanism_and_refuses_what_shows_nothing() -> None:
    found = auditing.audit(engine.ResidualPlanner(), epsilon=8.0, delta=1e-9, runs=240, alpha=1e-6)
    assert not found.caught
    assert 0 <= found.least <= found.promised
    for pair in auditing.PAIRS:  # the adaptive one, whole
        found = auditing.audit(
            engine.AimGrem(completion="none"), epsilon=8.0, delta=1e-9, runs=100, alpha=1e-6,
            pair=pair,
        )  # fmt: skip
        assert not found.caught
    with pytest.raises(OptionError, match="no pair"):
        auditing.audit(engine.ResidualPlanner(), epsilon=1.0, delta=1e-9, pair="x")
    with pytest.raises(OptionError, match="at least 100"):
        auditing.audit(engine.ResidualPlanner(), epsilon=1.0, delta=1e-9, runs=10)
    with pytest.raises(OptionError, match="strength 0"):
        auditing.audit(engine.ResidualPlanner(), epsilon=1.0, delta=1e-9, strength=0)
    with pytest.raises(OptionError, match="no fault"):
        auditing.audit(engine.ResidualPlanner(), epsilon=1.0, delta=1e-9, fault="x")


def test_the_audit_s_bounds_are_those_of_clopper_and_pearson() -> None:
    from scipy import stats

    for passed in ((90, 20), (100, 0), (3, 2)):
        rho, epsilon = evidence._least(passed, 100, 0.01, 1e-3)
        p = stats.binomtest(passed[0], 100).proportion_ci(0.99).low
        q = stats.binomtest(passed[1], 100).proportion_ci(0.99).high
        assert epsilon == pytest.approx(max(0.0, np.log((p - 1e-3) / q)) if p > q else 0.0)
        assert rho >= 0
    # A pair of coins that 1/2-zCDP allows just so: the bound does not exceed it.
    p, q = 0.7, 0.3
    assert evidence._renyi(p, q, 1.01) / 1.01 < 0.5


def test_an_audit_accuses_a_mechanism_that_spends_all_it_may_no_more_often_than_it_says() -> None:
    """Normal noise of just the promised rho: the hardest correct mechanism; 200 audits of it."""
    rho, alpha, rng, accused = 0.5, 0.2, np.random.default_rng(1), {1.0: 0, 0.5: 0}
    epsilon = engine.epsilon_from(rho=rho, delta=1e-9)
    for share in accused:
        for _ in range(200):
            scores = rng.normal([[rho], [-rho]], (2 * rho * share) ** 0.5, (2, 400))[:, :, None]
            found = evidence.judged(scores, promised=rho, epsilon=epsilon, delta=1e-9, alpha=alpha)
            accused[share] += found.caught
    # Expected are 40 at most, with a standard deviation of 5.7; and they see half the noise.
    assert accused[1.0] <= 40
    assert accused[0.5] > 100


def test_bins_see_half_the_noise_and_accuse_no_right_one() -> None:
    """T3: log ratios under the claimed laws, of normal noise; one threshold misses the fault."""
    rho, runs, rng = 0.5, 20_000, np.random.default_rng(0)

    def found(share: float) -> float:
        larger = rng.normal(rho, (2 * rho * share) ** 0.5, 2 * runs)
        smaller = rng.normal(-rho, (2 * rho * share) ** 0.5, 2 * runs)
        first = np.stack([larger[:runs], smaller[:runs]])
        return evidence._divergence(first, larger[runs:], smaller[runs:], alpha=1e-4)

    assert 0.7 * rho < found(1.0) < rho
    assert found(0.5) > 1.3 * rho
    alike = rng.normal(size=runs)
    assert evidence._divergence(alike, alike, rng.normal(size=runs), alpha=1e-4) == 0.0
