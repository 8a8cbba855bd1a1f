"""What a round did, and why, in sentences."""

from __future__ import annotations

from engine.demonstrating.glimpses import Glimpse
from engine.domain import Domain
from engine.trace import RoundEnded


def explain_released(event: RoundEnded, domain: Domain) -> list[str]:
    """Say what a round did, from released values alone: two sentences at most."""
    if event.selected is None or event.change is None or event.threshold is None:
        count = len(event.measurements)
        if any(allocation.known for allocation in event.allocations):
            return [
                f"Everything asked for was measured, more where less was known: {count} residuals."
            ]
        return [f"Everything was planned from sizes alone and measured at once: {count} residuals."]
    moved, noise = f"{event.change:,.0f}", f"{event.threshold:,.0f}"
    first = (
        f"The answer for {domain.label(event.selected)} moved by {moved} records in all; "
        f"noise alone would move it by about {noise}."
    )
    if event.last:
        return [first, "This was the last round: it had all the budget that was left."]
    if event.annealed:
        return [first, "That is no more than noise, so the next rounds get four times the budget."]
    return [first, "That is more than noise, so the round budgets stay as they are."]


def explain(
    event: RoundEnded, seen: Glimpse, domain: Domain, mean_errors: tuple[float, float], records: int
) -> list[str]:
    """Say why a round chose what it chose and what came of it. Not private.

    Args:
        event: The round.
        seen: How it selected.
        domain: Names.
        mean_errors: Mean L1 error over the workload before and after, records.
        records: The true number of records.
    """
    row = next(c for c in seen.candidates if c.attrs == event.selected)
    noise = row.noise_term / row.weight
    before, after = (e / records if records else e for e in mean_errors)
    better = "fell" if after < before else "rose"
    unit = " of N" if records else " records"
    return [
        f"{domain.label(row.attrs)} was off by {row.l1:,.0f} records in all, where this round's "
        f"noise alone leaves about {noise:,.0f}; it had a chance of {percent(row.probability)}.",
        f"The mean error over the workload {better} from {before:.3g} to {after:.3g}{unit}.",
    ]


def percent(share: float) -> str:
    """Write a share for people; tiny and nearly whole ones are not rounded away.

    What rounding alone keeps from the whole is the whole: a finished run spends its budget but for
    a few units in the last place.
    """
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1 - 1e-12:
        return "> 99.9 %"
    return f"{100 * share:.3g} %"


def after(number: int) -> str:
    """Say after which round."""
    return "before the first round" if number == 0 else f"after round {number}"
