"""``prepare``: compile every loop once and keep the code on disk, so that nobody waits later."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from engine.commands import asked
from engine.mechanisms import preparing


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "prepare", help="compile the loops over cells, once on a machine", description=__doc__
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--json", action="store_true", help="print what was prepared as JSON")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Compile, with a line for each step."""
    steps = []
    for number, (step, count) in enumerate(preparing.steps(), start=1):
        steps.append(step)
        if not options.quiet:
            print(f"preparing, once on this machine: {number} of {count} ({step})", file=sys.stderr)
    if options.json:
        asked.say({"prepared": steps}, [], as_json=True)
    return 0
