"""The report under the name that notebooks in bundles of the first version import."""

from engine.exporting.report import report

__all__ = ["report"]
