"""Repeated trials of several mechanisms on one table: who competes, and each trial's true error.

Trials are made one by one, so that whoever asks can stop between two of them and keep what is done.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from engine.accounting import rho_from
from engine.checking import expect, found
from engine.completing.projection import simplex_table
from engine.completing.release import Release
from engine.demonstrating.evaluation import NotReleased
from engine.demonstrating.finishes import FINISHES, SIGN, Crossed, answers, in_order, split
from engine.demonstrating.metrics import MarginalError, distance
from engine.errors import OptionError
from engine.mechanisms import catalogue
from engine.mechanisms.base import rounds
from engine.mechanisms.protocols import Mechanism
from engine.noise import rehearsal_noise
from engine.released import Estimate
from engine.tables import CountSource, Private
from engine.trace import RoundEnded, Work
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload

# -- who competes ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contender:
    """A mechanism under a name for people.

    Args:
        name: What a chart calls it.
        mechanism: What is run.
        one_ways: Whether it measures the 1-way marginals only and answers with their product.
        finish: What is done to its answers (``FINISHES``); empty: what it does itself.
    """

    name: str
    mechanism: Any
    one_ways: bool = False
    finish: str = ""


def _finished(contender: Contender, finish: str) -> Contender:
    return replace(contender, name=f"{contender.name}, {FINISHES[finish]}", finish=finish)


CONTENDERS: Mapping[str, Contender] = Crossed(
    "comparison", lambda entry: Contender(entry.label, entry.make(), entry.one_ways), _finished
)
"""The catalogue's mechanisms, in its order; ``"residual_planner+simplex"`` is found too."""
BASELINES = ("equal_split", "uniform")
"""Always compared with: who is below these has learnt nothing worth its budget."""


def contenders(*names: str) -> dict[str, Contender]:
    """Return contenders by name, in the order of ``CONTENDERS``.

    Args:
        *names: Of the catalogue; ``"residual_planner+simplex"`` has a finish of ``FINISHES``.

    Raises:
        OptionError: If a name is none of them, or there is none.
    """
    unknown = [name for name in names if name not in CONTENDERS]
    if unknown or not names:
        raise OptionError(
            f"The mechanisms to compare are {list(names)!r}; one or more of {list(CONTENDERS)} "
            "are needed. Choose some."
        )
    chosen = []
    for name in names:
        base, finish = split(name)
        key = catalogue.find(base, "comparison").key
        chosen.append(f"{key}{SIGN}{finish}" if finish else key)
    return {key: CONTENDERS[key] for key in in_order(chosen)}


def product_of_one_ways(release: Release, attrs: AttributeSet) -> Estimate:
    """Answer a marginal as if its attributes had nothing to do with each other.

    The released 1-way marginals, moved to the nearest ones without negative counts, are multiplied:
    post-processing, so free of charge.
    """
    total = max(float(release.estimate().values), 0.0)
    values: FloatArray = np.array(total)
    for i in attrs:
        counts = simplex_table(release.estimate(i).values)
        counted = float(counts.sum())
        share = counts / counted if counted > 0 else np.full(counts.shape, 1 / counts.size)
        values = np.multiply.outer(values, share)
    return Estimate(release.domain, attrs, np.asarray(values), None, completion="product")


# -- trials ----------------------------------------------------------------------------------------

