"""A report of a release as one HTML page: no script, no network, nothing but released values.

Charts are drawn as SVG by hand, so that the page opens anywhere, for ever, and is the same to the
last byte for the same release. What users wrote is escaped wherever it stands.
"""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations

from engine.accounting import epsilon_from
from engine.completing.release import Release
from engine.domain import Domain
from engine.grem import noise_of
from engine.released import Estimate
from engine.trace import Event, RoundEnded
from engine.types import AttributeSet, FloatArray
from engine.version import __version__

NEIGHBOURS = "tables that differ by adding or removing one record"
_BARS, _PAIRS = 40, 6
_WIDEST_PAIR = 1_600
_COMPLETED = (
    "tables are completed, so how far they are from the truth does not follow from the noise."
)
_CIVIDIS = ((0, 34, 78), (65, 77, 107), (124, 123, 120), (188, 175, 111), (254, 232, 56))

_STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#d5dae1;--card:#f5f7fa;
--page:#fff;--blue:#1f82c4;--orange:#e69f00;--warn:#8a3b00;--warnbg:#fff3e2;--red:#d55e00}
@media(prefers-color-scheme:dark){:root{--ink:#e8ecf1;--soft:#9aa6b5;--line:#33404f;--card:#1b232e;
--page:#10151c;--warn:#ffc98a;--warnbg:#33240f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:920px;padding:28px 18px 60px;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
.scroll td:not(.n){min-width:11rem}.rounds td:first-child{min-width:2.5rem!important}
th{white-space:nowrap}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .6rem}h2{font-size:1.2rem;margin:2.2rem 0 .5rem}
p,figcaption{margin:.4rem 0}figcaption,small{color:var(--soft);font-size:.9rem}
.stamp{background:var(--warnbg);color:var(--warn);border-left:4px solid var(--red);
padding:.7rem .9rem;border-radius:4px;margin:1rem 0;font-weight:600}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.facts th{width:26%;min-width:7rem;font-weight:500;color:var(--soft)}
figure{margin:0;background:var(--card);border-radius:8px;padding:12px}
.grid{display:grid;align-items:start;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:14px}
svg{display:block;width:100%;height:auto}svg text{fill:var(--ink);font-size:13px}
svg .soft{fill:var(--soft)}svg .bar{fill:var(--blue)}svg .pick{fill:var(--orange)}
svg .left{fill:none;stroke:var(--soft)}svg .gap{stroke:var(--card)}
svg .rule{stroke:var(--ink);stroke-width:1.6}svg .true{fill:var(--red)}
summary{cursor:pointer;color:var(--soft)}
"""


def report(release: Release, events: Sequence[Event]) -> str:
    """Write the report of a release.

    Args:
        release: What was released.
        events: How it came about.
    """
    stamps = [f"DEMONSTRATION, not a private release. {why}" for why in release.demonstration]
    sections = [
        facts(release, events),
        _budget(release, events),
        *([_rounds(events, release.domain)] if any_rounds(events) else []),
        _singles(release),
        _pairs(release),
        _index(release),
    ]
    return page("Private marginals: what was released", stamps, sections)


def page(title: str, stamps: Iterable[str], sections: Iterable[str]) -> str:
    """Return a whole page that loads nothing."""
    warnings = "".join(f'<p class="stamp">{html.escape(stamp)}</p>' for stamp in stamps)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{html.escape(title)}</h1>{warnings}\n" + "\n".join(sections) + "\n</body></html>\n"
    )


def any_rounds(events: Iterable[Event]) -> bool:
    """Whether a round was made."""
    return any(isinstance(event, RoundEnded) for event in events)


# -- texts -----------------------------------------------------------------------------------------


def label(text: str, *, longest: int = 10_000) -> str:
    """Escape what a user wrote; control characters become spaces, long texts end in an ellipsis."""
    shown = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)
    line = " ".join(shown.split()) or "(no name)"
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    return f"\u2068{html.escape(line)}\u2069"


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int, kind: str = ""
) -> str:
    """Return a table of escaped cells; the last ``numbers`` columns are figures."""
    words = len(header) - numbers

    def line(cells: Sequence[str], tag: str) -> str:
        parts = (
            f'<{tag} class="n">{c}</{tag}>' if k >= words else f"<{tag}>{c}</{tag}>"
            for k, c in enumerate(cells)
        )
        return f"<tr>{''.join(parts)}</tr>"

    head = line([html.escape(h) for h in header], "th")
    body = "".join(line(row, "td") for row in rows)
    return f'<div class="scroll"><table class="{kind}">{head}{body}</table></div>'


def facts(release: Release, events: Sequence[Event]) -> str:
    """Return the settings and the promise, one line each."""
    ledger = release.ledger
    rows = [
        ("Mechanism", html.escape(release.mechanism)),
        ("Promise", html.escape(promise(release))),
        ("Neighbours", NEIGHBOURS),
        ("Spent", f"ρ = {float(ledger.spent):.6g} of {float(ledger.total):.6g} (zCDP, a record)"),
        *([] if release.table is None else [("All runs on this table", str(release.table))]),
        ("Rounds", str(sum(isinstance(event, RoundEnded) for event in events))),
        (
            "Workload",
            f"{len(release.workload.weights):,} marginals with {release.workload.cells:,} cells",
        ),
        ("Attributes", ", ".join(label(n, longest=60) for n in release.domain.names)),
        (
            "Domain",
            f"{html.escape(domain_source(release.domain))}; sha256 "
            f"<code>{release.domain.hash}</code>",
        ),
        ("Engine", html.escape(__version__)),
    ]
    lines = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows)
    return f'<h2>Settings</h2><table class="facts">{lines}</table>'


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


def _budget(release: Release, events: Sequence[Event]) -> str:
    total, spent = release.ledger.total, release.ledger.spent
    parts, at = [], Fraction(0)
    for number, event in enumerate(events):
        for charge in getattr(event, "charges", ()):
            kind = "pick" if charge.what == "select" else "bar"
            tip = f"{_when(number)}: {charge.what}, ρ = {float(charge.rho):.4g}"
            parts.append(_segment(float(at / total), float(charge.rho / total), kind, tip))
            at += charge.rho
    parts.append('<rect x="0.5" y="0.5" width="879" height="35" class="left"/>')
    sentence = (
        f"{100 * float(spent / total):.3g} % of ρ = {float(total):.6g} is spent. Blue: measuring; "
        "orange: selecting; empty: left."
    )
    drawing = svg(880, 36, "Privacy budget spent, charge by charge", parts)
    return f"<h2>Privacy budget</h2><figure>{drawing}<figcaption>{sentence}</figcaption></figure>"


def _segment(start: float, share: float, kind: str, tip: str) -> str:
    return (
        f'<rect x="{880 * start:.2f}" y="0" width="{880 * share:.2f}" height="36" '
        f'class="{kind} gap" stroke-width="0.5"><title>{html.escape(tip)}</title></rect>'
    )


def _when(number: int) -> str:
    return f"round {number}" if number else "before round 1"


def _rounds(events: Sequence[Event], domain: Domain) -> str:
    rows = [_round(event, domain) for event in events if isinstance(event, RoundEnded)]
    header = [
        "round",
        "chosen",
        "ρ select",
        "ρ measure",
        "residuals",
        "answer moved",
        "noise alone",
    ]
    note = "<p><small>The last two are L1 distances in records, from released values only.</small>"
    return f"<h2>Rounds</h2>{table(header, rows, numbers=5, kind='rounds')}{note}"


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


def _singles(release: Release) -> str:
    sets = [attrs for attrs in release.workload.closure if len(attrs) == 1]
    drawn = [figure(bars(release.estimate(*attrs)), release.domain, attrs) for attrs in sets]
    lines = "lines: ±1.96 σ of the noise." if release.completion is None else _COMPLETED
    return _gallery("Each attribute alone", drawn, f"Bars: released counts; {lines}")


def _pairs(release: Release) -> str:
    """Draw the first few tables of two attributes, the largest first."""
    held = {p for attrs in release.workload.weights for p in combinations(attrs, 2)}
    cells = release.domain.cells
    fitting = sorted((p for p in held if cells(p) <= _WIDEST_PAIR), key=lambda p: (-cells(p), p))
    shown = [figure(heatmap(release.estimate(*p)), release.domain, p) for p in fitting[:_PAIRS]]
    note = f"{len(shown)} of {len(held):,}; all are in the release. Dark: few; yellow: many."
    return _gallery("Tables of two attributes", shown, note)


def _gallery(title: str, drawn: list[str], note: str) -> str:
    if not drawn:
        return ""
    return f'<h2>{title}</h2><p><small>{note}</small></p><div class="grid">{"".join(drawn)}</div>'


def figure(drawing: str, domain: Domain, attrs: AttributeSet) -> str:
    """Put a name under a drawing."""
    name = label(domain.label(attrs), longest=120)
    return f"<figure>{drawing}<figcaption>{name}</figcaption></figure>"


def bars(estimate: Estimate, truth: FloatArray | None = None) -> str:
    """Draw one attribute: counts with their intervals, and true ones where a lesson has them."""
    labels = estimate.domain[estimate.attrs[0]].labels[:_BARS]
    values = estimate.values.ravel()[: len(labels)].tolist()
    true = [] if truth is None else truth.ravel()[: len(labels)].tolist()
    reach = None if estimate.std is None else 1.96 * estimate.std
    low: float = min(0.0, *(v - (reach or 0.0) for v in values), *true)
    high: float = max(1.0, *(v + (reach or 0.0) for v in values), *true)

    def x(value: float) -> float:
        return 130 + 190 * (value - low) / (high - low)

    parts = [f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="0" y2="{22 * len(labels)}" class="rule"/>']
    for k, (text, value) in enumerate(zip(labels, values, strict=True)):
        parts += _bar(11 + 22 * k, text, value, reach, x)
        if true:
            y = 11 + 22 * k
            tip = f"<title>true: {true[k]:,.0f}</title>"
            shape = f"M{x(true[k]):.1f} {y - 6}l5 6l-5 6l-5 -6z"
            parts.append(f'<path d="{shape}" class="true">{tip}</path>')
    return svg(400, 22 * len(labels), f"Counts of {estimate.label}", parts)


def _bar(
    y: int, text: str, value: float, reach: float | None, x: Callable[[float], float]
) -> list[str]:
    """One bar; a line for what noise may have added, where that is known."""
    left, right = sorted((x(0.0), x(value)))
    sure, line = "", []
    if reach is not None:
        sure = f" ± {reach:,.1f}"
        line = [
            f'<line x1="{x(value - reach):.1f}" x2="{x(value + reach):.1f}" y1="{y}" y2="{y}" '
            'class="rule"/>'
        ]
    return [
        f'<text x="122" y="{y + 4}" text-anchor="end">{label(text, longest=15)}</text>',
        f'<rect x="{left:.1f}" y="{y - 8}" width="{right - left:.1f}" height="16" class="bar">'
        f"<title>{label(text)}: {value:,.1f}{sure}</title></rect>",
        *line,
        f'<text x="398" y="{y + 4}" text-anchor="end" class="soft">{value:,.0f}</text>',
    ]


def heatmap(estimate: Estimate) -> str:
    """Draw a table of two attributes; what each cell holds stands in its tooltip."""
    first, second = (estimate.domain[i].labels for i in estimate.attrs)
    values = estimate.values
    if len(second) > len(first):
        first, second, values = second, first, values.T
    high = max(float(values.max()), 1.0)
    side, deep = 270 / len(second), max(9.0, min(20.0, 360 / len(first)))
    parts = [
        f'<rect x="{126 + side * j:.2f}" y="{deep * i:.2f}" width="{side:.2f}" '
        f'height="{deep:.2f}" fill="{_colour(values[i, j] / high)}"><title>'
        f"{label(a, longest=60)} · {label(b, longest=60)}: {values[i, j]:,.1f}</title></rect>"
        for i, a in enumerate(first)
        for j, b in enumerate(second)
    ]
    every = math.ceil(13 / deep)
    for i in range(0, len(first), every):
        y = deep * (i + 0.5) + 4
        text = label(first[i], longest=15)
        parts.append(f'<text x="120" y="{y:.1f}" text-anchor="end">{text}</text>')
    bottom = deep * len(first)
    for j in range(0, len(second), math.ceil(17 / side)):
        x = 126 + side * (j + 0.5)
        turned = f'transform="translate({x:.1f} {bottom + 12:.1f}) rotate(-55)"'
        parts.append(f'<text {turned} text-anchor="end">{label(second[j], longest=11)}</text>')
    return svg(400, bottom + 86, f"Counts of {estimate.label}", parts)


def _colour(share: float) -> str:
    at = min(max(share, 0.0), 1.0) * (len(_CIVIDIS) - 1)
    k = min(int(at), len(_CIVIDIS) - 2)
    mix = (a + (b - a) * (at - k) for a, b in zip(_CIVIDIS[k], _CIVIDIS[k + 1], strict=True))
    return "#" + "".join(f"{round(c):02x}" for c in mix)


def svg(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """Return a drawing that scales with the page and says what it shows."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label(title)}">'
        + "".join(parts)
        + "</svg>"
    )


def _index(release: Release) -> str:
    domain, rows = release.domain, []
    for attrs in release.workload.weights:
        row = [label(domain.label(attrs)), f"{domain.cells(attrs):,}"]
        if release.completion is None:
            variance, _ = noise_of(release.beliefs, domain, attrs)
            row.append(f"{math.sqrt(variance):,.3g}")
        rows.append(row)
    header = ["marginal", "cells", "noise σ a cell (records)"][: len(rows[0])]
    body = table(header, rows, numbers=len(header) - 1)
    note = "" if release.completion is None else f"<p><small>{_COMPLETED}</small></p>"
    folded = f"<details><summary>{len(rows):,} rows</summary>{body}</details>"
    return f"<h2>Every marginal</h2>{note}{folded}"
