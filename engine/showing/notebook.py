"""What a notebook shows for a value: a table with a badge, and a picture where one says more.

Values know nothing of it. ``hook`` registers a formatter for each public type with IPython, once;
outside a notebook a value's ``repr`` is all there is.
"""

from __future__ import annotations

import sys
from typing import Any

from engine.accounting import Charge, Ledger
from engine.attributes import Attribute
from engine.completing.release import Release
from engine.demonstrating.evaluation import Comparison, Evaluation, Insight
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
    Table, Workload, *MECHANISMS,
)  # fmt: skip
"""The types that a notebook shows as more than their text."""


def mimebundle(value: object) -> dict[str, Any]:
    """Return what a notebook shows for a value: its text, its table, and pictures if there are."""
    plain = {"text/plain": repr(value), "text/html": render(value)}
    try:
        from engine.showing import sheets

        figures = sheets.picture(value)
    except ImportError:  # without Altair or pandas the table has to do
        return plain
    return sheets.beside(plain, figures)


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
