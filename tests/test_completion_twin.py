"""The completed mechanism beside its plain twin: tables after every round, scores, decisions.

Tables agree to 1e-9 of their norm; where fits stop, the twin stops by the same rule.
"""

# Over 400 lines: one mechanism written twice; the twin is read beside its tests.

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine import compiling
from engine.completing import completed, triples
from engine.completing.completed import Completed
from engine.domain import subsets
from engine.layout import Layout
from engine.mechanisms.rescoring import CompletedCandidates
from engine.released import Beliefs, Measurement
from tests.reference.completed_rounds import Problem
from tests.reference.completion import Completion
from tests.support import RELATIVE, Tape, make_domain, relative_error


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    """Compiled throughout: from halfway on, sums would be rounded otherwise."""
    with compiling.free_work(0):
        yield


Attrs = tuple[int, ...]


def plain(beliefs: Beliefs) -> dict[Attrs, tuple[np.ndarray, float]]:
    """Beliefs as the twin has them."""
    return {tau: (belief.values, belief.precision) for tau, belief in beliefs.items()}


# -- random sequences of measurements ------------------------------------------------------------


@st.composite
def sequences(draw: Any, *, most: int, attributes: int = 4) -> Any:
    """A layout, and some rounds of noisy residuals of correlated records.

    Rounds measure what a mechanism's do: all within one marginal, everything of a degree, one
    residual again. Noise goes from nothing to everything.
    """
    d = draw(st.sampled_from([k for k in (4, 4, 3, 4, 3, 2, 1) if k <= attributes]))
    sizes = draw(st.lists(st.sampled_from([2, 3, 2, 4, 1]), min_size=d, max_size=d))
    if draw(st.integers(0, 5)) == 0:
        sizes[draw(st.integers(0, len(sizes) - 1))] = draw(st.integers(5, 8))
    every = tuple(range(len(sizes)))
    real = [t for t in subsets(every) if all(sizes[i] > 1 for i in t)]
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    records = draw(st.sampled_from([400, 4000, 12, 0]))
    first = rng.integers(0, 12, records)
    columns = [
        np.where(rng.random(records) < 0.7, first, rng.integers(0, 12, records)) for _ in sizes
    ]
    full = np.zeros(sizes)
    np.add.at(full, tuple(c % n for c, n in zip(columns, sizes, strict=True)), 1.0)
    rounds = []
    for _ in range(draw(st.integers(1, most))):
        kinds = ["path", "path", "path", "pair", "within", "degree", "one", "ones"]
        kind = draw(st.sampled_from(kinds))
        if kind == "path" and len(real) == 16 and draw(st.booleans()):
            # Two ways from a to c, the better one later.
            a, x, c, y = draw(st.permutations(every))
            for middle, precision in ((x, 0.1), (y, 100.0)):
                legs = [tuple(sorted(leg)) for leg in ((a, middle), (middle, c))]
                rounds.append([noisy(full, every, leg, precision, rng) for leg in legs])
            continue
        pairs = [t for t in real if len(t) == 2]
        chosen = draw(st.sampled_from((pairs if kind in ("path", "pair") else real[-6:]) or real))
        if kind == "within":
            taus = [t for t in real if set(t) <= set(chosen)]
        elif kind in ("one", "pair"):
            taus = [chosen]
        elif kind == "path":  # two pairs that share an attribute
            others = [t for t in pairs if len({*t, *chosen}) == 3]
            taus = [chosen, *([draw(st.sampled_from(others))] if others else [])]
        else:
            degree = 1 if kind == "ones" else len(chosen)
            taus = [t for t in real if len(t) == degree] or [chosen]
        precision = 10.0 ** draw(st.sampled_from([0, 1, -1, 3, -3]))
        rounds.append([noisy(full, every, tau, precision, rng) for tau in taus])
    ones = [noisy(full, every, t, 0.1, rng) for t in real if len(t) < 2]
    return Layout(sizes, subsets(every)), [ones, *rounds]


def noisy(
    full: np.ndarray, every: Attrs, tau: Attrs, precision: float, rng: np.random.Generator
) -> Measurement:
    """A residual with noise."""
    exact = full.sum(axis=tuple(i for i in every if i not in tau))
    values = engine.decompose(exact + rng.normal(size=exact.shape) / math.sqrt(precision), tau, tau)
    return Measurement(tau, values, precision)


