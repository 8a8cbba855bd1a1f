"""What several commands ask for: a domain, a table, a workload and a budget."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import engine
from engine.mechanisms import catalogue

DELTA = 1e-9
ACCOUNT = "AIM_GREM_ACCOUNT"
"""Says where the account is, for commands that are not told and for the app."""


def add_domain(parser: argparse.ArgumentParser) -> None:
    """Ask for the declared domain."""
    parser.add_argument("--domain", required=True, metavar="FILE", help="its .domain.json file")


def add_table(parser: argparse.ArgumentParser, *, batches: bool = True) -> None:
    """Ask for a table, and for what is not to be found from its content."""
    several = (
        ". A folder, a pattern such as 'data/*.parquet' or duckdb:FILE?table=NAME is counted in "
        "batches"
    )
    parser.add_argument(
        "table",
        help="any file that the Data page reads: CSV or other delimited text, Excel, Parquet, "
        f"SPSS, Stata, SAS, packed with gzip or not; - reads standard input{several * batches}",
    )
    if batches:
        parser.add_argument(
            "--in-batches",
            action="store_true",
            help="count a Parquet, Arrow or CSV file in batches: for what does not fit in memory",
        )
    group = parser.add_argument_group(
        "how the table is read", "Found from its content, or as the domain file says it."
    )
    for name, kind, meta, text in _READING:
        group.add_argument(f"--{name}", type=kind, metavar=meta, help=text)
    group.add_argument(
        "--missing", action="append", metavar="CODE", help="means missing; may be given often"
    )


_READING: tuple[tuple[str, type, str, str], ...] = (
    ("encoding", str, "NAME", "character encoding of a text"),
    ("separator", str, "MARK", 'what stands between cells; "tab" for a tab'),
    ("decimal", str, "MARK", "decimal mark, . or ,"),
    ("header-line", int, "N", "line of the header, 0 for none"),
    ("first-line", int, "N", "line of the first record"),
    ("last-line", int, "N", "last line that holds data"),
    ("sheet", str, "NAME", "sheet of a workbook"),
    ("dates", str, "ORDER", 'which part of 3/4/2020 is the day: "day first" or "month first"'),
    ("counts", str, "COLUMN", 'says how many persons a row stands for; "" if it is one'),
    ("person", str, "COLUMN", "says whose row it is; the domain says how many one may have"),
)


def add_workload(parser: argparse.ArgumentParser) -> None:
    """Ask for the marginals wanted: all of one degree, a file, or one by one."""
    parser.add_argument(
        "--workload",
        metavar="K|FILE",
        help="a number k for all k-way marginals, or a JSON file: a list of lists of names, or of "
        '{"attributes": [...], "weight": w}',
    )
    parser.add_argument(
        "--marginal",
        action="append",
        default=[],
        metavar="A,B",
        help="one marginal by its attributes' names; may be given several times",
    )


def add_budget(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Ask for a budget: epsilon and delta, or rho."""
    many: dict[str, Any] = {"nargs": "+"} if several else {}
    which = "one or more; default 1" if several else "with --delta; or give --rho (no default)"
    parser.add_argument("--epsilon", type=float, metavar="NUMBER", **many, help=which)
    parser.add_argument(
        "--delta",
        type=float,
        metavar="NUMBER",
        help=f"the promise's other half (default {DELTA:g})",
    )
    if not several:
        parser.add_argument(
            "--rho", type=fraction, metavar="NUMBER", help="zCDP budget instead, such as 0.1 or 1/7"
        )


def mechanism(name: str) -> catalogue.Entry:
    """Read a mechanism's name."""
    try:
        entry = catalogue.find(name)
    except engine.OptionError:
        entry = None
    if entry is None or entry not in releasing():
        offered = ", ".join(repr(entry.option) for entry in releasing())
        raise argparse.ArgumentTypeError(f"invalid choice: {name!r} (choose from {offered})")
    return entry


def releasing() -> tuple[catalogue.Entry, ...]:
    """Return every mechanism of the catalogue whose release holds its answers."""
    return tuple(entry for entry in catalogue.entries() if entry.places and not entry.one_ways)


def mechanism_names() -> str:
    """Say which there are."""
    return "one of " + ", ".join(entry.option for entry in releasing())


def fraction(text: str) -> Fraction:
    """Read a number, or a quotient such as 1/7."""
    return Fraction(text)


def domain_of(options: argparse.Namespace) -> engine.Domain:
    """Read the declared domain."""
    return engine.Domain.from_json(options.domain)


def table_of(
    options: argparse.Namespace, domain: engine.Domain, *, releasing: bool = False
) -> engine.CountSource:
    """Read the table as the Data page does, under the domain file's choices and those given.

    What is no single file, or is asked for in batches, is not read but opened.

    Args:
        options: What was given.
        domain: The declared domain.
        releasing: Nothing that depends on the records is said then, how many there are least of
            all: a table without any is released like another.

    Raises:
        DataError: If it cannot be read, or holds no record (``E_NO_ROWS``).
    """
    from engine import sources
    from engine.ingest import Choices

    if options.in_batches or sources.is_named(options.table):
        return _opened(options, domain, releasing)
    source = sys.stdin.buffer.read() if options.table == "-" else options.table
    notes: list[str] = []
    kept = Choices.from_json(options.domain)
    table = engine.Table.from_file(source, domain, notes=notes, choices=kept, **reading_of(options))
    if not releasing:
        _refuse_empty(table)
    if not releasing and not getattr(options, "quiet", False):
        for sentence in notes:
            print(f"note: {sentence}", file=sys.stderr)
    return table


