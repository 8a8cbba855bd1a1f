"""``compare``: run several mechanisms on a table and print their true errors.

A demonstration: true errors come from the records and are never part of a release.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import engine
from engine.commands import asked
from engine.demonstrating import comparison
from engine.demonstrating.comparison import CONTENDERS

NOT_PRIVATE = "DEMONSTRATION. These errors were computed from the records; they are not private."


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "compare", help="true errors of several mechanisms, side by side (not private)",
        description=__doc__,
    )  # fmt: skip
    asked.add_table(parser)
    asked.add_domain(parser)
    asked.add_workload(parser)
    asked.add_budget(parser, several=True)
    parser.add_argument(
        "--mechanism",
        action="append",
        choices=[key.replace("_", "-") for key in CONTENDERS],
        help="may be given several times (default: aim-grem and residual-planner)",
    )
    parser.add_argument("--trials", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--seed", type=int, default=0, help="of the first trial (default 0)")
    asked.add_account(parser)
    parser.add_argument("--csv", metavar="FILE", help="write one line a trial")
    parser.add_argument("--json", action="store_true", help="print the means as JSON")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Compare, and print the means."""
    domain = asked.domain_of(options)
    workload = asked.workload_of(options, domain)
    keys = list(dict.fromkeys(options.mechanism or ("aim-grem", "residual-planner")))
    if options.trials < 1:
        raise engine.OptionError(f"--trials is {options.trials}; at least 1 is needed.")
    results = list(
        comparison.trials(
            asked.watched(options, domain, asked.table_of(options, domain)),
            workload,
            comparison.contenders(*(key.replace("-", "_") for key in keys)),
            epsilons=options.epsilon or [1.0],
            delta=asked.DELTA if options.delta is None else options.delta,
            seeds=range(options.seed, options.seed + options.trials),
        )
    )
    if options.csv:
        text = comparison.frame(results).to_csv(index=False)
        Path(options.csv).write_text(text, encoding="utf-8", newline="")
    means = _means(results)
    facts = {"not_private": NOT_PRIVATE, "mean_l1_over_n": means}
    lines = [NOT_PRIVATE, "mechanism                epsilon   mean L1 / N"]
    lines += [f"{m['mechanism']:<24} {m['epsilon']:<9g} {m['mean']:.4g}" for m in means]
    asked.say(facts, lines, as_json=options.json)
    return 0


def _means(results: list[Any]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, float], list[float]] = {}
    for trial in results:
        groups.setdefault((trial.mechanism, trial.epsilon), []).append(trial.share("mean_l1"))
    return [
        {"mechanism": key, "epsilon": epsilon, "trials": len(all_), "mean": sum(all_) / len(all_)}
        for (key, epsilon), all_ in groups.items()
    ]
