"""Twin of the forecast of a plan: cell by cell, world by world, without groups or samples.

Written from engine/COMPLETION_NOTES.md; constants are written down again on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np

from engine.types import AttributeSet

MOST = 2.0 * math.pi
"""Largest relative variance: twice what a cell holds is the most that can be lost on it."""


def forecast(
    tables: Mapping[AttributeSet, np.ndarray],
    weights: Mapping[AttributeSet, float],
    precision: Mapping[AttributeSet, float],
    structure: Mapping[AttributeSet, list[float]],
    sampling: Mapping[AttributeSet, list[float]],
) -> float:
    """Weighted mean L1 error: sqrt(2/pi) q sqrt(sum of relative variances), over all cells."""
    worlds = len(next(iter(structure.values())))
    error = 0.0
    for gamma, weight in weights.items():
        table = tables[gamma]
        for world in range(worlds):
            for cell in np.ndindex(table.shape):
                variance = 0.0
                for size in range(len(gamma) + 1):
                    for axes in combinations(range(len(gamma)), size):
                        tau = tuple(gamma[k] for k in axes)
                        others = tuple(k for k in range(len(gamma)) if k not in axes)
                        held = table.sum(axis=others)[tuple(cell[k] for k in axes)]
                        cost = math.prod((table.shape[k] - 1) / table.shape[k] for k in axes)
                        size_of = structure[tau][world] + sampling[tau][world] / held
                        variance += 1.0 / (precision[tau] * held**2 / cost + 1.0 / size_of)
                capped = variance / (1.0 + variance / MOST)
                error += weight * table[cell] * math.sqrt(2.0 / math.pi * capped) / worlds
    return error / sum(weights.values())
