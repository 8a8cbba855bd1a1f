"""``run``: answer marginals of a table and write them with their ledger and settings.

Only released values are written: marginals (CSV), the ledger, the settings and the whole release
(JSON).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import engine
from engine.commands import asked, writing
from engine.completing.release import Release
from engine.errors import RunInterruptedError
from engine.exporting import bundle
from engine.mechanisms import catalogue
from engine.trace import ledger_to_dict

REPEATED = ("workload", "marginal", "epsilon", "delta", "rho", "mechanism", "postprocess")
"""Options that ``settings.json`` keeps, so that it can be given back."""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "run",
        help="answer marginals of a table under differential privacy (a rehearsal)",
        description=__doc__,
    )
    asked.add_table(parser)
    asked.add_domain(parser)
    asked.add_workload(parser)
    asked.add_budget(parser)
    parser.add_argument(
        "--mechanism",
        type=asked.mechanism,
        metavar="NAME",
        help=f"default: aim-grem; {asked.mechanism_names()}",
    )
    parser.add_argument("--postprocess", choices=sorted(bundle.POSTPROCESS), help="default: none")
    parser.add_argument("--settings", metavar="FILE", help="settings.json of a run to repeat")
    parser.add_argument(
        "--seed",
        type=int,
        help="repeats the noise (it is not written anywhere; default: fresh noise)",
    )
    asked.add_account(parser)
    parser.add_argument("--out", required=True, help="folder for the results")
    parser.add_argument("--force", action="store_true", help="replace what the folder holds")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Run a mechanism and write what it releases."""
    _repeat(options)
    out = Path(options.out)
    writing.check_free(out, force=options.force)
    domain = asked.domain_of(options)
    workload = asked.workload_of(options, domain)
    try:
        run = engine.run(
            options.mechanism.make(),
            asked.watched(options, domain, asked.table_of(options, domain)),
            workload,
            **asked.budget_of(options),
            seed=options.seed,
            progress=None if options.quiet else progress_bar(),
        )
    except RunInterruptedError as error:
        # What was spent is not lost: the ledger and what was drawn are written all the same.
        with writing.new_folder(out) as folder:
            _write_json(folder / "release.json", error.release.to_dict())
            _write_json(folder / "ledger.json", ledger_to_dict(error.ledger))
        print(f"The ledger and what was drawn are in {out}.", file=sys.stderr)
        raise
    with writing.new_folder(out) as folder:
        _write(run.release, folder, options)
    asked.say(_facts(run), _summary(run, out), as_json=options.json)
    return 0


def _repeat(options: argparse.Namespace) -> None:
    """Take what is not given from the settings of an earlier run, then from the defaults."""
    kept = _read_settings(Path(options.settings)) if options.settings else {}
    given = options.workload is not None or options.marginal
    budget = options.epsilon is not None or options.rho is not None
    for name in REPEATED:
        if (name in ("workload", "marginal") and given) or (name in ("epsilon", "rho") and budget):
            continue
        if not getattr(options, name) and name in kept:
            setattr(options, name, kept[name])
    options.mechanism = options.mechanism or catalogue.find(catalogue.DEFAULT)
    options.postprocess = options.postprocess or "none"


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_text("utf-8"))["repeat"]
        mechanism = catalogue.find(kept["mechanism"])
        rho = None if kept["rho"] is None else asked.fraction(kept["rho"])
        known = kept["postprocess"] in bundle.POSTPROCESS
    except (OSError, ValueError, KeyError, TypeError):  # the engine's own are ValueErrors
        known = False
    if not known:
        raise engine.DataError(
            "The settings cannot be repeated: they are not a settings.json of this command. Give "
            "the options themselves.",
            code="E_FORMAT",
        )
    return {**kept, "rho": rho, "mechanism": mechanism}


def progress_bar(width: int = 30) -> Callable[[float, engine.Event | None], None]:
    """Return what draws a bar on standard error; between two events it is told none."""
    terminal, last = sys.stderr.isatty(), [-math.inf]
    count: list[Any] = [0]

    def show(share: float, event: engine.Event | None) -> None:
        finished = isinstance(event, engine.Finished)
        if event is not None:
            count[0] = getattr(event, "round", None) or getattr(event, "rounds", 0)
        # Ten times a second on a terminal; one line at the end elsewhere.
        if not finished and (not terminal or time.monotonic() - last[0] < 0.1):
            return
        last[0] = time.monotonic()
        bar = "#" * round(width * share)
        line = f"[{bar:<{width}}] {share:6.1%} of the budget, round {count[0]}"
        print(f"\r{line}" if terminal else line, end="\n" if finished else "", file=sys.stderr)

    return show


def _write(release: Release, out: Path, options: argparse.Namespace) -> None:
    repeat = {name: getattr(options, name) for name in REPEATED}
    repeat["mechanism"] = options.mechanism.option
    repeat["rho"] = None if options.rho is None else str(options.rho)
    settings = bundle.settings(release, post=options.postprocess)
    _write_json(out / "release.json", release.to_dict())
    _write_json(out / "ledger.json", ledger_to_dict(release.ledger))
    _write_json(out / "settings.json", {**settings, "repeat": repeat})
    folder = out / "marginals"
    folder.mkdir()
    for name, answer in bundle.answers(release, post=options.postprocess):
        _write_text(folder / name, bundle.marginal_csv(answer))
    _write_text(out / "index.csv", bundle.index_csv(release, post=options.postprocess))


def _write_json(path: Path, content: dict[str, Any]) -> None:
    _write_text(path, bundle.as_json(content))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


def _facts(run: engine.Run) -> dict[str, Any]:
    release = run.release
    return {
        "marginals": len(release.workload.weights),
        "cells": release.workload.cells,
        "rounds": len(run.rounds),
        "rho_spent": float(release.ledger.spent),
        "rho_total": float(release.ledger.total),
        "epsilon": release.epsilon,
        "delta": release.delta,
        "mechanism": release.mechanism,
        "demonstration": list(release.demonstration),
    }


def _summary(run: engine.Run, out: Path) -> list[str]:
    release = run.release
    return [
        f"{len(release.workload.weights):,} marginals with {release.workload.cells:,} cells in "
        f"{out / 'marginals'}; {len(run.rounds)} rounds; rho {float(release.ledger.spent):.6g} of "
        f"{float(release.ledger.total):.6g} spent.",
        *(f"DEMONSTRATION, not a private release. {why}" for why in release.demonstration),
    ]
