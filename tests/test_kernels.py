"""The compiled loops on shapes large enough for every branch, against plain NumPy."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import engine
from engine import grem, threads
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


def plain_estimate(
    beliefs: engine.Beliefs, gamma: tuple[int, ...], sizes: tuple[int, ...]
) -> np.ndarray:
    """The sum of the plain reconstructions of every residual within a marginal."""
    total = np.zeros([sizes[i] for i in gamma])
    for tau in subsets(gamma):
        if tau in beliefs:
            inside = tuple(gamma.index(i) for i in tau)
            shape = tuple(sizes[i] for i in gamma)
            total = total + plain_reconstruct(np.asarray(beliefs[tau].values), inside, shape)
    return total


@pytest.mark.parametrize("sizes", [(40, 50, 30, 20, 2, 1), (3, 2, 5, 2, 4), (97, 2, 2, 97)])
@pytest.mark.parametrize("parallel", [True, False])
def test_updates_and_estimates_are_the_plain_sums_on_one_thread_and_on_two(
    sizes: tuple[int, ...], parallel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grem, "_PARALLEL_CELLS", 1 if parallel else 10**9)
    rng = np.random.default_rng(len(sizes))
    domain = make_domain(list(sizes))
    layout = engine.Workload.all_kway(domain, 3).layout
    lazy, beliefs = Reconstruction(layout), engine.Beliefs()
    steps: list[list[tuple[int, ...]]] = [
        [()], [(0,)], [(0, 1)], [(1, 2)], [(3,), (0, 1, 2), (1, 2)],
        [(), (1,), (0, 2), (1, 3)],  # no marginal holds all of these attributes
        [(1, 2, 3), (1, 3), (3,), ()],
    ]  # fmt: skip
    for taus in steps:
        real = [tau for tau in taus if all(sizes[i] > 1 for i in tau)]
        taken = [
            engine.Measurement(t, rng.normal(size=[sizes[i] - 1 for i in t]), float(1 + k))
            for k, t in enumerate(real)
        ]
        after = beliefs.combined(taken)
        changes = after.changes_since(beliefs, real)
        lazy.update(changes)
        union = tuple(sorted({i for tau in real for i in tau}))
        moved = plain_estimate(after, union, sizes) - plain_estimate(beliefs, union, sizes)
        assert grem.change_of(changes, sizes) == pytest.approx(np.abs(moved).sum(), rel=1e-9)
        beliefs = after
    for gamma in layout.sets:
        expected = plain_estimate(beliefs, gamma, sizes)
        assert relative_error(lazy.view(gamma), expected) <= RELATIVE
        assert relative_error(grem.marginal(beliefs, domain, gamma), expected) <= RELATIVE
        k = layout.index[gamma]
        assert lazy.l1[k] == pytest.approx(np.abs(expected).sum(), rel=1e-9)


def test_shared_work_is_done_once_each_also_while_other_threads_are_busy() -> None:
    def counted(bounds: list[int]) -> list[int]:
        done = [0] * bounds[-1]

        def call(first: int, last: int) -> None:
            for k in range(first, last):
                done[k] += 1

        threads.in_threads(call, bounds)
        return done

    assert counted([0, 5]) == [1] * 5
    assert counted([0, 1, 4, 9, 20]) == [1] * 20
    release = threading.Event()
    busy = [threads._pool().submit(release.wait) for _ in range(4)]
    try:
        assert counted([0, 1, 4, 9, 20]) == [1] * 20  # not waiting for them
    finally:
        release.set()
    assert all(task.result() for task in busy)


def test_an_error_in_shared_work_is_raised() -> None:
    def call(first: int, last: int) -> None:
        raise ValueError(f"{first} to {last}")

    with pytest.raises(ValueError, match="0 to 1"):
        threads.in_threads(call, [0, 1])
    with pytest.raises(ValueError, match="to"):
        threads.in_threads(call, [0, 1, 2, 3])
