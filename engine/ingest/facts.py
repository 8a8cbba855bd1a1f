"""What is known of a column's cells, and what of it a person should be asked about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from engine.coding import canonical, number
from engine.exact import Exact
from engine.ingest import readings

_LOOKED_AT = 20_000
_NEGATIVE = re.compile(r"-(?:[1-9]|9[5-9]|99[5-9]|999[5-9]|[6-9]{2}|[7-9]{3,4})")
_POSITIVE = re.compile(r"[789]|66|77|88|9[6-9]|777|888|99[5-9]|7777|8888|999[5-9]|99999+")
_AMONG_WORDS = re.compile(r"[89]|[789][6-9]|[789]{3,4}|99[5-9]")
_AT_MOST_CODES = 6
_MOST_ANSWERS = 40


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Facts(Exact):
    """What is known of a column's cells."""

    label: str
    rows: int
    values: tuple[str, ...]  # distinct and present, in NFC, as first met; at most _LOOKED_AT
    counts: tuple[int, ...]
    distinct: int
    empty: int  # cells without any text, or with a code that a person declared missing
    decimal: str
    decomposed: int
    dates: str | None = None  # what a person said of dates: "day first" or "month first"

    @property
    def present(self) -> int:
        """Cells that hold something."""
        return self.rows - self.empty


def facts_of(texts: pa.ChunkedArray, label: str, choices: Mapping[str, Any]) -> Facts:
    """Count a column's distinct texts; spellings of one text in Unicode are one."""
    decimal = str(choices.get("decimal", "."))
    met = pc.value_counts(texts)
    values, counts = met.field("values"), met.field("counts")
    gone = _missing(values, tuple(choices.get("missing", ())), decimal)
    empty = int(pc.sum(counts.filter(gone)).as_py() or 0)
    there = pc.invert(gone)
    values, counts = values.filter(there), counts.filter(there)
    composed = pc.utf8_normalize(values, form="NFC")
    other = pc.not_equal(composed, values)
    decomposed = int(pc.sum(counts.filter(other)).as_py() or 0)
    if decomposed:
        merged = pa.table({"v": composed, "n": counts}).group_by("v").aggregate([("n", "sum")])
        values = merged.column("v").combine_chunks()
        counts = merged.column("n_sum").combine_chunks()
    return Facts(
        label,
        len(texts),
        tuple(values.slice(0, _LOOKED_AT).to_pylist()),
        tuple(counts.slice(0, _LOOKED_AT).to_pylist()),
        len(values),
        empty,
        decimal,
        decomposed,
        choices.get("dates"),
    )


def _missing(values: pa.Array, said: tuple[str, ...], decimal: str) -> pa.Array:
    """Tell which distinct texts are empty or, by the rule of ``coding``, said to be missing."""
    if not said:
        return pc.equal(values, "")
    codes = {canonical(code, decimal=decimal) for code in said}
    return pa.array(
        [not text or canonical(text, decimal=decimal) in codes for text in values.to_pylist()],
        pa.bool_(),
    )


# -- what to ask --------------------------------------------------------------------------------


def may_be_missing(values: Sequence[str], kind: str, decimal: str) -> tuple[str, ...]:
    """Return values that often stand for "no answer" and stand apart from the others here.

    >>> may_be_missing(["23", "85", "998", "999"], "integer", ".")
    ('998', '999')
    """
    words = [value for value in values if readings.is_missing_token(value)]
    if kind not in ("integer", "numeric", "categorical", "ordinal"):
        return ()
    numbers = {v: n for v in values if (n := number(v, decimal)) is not None}
    if len(numbers) <= 0.5 * len(values) and len(numbers) <= _AT_MOST_CODES:
        # Among words: red, green, blue, -9.
        plain = {v: f"{n:.0f}" for v, n in numbers.items() if abs(n) < 1e9 and n == int(n)}
        coded = [v for v, t in plain.items() if _NEGATIVE.fullmatch(t) or _AMONG_WORDS.fullmatch(t)]
        return (*words, *(coded if len(coded) == len(numbers) else ()))
    if len(numbers) < 0.5 * len(values) or len(numbers) < 3:
        return tuple(words)
    if any(len(value) > 1 and value[0] == "0" and value.isdecimal() for value in values):
        return tuple(words)  # codes with leading zeros count nothing
    whole = {v: f"{n:.0f}" for v, n in numbers.items() if abs(n) < 1e9 and n == int(n)}
    below = [v for v, text in whole.items() if _NEGATIVE.fullmatch(text)]
    rest = [n for v, n in numbers.items() if v not in below]
    if not rest or min(rest) < 0 or len(below) > _AT_MOST_CODES:
        below = []
    above = _codes_above({v: t for v, t in whole.items() if v not in below}, rest)
    return (*words, *sorted([*below, *above], key=lambda v: numbers[v]))


def _codes_above(whole: Mapping[str, str], numbers: Sequence[float]) -> list[str]:
    """Return the codes of nines, eights and sevens beyond all the values."""
    possible = [v for v, text in whole.items() if _POSITIVE.fullmatch(text)]
    for length in (1, 2, 3, 4, 5):
        codes = [v for v in possible if len(whole[v]) >= length and len(whole[v]) < length + 3]
        if not codes or len(codes) > _AT_MOST_CODES:
            continue
        least = min(float(whole[v]) for v in codes)
        rest = [n for n in numbers if n < least]
        beyond = [n for n in numbers if n >= least]
        gap = max(2.0, 0.04 * least)
        if len(rest) >= 2 and len(beyond) == len(codes) and least - max(rest) >= gap:
            return codes
    return []


def variants(values: Sequence[str], counts: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """Return groups of values that differ in capitals or blanks only, the commonest first.

    >>> variants(["w", "m", " W"], [9, 7, 1])
    (('w', ' W'),)
    """
    groups: dict[str, list[tuple[int, str]]] = {}
    for value, count in zip(values, counts, strict=False):
        groups.setdefault(canonical(value, compare="folded"), []).append((-count, value))
    return tuple(
        tuple(value for _, value in sorted(group))
        for group in groups.values()
        if sum(not readings.is_number(value) for _, value in group) > 1
    )


def answers(values: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the single answers of cells that hold several ("bus;bike"), and what parts them.

    >>> answers(["bus;bike", "bus", "bike;walk", "walk;bus;bike"])
    (('bike', 'bus', 'walk'), ';')
    """
    for mark in (";", "|", ","):
        held = [value for value in values if mark in value]
        if len(held) < 2 or len(values) < 3:
            continue
        parts: Counter[str] = Counter(
            part for value in values for part in {p.strip() for p in value.split(mark)} if part
        )
        single = all(len(part) <= 60 for part in parts)
        repeated = sum(n > 1 for n in parts.values()) >= 0.6 * len(parts)
        several = sum(len(value.split(mark)) for value in held) >= 2 * len(held)
        sentence = mark == "," and sum(map(readings.is_number, parts)) > 0.5 * len(parts)
        fewer = len(parts) < len(values) or len(held) >= 0.5 * len(values)
        if single and repeated and several and fewer and not sentence and _few(parts):
            return tuple(sorted(parts)), mark
    return (), ""


def _few(parts: Mapping[str, int]) -> bool:
    return 2 <= len(parts) <= _MOST_ANSWERS
