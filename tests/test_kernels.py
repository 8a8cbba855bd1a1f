"""The compiled loops on shapes large enough for every branch, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine import grem
from engine.domain import subsets
from engine.grem import Reconstruction
from tests.support import RELATIVE, make_domain, relative_error

SHAPES = [
    (), (1,), (2,), (1100,), (3, 1100), (1100, 3), (2, 600, 2), (9, 5, 130), (6, 1030), (1, 700, 1),
    (2,) * 10, (7, 97, 41), (5, 1, 4, 1, 3), (4, 2, 3, 2, 2),
]  # fmt: skip
"""Rows beyond a tile of 512 columns, every remainder of four rows, sizes 1 and 2 in all places."""


def plain_decompose(mu: np.ndarray, tau: tuple[int, ...]) -> np.ndarray:
    """Along each axis: the sum, or the rest minus the first."""
    for axis in range(mu.ndim):
        first = np.take(mu, [0], axis)
        rest = np.delete(mu, 0, axis)
        mu = rest - first if axis in tau else mu.sum(axis=axis, keepdims=True)
    return mu.reshape([n for k, n in enumerate(mu.shape) if k in tau])


def plain_reconstruct(z: np.ndarray, tau: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    """Along each axis: a zero in front and the mean subtracted, or spread evenly."""
    part = z.reshape([n - 1 if k in tau else 1 for k, n in enumerate(sizes)])
    for axis, size in enumerate(sizes):
        if axis in tau:
            zero = np.zeros([1 if k == axis else n for k, n in enumerate(part.shape)])
            part = np.concatenate([zero, part], axis)
            part = part - part.mean(axis=axis, keepdims=True)
        else:
            part = np.repeat(part / size, size, axis)
    return part


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_large_decompositions_and_reconstructions_are_the_plain_ones(
    shape: tuple[int, ...],
) -> None:
    rng = np.random.default_rng(sum(shape))
    gamma = tuple(range(len(shape)))
    mu = rng.normal(size=shape) * 1e4
    chosen = [gamma, (), gamma[:1], gamma[-1:], gamma[1:], gamma[::2]]
    for tau in dict.fromkeys(chosen):
        residual = engine.decompose(mu, gamma, tau)
        assert relative_error(residual, plain_decompose(mu, tau)) <= RELATIVE
        part = engine.reconstruct(residual, tau, gamma, shape)
        assert relative_error(part, plain_reconstruct(residual, tau, shape)) <= RELATIVE
        assert not np.shares_memory(part, residual)


@pytest.mark.parametrize("order", ["C", "F", "strided", "negative"])
def test_arrays_in_any_memory_order_and_type_are_read_alike(order: str) -> None:
    rng = np.random.default_rng(0)
    plain = rng.integers(0, 100, size=(4, 5, 3)).astype(float)
    arranged = {
        "C": plain.copy(),
        "F": np.asfortranarray(plain),
        "strided": np.repeat(plain, 2, axis=1)[:, ::2],
        "negative": plain[::-1].copy()[::-1],
    }[order]
    gamma = (0, 1, 2)
    for tau in subsets(gamma):
        expected = plain_decompose(plain, tau)
        for given in (arranged, arranged.astype(int), arranged.astype(np.uint8), arranged.tolist()):
            np.testing.assert_allclose(engine.decompose(given, gamma, tau), expected, atol=1e-9)
        thin = np.repeat(expected[..., None], 2, axis=-1)[..., 0]
        np.testing.assert_allclose(
            engine.reconstruct(thin, tau, gamma, plain.shape),
            plain_reconstruct(expected, tau, plain.shape),
            atol=1e-9,
        )


def test_read_only_values_are_decomposed_and_reconstructed() -> None:
    values = np.arange(12.0).reshape(3, 4)
    values.flags.writeable = False
    residual = engine.decompose(values, (0, 1), (0, 1))
    residual.flags.writeable = False
    engine.reconstruct(residual, (0, 1), (0, 1), (3, 4))


@pytest.mark.parametrize("records", [0, 1, 255, 256, 70_000])
def test_counts_are_exact_for_every_integer_type_they_may_be_kept_in(records: int) -> None:
    rng = np.random.default_rng(records)
    domain = make_domain([1, 300, 2, 7])
    codes = np.stack([rng.integers(0, n, size=records) for n in domain.sizes], axis=1)
    codes[: records // 2] = 0  # one cell as full as can be
    private = engine.Private(engine.Table.from_codes(codes, domain))
    layout = engine.Workload.all_kway(domain, 4).layout
    flat = private.counts(layout)
    for k, attrs in enumerate(layout.sets):
        shape = [domain.sizes[i] for i in attrs]
        cell = np.zeros(records, dtype=np.int64)
        for i in attrs:
            cell = cell * domain.sizes[i] + codes[:, i]
        expected = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
        np.testing.assert_array_equal(layout.view(flat, k), expected)


def test_updates_shared_between_threads_are_those_of_one() -> None:
    rng = np.random.default_rng(0)
    domain = make_domain([40, 50, 30, 20, 2, 1])
    layout = engine.Workload.all_kway(domain, 3).layout
    lazy, beliefs = Reconstruction(layout), engine.Beliefs()
    for tau in [(), (0,), (3,), (0, 1), (0, 1, 2), (2, 3, 4), (4,)]:
        values = rng.normal(size=[domain.sizes[i] - 1 for i in tau])
        after = beliefs.combined([engine.Measurement(tau, values, 1.0)])
        lazy.update(after.changes_since(beliefs, [tau]))
        beliefs = after
    many = {
        t: rng.normal(size=[domain.sizes[i] - 1 for i in t]) for t in [(), (1,), (0, 2), (1, 3)]
    }
    after = beliefs.combined([engine.Measurement(t, v, 2.0) for t, v in many.items()])
    lazy.update(after.changes_since(beliefs))  # no marginal holds all of these attributes
    for gamma in layout.sets:
        expected = grem.marginal(after, domain, gamma)
        assert relative_error(lazy.view(gamma), expected) <= RELATIVE
        k = layout.index[gamma]
        assert lazy.l1[k] == pytest.approx(np.abs(expected).sum(), rel=1e-9)
