"""The joint table of a small domain: exact, non-negative, and what mbi finds."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import engine
from engine.completing.dense import MAX_CELLS, joint_table, marginal_of
from engine.domain import subsets
from engine.released import Beliefs
from tests.support import make_domain
from tests.test_completion_maxent import exact_beliefs, fitted_by_definition, positive_table


def test_exact_pairs_give_the_joint_table_of_maximum_entropy() -> None:
    truth = positive_table((2, 3, 4), 3) + 20.0
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = joint_table(exact_beliefs(truth, pairs, 1.0), make_domain((2, 3, 4)))
    targets = {p: marginal_of(truth, p) for p in pairs}
    assert np.allclose(found, fitted_by_definition((2, 3, 4), targets), rtol=1e-3)


def test_all_residuals_give_back_the_table() -> None:
    truth = positive_table((3, 2, 2, 3), 4)
    found = joint_table(exact_beliefs(truth, [(0, 1, 2, 3)], 1.0), make_domain((3, 2, 2, 3)))
    assert np.allclose(found, truth, rtol=1e-3)


def test_noise_gives_a_table_without_negative_cells_and_with_the_total() -> None:
    rng = np.random.default_rng(0)
    domain = make_domain((2, 3, 4))
    beliefs = Beliefs().combined(
        engine.Measurement(tau, rng.normal(size=[domain.sizes[i] - 1 for i in tau]) * 30, 0.01)
        for tau in subsets((0, 1, 2))
        if tau
    )
    beliefs = beliefs.combined([engine.Measurement((), np.array(100.0), 1.0)])
    found = joint_table(beliefs, domain)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(100.0)
    assert not joint_table(Beliefs(), domain).any()


def test_a_joint_table_beyond_memory_is_refused() -> None:
    with pytest.raises(engine.DomainError, match="maxent"):
        joint_table(Beliefs(), make_domain((1000, 1000, 3)))
    assert MAX_CELLS == 2_000_000


def test_mbi_finds_no_better_table() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mbi = pytest.importorskip("mbi")
        rng = np.random.default_rng(1)
        sizes, sets = (2, 3, 4), [(0, 1), (1, 2), (0, 2)]
        domain = make_domain(sizes)
        truth = rng.poisson(20.0 * rng.exponential(size=sizes))
        noisy = {
            attrs: marginal_of(truth, attrs) + rng.normal(0, 5.0, size=[sizes[i] for i in attrs])
            for attrs in sets
        }
        beliefs = Beliefs()
        for attrs, values in noisy.items():
            for tau in subsets(attrs):
                spread = math.prod(sizes[i] for i in attrs if i not in tau)
                z = engine.decompose(values, attrs, tau)
                beliefs = beliefs.combined([engine.Measurement(tau, z, 1 / 25.0 / spread)])
        found = joint_table(beliefs, domain)
        measurements = [mbi.LinearMeasurement(v.ravel(), a, 5.0) for a, v in noisy.items()]
        model = mbi.estimation.MirrorDescent().estimate(
            mbi.Domain((0, 1, 2), sizes), measurements, known_total=found.sum(), iters=3000
        )
    theirs = {
        a: np.asarray(model.project(a).datavector()).reshape(v.shape) for a, v in noisy.items()
    }

    def loss(answers: dict[tuple[int, ...], np.ndarray]) -> float:
        return sum(float(np.square(answers[a] - v).sum()) for a, v in noisy.items())

    ours = {a: marginal_of(found, a) for a in sets}
    assert loss(ours) <= loss(theirs) * (1 + 1e-3)
    for attrs in sets:
        assert np.abs(ours[attrs] - theirs[attrs]).sum() <= 0.01 * found.sum()
