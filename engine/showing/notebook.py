"""What a notebook shows for a value: a table with a badge, and a picture where one says more.

Values know nothing of it. ``hook`` registers a formatter for each public type with IPython, once;
outside a notebook a value's ``repr`` is all there is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from engine.accounting import Charge, Ledger
from engine.attributes import Attribute
from engine.completing.release import Release
from engine.demonstrating.evaluation import Comparison, Evaluation, Insight
from engine.demonstrating.trials import Trial
from engine.domain import Domain
from engine.forecast import Prediction
from engine.mechanisms.base import Run
from engine.released import Allocation, Belief, Beliefs, Estimate, Measurement
from engine.showing.small_values import MECHANISMS
from engine.showing.values import render
from engine.tables import Private, Table
from engine.trace import Finished, RoundEnded, Started
from engine.workload import Workload

SHOWN = (
    Allocation, Attribute, Belief, Beliefs, Charge, Comparison, Domain, Estimate, Evaluation,
    Finished, Insight, Ledger, Measurement, Prediction, Private, Release, RoundEnded, Run, Started,
    Table, Trial, Workload, *MECHANISMS,
)  # fmt: skip
"""The types that a notebook shows as more than their text."""


def mimebundle(value: object) -> dict[str, Any]:
    """Return what a notebook shows for a value: its text, its table, and pictures if there are."""
    # A plain text: what is marked as HTML would escape the pictures that are added to it.
    plain = {"text/plain": repr(value), "text/html": str(render(value))}
    try:
        from engine.showing import sheets

        figures = sheets.picture(value)
    except ImportError:  # without Altair or pandas the table has to do
        return plain
    return sheets.beside(plain, figures)


_MOST_SHOWN = 6
"""Values of a list that are shown one below the other."""


def several(values: Sequence[object]) -> dict[str, Any] | None:
    """Return what a notebook shows for a list of such values; of anything else what it always does.

    A list of results prints as its texts, each long; here they stand one below the other.
    """
    if not values or not all(isinstance(value, SHOWN) for value in values):
        return None
    shown = [render(value) for value in values[:_MOST_SHOWN]]
    if len(values) > _MOST_SHOWN:
        shown.append(f"<div>… and {len(values) - _MOST_SHOWN:,} more</div>")
    return {"text/plain": repr(values), "text/html": "".join(shown)}


def hook() -> None:
    """Let the running IPython, if there is one, show values this way."""
    if "IPython" not in sys.modules:
        return
    shell = sys.modules["IPython"].get_ipython()
    if shell is None:
        return
    formatter = shell.display_formatter.mimebundle_formatter
    for shown in SHOWN:
        formatter.for_type(shown, mimebundle)
    for kind in (list, tuple):
        formatter.for_type(kind, several)
