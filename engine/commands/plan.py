"""``plan``: what a workload costs, and what errors to expect, before any record is read."""

from __future__ import annotations

import argparse
import math
from fractions import Fraction
from typing import Any

import engine
from engine.commands import asked
from engine.mechanisms import catalogue, outlook

PREDICTING = ("residual-planner", "residual-planner-max", "equal-split")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "plan", help="predict errors from sizes alone; no table is read", description=__doc__
    )
    asked.add_domain(parser)
    asked.add_workload(parser)
    asked.add_budget(parser)
    parser.add_argument(
        "--records", type=int, metavar="N",
        help="about how many records there are, as publicly known: compares the default's plans",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Predict, and print."""
    domain = asked.domain_of(options)
    workload, rho = asked.workload_of(options, domain), asked.rho_of(options)
    facts: dict[str, Any] = {
        "marginals": len(workload.weights),
        "cells": workload.cells,
        "with_subsets": len(workload.closure),
        "memory_bytes": engine.AimGrem().memory_needed(workload),
        "rho": float(rho),
        "mean_l1_expected": {},
    }
    for key in PREDICTING:
        prediction = catalogue.find(key).make().predict(workload, rho=rho)
        facts["mean_l1_expected"][key] = prediction.mean_l1
    if options.records is not None:
        ahead = outlook.before(workload, Fraction(rho), records=options.records)
        facts["default"] = {
            "why": ahead.why,
            "mean_l1_forecast": {plan.name: plan.left for plan in ahead.alternatives},
        }
    asked.say(facts, _lines(facts), as_json=options.json)
    return 0


def _lines(facts: dict[str, Any]) -> list[str]:
    expected = facts["mean_l1_expected"].items()
    default = facts.get("default")
    plans = default["mean_l1_forecast"].items() if default else ()
    return [
        f"{facts['marginals']:,} marginals with {facts['cells']:,} cells "
        f"({facts['with_subsets']:,} with their subsets); rho {facts['rho']:.6g}; "
        f"about {math.ceil(facts['memory_bytes'] / 2**20):,} MiB of memory.",
        "Expected L1 error of a marginal, mean, before anything is spent:",
        *(f"  {key:<22} {error:,.1f} records" for key, error in expected),
        *([f"The default: {default['why']}"] if default else ()),
        *(f"  {name:<40} {error:,.0f} records forecast" for name, error in plans),
        "What an adaptive mechanism leaves depends on the records; compare it on public data.",
    ]
