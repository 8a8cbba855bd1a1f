"""``release``: answer marginals of a table for good, with exact noise, charged to an account.

There is no seed, and no second try: each release of a table costs what its account says. The
domain file must be declared, not read from the table. The result folder is the bundle: it holds
verify.py, which checks it without this program.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import engine
from engine.commands import asked, writing
from engine.commands.run import progress_bar
from engine.exporting.bundle import POSTPROCESS
from engine.mechanisms import catalogue
from engine.releasing import bundle
from engine.releasing.account import Account, TableAccount
from engine.releasing.source import SAMPLERS

SECRET = "AIM_GREM_SECRET"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "release",
        help="release marginals for good: exact noise, charged to an account",
        description=__doc__,
    )
    asked.add_table(parser)
    asked.add_domain(parser)
    asked.add_workload(parser)
    parser.add_argument("--epsilon", type=float, required=True, help="the promise to one person")
    parser.add_argument("--delta", type=float, required=True, help="its other half, such as 1e-9")
    parser.add_argument(
        "--account", required=True, metavar="FILE", help="or address; made by: account create"
    )
    parser.add_argument("--name", required=True, help="what the custodian calls the table")
    parser.add_argument(
        "--secret-file", metavar="FILE",
        help=f"holds the custodian's secret; without it the environment's {SECRET} is taken",
    )  # fmt: skip
    parser.add_argument(
        "--total", type=asked.fraction, metavar="RHO",
        help="most that all releases of the table may cost a person; needed for its first",
    )  # fmt: skip
    parser.add_argument(
        "--mechanism", type=asked.mechanism, metavar="NAME", default=None,
        help=f"default: aim-grem; {asked.mechanism_names()}",
    )  # fmt: skip
    parser.add_argument("--sampler", choices=SAMPLERS, default="engine", help="whose exact noise")
    parser.add_argument("--resume", metavar="RELEASE", help="go on with an interrupted release")
    parser.add_argument("--postprocess", choices=sorted(POSTPROCESS), default="none")
    parser.add_argument("--out", required=True, help="folder for the results")
    parser.add_argument("--force", action="store_true", help="replace what the folder holds")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(call=call)


def call(options: argparse.Namespace) -> int:
    """Release, and write the bundle."""
    out = Path(options.out)
    writing.check_free(out, force=options.force)
    domain = asked.domain_of(options)
    workload, table = asked.workload_of(options, domain), _table(options, domain)
    account = Account(options.account).table(
        options.name, secret=_secret(options), total=options.total
    )
    mechanism = options.mechanism or catalogue.find(catalogue.DEFAULT)
    # The folder first: a release that cannot be written would be spent for nothing.
    with writing.new_folder(out) as folder:
        try:
            released = engine.release(
                mechanism.make(), table, workload,
                epsilon=options.epsilon, delta=options.delta, account=account,
                sampler=options.sampler, resume=options.resume,
                progress=None if options.quiet else progress_bar(),
            )  # fmt: skip
        except BaseException:
            _say_open(account)
            raise
        for name, text in bundle.files(released, post=options.postprocess):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", newline="")
    asked.say(_facts(released), _summary(released, out), as_json=options.json)
    return 0


def _table(options: argparse.Namespace, domain: engine.Domain) -> engine.CountSource:
    return asked.table_of(options, domain, releasing=True)


def _secret(options: argparse.Namespace) -> str:
    if options.secret_file is not None:
        return Path(options.secret_file).read_text("utf-8").strip()
    return os.environ.get(SECRET, "")


def _say_open(account: TableAccount) -> None:
    for release in account.unfinished:
        print(
            f"The release {release} is open, and all it may cost counts as spent. Go on with "
            f"--resume {release}, or end it with: account abandon.",
            file=sys.stderr,
        )


def _facts(released: engine.Released) -> dict[str, Any]:
    made, said = released.release, released.receipt
    return {
        "marginals": len(made.workload.weights),
        "cells": made.workload.cells,
        "epsilon": made.epsilon,
        "delta": made.delta,
        "rho_of_a_person": str(said.rho_of_a_person),
        "table_spent": str(said.spent),
        "table_total": str(said.total),
        "mechanism": made.mechanism,
        "account_entry": said.entry[0],
    }


def _summary(released: engine.Released, out: Path) -> list[str]:
    made, said = released.release, released.receipt
    return [
        f"{len(made.workload.weights):,} marginals with {made.workload.cells:,} cells in "
        f"{out / 'marginals'}: ({made.epsilon:g}, {made.delta:g})-differential privacy for a "
        f"person, rho {float(said.rho_of_a_person):.6g}.",
        f"All releases of this table: rho {float(said.spent):.6g} of {float(said.total):.6g}.",
        f"Check the bundle with: python {out / 'verify.py'} {out}",
    ]
