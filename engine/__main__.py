"""Adaptive private marginals from the shell: ``python -m engine COMMAND``, or the installed name.

Every command explains itself: ``python -m engine COMMAND --help``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import engine
from engine.commands import account, app, audit, compare, draft, plan, prepare, release, run

COMMANDS = (app, run, compare, plan, draft, prepare, release, account, audit)
CANCELLED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Returns:
        0; 2 with a sentence on standard error after a mistake; 130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    try:
        code: int = options.call(options)
        sys.stdout.flush()
    except engine.EngineError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"E_OUT: The file cannot be read or written: {error.strerror}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("cancelled; nothing written", file=sys.stderr)
        return CANCELLED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", description=__doc__)
    parser.add_argument("--version", action="version", version=f"engine {engine.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