def branches(tables: Completed, before: dict[str, Any], changed: set[Attrs]) -> Iterator[str]:
    """Name what a step made the engine do, from its own state before and after."""
    sizes, beliefs = tables.layout.sizes, tables.beliefs
    for a, c in combinations(range(len(sizes)), 2):
        was, now = int(before["through"][a, c]), int(tables._through[a, c])
        measured = (a, c) in beliefs
        if not measured and was >= 0 and now >= 0:
            yield "re-routed pair" if was != now else "pair on the route it had"
            legs = {tuple(sorted((a, now))), tuple(sorted((now, c)))}
            if was == now and legs & changed and not {(a,), (c,), ()} & changed:
                yield "route whose leg alone moved"
        if not measured and was < 0 <= now:
            yield "product replaced by a route"
        if measured and (a, c) in changed and was >= 0:
            yield "route replaced by a measurement"
        if not measured and now < 0:
            yield "pair completed as a product"
    larger = [t for t in beliefs if len(t) >= 3]
    if any(len(t) == 3 for t in changed):
        yield "measured triple"
        if any(len(g) > 3 for g in tables.layout.sets if any(set(t) < set(g) for t in larger)):
            yield "superset of a measured triple"
    for degree in (2, 3):
        learns = any(
            len(t) == degree and tables._free(t) <= completed.LEARNERS and degree in tables._learned
            for t in beliefs
        )
        if learns:
            yield f"learned interactions of {degree}"
        if learns and any(len(t) == degree for t in changed) and degree in before["learned"]:
            yield f"interactions of {degree} that learned before and learn again"
        if degree in before["learned"] and degree not in tables._learned:
            yield "interactions that learn no more"
    if larger and not any(len(t) >= 3 for t in changed):
        yield "measured triple whose pairs moved"
    if any(n == 1 for n in sizes):
        yield "attribute with one value"
    if any(n >= 5 and (i,) in beliefs for i, n in enumerate(sizes)):
        yield "smooth prior"
    total = tables.table(())
    yield "no records left" if total == 0 else "records"
    if () not in changed and any(len(t) == 1 for t in changed):
        yield "one attribute alone"
    if Completed(tables.layout, beliefs, "lowered").table(()) < total:
        yield "lowered total"


REACHED = {
    "re-routed pair", "pair on the route it had", "route whose leg alone moved",
    "product replaced by a route", "route replaced by a measurement", "pair completed as a product",
    "measured triple", "superset of a measured triple", "measured triple whose pairs moved",
    "learned interactions of 2", "learned interactions of 3",
    "interactions of 2 that learned before and learn again", "attribute with one value",
    "smooth prior", "no records left", "records", "one attribute alone", "lowered total",
}  # fmt: skip
"""What the quick profile's cases must reach, each at least three times."""


def test_tables_kept_up_to_date_are_the_rebuilt_ones_in_every_branch() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=150)
    @given(sequences(most=5), st.sampled_from(["unbiased", "lowered"]), st.data())
    def every_step(case: Any, total: Any, data: Any) -> None:
        layout, rounds = case
        beliefs = Beliefs()
        tables = Completed(layout, beliefs, total)
        before = {attrs: tables.table(attrs) for attrs in layout.sets}
        for measured in rounds:
            state = {"through": tables._through.copy(), "learned": set(tables._learned)}
            beliefs = beliefs.combined(measured)
            changes = beliefs.changes_since(tables.beliefs, [m.attrs for m in measured])
            touched = {layout.sets[k] for k in tables.advance(beliefs, changes)}
            reached.update(branches(tables, state, set(changes)))
            rebuilt = Completed(layout, beliefs, total)
            assert np.array_equal(tables._completed_by, rebuilt._completed_by)
            assert np.array_equal(tables._implied, rebuilt._implied)
            for attrs in layout.sets:
                table = tables.table(attrs)
                assert np.array_equal(table, rebuilt.table(attrs)), attrs
                if attrs not in touched:
                    assert np.array_equal(table, before[attrs]), attrs
                before[attrs] = table
        # A fork: the beliefs of before, and another round.
        fork = beliefs.combined(data.draw(st.sampled_from(rounds)))
        tables.advance(fork, fork.changes_since(beliefs))
        for attrs in layout.sets:
            assert np.array_equal(tables.table(attrs), Completed(layout, fork, total).table(attrs))

    every_step()
    assert not REACHED - {name for name, n in reached.items() if n >= 3}, str(dict(reached))


