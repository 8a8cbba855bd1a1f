"""Exact noise: bounds that hold, nothing drawn that was not paid, no floating point, no seed."""

from __future__ import annotations

import ast
import inspect
import math
import multiprocessing
import os
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import engine
from engine import exact_draws, exact_noise
from engine.exact_noise import ExactNoise, GridScores

VARIANCES = st.one_of(
    st.fractions(min_value=Fraction(1, 4000), max_value=100),
    st.fractions(min_value=1, max_value=10**12),
    st.integers(1, 2**72).map(Fraction),
)


@given(VARIANCES, st.lists(st.integers(0, 2**45), min_size=1, max_size=20), st.data())
def test_the_bounds_of_an_exponent_hold(
    variance: Fraction, sizes: list[int], data: st.DataObject
) -> None:
    law = exact_draws._Gaussian.of(variance)
    near = data.draw(st.lists(st.integers(0, 12 * law.scale), min_size=1, max_size=20))
    size = np.array([*sizes, *near, 0, law.scale, int(variance / law.scale)], dtype=np.int64)
    low, high = law.bounds(size)
    for k, s in enumerate(size.tolist()):
        x = law.exponent(s) * 2**40
        assert low[k] <= x
        if low[k] < 64 << 40:
            assert high[k] >= x
            # And close enough that fractions are seldom needed.
            assert high[k] - low[k] <= 2**24


def test_the_bounds_of_exp_minus_one_hold_and_are_close() -> None:
    import mpmath

    with mpmath.workdps(80):
        for n in (0, 5, 62, 124, 200):
            low, high = exact_draws._around_exp(n)
            exact = mpmath.exp(-1) * 2**n
            assert low <= exact <= high
            assert high - low <= 2


@given(st.integers(1, 2**40))
def test_uniform_numbers_stay_below_their_limit(limit: int) -> None:
    drawn = exact_draws._below(limit, 200)
    assert drawn.min() >= 0
    assert drawn.max() < limit


def test_no_floating_point_number_is_made_on_the_way() -> None:
    tree = ast.parse(inspect.getsource(exact_draws) + inspect.getsource(exact_noise))
    quotients = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "_spend":
            node.body = []  # its message writes a budget for people
        elif isinstance(node, ast.FunctionDef) and node.name == "gaussian":
            node.args = ast.arguments([], [], None, [], [], None, [])  # it refuses them
    for node in ast.walk(tree):
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), node.lineno
        assert not (isinstance(node, ast.Name) and node.id == "float"), node.lineno
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            quotients.add(ast.unparse(node))
    # Each has a fraction above or below.
    assert quotients == {
        "2 * REACH / epsilon", "self.epsilon / (2 * self.reach)", "self.epsilon ** 2 / 8",
        "exact(int(ahead[j])) / k", "f / k", "self.variance / self.scale", "variance / scale",
        "sensitivity / (2 * variance)",
        "(size - self.variance / self.scale) ** 2 / (2 * self.variance)",
        "(size - variance / scale) ** 2 / (2 * variance)",
    }  # fmt: skip
    for variance in (Fraction(1, 2), Fraction(10**20), Fraction(1, 10**6)):
        drawn = exact_draws.discrete_gaussian(3, variance=variance)
        assert drawn.dtype in (np.dtype(np.int64), np.dtype(object))
        assert all(type(x) is int for x in drawn.tolist())


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), 0.5, math.nan, math.inf])
def test_a_variance_that_is_no_fraction_above_0_is_refused(variance: object) -> None:
    with pytest.raises(engine.BudgetError) as caught:
        exact_draws.discrete_gaussian(1, variance=variance)  # type: ignore[arg-type]
    assert caught.value.code == "E_VARIANCE"


def charge(rho: Fraction) -> engine.Charge:
    """A charge of so much."""
    return engine.Charge("measure", (), rho)


def test_nothing_is_drawn_that_was_not_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    urandom = os.urandom
    monkeypatch.setattr(os, "urandom", lambda n: drawn.append(n) or urandom(n))
    rng, cells = ExactNoise(), np.zeros((2, 3), dtype=np.int64)
    scores = GridScores(np.array([3, 0]), 4, Fraction(1))
    for draw in (
        lambda: rng.noisy(cells, variance=Fraction(4), sensitivity=1),
        lambda: rng.choose_exactly(scores),
    ):
        with pytest.raises(engine.BudgetError) as caught:
            draw()
        assert caught.value.code == "E_OVERSPEND"
    assert drawn == []
    rng.paid([charge(Fraction(1, 8)), charge(Fraction(1, 8))])
    assert rng.noisy(cells, variance=Fraction(4), sensitivity=1).shape == (2, 3)
    assert rng.choose_exactly(scores) in (0, 1)
    with pytest.raises(engine.BudgetError):
        rng.choose_exactly(scores)
    # Twice the sensitivity costs twice as much.
    rng.paid([charge(Fraction(1, 8))])
    with pytest.raises(engine.BudgetError):
        rng.noisy(cells, variance=Fraction(4), sensitivity=2)


