"""What may be taken away: released values as files, and one archive with all of them.

Everything here is a function of a release and its events alone: equal inputs give equal bytes, and
no type that comes in has a field for a true count, a score, an error, N, a file's name or a seed.
"""

from __future__ import annotations

import ast
import base64
import csv
import io
import itertools
import json
import math
import re
import textwrap
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from engine.completing.consistency import consistent
from engine.completing.projection import clip, simplex
from engine.completing.release import Release
from engine.completing.totals import UNBIASED
from engine.errors import DataError, OptionError
from engine.exporting.report import NEIGHBOURS, promise, report
from engine.grem import noise_of
from engine.mechanisms import catalogue
from engine.released import Estimate
from engine.trace import Event, Started, event_to_dict, ledger_to_dict
from engine.version import __version__
from engine.workload import Workload


class Answers(Protocol):
    """What answers marginals: a release, or what was made of one."""

    def estimate(self, *attributes: str | int) -> Estimate:
        """Answer any marginal of the workload's closure."""
        ...

    def estimates(self) -> Iterator[Estimate]:
        """Answer the workload's marginals, in order."""
        ...


@dataclass(frozen=True, slots=True)
class _EachAlone:
    """A release whose tables are changed one by one."""

    release: Release
    change: Callable[[Estimate], Estimate]

    def estimate(self, *attributes: str | int) -> Estimate:
        return self.change(self.release.estimate(*attributes))

    def estimates(self) -> Iterator[Estimate]:
        return map(self.change, self.release.estimates())


POSTPROCESS: dict[str, Callable[[Release], Answers]] = {
    "none": lambda release: release,
    "clip": lambda release: _EachAlone(release, clip),
    "simplex": lambda release: _EachAlone(release, simplex),
    "consistent": consistent,
    "consistent-nonnegative": lambda release: consistent(release, nonnegative=True),
}
"""Ways to answer: as estimated, without negative cells, or so that all tables agree.

Free: they see released values only.
"""

TRACE = "aim-grem-trace/1"
CONTENTS = {
    "README.txt": "what this is, and what it promises",
    "report.html": "the report, to read in any browser without a network",
    "notebook.ipynb": "replays the recorded run, round by round",
    "release.json": "every residual estimate with its precision, to the last digit",
    "marginals/": "one CSV a marginal: a row a cell, with its noise's standard deviation",
    "index.csv": "which file holds which marginal, and how sure it is",
    "trace.json": "every round: what was chosen, measured and paid",
    "ledger.json": "every charge as an exact fraction",
    "settings.json": "mechanism, budget, neighbour relation, versions",
    "domain.json": "the declared attributes and their values",
}
"""What is in a bundle, in the order in which a reader wants it."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0")


def bundle(release: Release, events: Sequence[Event], *, post: str = "none") -> bytes:
    """Return a zip archive of everything released: the same bytes for the same release.

    Args:
        release: What was released.
        events: How it came about, from ``Started`` on.
        post: One of ``POSTPROCESS``, applied to the marginals' files only.

    Raises:
        DataError: If the events are not those of the release (``E_FORMAT``).
        OptionError: If ``post`` is none of these.
    """
    check_belongs(release, events)
    return archive(files(release, events, post=post))


def files(release: Release, events: Sequence[Event], *, post: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file of a bundle, sorted by name."""
    made: list[tuple[str, Callable[[], str]]] = [
        ("README.txt", lambda: readme(release)),
        ("domain.json", lambda: as_json(release.domain.to_dict())),
        ("index.csv", lambda: index_csv(release, post=post)),
        ("ledger.json", lambda: as_json(ledger_to_dict(release.ledger))),
    ]
    for name, make in made:
        yield name, make()
    for name, answer in answers(release, post=post):
        yield f"marginals/{name}", marginal_csv(answer)
    yield "notebook.ipynb", notebook(release)
    yield "release.json", as_json(release.to_dict())
    yield "report.html", report(release, events)
    yield "settings.json", as_json(settings(release, post=post))
    yield "trace.json", as_json(trace(events))