@settings(max_examples=25)
@given(sequences(most=4))
def test_tables_with_zeros_of_their_own_kept_up_to_date_are_the_rebuilt_ones(case: Any) -> None:
    layout, rounds = case
    beliefs = Beliefs()
    tables = Completed(layout, beliefs, kind="sparse")
    for measured in rounds:
        beliefs = beliefs.combined(measured)
        tables.advance(beliefs, beliefs.changes_since(tables.beliefs))
        rebuilt = Completed(layout, beliefs, kind="sparse")
        for attrs in layout.sets:
            assert np.array_equal(tables.table(attrs), rebuilt.table(attrs)), attrs


@settings(max_examples=30)
@given(sequences(most=3, attributes=3), st.booleans(), st.booleans())
def test_tables_are_those_of_the_plain_twin(case: Any, lowered: bool, zeros: bool) -> None:
    layout, rounds = case
    beliefs = Beliefs()
    total = "lowered" if lowered else "unbiased"
    tables = Completed(layout, beliefs, total, "sparse" if zeros else "maxent")
    for measured in rounds:
        beliefs = beliefs.combined(measured)
        tables.advance(beliefs, beliefs.changes_since(tables.beliefs))
    check(tables, Completion(layout.sizes, plain(beliefs), lowered, zeros))


def check(tables: Completed, twin: Completion) -> None:
    """Compare every table, and what finishing thinks interactions are worth."""
    total = twin.total()
    for attrs in tables.layout.sets:
        found, expected = tables.table(attrs), twin.table(attrs)
        assert relative_error(found, expected) <= RELATIVE * max(1.0, 1.0 / max(total, 1e-3)), attrs
    expected_precisions = tables.expected_precisions()
    for tau, precision in expected_precisions.items():
        assert precision == pytest.approx(twin.expected_precision(tau), rel=RELATIVE)


def beliefs_of_four(seed: int, *, measured: list[Attrs], precision: float) -> Beliefs:
    """Noisy residuals of four correlated attributes, the total and 1-ways among them."""
    rng = np.random.default_rng(seed)
    full = rng.gamma(0.5, 40.0, (2, 3, 2, 3))
    every = (0, 1, 2, 3)
    sets = [t for t in subsets(every) if len(t) < 2] + measured
    return Beliefs().combined([noisy(full, every, t, precision, rng) for t in sets])


PAIRS = list(combinations(range(4), 2))


@pytest.mark.parametrize("precision", [1e-2, 1.0])
@pytest.mark.parametrize(
    "measured",
    [PAIRS, [*PAIRS, *combinations(range(4), 3)], [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 1, 2)],
     [*subsets((0, 1, 2))[4:], (0, 3), (0, 1, 2, 3)]],
    ids=["learned pairs", "learned triples", "paths", "a triple alone", "a triple within four"],
)  # fmt: skip
def test_four_attributes_are_completed_as_the_twin_does(
    measured: list[Attrs], precision: float
) -> None:
    beliefs = beliefs_of_four(len(measured), measured=measured, precision=precision)
    layout = Layout((2, 3, 2, 3), subsets((0, 1, 2, 3)))
    check(Completed(layout, beliefs), Completion(layout.sizes, plain(beliefs)))


def test_a_pair_cut_at_zero_still_agrees_with_its_tables_of_one_attribute() -> None:
    # Product and interaction agree with them anyway, until a negative cell is cut.
    rng = np.random.default_rng(4)
    strength = np.array([[1.05, 0.8, 0.5, 0], [0.5, 2, 4, 5], [0.5, 2, 5, 0], [0, 3, 0, 20]])
    full = np.outer([900, 60, 30, 10], [800, 150, 40, 10]) / 1000 * strength
    taus = subsets((0, 1))
    for precision in (1e-4, 1e-3, 1e-2, 0.1, 1.0):
        measured = [noisy(full, (0, 1), t, precision, rng) for t in taus]
        tables = Completed(Layout((4, 4), taus), Beliefs().combined(measured))
        pair = tables.table((0, 1))
        for axis in (0, 1):
            one = tables.table((1 - axis,))
            # Without raking: 4e-4 to 2e-3 of the records.
            assert np.abs(pair.sum(axis=axis) - one).max() <= 1e-7 * one.sum()
        check(tables, Completion((4, 4), plain(tables.beliefs)))


