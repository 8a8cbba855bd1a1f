"""What may be said of a release: sentences for a page, and a paragraph for a paper.

Everything follows from what is released and from what the account says.
"""

from __future__ import annotations

from engine.domain import Domain
from engine.mechanisms import catalogue
from engine.mechanisms.base import settings_of
from engine.releasing.run import MECHANISMS, Released
from engine.version import __version__

PROMISED = (
    "A release promises (ε, δ)-differential privacy to each person with at most the declared "
    "number of rows, for neighbouring tables that differ by one added or removed row.",
    "Noise is exact (whole numbers, randomness of the operating system, no seed), the cost is an "
    "exact fraction, and an account on disk is charged before anything is drawn.",
    "The number of records is measured like everything else, and no size, default or warning "
    "depends on it.",
    "A rehearsal promises nothing.",
)
"""What ``.github/SECURITY.md`` says too, in the same words: a test compares them."""
TRUSTED = (
    "The custodian of the table sees the records, holds the secret and the account, runs the "
    "program, and is trusted.",
    "Whoever declares the domain, workload, ε and δ must not have looked at the records to do so; "
    "the program cannot see whether they did.",
    "Readers of a bundle may know everything in it, all other releases, any other data, and all "
    "records but one person's.",
)
NOT_COVERED = (
    "Time and memory. How long a release takes depends on the records.",
    "A custodian who goes round it: another account, another name or secret for the same people, "
    "an older copy of the account file, an edited account whose hashes were computed again.",
    "Other data about the same people, and what can be learnt about everybody without any one row.",
    "The machine: its random source, memory, swap, other users, a changed Python or NumPy.",
    "The app as a server for people who do not trust each other: it is made for one person or one "
    "group, on 127.0.0.1.",
)
REPORT = (
    'Write to the maintainers in private: on the page of the repository choose "Security", then '
    '"Report a vulnerability". You get an answer within 72 hours.'
)


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
        f"{_named(made.mechanism)}: discrete Gaussian noise on whole numbers and exact softmax "
        f"choices, with randomness of the operating system and no seed.{completed} Attributes and "
        f"values were declared without looking at the records (SHA-256 {domain.hash[:16]}…), and "
        "the number of records is protected too. All releases of this table so far cost "
        f"ρ = {float(said.spent):.4g} of at most {float(said.total):.4g}.{looked} "
        f"Running times are not protected. Software: aim-grem-explorer {__version__}; verify.py in "
        "the bundle derives the promise again without it."
    )


def _named(settings: str) -> str:
    """A mechanism by the catalogue's name, with its settings as they are in code."""
    labels = [entry.label for entry in offered() if settings_of(entry.make()) == settings]
    return f"{labels[0]}, with the settings {settings}" if labels else settings


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def _small(number: float | None) -> str:
    """1e-9 as people write it."""
    return f"{number:g}".replace("e-0", "e-")
