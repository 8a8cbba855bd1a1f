"""A report of a release as one HTML page: no script, no network, nothing but released values.

The page opens anywhere, for ever, and is the same to the last byte for the same release.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

from markupsafe import Markup

from engine.accounting import epsilon_from
from engine.completing.release import Release
from engine.domain import Domain
from engine.exporting.drawn import Shape, bars, heatmap, label, svg
from engine.exporting.report_page import STYLE, filled
from engine.grem import noise_of
from engine.trace import Event, RoundEnded
from engine.types import AttributeSet
from engine.version import __version__

NEIGHBOURS = "tables that differ by adding or removing one record"
_PAIRS = 6
_WIDEST_PAIR = 1_600
_COMPLETED = (
    "tables are completed, so how far they are from the truth does not follow from the noise."
)


def report(release: Release, events: Sequence[Event]) -> str:
    """Write the report of a release.

    Args:
        release: What was released.
        events: How it came about.
    """
    stamps = [f"DEMONSTRATION, not a private release. {why}" for why in release.demonstration]
    rounds = [event for event in events if isinstance(event, RoundEnded)]
    sections = [
        facts(release, events),
        _budget(release, events),
        *([_rounds(rounds, release.domain)] if rounds else []),
        _singles(release),
        _pairs(release),
        _index(release),
    ]
    return page("Private marginals: what was released", stamps, sections)


def page(title: str, stamps: Iterable[str], sections: Iterable[Markup]) -> str:
    """Return a whole page that loads nothing."""
    style = Markup(STYLE)  # ours, and no text of a user in it
    return str(filled("page", title=title, stamps=stamps, sections=sections, style=style))


# -- texts -----------------------------------------------------------------------------------------


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int, kind: str = ""
) -> Markup:
    """Return a table; the last ``numbers`` columns are figures."""
    words = len(header) - numbers
    return filled("table", header=header, rows=rows, words=words, kind=kind)


def facts(release: Release, events: Sequence[Event]) -> Markup:
    """Return the settings and the promise, one line each."""
    ledger, asked = release.ledger, release.workload
    domain = filled("hash", source=domain_source(release.domain), hash=release.domain.hash)
    rows = [
        ("Mechanism", release.mechanism),
        ("Promise", promise(release)),
        ("Neighbours", NEIGHBOURS),
        ("Spent", f"ρ = {float(ledger.spent):.6g} of {float(ledger.total):.6g} (zCDP, a record)"),
        *([] if release.table is None else [("All runs on this table", str(release.table))]),
        ("Rounds", str(sum(isinstance(event, RoundEnded) for event in events))),
        ("Workload", f"{len(asked.weights):,} marginals with {asked.cells:,} cells"),
        ("Attributes", ", ".join(label(n, longest=60) for n in release.domain.names)),
        ("Domain", domain),
        ("Engine", __version__),
    ]
    return filled("facts", rows=rows)


def domain_source(domain: Domain) -> str:
    """Say whether the lists of values were declared, or which were read from the rows."""
    read = [attribute.name for attribute in domain if attribute.source == "data"]
    if not read:
        return "declared"
    shown = ", ".join(read[:5]) + (f" and {len(read) - 5:,} more" if len(read) > 5 else "")
    return f"read from the data: {shown}"


def promise(release: Release) -> str:
    """Say what was promised, in one sentence."""
    sentence = _promised(release)
    return f"{sentence} (as read, not verified)" if release.as_read else sentence


def _promised(release: Release) -> str:
    rows = release.domain.rows_per_person
    total, spent = release.ledger.total * rows**2, release.rho_of_a_person
    whose = f" for a person with up to {rows} records" if rows > 1 else ""
    if release.epsilon is None or release.delta is None:
        return f"ρ-zCDP with ρ = {float(total):.6g}{whose}."
    sentence = (
        f"({release.epsilon:g}, {release.delta:g})-DP, by ρ-zCDP with ρ = {float(total):.6g}{whose}"
    )
    if 0 < float(spent) < (1 - 1e-9) * float(total):
        so_far = epsilon_from(rho=spent, delta=release.delta)
        return f"{sentence}; so far ε = {so_far:.4g} was spent."
    return f"{sentence}."


# -- the budget ------------------------------------------------------------------------------------


def _budget(release: Release, events: Sequence[Event]) -> Markup:
    total, spent = release.ledger.total, release.ledger.spent
    shapes, at = [], Fraction(0)
    for number, event in enumerate(events):
        for charge in getattr(event, "charges", ()):
            kind = "pick" if charge.what == "select" else "bar"
            tip = f"{_when(number)}: {charge.what}, ρ = {float(charge.rho):.4g}"
            shapes.append(_segment(float(at / total), float(charge.rho / total), kind, tip))
            at += charge.rho
    whole = {"x": "0.5", "y": "0.5", "width": "879", "height": "35", "class": "left"}
    sentence = (
        f"{100 * float(spent / total):.3g} % of ρ = {float(total):.6g} is spent. Blue: measuring; "
        "orange: selecting; empty: left."
    )
    title = "Privacy budget spent, charge by charge"
    drawing = svg(880, 36, title, [*shapes, Shape("rect", whole)])
    return filled("budget", drawing=drawing, sentence=sentence)


def _segment(start: float, share: float, kind: str, tip: str) -> Shape:
    where = {"x": f"{880 * start:.2f}", "y": "0", "width": f"{880 * share:.2f}", "height": "36"}
    return Shape("rect", where | {"class": f"{kind} gap", "stroke-width": "0.5"}, tip)


def _when(number: int) -> str:
    return f"round {number}" if number else "before round 1"


def _rounds(rounds: Sequence[RoundEnded], domain: Domain) -> Markup:
    header = [
        "round",
        "chosen",
        "ρ select",
        "ρ measure",
        "residuals",
        "answer moved",
        "noise alone",
    ]
    rows = [_round(event, domain) for event in rounds]
    return filled("rounds", table=table(header, rows, numbers=5, kind="rounds"))


def _round(event: RoundEnded, domain: Domain) -> list[str]:
    chosen = "everything at once" if event.selected is None else label(domain.label(event.selected))
    spent = {
        part: sum((c.rho for c in event.charges if c.what == part), Fraction(0))
        for part in ("select", "measure")
    }
    return [
        str(event.round),
        chosen,
        f"{float(spent['select']):.3g}",
        f"{float(spent['measure']):.3g}",
        str(len(event.measurements)),
        _maybe(event.change),
        _maybe(event.threshold),
    ]


def _maybe(number: float | None) -> str:
    return "—" if number is None else f"{number:,.0f}"


# -- marginals -------------------------------------------------------------------------------------


def _singles(release: Release) -> Markup:
    sets = [attrs for attrs in release.workload.closure if len(attrs) == 1]
    drawn = [figure(bars(release.estimate(*attrs)), release.domain, attrs) for attrs in sets]
    lines = "lines: ±1.96 σ of the noise." if release.completion is None else _COMPLETED
    return gallery("Each attribute alone", drawn, f"Bars: released counts; {lines}")


def _pairs(release: Release) -> Markup:
    """Draw the first few tables of two attributes, the largest first."""
    held = {p for attrs in release.workload.weights for p in combinations(attrs, 2)}
    cells = release.domain.cells
    fitting = sorted((p for p in held if cells(p) <= _WIDEST_PAIR), key=lambda p: (-cells(p), p))
    shown = [figure(heatmap(release.estimate(*p)), release.domain, p) for p in fitting[:_PAIRS]]
    note = f"{len(shown)} of {len(held):,}; all are in the release. Dark: few; yellow: many."
    return gallery("Tables of two attributes", shown, note)


def gallery(title: str, drawn: Sequence[Markup], note: str = "") -> Markup:
    """Return figures side by side under a title; nothing if there are none."""
    return filled("gallery", title=title, drawn=drawn, note=note) if drawn else Markup("")


def figure(drawing: Markup, domain: Domain, attrs: AttributeSet) -> Markup:
    """Put a name under a drawing."""
    return filled("figure", drawing=drawing, name=label(domain.label(attrs), longest=120))


def _index(release: Release) -> Markup:
    domain, rows = release.domain, []
    for attrs in release.workload.weights:
        row = [label(domain.label(attrs)), f"{domain.cells(attrs):,}"]
        if release.completion is None:
            variance, _ = noise_of(release.beliefs, domain, attrs)
            row.append(f"{math.sqrt(variance):,.3g}")
        rows.append(row)
    header = ["marginal", "cells", "noise σ a cell (records)"][: len(rows[0])]
    body = table(header, rows, numbers=len(header) - 1)
    note = "" if release.completion is None else _COMPLETED
    return filled("index", note=note, count=f"{len(rows):,}", table=body)
