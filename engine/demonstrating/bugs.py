"""Real mistakes, WRONG ON PURPOSE, each with its mended twin: for the Bug lab and for nothing else.

Nothing that makes a release may import this module (``tests/test_architecture.py``). Every mistake
is a few lines that someone wrote believing them private. ``audit`` runs the lines many times on two
neighbouring tables and says what the results prove, by the same bound as ``python -m engine audit``
(``engine.evidence``). One mistake is too small to be seen that way, and that is a lesson too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import special

from engine.accounting import epsilon_from
from engine.errors import OptionError
from engine.evidence import Audit, judged
from engine.noise import Rehearsal, rehearsal_noise
from engine.types import FloatArray

DELTA, ALPHA, RUNS = 1e-6, 1e-3, 40_000
RECORDS = 20
"""Of the smaller table; the larger has one person more."""
Draw: TypeAlias = Callable[[bool, int, Rehearsal, bool], FloatArray]
"""Larger table or not, runs, noise, mistake planted or not -> one score a run."""


@dataclass(frozen=True, slots=True)
class Bug:
    """One mistake.

    Args:
        title: A few words.
        story: What was to be released.
        wrong: The line as it was written.
        right: The line as it should be.
        rho: What was promised to a person.
        score: What the histograms show.
        caught: Whether an audit of ``RUNS`` runs proves it.
        why: What went wrong, and what keeps it out of the engine.
        draw: Makes one score a run.
    """

    title: str
    story: str
    wrong: str
    right: str
    rho: float
    score: str
    caught: bool
    why: str
    draw: Draw


@dataclass(frozen=True, slots=True)
class Found:
    """What an audit of one mistake found.

    Args:
        audit: Promise and proven bound.
        larger: Scores on the table with one person more.
        smaller: Scores on the other.

    Shapes:
        larger, smaller: (runs,).
    """

    audit: Audit
    larger: FloatArray
    smaller: FloatArray


def audit(key: str, *, planted: bool = True, runs: int = RUNS, seed: int = 0) -> Found:
    """Run a mistake, or its mended twin, many times on two neighbouring tables.

    Args:
        key: One of ``BUGS``.
        planted: Whether the mistake is in it.
        runs: On each table, at least 100.
        seed: Where the noise begins.

    Raises:
        OptionError: If there is no such mistake, or there are too few runs.
    """
    if key not in BUGS:
        raise OptionError(f"There is no mistake {key!r}. Choose one of {', '.join(BUGS)}.")
    if runs < 100:
        raise OptionError(f"{runs} runs show nothing; at least 100 are needed.")
    bug, rng = BUGS[key], rehearsal_noise(seed)
    larger, smaller = (bug.draw(one, runs, rng, planted) for one in (True, False))
    found = judged(
        np.stack([larger, smaller])[:, :, None], promised=bug.rho,
        epsilon=epsilon_from(rho=bug.rho, delta=DELTA), delta=DELTA, alpha=ALPHA,
    )  # fmt: skip
    return Found(found, larger, smaller)


def _noise(rng: Rehearsal, runs: int, rho: float, sensitivity: float = 1.0) -> FloatArray:
    """Gaussian noise that costs rho at this sensitivity."""
    return rng.gaussian((runs,), variance=sensitivity**2 / (2 * rho))


# -- the mistakes ----------------------------------------------------------------------------------


def _half_charge(larger: bool, runs: int, rng: Rehearsal, planted: bool) -> FloatArray:
    rho = BUGS["half"].rho
    return RECORDS + larger + _noise(rng, runs, 2 * rho if planted else rho)


def _late_charge(larger: bool, runs: int, rng: Rehearsal, planted: bool) -> FloatArray:
    """Four questions that cost everything each: three are refused after they were answered."""
    rho, answers = BUGS["late"].rho, 4 if planted else 1
    drawn = [RECORDS + larger + _noise(rng, runs, rho) for _ in range(answers)]
    return np.asarray(np.mean(drawn, axis=0))


def _noisy_max(larger: bool, runs: int, rng: Rehearsal, planted: bool) -> FloatArray:
    """Two candidates; a score's weight of 8 is its sensitivity, and was forgotten."""
    weight, epsilon = 8.0, math.sqrt(8 * BUGS["max"].rho)
    better = weight * np.array([float(larger), 0.0])
    chance = special.expit(epsilon * (better[0] - better[1]) / (2 * (1.0 if planted else weight)))
    uniform = special.ndtr(rng.gaussian((runs,), variance=1.0))
    chosen: FloatArray = (uniform < chance).astype(float)
    return chosen