def archive(contents: Iterable[tuple[str, str]]) -> bytes:
    """Pack texts into a zip archive that holds no clock, user or machine."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for name, text in contents:
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system, info.external_attr = 3, 0o644 << 16
            # Level 1: a third of the time for a twelfth more bytes.
            out.writestr(info, text.encode("utf-8"), compresslevel=1)
    return packed.getvalue()


def check_belongs(release: Release, events: Sequence[Event]) -> None:
    """Refuse events of another run, or from the middle of one.

    Raises:
        DataError: With what does not fit (``E_FORMAT``).
    """
    if not events or not isinstance(events[0], Started):
        raise DataError(
            "The events do not begin with the start of a run. Give all of them.", code="E_FORMAT"
        )
    charges = [charge for event in events for charge in getattr(event, "charges", ())]
    if tuple(charges) != release.ledger.entries:
        paid = float(sum((charge.rho for charge in charges), Fraction(0)))
        raise DataError(
            f"The events paid rho = {paid:.6g} in {len(charges)} charges; the release's ledger has "
            f"{float(release.ledger.spent):.6g} in {len(release.ledger.entries)}. Give the events "
            "of this release.",
            code="E_FORMAT",
        )


# -- json ------------------------------------------------------------------------------------------


def as_json(content: Any) -> str:
    """Write plain values as JSON, one line."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"


def trace(events: Iterable[Event]) -> dict[str, Any]:
    """Return every event as plain JSON values."""
    return {"format": TRACE, "events": [event_to_dict(event) for event in events]}


def settings(release: Release, *, post: str = "none") -> dict[str, Any]:
    """Return what the run was asked for, and what made it."""
    return {
        "demonstration": list(release.demonstration),
        "mechanism": release.mechanism,
        "epsilon": release.epsilon,
        "delta": release.delta,
        "rho": str(release.ledger.total),
        "rows_per_person": release.domain.rows_per_person,
        "rho_of_a_person": str(release.rho_of_a_person),
        "postprocess": post,
        "neighbours": NEIGHBOURS,
        "domain_sha256": release.domain.hash,
        "engine_version": __version__,
    }


def _several(release: Release) -> str:
    rows = release.domain.rows_per_person
    if rows == 1:
        return "Who has several is protected less."
    return f"The promise is for a person with up to {rows}: {rows**2} times the ledger's rho."


# -- csv -------------------------------------------------------------------------------------------


def answers(release: Release, *, post: str = "none") -> Iterator[tuple[str, Estimate]]:
    """Yield a file name and the answer for each marginal of the workload, in order.

    Raises:
        OptionError: If ``post`` is none of ``POSTPROCESS``.
    """
    if post not in POSTPROCESS:
        raise OptionError(f"post is {post!r}; it must be one of {', '.join(POSTPROCESS)}.")
    for number, estimate in enumerate(POSTPROCESS[post](release).estimates(), start=1):
        yield marginal_file(number, estimate.label), estimate


def marginal_file(number: int, label: str) -> str:
    """Return the file's name of the workload's marginal of this number."""
    return f"{number:05d}_{file_name(label)}.csv"


def index_csv(release: Release, *, post: str = "none") -> str:
    """Return one line a marginal: its file, and how sure it is."""
    domain = release.domain
    lines: list[Sequence[object]] = [
        ["file", "marginal", "cells", "std", "residuals_never_measured"]
    ]
    for number, attrs in enumerate(release.workload.weights, start=1):
        variance, unmeasured = noise_of(release.beliefs, domain, attrs)
        known = post == "none" and release.completion is None
        sure = repr(math.sqrt(variance)) if known else ""
        name = marginal_file(number, domain.label(attrs))
        row = [name, cell(domain.label(attrs)), domain.cells(attrs), sure, len(unmeasured)]
        lines.append(row)
    return as_csv(lines)


def marginal_csv(estimate: Estimate) -> str:
    """Return one marginal in long form: a line a cell, with the noise's standard deviation."""
    names = [cell(estimate.domain[i].name) for i in estimate.attrs]
    header = as_csv([[*names, estimate.column("count"), estimate.column("std")]])
    # Every text is quoted once; millions of lines are then joined without looking at them again.
    labels = [[f"{_quoted(t)}," for t in estimate.domain[i].labels] for i in estimate.attrs]
    counts = map(repr, estimate.values.ravel().tolist())
    end = f",{std(estimate)}\n"
    rows = zip(map("".join, itertools.product(*labels)), counts, strict=True)
    return header + "".join([f"{texts}{count}{end}" for texts, count in rows])


def _quoted(text: str) -> str:
    return as_csv([[cell(text), ""]])[:-2]  # without the comma and the line's end


def as_csv(lines: Iterable[Iterable[object]]) -> str:
    """Write lines of cells; the texts among them are made harmless by ``cell`` before."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


def std(estimate: Estimate) -> str:
    """Write the noise's standard deviation; empty where it is not known."""
    return "" if estimate.std is None else repr(estimate.std)


def cell(text: str) -> str:
    """Keep a spreadsheet from taking a user's text for a formula (SECURITY row 34)."""
    return "'" + text if text[:1] in _FORMULA else text


def file_name(label: str) -> str:
    """Return a label's letters and digits, short: a name that is harmless on every system."""
    return re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_")[:80] or "marginal"


