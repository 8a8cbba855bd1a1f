"""``account``: make an account of releases, list it, check its chain, export it.

An account is one file, or a database of PostgreSQL for several servers. Keep copies of it; never go
back to an older one after a release.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from typing import Any

import engine
from engine.commands import asked
from engine.exporting.bundle import cell
from engine.releasing import chain
from engine.releasing.account import Account

COLUMNS = ("number", "kind", "table", "table_id", "release", "rho", "written", "note", "hash")

STATES = {"close": "released", "abandon": "abandoned"}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "account", help="what all releases of a table have cost together", description=__doc__
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    for name, call, what in (
        ("create", _create, "make a new, empty account"),
        ("list", _list, "what each table and release has cost"),
        ("verify", _verify, "check the chain of entries"),
        ("export", _export, "all entries as CSV"),
        ("abandon", _abandon, "end an interrupted release; what was charged stands"),
    ):
        action = actions.add_parser(name, help=what, description=what)
        action.add_argument("file", help="the account: a file, or postgresql://user@host/database")
        action.set_defaults(call=call)
        if name == "list":
            action.add_argument("--json", action="store_true", help="print it as JSON")
        if name == "abandon":
            action.add_argument("release", help="its name, as list shows it")


def _create(options: argparse.Namespace) -> int:
    made = Account.create(options.file)
    print(f"Made {made.store.name}. Keep it with the table, and keep copies.")
    return 0


def _list(options: argparse.Namespace) -> int:
    account = Account(options.file)
    entries = account.entries()
    tables = [_table(table, entries) for table in account.tables()]
    asked.say(
        {"tables": tables}, [line for t in tables for line in _lines(t)], as_json=options.json
    )
    return 0


def _table(table: Any, entries: tuple[chain.Entry, ...]) -> dict[str, Any]:
    releases = []
    for opened in (e for e in entries if e.kind == "open" and e.table_id == table.table_id):
        mine = [e for e in entries if e.release == opened.release]
        ended = [e.kind for e in mine if e.kind in chain.ENDS]
        releases.append(
            {
                "release": opened.release,
                "state": STATES[ended[0]] if ended else "open",
                "rho": str(chain.cost_of(mine)),
                "opened": opened.written,
                "mechanism": opened.note["settings"].get("mechanism", ""),
            }
        )
    return {
        "table": table.name,
        "table_id": table.table_id,
        "total": str(chain.total_of(entries, table.table_id)),
        "spent": str(chain.spent_on(entries, table.table_id)),
        "public": chain.statement_of(entries, table.table_id),
        "releases": releases,
    }


def _lines(table: dict[str, Any]) -> list[str]:
    spent, total = (float(asked.fraction(table[key])) for key in ("spent", "total"))
    open_ones = [one["release"] for one in table["releases"] if one["state"] == "open"]
    return [
        f"{table['table']}: rho {spent:.6g} of {total:.6g} for a person",
        *([f"  said to be public: {table['public']}"] if table["public"] else []),
        *(
            f"  {one['release']}  {one['state']:<9}  rho {float(asked.fraction(one['rho'])):.6g}"
            f"  {one['opened']}"
            for one in table["releases"]
        ),
        *(
            f"  {name[:8]}… is open, and all it may cost counts: go on with release --resume, or "
            "end it with account abandon"
            for name in open_ones
        ),
    ]


def _verify(options: argparse.Namespace) -> int:
    print(f"The chain of {Account(options.file).verify():,} entries is whole.")
    return 0


def _export(options: argparse.Namespace) -> int:
    account = Account(options.file)
    names = {table.table_id: table.name for table in account.tables()}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    for e in account.entries():
        note = json.dumps(e.note, ensure_ascii=False)
        name = cell(names[e.table_id])  # a spreadsheet takes it for no formula
        out.writerow(
            [e.number, e.kind, name, e.table_id, e.release, e.rho, e.written, note,
             e.hash]
        )  # fmt: skip
    return 0


def _abandon(options: argparse.Namespace) -> int:
    for table in Account(options.file).tables():
        if options.release in table.unfinished:
            table.abandon(options.release)
            print(f"Ended; {table.name} has now cost rho {float(table.spent):.6g} for a person.")
            return 0
    raise engine.AccountError(
        "There is no open release of this name. List the account to see which there are.",
        code="E_RELEASE",
    )