def _float_sum(values: list[float]) -> float:
    total = np.float16(0.0)
    for value in values:
        total = np.float16(total + np.float16(value))
    return float(total)


def _float_mean(larger: bool, runs: int, rng: Rehearsal, planted: bool) -> FloatArray:
    """In half precision 1025 + 0.5 is 1026 and 1024 + 0.5 is 1024: one record more counts twice."""
    rho = BUGS["mean"].rho
    values = [1.0] * larger + [1.0] * 1024 + [0.5]
    total = _float_sum(values) if planted else math.fsum(values)
    return (total + _noise(rng, runs, rho)) / 1024


def _seen_domain(larger: bool, runs: int, rng: Rehearsal, planted: bool) -> FloatArray:
    """The person's illness is in no other row: read from the data, the list has one value more."""
    rho, there = BUGS["domain"].rho, ["flu", "cold"] + ["rare"] * larger
    values = sorted(set(there)) if planted else ["cold", "flu", "rare"]
    noisy = np.array([there.count(v) for v in values]) + rng.gaussian(
        (runs, len(values)), variance=1 / (2 * rho)
    )
    return np.full(runs, float(len(values))) if planted else np.asarray(noisy[:, -1])


def _float_ledger(larger: bool, runs: int, rng: Rehearsal, planted: bool) -> FloatArray:
    """A tenth of the budget each time: in floats, ten tenths are less than one."""
    rho, spent, answers = BUGS["ledger"].rho, 0.0, 0
    while spent < 1.0 if planted else answers < 10:
        spent, answers = spent + 0.1, answers + 1
    drawn = rng.gaussian((answers, runs), variance=10 / (2 * rho))
    return np.asarray(RECORDS + larger + drawn.mean(axis=0))


def _one_seed(larger: bool, runs: int, rng: Rehearsal, planted: bool) -> FloatArray:
    """Two releases, the person in the first only; the reader subtracts one from the other."""
    rho = BUGS["seed"].rho / 2
    first = _noise(rng, runs, rho)
    second = first if planted else _noise(rng, runs, rho)
    return (RECORDS + larger + first) - (RECORDS + second)


def _rows_squared(larger: bool, runs: int, rng: Rehearsal, planted: bool) -> FloatArray:
    """A person has four rows: four times as far apart is sixteen times the rho."""
    rho, rows = BUGS["rows"].rho, 4
    return RECORDS + rows * larger + _noise(rng, runs, rho, 1.0 if planted else rows)


def _low_bits(larger: bool, runs: int, rng: Rehearsal, planted: bool) -> FloatArray:
    """Small noise has bits that noise added to 1 has lost: they give the count away."""
    released = float(not larger) + _noise(rng, runs, BUGS["bits"].rho)
    if not planted:
        return np.rint(released) * -1
    steps = released * 2.0**53
    finer: FloatArray = (steps != np.rint(steps)).astype(float)
    return finer


