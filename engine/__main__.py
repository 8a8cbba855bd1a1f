"""The command line: ``python -m engine run TABLE --domain FILE --workload 3 --epsilon 1 ...``.

It writes released values only: marginals (CSV), the ledger, the settings and the whole release
(JSON).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import engine
from engine.released import Estimate
from engine.trace import ledger_to_dict

MECHANISMS: dict[str, Callable[[], Any]] = {
    "aim-grem": engine.AimGrem,
    "aim-grem-paper": engine.AimGrem.paper,
    "residual-planner": engine.ResidualPlanner,
    "residual-planner-max": lambda: engine.ResidualPlanner(objective="max"),
    "equal-split": engine.EqualSplit,
    "uniform": engine.Uniform,
}
_POSTPROCESS: dict[str, Callable[[Estimate], Estimate]] = {
    "none": lambda estimate: estimate,
    "clip": engine.clip,
    "simplex": engine.simplex,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, or 2 with a sentence on standard error."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except engine.EngineError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"E_OUT: The results cannot be written: {error.strerror}.", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", description=__doc__)
    run = parser.add_subparsers(required=True).add_parser(
        "run", help="answer marginals of a table under differential privacy (a rehearsal for now)"
    )
    run.add_argument("table", help="CSV file, or gzip of one")
    run.add_argument("--domain", required=True, help="its .domain.json file")
    run.add_argument("--workload", type=int, required=True, help="k: all k-way marginals")
    run.add_argument("--epsilon", type=float, required=True)
    run.add_argument("--delta", type=float, required=True)
    run.add_argument("--mechanism", choices=sorted(MECHANISMS), default="aim-grem")
    run.add_argument("--postprocess", choices=sorted(_POSTPROCESS), default="none")
    run.add_argument("--seed", type=int, help="repeats the run (it is not written anywhere)")
    run.add_argument("--out", required=True, help="folder for the results; made if it is missing")
    run.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


def _run(options: argparse.Namespace) -> int:
    domain = engine.Domain.from_json(options.domain)
    workload = engine.Workload.all_kway(domain, options.workload)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    table = engine.Table.from_csv(options.table, domain)
    run = engine.run(
        MECHANISMS[options.mechanism](),
        table,
        workload,
        epsilon=options.epsilon,
        delta=options.delta,
        seed=options.seed,
        progress=None if options.quiet else _progress_bar(),
    )
    _write(run.release, out, options.postprocess)
    _summary(run, out)
    return 0


def _progress_bar(width: int = 30) -> Callable[[float, engine.Event], None]:
    terminal, last = sys.stderr.isatty(), [-math.inf]

    def show(share: float, event: engine.Event) -> None:
        finished = isinstance(event, engine.Finished)
        # Ten times a second on a terminal; one line at the end elsewhere.
        if not finished and (not terminal or time.monotonic() - last[0] < 0.1):
            return
        last[0] = time.monotonic()
        bar = "#" * round(width * share)
        count = getattr(event, "round", None) or getattr(event, "rounds", 0)
        line = f"[{bar:<{width}}] {share:6.1%} of the budget, round {count}"
        print(f"\r{line}" if terminal else line, end="\n" if finished else "", file=sys.stderr)

    return show


def _write(release: engine.Release, out: Path, postprocess: str) -> None:
    _write_json(out / "release.json", release.to_dict())
    _write_json(out / "ledger.json", ledger_to_dict(release.ledger))
    _write_json(
        out / "settings.json",
        {
            "demonstration": list(release.demonstration),
            "mechanism": release.mechanism,
            "epsilon": release.epsilon,
            "delta": release.delta,
            "rho": str(release.ledger.total),
            "postprocess": postprocess,
            "neighbours": "tables that differ by adding or removing one record",
            "domain_sha256": release.domain.hash,
            "engine_version": engine.__version__,
        },
    )
    _write_marginals(release, out, _POSTPROCESS[postprocess])


def _write_marginals(
    release: engine.Release, out: Path, postprocess: Callable[[Estimate], Estimate]
) -> None:
    """Write one file a marginal, and an index that says how sure each is."""
    folder = out / "marginals"
    folder.mkdir(exist_ok=True)
    for stale in folder.glob("[0-9][0-9][0-9][0-9][0-9]_*.csv"):
        stale.unlink()  # an earlier run's answers would pass for this one's
    with (out / "index.csv").open("w", encoding="utf-8", newline="") as file:
        index = csv.writer(file, lineterminator="\n")
        index.writerow(["file", "marginal", "cells", "std", "residuals_never_measured"])
        for number, estimate in enumerate(release.estimates(), start=1):
            answer = postprocess(estimate)
            name = f"{number:05d}_{_file_name(estimate.label)}.csv"
            _write_marginal(folder / name, answer)
            row = [name, _cell(answer.label), answer.values.size, _std(answer)]
            index.writerow([*row, len(answer.unmeasured)])


def _write_marginal(path: Path, estimate: Estimate) -> None:
    """Write one marginal in long form: a line a cell, with the noise's standard deviation."""
    labels = [map(_cell, estimate.domain[i].labels) for i in estimate.attrs]
    names = [_cell(estimate.domain[i].name) for i in estimate.attrs]
    counts = map(repr, estimate.values.ravel().tolist())
    std = _std(estimate)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, estimate.column("count"), estimate.column("std")])
        cells = zip(itertools.product(*labels), counts, strict=True)
        writer.writerows((*texts, count, std) for texts, count in cells)


def _std(estimate: Estimate) -> str:
    return "" if estimate.std is None else repr(estimate.std)


def _cell(text: str) -> str:
    # A spreadsheet would take such a text for a formula (SECURITY row 34).
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r", "\0") else text


def _file_name(label: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_")[:80] or "marginal"


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def _summary(run: engine.Run, out: Path) -> None:
    release = run.release
    print(
        f"{len(release.workload.weights):,} marginals with {release.workload.cells:,} cells in "
        f"{out / 'marginals'}; {len(run.rounds)} rounds; rho {float(release.ledger.spent):.6g} of "
        f"{float(release.ledger.total):.6g} spent."
    )
    for reason in release.demonstration:
        print(f"DEMONSTRATION, not a private release. {reason}")


if __name__ == "__main__":
    sys.exit(main())