# -- texts -----------------------------------------------------------------------------------------


def readme(release: Release) -> str:
    """Say what the archive is, what it promises and what it does not."""
    ledger = release.ledger
    stamp = [f"DEMONSTRATION, not a private release. {why}" for why in release.demonstration]
    lines = [
        "Private marginals: what was released",
        "",
        *(line for why in stamp for line in (*textwrap.wrap(why, 78), "")),
        f"Promise: {promise(release)}",
        f"Neighbours: {NEIGHBOURS}.",
        f"One record: {release.domain.row or 'one person'}. {_several(release)}",
        f"Spent: rho = {ledger.spent} of {ledger.total}",
        f"Mechanism: {release.mechanism}",
        *textwrap.wrap(_adds_up(release), 78),
        f"Domain (declared), sha256: {release.domain.hash}",
        f"Engine: aim-grem-explorer {__version__}",
        "",
        "Files",
        *(f"  {name:<15} {what}" for name, what in CONTENTS.items()),
        "",
        "Not covered: timing, other releases about the same people, and whatever can",
        "be learnt of everybody without any single row. Counts may be negative or",
        "fractional: noise goes both ways, and cutting it off would bias every sum.",
        "Reading these files costs nothing more; running the mechanism again would.",
    ]
    return "\n".join(lines) + "\n"


def _adds_up(release: Release) -> str:
    """Say what the tables add up to where that is not the number of records as estimated."""
    if release.completion is None or release.total == UNBIASED or () not in release.beliefs:
        return ""
    return (
        f"Totals: the tables add up to {float(release.estimate().values):,.1f} records, lowered on "
        f"purpose; as estimated there are {float(release.beliefs[()].values):,.1f}."
    )


# -- notebook --------------------------------------------------------------------------------------

_SETUP = """\
import html
import json
from pathlib import Path

import pandas as pd
from IPython.display import HTML

import engine
from engine import grem
from engine.exporting.report import report
from engine.trace import event_from_dict

"""
_FROM_FILES = """\
content = json.loads(Path("release.json").read_text("utf-8"))
recorded = json.loads(Path("trace.json").read_text("utf-8"))["events"]
"""
_FROM_TEXT = """\
import base64
import zlib

packed = {packed!r}
content, recorded = json.loads(zlib.decompress(base64.b64decode(packed)))
"""
_REBUILD = """\
release = engine.Release.from_dict(content)
events = [event_from_dict(one) for one in recorded]
rounds = [one for one in events if isinstance(one, engine.RoundEnded)]
history = list(engine.beliefs_after(events))  # history[k]: what was known after round k


def at_round(k, *names):
    \"\"\"Any marginal as it stood after round k; 0 is before the first one.\"\"\"
    return grem.estimate(history[k], release.domain, release.domain.attrs(*names))


release
"""
_LEDGER = """\
ledger = pd.DataFrame(
    [
        {
            "for": charge.what,
            "on": "" if charge.attrs is None else release.domain.label(charge.attrs),
            "rho": float(charge.rho),
            "exactly": str(charge.rho),
        }
        for charge in release.ledger.entries
    ]
)
assert sum(charge.rho for charge in release.ledger.entries) == release.ledger.spent
ledger
"""
_PICTURE = """\
page = html.escape(report(release, events))  # drawn here; nothing is loaded
HTML(f'<div><iframe srcdoc="{page}" width="100%" height="640" title="report"></iframe></div>')
"""
_ROUNDS = """\
pd.DataFrame(
    [
        {
            "round": one.round,
            "chosen": "everything" if one.selected is None else release.domain.label(one.selected),
            "residuals measured": len(one.measurements),
            "answer moved by": one.change,
            "noise alone": one.threshold,
            "rho spent": float(one.rho_spent),
        }
        for one in rounds
    ]
)
"""
_MARGINAL = """\
names = {names}
before, after = at_round(0, *names), at_round(len(rounds), *names)
assert (after.values == release.estimate(*names).values).all()
after.to_frame().assign(at_the_start=before.values.ravel())
"""
_AGAIN = """\
TABLE = None  # a path to your own CSV file that fits domain.json

if TABLE is not None:
    table = engine.Table.from_csv(TABLE, release.domain)
    again = engine.run({mechanism}, table, release.workload, {budget})
    print(again)
"""


def notebook(release: Release) -> str:
    """Return a notebook that replays the run from the files beside it."""
    return _notebook(release, _FROM_FILES)


def notebook_alone(release: Release, events: Sequence[Event]) -> str:
    """Return a notebook that carries the recorded run in itself."""
    content = json.dumps([release.to_dict(), [event_to_dict(event) for event in events]])
    packed = base64.b64encode(zlib.compress(content.encode(), 6)).decode()
    return _notebook(release, _FROM_TEXT.format(packed=packed))


