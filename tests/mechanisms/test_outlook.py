"""What Setup says of plans beforehand: from public settings, then from released values."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

import engine
from engine.mechanisms import choosing, outlook
from tests.support import make_domain

SIZES = (4, 3, 5, 2)


def workload(k: int = 3, sizes: tuple[int, ...] = SIZES) -> engine.Workload:
    return engine.Workload.all_kway(make_domain(sizes), k)


def test_more_budget_leaves_less_and_the_plan_taken_leaves_least_of_those_measured() -> None:
    left = []
    for rho in ("0.0001", "0.01", "1"):
        ahead = outlook.before(workload(), Fraction(rho), records=2000)
        size, pairs, ones, exact = ahead.alternatives
        assert not ahead.released
        assert size.taken
        assert size.left <= pairs.left * 1.02
        assert pairs.left <= ones.left * 1.02
        assert exact.left <= ones.left
        left.append(size.left)
    assert left[0] > 2 * left[1] > 8 * left[2]


def test_rounds_are_foreseen_where_noise_hides_most_of_many_residuals() -> None:
    many = workload(sizes=(6,) * 13)
    hidden = outlook.before(many, Fraction(1, 10**5), records=5000)
    clear = outlook.before(many, Fraction(10), records=5000)
    assert "Rounds" in hidden.why
    assert not any(plan.taken for plan in hidden.alternatives)
    assert "By size" in clear.why
    assert "first answers" in hidden.why
    few = outlook.before(workload(), Fraction(1, 10**5), records=5000)
    assert "By size" in few.why
    assert "first answers" not in few.why


def test_beyond_the_size_up_to_which_plans_are_compared_none_is_forecast() -> None:
    huge = engine.Workload.all_kway(make_domain([2] * 32), 3)
    assert len(huge.closure) > choosing.MOST_RESIDUALS
    ahead = outlook.before(huge, Fraction(1), records=100)
    assert ahead.alternatives == ()
    assert "Rounds" in ahead.why


def test_after_the_first_answers_the_forecast_is_what_the_run_decided_by() -> None:
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, n, 800) for n in SIZES], axis=1)
    table = engine.Table.from_codes(codes, make_domain(SIZES))
    run = engine.run(engine.AimGrem(), table, workload(), rho=0.05, seed=1)
    spent = sum(charge.rho for charge in run.started.charges)
    first = next(iter(engine.beliefs_after(run.events)))
    ahead = outlook.after(workload(), first, run.release.ledger.total - spent)
    assert ahead.released
    assert run.started.decision is not None
    told = [float(number.replace(",", "")) for number in
            re.findall(r"([\d,]+) (?:if|with)", run.started.decision)]  # fmt: skip
    assert told == [round(plan.left) for plan in ahead.alternatives[:3]]


def test_without_a_declared_number_of_records_plans_are_not_compared() -> None:
    with pytest.raises(engine.OptionError, match="declared number"):
        outlook.before(workload(), Fraction(1), records=0)
