"""How much of a win is post-processing? Each side with its best finish. Not private."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.demonstrating.finishes import FINISHES, split
from engine.demonstrating.trials import CONTENDERS, Trial
from engine.demonstrating.verdicts import TIE, bands

if TYPE_CHECKING:
    import pandas as pd


def attributed(
    results: Iterable[Trial], hero: str, rival: str, metric: str = "mean_l1"
) -> pd.DataFrame:
    """Split the hero's lead over a rival into what measuring and what post-processing brought.

    Ratios of median errors multiply: the lead as both answer by themselves is the lead with the
    best post-processing of each, times what post-processing changes. Shares are of its logarithm.

    Returns:
        One row an epsilon: epsilon, itself (hero's error divided by the rival's, as they answer),
        alike (the same, each with its best finish), first and second (those finishes; empty: its
        own) and share (of a win that is post-processing, from 0 to 1; NaN where there is no win).
        Empty unless both have a finish beside their own.
    """
    import pandas as pd

    middle = bands(results, metric)
    rows = []
    for epsilon, at in middle.groupby("epsilon"):
        errors = dict(zip(at["mechanism"], at["median"], strict=True))
        first, second = _best(errors, hero), _best(errors, rival)
        if hero not in errors or rival not in errors or first is None or second is None:
            continue
        itself = errors[hero] / errors[rival]
        alike = errors[first] / errors[second]
        rows.append(
            {"epsilon": epsilon, "itself": itself, "alike": alike,
             "first": split(first)[1], "second": split(second)[1],
             "share": _share(itself, alike)}
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["epsilon", "itself", "alike", "first", "second", "share"])


def _best(errors: dict[str, float], key: str) -> str | None:
    """The finish of a mechanism with the least error; None if it was tried with none."""
    tried = [name for name in errors if split(name)[0] == key]
    return min(tried, key=errors.__getitem__) if len(tried) > 1 else None


def _share(itself: float, alike: float) -> float:
    if not 0 < itself < 1 - TIE or not alike > 0:
        return math.nan
    return min(max(1 - math.log(alike) / math.log(itself), 0.0), 1.0)


def in_words(
    results: Iterable[Trial], hero: str, rival: str, metric: str = "mean_l1"
) -> str | None:
    """Say which part of a win is post-processing; None where no finish was compared."""
    table = attributed(results, hero, rival, metric)
    if not len(table):
        return None
    first, second = CONTENDERS[hero].name, CONTENDERS[rival].name
    parts = []
    for row in table.to_dict("records"):
        ends = f"{_word(row['first'])}; {_word(row['second'])}"
        parts.append(
            f"at ε = {row['epsilon']:g} its error is {row['itself']:.3g} times {second}'s as both "
            f"answer, {row['alike']:.3g} times with the best finish of each ({ends}): "
            f"{_part(row['share'])}"
        )
    return f"{first} and post-processing: {'; '.join(parts)}."


def _part(share: float) -> str:
    if math.isnan(share):
        return "no win to share out"
    if share > 0.995:
        return "all of the win is post-processing"
    if share < 0.005:
        return "none of the win is post-processing"
    return f"about {100 * share:.0f} % of the win is post-processing"


def _word(finish: str) -> str:
    return FINISHES.get(finish, "its own")
