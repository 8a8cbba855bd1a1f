"""What a planted fault is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILED = (
    "engine/counting.py",
    "engine/kernels.py",
    "engine/completing/ascent.py",
    "engine/completing/fitting.py",
    "engine/completing/projection.py",
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
        path: Of the file, from the root of the project; where it no longer holds the text, the
            one module of the project that does.
        before: Text that occurs exactly once: in that file, or else in the whole project.
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

    def found(self, root: Path = ROOT) -> Fault:
        """The fault where its text is now: code moves between modules, and the list need not."""
        if self.occurrences(root):
            return self
        modules = [p for room in ("engine", "pages") for p in sorted((root / room).rglob("*.py"))]
        holding = [p for p in modules if self.before in p.read_text("utf-8")]
        return replace(self, path=str(holding[0].relative_to(root))) if len(holding) == 1 else self

    def occurrences(self, root: Path = ROOT) -> int:
        """How often the text before occurs in the file; anything but 1 is a fault of this list."""
        path = root / self.path
        return path.read_text("utf-8").count(self.before) if path.exists() else 0

    def planted(self, text: str) -> str:
        """The file's text with the fault in it."""
        return text.replace(self.before, self.after)
