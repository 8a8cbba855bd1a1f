"""Which mechanism is better here? Repeated trials on one table, for demonstrations.

Every trial compares with the records, so nothing here is private and nothing may be released: the
results are ``NotReleased``, as all of ``evaluation`` is. Trials are simulation: with real data each
of them would spend the budget again.

The first part makes trials one by one, so that whoever asks can stop between two of them and keep
what is done. The second puts them into tidy frames, and the third says in words who wins.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.accounting import rho_from
from engine.completing.projection import simplex_table
from engine.completing.release import Release
from engine.demonstrating.evaluation import NotReleased
from engine.domain import Attribute, Domain
from engine.errors import OptionError
from engine.mechanisms import catalogue
from engine.mechanisms.base import rounds
from engine.noise import rehearsal_noise
from engine.released import Estimate
from engine.tables import Private, Table
from engine.trace import Finished, RoundEnded
from engine.types import AttributeSet, FloatArray
from engine.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

LOW, HIGH = 0.1, 0.9
"""A band holds the middle of the trials, between these quantiles."""


# -- who competes ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contender:
    """A mechanism under a name for people.

    Args:
        name: What a chart calls it.
        mechanism: What is run.
        one_ways: Whether it measures the 1-way marginals only and answers with their product.
    """

    name: str
    mechanism: Any
    one_ways: bool = False


CONTENDERS: Mapping[str, Contender] = catalogue.Listing(
    "comparison", lambda entry: Contender(entry.label, entry.make(), entry.one_ways)
)
"""The catalogue's mechanisms, in its order."""
BASELINES = ("equal_split", "uniform")
"""Always compared with: who is below these has learnt nothing worth its budget."""


def contenders(*names: str) -> dict[str, Contender]:
    """Return contenders by name, in the order of ``CONTENDERS``.

    Raises:
        OptionError: If a name is none of them, or there is none.
    """
    unknown = [name for name in names if name not in CONTENDERS]
    if unknown or not names:
        raise OptionError(
            f"The mechanisms to compare are {list(names)!r}; one or more of {list(CONTENDERS)} "
            "are needed. Choose some."
        )
    chosen = {catalogue.find(name, "comparison").key for name in names}
    return {key: found for key, found in CONTENDERS.items() if key in chosen}


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

    def share(self, metric: str) -> float:
        """Return ``mean_l1``, ``mean_l2`` or ``max_l1`` divided by N (NaN without records)."""
        value = float(getattr(self, metric))
        return value / self.records if self.records else math.nan

    def __repr__(self) -> str:
        return f"Trial({self.mechanism}, epsilon {self.epsilon:g}; not private, not for release)"


def trials(
    private: Private,
    workload: Workload,
    mechanisms: Mapping[str, Contender],
    *,
    epsilons: Sequence[float],
    delta: float,
    seeds: Sequence[int],
    postprocess: Callable[[Estimate], Estimate] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Trial]:
    """Run every mechanism at every epsilon once for each seed; yield each result as it is there.

    All mechanisms see the first seed before any sees the second, so that a comparison stopped early
    still compares like with like.

    Args:
        private: The records' counts.
        workload: The marginals wanted.
        mechanisms: Who competes, for example ``contenders("aim_grem", "residual_planner")``.
        epsilons: Budgets.
        delta: The other half of each.
        seeds: One for each repetition, the same for all mechanisms.
        postprocess: For example ``engine.simplex``, applied to every answer.
        cancelled: Asked between two rounds; once true, the unfinished trial is dropped.

    Raises:
        BudgetError: If a budget or a seed is none; before the first trial.
        DataError, WorkloadError, SolverError: As running the mechanisms does.
    """
    rho = {epsilon: Fraction(rho_from(epsilon=epsilon, delta=delta)) for epsilon in epsilons}
    for seed in seeds:
        rehearsal_noise(seed)  # refuses what is no seed
    private.counts(workload.layout)
    for contender in mechanisms.values():
        _warm_up(contender, private, workload, max(rho.values(), default=Fraction(1)))
    for number, seed in enumerate(seeds):
        for epsilon in epsilons:
            for key, contender in mechanisms.items():
                done = _run(contender, private, workload, rho[epsilon], seed, cancelled)
                if done is None:
                    return
                errors, seconds, made = _judge(contender, *done, private, workload, postprocess)
                yield _trial(key, epsilon, number, seed, errors, private, seconds, made)


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
) -> tuple[Release, float, int] | None:
    """Run to the end: release, seconds and rounds; None if cancelled."""
    began, made = time.perf_counter(), 0
    last: Any = None
    for current in _rounds(contender, private, workload, rho, seed):
        if cancelled():
            return None
        last, made = current[0], made + isinstance(current[1], RoundEnded)
    return contender.mechanism.release(last), time.perf_counter() - began, made


