"""A source of exact noise that pays before it draws, and repeats what an interrupted release drew.

What was drawn is written down with the next charge. So a release that stopped can be run again on
the same table: the recorded draws come back, and new ones follow. A draw whose result was lost is
paid for a second time.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.accounting import Charge
from engine.errors import AccountError, OptionError
from engine.exact_draws import discrete_gaussian
from engine.exact_noise import ExactNoise, GridScores
from engine.releasing.account import OpenRelease
from engine.types import IntArray

SAMPLERS = ("engine", "opendp")
_AT_ONCE, _DIGEST = 1 << 13, 16


def check_sampler(sampler: object) -> None:
    """Refuse a sampler that is not there.

    Raises:
        OptionError: If it is none, or OpenDP is not installed.
    """
    if sampler not in SAMPLERS:
        raise OptionError(
            f"sampler is {sampler!r}; it must be one of {', '.join(map(repr, SAMPLERS))}. Choose "
            "one."
        )
    if sampler == "opendp":
        _opendp()


class AccountedNoise(ExactNoise):
    """Exact noise that is charged to an open release first.

    Args:
        opened: Where charges are written.
        times: How much more one person costs than one record.
        sampler: Whose discrete Gaussian and softmax: ``"engine"`` or ``"opendp"``.
        told: Called before each draw, and from time to time in a long one, with the rho of a record
            that is drawn so far; what it raises ends the draw, whose charge stands.
    """

    def __init__(
        self, opened: OpenRelease, *, times: int, sampler: str = "engine",
        told: Callable[[float], None] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._told, self._cost, self._costs = told, 0.0, 0.0  # of earlier draws, of this one
        check_sampler(sampler)
        self._opened, self._times, self._sampler = opened, times, sampler
        _, batches, drawn = opened.recorded()
        self._paid_before, self._drawn_before = deque(batches), deque(drawn)
        self._pays_again = False
        self._unwritten: list[bytes] = []

    def paid(self, charges: Sequence[Charge]) -> None:
        """Write the charges down, unless the release that is resumed did.

        Raises:
            BudgetError, AccountError: If they cannot be charged; nothing is drawn then.
        """
        if self._paid_before:
            self._check_same(charges, self._paid_before.popleft())
            self._pays_again = True
        else:
            self._opened.charge(charges, times=self._times, drawn=self._unwritten)
            self._unwritten = []
            self._pays_again = False
        super().paid(charges)

    def noisy(self, exact: IntArray, *, variance: Fraction, sensitivity: int) -> NDArray[Any]:
        """Return whole numbers with independent discrete Gaussian noise added."""
        draw = super().noisy
        return self._drawn(
            sensitivity / (2 * variance),
            lambda: draw(exact, variance=variance, sensitivity=sensitivity),
            shape=exact.shape,
        )

    def choose_exactly(self, scores: GridScores) -> int:
        """Draw a position with probability proportional to exp(rate * units), exactly."""
        draw = super().choose_exactly
        return int(self._drawn(scores.rho, lambda: np.array(draw(scores)), shape=()))

    def _drawn(
        self, rho: Fraction, draw: Callable[[], NDArray[Any]], *, shape: tuple[int, ...]
    ) -> NDArray[Any]:
        self._cost, self._costs = self._cost + self._costs, float(rho)
        self._tell(0.0)
        if self._drawn_before:
            values = unpacked(self._drawn_before.popleft())
            if values.shape != shape:
                raise _other("what it drew has another shape than")
            self._spend(rho)
            return values
        if self._pays_again:  # charged before the interruption, and its result is lost
            self._opened.lost(rho * self._times)
        values = draw()
        self._unwritten.append(packed(values))
        return values

    def _check_same(self, charges: Sequence[Charge], before: Sequence[Sequence[Any]]) -> None:
        now = [[c.what, None if c.attrs is None else list(c.attrs), str(c.rho)] for c in charges]
        if now != [list(charge) for charge in before]:
            raise _other("it charges otherwise than")

    def _tell(self, share: float) -> None:
        """Say how far it is: so much of this draw; random tries say nothing of the records."""
        if self._told is not None:
            self._told(self._cost + share * self._costs)

    def _gaussian(self, count: int, variance: Fraction) -> NDArray[Any]:
        draw = discrete_gaussian if self._sampler == "engine" else opendp_gaussian
        return draw(count, variance=variance, between=lambda done: self._tell(done / count))

    def _chosen(self, scores: GridScores) -> int:
        if self._sampler == "engine":
            return super()._chosen(scores)
        return opendp_choice(scores)


def _other(why: str) -> AccountError:
    return AccountError(
        f"The release cannot be resumed: {why} when it was interrupted. Resume it with the same "
        "table, settings and version of the engine, or abandon it; its charges stand.",
        code="E_RELEASE",
    )


# -- what was drawn, as bytes ---------------------------------------------------------------------


def packed(values: NDArray[Any]) -> bytes:
    """Write whole numbers down: their shape, then themselves, of any size."""
    whole = values.dtype == object
    header = json.dumps({"shape": values.shape, "text": whole}).encode() + b"\n"
    body = (
        json.dumps(values.ravel().tolist()).encode()
        if whole
        else np.ascontiguousarray(values, dtype="<i8").tobytes()
    )
    content = header + zlib.compress(body, 1)
    return hashlib.blake2b(content, digest_size=_DIGEST).digest() + content


def unpacked(content: bytes) -> NDArray[Any]:
    """Read what ``packed`` wrote.

    Raises:
        AccountError: If a bit of it is another (``E_RELEASE``).
    """
    digest, content = content[:_DIGEST], content[_DIGEST:]
    if hashlib.blake2b(content, digest_size=_DIGEST).digest() != digest:
        raise _other("what it drew is damaged in the account, unlike")
    header, _, rest = content.partition(b"\n")
    said, body = json.loads(header), zlib.decompress(rest)
    values: NDArray[Any] = (
        np.array(json.loads(body), dtype=object)
        if said["text"]
        else np.frombuffer(body, dtype="<i8").astype(np.int64)
    )
    return values.reshape(said["shape"])


# -- OpenDP ---------------------------------------------------------------------------------------


def opendp_gaussian(
    count: int, variance: Fraction, between: Callable[[int], None] | None = None
) -> NDArray[Any]:
    """Draw from OpenDP's discrete Gaussian; its scale is a float, rounded to more noise."""
    dp = _opendp()
    scale = float(variance) ** 0.5
    while Fraction(scale) ** 2 < variance:
        scale = math.nextafter(scale, math.inf)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    gaussian, drawn = dp.m.make_gaussian(*space, scale=scale), np.empty(count, dtype=np.int64)
    for start in range(0, count, _AT_ONCE):  # a quarter of a second each: it can be cancelled
        part = drawn[start : start + _AT_ONCE]
        part[:] = gaussian([0] * len(part))
        if between is not None:
            between(start + len(part))
    return drawn


def opendp_choice(scores: GridScores) -> int:
    """Choose by OpenDP's softmax; its scale is a float, rounded to a flatter law."""
    dp = _opendp()
    scale = float(1 / scores.rate)
    while Fraction(scale) < 1 / scores.rate:
        scale = math.nextafter(scale, math.inf)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=False)
    choose = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)
    # Only differences count, and those far below the best are never chosen.
    most = max(scores.units.tolist())
    return int(choose([max(unit - most, -(2**52)) for unit in scores.units.tolist()]))


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise OptionError(
            "OpenDP is not installed. Install the extra: pip install 'aim-grem-explorer[release]', "
            "or leave sampler at 'engine'."
        ) from None
    dp.enable_features("contrib")
    return dp
