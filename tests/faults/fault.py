"""What a planted fault is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILED = (
    "engine/kernels.py",
    "engine/completing/ascent.py",
    "engine/completing/fitting.py",
    "engine/completing/routes.py",
    "engine/completing/shrinking.py",
    "engine/completing/triples.py",
)
"""Modules whose loops numba compiles: with a fault they run as plain Python, without a cache."""


@dataclass(frozen=True)
class Fault:
    """One change of a source text.

    Args:
        name: Short, unlike any other.
        path: Of the file, from the root of the project.
        before: Text that occurs in it exactly once.
        after: What takes its place.
        harm: What would go wrong for a user.
        tests: What must fail: files, or ids of tests.
    """

    name: str
    path: str
    before: str
    after: str
    harm: str
    tests: tuple[str, ...]

    @property
    def plain(self) -> bool:
        """Whether compiled loops must run as plain Python for the fault to show."""
        return self.path in COMPILED

    def occurrences(self, root: Path = ROOT) -> int:
        """How often the text before occurs; anything but 1 is a fault of this list."""
        path = root / self.path
        return path.read_text("utf-8").count(self.before) if path.exists() else 0

    def planted(self, text: str) -> str:
        """The file's text with the fault in it."""
        return text.replace(self.before, self.after)
