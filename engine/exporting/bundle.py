"""What may be taken away: released values as files, and one archive with all of them.

Everything here is a function of a release and its events alone, so equal inputs give equal bytes.
No type that comes in has a field for a true count, a score, an error, N, a file's name or a seed.
"""

from __future__ import annotations

import io
import json
import textwrap
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from engine.completing.release import Release
from engine.completing.totals import UNBIASED
from engine.errors import DataError, OptionError
from engine.exporting.marginals import POSTPROCESS as POSTPROCESS
from engine.exporting.marginals import Answers as Answers
from engine.exporting.marginals import answers as answers
from engine.exporting.marginals import as_csv as as_csv
from engine.exporting.marginals import cell as cell
from engine.exporting.marginals import check_post, may_be_negative, noise_is_known
from engine.exporting.marginals import file_name as file_name
from engine.exporting.marginals import index_csv as index_csv
from engine.exporting.marginals import marginal_csv as marginal_csv
from engine.exporting.replay import code as code
from engine.exporting.replay import notebook as notebook
from engine.exporting.replay import notebook_alone as notebook_alone
from engine.exporting.report import NEIGHBOURS, domain_source, promise, report
from engine.trace import Event, Started, event_to_dict, ledger_to_dict
from engine.version import __version__

TRACE = "aim-grem-trace/1"
CONTENTS = {
    "README.txt": "what this is, and what it promises",
    "report.html": "the report, to read in any browser without a network",
    "notebook.ipynb": "replays the recorded run, round by round",
    "release.json": "every residual estimate with its precision, to the last digit",
    "marginals/": "one CSV a marginal: a row a cell; its noise's standard deviation if known",
    "index.csv": "which file holds which marginal, and how sure it is if that is known",
    "trace.json": "every round: what was chosen, measured and paid",
    "ledger.json": "every charge as an exact fraction",
    "settings.json": "mechanism, budget, neighbour relation, versions",
    "domain.json": "the declared attributes and their values",
}
"""What is in a bundle, in the order in which a reader wants it."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def bundle(release: Release, events: Sequence[Event], *, post: str = "none") -> bytes:
    """Return a zip archive of everything released: the same bytes for the same release.

    Args:
        release: What was released.
        events: How it came about, from ``Started`` on.
        post: One of ``POSTPROCESS``, applied to the marginals' files only.

    Raises:
        DataError: If the events are not those of the release (``E_FORMAT``).
        OptionError: If ``post`` is none of these, or the release is a "what if" (``E_WHAT_IF``).
    """
    check_exportable(release)
    check_belongs(release, events)
    return archive(files(release, events, post=post))


def files(release: Release, events: Sequence[Event], *, post: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file of a bundle, sorted by name."""
    made: list[tuple[str, Callable[[], str]]] = [
        ("README.txt", lambda: readme(release, post=post)),
        ("domain.json", lambda: as_json(release.domain.to_dict())),
        ("index.csv", lambda: index_csv(release, post=post)),
        ("ledger.json", lambda: as_json(ledger_to_dict(release.ledger))),
    ]
    for name, make in made:
        yield name, make()
    for name, answer in answers(release, post=post):
        yield f"marginals/{name}", marginal_csv(answer)
    yield "notebook.ipynb", notebook(release)
    yield "release.json", as_json(release.to_dict())
    yield "report.html", report(release, events)
    yield "settings.json", as_json(settings(release, post=post))
    yield "trace.json", as_json(trace(events))


def archive(contents: Iterable[tuple[str, str]]) -> bytes:
    """Pack texts into a zip archive that holds no clock, user or machine."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for name, text in contents:
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system, info.external_attr = 3, 0o644 << 16
            # Level 1: a third of the time for a twelfth more bytes.
            out.writestr(info, text.encode("utf-8"), compresslevel=1)
    return packed.getvalue()


def check_exportable(release: Release) -> None:
    """Refuse what shows only what might have been.

    Raises:
        OptionError: If the budget was changed after the fact (``E_WHAT_IF``).
    """
    if release.ledger.what_if:
        raise OptionError(
            "This is a what if: its budget was changed after the fact, and a ledger that was "
            "raised later promises nothing. Export the run itself, or run again with that budget.",
            code="E_WHAT_IF",
        )


def check_belongs(release: Release, events: Sequence[Event]) -> None:
    """Refuse events of another run, or from the middle of one.

    Raises:
        DataError: With what does not fit (``E_FORMAT``).
    """
    if not events or not isinstance(events[0], Started):
        raise DataError(
            "The events do not begin with the start of a run. Give all of them.", code="E_FORMAT"
        )
    charges = [charge for event in events for charge in getattr(event, "charges", ())]
    if tuple(charges) != release.ledger.entries:
        paid = float(sum((charge.rho for charge in charges), Fraction(0)))
        raise DataError(
            f"The events paid rho = {paid:.6g} in {len(charges)} charges; the release's ledger has "
            f"{float(release.ledger.spent):.6g} in {len(release.ledger.entries)}. Give the events "
            "of this release.",
            code="E_FORMAT",
        )


# -- json ------------------------------------------------------------------------------------------


def as_json(content: Any) -> str:
    """Write plain values as JSON, one line."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"