@pytest.mark.parametrize("precision", [1e-2, 1.0, 1e3])
def test_attributes_that_follow_each_other_are_completed_as_the_twin_does(precision: float) -> None:
    rng, every = np.random.default_rng(1), (0, 1, 2)
    full = np.zeros((6, 6, 3))
    for a in range(6):
        full[a, a] = 300.0 / (a + 1)
        full[a, (a + 1) % 6, 0] = 2.0
    beliefs = Beliefs().combined([noisy(full, every, t, precision, rng) for t in subsets(every)])
    tables = Completed(Layout(full.shape, subsets(every)), beliefs, kind="sparse")
    check(tables, Completion(full.shape, plain(beliefs), zeros=True))
    plainer = Completed(tables.layout, beliefs)
    # Its own zeros are taken for what they are: fewer records lie where there is none.
    empty = full.sum(axis=2) == 0
    assert tables.table((0, 1))[empty].sum() < 0.8 * plainer.table((0, 1))[empty].sum()
    assert tables.table((0, 1)).sum() == pytest.approx(tables.total)


def test_a_long_attribute_with_neighbours_alike_is_completed_as_the_twin_does() -> None:
    rng = np.random.default_rng(0)
    truth = 900.0 * np.exp(-0.5 * ((np.arange(40) - 12) / 7.0) ** 2) / 17.0
    full = np.outer(truth, [0.4, 0.6])
    for precision in (1e-4, 1e-2, 100.0):
        measured = [noisy(full, (0, 1), t, precision, rng) for t in subsets((0, 1))]
        beliefs = Beliefs().combined(measured)
        layout = Layout((40, 2), subsets((0, 1)))
        check(Completed(layout, beliefs), Completion(layout.sizes, plain(beliefs)))


# -- rounds ---------------------------------------------------------------------------------------


