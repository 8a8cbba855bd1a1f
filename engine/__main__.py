"""The command line: ``python -m engine run TABLE --domain FILE --workload 3 --epsilon 1 ...``.

It writes released values only: marginals (CSV), the ledger, the settings and the whole release
(JSON).
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import engine
from engine.exporting import bundle as export
from engine.mechanisms import catalogue
from engine.trace import ledger_to_dict


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
    run.add_argument(
        "--mechanism", type=_mechanism, default=catalogue.DEFAULT, metavar="NAME",
        help="one of " + ", ".join(entry.option for entry in catalogue.entries("forms")),
    )  # fmt: skip
    run.add_argument("--postprocess", choices=sorted(export.POSTPROCESS), default="none")
    run.add_argument("--seed", type=int, help="repeats the run (it is not written anywhere)")
    run.add_argument("--out", required=True, help="folder for the results; made if it is missing")
    run.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


def _mechanism(name: str) -> catalogue.Entry:
    try:
        return catalogue.find(name, "forms")
    except engine.OptionError:
        offered = ", ".join(repr(entry.option) for entry in catalogue.entries("forms"))
        raise argparse.ArgumentTypeError(f"invalid choice: {name!r} (choose from {offered})") from (
            None
        )


def _run(options: argparse.Namespace) -> int:
    domain = engine.Domain.from_json(options.domain)
    workload = engine.Workload.all_kway(domain, options.workload)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    table = engine.Table.from_csv(options.table, domain)
    run = engine.run(
        options.mechanism.make(),
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
    _write_json(out / "settings.json", export.settings(release, post=postprocess))
    _write_marginals(release, out, postprocess)


def _write_marginals(release: engine.Release, out: Path, postprocess: str) -> None:
    """Write one file a marginal, and an index that says how sure each is."""
    folder = out / "marginals"
    folder.mkdir(exist_ok=True)
    for stale in folder.glob("[0-9][0-9][0-9][0-9][0-9]_*.csv"):
        stale.unlink()  # an earlier run's answers would pass for this one's
    for name, answer in export.answers(release, post=postprocess):
        _write_text(folder / name, export.marginal_csv(answer))
    _write_text(out / "index.csv", export.index_csv(release, post=postprocess))


def _write_json(path: Path, content: dict[str, Any]) -> None:
    _write_text(path, export.as_json(content))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


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
