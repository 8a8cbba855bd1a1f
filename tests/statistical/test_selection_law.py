"""The exponential mechanism draws from the softmax law, and from no other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import engine
from engine.noise import probabilities
from tests.statistical.p_values import frequency_p_value
from tests.support import ALPHA, make_domain

DRAWS = 40_000


def chosen(log_weights: np.ndarray, seed: int) -> np.ndarray:
    """Many choices of the rehearsal's source."""
    rng = engine.rehearsal_noise(seed)
    return np.array([rng.choose(log_weights) for _ in range(DRAWS)])


def permute_and_flip(log_weights: np.ndarray, seed: int) -> np.ndarray:
    """Choices by permute-and-flip: another law, which does not satisfy epsilon²/8."""
    rng = np.random.default_rng(seed)
    accept = np.exp(log_weights - log_weights.max())
    found = []
    for _ in range(DRAWS):
        for k in rng.permutation(len(accept)):
            if rng.random() < accept[k]:
                found.append(int(k))
                break
    return np.array(found)


@pytest.mark.parametrize(
    "log_weights",
    [[0.5, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0], [5.0, 4.0, 0.0, -1000.0], list(np.linspace(0, 2, 40))],
    ids=["three", "four", "impossible", "many"],
)
def test_choices_follow_the_softmax_and_a_tenth_off_is_refused(log_weights: list[float]) -> None:
    weights = np.array(log_weights)
    found = chosen(weights, seed=1)
    assert frequency_p_value(found, probabilities(weights)) > ALPHA
    if len(log_weights) != 3:  # there a tenth is too little for so few draws: see permute-and-flip
        assert frequency_p_value(found, probabilities(1.1 * weights)) < ALPHA
        assert frequency_p_value(found, probabilities(weights / 1.1)) < ALPHA


@pytest.mark.parametrize(
    ("candidates", "likely"), [(10_000, 10_000), (400_000, 40)], ids=["attempts", "mostly sums"]
)
def test_among_many_candidates_the_law_is_the_softmax(candidates: int, likely: int) -> None:
    """Attempts succeed at once among equals; where few of many are likely, sums follow them."""
    kind = np.arange(candidates) % 40
    weights = np.linspace(0.0, 2.0, 40)[kind]
    weights[likely:] -= 60.0
    rng = engine.rehearsal_noise(7)
    found = kind[[rng.choose(weights) for _ in range(2_500)]]

    def law(log_weights: np.ndarray) -> np.ndarray:
        return np.bincount(kind, probabilities(log_weights), minlength=40)

    assert frequency_p_value(found, law(weights)) > ALPHA
    assert frequency_p_value(found, law(1.5 * weights)) < ALPHA
    assert frequency_p_value(found, law(0.6 * weights)) < ALPHA


def test_permute_and_flip_is_refused() -> None:
    weights = np.array([0.5, 0.0, 0.0])
    law = probabilities(weights)
    assert law[0] == pytest.approx(0.452, abs=5e-4)  # SECURITY, T6
    flipped = permute_and_flip(weights, seed=2)
    assert (flipped == 0).mean() == pytest.approx(0.516, abs=0.01)
    assert frequency_p_value(flipped, law) < ALPHA


def test_a_step_selects_with_the_probabilities_that_insight_shows() -> None:
    domain = make_domain([3, 2, 2])
    codes = [[k % 3, (k % 3) // 2, (k * k) % 2] for k in range(35)]
    private = engine.Private(engine.Table.from_codes(codes, domain))
    workload = engine.Workload.all_kway(domain, 2)
    mechanism = engine.AimGrem(completion="none")
    state, _ = mechanism.start(private, workload, rho=Fraction(1), rng=engine.rehearsal_noise(3))
    shown = engine.insight(mechanism, state, private)
    rng = engine.rehearsal_noise(4)
    place = {gamma: k for k, gamma in enumerate(shown.candidates)}
    found = []
    for _ in range(2_000):
        _, event = mechanism.step(state, private, rng)
        found.append(place[event.selected])
    assert frequency_p_value(np.array(found), shown.probability) > ALPHA
    # Teeth: the law with another epsilon, and the uniform one.
    assert shown.probability.max() < 0.99
    other = shown.probability**1.3 / (shown.probability**1.3).sum()
    assert frequency_p_value(np.array(found), other) < ALPHA
    even = np.full(len(place), 1 / len(place))
    assert frequency_p_value(np.array(found), even) < ALPHA
