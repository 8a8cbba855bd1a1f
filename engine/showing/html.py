"""How results show themselves in a notebook: small tables with a badge that says who may see them.

No library is needed for them, every text a user wrote is escaped, and styles stand inline, since
front ends strip style sheets from notebooks they do not trust. No record, no exact count and no
number of records is ever among what is shown here.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from functools import singledispatch

from engine.accounting import Ledger
from engine.completing.release import Release
from engine.demonstrating.evaluation import Comparison, Evaluation, Insight
from engine.domain import Domain
from engine.mechanisms.base import Run
from engine.released import Estimate
from engine.tables import Private, Table
from engine.workload import Workload

RELEASED, PUBLIC = "released", "public"
NOT_PRIVATE, RECORDS = "not private (never released)", "private records (they stay in the kernel)"
_MARKS = {RELEASED: "●", PUBLIC: "■", NOT_PRIVATE: "▲", RECORDS: "▲"}
# Each dark enough for white text.
_COLOURS = {RELEASED: "#007A59", PUBLIC: "#1B6CA8", NOT_PRIVATE: "#B34E00", RECORDS: "#B34E00"}
_MOST_ROWS = 12
_LONGEST = 60
_LINE = "1px solid rgba(128,128,128,.35)"


@singledispatch
def render(value: object) -> str:
    """Return the HTML of a result; of anything else its escaped text."""
    return f"<code>{escape(repr(value), longest=400)}</code>"


# -- parts ---------------------------------------------------------------------------------------


def escape(text: object, *, longest: int = _LONGEST) -> str:
    """Make a text harmless in HTML: escaped, on one line, shortened, and kept apart in direction.

    >>> escape("<b>5 & 6</b>")
    '&lt;b&gt;5 &amp; 6&lt;/b&gt;'
    """
    line = " ".join(str(text).split()) or "(no name)"
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    # Notebooks typeset formulas in HTML too, but none whose signs stand in a tag of their own.
    return "".join(f"<span>{c}</span>" if c in "$\\" else html.escape(c) for c in line)


def badge(kind: str) -> str:
    """Return the badge: shape, colour and words say the same."""
    return (
        f'<span style="background:{_COLOURS[kind]};color:#fff;border-radius:9px;padding:1px 9px;'
        f'font-size:12px;white-space:nowrap">{_MARKS[kind]} {html.escape(kind)}</span>'
    )


def box(title: str, kind: str, *parts: str) -> str:
    """Return a result: its name and badge, and what there is to say; title and parts are HTML."""
    body = "".join(f'<div style="margin-top:5px">{part}</div>' for part in parts if part)
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;'
        f'padding:6px 0;max-width:980px"><b>{title}</b> {badge(kind)}{body}</div>'
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, align: str) -> str:
    """Return a table of cells that are HTML already.

    Args:
        header: One text a column.
        rows: As many cells each.
        align: One letter a column, l or r; the last one holds for those after it.
    """
    sides = ["left" if letter == "l" else "right" for letter in align.ljust(len(header), align[-1])]
    head = _cells("th", header, sides, f"border-bottom:{_LINE};font-weight:600;")
    body = "".join(f"<tr>{_cells('td', row, sides)}</tr>" for row in rows)
    return (
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;font-size:13px;'
        f'margin:2px 0"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def facts(**values: str) -> str:
    """Return names and values on one line; the values are HTML."""
    return " · ".join(f"{name.replace('_', ' ')} <b>{value}</b>" for name, value in values.items())


def warning(*sentences: str) -> str:
    """Return sentences that must not be missed; nothing if there are none."""
    if not sentences:
        return ""
    text = " ".join(escape(sentence, longest=400) for sentence in sentences)
    return (
        '<div style="border-left:4px solid #E69F00;padding:3px 10px;'
        f'background:rgba(230,159,0,.12)">{text}</div>'
    )


def _cells(tag: str, cells: Sequence[str], sides: Sequence[str], style: str = "") -> str:
    return "".join(
        f'<{tag} style="text-align:{side};padding:2px 14px 2px 0;vertical-align:top;{style}">'
        f"{cell}</{tag}>"
        for cell, side in zip(cells, sides, strict=True)
    )


def _more(count: int, what: str) -> str:
    return f"and {count:,} more {what}" if count > 0 else ""


def _number(value: float) -> str:
    return f"{value:,.4g}" if math.isfinite(value) and abs(value) < 10_000 else f"{value:,.0f}"


def _percent(share: float) -> str:
    return "< 0.1 %" if 0 < share < 0.001 else f"{100 * share:.3g} %"


def _bar(share: float, colour: str = "#1F82C4") -> str:
    width = round(120 * min(max(share, 0.0), 1.0), 1)
    return (
        '<span style="display:inline-block;height:9px;vertical-align:middle;'
        f'background:{colour};width:{width}px"></span>'
    )


# -- public --------------------------------------------------------------------------------------


@render.register
def _domain(domain: Domain) -> str:
    source = "Some values were read from the data. That alone can reveal a person."
    return box(
        f"Domain{_titled(domain)}",
        PUBLIC,
        facts(attributes=f"{len(domain)}", a_row_is=escape(domain.row)),
        _attributes(domain),
        warning(source) if domain.read_from_data else "",
    )


def _titled(domain: Domain) -> str:
    return f" · {escape(domain.title)}" if domain.title else ""


def _attributes(domain: Domain) -> str:
    rows = [
        (escape(a.name), a.kind, f"{a.size:,}", _examples(a.labels))
        for a in domain.attributes[: 2 * _MOST_ROWS]
    ]
    shown = table(("attribute", "kind", "values", "such as"), rows, align="llrl")
    return shown + _more(len(domain) - len(rows), "attributes")


def _examples(labels: Sequence[str]) -> str:
    if len(labels) <= 4:
        return ", ".join(escape(label, longest=24) for label in labels)
    first = ", ".join(escape(labels[k], longest=24) for k in (0, 1))
    return f"{first}, … {escape(labels[len(labels) - 1], longest=24)}"


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
        f"Workload{_titled(domain)}",
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
    bar = "".join(
        f'<span style="display:inline-block;height:14px;background:{colours[name]};'
        f'width:{round(420 * share / total, 1)}px"></span>'
        for name, share in shares.items()
    )
    rows = [(name, f"{share:.6g}", _percent(share / total)) for name, share in shares.items()]
    return box(
        "Ledger",
        RELEASED,
        facts(
            charges=f"{len(ledger.entries):,}",
            spent=f"{float(ledger.spent):.6g}",
            of_ρ=f"{total:.6g}",
        ),
        f'<div style="white-space:nowrap">{bar}</div>',
        table(("for", "ρ", "share"), rows, align="lr"),
        "Exact fractions add up to the total; <code>ledger.entries</code> holds them.",
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
        f"Release{_titled(release.domain)}",
        RELEASED,
        facts(
            marginals=f"{len(release.workload.weights):,}",
            residuals_known=f"{len(release.beliefs):,}",
            **_budget_of(release),
        ),
        f"mechanism <code>{escape(release.mechanism, longest=200)}</code>",
        f"ask for any of them: <code>release.estimate({escape(names, longest=120)})</code>",
        _stamp(release),
    )


def _stamp(release: Release) -> str:
    reasons = release.demonstration
    return warning("DEMONSTRATION, not a private release.", *reasons) if reasons else ""


@render.register
def _run(run: Run) -> str:
    rows = []
    for event in (*run.rounds[: _MOST_ROWS - 2], *run.rounds[_MOST_ROWS - 2 :][-2:]):
        chosen = (
            "everything" if event.selected is None else run.release.domain.label(event.selected)
        )
        moved = "" if event.change is None else f"{event.change:,.0f}"
        noise = "" if event.threshold is None else f"{event.threshold:,.0f}"
        share = float(event.rho_spent / run.release.ledger.total)
        rows.append((f"{event.round}", escape(chosen), moved, noise, _percent(share)))
    header = ("round", "selected", "moved by (records)", "noise alone", "budget spent")
    return box(
        f"Run{_titled(run.release.domain)}",
        RELEASED,
        facts(
            rounds=f"{len(run.rounds)}",
            marginals=f"{len(run.release.workload.weights):,}",
            **_budget_of(run.release),
        ),
        f"mechanism <code>{escape(run.release.mechanism, longest=200)}</code>",
        table(header, rows, align="rlr") if rows else "",
        f"{len(rows)} of {len(run.rounds)} rounds shown" if len(rows) < len(run.rounds) else "",
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
        f"Estimate · {escape(estimate.label)}",
        RELEASED,
        facts(cells=f"{values.size:,}", noise_σ_a_cell=noise),
        table(header, rows, align="l" * len(attrs) + "r"),
        _more(len(cells) - len(rows), "cells; <code>to_frame()</code> has them all"),
        warning(note) if note else "",
    )


# -- private, and not private --------------------------------------------------------------------


@render.register
def _table(records: Table) -> str:
    return box(
        f"Table{_titled(records.domain)}",
        RECORDS,
        "Neither the records nor how many there are is shown. What is public is the domain:",
        _attributes(records.domain),
    )


@render.register
def _private(private: Private) -> str:
    return box(
        f"Private{_titled(private.domain)}",
        RECORDS,
        f"Exact counts over {len(private.domain)} attributes, for mechanisms only.",
    )


@render.register
def _evaluation(evaluation: Evaluation) -> str:
    n = evaluation.records
    worst = sorted(evaluation.per_marginal.items(), key=lambda item: -item[1].l1)[:6]
    rows = [
        (" × ".join(map(str, attrs)) or "total", f"{error.l1 / n if n else math.nan:.4g}")
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
        table(("worst marginals (positions)", "L1 ÷ N"), rows, align="lr"),
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
        f"Comparison · {escape(comparison.domain.label(comparison.attrs))}",
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
                _bar(probability),
            )
        )
    return box(
        "Insight: how the next round will select",
        NOT_PRIVATE,
        table(("candidate", "error term", "noise term", "probability", ""), rows, align="lrrrl"),
        _more(len(insight) - len(rows), "candidates"),
        "Computed from the records: only the choice is released.",
    )
