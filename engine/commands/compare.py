"""``compare``: run several mechanisms on a table and print their true errors.

A demonstration: true errors come from the records and are never part of a release.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import engine
from engine.commands import asked, writing
from engine.demonstrating import comparison
from engine.demonstrating.comparison import CONTENDERS, Contender
from engine.mechanisms import catalogue

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
        type=_contender,
        metavar="NAME",
        help=f"one of {', '.join(sorted(_known()))}, with a finish if wanted, as in "
        "residual-planner+simplex; may be given several times (default: aim-grem and "
        "residual-planner)",
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
    keys = list(dict.fromkeys(options.mechanism or ("aim_grem", "residual_planner")))
    if options.trials < 1:
        raise engine.OptionError(f"--trials is {options.trials}; at least 1 is needed.")
    results = list(
        comparison.trials(
            asked.watched(options, domain, asked.table_of(options, domain)),
            workload,
            {key: _contenders(key) for key in keys},
            epsilons=options.epsilon or [1.0],
            delta=asked.DELTA if options.delta is None else options.delta,
            seeds=range(options.seed, options.seed + options.trials),
        )
    )
    if options.csv:
        writing.new_file(Path(options.csv), comparison.frame(results).to_csv(index=False))
    means = _means(results)
    facts = {"not_private": NOT_PRIVATE, "mean_l1_over_n": means}
    lines = [NOT_PRIVATE, "mechanism                epsilon   mean L1 / N"]
    lines += [f"{m['mechanism']:<24} {m['epsilon']:<9g} {m['mean']:.4g}" for m in means]
    asked.say(facts, lines, as_json=options.json)
    return 0


def _known() -> list[str]:
    forms = [entry.key for entry in catalogue.entries("forms")]
    return [key.replace("_", "-") for key in {**dict.fromkeys(CONTENDERS), **dict.fromkeys(forms)}]


def _contenders(key: str) -> Contender:
    """Who competes under a key: one of the comparison's, or another that the forms offer."""
    if key in CONTENDERS:
        return CONTENDERS[key]
    entry = catalogue.find(key, "forms")
    return Contender(entry.label, entry.make())


def _contender(name: str) -> str:
    key = name.replace("-", "_")
    try:
        _contenders(key)
    except (engine.OptionError, KeyError):
        offered = ", ".join(map(repr, _known()))
        raise argparse.ArgumentTypeError(
            f"invalid choice: {name!r} (choose from {offered})"
        ) from None
    return key


def _means(results: list[Any]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, float], list[float]] = {}
    for trial in results:
        groups.setdefault((trial.mechanism, trial.epsilon), []).append(trial.share("mean_l1"))
    return [
        {"mechanism": key, "epsilon": epsilon, "trials": len(all_), "mean": sum(all_) / len(all_)}
        for (key, epsilon), all_ in groups.items()
    ]