Key: TypeAlias = tuple[str, float, int]
"""Mechanism, epsilon and seed of a trial."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trial(NotReleased):
    """One run and its true error. Not private, no export.

    Args:
        mechanism: Key of the contender.
        epsilon: Its budget.
        trial: Number of the repetition; the same number is the same seed for every contender.
        seed: That seed.
        mean_l1: Mean over the workload's marginals of the L1 error, in records.
        mean_l2: Mean of the L2 error.
        max_l1: Largest L1 error.
        records: The true number of records.
        seconds: Time to run and to answer every marginal; counting is not in it.
        rounds: Rounds made.
        per_marginal: L1 error of each marginal, in records.
        one_way: Mean L1 error of the single attributes that the answers add up to, in records.
        ranges: Mean error of the counts of ranges, in records.
        work: What the rounds took, counted.
    """

    mechanism: str
    epsilon: float
    trial: int
    seed: int
    mean_l1: float
    mean_l2: float
    max_l1: float
    records: int
    seconds: float
    rounds: int
    per_marginal: Mapping[AttributeSet, float]
    one_way: float = math.nan
    ranges: float = math.nan
    work: Work = field(default_factory=Work)

    @property
    def key(self) -> Key:
        """What tells it apart: mechanism, epsilon and seed."""
        return (self.mechanism, self.epsilon, self.seed)

    @property
    def error(self) -> float:
        """Mean L1 error divided by the number of records."""
        return self.share("mean_l1")

    def share(self, metric: str) -> float:
        """Return one of ``metrics.METRICS`` divided by N (NaN without records)."""
        value = float(getattr(self, metric))
        return value / self.records if self.records else math.nan

    def __repr__(self) -> str:
        return f"Trial({self.mechanism}, epsilon {self.epsilon:g}; not private, not for release)"


def trials(
    table: CountSource | Private,
    workload: Workload,
    mechanisms: Mapping[str, Any] | Sequence[str],
    *,
    epsilons: Sequence[float] = (1.0,),
    delta: float = 1e-9,
    seeds: Sequence[int] = (0, 1, 2),
    done: Iterable[Trial | Key] = (),
    postprocess: Callable[[Estimate], Estimate] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Trial]:
    """Run every mechanism at every epsilon once for each seed; yield each result as it is there.

    A simulation with true errors: not private. All mechanisms see the first seed before any sees
    the second, so that whoever stops early still compares like with like. Give what is there as
    ``done`` and the same call goes on where it stopped.

    Args:
        table: The private records (or ``Private(table)``, which keeps its counts).
        workload: The marginals wanted.
        mechanisms: Who competes: names of the catalogue, such as ``["aim_grem", "uniform"]``, with
            a finish if wanted (``"uniform+simplex"``; those that differ in nothing else share one
            run), or mechanisms by a name of yours, such as ``{"mine": Mine()}``.
        epsilons: Budgets.
        delta: The other half of each.
        seeds: One for each repetition, the same for all mechanisms: trials are paired.
        done: Trials made before, which are not made again; or their (mechanism, epsilon, seed).
        postprocess: For example ``engine.simplex``, applied to every answer.
        cancelled: Asked between two rounds; once true, the unfinished trial is dropped.

    Raises:
        BudgetError: If a budget or a seed is none; before the first trial, like what follows.
        OptionError: If a name is in no catalogue, or something is no mechanism.
        DataError, WorkloadError, SolverError: As running the mechanisms does.

    >>> from engine.samples import load_sample
    >>> titanic = load_sample("titanic")
    >>> pairs = Workload.all_kway(titanic.domain, 2)
    >>> made = list(trials(titanic, pairs, ["residual_planner", "uniform"], seeds=[0, 1]))
    >>> [trial.mechanism for trial in made]
    ['residual_planner', 'uniform', 'residual_planner', 'uniform']
    >>> made[0].mean_l1 < made[1].mean_l1
    True
    >>> list(trials(titanic, pairs, ["uniform"], seeds=[0, 1], done=made))
    []
    """
    # Long: most of it checks arguments before the generator starts, so that errors come at once.
    expect(workload, Workload, "a Workload", "Write Workload.all_kway(table.domain, 2).")
    competing = _competing(mechanisms)
    for name, given in (("epsilons", epsilons), ("seeds", seeds)):
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise OptionError(
                f"{name} is {given!r}; a list is needed. Write {name}=[{given}] for one of them."
            )
    rho = {epsilon: Fraction(rho_from(epsilon=epsilon, delta=delta)) for epsilon in epsilons}
    seeds = [*seeds]
    for seed in seeds:
        rehearsal_noise(seed)  # refuses what is no seed
    private = table if isinstance(table, Private) else Private(table)
    done = [*done]
    for one in done:
        expect(one, (Trial, tuple), "a trial made before", "Give done= what trials yielded.")
    known = {one.key if isinstance(one, Trial) else tuple(one) for one in done}
    plan = [
        (number, epsilon, key)
        for number in range(len(seeds))
        for epsilon in rho
        for key in competing
        if (key, epsilon, seeds[number]) not in known
    ]

    def make() -> Iterator[Trial]:
        if plan:
            private.counts(workload.layout)
        for key in dict.fromkeys(key for _, _, key in plan):
            _warm_up(competing[key], private, workload, max(rho.values()))
        runs: dict[tuple[int, float, str], tuple[Release, float, list[Work]] | None] = {}
        for number, epsilon, key in plan:
            seed, contender = seeds[number], competing[key]
            # Contenders that differ in their finish alone have one run: it is judged twice.
            here = (number, epsilon, split(key)[0] if contender.finish else key)
            if here not in runs:
                runs = {there: run for there, run in runs.items() if there[:2] == here[:2]}
                runs[here] = _run(contender, private, workload, rho[epsilon], seed, cancelled)
            release = runs[here]
            if release is None:
                return
            judged = _judge(contender, *release, private, workload, postprocess)
            yield _trial(key, epsilon, number, seed, private, *judged)

    return make()


def _competing(mechanisms: Mapping[str, Any] | Sequence[str]) -> dict[str, Contender]:
    """Take names of the catalogue, or mechanisms by any name."""
    if isinstance(mechanisms, Mapping):
        named = {
            key: one if isinstance(one, Contender) else Contender(key, one)
            for key, one in mechanisms.items()
        }
    elif isinstance(mechanisms, Iterable) and not isinstance(mechanisms, str):
        names = [*mechanisms]
        for name in names:
            expect(name, str, "a mechanism's name", 'Write {"a name": AimGrem()} for a mechanism.')
        return contenders(*names)
    else:
        raise OptionError(
            f"{found(mechanisms)} was given where mechanisms are needed. Write a list of names "
            'such as ["aim_grem"], or a dict such as {"mine": AimGrem()}.'
        )
    for key, contender in named.items():
        if isinstance(contender.mechanism, type) or not isinstance(contender.mechanism, Mechanism):
            raise OptionError(
                f"{key!r} is {found(contender.mechanism)} where a mechanism is needed. Make one, "
                "for example engine.AimGrem()."
            )
    return named


def _warm_up(contender: Contender, private: Private, workload: Workload, rho: Fraction) -> None:
    """Make one round that nobody times: what is compiled on first use is then compiled."""
    stream = _rounds(contender, private, workload, rho, seed=0)
    next(stream)
    next(stream)


def _rounds(
    contender: Contender, private: Private, workload: Workload, rho: Fraction, seed: int
) -> Iterator[tuple[Any, Any]]:
    asked = _one_ways(workload) if contender.one_ways else workload
    return rounds(contender.mechanism, private, asked, rho=rho, rng=rehearsal_noise(seed))


def _one_ways(workload: Workload) -> Workload:
    singles = [attrs for attrs in workload.closure if len(attrs) == 1]
    return Workload(singles or [()], workload.domain)


def _run(
    contender: Contender,
    private: Private,
    workload: Workload,
    rho: Fraction,
    seed: int,
    cancelled: Callable[[], bool],
) -> tuple[Release, float, list[Work]] | None:
    """Run to the end: release, seconds and each round's work; None if cancelled."""
    began, made = time.perf_counter(), []
    last: Any = None
    for state, event in _rounds(contender, private, workload, rho, seed):
        if cancelled():
            return None
        last = state
        if isinstance(event, RoundEnded):
            made.append(event.work)
    return contender.mechanism.release(last), time.perf_counter() - began, made


