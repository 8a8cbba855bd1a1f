"""A seed used twice on one table, for different runs: their noise cancels, and data is left."""

from __future__ import annotations

import warnings
from fractions import Fraction

from engine.checking import whole
from engine.completing.release import SEED_REPEATED
from engine.errors import RepeatedSeedWarning
from engine.tables import Private
from engine.workload import Workload


def seed_repeated(
    private: Private,
    seed: object,
    mechanism: object,
    workload: Workload,
    rho: Fraction,
    *,
    begun: object = None,
    stacklevel: int = 3,
) -> bool:
    """Remember a run's seed; warn and return True if another run on the table had it.

    Args:
        private: The table.
        seed: A whole number; nothing else can be told again.
        mechanism: What runs.
        workload: On which marginals.
        rho: With which budget.
        begun: Where it goes on from, if it does not start: a run that goes on with the seed that
            it began with draws the same noise a second time, for other answers.
        stacklevel: Whose line the warning names.
    """
    number = whole(seed)
    settings = (repr(mechanism), tuple(workload.weights.items()), rho, begun)
    if number is None or not private.odometer.repeats(number, settings):
        return False
    warnings.warn(SEED_REPEATED, RepeatedSeedWarning, stacklevel=stacklevel)
    return True
