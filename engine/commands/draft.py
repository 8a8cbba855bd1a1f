"""``draft-domain``: write a first domain file from a table, to be checked and declared by you.

Its lists of values are read from the data, and the file says so: that alone can reveal a person.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import engine
from engine.commands import asked, writing


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "draft-domain", help="write a first domain file from a table", description=__doc__
    )
    asked.add_table(parser, batches=False)
    parser.add_argument("--out", required=True, metavar="FILE", help="the .domain.json to write")
    parser.add_argument("--force", action="store_true", help="replace it if it is there")
    parser.add_argument("--json", action="store_true", help="print what was drafted as JSON")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Read the table, propose a domain, and write it."""
    from engine import ingest

    out = Path(options.out)
    if out.exists() and not options.force:
        raise engine.DataError(
            f"{out.name!r} is there already. Give another --out, or --force.", code="E_OUT"
        )
    source = sys.stdin.buffer.read() if options.table == "-" else Path(options.table).read_bytes()
    preview = ingest.read(source, **asked.reading_of(options))
    domain = ingest.draft_domain(preview)
    reading = ingest.Choices(**asked.reading_of(options)).to_dict()
    content = domain.to_dict() | ({"reading": reading} if reading else {})
    writing.new_file(out, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    for note in preview.warnings:
        print(f"note: {note.sentence}", file=sys.stderr)
    facts = {
        "attributes": list(domain.names),
        "out": str(out),
        "read_from_data": domain.read_from_data,
        "notes": [note.sentence for note in preview.warnings],
    }
    line = (
        f"{len(domain)} attributes in {out}. Their values were read from the data: check each, "
        "and declare what is publicly known."
    )
    asked.say(facts, [line], as_json=options.json)
    return 0
