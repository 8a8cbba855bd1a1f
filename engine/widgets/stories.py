"""The mechanisms that forms of the explorer offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.mechanisms import catalogue

MECHANISMS: Mapping[str, Callable[[], Any]] = catalogue.Listing(
    "forms", lambda entry: entry.make, lambda entry: entry.title
)
"""What makes each of the catalogue's mechanisms, by the title that forms show."""
