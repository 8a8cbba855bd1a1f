"""Releases: exact, accounted, resumable; and what they refuse."""

# Over 400 lines: one release; its tests share an account and a table.

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.errors import AccountError
from engine.exact_noise import ExactNoise, GridScores
from engine.odometer import MEMORY
from engine.releasing import source
from engine.releasing.account import Account, TableAccount
from engine.releasing.run import MECHANISMS, CancelledError, Released, release
from engine.trace import event_to_dict
from tests.releasing.test_account import SECRET, account, charges, released, small
from tests.support import make_domain

__all__ = ["account"]  # a fixture


@pytest.mark.parametrize("kind", MECHANISMS, ids=lambda kind: kind.__name__)
def test_a_release_is_exact_accounted_and_no_demonstration(
    kind: Callable[[], Any], account: TableAccount
) -> None:
    seen: list[float] = []
    made = released(account, mechanism=kind(), progress=lambda share, _: seen.append(share))
    assert made.release.demonstration == ()
    assert (made.release.epsilon, made.release.delta) == (1.0, 1e-9)
    assert account.spent == made.release.ledger.spent == made.receipt.rho_of_a_person
    assert account.spent <= Fraction(engine.rho_from(epsilon=1.0, delta=1e-9))
    assert account.unfinished == ()
    assert seen == sorted(seen)
    last = account.account.entries()[-1]
    assert made.receipt.entry == (last.number, last.hash)
    # Charges of the ledger are those of the account, in order.
    charged = [
        c for e in account.account.entries() if e.kind == "charge" for c in e.note["charges"]
    ]
    assert charged == [
        [c.what, None if c.attrs is None else list(c.attrs), str(c.rho)]
        for c in made.release.ledger.entries
    ]


def test_two_releases_differ_and_add_up(account: TableAccount) -> None:
    one, two = released(account), released(account)
    assert one.release.to_dict() != two.release.to_dict()
    assert account.spent == one.receipt.rho_of_a_person + two.receipt.rho_of_a_person
    assert two.receipt.spent == account.spent


def test_a_release_takes_no_seed_and_no_generator(account: TableAccount) -> None:
    for extra in ({"seed": 1}, {"rng": engine.rehearsal_noise(1)}):
        with pytest.raises(TypeError):
            released(account, **extra)
    assert account.spent == 0


def test_a_domain_read_from_the_records_is_refused(account: TableAccount) -> None:
    table, _ = small()
    attributes = [engine.Attribute(a.name, values=tuple(a.labels), source="data")
                  for a in table.domain]  # fmt: skip
    domain = engine.Domain(tuple(attributes))
    table = engine.Table.from_codes(table.codes.T, domain)
    with pytest.raises(engine.DomainError) as caught:
        release(
            engine.AimGrem(), table, engine.Workload.all_kway(domain, 2),
            epsilon=1.0, delta=1e-9, account=account,
        )  # fmt: skip
    assert caught.value.code == "E_DOMAIN_REQUIRED"
    assert account.spent == 0