def _judge(
    contender: Contender,
    release: Release,
    seconds: float,
    made: int,
    private: Private,
    workload: Workload,
    postprocess: Callable[[Estimate], Estimate] | None,
) -> tuple[dict[AttributeSet, tuple[float, float]], float, int]:
    """True errors of every answer; the clock runs while answering, not while judging."""
    errors = {}
    for attrs in workload.weights:
        began = time.perf_counter()
        answer = product_of_one_ways(release, attrs) if contender.one_ways else None
        answer = release.estimate(*attrs) if answer is None else answer
        answer = postprocess(answer) if postprocess else answer
        seconds += time.perf_counter() - began
        difference = (answer.values - private.marginal(attrs).values).ravel()
        errors[attrs] = (
            float(np.abs(difference).sum()),
            math.sqrt(float(difference @ difference)),
        )
    return errors, seconds, made


def _trial(
    key: str,
    epsilon: float,
    number: int,
    seed: int,
    errors: Mapping[AttributeSet, tuple[float, float]],
    private: Private,
    seconds: float,
    made: int,
) -> Trial:
    l1 = [one for one, _ in errors.values()]
    return Trial(
        mechanism=key,
        epsilon=epsilon,
        trial=number,
        seed=seed,
        mean_l1=math.fsum(l1) / len(l1),
        mean_l2=math.fsum(two for _, two in errors.values()) / len(l1),
        max_l1=max(l1),
        records=int(private.marginal(()).values),
        seconds=seconds,
        rounds=made,
        per_marginal={attrs: one for attrs, (one, _) in errors.items()},
    )


# -- trials as frames ------------------------------------------------------------------------------

METRICS: Mapping[str, str] = {
    "mean_l1": "mean L1 error ÷ N",
    "mean_l2": "mean L2 error ÷ N",
    "max_l1": "largest L1 error ÷ N",
}


def frame(results: Iterable[Trial]) -> pd.DataFrame:
    """Return one row a trial. Not private.

    Returns:
        Columns mechanism (key), name, epsilon, trial, seed, mean_l1, mean_l2, max_l1 (all divided
        by N), seconds and rounds.
    """
    import pandas as pd

    columns = ["mechanism", "name", "epsilon", "trial", "seed", *METRICS, "seconds", "rounds"]
    return pd.DataFrame(
        [
            [r.mechanism, CONTENDERS[r.mechanism].name, r.epsilon, r.trial, r.seed,
             *(r.share(metric) for metric in METRICS), r.seconds, r.rounds]
            for r in results
        ],
        columns=columns,
    )  # fmt: skip


def bands(results: Iterable[Trial], column: str = "mean_l1") -> pd.DataFrame:
    """Return the middle of the trials, for each mechanism and epsilon. Not private.

    Returns:
        Columns mechanism, name, epsilon, median, low and high (10 and 90 % quantiles), mean and
        trials, in the order of ``CONTENDERS`` and of epsilon.
    """
    rows = frame(results)
    rows["place"] = rows["mechanism"].map({key: k for k, key in enumerate(CONTENDERS)})
    grouped = rows.groupby(["place", "mechanism", "name", "epsilon"])[column]
    out = grouped.agg(median="median", mean="mean", trials="size")
    out.insert(1, "low", grouped.quantile(LOW))
    out.insert(2, "high", grouped.quantile(HIGH))
    return out.reset_index().drop(columns="place")