def trace(events: Iterable[Event]) -> dict[str, Any]:
    """Return every event as plain JSON values."""
    return {"format": TRACE, "events": [event_to_dict(event) for event in events]}


def settings(release: Release, *, post: str = "none") -> dict[str, Any]:
    """Return what the run was asked for, and what made it."""
    return {
        "demonstration": list(release.demonstration),
        "mechanism": release.mechanism,
        "epsilon": release.epsilon,
        "delta": release.delta,
        "rho": str(release.ledger.total),
        "rho_is_of": "one record; rho_of_a_person is what was spent on a person",
        "rows_per_person": release.domain.rows_per_person,
        "rho_of_a_person": str(release.rho_of_a_person),
        "table": None if release.table is None else str(release.table),
        "postprocess": post,
        "neighbours": NEIGHBOURS,
        "domain_sha256": release.domain.hash,
        "engine_version": __version__,
    }


def _several(release: Release) -> str:
    rows = release.domain.rows_per_person
    if rows == 1:
        return "Who has several is protected less."
    return f"The promise is for a person with up to {rows}: {rows**2} times the ledger's rho."


# -- texts -----------------------------------------------------------------------------------------


def readme(release: Release, *, post: str = "none") -> str:
    """Say what the archive is, what it promises and what it does not.

    Args:
        release: What was released.
        post: How the marginals' files answer.
    """
    ledger = release.ledger
    stamp = [f"DEMONSTRATION, not a private release. {why}" for why in release.demonstration]
    lines = [
        "Private marginals: what was released",
        "",
        *(line for why in stamp for line in (*textwrap.wrap(why, 78), "")),
        f"Promise: {promise(release)}",
        f"Neighbours: {NEIGHBOURS}.",
        f"One record: {release.domain.row or 'one person'}. {_several(release)}",
        f"Spent: rho = {ledger.spent} of {ledger.total} (zCDP, a record)",
        *([] if release.table is None else [f"All runs on this table so far: {release.table}"]),
        f"Mechanism: {release.mechanism}",
        *textwrap.wrap(_adds_up(release), 78),
        f"Domain ({domain_source(release.domain)}), sha256: {release.domain.hash}",
        f"Engine: aim-grem-explorer {__version__}",
        "",
        "Files",
        *(f"  {name:<15} {what}" for name, what in CONTENTS.items()),
        "",
        *textwrap.wrap(f"How sure: {accuracy(release, post=post)}", 78),
        "",
        "Not covered: timing, other releases about the same people, and whatever can",
        "be learnt of everybody without any single row.",
        "Reading these files costs nothing more; running the mechanism again would.",
    ]
    return "\n".join(lines) + "\n"


def accuracy(release: Release, *, post: str = "none") -> str:
    """Say how sure the counts are, as far as that is known of these answers.

    Raises:
        OptionError: If ``post`` is none of ``POSTPROCESS``.
    """
    check_post(post)
    if noise_is_known(release, post):
        sure = (
            "std is the standard deviation of a cell's noise, from what was measured. What was "
            "never measured within a marginal is counted as zero and adds an error that std does "
            "not hold; index.csv says how many residuals that are."
        )
    else:
        how = "answered after post-processing" if post != "none" else "completed"
        sure = (
            f"std is empty: these tables are {how}, and how far such a table is from the truth "
            "does not follow from the noise of what was measured. release.json has that noise, "
            "residual by residual."
        )
    if may_be_negative(release, post):
        below = "Counts may be negative or fractional: noise goes both ways, and cutting it off "
        return f"{sure} {below}would bias every sum."
    but = " but for what a solver leaves, a fraction of a record" if "nonnegative" in post else ""
    return f"{sure} Counts are not negative{but}; they may be fractional."


def _adds_up(release: Release) -> str:
    """Say what the tables add up to where that is not the number of records as estimated."""
    if release.completion is None or release.total == UNBIASED or () not in release.beliefs:
        return ""
    return (
        f"Totals: the tables add up to {float(release.estimate().values):,.1f} records, lowered on "
        f"purpose; as estimated there are {float(release.beliefs[()].values):,.1f}."
    )