def test_floating_point_noise_is_refused_by_an_exact_source() -> None:
    rng = ExactNoise()
    assert not rng.rehearsal
    for ask in (lambda: rng.gaussian((2,), variance=1.0), lambda: rng.choose(np.zeros(3))):
        with pytest.raises(engine.BudgetError) as caught:
            ask()
        assert caught.value.code == "E_INEXACT"


def _some(_: int) -> list[int]:
    return exact_draws.discrete_gaussian(8, variance=Fraction(10**12)).tolist()


def test_forked_processes_draw_different_noise() -> None:
    with multiprocessing.get_context("fork").Pool(4) as pool:
        streams = pool.map(_some, range(8))
    assert len({tuple(stream) for stream in streams}) == 8


def test_equal_shapes_are_kept_and_integers_of_any_size_are_added() -> None:
    rng = ExactNoise()
    rng.paid([charge(Fraction(10))])
    exact = np.arange(6, dtype=np.int64).reshape(1, 2, 3)
    assert rng.noisy(exact, variance=Fraction(1, 2), sensitivity=1).shape == (1, 2, 3)
    huge = rng.noisy(exact, variance=Fraction(10) ** 60, sensitivity=1)
    assert huge.shape == (1, 2, 3)
    assert max(map(abs, huge.ravel().tolist())) > 2**63
    assert rng.noisy(np.array(7), variance=Fraction(2), sensitivity=1).shape == ()


@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1, 1)), min_size=1, max_size=8),
    st.floats(1e-6, 10.0),
)
def test_log_weights_that_move_by_half_an_epsilon_move_by_reach_on_the_grid(
    weights: list[tuple[float, float]], epsilon: float
) -> None:
    one = np.array([w for w, _ in weights])
    other = one + np.array([move for _, move in weights]) * epsilon / 2
    # As computed: what rounding makes larger than epsilon / 2 is left out.
    within = [
        abs(Fraction(a) - Fraction(b)) <= Fraction(epsilon) / 2
        for a, b in zip(one.tolist(), other.tolist(), strict=True)
    ]
    other = np.where(within, other, one)
    before, after = (GridScores.of(w, Fraction(epsilon)) for w in (one, other))
    moved = [abs(a - b) for a, b in zip(before.units, after.units, strict=True)]
    assert max(moved) <= before.reach
    # A step of the grid is small in a log weight, and units say the same as the weights.
    for unit, weight in zip(before.units, one.tolist(), strict=True):
        assert 0 <= Fraction(weight) - unit * before.rate <= before.rate
    assert before.rate <= Fraction(epsilon) / 2**20


def test_log_weights_that_are_not_finite_are_refused() -> None:
    for wrong in (math.nan, math.inf, -math.inf):
        with pytest.raises(engine.BudgetError) as caught:
            GridScores.of(np.array([0.0, wrong]), Fraction(1))
        assert caught.value.code == "E_INEXACT"


# -- time (Haney et al. 2022; Jin et al. 2022) -----------------------------------------------------


def work_tells(
    draw: Callable[[], int], monkeypatch: pytest.MonkeyPatch, draws: int = 1_500
) -> float:
    """p-value of a rank test that the work of a draw, in random bytes, says nothing of its size."""
    urandom, asked = os.urandom, [0]

    def counting(n: int) -> bytes:
        asked[0] += n
        return urandom(n)

    found = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "urandom", counting)
        for _ in range(4_000):
            asked[0] = 0
            found.append((abs(draw()), asked[0]))
    size, work = np.array(found).T
    return float(stats.spearmanr(size, work).pvalue)


def test_the_work_of_one_draw_says_little_of_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random bytes stand for time: what is drawn one by one gives its size away."""
    variance = Fraction(100)
    alone = work_tells(lambda: exact_draws._gaussian_one(variance), monkeypatch)
    among = work_tells(
        lambda: int(exact_draws.discrete_gaussian(1, variance=variance)[0]), monkeypatch
    )
    assert alone < 1e-9
    assert among > 1e-6