def paired(
    results: Iterable[Trial], first: str, second: str, metric: str = "mean_l1"
) -> pd.DataFrame:
    """Return by how much the first mechanism is worse than the second, seed by seed.

    Returns:
        One row an epsilon: epsilon, difference (mean over trials of first / second - 1; negative:
        the first is better), low and high (its 95 % t interval; equal to it with one trial), least
        and most (over trials), trials and better (how many of them the first wins).
    """
    import pandas as pd

    wide = frame(results).pivot_table(
        index=["epsilon", "trial"], columns="mechanism", values=metric, aggfunc="first"
    )
    if not {first, second} <= set(wide.columns):
        return pd.DataFrame(
            columns=["epsilon", "difference", "low", "high", "least", "most", "trials", "better"]
        )
    relative = (wide[first] / wide[second] - 1).dropna()
    return pd.DataFrame(
        [
            {"epsilon": float(epsilon), **_interval(values.to_numpy(dtype=float))}  # type: ignore[arg-type]
            for epsilon, values in relative.groupby(level="epsilon")
        ]
    )


def _interval(values: FloatArray) -> dict[str, float]:
    """Mean with its 95 % t interval."""
    from scipy import special

    count, mean = len(values), float(values.mean())
    half = 0.0
    if count > 1:
        t = float(special.stdtrit(count - 1, 0.975))
        half = t * float(values.std(ddof=1)) / math.sqrt(count)
    return {
        "difference": mean,
        "low": mean - half,
        "high": mean + half,
        "least": float(values.min()),
        "most": float(values.max()),
        "trials": count,
        "better": int((values < 0).sum()),
    }


def wins(results: Sequence[Trial], hero: str, metric: str = "mean_l1") -> pd.DataFrame:
    """Return in how many of the paired trials the hero has the smaller error.

    Returns:
        One row for each rival and epsilon: rival (key), name, epsilon, better, trials, share, and
        ratio (median error of the hero divided by the rival's).
    """
    import pandas as pd

    middle = bands(results, metric).set_index(["mechanism", "epsilon"])["median"]
    rows = []
    for rival in dict.fromkeys(r.mechanism for r in results):
        if rival == hero:
            continue
        for row in paired(results, hero, rival, metric).itertuples():
            epsilon = float(row.epsilon)  # type: ignore[arg-type]
            rows.append(
                {
                    "rival": rival,
                    "name": CONTENDERS[rival].name,
                    "epsilon": epsilon,
                    "better": row.better,
                    "trials": row.trials,
                    "share": row.better / row.trials,  # type: ignore[operator]
                    "ratio": float(middle[hero, epsilon] / middle[rival, epsilon]),
                }
            )
    columns = ["rival", "name", "epsilon", "better", "trials", "share", "ratio"]
    return pd.DataFrame(rows, columns=columns)


def by_marginal(
    results: Iterable[Trial], first: str, second: str, epsilon: float, domain: Domain
) -> pd.DataFrame:
    """Return each marginal's error under two mechanisms, means over trials.

    Returns:
        Columns label, cells, first and second (L1 error divided by N) and difference (first less
        second), the largest differences first.
    """
    import pandas as pd

    means: dict[str, dict[AttributeSet, float]] = {}
    for key in (first, second):
        chosen = [r for r in results if r.mechanism == key and r.epsilon == epsilon and r.records]
        means[key] = {
            attrs: math.fsum(r.per_marginal[attrs] / r.records for r in chosen) / len(chosen)
            for attrs in (chosen[0].per_marginal if chosen else ())
        }
    rows = [
        {
            "label": domain.label(attrs),
            "cells": domain.cells(attrs),
            "first": means[first][attrs],
            "second": means[second][attrs],
            "difference": means[first][attrs] - means[second][attrs],
        }
        for attrs in means[first]
        if attrs in means[second]
    ]
    columns = ["label", "cells", "first", "second", "difference"]
    return pd.DataFrame(rows, columns=columns).sort_values(
        "difference", key=np.abs, ascending=False, ignore_index=True
    )


