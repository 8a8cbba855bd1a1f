"""``draft-domain``: write a first domain file from a table, to be checked and declared by you.

Its lists of values are read from the data, and the file says so: that alone can reveal a person.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import engine
from engine.commands import asked


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "draft-domain", help="write a first domain file from a table", description=__doc__
    )
    asked.add_table(parser)
    parser.add_argument("--out", required=True, metavar="FILE", help="the .domain.json to write")
    parser.add_argument("--force", action="store_true", help="replace it if it is there")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Read the table, propose a domain, and write it."""
    from engine import ingest

    out = Path(options.out)
    if out.exists() and not options.force:
        raise engine.DataError(
            f"{out.name!r} is there already. Give another --out, or --force.", code="E_OUT"
        )
    content = sys.stdin.buffer.read() if options.table == "-" else Path(options.table).read_bytes()
    preview = ingest.read(content, **asked.reading_of(options))
    domain = ingest.draft_domain(preview)
    reading = ingest.Choices(**asked.reading_of(options)).to_dict()
    domain.to_json(out, reading=reading)
    for note in preview.warnings:
        print(f"note: {note.sentence}", file=sys.stderr)
    print(
        f"{len(domain)} attributes in {out}. Their values were read from the data: check each, "
        "and declare what is publicly known."
    )
    return 0
