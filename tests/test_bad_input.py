"""Check 6: bad input is a typed error saying what, needed and remedy, and spends nothing."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import engine
from engine.mechanisms import memory
from tests.support import Counting, all_mechanisms, make_domain

NO_NUMBERS = [0, 0.0, -1, -1e-9, float("nan"), float("inf"), "1", "", None, True, False, 1j, [1.0]]
BUDGETS: list[tuple[dict[str, Any], str]] = [
    *(({"epsilon": bad, "delta": 1e-9}, "E_EPSILON") for bad in NO_NUMBERS if bad is not None),
    *(({"epsilon": 1.0, "delta": bad}, "E_DELTA") for bad in NO_NUMBERS),
    *(({"rho": bad}, "E_RHO") for bad in NO_NUMBERS if bad is not None),
    ({"epsilon": 1e308, "delta": 1e-9}, "E_EPSILON"),
    ({"epsilon": 1000.1, "delta": 1e-9}, "E_EPSILON"),
    ({"epsilon": 1.0, "delta": 1}, "E_DELTA"),
    ({"epsilon": 1.0, "delta": 1.0}, "E_DELTA"),
    ({"epsilon": 1.0, "delta": 2}, "E_DELTA"),
    ({"epsilon": 1.0}, "E_DELTA"),
    ({"rho": 1.0, "delta": 1.5}, "E_DELTA"),
    ({"rho": 5e-324}, "E_RHO"),
    ({"rho": Fraction(1, 10**400)}, "E_RHO"),
    ({"rho": Fraction(10**400)}, "E_RHO"),
    ({"rho": Fraction(0)}, "E_RHO"),
    ({"rho": Fraction(-1)}, "E_RHO"),
    ({"rho": 1.0, "epsilon": 1.0, "delta": 1e-9}, "E_BUDGET_AMBIGUOUS"),
    ({"rho": 1.0, "epsilon": 1.0}, "E_BUDGET_AMBIGUOUS"),
    ({"delta": 1e-9}, "E_BUDGET_AMBIGUOUS"),
    ({}, "E_BUDGET_AMBIGUOUS"),
]


class Untouchable:
    """A source of counts that nobody may ask: bad input is refused before."""

    def __init__(self, domain: engine.Domain) -> None:
        self.domain = domain

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the records were asked for {name}")


def complete(message: str) -> bool:
    """Whether a message has its beats: at least two sentences, one of them what is needed."""
    sentences = [s for s in message.rstrip(".").split(". ") if s]
    return len(sentences) >= 2 and "Traceback" not in message


@pytest.mark.parametrize(("budget", "code"), BUDGETS, ids=lambda v: str(v)[:50])
def test_a_budget_that_is_none_is_refused_before_anything_happens(
    budget: dict[str, Any], code: str, domain: engine.Domain
) -> None:
    workload = engine.Workload.all_kway(domain, 2)
    for mechanism in (
        engine.AimGrem(completion="none"),
        engine.ResidualPlanner(),
        engine.FixedSequence(),
    ):
        with pytest.raises(engine.BudgetError) as caught:
            engine.run(mechanism, Untouchable(domain), workload, **budget)
        assert caught.value.code == code
        assert complete(str(caught.value))


@pytest.mark.parametrize("rho", [0, -1, float("nan"), float("inf"), "1", True])
def test_rounds_refuses_a_rho_that_is_none_before_any_noise_is_drawn(
    rho: Any, table: engine.Table
) -> None:
    rng = Counting()
    workload = engine.Workload.all_kway(table.domain, 2)
    for mechanism in all_mechanisms().values():
        with pytest.raises(engine.BudgetError) as caught:
            next(engine.rounds(mechanism, engine.Private(table), workload, rho=rho, rng=rng))
        assert caught.value.code == "E_RHO"
    assert rng.draws == 0


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_a_seed_that_is_none_is_refused(seed: Any, table: engine.Table) -> None:
    workload = engine.Workload.all_kway(table.domain, 2)
    with pytest.raises(engine.EngineError) as caught:
        engine.run(engine.AimGrem(completion="none"), table, workload, rho=1, seed=seed)
    assert caught.value.code == "E_SEED"


def test_a_table_and_a_workload_of_different_domains_are_refused_before_any_draw() -> None:
    rng = Counting()
    one, other = make_domain([2, 3]), make_domain([3, 2])
    renamed = engine.Domain.from_sizes({"x": 2, "y": 3})
    table = engine.Table.from_codes([[0, 0]], one)
    for wrong in (other, renamed):
        workload = engine.Workload.all_kway(wrong, 2)
        for mechanism in all_mechanisms().values():
            with pytest.raises(engine.WorkloadError) as caught:
                next(engine.rounds(mechanism, engine.Private(table), workload, rho=1, rng=rng))
            assert complete(str(caught.value))
    assert rng.draws == 0


def test_workloads_and_domains_that_are_none_are_refused_by_name() -> None:
    domain = engine.Domain.from_sizes({"age": 3, "sex": 2})
    cases: list[tuple[Any, type[Exception], str, str]] = [
        (lambda: engine.Workload([("age", "shoe")], domain), engine.WorkloadError,
         "E_WORKLOAD", "'shoe'"),
        (lambda: engine.Workload([], domain), engine.WorkloadError, "E_WORKLOAD", "no marginal"),
        (lambda: engine.Workload([("age", "age")], domain), engine.WorkloadError,
         "E_WORKLOAD", "'age'"),
        *((lambda w=w: engine.Workload({("age",): w}, domain), engine.WorkloadError,
           "E_WEIGHT", repr(w))
          for w in (0, -1, float("nan"), float("inf"), 1e300, True, "1", None)),
        (lambda: engine.Domain.from_sizes({"age": 0}), engine.DomainError, "E_DOMAIN", "'age'"),
        (lambda: engine.Attribute("age", values=("a", "b", "a")), engine.DomainError,
         "E_DOMAIN", "'a'"),
        (lambda: engine.Attribute("age", values=("\u00e9", "e\u0301")), engine.DomainError,
         "E_DOMAIN", "'age'"),
        (lambda: engine.Domain.from_sizes({"\u00e9": 2, "e\u0301": 2}), engine.DomainError,
         "E_DOMAIN", "twice"),
        (lambda: engine.Domain.from_sizes({}), engine.DomainError, "E_DOMAIN", "no attribute"),
    ]  # fmt: skip
    for make, kind, code, named in cases:
        with pytest.raises(kind) as caught:
            make()
        assert caught.value.code == code  # type: ignore[attr-defined]
        assert named in str(caught.value)
        assert complete(str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("make", "code", "named"),
    [
        (lambda d: engine.Table.from_codes([[0, 5]], d), "E_VALUE", "'sex'"),
        (lambda d: engine.Table.from_codes([[-1, 0]], d), "E_VALUE", "'age'"),
        (lambda d: engine.Table.from_codes([[0.0, 1.0]], d), "E_VALUE", "float64"),
        (lambda d: engine.Table.from_codes(np.array([[True, False]]), d), "E_VALUE", "bool"),
        (lambda d: engine.Table.from_codes([[0]], d), "E_COLUMN", "(1, 1)"),
        (lambda d: engine.Table.from_csv(b"age,sex\n3,0\n", d), "E_VALUE", "'age'"),
        (lambda d: engine.Table.from_csv(b"age,sex\n-1,0\n", d), "E_VALUE", "'age'"),
        (lambda d: engine.Table.from_csv(b"age,sex\n1.5,0\n", d), "E_VALUE", "'age'"),
        (lambda d: engine.Table.from_csv(b"age,sex\n1_0,0\n", d), "E_VALUE", "'age'"),
        (lambda d: engine.Table.from_csv(b"age,sex\n,0\n", d), "E_MISSING", "'age'"),
        (lambda d: engine.Table.from_csv(b"age\n1\n", d), "E_COLUMN", "'sex'"),
        (lambda d: engine.Table.from_csv(b"age,sex,age\n1,0,1\n", d), "E_COLUMN", "'age'"),
        (lambda d: engine.Table.from_csv(b"age,sex\n1,0,1\n", d), "E_CSV_SHAPE", "3 fields"),
        (lambda d: engine.Table.from_csv(b'age,sex\n1,"0\n', d), "E_CSV_SHAPE", "quotes"),
        (lambda d: engine.Table.from_csv("age,sex\n1,0\n".encode("utf-16"), d), "E_FORMAT",
         "UTF-8"),
        (lambda d: engine.Table.from_frame(pd.DataFrame({"age": [1]}), d), "E_COLUMN", "'sex'"),
        (lambda d: engine.Table.from_frame(pd.DataFrame({"age": [None], "sex": [0]}), d),
         "E_MISSING", "'age'"),
        (lambda d: engine.Table.from_frame(pd.DataFrame({"age": [7], "sex": [0]}), d), "E_VALUE",
         "'age'"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit_are_refused_by_attribute(make: Any, code: str, named: str) -> None:
    domain = engine.Domain.from_sizes({"age": 3, "sex": 2})
    with pytest.raises(engine.DataError) as caught:
        make(domain)
    assert caught.value.code == code
    assert named in str(caught.value)
    assert complete(str(caught.value)), str(caught.value)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("name", list(all_mechanisms()))
def test_a_table_with_no_or_one_record_runs_like_any_other(name: str, rows: int) -> None:
    domain = make_domain([3, 1, 2])
    table = engine.Table.from_codes([[2, 0, 1]] * rows, domain)
    for workload in (
        engine.Workload.all_kway(domain, 3),
        engine.Workload([()], domain),
        engine.Workload([(1,)], domain),
    ):
        run = engine.run(all_mechanisms()[name], table, workload, rho=1, seed=0)
        assert run.release.ledger.spent <= 1
        for estimate in run.release.estimates():
            assert np.isfinite(estimate.values).all()


@pytest.mark.parametrize("name", list(all_mechanisms()))
def test_one_valued_attributes_change_nothing_but_shapes(name: str) -> None:
    domain = make_domain([1, 3, 1, 2])
    table = engine.Table.from_codes([[0, 1, 0, 1], [0, 2, 0, 0]], domain)
    workload = engine.Workload([(0, 1, 2, 3), (0, 2)], domain)
    run = engine.run(all_mechanisms()[name], table, workload, rho=1, seed=0)
    assert run.release.estimate(0, 2).values.shape == (1, 1)
    assert run.release.estimate(0, 1, 2, 3).values.shape == (1, 3, 1, 2)
    for event in run.events:
        for m in getattr(event, "measurements", ()):
            assert not {0, 2} & set(m.attrs)


def test_a_domain_of_one_valued_attributes_only_measures_the_total() -> None:
    domain = make_domain([1, 1, 1])
    table = engine.Table.from_codes([[0, 0, 0]] * 5, domain)
    workload = engine.Workload.all_kway(domain, 3)
    for name, mechanism in all_mechanisms().items():
        run = engine.run(mechanism, table, workload, rho=100, seed=0)
        assert list(run.release.beliefs) == [()], name
        assert run.release.estimate(0, 1, 2).values.item() == pytest.approx(5, abs=1.5)


def test_a_run_that_cannot_fit_into_memory_is_refused_from_sizes_before_any_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Within what a workload may hold, beyond what a laptop has: 4 billion cells.
    monkeypatch.setattr(memory, "_memory", lambda: 8 << 30)
    domain = make_domain([1600, 1600, 1600])
    workload = engine.Workload([(0, 1, 2)], domain)
    rng = Counting()
    tracemalloc.start()
    try:
        for mechanism in all_mechanisms().values():
            with pytest.raises(engine.WorkloadError) as caught:
                next(
                    engine.rounds(
                        mechanism, engine.Private(_empty(domain)), workload, rho=1, rng=rng
                    )
                )
            assert caught.value.code == "E_TOO_LARGE"
            assert "GiB" in str(caught.value)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rng.draws == 0
    assert peak < 1 << 20


def _empty(domain: engine.Domain) -> engine.Table:
    return engine.Table.from_codes([], domain)


def test_budgets_at_the_edge_of_the_possible_run() -> None:
    domain = make_domain([3, 2])
    table = engine.Table.from_codes([[0, 0], [2, 1]], domain)
    workload = engine.Workload.all_kway(domain, 2)
    for budget in ({"epsilon": 1e-12}, {"epsilon": 700.0}, {"epsilon": 1000.0}):
        for name, mechanism in all_mechanisms().items():
            run = engine.run(mechanism, table, workload, **budget, delta=1e-9, seed=0)
            assert run.release.ledger.spent <= run.release.ledger.total, name
            for estimate in run.release.estimates():
                assert np.isfinite(estimate.values).all()
