"""The engine's version, in one place, below everything that writes it."""

__version__ = "0.1.0"
