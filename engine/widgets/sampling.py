"""The tables that come with the explorer, under the name that notebooks use."""

from engine.samples import load_sample as sample

__all__ = ["sample"]