def _opened(
    options: argparse.Namespace, domain: engine.Domain, releasing: bool
) -> engine.CountSource:
    from engine import sources
    from engine.ingest import Choices

    choices = replace(Choices.from_json(options.domain), **reading_of(options))
    quiet = releasing or getattr(options, "quiet", False) or not sys.stderr.isatty()
    told: dict[str, Any] = {} if quiet else {"progress": _tell_rows}
    source = sources.named(options.table, domain, choices, **told)
    if not releasing:
        _refuse_empty(source)
    return source


def add_account(parser: argparse.ArgumentParser) -> None:
    """Ask which account knows what was released, and whether the table is public."""
    parser.add_argument(
        "--account", metavar="FILE",
        help="refuse a table whose domain was released on this account; without it the "
        f"environment's {ACCOUNT} is taken",
    )  # fmt: skip
    parser.add_argument(
        "--public", metavar="WORDS", help="why such a table is public all the same, in words"
    )


def watched(
    options: argparse.Namespace, domain: engine.Domain, table: engine.CountSource
) -> engine.Private:
    """Refuse to look at what an account says was released, unless somebody says it is public.

    A table is known by its declared domain: the command is told no name and no secret.

    Raises:
        AccountError: If the account cannot be used.
        DataError: If it is not said in words that the table is public (``E_PROTECTED``).
    """
    private = engine.Private(table)
    where = options.account or os.environ.get(ACCOUNT)
    if where:
        from engine.releasing.account import Account  # SQLAlchemy: most do without

        for known in Account(where).tables():
            if domain.hash in known.domains:
                if options.public:
                    known.declare_public(options.public)
                known.watch(private)
    if options.public:
        private.odometer.declare_public(options.public)
    return private


def _tell_rows(rows: int) -> None:
    print(f"\r{rows:,} rows counted", end="", file=sys.stderr, flush=True)


def _refuse_empty(table: engine.CountSource) -> None:
    if not table.records():
        raise engine.DataError(
            "The table has names and no rows; a run needs rows. Give a table with records, or plan "
            "with the domain alone.",
            code="E_NO_ROWS",
        )


def reading_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the reading choices that the command line gives."""
    names = [name.replace("-", "_") for name, *_ in _READING]
    given = {name: getattr(options, name, None) for name in names}
    codes = getattr(options, "missing", None)
    given["missing"] = tuple(codes) if codes else None
    return {name: value for name, value in given.items() if value is not None}


def workload_of(options: argparse.Namespace, domain: engine.Domain) -> engine.Workload:
    """Return the marginals wanted.

    Raises:
        WorkloadError: If none is given, or two ways to give them are used at once.
    """
    if options.marginal and options.workload is None:
        return engine.Workload([_names(text) for text in options.marginal], domain)
    if options.workload is None or options.marginal:
        raise engine.WorkloadError(
            "The marginals wanted are not clear; --workload or --marginal is needed, one of them. "
            "For all pairs give --workload 2."
        )
    try:
        degree = int(options.workload)
    except ValueError:
        return _from_file(Path(options.workload), domain)
    return engine.Workload.all_kway(domain, degree)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _from_file(path: Path, domain: engine.Domain) -> engine.Workload:
    try:
        content = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no JSON text"
        raise engine.WorkloadError(
            f"The workload file cannot be read ({reason}). Give a number k, or a JSON file with a "
            "list of marginals."
        ) from None
    return engine.Workload(_weights(content), domain)


def _weights(content: object) -> dict[tuple[str, ...], float]:
    weights: dict[tuple[str, ...], float] = {}
    for entry in content if isinstance(content, list) else [None]:
        names = entry.get("attributes") if isinstance(entry, Mapping) else entry
        weight = entry.get("weight", 1.0) if isinstance(entry, Mapping) else 1.0
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise engine.WorkloadError(
                "The workload file holds no list of marginals. Write one such as "
                '[["age", "sex"], {"attributes": ["age"], "weight": 2}].'
            )
        weights[tuple(names)] = weights.get(tuple(names), 0.0) + weight
    return weights


def budget_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the budget as keywords of ``engine.run``."""
    if options.rho is not None and options.epsilon is None:
        return {"rho": options.rho, "delta": options.delta}
    delta = DELTA if options.delta is None else options.delta
    return {"epsilon": options.epsilon, "delta": delta, "rho": options.rho}


def rho_of(options: argparse.Namespace) -> Fraction:
    """Return the budget as rho.

    Raises:
        BudgetError: If it is not clear.
    """
    if (options.rho is None) == (options.epsilon is None):
        raise engine.BudgetError(
            "The budget is not clear; --epsilon or --rho is needed, one of them.",
            code="E_BUDGET_AMBIGUOUS",
        )
    if options.rho is not None:
        return Fraction(options.rho)
    delta = DELTA if options.delta is None else options.delta
    return Fraction(engine.rho_from(epsilon=options.epsilon, delta=delta))


def say(content: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    """Print a result for programs, or for people."""
    if as_json:
        print(json.dumps(content, indent=1, ensure_ascii=False))
    else:
        print("\n".join(lines))
