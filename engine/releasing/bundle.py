"""The bundle of a private release: what a rehearsal's holds, what the account says, and a checker.

Everything is a function of the release, its events and its receipt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.accounting import epsilon_from
from engine.errors import OptionError
from engine.exporting import bundle as exporting
from engine.exporting.report import NEIGHBOURS
from engine.releasing.run import Released
from engine.version import __version__

DELTAS = tuple(10.0**-k for k in range(3, 16))
"""At which the curve of epsilon is given."""
ACCOUNT = "aim-grem-receipt/1"


def bundle(released: Released, *, post: str = "none") -> bytes:
    """Return a zip archive of everything released: the same bytes for the same release.

    Args:
        released: What ``release`` returned.
        post: How the marginals' files are post-processed, one of ``exporting.bundle.POSTPROCESS``.

    Raises:
        OptionError: If ``post`` is none of these, or the release bears a demonstration's mark.
    """
    return exporting.archive(files(released, post=post))


def files(released: Released, *, post: str = "none") -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file.

    Raises:
        OptionError: If the release bears a demonstration's mark (``E_DEMONSTRATION``).
    """
    if released.release.demonstration:
        raise OptionError(
            f"This is no private release. {released.release.demonstration[0]} Export it as a "
            "demonstration.",
            code="E_DEMONSTRATION",
        )
    exporting.check_belongs(released.release, released.events)
    yield from exporting.files(released.release, released.events, post=post)
    yield "account.json", exporting.as_json(receipt(released))
    yield "curve.csv", curve(released)
    yield "deployment.yaml", deployment(released)
    yield "verify.py", Path(__file__).with_name("verify.py").read_text("utf-8")


def receipt(released: Released) -> dict[str, Any]:
    """Return what the account says, as plain JSON values."""
    said = released.receipt
    return {
        "format": ACCOUNT,
        "table": said.table_id,
        "release": said.release,
        "entry": said.entry[0],
        "entry_sha256": said.entry[1],
        "rho_of_a_person": str(said.rho_of_a_person),
        "spent": str(said.spent),
        "total": str(said.total),
        "sampler": said.sampler,
        "looked_before": said.looked,
        "sizes": list(released.release.domain.sizes),
    }


def curve(released: Released) -> str:
    """Return epsilon for a person at several deltas, all promised at once."""
    rho = released.release.rho_of_a_person
    rows = [[repr(delta), repr(epsilon_from(rho=rho, delta=delta))] for delta in DELTAS]
    return exporting.as_csv([["delta", "epsilon"], *rows])


def deployment(released: Released) -> str:
    """Return an entry for OpenDP's registry of deployments, up to tier 3, for its curator to fill.

    What only they know is a text in angle brackets. Texts are quoted as JSON, which YAML reads.
    """
    lines: list[str] = []
    title = released.release.domain.title
    slug = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_") or "released_marginals"
    _yaml({"url_slug": slug, "deployment": _deployment(released)}, lines, 0)
    return "\n".join(lines) + "\n"


def _deployment(released: Released) -> dict[str, Any]:
    # Long: one form, field by field.
    made, domain = released.release, released.release.domain
    rho = float(made.rho_of_a_person)
    unit = domain.row or "one person"
    several = f"{domain.rows_per_person} rows" if domain.rows_per_person > 1 else "one row"
    names = ", ".join(f"{a.name} ({a.size} values)" for a in domain)
    return {
        "basic": {
            "name": domain.title or "<name of the data product>",
            "data_curators": [
                {
                    "data_curator_name": "<who publishes it>",
                    "data_curator_type": "<Government, Industry or Nonprofit>",
                }
            ],
            "description": f"{len(made.workload.weights)} marginals with {made.workload.cells} "
            "cells in all, and the residuals they follow from.",
            "intended_use": "<what it is for>",
            "data_product_type": "Summary statistics",
            "data_product_region": "<where>",
            "data_product_sector": "<sector>",
            "publication_date": "<year-month-day>",
        },
        "dp_variant": {
            "variant_name": "Zero-concentrated DP",
            "data_domain": f"Tables of {unit} a row with the attributes {names}. Declared without "
            f"looking at the records; sha256 {domain.hash}.",
            "unprotected_quantities": "None. The number of records is protected too.",
        },
        "privacy_loss": {
            "privacy_unit": f"A person with up to {several}; a row is {unit}",
            "privacy_unit_details": f"Adjacent are {NEIGHBOURS}. A person may have up to "
            f"{several}, which costs {domain.rows_per_person**2} times what a record costs. The "
            "number of records is protected, and not given.",
            "privacy_parameters": {"rho": rho, "epsilon": made.epsilon, "delta": made.delta},
            "privacy_parameters_details": f"rho = {made.rho_of_a_person} exactly; epsilon at the "
            "delta given follows from it, and curve.csv has others. All releases of this table "
            f"together: rho = {float(released.receipt.spent):.6g} of "
            f"{float(released.receipt.total):.6g}.",
        },
        "deployment_model": {
            "model_name": "Central",
            "model_name_details": "The custodian of the table runs the mechanism; nobody else sees "
            "the records.",
            "trust_assumptions": "The custodian sees the records, keeps the secret and the account "
            "of releases, and is trusted. Readers are not: they may know all of the bundle, all "
            "other releases, and every record but one person's. Who can watch the machine may see "
            "how long it took, which is not protected. <Who else sees what.>",
            "release_type": "One release",
            "release_type_details": "<whether more releases are planned> All of them are charged "
            "to one account of the table, which has a total.",
            "data_source_type": "Static",
            "data_source_type_details": "The table as it was when it was released.",
            "access_type": "Non-interactive",
            "access_type_details": "Readers get the bundle; nobody queries the table.",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": (
                "True values of the table were shown, or rehearsals made of it, before this "
                "release. <Say so if any was.>"
                if released.receipt.looked
                else "None that saw the records beyond coding them by the declared domain. "
                "<Say so if any was.>"
            ),
            "mechanisms": "Discrete Gaussian noise on whole numbers; exponential mechanism (exact "
            f"softmax). {made.mechanism}. Randomness from the operating system; no floating-point "
            f"noise. aim-grem-explorer {__version__}, sampler {released.receipt.sampler!r}.",
            "composition": "Adaptive budgets under one total in zCDP: fractions, each charged "
            "before its noise is drawn; an append-only account adds up all releases of a table.",
            "post_processing": "Reconstruction, and completion where the settings name one: "
            "functions of released values only.",
            "justification": "<how epsilon, delta and the workload were chosen>",
            "utility": "index.csv gives the standard deviation of each marginal's noise where it "
            "is known, as for measured marginals that were not completed.",
            "additional_information": "verify.py in the bundle derives totals, precisions and "
            f"estimates again without the program. Entry {released.receipt.entry[0]} of the "
            "account ends this release.",
        },
        "administrative": {"status": "Draft", "registry_authors": ["<who wrote this>"], "tier": 3},
    }


def _yaml(value: dict[str, Any], lines: list[str], depth: int) -> None:
    """Mappings in blocks, all else as JSON, which is YAML too."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            lines.append(f"{'  ' * depth}{key}:")
            _yaml(inner, lines, depth + 1)
        else:
            lines.append(f"{'  ' * depth}{key}: {_scalar(inner)}")


def _scalar(value: object) -> str:
    """As JSON, but for 1e-09: YAML 1.1 takes it for a text unless it has a point."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"^(-?\d+)e", r"\1.0e", text) if isinstance(value, float) else text