def test_a_mechanism_that_is_not_known_to_be_exact_is_refused(account: TableAccount) -> None:
    class Mine(engine.AimGrem):
        """Could do anything with the records."""

    for mechanism in (Mine(), object()):
        with pytest.raises(engine.OptionError) as caught:
            released(account, mechanism=mechanism)
        assert caught.value.code == "E_MECHANISM"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"epsilon": 0}, "E_EPSILON"),
        ({"epsilon": float("nan")}, "E_EPSILON"),
        ({"delta": 1.0}, "E_DELTA"),
        ({"sampler": "numpy"}, "E_OPTION"),
        ({"resume": "nothing"}, "E_RELEASE"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_anything_is_charged(
    account: TableAccount, options: dict[str, Any], code: str
) -> None:
    with pytest.raises(engine.EngineError) as caught:
        released(account, **options)
    assert caught.value.code == code
    assert account.spent == 0
    assert account.unfinished == ()


def test_a_release_refused_by_its_mechanism_reserves_nothing(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _ = small()
    other = engine.Workload.all_kway(engine.Domain.from_sizes({"a": 2}), 1)
    with pytest.raises(engine.WorkloadError):
        release(engine.AimGrem(), table, other, epsilon=1.0, delta=1e-9, account=account)
    monkeypatch.setattr("engine.mechanisms.memory._memory", lambda: 1)
    with pytest.raises(engine.WorkloadError) as caught:
        released(account, mechanism=engine.ResidualPlanner())
    assert caught.value.code == "E_TOO_LARGE"
    assert account.spent == 0
    assert account.unfinished == ()


def test_a_cancelled_release_keeps_its_charges_and_frees_the_rest(account: TableAccount) -> None:
    calls: list[int] = []

    def later() -> bool:
        calls.append(1)
        return len(calls) == 3

    with pytest.raises(CancelledError) as caught:
        released(account, cancel=later)
    assert caught.value.code == "E_CANCELLED"
    assert account.unfinished == ()
    assert 0 < account.spent == charges(account)
    assert account.spent < Fraction(engine.rho_from(epsilon=1.0, delta=1e-9)) / 2


@pytest.mark.parametrize("sampler", ["engine", "opendp"])
def test_a_long_draw_tells_how_far_it_is_and_ends_when_it_is_cancelled(
    account: TableAccount, sampler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One residual of many cells: nothing else happens for all of the budget."""
    if sampler == "opendp":
        pytest.importorskip("opendp")
        monkeypatch.setattr(source, "_AT_ONCE", 500)
    monkeypatch.setattr("engine.exact_draws._AT_ONCE", 1_000)
    domain = make_domain([80, 80])
    table, workload = engine.Table.from_codes([[1, 2]], domain), engine.Workload.all_kway(domain, 2)
    told: list[tuple[float, bool]] = []

    def asked(stop_at: float) -> Released:
        told.clear()
        return release(
            engine.ResidualPlanner(), table, workload, epsilon=1.0, delta=1e-9, account=account,
            sampler=sampler, progress=lambda share, event: told.append((share, event is None)),
            cancel=lambda: told[-1][0] >= stop_at,
        )  # fmt: skip

    made = asked(2.0)
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert len(told) - len(made.events) >= 6400 // 1000, "a draw of 6,241 numbers says nothing"
    largest = max(b - a for a, b in itertools.pairwise(shares))
    assert largest < 0.3, "too little is told between two events"
    before, drawn = account.spent, []
    monkeypatch.setattr(source, "packed", lambda values: drawn.append(values.size) or b"")
    with pytest.raises(CancelledError):
        asked(0.6)
    # In the midst of the last and longest draw, of which nothing came.
    assert told[-1][1]
    assert max(drawn, default=0) < 6000
    assert account.unfinished == ()
    assert account.spent - before == made.receipt.rho_of_a_person, "all of it was charged before"


class PowerError(Exception):
    """The machine stops."""


def interrupted_after(draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next release stops once it drew so often."""
    done = [0]
    for name in ("_gaussian", "_chosen"):
        draw = getattr(source.AccountedNoise, name)

        def counted(self: Any, *args: Any, draw: Any = draw) -> Any:
            done[0] += 1
            if done[0] > draws:
                raise PowerError
            return draw(self, *args)

        monkeypatch.setattr(source.AccountedNoise, name, counted)


@pytest.mark.parametrize("draws", [0, 1, 3, 4, 9, 20])
def test_an_interrupted_release_can_be_resumed_and_pays_again_only_for_what_was_lost(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch, draws: int
) -> None:
    events: list[Any] = []
    interrupted_after(draws, monkeypatch)
    with pytest.raises(PowerError):
        released(account, progress=lambda _, event: event and events.append(event))
    monkeypatch.undo()
    (name,) = account.unfinished
    again = released(account, resume=name)
    assert account.unfinished == ()
    # What was written down comes back: all events but perhaps the last, whose draws may be lost.
    for before, now in list(zip(events, again.events, strict=False))[:-1]:
        assert event_to_dict(before) == event_to_dict(now)
    assert account.spent == again.receipt.rho_of_a_person + charges(account, "lost")
    batches = [e.rho for e in account.account.entries() if e.kind == "charge"]
    assert charges(account, "lost") <= max(batches), "more than one step was paid again"


def test_what_another_process_has_drawn_comes_back_on_resuming(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy, drawn = ExactNoise.noisy, []

    def told(self: Any, exact: Any, **kwargs: Any) -> Any:
        drawn.append(noisy(self, exact, **kwargs).copy())
        return drawn[-1].copy()

    interrupted_after(12, monkeypatch)
    monkeypatch.setattr(ExactNoise, "noisy", told)
    with pytest.raises(PowerError):
        released(account)
    monkeypatch.undo()
    _, batches, kept = account.resume(account.unfinished[0]).recorded()
    values = [source.unpacked(body) for body in kept]
    arrays = [v for v in values if v.shape != ()]
    assert len(batches) >= 2
    assert arrays, "nothing was kept"
    for value in arrays:
        assert any(v.shape == value.shape and np.array_equal(v, value) for v in drawn)


def test_a_release_is_resumed_with_its_own_settings_only(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_after(9, monkeypatch)
    with pytest.raises(PowerError):
        released(account)
    monkeypatch.undo()
    (name,) = account.unfinished
    # It is refused before anything is drawn, whether OpenDP is there or not.
    monkeypatch.setattr(source, "_opendp", lambda: pytest.fail("asked to draw"))
    monkeypatch.setattr("engine.releasing.run.check_sampler", lambda _: None)
    for other in ({"epsilon": 0.5}, {"mechanism": engine.EqualSplit()}, {"sampler": "opendp"}):
        with pytest.raises(AccountError, match="differ from when it was opened"):
            released(account, resume=name, **other)
    other_table = account.account.table("others", secret=SECRET, total=1)
    with pytest.raises(AccountError, match="not in the account of this table"):
        released(other_table, resume=name)
    account.abandon(name)
    assert account.spent == charges(account) > 0
    with pytest.raises(AccountError, match="has ended"):
        released(account, resume=name)


def test_a_lost_draw_that_the_total_does_not_allow_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rho = Fraction(engine.rho_from(epsilon=1.0, delta=1e-9))
    tight = Account.create(tmp_path / "tight.db").table("people", secret=SECRET, total=rho)
    interrupted_after(9, monkeypatch)
    with pytest.raises(PowerError):
        released(tight)
    monkeypatch.undo()
    with pytest.raises(engine.BudgetError) as caught:
        released(tight, resume=tight.unfinished[0])
    assert caught.value.code == "E_OVERSPEND"
    assert tight.spent == rho


@pytest.mark.parametrize("values", [
    np.arange(-3, 9).reshape(3, 4), np.array(5), np.zeros((0, 2), dtype=np.int64),
    np.array([2**70, -(2**90), 0], dtype=object).reshape(3, 1),
])  # fmt: skip
def test_draws_are_written_and_read_to_the_last_digit(values: np.ndarray) -> None:
    read = source.unpacked(source.packed(values))
    assert read.shape == values.shape
    assert read.tolist() == values.tolist()


def test_a_draw_that_is_damaged_in_the_account_is_not_taken_for_another() -> None:
    written = source.packed(np.arange(12).reshape(3, 4))
    for at in range(len(written)):
        for broken in (written[:at], flipped(written, at)):
            with pytest.raises(AccountError, match="damaged") as caught:
                source.unpacked(broken)
            assert caught.value.code == "E_RELEASE"


def flipped(content: bytes, at: int) -> bytes:
    """The same with one bit another."""
    return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]


def test_opendp_s_samplers_serve_a_release_too(account: TableAccount) -> None:
    pytest.importorskip("opendp")
    made = released(account, sampler="opendp")
    assert made.receipt.sampler == "opendp"
    assert account.spent == made.release.ledger.spent
    # Their scales are floats, rounded to more noise and to a flatter law.
    drawn = source.opendp_gaussian(4_000, Fraction(1, 3))
    assert 0.2 < drawn.astype(float).var() < 0.5
    scores = GridScores(np.array([4, 0, -(2**80)], dtype=object), 1, Fraction(1))
    chosen = [source.opendp_choice(scores) for _ in range(200)]
    assert set(chosen) == {0, 1}


def test_nothing_of_a_release_depends_on_the_records_but_through_its_draws(
    account: TableAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole path, with the same draws on unrelated tables: the same bytes (T8)."""
    from tests.exact_tape import ExactTape

    table, workload = small()
    rng = np.random.default_rng(0)
    other = engine.Table.from_codes(
        np.stack([rng.integers(0, n, size=97) for n in workload.domain.sizes], axis=1),
        workload.domain,
    )
    tape, outcomes = ExactTape(), []
    for records, drawing in ((table, tape), (other, None)):
        drawing = drawing or tape.replay()
        drawing.rehearsal = False  # type: ignore[misc]
        monkeypatch.setattr("engine.releasing.run.AccountedNoise", lambda *_, d=drawing, **__: d)
        monkeypatch.setattr("engine.releasing.account.OpenRelease.close", closed)
        # A tape has no receipt of exact noise: it drew none on the second table.
        monkeypatch.setattr(engine.Release, "drawn_exactly", lambda self, _: self, raising=False)
        made = release(
            engine.AimGrem(), records, workload, epsilon=1.0, delta=1e-9, account=account
        )
        told = [made.release.to_dict(), [event_to_dict(e) for e in made.events]]
        outcomes.append(json.dumps([*told, str(made.receipt.rho_of_a_person)]))
    assert outcomes[0] == outcomes[1]


def closed(self: Any, *, spent: Fraction, looked: bool = False) -> Any:
    """End a release without comparing its charges."""
    del spent, looked
    return self.table.account.entries()[-1]


def test_true_values_and_rehearsals_of_a_released_table_are_refused_until_it_is_public(
    account: TableAccount,
) -> None:
    table, workload = small()
    mechanism = engine.AimGrem(finish="rounds")
    before = engine.run(mechanism, table, workload, rho=1)
    private = engine.Private(table)
    rng = engine.rehearsal_noise()
    state, _ = mechanism.start(private, workload, rho=Fraction(1), rng=rng)
    showing: list[Callable[[], object]] = [
        lambda: engine.evaluate(before.release, table),
        lambda: engine.compare(before.release.estimate(0), private),
        lambda: engine.insight(mechanism, state, private),
        lambda: engine.run(mechanism, table, workload, rho=1),
        # Of the same records.
        lambda: engine.compare(before.release.estimate(0), table.select("a0", "a1", "a2")),
    ]
    for show in showing:
        show()
    release(mechanism, table, workload, epsilon=1.0, delta=1e-9, account=account)
    for show in showing:
        with pytest.raises(engine.DataError) as caught:
            show()
        assert caught.value.code == "E_PROTECTED"
    release(mechanism, table, workload, epsilon=1.0, delta=1e-9, account=account)
    for said in ("", "yes", "it is"):
        with pytest.raises(engine.DataError, match="in words"):
            table.declare_public(said)
    table.declare_public("made up for this test")
    for show in showing:
        show()


def test_a_refused_release_protects_nothing(account: TableAccount) -> None:
    table, workload = small()
    with pytest.raises(engine.BudgetError):
        release(engine.AimGrem(), table, workload, epsilon=500.0, delta=1e-9, account=account)
    engine.run(engine.AimGrem(), table, workload, rho=1)


def test_a_later_process_refuses_true_values_of_what_the_account_has_released(
    account: TableAccount,
) -> None:
    """The records loaded again have a clean odometer: the account remembers."""
    before, workload = small()
    account.watch(before)
    run = engine.run(engine.EqualSplit(), before, workload, rho=1)
    released(account, mechanism=engine.EqualSplit())
    again, _ = small()
    later = Account(account.account.path).table("people", secret=SECRET)
    later.watch(again)
    for show in (
        lambda: engine.evaluate(run.release, again),
        lambda: engine.run(engine.EqualSplit(), again, workload, rho=1),
    ):
        with pytest.raises(engine.DataError) as caught:
            show()
        assert caught.value.code == "E_PROTECTED"
    with pytest.raises(engine.DataError, match="in words"):
        later.declare_public("yes")
    assert later.statement is None
    later.declare_public("made up for this test")
    account.watch(again)
    engine.evaluate(run.release, again)
    assert account.statement == "made up for this test"
    assert account.account.verify() > 0


def test_a_release_says_whether_true_values_were_looked_at_before(account: TableAccount) -> None:
    from engine.releasing import bundle, words

    told = []
    for looks, says in ((False, None), (True, None), (True, "made up for this test")):
        MEMORY.forget()  # the same records in each turn
        table, workload = small()
        if says is not None:
            table.declare_public(says)
        if looks:
            engine.run(engine.EqualSplit(), table, workload, rho=1)
        made = release(
            engine.EqualSplit(), table, workload, epsilon=0.1, delta=1e-9, account=account
        )
        told.append(made.receipt.looked)
        assert bundle.receipt(made)["looked_before"] == made.receipt.looked
        assert ("had been looked at" in words.paragraph(made)) == made.receipt.looked
        assert account.account.entries()[-1].note == ({"looked": True} if told[-1] else {})
    assert told == [False, True, False]