def relative(
    results: Sequence[Trial], base: str = "residual_planner", metric: str = "mean_l1"
) -> pd.DataFrame:
    """Return error and time as multiples of one mechanism's at the same epsilon: Figure 4.

    Returns:
        Columns mechanism, name, epsilon, error and time: medians over trials divided by the base's.
    """
    error = bands(results, metric)
    seconds = bands(results, "seconds")
    joined = error.assign(seconds=seconds["median"])
    reference = joined[joined["mechanism"] == base].set_index("epsilon")
    kept = joined[joined["epsilon"].isin(reference.index)]
    out = kept[["mechanism", "name", "epsilon"]].copy()
    out["error"] = kept["median"].to_numpy() / reference.loc[kept["epsilon"], "median"].to_numpy()
    out["time"] = kept["seconds"].to_numpy() / reference.loc[kept["epsilon"], "seconds"].to_numpy()
    return out.reset_index(drop=True)


# -- in words --------------------------------------------------------------------------------------

TIE = 0.02
"""Median errors closer than this, as a share, are called equal."""


def verdict(results: Sequence[Trial], hero: str = "aim_grem", metric: str = "mean_l1") -> list[str]:
    """Say who wins and who loses against whom, and above all where the hero loses."""
    table = wins(results, hero, metric)
    if not len(table):
        return []
    name = CONTENDERS[hero].name
    sentences = []
    for rival, rows in table.groupby("rival", sort=False):
        ratios = {float(e): float(r) for e, r in zip(rows["epsilon"], rows["ratio"], strict=True)}
        sentences.append(_against(name, CONTENDERS[str(rival)].name, ratios))
    below = table[table["rival"].isin([*BASELINES, "product"]) & (table["ratio"] > 1 + TIE)]
    if len(below):
        pairs = "; ".join(
            f"{row['name']} at ε = {row['epsilon']:g}" for row in below.to_dict("records")
        )
        sentences.insert(0, f"{name} is under a baseline here: {pairs}.")
    return sentences


def _against(name: str, rival: str, ratios: Mapping[float, float]) -> str:
    wins_at = {e: r for e, r in ratios.items() if r < 1 - TIE}
    loses_at = {e: r for e, r in ratios.items() if r > 1 + TIE}
    if not wins_at and not loses_at:
        return f"{name} and {rival} do equally well."
    parts = []
    if loses_at:
        worst = max(loses_at.values())
        parts.append(f"loses to {rival} at ε = {_list(loses_at)} (error up to {worst:.3g} times)")
    if wins_at:
        best = 1 / min(wins_at.values())
        other = "it" if loses_at else rival
        parts.append(f"beats {other} at ε = {_list(wins_at)} (error down to 1/{best:.3g})")
    return f"{name} {' and '.join(parts)}."


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(values))


