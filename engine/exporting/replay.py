"""A recorded run as a notebook that replays it, and as the code that would make such a run."""

from __future__ import annotations

import ast
import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

from engine.completing.release import Release
from engine.mechanisms import catalogue
from engine.trace import Event, event_to_dict
from engine.version import __version__
from engine.workload import Workload

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
    return assembled(written)


def assembled(written: Sequence[tuple[str, str]]) -> str:
    """Return a notebook of these cells, each its kind ("markdown" or "code") and its text."""
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
    # The ledger counts records; what a run is asked for is a person's.
    return f"rho={float(release.ledger.total * release.domain.rows_per_person**2)!r}"


def code(release: Release, *, table: str, domain: str) -> str:
    """Return the Python that makes such a run and its bundle.

    Args:
        release: The run.
        table: Path of the table, for a reader to see.
        domain: Path of its domain file.
    """
    names = ", ".join(repr(name) for name in release.domain.names)
    return (
        "from pathlib import Path\n\n"
        "import engine\nfrom engine.exporting import bundle as export\n\n"
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
