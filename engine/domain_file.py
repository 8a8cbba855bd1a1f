"""Attributes to and from the plain JSON values of a domain file (format in engine/README.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from engine import checking
from engine.attributes import Attribute, Derived, Missing
from engine.errors import DomainError

FORMAT = "aim-grem-domain/1"


def content_of(path: str | Path) -> object:
    """Return the JSON content of a domain file.

    Raises:
        DomainError: If the file is missing, too large, or no JSON.
    """
    file = checking.path(path, "a domain file")
    try:
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no path"
        raise DomainError(
            f"The domain file {file.name!r} cannot be read ({reason}). "
            "Give the path of a .domain.json file."
        ) from None
    if len(content) > 5 << 20:
        raise DomainError("The domain file is larger than 5 MiB. Declare fewer values.")
    try:
        return cast("object", json.loads(content))
    except (ValueError, RecursionError) as error:
        raise DomainError(f"The domain file is no JSON: {error}. Mend it there.") from None


def attribute_from(entry: object, number: int) -> Attribute:
    """Read entry ``number`` of a domain file's list of attributes.

    Raises:
        DomainError: If it declares none.
    """
    if not isinstance(entry, dict) or "name" not in entry:
        raise DomainError(f'Entry {number} of the domain\'s attributes has no "name". Give it one.')
    known = {
        "name", "kind", "values", "bounds", "edges", "outside", "other", "missing",
        "description", "source", "declared", "compare", "from",
    }  # fmt: skip
    unknown = sorted(set(map(str, entry)) - known)
    if unknown:
        raise DomainError(
            f"Attribute {entry['name']!r} has the unknown entry {unknown[0]!r}. Known are "
            f"{', '.join(sorted(known))}. Remove or correct it."
        )
    fields = dict(entry)
    for key in ("values", "bounds", "edges", "declared"):
        if fields.get(key) is not None:
            fields[key] = _as_tuple(entry["name"], key, fields[key])
    if fields.get("missing") is not None:
        fields["missing"] = _missing_from(entry["name"], fields["missing"])
    if "from" in fields:
        fields["derived"] = _derived_from(entry["name"], fields.pop("from"))
    try:
        return Attribute(**fields)
    except TypeError as error:
        raise DomainError(f"Attribute {entry['name']!r} cannot be read: {error}.") from None


def _as_tuple(name: object, key: str, found: object) -> tuple[Any, ...]:
    if not isinstance(found, list | tuple):
        raise DomainError(f"Attribute {name!r} needs a list as {key!r}. Correct the domain file.")
    if key == "edges":
        try:
            return tuple(float(edge) for edge in found)
        except (TypeError, ValueError):
            raise DomainError(f"Attribute {name!r} has a bin edge that is no number.") from None
    return tuple(found)


def _missing_from(name: object, found: object) -> Missing:
    if not isinstance(found, dict) or set(found) - {"codes", "rule", "label", "value"}:
        raise DomainError(
            f"Attribute {name!r} has a missing rule that cannot be read; codes, rule, label and "
            "value are its entries. Correct it."
        )
    codes = _as_tuple(name, "codes", found.get("codes", ()))
    return Missing(**{**found, "codes": tuple(map(str, codes))})


def _derived_from(name: object, found: object) -> Derived:
    known = {"column", "part", "contains", "separator"}
    if not isinstance(found, dict) or set(found) - known or "column" not in found:
        raise DomainError(
            f"Attribute {name!r} does not say from which column it is made; column, part, contains "
            "and separator are the entries. Correct it."
        )
    return Derived(**found)


def _derived_to(made: Derived) -> dict[str, Any]:
    entry: dict[str, Any] = {"column": made.column}
    if made.part is not None:
        entry["part"] = made.part
    if made.contains is not None:
        entry |= {"contains": made.contains, "separator": made.separator}
    return entry


def attribute_to(attribute: Attribute) -> dict[str, Any]:
    """Return an attribute as plain JSON values; ``attribute_from`` reads it back equal."""
    entry: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
    for key in ("values", "bounds", "edges"):
        declared = cast("Iterable[Any] | None", getattr(attribute, key))
        if declared is not None:
            entry[key] = list(declared)
    if attribute.outside != "refuse":
        entry["outside"] = attribute.outside
    if attribute.outside == "other":
        entry["other"] = attribute.other
    if attribute.missing is not None:
        missing = attribute.missing
        entry["missing"] = {"codes": list(missing.codes), "rule": missing.rule}
        if missing.rule == "category":
            entry["missing"]["label"] = missing.label
        if missing.rule == "replace":
            entry["missing"]["value"] = missing.value
    if attribute.description:
        entry["description"] = attribute.description
    if attribute.source != "declared":
        entry["source"] = attribute.source
    if attribute.declared:
        entry["declared"] = list(attribute.declared)
    if attribute.compare != "value":
        entry["compare"] = attribute.compare
    if attribute.derived is not None:
        entry["from"] = _derived_to(attribute.derived)
    return entry