# -- two settings, round by round ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    """One of two settings to be overlaid.

    Args:
        private: Its records' counts.
        workload: What it asks for.
        rho: Its budget.
        merged: Attribute position -> how many adjacent values become one when it is judged.
    """

    private: Private
    workload: Workload
    rho: Fraction
    merged: Mapping[int, int]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Point(NotReleased):
    """Where one setting's run stands after a round, judged by the truth. Not private.

    Args:
        round: 0 is before the first.
        spent: Share of its own budget spent.
        error: Mean L1 error over the judged marginals divided by N (in records without any).
        per_marginal: The same for each of them.
        release: What could be released then.
    """

    round: int
    spent: float
    error: float
    per_marginal: Mapping[AttributeSet, float]
    release: Release

    def __repr__(self) -> str:
        return f"Point(round {self.round}; not private, not for release)"


def path(
    mechanism: Any,
    setting: Setting,
    truth: Private,
    sets: Sequence[AttributeSet],
    *,
    seed: int,
    every: float = 0.0,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Point]:
    """Run one setting and judge it as it goes on.

    Args:
        mechanism: What is run.
        setting: On what, and with how much.
        truth: The counts to judge by; coarser than the setting's own where it is ``merged``.
        sets: The marginals to judge, all within the workload's closure.
        seed: Where the noise starts.
        every: Least share of the budget between two judgements; judging can take longer than a
            round. The start and the end are always judged.
        cancelled: Asked between two rounds.
    """
    records = int(truth.marginal(()).values)
    noise, judged, made = rehearsal_noise(seed), -math.inf, 0
    stream = rounds(mechanism, setting.private, setting.workload, rho=setting.rho, rng=noise)
    for state, event in stream:
        if cancelled():
            return
        made += isinstance(event, RoundEnded)
        last = mechanism.done(state)
        release = mechanism.release(state)
        spent = float(release.ledger.spent / setting.rho)
        if isinstance(event, Finished) or (spent - judged < every and not last and made):
            continue
        judged = spent
        errors = {a: _merged_error(release, a, truth, setting.merged) for a in sets}
        shares = {a: e / records if records else e for a, e in errors.items()}
        yield Point(made, spent, math.fsum(shares.values()) / len(shares), shares, release)


def _merged_error(
    release: Release, attrs: AttributeSet, truth: Private, merged: Mapping[int, int]
) -> float:
    values = merge_values(release.estimate(*attrs).values, attrs, merged)
    return float(np.abs(values - truth.marginal(attrs).values).sum())


def merge_values(values: FloatArray, attrs: AttributeSet, merged: Mapping[int, int]) -> FloatArray:
    """Add up adjacent values: the coarser table that a finer one says."""
    for axis, i in enumerate(attrs):
        if i in merged:
            starts = np.arange(0, values.shape[axis], merged[i])
            values = np.add.reduceat(values, starts, axis=axis)
    return values


def merge_table(table: Table, merged: Mapping[int, int]) -> Table:
    """Return the table with every so many adjacent values of an attribute made one.

    Adjacent in the declared order; the last group may hold fewer. Deciding this without looking at
    the records costs nothing, deciding it from them would.

    Raises:
        OptionError: If a group has less than one value.
    """
    if any(size < 1 for size in merged.values()):
        raise OptionError("A group of values needs at least one. Choose 1 to merge nothing.")
    domain = Domain(
        tuple(_merge(attribute, merged.get(i, 1)) for i, attribute in enumerate(table.domain))
    )
    divisors = np.array([merged.get(i, 1) for i in range(len(table.domain))])
    return Table.from_codes((table.codes // divisors[:, None]).T, domain)


def _merge(attribute: Attribute, size: int) -> Attribute:
    if size == 1:
        return attribute
    labels = attribute.labels
    groups = [labels[k : k + size] for k in range(0, len(labels), size)]
    values = tuple(g[0] if len(g) == 1 else f"{g[0]} – {g[-1]}" for g in groups)
    return Attribute(attribute.name, values=values)


def repeat_table(table: Table, times: int) -> Table:
    """Return a table with every record so many times: a simulation of a larger population."""
    return Table.from_codes(np.tile(table.codes, (1, times)).T, table.domain)


def spending(release: Release) -> dict[int, float]:
    """Return what was spent on measuring residuals over 0, 1, 2, ... attributes, as shares of rho.

    Released values only: precision times cost of each residual, half of it.
    """
    from engine.residuals import privacy_cost

    shares: dict[int, float] = {}
    for attrs, belief in release.beliefs.items():
        cost = float(privacy_cost(release.domain.shape(attrs))) * belief.precision / 2
        shares[len(attrs)] = shares.get(len(attrs), 0.0) + cost / float(release.ledger.total)
    return dict(sorted(shares.items()))
