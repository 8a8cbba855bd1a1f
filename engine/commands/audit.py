"""``audit``: what many runs on two neighbouring tables give away, beside what is promised.

A lower bound on rho and epsilon, wrong with probability alpha at most. A correct mechanism shows
much less than its promise; faults can be planted, to see that the audit sees them.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import Any

from engine.commands import asked
from engine.mechanisms import catalogue
from engine.releasing import auditing

CAUGHT = 1


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "audit", help="bound epsilon from below by many runs", description=__doc__
    )
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=asked.DELTA)
    parser.add_argument("--runs", type=int, default=1000, help="on each table")
    parser.add_argument("--alpha", type=float, default=1e-3, help="chance of a false alarm")
    parser.add_argument("--fault", choices=sorted(auditing.FAULTS), default="none")
    parser.add_argument(
        "--strength", type=int, default=auditing.STRENGTH, metavar="TIMES",
        help="of the fault: how much larger the budget is, or smaller the noise's variance",
    )  # fmt: skip
    parser.add_argument(
        "--pair", choices=sorted(auditing.PAIRS), default="full cell", help="where the record is"
    )
    parser.add_argument("--mechanism", type=asked.mechanism, metavar="NAME", default=None)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Audit, and say so; the exit code is 1 if more is given away than was promised."""
    mechanism = options.mechanism or catalogue.find("residual-planner")
    found = auditing.audit(
        mechanism.make(),
        epsilon=options.epsilon,
        delta=options.delta,
        runs=options.runs,
        fault=options.fault,
        strength=options.strength,
        pair=options.pair,
        alpha=options.alpha,
        progress=_progress if sys.stderr.isatty() else None,
    )
    verdict = "MORE THAN PROMISED" if found.caught else "no more than promised was seen"
    lines = [
        f"{found.runs:,} runs on each of two neighbouring tables; a fault planted: {options.fault}",
        f"rho      promised {found.promised:.6g}, seen at least {found.least:.6g} by one threshold "
        f"and {found.divergence:.6g} over bins",
        f"epsilon  promised {found.epsilon:.6g}, seen at least {found.least_epsilon:.6g} "
        f"(delta {found.delta:g})",
        f"{verdict} (a correct mechanism is accused with probability {found.alpha:g} at most)",
    ]
    asked.say({**asdict(found), "caught": found.caught}, lines, as_json=options.json)
    return CAUGHT if found.caught else 0


def _progress(share: float) -> None:
    print(f"\r{share:6.1%}", end="\n" if share == 1 else "", file=sys.stderr)
