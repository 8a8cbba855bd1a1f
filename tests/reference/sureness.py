"""Half widths of intervals, one cell and one draw at a time."""

from __future__ import annotations

import math

import numpy as np


def half_widths(values: np.ndarray, errors: np.ndarray, level: float) -> list[float]:
    """As ``sureness.half_widths``: scales from own errors and those of neighbours in size."""
    draws, n = errors.shape
    window = max(1, min(n, round(math.sqrt(n))))
    order = sorted(range(n), key=lambda k: (values[k], k))
    own = [[errors[b, k] ** 2 for b in range(draws)] for k in range(n)]
    beside = [0.0] * n
    for place, k in enumerate(order):
        first = min(max(place - window // 2, 0), n - window)
        near = order[first : first + window]
        beside[k] = sum(sum(own[j]) / draws for j in near) / window
    scaled = []
    for b in range(draws):
        for k in range(n):
            others = sum(own[k]) - own[k][b] + 8 * beside[k]
            scaled.append(abs(errors[b, k]) / (math.sqrt(others / (draws - 1 + 8)) + 1e-12))
    multiple = float(np.quantile(scaled, level))
    scales = [math.sqrt((sum(own[k]) + 8 * beside[k]) / (draws + 8)) + 1e-12 for k in range(n)]
    return [multiple * scale for scale in scales]
