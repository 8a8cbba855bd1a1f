"""How a round selected, and the true error after it. Not private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.demonstrating.glimpses import Glimpse
from engine.domain import Domain
from engine.showing.badges import NOT_PRIVATE
from engine.showing.framed import framed
from engine.types import AttributeSet

if TYPE_CHECKING:
    from engine.showing.frame import Frame


def selection(seen: Glimpse, domain: Domain, chosen: AttributeSet | None) -> Frame:
    """Return how a round selected. Not private.

    Returns:
        One row a candidate, most probable first: label, weight, l1, error, noise, score,
        probability and chosen.
    """
    return framed(
        [
            {
                "label": domain.label(c.attrs),
                "weight": c.weight,
                "l1": c.l1,
                "error": c.error_term,
                "noise": c.noise_term,
                "score": c.error_term - c.noise_term,
                "probability": c.probability,
                "chosen": c.attrs == chosen,
            }
            for c in seen.candidates
        ],
        NOT_PRIVATE,
    )


def errors(mean_errors: Sequence[float], records: int) -> Frame:
    """Return the error after each round. Not private.

    Returns:
        Columns round (0: before the first one) and error: mean L1 over the workload's marginals
        divided by N, or in records if there are none.
    """
    values = [error / records if records else error for error in mean_errors]
    return framed({"round": range(len(values)), "error": values}, NOT_PRIVATE)