def _notebook(release: Release, load: str) -> str:
    stamps = [f"**DEMONSTRATION, not a private release.** {w}" for w in release.demonstration]
    names = tuple(release.domain[i].name for i in release.workload.marginals[0][:2])
    written = [
        ("markdown", "\n\n".join(["# A recorded run, replayed", _OPENING, *stamps])),
        ("code", _SETUP + load),
        ("code", _REBUILD),
        ("markdown", "## What it cost\n\nEvery charge, exactly; they add up to what was spent."),
        ("code", _LEDGER),
        ("markdown", "## What each round did"),
        ("code", _ROUNDS),
        ("markdown", "## Any answer at any round\n\nChange `names` to others of the domain."),
        ("code", _MARGINAL.format(names=repr(names))),
        ("markdown", "## The report"),
        ("code", _PICTURE),
        ("markdown", _SPENDS),
        ("code", _AGAIN.format(mechanism=_call(release.mechanism), budget=_budget(release))),
    ]
    cells = [_cell(number, kind, source) for number, (kind, source) in enumerate(written)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    meta = {"kernelspec": kernel, "language_info": {"name": "python"}}
    content = {"cells": cells, "metadata": meta, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


_OPENING = (
    "Nothing here reads records, draws noise or spends: the cells below rebuild what was released, "
    f"at any round. They need `aim-grem-explorer` {__version__} or later and nothing else."
)
_SPENDS = (
    "## Careful: this cell spends\n\n"
    "Running the mechanism **again** draws new noise. On the same records it costs its budget a "
    "second time, on top of what is in the ledger above. It does nothing until you name a table."
)


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    lines = source.strip("\n").splitlines(keepends=True)
    content: dict[str, Any] = {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {"tags": ["spends-again"]} if source.startswith("TABLE") else {},
        "source": lines,
    }
    return content | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _call(mechanism: str) -> str:
    """The mechanism's name as code, if it is a call with plain options and nothing else."""
    name = mechanism.partition("(")[0]
    for entry in catalogue.entries():
        if repr(entry.make()) == mechanism and not entry.code.startswith(f"engine.{name}"):
            return entry.code  # ``engine`` has no such name
    try:
        tree = ast.parse(mechanism, mode="eval").body
    except (SyntaxError, ValueError):
        tree = None
    if (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Name)
        and not tree.args
        and all(k.arg and isinstance(k.value, ast.Constant) for k in tree.keywords)
    ):
        if tree.func.id == "AimGrem":
            tree.keywords += _as_it_was(tree.keywords)
        return f"engine.{ast.unparse(tree)}"
    return catalogue.find(catalogue.DEFAULT).code


def _as_it_was(keywords: list[ast.keyword]) -> list[ast.keyword]:
    """Options that a name written before they existed meant, and that are not the default now."""
    named = {k.arg: k.value.value for k in keywords if isinstance(k.value, ast.Constant)}
    if named and "completion" not in named:
        return [ast.keyword("completion", ast.Constant("none"))]
    if "allocation" in named and named.get("completion") == "maxent" and "total" not in named:
        return [ast.keyword("total", ast.Constant("lowered"))]
    return []


def _budget(release: Release) -> str:
    if release.epsilon is not None and release.delta is not None:
        return f"epsilon={float(release.epsilon)!r}, delta={float(release.delta)!r}"
    return f"rho={float(release.ledger.total)!r}"


def code(release: Release, *, table: str, domain: str) -> str:
    """Return the Python that makes such a run and its bundle.

    Args:
        release: The run.
        table: Path of the table, for a reader to see.
        domain: Path of its domain file.
    """
    names = ", ".join(repr(name) for name in release.domain.names)
    return (
        "from pathlib import Path\n\nimport engine\nfrom engine import export\n\n"
        f"domain = engine.Domain.from_json({domain!r}).select({names})\n"
        f"table = engine.Table.from_csv({table!r}, domain)\n"
        f"workload = {_workload(release.workload)}\n"
        f"run = engine.run({_call(release.mechanism)}, table, workload, {_budget(release)})\n"
        'Path("release.zip").write_bytes(export.bundle(run.release, run.events))\n'
    )


def _workload(workload: Workload) -> str:
    """The workload as code: all tables over k attributes if it is that, or each with its weight."""
    degree = len(workload.marginals[0])
    if workload.weights == Workload.all_kway(workload.domain, degree).weights:
        return f"engine.Workload.all_kway(domain, {degree})"
    return f"engine.Workload({dict(workload.weights)!r}, domain)"
