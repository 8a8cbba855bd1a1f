"""Which plan will the default take, and what would each leave? From public settings, or after.

Before a run nothing is known of the records but their declared number: sizes of interactions are
the usual ones (``sizes``), single attributes anything from even to all in one value. After the
first answers the same forecast is made from what was released. Neither costs budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine import compiling
from engine.completing.totals import UNBIASED, Total
from engine.errors import OptionError
from engine.mechanisms import choosing
from engine.released import Belief, Beliefs
from engine.workload import Workload


@dataclass(frozen=True, slots=True)
class Alternative:
    """A plan, and what it is expected to leave.

    Args:
        name: In words.
        left: Weighted mean L1 error over the workload, in records; a forecast.
        taken: Whether it is the plan that will be taken, as far as is known.
    """

    name: str
    left: float
    taken: bool = False


@dataclass(frozen=True, slots=True)
class Ahead:
    """What plans would leave, and which is taken.

    Args:
        alternatives: Each with its forecast; none beyond the size up to which plans are compared.
        why: Which plan is taken and why, in a sentence or two.
        released: Whether it follows from released values, rather than from settings alone.
    """

    alternatives: tuple[Alternative, ...]
    why: str
    released: bool


def before(workload: Workload, rho: Fraction, *, records: int) -> Ahead:
    """Forecast from public settings what the default will do.

    Args:
        workload: What is to be answered.
        rho: The budget.
        records: About how many records there are, as publicly known; never counted.

    Raises:
        OptionError: If the number of records is not positive.
    """
    if records < 1:
        raise OptionError(
            f"The number of records is {records!r}; a declared number of 1 or more is needed to "
            "compare plans. Say about how many there are."
        )
    declared = Beliefs({(): Belief(np.array(float(records)), choosing.EXACT)})
    return _ahead(workload, declared, rho, UNBIASED, released=False)


def after(workload: Workload, beliefs: Beliefs, left: Fraction, total: Total = UNBIASED) -> Ahead:
    """Forecast from released values what each way on would leave.

    Args:
        workload: What is to be answered.
        beliefs: What was released so far.
        left: The budget that is left.
        total: What completed tables add up to.
    """
    return _ahead(workload, beliefs, left, total, released=True)


def _ahead(
    workload: Workload, beliefs: Beliefs, rho: Fraction, total: Total, *, released: bool
) -> Ahead:
    if not choosing.few_enough(workload):
        return Ahead((), choosing.decide(workload, beliefs, rho, total)[1], released)
    with compiling.sized(workload.layout.total_cells):  # as a run does, to the bit
        seen = choosing.shared(workload, beliefs, total).outlook(rho)
    by_size = choosing.prefers_by_size(workload, seen)
    alternatives = (
        Alternative("everything that pays, by size", seen.by_size, by_size),
        Alternative("pairs, nothing larger", seen.pairs),
        Alternative("single attributes alone", seen.ones),
        Alternative("what exact single attributes would leave", seen.exact_ones),
    )
    return Ahead(alternatives, _why(workload, by_size=by_size, released=released), released)


def _why(workload: Workload, *, by_size: bool, released: bool) -> str:
    if choosing.goes_by_size(workload):
        return (
            "By size: with so few residuals for each attribute everything that pays is measured, "
            "in four steps that select nothing. Rounds would spend a tenth on selecting."
        )
    so_far = "" if released else " The first answers, of single attributes, decide."
    share = f"{choosing.HIDDEN:.0%} of what exact single attributes would leave"
    if by_size:
        return f"By size: it is expected to leave less than {share}.{so_far}"
    return (
        f"Rounds: by size would leave more than {share}, since noise hides most residuals; "
        f"rounds look for those that it does not hide.{so_far}"
    )
