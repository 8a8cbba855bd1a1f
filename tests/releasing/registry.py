"""What OpenDP's registry of deployments accepts, as a JSON Schema of our own.

After ``schemas/deployments-schema.yaml`` of opendp/deployments-registry-data as it stands at its
commit 057e5d81 (after July 2026: curators are objects; status and tier stand in ``administrative``,
composition and post-processing in ``implementation``; actors are ``trust_assumptions``). Tier 3
wants every field of ``TIER_3`` filled; the number of privacy units alone is left out, as N is
private. Stricter than theirs: no field of a tier may be missing or empty.
"""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "pattern": "^[^<]*$"}
"""Angle brackets stand for what only a curator knows."""
DATE = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}


def of(**properties: Any) -> dict[str, Any]:
    """An object with these fields, each needed, and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def one_of(*values: str) -> dict[str, Any]:
    """One of a few texts."""
    return {"enum": list(values)}


TIER_3 = of(
    url_slug={"type": "string", "pattern": "^[a-z0-9_]+$"},
    deployment=of(
        basic=of(
            name=TEXT,
            data_curators={
                "type": "array", "minItems": 1,
                "items": of(
                    data_curator_name=TEXT,
                    data_curator_type=one_of("Government", "Industry", "Nonprofit"),
                ),
            },
            description=TEXT,
            intended_use=TEXT,
            data_product_type=one_of(
                "Summary statistics", "Machine learning model", "Dataset", "Synthetic data",
                "Interactive API", "SQL queries",
            ),
            data_product_region=TEXT,
            data_product_sector=one_of(
                "Technology", "Healthcare", "Education", "Government", "Energy", "Finance"
            ),
            publication_date=DATE,
        ),
        dp_variant=of(
            variant_name=one_of(
                "Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"
            ),
            data_domain=TEXT,
            unprotected_quantities=TEXT,
        ),
        privacy_loss=of(
            privacy_unit=TEXT,
            privacy_unit_details=TEXT,
            privacy_parameters=of(
                rho={"type": "number", "exclusiveMinimum": 0},
                epsilon={"type": "number", "exclusiveMinimum": 0},
                delta={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            ),
            privacy_parameters_details=TEXT,
        ),
        deployment_model=of(
            model_name=one_of("Local", "Central", "Shuffle", "Federated"),
            model_name_details=TEXT,
            trust_assumptions=TEXT,
            release_type=one_of("One release", "Many releases"),
            release_type_details=TEXT,
            data_source_type=one_of("Static", "Dynamic"),
            data_source_type_details=TEXT,
            access_type=one_of("Interactive", "Non-interactive"),
            access_type_details=TEXT,
        ),
        implementation=of(
            preprocessing_and_hyperparameter_tuning=TEXT,
            mechanisms=TEXT,
            composition=TEXT,
            post_processing=TEXT,
            justification=TEXT,
            utility=TEXT,
            additional_information=TEXT,
        ),
        administrative=of(
            status=one_of(
                "Converted", "Draft", "Pending", "Changes Required", "Approved",
                "Approved (Update Requested)", "Approved (Pending)",
            ),
            registry_authors={"type": "array", "minItems": 1, "items": TEXT},
            tier={"enum": [3]},
        ),
    ),
)  # fmt: skip

FILLED = {
    "<name of the data product>": "Pets", "<who publishes it>": "A zoo",
    "<Government, Industry or Nonprofit>": "Nonprofit",
    "<what it is for>": "Teaching", "<where>": "Europe",
    "<sector>": "Education", "<year-month-day>": "2026-12-03", "<who wrote this>": "The curator",
    "<how epsilon, delta and the workload were chosen>": "By a vote",
    "<Say so if any was.>": "", "<Who else sees what.>": "The zoo's staff see the bundle only.",
    "<whether more releases are planned>": "No",
}  # fmt: skip
"""What a curator writes, for each place that is left to them."""