BUGS: Mapping[str, Bug] = {
    "half": Bug(
        "Noise charged at half",
        "A count of people with ρ = 2.",
        "variance = 1 / (4 * rho)  # half of it, from another paper's ε",
        "variance = 1 / (2 * rho)",
        2.0, "the released count", True,
        "Half the variance costs twice the ρ. Here one function turns ρ into noise, and the ledger "
        "is charged by what it returns.", _half_charge,
    ),
    "late": Bug(
        "Charged after the draw",
        "A budget of ρ = 1 and four questions of ρ = 1 each.",
        "answer = noisy(count); ledger.charge(rho)  # refused, and printed all the same",
        "ledger.charge(rho); answer = noisy(count)",
        1.0, "mean of what was printed", True,
        "The refusal came when the number was out already: four answers for the price of one. Here "
        "the ledger refuses before any noise is drawn.", _late_charge,
    ),
    "max": Bug(
        "Noisy max with the wrong sensitivity",
        "The worse of two tables is chosen; one of them has weight 8.",
        "chances = exp(epsilon * scores / 2)  # sensitivity 1",
        "chances = exp(epsilon * scores / (2 * 8))  # one record moves the score by its weight",
        0.5, "whether the first table is chosen", True,
        "A weighted score moves by its weight when one record is added. Choices leak like numbers; "
        "here the largest weight is the sensitivity.", _noisy_max,
    ),
    "mean": Bug(
        "A mean of sensitivity 2 in floating point",
        "The mean of values between 0 and 1, added up in half precision.",
        "total = float16 sum of the values",
        "total = exact sum of whole numbers (or math.fsum)",
        2.0, "the released mean", True,
        "1025 + 0.5 is rounded up to 1026, 1024 + 0.5 down to 1024: one record moved the sum by 2. "
        "In double precision the same begins at 2⁵³. Here counts are whole numbers.", _float_mean,
    ),
    "domain": Bug(
        "Domain read from the data",
        "A histogram of illnesses; one of them has a single patient.",
        "values = sorted(set(column))",
        'values = domain["illness"].values  # declared, public',
        1.0, "number of bars, or the rare bar's height", True,
        "However much noise is on the bars: that there is a third bar says that the patient is "
        "there. Here domains are declared, and one read from data marks its releases.",
        _seen_domain,
    ),
    "ledger": Bug(
        "A ledger of floats",
        "Ten questions of a tenth of the budget each.",
        "while spent < 1.0: ask(); spent += 0.1",
        "Fraction(1, 10) ten times is exactly 1",
        1.0, "mean of the answers", False,
        "Ten times 0.1 is 0.9999999999999999 in floats, so an eleventh question was answered: 10 % "
        "more than promised. No audit of this size sees that: an audit can accuse, it cannot "
        "acquit. Exact fractions can.", _float_ledger,
    ),
    "seed": Bug(
        "One seed twice",
        "Two monthly releases of a count, ρ = 0.5 each; a person left between them.",
        "rng = Generator(seed=2024)  # in both months",
        "noise from the operating system, never repeated",
        1.0, "first release less the second", True,
        "The same noise cancels: what is left is the person, exactly. Here a repeated seed on a "
        "table is refused or marked, and releases draw exact noise without a seed.", _one_seed,
    ),
    "rows": Bug(
        "rows² forgotten",
        "A person has up to four rows.",
        "rho_of_a_person = 4 * rho_of_a_row",
        "rho_of_a_person = 4**2 * rho_of_a_row",
        0.5, "the released count", True,
        "Four rows move a count by 4, and ρ grows with the square: 16 times. Here the domain says "
        "how many rows a person has, and every promise is a person's.", _rows_squared,
    ),
    "bits": Bug(
        "Floating-point noise attacked",
        "A count of 0 or 1 with Gaussian noise in double precision.",
        "release(count + gaussian())",
        "release(count + discrete_gaussian())  # whole numbers have no low bits",
        0.5, "whether the release has bits below 2⁻⁵³", True,
        "Near zero floating-point numbers are finer than near one. A release with very fine bits "
        "cannot be 1 + noise, so the count was 0: certain, whatever ρ says (Mironov 2012). Here "
        "releases draw exact discrete noise.", _low_bits,
    ),
}  # fmt: skip
"""The nine mistakes, in the order of the lab."""
