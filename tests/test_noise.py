"""Where randomness comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

import engine
from engine.noise import probabilities
from tests.strategies import numbers


def test_the_same_seed_repeats_noise_and_choices_and_another_does_not() -> None:
    def draws(seed: int | None) -> tuple[bytes, int]:
        rng = engine.rehearsal_noise(seed)
        noise = np.asarray(rng.gaussian((2, 3), variance=2.0)).tobytes()
        return noise, rng.choose(np.zeros(10**6))

    assert draws(5) == draws(5)
    assert draws(5) != draws(6)
    assert draws(None) != draws(None)


def test_two_sources_share_no_state_with_numpy_s_global_generator() -> None:
    first = engine.rehearsal_noise(1)
    expected = np.asarray(engine.rehearsal_noise(1).gaussian((5,), variance=1.0))
    engine.rehearsal_noise(2).gaussian((100,), variance=1.0)
    np.testing.assert_array_equal(first.gaussian((5,), variance=1.0), expected)


@pytest.mark.parametrize("variance", [0.0, -1.0, float("nan"), float("inf")])
def test_a_variance_that_would_give_no_noise_or_nan_is_refused(variance: float) -> None:
    with pytest.raises(engine.BudgetError, match="variance") as caught:
        engine.rehearsal_noise(0).gaussian((2,), variance=variance)
    assert caught.value.code == "E_VARIANCE"


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, 1j])
def test_a_seed_that_is_none_is_refused(seed: Any) -> None:
    with pytest.raises(engine.EngineError, match="seed") as caught:
        engine.rehearsal_noise(seed)
    assert caught.value.code == "E_SEED"


def test_noise_scales_with_the_standard_deviation_not_the_variance() -> None:
    one = engine.rehearsal_noise(3).gaussian((1000,), variance=1.0)
    four = engine.rehearsal_noise(3).gaussian((1000,), variance=4.0)
    np.testing.assert_allclose(four, 2 * np.asarray(one), rtol=1e-14)
    # Rounded towards more noise, never less.
    assert (np.abs(four) >= 2 * np.abs(one) * (1 - 2**-52)).all()


def test_noise_on_the_total_is_one_number() -> None:
    assert np.shape(engine.rehearsal_noise(0).gaussian((), variance=1.0)) == ()
    assert np.shape(engine.rehearsal_noise(0).gaussian((0, 3), variance=1.0)) == (0, 3)


@given(hnp.arrays(np.float64, 5, elements=numbers))
def test_probabilities_are_the_normalised_exponentials(log_weights: np.ndarray) -> None:
    found = probabilities(log_weights)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    k = int(log_weights.argmax())
    ratios = np.exp(log_weights - log_weights[k])
    np.testing.assert_allclose(found, ratios / ratios.sum(), rtol=1e-12, atol=1e-300)


def test_a_shift_of_all_log_weights_changes_nothing_and_overflows_nowhere() -> None:
    weights = np.array([0.0, 1.0, -700.0])
    for shift in (-1e6, 1e6, 1e300):
        shifted = probabilities(weights + shift)
        if abs(shift) < 1e7:
            np.testing.assert_allclose(shifted, probabilities(weights), rtol=1e-9)
        assert np.isfinite(shifted).all()


def test_a_certain_candidate_is_always_chosen_and_an_impossible_one_never() -> None:
    rng = engine.rehearsal_noise(0)
    chosen = {rng.choose(np.array([-2000.0, 0.0, -2000.0])) for _ in range(1000)}
    assert chosen == {1}
    assert engine.rehearsal_noise(0).choose(np.array([3.0])) == 0


def test_a_rehearsal_says_so_and_hides_its_state() -> None:
    rng = engine.rehearsal_noise(12345)
    assert rng.rehearsal
    assert "12345" not in repr(rng)
