"""``prepare``: compile every loop once and keep the code on disk, so that nobody waits later."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from engine.mechanisms import preparing


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "prepare", help="compile the loops over cells, once on a machine", description=__doc__
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Compile, with a line for each step."""
    for number, (step, count) in enumerate(preparing.steps(), start=1):
        if not options.quiet:
            print(f"preparing, once on this machine: {number} of {count} ({step})", file=sys.stderr)
    return 0