def _judge(
    contender: Contender,
    release: Release,
    seconds: float,
    made: list[Work],
    private: Private,
    workload: Workload,
    postprocess: Callable[[Estimate], Estimate] | None,
) -> tuple[dict[AttributeSet, MarginalError], float, list[Work]]:
    """True errors of every answer; the clock runs while answering, not while judging."""
    errors = {}
    began = time.perf_counter()
    answering = answers(release, contender.finish)
    seconds += time.perf_counter() - began
    for attrs in workload.weights:
        began = time.perf_counter()
        answer = product_of_one_ways(release, attrs) if contender.one_ways else answering(attrs)
        answer = postprocess(answer) if postprocess else answer
        seconds += time.perf_counter() - began
        errors[attrs] = distance(answer.values, private.marginal(attrs).values)
    return errors, seconds, made


def _trial(
    key: str,
    epsilon: float,
    number: int,
    seed: int,
    private: Private,
    errors: Mapping[AttributeSet, MarginalError],
    seconds: float,
    made: list[Work],
) -> Trial:
    l1 = [error.l1 for error in errors.values()]
    return Trial(
        mechanism=key,
        epsilon=epsilon,
        trial=number,
        seed=seed,
        mean_l1=math.fsum(l1) / len(l1),
        mean_l2=math.fsum(error.l2 for error in errors.values()) / len(l1),
        max_l1=max(l1),
        records=int(private.marginal(()).values),
        seconds=seconds,
        rounds=len(made),
        per_marginal={attrs: error.l1 for attrs, error in errors.items()},
        one_way=math.fsum(error.one_way for error in errors.values()) / len(l1),
        ranges=math.fsum(error.ranges for error in errors.values()) / len(l1),
        work=Work(*(sum(getattr(one, name) for one in made) for name in Work.__dataclass_fields__)),
    )
