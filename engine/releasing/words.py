"""What may be said of a release: sentences for a page, and a paragraph for a paper.

Everything follows from what is released and from what the account says.
"""

from __future__ import annotations

from engine.domain import Domain
from engine.mechanisms import catalogue
from engine.releasing.run import MECHANISMS, Released
from engine.version import __version__


def offered() -> tuple[catalogue.Entry, ...]:
    """Mechanisms that may be released, in the catalogue's order."""
    found = [e for e in catalogue.entries("forms") if e.extra is None]
    return tuple(entry for entry in found if type(entry.make()) in MECHANISMS)


def to_confirm(domain: Domain) -> tuple[str, ...]:
    """What the program cannot see, and the custodian has to say before a release of a table."""
    rows, k = domain.row or "one person", domain.rows_per_person
    several = f"{k:,} rows" if k > 1 else "one row"
    return (
        f"Attributes, their values and the bounds of numbers ({len(domain)} attributes) were "
        "declared without looking at the records.",
        "Marginals, ε and δ were chosen without looking at the records either.",
        f"A person has at most {several}; a row is {rows}.",
        "The account holds every release ever made about these people.",
        "Whoever sees this screen may see the records: how long it takes is not protected.",
    )


def paragraph(released: Released) -> str:
    """Return what a paper may say of a release, in one paragraph."""
    made, said = released.release, released.receipt
    domain, k = made.domain, made.domain.rows_per_person
    what = f" of “{domain.title}”" if domain.title else ""
    person = f"up to {k:,} rows" if k > 1 else "one row"
    looked = (
        " True values of the table had been looked at before, which the promise does not cover."
        if said.looked
        else ""
    )
    promise = f"({made.epsilon:g}, {_small(made.delta)})"
    completed = (
        " Tables were completed and made non-negative by post-processing, which costs nothing."
        if made.completion is not None
        else ""
    )
    return (
        f"We released {_counted(len(made.workload.weights), 'marginal')}{what} "
        f"({made.workload.cells:,} cells) under {promise}-differential "
        f"privacy for a person with {person}, where a row is {domain.row or 'one person'} and "
        "neighbouring tables differ by one added or removed row. The promise follows from "
        f"ρ = {float(said.rho_of_a_person):.4g} of zero-concentrated differential privacy, each "
        "charge of which was recorded before its noise was drawn. The mechanism was "
        f"{made.mechanism}: discrete Gaussian noise on whole numbers and exact softmax choices, "
        f"with randomness of the operating system and no seed.{completed} Attributes and values "
        f"were declared without looking at the records (SHA-256 {domain.hash[:16]}…), and the "
        "number of records is protected too. All releases of this table so far cost "
        f"ρ = {float(said.spent):.4g} of at most {float(said.total):.4g}.{looked} "
        f"Running times are not protected. Software: aim-grem-explorer {__version__}; verify.py in "
        "the bundle derives the promise again without it."
    )


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def _small(number: float | None) -> str:
    """1e-9 as people write it."""
    return f"{number:g}".replace("e-0", "e-")
