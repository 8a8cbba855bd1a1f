"""Trials as tidy frames, and in words who wins. Not private, as the trials are not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from engine.demonstrating.finishes import in_order, split
from engine.demonstrating.metrics import METRICS
from engine.demonstrating.trials import BASELINES, CONTENDERS, Trial
from engine.domain import Domain
from engine.types import AttributeSet, FloatArray

if TYPE_CHECKING:
    import pandas as pd

LOW, HIGH = 0.1, 0.9
"""A band holds the middle of the trials, between these quantiles."""

# -- trials as frames ------------------------------------------------------------------------------


def frame(results: Iterable[Trial]) -> pd.DataFrame:
    """Return one row a trial. Not private.

    Returns:
        Columns mechanism (key), name, epsilon, trial, seed, those of ``METRICS`` (all divided by
        N), seconds and rounds.
    """
    import pandas as pd

    columns = ["mechanism", "name", "epsilon", "trial", "seed", *METRICS, "seconds", "rounds"]
    return pd.DataFrame(
        [
            [r.mechanism, _name(r.mechanism), r.epsilon, r.trial, r.seed,
             *(r.share(metric) for metric in METRICS), r.seconds, r.rounds]
            for r in results
        ],
        columns=columns,
    )  # fmt: skip


def _name(key: str) -> str:
    """What people call a contender: its name in the catalogue, or the one it was given."""
    return CONTENDERS[key].name if key in CONTENDERS else key


def bands(results: Iterable[Trial], column: str = "mean_l1") -> pd.DataFrame:
    """Return the middle of the trials, for each mechanism and epsilon. Not private.

    Returns:
        Columns mechanism, name, epsilon, median, low and high (10 and 90 % quantiles), mean and
        trials, in the order of ``CONTENDERS`` and of epsilon.
    """
    rows = frame(results)
    known = {key: k for k, key in enumerate(in_order(rows["mechanism"]))}
    rows["place"] = rows["mechanism"].map(known)
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
    from scipy import stats

    mean = float(values.mean())
    low = high = mean
    if len(values) > 1 and np.ptp(values) > 0:  # SciPy warns of values that are all the same
        found = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
        low, high = float(found.low), float(found.high)
    return {
        "difference": mean,
        "low": low,
        "high": high,
        "least": float(values.min()),
        "most": float(values.max()),
        "trials": len(values),
        "better": int((values < 0).sum()),
    }


def wins(results: Iterable[Trial], hero: str, metric: str = "mean_l1") -> pd.DataFrame:
    """Return in how many of the paired trials the hero has the smaller error.

    Returns:
        One row for each rival and epsilon: rival (key), name, epsilon, better, trials, share, and
        ratio (median error of the hero divided by the rival's).
    """
    import pandas as pd

    results = tuple(results)
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
                    "name": _name(rival),
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

    results = tuple(results)  # gone through twice
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
    results: Iterable[Trial], base: str = "residual_planner", metric: str = "mean_l1"
) -> pd.DataFrame:
    """Return error and time as multiples of one mechanism's at the same epsilon: Figure 4.

    Returns:
        Columns mechanism, name, epsilon, error and time: medians over trials divided by the base's.
    """
    results = tuple(results)
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


def verdict(results: Iterable[Trial], hero: str = "aim_grem", metric: str = "mean_l1") -> list[str]:
    """Say who wins and who loses against whom, and above all where the hero loses.

    Each as it answers by itself; ``attribution`` says what other finishes change.
    """
    table = wins([r for r in results if not split(r.mechanism)[1]], hero, metric)
    if not len(table):
        return []
    name = _name(hero)
    sentences = []
    for rival, rows in table.groupby("rival", sort=False):
        ratios = {float(e): float(r) for e, r in zip(rows["epsilon"], rows["ratio"], strict=True)}
        sentences.append(_against(name, _name(str(rival)), ratios))
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
