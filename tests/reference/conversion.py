"""rho <-> (epsilon, delta) in 50 digits, by golden-section search over the order."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp

DIGITS = 50


def rho_from(epsilon: float, delta: float) -> mp.mpf:
    """The largest rho that implies (epsilon, delta)."""
    with mp.workdps(DIGITS):
        e, d = mp.mpf(epsilon), mp.mpf(delta)
        return _most(lambda u: (e - _beyond(u, d)) / (1 + mp.exp(u)))


def epsilon_from(rho: float, delta: float) -> mp.mpf:
    """The least epsilon that rho implies at delta."""
    with mp.workdps(DIGITS):
        r, d = mp.mpf(rho), mp.mpf(delta)
        return max(mp.mpf(0), -_most(lambda u: -((1 + mp.exp(u)) * r + _beyond(u, d))))


def delta_from(rho: float, epsilon: float) -> mp.mpf:
    """The least delta that rho implies at epsilon."""
    with mp.workdps(DIGITS):
        r, e = mp.mpf(rho), mp.mpf(epsilon)

        def minus_log(u: mp.mpf) -> mp.mpf:
            a = mp.exp(u)
            alpha = a + 1
            return -(a * (alpha * r - e) + alpha * mp.log(1 - 1 / alpha) - mp.log(a))

        return min(mp.mpf(1), mp.exp(-_most(minus_log)))


def _beyond(u: mp.mpf, delta: mp.mpf) -> mp.mpf:
    a = mp.exp(u)  # alpha - 1
    alpha = a + 1
    return (alpha * mp.log(1 - 1 / alpha) - mp.log(a) - mp.log(delta)) / a


def _most(f: Callable[[mp.mpf], mp.mpf]) -> mp.mpf:
    grid = [mp.mpf(k) / 2 for k in range(-60, 140)]
    values = [f(u) for u in grid]
    k = max(range(len(grid)), key=values.__getitem__)
    low, high = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    golden = (mp.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    f_left, f_right = f(left), f(right)
    # The value is flat at its top: half of the digits of the order give all of the value's.
    for _ in range(100):
        if f_left < f_right:
            low, left, f_left = left, right, f_right
            right = low + golden * (high - low)
            f_right = f(right)
        else:
            high, right, f_right = right, left, f_left
            left = high - golden * (high - low)
            f_left = f(left)
    return max(f_left, f_right)
