"""What a notebook says of each result: small tables with a badge that says who may see them.

No record, no exact count and no number of records is ever among what is shown here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from markupsafe import Markup

from engine.accounting import Ledger
from engine.completing.release import Release
from engine.demonstrating.evaluation import Comparison, Evaluation, Insight
from engine.demonstrating.trials import Trial
from engine.domain import Domain
from engine.mechanisms.base import Run
from engine.released import Estimate
from engine.showing.badges import NOT_PRIVATE, PUBLIC, RELEASED
from engine.showing.html import RECORDS, bar, box, escape, facts, line, table, warning
from engine.showing.palette import BLUE
from engine.tables import Private, Table
from engine.trace import RoundEnded
from engine.types import AttributeSet
from engine.workload import Workload

_MOST_ROWS = 12


@singledispatch
def render(value: object) -> str:
    """Return the HTML of a result; of anything else its escaped text."""
    return line("<code>{}</code>", escape(repr(value), longest=400))


def _more(count: int, what: str) -> str:
    return line("and {} more {}", f"{count:,}", what) if count > 0 else ""


def _number(value: float) -> str:
    return f"{value:,.4g}" if math.isfinite(value) and abs(value) < 10_000 else f"{value:,.0f}"


def _percent(share: float) -> str:
    if 0 < share < NOTHING:
        return "0 %"
    return "< 0.1 %" if 0 < share < 0.001 else f"{100 * share:.3g} %"


NOTHING = 1e-9
"""A share of the budget that is left because numbers are rounded: nothing, to people."""


def rest(rho: float, total: float) -> str:
    """Say a part of the budget; what rounding left is nothing."""
    return f"{rho:.6g}" if rho == 0 or rho > NOTHING * total else "nothing"


# -- public --------------------------------------------------------------------------------------


@render.register
def _domain(domain: Domain) -> str:
    source = "Some values were read from the data. That alone can reveal a person."
    return box(
        _titled("Domain", domain),
        PUBLIC,
        facts(attributes=f"{len(domain)}", a_row_is=escape(domain.row)),
        _attributes(domain),
        warning(source) if domain.read_from_data else "",
    )


def _label(attrs: AttributeSet, domain: Domain | None) -> str:
    """Name a set of attributes, by positions where no domain is at hand."""
    return domain.label(attrs) if domain else " × ".join(map(str, attrs)) or "total"


def _titled(name: str, domain: Domain) -> str:
    return line("{} · {}", name, escape(domain.title)) if domain.title else name


def _attributes(domain: Domain) -> str:
    rows = [
        (escape(a.name), a.kind, f"{a.size:,}", _examples(a.labels))
        for a in domain.attributes[: 2 * _MOST_ROWS]
    ]
    shown = table(("attribute", "kind", "values", "such as"), rows, align="llrl")
    return line("{}{}", shown, _more(len(domain) - len(rows), "attributes"))


def _examples(labels: Sequence[str]) -> str:
    if len(labels) <= 4:
        return Markup(", ").join(escape(label, longest=24) for label in labels)
    first, second, last = (escape(labels[k], longest=24) for k in (0, 1, len(labels) - 1))
    return line("{}, {}, … {}", first, second, last)


@render.register
def _workload(workload: Workload) -> str:
    domain, degrees = workload.domain, sorted({len(a) for a in workload.weights})
    rows = []
    for k in degrees:
        sets = [attrs for attrs in workload.weights if len(attrs) == k]
        cells = sum(map(domain.cells, sets))
        largest = max(sets, key=domain.cells)
        rows.append((f"{k}-way", f"{len(sets):,}", f"{cells:,}", escape(domain.label(largest))))
    return box(
        _titled("Workload", domain),
        PUBLIC,
        facts(
            marginals=f"{len(workload.weights):,}",
            cells=f"{workload.cells:,}",
            with_subsets=f"{len(workload.closure):,}",
        ),
        table(("degree", "marginals", "cells", "largest"), rows, align="lrrl"),
    )


# -- released ------------------------------------------------------------------------------------


@render.register
def _ledger(ledger: Ledger) -> str:
    parts = dict.fromkeys(("select", "measure"), 0.0)
    for charge in ledger.entries:
        parts[charge.what] += float(charge.rho)
    total = float(ledger.total)
    shares = {**parts, "left": float(ledger.left)}
    colours = {"select": "#E69F00", "measure": "#1F82C4", "left": "rgba(128,128,128,.35)"}
    parts_drawn = Markup("").join(
        bar(share / total, colours[name], width=420, height=14) for name, share in shares.items()
    )
    rows = [(name, rest(share, total), _percent(share / total)) for name, share in shares.items()]
    return box(
        "Ledger",
        RELEASED,
        facts(
            charges=f"{len(ledger.entries):,}",
            spent=f"{float(ledger.spent):.6g}",
            of_ρ=f"{total:.6g}",
        ),
        line('<div style="white-space:nowrap">{}</div>', parts_drawn),
        table(("for", "ρ", "share"), rows, align="lr"),
        Markup("Exact fractions add up to the total; <code>ledger.entries</code> holds them."),
    )


def _budget_of(release: Release) -> dict[str, str]:
    known: dict[str, str] = {}
    if release.epsilon is not None and release.delta is not None:
        known = {"ε": f"{release.epsilon:g}", "δ": f"{release.delta:g}"}
    spent, total = float(release.ledger.spent), float(release.ledger.total)
    return {**known, "ρ": f"{spent:.5g} of {total:.5g}"}


@render.register
def _release(release: Release) -> str:
    first = release.workload.marginals[-1]
    names = ", ".join(repr(release.domain[i].name) for i in first)
    return box(
        _titled("Release", release.domain),
        RELEASED,
        facts(
            marginals=f"{len(release.workload.weights):,}",
            residuals_known=f"{len(release.beliefs):,}",
            **_budget_of(release),
        ),
        _mechanism(release),
        line("ask for any of them: <code>release.estimate({})</code>", escape(names, longest=120)),
        _stamp(release),
    )


def _mechanism(release: Release) -> str:
    return line("mechanism <code>{}</code>", escape(release.mechanism, longest=200))


def _stamp(release: Release) -> str:
    reasons = release.demonstration
    return warning("DEMONSTRATION, not a private release.", *reasons) if reasons else ""


@render.register
def _run(run: Run) -> str:
    told: list[RoundEnded] = [*run.rounds]
    left_out = len(told) > _MOST_ROWS
    if left_out:
        told = [*told[: _MOST_ROWS - 2], *told[-2:]]
    rows: list[tuple[Any, ...]] = []
    for event in told:
        chosen = (
            "everything" if event.selected is None else run.release.domain.label(event.selected)
        )
        moved = "" if event.change is None else f"{event.change:,.0f}"
        noise = "" if event.threshold is None else f"{event.threshold:,.0f}"
        share = float(event.rho_spent / run.release.ledger.total)
        rows.append((f"{event.round}", escape(chosen), moved, noise, _percent(share)))
    if left_out:
        first, last = told[-3].round + 1, told[-2].round - 1
        between = f"rounds {first} to {last}" if first < last else f"round {first}"
        rows.insert(_MOST_ROWS - 2, ("…", between, "", "", ""))
    header = ("round", "selected", "moved by (records)", "noise alone", "budget spent")
    return box(
        _titled("Run", run.release.domain),
        RELEASED,
        facts(
            rounds=f"{len(run.rounds)}",
            marginals=f"{len(run.release.workload.weights):,}",
            **_budget_of(run.release),
        ),
        _mechanism(run.release),
        table(header, rows, align="rlr") if rows else "",
        _stamp(run.release),
    )


@render.register
def _estimate(estimate: Estimate) -> str:
    domain, attrs, values = estimate.domain, estimate.attrs, estimate.values
    noise = "not known after post-processing" if estimate.std is None else _number(estimate.std)
    unmeasured = [domain.label(tau) for tau in estimate.unmeasured]
    note = "Never measured, counted as zero: " + ", ".join(unmeasured[:6]) if unmeasured else ""
    cells, shape = values.ravel(), values.shape
    rows = []
    for k in range(min(len(cells), _MOST_ROWS)):
        rest, codes = k, []
        for size in reversed(shape):
            rest, code = divmod(rest, size)
            codes.append(code)
        labels = [
            escape(domain[i].labels[code], longest=30)
            for i, code in zip(attrs, reversed(codes), strict=True)
        ]
        rows.append((*labels, f"{cells[k]:,.1f}"))
    header = (*(escape(domain[i].name) for i in attrs), "count")
    return box(
        line("Estimate · {}", escape(estimate.label)),
        RELEASED,
        facts(cells=f"{values.size:,}", noise_σ_a_cell=noise),
        table(header, rows, align="l" * len(attrs) + "r"),
        _more(len(cells) - len(rows), Markup("cells; <code>to_frame()</code> has them all")),
        warning(note) if note else "",
    )


# -- private, and not private --------------------------------------------------------------------


@render.register
def _table(records: Table) -> str:
    return box(
        _titled("Table", records.domain),
        RECORDS,
        "Neither the records nor how many there are is shown. What is public is the domain:",
        _attributes(records.domain),
    )


@render.register
def _private(private: Private) -> str:
    return box(
        _titled("Private", private.domain),
        RECORDS,
        f"Exact counts over {len(private.domain)} attributes, for mechanisms only.",
    )


@render.register
def _evaluation(evaluation: Evaluation) -> str:
    n = evaluation.records
    worst = sorted(evaluation.per_marginal.items(), key=lambda item: -item[1].l1)[:6]
    rows = [
        (
            escape(_label(attrs, evaluation.domain), longest=120),
            f"{error.l1 / n if n else math.nan:.4g}",
        )
        for attrs, error in worst
    ]
    return box(
        "Evaluation",
        NOT_PRIVATE,
        facts(
            marginals=f"{len(evaluation.per_marginal):,}",
            mean_L1_over_N=f"{evaluation.mean_l1_normalized:.4g}",
            largest=f"{evaluation.max_l1_normalized:.4g}",
        ),
        table(("worst marginals", "L1 ÷ N"), rows, align="lr"),
        "Computed from the records: for a demonstration's screen only.",
    )


@render.register
def _comparison(comparison: Comparison) -> str:
    difference = comparison.difference.ravel()
    known: dict[str, str] = {}
    if comparison.std and comparison.attrs:
        inside = sum(abs(x) <= 1.96 * comparison.std for x in difference.tolist())
        known["within_±1.96_σ"] = _percent(inside / difference.size)
    return box(
        line("Comparison · {}", escape(comparison.domain.label(comparison.attrs))),
        NOT_PRIVATE,
        facts(cells=f"{difference.size:,}", **known),
        "Released less true, computed from the records: for a demonstration's screen only.",
    )


@render.register
def _insight(insight: Insight) -> str:
    rows = []
    for attrs, error, noise, probability in list(insight)[:8]:
        rows.append(
            (
                escape(insight.domain.label(attrs)),
                _number(error),
                _number(noise),
                _percent(probability),
                bar(probability, BLUE, width=120, height=9),
            )
        )
    return box(
        "Insight: how the next round will select",
        NOT_PRIVATE,
        table(("candidate", "error term", "noise term", "probability", ""), rows, align="lrrrl"),
        _more(len(insight) - len(rows), "candidates"),
        "Computed from the records: only the choice is released.",
    )


@render.register
def _trial(trial: Trial) -> str:
    return box(
        line("Trial · {}", escape(trial.mechanism, longest=80)),
        NOT_PRIVATE,
        facts(
            ε=f"{trial.epsilon:g}",
            seed=f"{trial.seed}",
            mean_L1_over_N=f"{trial.share('mean_l1'):.4g}",
            rounds=f"{trial.rounds:,}",
        ),
        "Computed from the records: for a demonstration's screen only.",
    )
