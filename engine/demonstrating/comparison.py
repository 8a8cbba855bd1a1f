"""Which mechanism is better here? Everything for it under one name.

Every trial compares with the records, so nothing here is private and nothing may be released: the
results are ``NotReleased``, as all of ``evaluation`` is. Trials are simulation: with real data each
of them would spend the budget again.
"""

from engine.demonstrating.attribution import attributed, in_words
from engine.demonstrating.finishes import FINISHES, crossed
from engine.demonstrating.metrics import METRICS
from engine.demonstrating.paths import (
    Point,
    Setting,
    merge_table,
    merge_values,
    path,
    repeat_table,
    spending,
)
from engine.demonstrating.trials import (
    BASELINES,
    CONTENDERS,
    Contender,
    Trial,
    contenders,
    product_of_one_ways,
    trials,
)
from engine.demonstrating.verdicts import (
    HIGH,
    LOW,
    TIE,
    bands,
    by_marginal,
    frame,
    paired,
    relative,
    verdict,
    wins,
)

__all__ = [
    "BASELINES",
    "CONTENDERS",
    "FINISHES",
    "HIGH",
    "LOW",
    "METRICS",
    "TIE",
    "Contender",
    "Point",
    "Setting",
    "Trial",
    "attributed",
    "bands",
    "by_marginal",
    "contenders",
    "crossed",
    "frame",
    "in_words",
    "merge_table",
    "merge_values",
    "paired",
    "path",
    "product_of_one_ways",
    "relative",
    "repeat_table",
    "spending",
    "trials",
    "verdict",
    "wins",
]
