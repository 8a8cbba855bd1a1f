"""AIM+GReM against a plain loop written straight from MATH section 7."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import engine
from engine import grem
from engine.domain import subsets
from tests.reference import aim
from tests.support import (
    RELATIVE,
    all_mechanisms,
    make_domain,
    play,
    random_case,
    relative_error,
)

KINDS = {
    (update, noise): engine.AimGrem(update=update, noise=noise, completion="none")  # type: ignore[arg-type]
    for update in ("lazy", "full")
    for noise in ("crp", "iid")
}


def agree(mechanism: engine.AimGrem, seed: int) -> None:
    """One random case: the engine's run and the plain loop's, draw for draw."""
    rng = np.random.default_rng(seed)
    domain, codes, workload = random_case(rng, attributes=3, values=4)
    rho = Fraction(int(rng.integers(1, 400)), 100)
    table = engine.Table.from_codes(codes, domain)
    _, events, release = play(mechanism, table, workload, rho=rho, rng=engine.rehearsal_noise(seed))
    expected = aim.aim_grem(
        codes,
        list(domain.sizes),
        dict(workload.weights),
        rho=rho,
        rng=engine.rehearsal_noise(seed),
        noise=mechanism.noise,
        respend=mechanism.respend,
        eta=mechanism.omit_below,
    )
    rounds = [e for e in events if isinstance(e, engine.RoundEnded)]
    assert [e.selected for e in rounds] == expected.selected
    assert [e.annealed for e in rounds] == expected.annealed
    measured = [m for e in events[:-1] for m in e.measurements]
    assert [m.attrs for m in measured] == [m[0] for m in expected.measured]
    for found, (_, values, precision) in zip(measured, expected.measured, strict=True):
        assert found.precision == pytest.approx(precision, rel=RELATIVE)
        assert relative_error(found.values, values) <= RELATIVE
    charges = release.ledger.entries
    assert [(c.what, c.attrs) for c in charges] == [c[:2] for c in expected.charges]
    for found, (_, _, cost) in zip(charges, expected.charges, strict=True):
        assert float(found.rho) == pytest.approx(float(cost), rel=RELATIVE)
    for gamma in workload.closure:
        found = release.estimate(*gamma)
        assert relative_error(found.values, expected.estimates[gamma]) <= RELATIVE
    for tau, belief in release.beliefs.items():
        assert belief.precision == pytest.approx(expected.precisions[tau], rel=RELATIVE)


@pytest.mark.parametrize("kind", list(KINDS), ids="+".join)
@pytest.mark.parametrize("part", range(3))
def test_a_run_is_the_plain_loop_of_the_paper_draw_for_draw(
    kind: tuple[str, str], part: int
) -> None:
    for seed in range(part, 12, 3):
        agree(KINDS[kind], seed)


def test_the_paper_s_rule_leaves_omitted_slivers_unspent_as_the_plain_loop_does() -> None:
    for seed in range(6):
        agree(engine.AimGrem(respend=False, omit_below=0.1, completion="none"), 100 + seed)
        agree(engine.AimGrem(respend=True, omit_below=0.1, completion="none"), 100 + seed)


def test_lazy_and_full_are_the_same_mechanism() -> None:
    domain = make_domain([3, 2, 4])
    codes = [[k % 3, (k * k) % 2, k % 4] for k in range(40)]
    table = engine.Table.from_codes(codes, domain)
    workload = engine.Workload.all_kway(domain, 3)
    for noise in ("crp", "iid"):
        lazy, full = (
            engine.run(
                engine.AimGrem(update=update, noise=noise, completion="none"),  # type: ignore[arg-type]
                table,
                workload,
                rho=1,
                seed=4,
            )
            for update in ("lazy", "full")
        )
        assert [r.selected for r in lazy.rounds] == [r.selected for r in full.rounds]
        assert lazy.release.ledger == full.release.ledger
        for tau, belief in lazy.release.beliefs.items():
            np.testing.assert_array_equal(belief.values, full.release.beliefs[tau].values)


# -- budgets ---------------------------------------------------------------------------------------


def start(workload: engine.Workload, table: engine.Table, **options: Any) -> tuple[Any, Any]:
    """The state and event of a start with rho = 1, of rounds without completion."""
    return engine.AimGrem(**({"completion": "none"} | options)).start(
        engine.Private(table), workload, rho=Fraction(1), rng=engine.rehearsal_noise(0)
    )


def test_the_first_budgets_are_nine_to_one_of_rho_over_2k(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 3)
    state, event = start(workload, table)
    sets = len(workload.closure)
    assert event.rho_measure == state.rho_measure == Fraction(9, 10) / (2 * sets)
    assert event.rho_select == state.rho_select == Fraction(1, 10) / (2 * sets)
    assert [c.rho for c in event.charges] == [state.rho_measure] * len(table.domain)
    assert [c.attrs for c in event.charges] == [(i,) for i in range(len(table.domain))]


def test_annealing_quadruples_exactly_when_the_estimate_hardly_moved() -> None:
    seen = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        domain, codes, workload = random_case(rng)
        if workload.closure == ((),):
            continue
        table = engine.Table.from_codes(codes, domain)
        states, events, _ = play(
            engine.AimGrem(completion="none"),
            table,
            workload,
            rho=Fraction(1),
            rng=engine.rehearsal_noise(seed),
        )
        for before, after, event in zip(states, states[1:-1], events[1:-1], strict=False):
            gamma = event.selected
            moved = grem.marginal(after.beliefs, domain, gamma) - grem.marginal(
                before.beliefs, domain, gamma
            )
            assert event.change == pytest.approx(np.abs(moved).sum(), rel=1e-9, abs=1e-9)
            sigma = (2 * float(event.rho_measure)) ** -0.5
            expected = np.sqrt(2 / np.pi) * sigma * domain.cells(gamma)
            assert event.threshold == pytest.approx(expected, rel=1e-12)
            assert event.rho_measure == before.rho_measure
            assert event.rho_select == before.rho_select
            assert event.last == before.last
            if event.last:
                assert not event.annealed
                assert after.finished
                continue
            assert event.annealed == (event.change <= event.threshold)
            factor = 4 if event.annealed else 1
            wanted = (factor * before.rho_measure, factor * before.rho_select)
            left = after.ledger.left
            if left <= 2 * sum(wanted):
                wanted = (Fraction(9, 10) * left, Fraction(1, 10) * left)
                assert after.last
            assert (after.rho_measure, after.rho_select) == wanted
            seen.add(event.annealed)
    assert seen == {True, False}


def test_the_last_round_s_budget_is_all_that_is_left(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 3)
    states, events, release = play(
        engine.AimGrem(completion="none"), table, workload, rho=1, rng=engine.rehearsal_noise(0)
    )
    assert events[-2].last
    before = states[-3]
    assert before.last
    assert before.rho_measure + before.rho_select == before.ledger.left
    assert release.ledger.left <= Fraction(1, 10**9)


def test_a_run_of_the_total_alone_spends_all_of_rho_on_it(table: engine.Table) -> None:
    workload = engine.Workload([()], table.domain)
    run = engine.run(engine.AimGrem(completion="none"), table, workload, rho=Fraction(1, 3), seed=0)
    assert run.rounds == ()
    assert run.release.ledger.entries == (engine.Charge("measure", (), Fraction(1, 3)),)
    assert run.release.ledger.left == 0
    assert run.events[0].max_rounds == 0
    assert run.release.estimate().variance == pytest.approx(1.5)


def test_there_are_never_more_rounds_than_the_start_says_with_iid_noise() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        domain, codes, workload = random_case(rng)
        table = engine.Table.from_codes(codes, domain)
        run = engine.run(
            engine.AimGrem(noise="iid", completion="none"), table, workload, rho=1, seed=seed
        )
        assert len(run.rounds) <= run.events[0].max_rounds


# -- work ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["crp", "iid"])
def test_a_lazy_round_touches_exactly_what_contains_a_measured_residual(
    table: engine.Table, noise: Any
) -> None:
    domain = table.domain
    workload = engine.Workload.all_kway(domain, 3)
    run = engine.run(engine.AimGrem(noise=noise, completion="none"), table, workload, rho=1, seed=1)
    for event in run.rounds:
        taus = [m.attrs for m in event.measurements]
        touched = [g for g in workload.closure if any(set(t) <= set(g) for t in taus)]
        assert event.work.marginals == len(touched)
        assert event.work.cells == sum(map(domain.cells, touched))
        assert event.work.scores == event.work.marginals
        assert event.work.residuals == len(taus)


def test_a_lazy_run_that_leaves_the_total_alone_does_less_than_a_full_one() -> None:
    domain = make_domain([5, 5, 5, 5])
    rng = np.random.default_rng(0)
    table = engine.Table.from_codes(rng.integers(0, 5, size=(40, 4)), domain)
    workload = engine.Workload.all_kway(domain, 3)
    lazy, full = (
        engine.run(engine.AimGrem(update=u, completion="none"), table, workload, rho=1, seed=0)  # type: ignore[arg-type]
        for u in ("lazy", "full")
    )
    everything = sum(map(domain.cells, workload.closure))
    assert {e.work.cells for e in full.rounds} == {everything}
    assert {e.work.scores for e in full.rounds} == {len(workload.closure)}
    assert sum(e.work.cells for e in lazy.rounds) < sum(e.work.cells for e in full.rounds)


# -- states ----------------------------------------------------------------------------------------


def test_a_state_can_be_stepped_twice_and_forked(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    mechanism, private = engine.AimGrem(completion="none"), engine.Private(table)
    rng = engine.rehearsal_noise(0)
    state, _ = mechanism.start(private, workload, rho=Fraction(1), rng=rng)
    one, event = mechanism.step(state, private, engine.rehearsal_noise(7))
    mechanism.step(one, private, engine.rehearsal_noise(8))
    again, repeated = mechanism.step(state, private, engine.rehearsal_noise(7))
    assert repeated.selected == event.selected
    assert again.ledger == one.ledger
    for tau, belief in one.beliefs.items():
        np.testing.assert_array_equal(belief.values, again.beliefs[tau].values)


def test_two_runs_on_one_private_do_not_disturb_each_other(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    alone = [
        engine.run(
            engine.AimGrem(completion="none"), table, workload, rho=1, seed=s
        ).release.to_dict()
        for s in (0, 1, 2)
    ]
    private = engine.Private(table)
    loops = [
        engine.rounds(
            engine.AimGrem(completion="none"),
            private,
            workload,
            rho=1,
            rng=engine.rehearsal_noise(s),
        )
        for s in (0, 1, 2)
    ]
    states: list[Any] = [None] * 3
    going = True
    while going:
        going = False
        for k, loop in enumerate(loops):
            for state, _ in [x for x in [next(loop, None)] if x is not None]:
                states[k], going = state, True
    for state, expected in zip(states, alone, strict=True):
        found = engine.AimGrem(completion="none").release(state).to_dict()
        # What the table has spent in all runs is added by run alone.
        assert found == {name: part for name, part in expected.items() if name != "table"}


def test_a_finished_run_takes_no_further_step(table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    private, rng = engine.Private(table), engine.rehearsal_noise(0)
    for mechanism in all_mechanisms().values():
        states, _, _ = play(mechanism, private, workload, rho=1, rng=rng)
        with pytest.raises(engine.OptionError, match="finished"):
            mechanism.step(states[-1], private, rng)


@pytest.mark.parametrize(
    "options",
    [{"update": "eager"}, {"noise": "laplace"}, {"update": None}, {"noise": ["crp"]},
     {"omit_below": -0.1}, {"omit_below": 1.0}, {"omit_below": float("nan")}, {"omit_below": "x"},
     {"omit_below": True}, {"respend": "no"}],
)  # fmt: skip
@pytest.mark.parametrize("kind", [engine.AimGrem, engine.FixedSequence])
def test_an_option_that_does_not_exist_is_refused(kind: Any, options: dict[str, Any]) -> None:
    with pytest.raises(engine.OptionError) as caught:
        kind(**options)
    assert caught.value.code == "E_OPTION"
    assert next(iter(options)) in str(caught.value)


def test_the_default_completes_by_maximum_entropy_in_the_loop() -> None:
    default = engine.AimGrem()
    assert default == engine.AimGrem(completion="sparse", in_loop=True)
    assert (default.completion, default.in_loop) == ("sparse", True)
    assert (default.allocation, default.nominal, default.finish) == (
        "workload",
        "attribute",
        "plan",
    )
    assert default.settings == engine.AimGrem(completion="sparse", in_loop=True).settings


@pytest.mark.parametrize("plain", [engine.AimGrem.paper(), engine.AimGrem(completion="none")])
def test_the_paper_and_plain_rounds_have_none_of_it(plain: engine.AimGrem) -> None:
    assert (plain.completion, plain.in_loop) == ("none", False)
    assert (plain.allocation, plain.nominal, plain.finish) == ("marginal", "closure", "rounds")
    assert plain.settings.endswith("completion='none')")


def test_the_paper_preset_leaves_omitted_slivers_unspent_and_is_otherwise_plain() -> None:
    assert engine.AimGrem.paper() == engine.AimGrem(respend=False, completion="none")
    assert not engine.AimGrem.paper().respend
    assert engine.AimGrem.paper() != engine.AimGrem(completion="none")


def test_every_candidate_stays_selectable_even_if_already_measured() -> None:
    domain = make_domain([2, 2])
    table = engine.Table.from_codes([[0, 0]] * 30 + [[1, 1]] * 10, domain)
    workload = engine.Workload.all_kway(domain, 2)
    chosen = [
        e.selected
        for seed in range(5)
        for e in engine.run(
            engine.AimGrem(completion="none"), table, workload, rho=2, seed=seed
        ).rounds
    ]
    assert len(chosen) > len(set(chosen))
    assert set(chosen) <= set(subsets((0, 1))) - {()}


def test_a_larger_budget_from_here_keeps_what_was_spent_and_spends_the_rest() -> None:
    domain = make_domain([4, 3, 2])
    codes = np.random.default_rng(3).integers(0, [4, 3, 2], (300, 3))
    private = engine.Private(engine.Table.from_codes(codes, domain))
    workload, aim_grem = engine.Workload.all_kway(domain, 2), engine.AimGrem(completion="none")
    states, events, _ = play(aim_grem, private, workload, rho=1, rng=engine.rehearsal_noise(0))
    for at in range(len(events) - 2):
        fork = aim_grem.with_budget(states[at], rho=Fraction(3))
        assert fork.ledger.entries == states[at].ledger.entries
        assert fork.ledger.total == 3
        factor = fork.ledger.left / states[at].ledger.left
        assert fork.rho_measure == factor * states[at].rho_measure
        rng = engine.rehearsal_noise(1)
        while not aim_grem.done(fork):
            fork, event = aim_grem.step(fork, private, rng)
        assert event.last
        assert Fraction(299, 100) < fork.ledger.spent <= 3
    same = aim_grem.with_budget(states[0], rho=Fraction(1))
    assert same == states[0], "the same budget is no fork"
    assert states[0].ledger.total == 1


def test_a_fork_is_refused_where_nothing_is_left_to_do() -> None:
    domain = make_domain([3, 2])
    table = engine.Table.from_codes([[0, 0]] * 9, domain)
    workload, aim_grem = engine.Workload.all_kway(domain, 2), engine.AimGrem(completion="none")
    states, _, _ = play(aim_grem, table, workload, rho=1, rng=engine.rehearsal_noise(0))
    for state, rho in ((states[-1], Fraction(2)), (states[0], states[0].ledger.spent)):
        with pytest.raises(engine.BudgetError, match="leaves nothing to do") as caught:
            aim_grem.with_budget(state, rho=rho)
        assert caught.value.code == "E_OVERSPEND"