def correlated(seed: int, sizes: tuple[int, ...], records: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    first = rng.geometric(0.4, records) - 1
    shift = [rng.integers(0, 3, records) * (rng.random(records) < 0.3) for _ in sizes]
    return np.stack([(first + s) % n for s, n in zip(shift, sizes, strict=True)], axis=1)


RUNS = {
    "rounds": ((3, 4, 2), 300, {"finish": "rounds"}, "0.02"),
    "rounds, lowered": ((3, 4, 2), 300, {"finish": "rounds", "total": "lowered"}, "0.001"),
    "four attributes": ((2, 3, 1, 2), 200, {"finish": "rounds"}, "0.2"),
    "decided by asking": ((3, 2, 4), 250, {"finish": "auto"}, "0.05"),
    "everything at once": ((3, 2, 4), 250, {"finish": "auto"}, "5"),
    "nothing to ask": ((3, 2, 4), 250, {"finish": "auto"}, "0.00001"),
}


@pytest.mark.parametrize("name", list(RUNS))
def test_every_round_is_the_plain_twin_s(name: str) -> None:
    sizes, records, options, budget = RUNS[name]
    codes, rho = correlated(3, sizes, records), Fraction(budget)
    domain = make_domain(sizes)
    weights = {attrs: 1.0 + attrs[0] for attrs in combinations(range(len(sizes)), 3)}
    workload = engine.Workload(weights | {(0, 1): 2.0}, domain)
    problem = Problem(sizes, dict(workload.weights))
    private = engine.Private(engine.Table.from_codes(codes, domain))
    mechanism, tape = engine.AimGrem(**options), Tape(seed=1)
    lowered = mechanism.total == "lowered"
    before: Any = None
    drawn = 0
    for state, event in engine.rounds(mechanism, private, workload, rho=rho, rng=tape):
        laws, drawn = tape.laws[drawn:], len(tape.laws)
        if isinstance(event, engine.Started):
            check_start(problem, codes, state, event, laws, rho, lowered)
        elif isinstance(event, engine.RoundEnded):
            check_round(problem, codes, before, event, laws, lowered)
        twin = Completion(sizes, plain(state.beliefs), lowered, zeros=True)
        release = mechanism.release(state)
        for attrs in problem.closure:
            answer = release.estimate(*attrs).values
            assert relative_error(answer, twin.table(attrs)) <= RELATIVE
        before = state
    assert release.ledger.spent <= rho


def check_start(
    problem: Problem, codes: np.ndarray, state: Any, event: Any, laws: list[Any],
    rho: Fraction, lowered: bool,
) -> None:  # fmt: skip
    """1-way marginals at the first budgets, and the decision."""
    rho_m, _ = problem.first_budgets(rho)
    ones = [t for t in problem.closure if len(t) == 1]
    assert [(c.what, c.attrs, c.rho) for c in event.charges[: len(ones)]] == [
        ("measure", t, rho_m) for t in ones
    ]
    for (kind, (_, variance)), _ in zip(laws, ones, strict=False):
        assert (kind, variance) == ("gaussian", pytest.approx(float(1 / (2 * rho_m))))
    asked = event.charges[len(ones) :]
    if event.decision is None:
        assert not asked
        return
    twin = Completion(problem.sizes, plain(state.beliefs), lowered)
    price = problem.price_of_asking(twin.beliefs, rho)
    known = {t: a for t, (_, a) in twin.beliefs.items()}
    left = rho - rho_m * len(ones)
    leaves = problem.left_by_everything(known, left - price)
    assert f"leave a mean L1 error of {leaves:,.0f}" in event.decision
    bar = problem.worth_of_rounds() * leaves
    if bar > 2 * max(float(twin.beliefs[()][0]), 1.0):
        assert not asked
        assert not state.whole
        return
    assert [(c.what, c.attrs, c.rho) for c in asked] == [("select", None, price)]
    assert laws[-1] == ("gaussian", ((), pytest.approx(float(1 / (2 * price)))))
    told = float(event.decision.split("now it is ")[1].split(",")[0].replace(",", ""))
    # Asked once: the answer is the error rounded down, and the noise that was drawn.
    exact = problem.mean_error(codes, twin)
    assert abs(told - exact) <= 6 * math.sqrt(float(1 / (2 * price))) + 1
    assert state.whole == (bar <= told)


def check_round(
    problem: Problem, codes: np.ndarray, before: Any, event: Any, laws: list[Any], lowered: bool
) -> None:
    """Scores, and the precision bought for each residual."""
    twin = Completion(problem.sizes, plain(before.beliefs), lowered)
    known = {t: a for t, (_, a) in twin.beliefs.items()}
    if before.whole:
        assert event.selected is None
        worth = {t: twin.expected_precision(t) for t in problem.closure if len(t) > 1}
        base = {t: known.get(t, 0.0) + worth.get(t, 0.0) for t in problem.closure}
        planned = problem.plan(base, before.rho_measure)
    else:
        kind, law = laws.pop(0)
        assert kind == "choose"
        expected = problem.log_weights(codes, twin, before.rho_measure, before.rho_select)
        scale = float(np.abs(expected).max())
        np.testing.assert_allclose(law, expected, rtol=1e-6, atol=1e-7 * scale)
        among = {*subsets(event.selected), *known}
        planned = problem.plan(known, before.rho_measure, among=among, omit_below=1e-3)
    bought = {a.attrs: a.added for a in event.allocations}
    top = max(planned.values())
    for tau, added in planned.items():
        assert bought.get(tau, 0.0) == pytest.approx(added, rel=1e-7, abs=1e-9 * top)
    variances = [variance for _, (_, variance) in laws]
    measured = [a for a in event.allocations if a.added > 0]
    assert variances == pytest.approx([1 / a.added for a in measured])
    assert [m.attrs for m in event.measurements] == [a.attrs for a in measured]
    assert all(c.rho == problem.cost(c.attrs) * Fraction(b.added) / 2
               for c, b in zip(event.charges[-len(measured):], measured, strict=True))  # fmt: skip


def test_forks_of_a_run_are_scored_and_answered_as_the_twin_does() -> None:
    sizes = (3, 2, 4)
    codes = correlated(5, sizes, 300)
    domain = make_domain(sizes)
    workload = engine.Workload.all_kway(domain, 3)
    problem = Problem(sizes, dict(workload.weights))
    private = engine.Private(engine.Table.from_codes(codes, domain))
    mechanism = engine.AimGrem(finish="rounds")
    rng = engine.rehearsal_noise(0)
    states = [mechanism.start(private, workload, rho=Fraction(1, 50), rng=rng)[0]]
    for seed in range(6):
        # Each fork takes the state of two steps before, with noise of its own.
        state = states[max(0, len(states) - 2 - seed % 2)]
        after, _ = mechanism.step(state, private, engine.rehearsal_noise(seed))
        twin = Completion(sizes, plain(after.beliefs))
        answers = replace(twin, zeros=True)
        errors = problem.errors(codes, twin)
        found = CompletedCandidates(private, workload, after.beliefs)
        lent = mechanism.scores(after, private) if not after.finished else None
        for k, attrs in enumerate(workload.closure):
            assert found.l1[k] == pytest.approx(errors[attrs], rel=1e-7, abs=1e-7)
            if lent is not None and k:
                weight = workload.candidate_weights()[k]
                assert lent.error_term[k - 1] == pytest.approx(weight * errors[attrs], abs=1e-5)
            answer = mechanism.release(after).estimate(*attrs).values
            assert relative_error(answer, answers.table(attrs)) <= RELATIVE
        states.append(after)


def test_a_pair_through_a_stronger_attribute_is_routed_anew() -> None:
    # 0 and 2 go through 1 as long as 3 says less of them.
    sizes = (3, 3, 3, 3)
    layout = Layout(sizes, subsets((0, 1, 2, 3)))
    rng = np.random.default_rng(1)
    full = np.zeros(sizes)
    value = rng.integers(0, 3, 900)
    noise = [np.where(rng.random(900) < p, rng.integers(0, 3, 900), value) for p in (0, 0.4, 0, 0)]
    np.add.at(full, tuple(noise), 1.0)
    ones = [noisy(full, (0, 1, 2, 3), t, 1.0, rng) for t in subsets((0, 1, 2, 3)) if len(t) < 2]
    weak = [noisy(full, (0, 1, 2, 3), t, 1.0, rng) for t in ((0, 1), (1, 2))]
    strong = [noisy(full, (0, 1, 2, 3), t, 1.0, rng) for t in ((0, 3), (2, 3))]
    beliefs = Beliefs().combined([*ones, *weak])
    tables = Completed(layout, beliefs)
    assert tables._through[0, 2] == 1
    assert tables._completed_by[0, 1] == triples.MEASURED
    first = tables.table((0, 2))
    after = beliefs.combined(strong)
    touched = tables.advance(after, after.changes_since(beliefs))
    assert tables._through[0, 2] == 3
    assert layout.index[(0, 2)] in touched
    assert relative_error(tables.table((0, 2)), first) > 0.1
    check(tables, Completion(sizes, plain(after)))
    # The way back: 3 is found to say nothing of 0, and no leg of the way through 1 moves.
    nothing = Measurement((0, 3), -after[(0, 3)].values, 1.0)
    last = after.combined([nothing])
    through_three = tables.table((0, 2))
    touched = tables.advance(last, last.changes_since(after))
    assert tables._through[0, 2] == 1
    assert layout.index[(0, 2)] in touched
    assert relative_error(tables.table((0, 2)), through_three) > 0.1
    check(tables, Completion(sizes, plain(last)))


@pytest.mark.parametrize(("error", "whole"), [(0.5, False), (0.99, False), (1.01, True)])
def test_the_decision_is_for_rounds_where_less_is_left_than_measuring_would_leave(
    monkeypatch: pytest.MonkeyPatch, error: float, whole: bool
) -> None:
    from engine.mechanisms import deciding

    sizes, rho = (3, 2, 4), Fraction(1, 4)
    domain = make_domain(sizes)
    workload = engine.Workload({(0, 1, 2): 1.0, (0, 1): 3.0}, domain)
    private = engine.Private(engine.Table.from_codes(correlated(1, sizes, 400), domain))
    problem = Problem(sizes, dict(workload.weights))
    asked: list[float] = []

    def measured(private: Any, _: int, *, rho: Fraction, ledger: Any, **__: Any) -> Any:
        return ledger, error * asked[0]

    monkeypatch.setattr(deciding, "measure_error", measured)
    started, _ = engine.AimGrem(finish="rounds").start(
        private, workload, rho=rho, rng=engine.rehearsal_noise(0)
    )
    known = {t: b.precision for t, b in started.beliefs.items()}
    price = problem.price_of_asking(plain(started.beliefs), rho)
    left = rho - sum(c.rho for c in started.ledger.entries)
    asked.append(problem.worth_of_rounds() * problem.left_by_everything(known, left - price))
    state, _ = engine.AimGrem(finish="auto").start(
        private, workload, rho=rho, rng=engine.rehearsal_noise(0)
    )
    assert state.whole is whole
