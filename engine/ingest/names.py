"""Names of columns: labels that a person can tell apart, with what was changed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.ingest.notes import Note, ordinal


@dataclass(slots=True)
class _Labels:
    labels: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def label_columns(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Make labels that a person can tell apart, and say what was changed.

    >>> label_columns(["a", "a", "", "b"])[0]
    ('a', 'a (2nd)', 'column 3 (no name)', 'b')
    """
    found = _Labels()
    cleaned = [_cleaned(name) for name in names]
    _note_changes(names, cleaned, found)
    seen: Counter[str] = Counter()
    taken = {name for name in cleaned if name}
    for j, name in enumerate(cleaned):
        label = name or f"column {j + 1} (no name)"
        seen[label] += 1
        if seen[label] > 1 or (not name and label in taken):
            nth = max(2, seen[label])
            while f"{label} ({ordinal(nth)})" in taken:
                nth += 1
            label = f"{label} ({ordinal(nth)})"
            taken.add(label)
        found.labels.append(label)
    _note_names(cleaned, found)
    return tuple(found.labels), tuple(found.notes)


def _cleaned(name: str) -> str:
    name = name.replace("\x00", "").replace("\ufeff", "")
    name = re.sub(r"[\r\n\t\v\f\x85\u2028\u2029]+", " ", name)
    name = "".join(c for c in name if c >= " " and c != "\x7f")
    return unicodedata.normalize("NFC", name).strip()


def _ids(positions: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"c{j}" for j in positions[:5])


def _note_changes(names: Sequence[str], cleaned: Sequence[str], found: _Labels) -> None:
    for code, mark, sentence in (
        ("W_NAME_NUL", "\x00", "had NUL characters in the name; they were removed"),
        ("W_NAME_NEWLINE", "\n\r", "had a line break in the name; it became a space"),
    ):
        hit = [j for j, name in enumerate(names) if any(m in name for m in mark)]
        if hit:
            found.notes.append(Note(code, f"{_columns(hit)} {sentence}.", columns=_ids(hit)))


def _note_names(cleaned: Sequence[str], found: _Labels) -> None:
    # Long: one sentence for each thing that names can be.
    counts = Counter(name for name in cleaned if name)
    double = [j for j, name in enumerate(cleaned) if name and counts[name] > 1]
    if double:
        found.notes.append(
            Note(
                "W_DUPLICATE_NAMES",
                f"{_columns(double)} share a name with another column; the later ones are "
                "numbered, "
                'as in "name (2nd)".',
                columns=_ids(double),
            )
        )
    blank = [j for j, name in enumerate(cleaned) if not name]
    if blank and len(blank) < len(cleaned):
        found.notes.append(
            Note(
                "W_NO_NAME",
                f"{_columns(blank)} {'has' if len(blank) == 1 else 'have'} no name in the header "
                "and "
                'go by position, as in "column 3 (no name)".',
                columns=_ids(blank),
            )
        )
    unnamed = [
        j for j, name in enumerate(cleaned) if re.fullmatch(r"Unnamed: \d+(_level_\d+)?", name)
    ]
    if unnamed:
        found.notes.append(
            Note(
                "W_UNNAMED",
                f'{_columns(unnamed)} go by "Unnamed: ...", the name pandas gives a saved index; '
                "leave "
                "such a column out if it only numbers the rows.",
                columns=_ids(unnamed),
            )
        )
    folded = Counter(_folded(name) for name in set(cleaned) if name)
    alike = [j for j, name in enumerate(cleaned) if name and folded[_folded(name)] > 1]
    if alike:
        found.notes.append(
            Note(
                "W_LOOKALIKE_NAMES",
                f"{_columns(alike)} have names that look alike (they differ in capitals, spaces or "
                "characters that do not show). Check that they are different columns.",
                columns=_ids(alike),
            )
        )


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in plain if unicodedata.category(c) not in ("Cf", "Zs", "Mn"))


def _columns(positions: Sequence[int]) -> str:
    shown = [str(j + 1) for j in positions[:5]]
    more = f" and {len(positions) - 5:,} more" if len(positions) > 5 else ""
    return f"Column{'s' if len(positions) > 1 else ''} {', '.join(shown)}{more}"
