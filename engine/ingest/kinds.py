"""How a column may be read: a proposal with its reason, never a decision.

What is proposed is read from the rows, so it serves demonstrations and as a draft to declare from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from engine.exact import Exact
from engine.ingest import readings
from engine.ingest.notes import counted
from engine.ingest.scales import is_scale, ordered

Reading = Literal[
    "categorical", "ordinal", "yes/no", "integer", "numeric", "date", "identifier", "text",
    "constant", "empty",
]  # fmt: skip
READINGS: tuple[Reading, ...] = (
    "categorical", "ordinal", "yes/no", "integer", "numeric", "date", "identifier", "text",
    "constant", "empty",
)  # fmt: skip
LEFT_OUT = frozenset({"identifier", "text", "constant", "empty"})
"""Readings that are offered for leaving out."""

MAX_VALUES = 2000
"""Most values a proposal lists; a longer list is no category anybody declares by hand."""
_LOOKED_AT = 20_000
_FEW = 12
_MANY_TEXTS = 200
_ID_NAME = re.compile(
    r"(^|[\s_.-])(id|ids|uuid|guid|ident(ifier)?|serial\w*|key|index|row|rowid|email|e-mail|mail|phone|"
    r"telephone|ssn|iban|passport|url|link|hash|nr|record)$|^(id|uuid)[\s_.-]|^serialno$|(?<=[a-z])I[dD]$",
    re.IGNORECASE,
)
_CODE_NAME = re.compile(
    r"code|zip|postal|postcode|puma|fips|region|type|class|categor|group|status|system|school|"
    r"industry|indp?(?=$|[^a-z])|occ(up|$)|icd|naics|sic$|^tract|district|county|state|"
    r"(^|[\s_.-])id$|id[k\d]?$|rank",
    re.IGNORECASE,
)
_AMOUNT_NAME = re.compile(
    r"(^|[^a-z])age([^a-z]|$)|agep|count|(^|[^a-z])num|number|(^|[^a-z])n(r|o|um|b)?_|hours|hrs|year|"
    r"month|week|day|amount|balance|income|salary|wage|score|points|size|rooms|child|qty|quant|total|"
    r"weight|height|length|width|price|cost|pay|paid|rate$|accounts|times|duration|distance|experience|"
    r"delinq|inquir|visits|liens|bankrupt",
    re.IGNORECASE,
)
_FREE_NAME = re.compile(
    r"(^|[\s_.-])(name|first ?name|last ?name|surname|comment|comments|note|notes|description|text|"
    r"remarks?|address|title|review|message)s?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Proposal(Exact):
    """A reading offered for one column.

    Args:
        column: Its id, ``c0`` ...
        label: Its name as a person sees it.
        kind: The reading proposed.
        reason: Why, in one sentence.
        examples: Three of its values (private: for the person whose table it is).
        alternatives: Other readings that its cells would bear, the likeliest first.
        keep: Whether it is proposed as an attribute; False is an offer to leave it out.
        values: Its distinct values in order, where there are few enough to list.
        bounds: Smallest and largest number.
        missing_codes: Texts that would mean "missing" under this reading.
        has_missing: Whether a cell is empty.
        distinct: How many different values it has.
        day_first: Whether its dates begin with the day.
        ambiguous: Whether nothing in its dates tells which part is the day.
    """

    column: str
    label: str
    kind: Reading
    reason: str
    examples: tuple[str, ...]
    alternatives: tuple[Reading, ...]
    keep: bool
    values: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    missing_codes: tuple[str, ...] = ()
    has_missing: bool = False
    distinct: int = 0
    day_first: bool = True
    ambiguous: bool = False

    def __repr__(self) -> str:
        return f"Proposal({self.label!r}, {self.kind}, keep={self.keep}; its values are private)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Facts(Exact):
    """What is known of a column's cells."""

    label: str
    rows: int
    values: tuple[str, ...]  # distinct and present, as first met; at most _LOOKED_AT
    counts: tuple[int, ...]
    distinct: int
    empty: int  # cells without any text, or with a code that a person declared missing
    decimal: str

    @property
    def present(self) -> int:
        return self.rows - self.empty


def propose(
    texts: pa.ChunkedArray, *, column: str, label: str, choices: Mapping[str, Any]
) -> Proposal:
    """Propose a reading for a column of texts."""
    facts = _facts(texts, label, choices)
    found = _proposed(facts)
    kind, reason = found["kind"], found["reason"]
    bears = _alternatives(facts, kind)
    return Proposal(
        column=column,
        label=label,
        kind=kind,
        reason=reason,
        examples=facts.values[:3],
        alternatives=bears,
        keep=kind not in LEFT_OUT,
        values=ordered(facts.values, facts.decimal) if facts.distinct <= MAX_VALUES else (),
        bounds=found.get("bounds"),
        missing_codes=found.get("codes", ()),
        has_missing=facts.empty > 0,
        distinct=facts.distinct,
        day_first=found.get("day_first", True),
        ambiguous=found.get("ambiguous", False),
    )


def _facts(texts: pa.ChunkedArray, label: str, choices: Mapping[str, Any]) -> _Facts:
    met = pc.value_counts(texts)
    values, counts = met.field("values"), met.field("counts")
    absent = pc.is_in(
        values, value_set=pa.array(["", *choices.get("missing", ())], pa.large_string())
    )
    empty = pc.sum(counts.filter(absent)).as_py() or 0
    there = pc.invert(absent)
    values, counts = values.filter(there), counts.filter(there)
    return _Facts(
        label,
        len(texts),
        tuple(values.slice(0, _LOOKED_AT).to_pylist()),
        tuple(counts.slice(0, _LOOKED_AT).to_pylist()),
        len(values),
        int(empty),
        str(choices.get("decimal", ".")),
    )


def _proposed(facts: _Facts) -> dict[str, Any]:
    if not facts.values:
        return {"kind": "empty", "reason": "No cell holds anything."}
    if facts.distinct == 1 and not facts.empty and facts.rows > 1:
        return {"kind": "constant", "reason": "Every cell holds the same value."}
    if readings.is_yes_no(facts.values):
        return {"kind": "yes/no", "reason": "There are two values, a yes and a no."}
    return _as_numbers(facts) or _as_dates(facts) or _as_texts(facts)


# -- numbers ------------------------------------------------------------------------------------


def _numbers(facts: _Facts) -> tuple[list[float], list[str]]:
    """Return the values that are numbers, and those that are not."""
    numbers, others = [], []
    for value in facts.values:
        found = readings.number(value, facts.decimal)
        if found is None:
            others.append(value)
        else:
            numbers.append(found)
    return numbers, others


def _as_numbers(facts: _Facts) -> dict[str, Any] | None:
    numbers, others = _numbers(facts)
    codes = _special_codes(facts, numbers, others)
    if codes is None or not numbers:
        return None
    finite = [n for n in numbers if abs(n) != float("inf")]
    about: dict[str, Any] = {"codes": codes}
    if finite:
        about["bounds"] = (min(finite), max(finite))
    also = f" besides {_quoted(codes)}, read as missing" if codes else ""
    return about | (_as_codes(facts, finite, len(others)) or _as_amounts(facts, finite, also))


def _special_codes(
    facts: _Facts, numbers: Sequence[float], others: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the few texts among numbers that can only mean "missing"; None if there are more."""
    if not others:
        return ()
    tokens = [text for text in others if readings.is_missing_token(text)]
    rest = [text for text in others if text not in tokens]
    short = all(len(text) <= 3 for text in rest)
    if len(rest) <= 1 and short and len(numbers) >= max(2, 3 * len(rest)):
        return tuple(others)
    return None


def _as_codes(facts: _Facts, numbers: Sequence[float], special: int) -> dict[str, Any] | None:
    """Numbers that are names: with leading zeros, too long, counting the rows, or few and whole."""
    values = [v for v in facts.values if readings.number(v, facts.decimal) is not None]
    zeros = any(re.fullmatch(r"0\d+", value) for value in values)
    unique = facts.distinct >= 0.95 * facts.present and facts.present >= 5
    whole = all(n.is_integer() for n in numbers)
    if any(re.fullmatch(r"\d{16,}", value) for value in values):
        return {"kind": "identifier", "reason": "Its numbers are too long to count with."}
    if whole and unique and _identifies(facts, numbers, values):
        return {"kind": "identifier", "reason": "Nearly every row has a number of its own."}
    if zeros:
        kind = "categorical" if facts.distinct <= 1000 and not unique else "identifier"
        return {"kind": kind, "reason": "Its numbers have leading zeros, so they are codes."}
    if not whole or not numbers:
        return None
    coded = _CODE_NAME.search(facts.label) and not _AMOUNT_NAME.search(facts.label)
    if coded and facts.distinct <= 500 and not unique:
        return {"kind": "categorical", "reason": "Its name speaks of codes, and they repeat."}
    if _counts_something(facts, values):
        return None
    few = len(set(numbers)) <= _FEW and max(map(abs, numbers)) <= 99
    if few and not (_AMOUNT_NAME.search(facts.label) and len(numbers) > 2) and facts.rows > 2:
        return {
            "kind": "categorical",
            "reason": f"It has only {counted(len(numbers), 'whole number')}: codes, it seems.",
        }
    return None


def _counts_something(facts: _Facts, values: Sequence[str]) -> bool:
    """Tell numbers of things (rooms, children) from codes: they are successive, with one summit."""
    held = {
        readings.number(v, facts.decimal): n
        for v, n in zip(facts.values, facts.counts, strict=True)
    }
    steps = sorted(n for n in held if n is not None)
    if len(steps) < 5 or steps[0] not in (0, 1) or facts.rows < 100:
        return False
    if max(steps) > 2 * len(steps):
        return False
    heights = [held[step] for step in steps]
    top = heights.index(max(heights))
    rising = all(a <= b for a, b in pairwise(heights[: top + 1]))
    falling = all(a >= b for a, b in pairwise(heights[top:]))
    return rising and falling


def _identifies(facts: _Facts, numbers: Sequence[float], values: Sequence[str]) -> bool:
    if (
        _ID_NAME.search(facts.label)
        or facts.label.endswith("(no name)")
        or _is_unnamed(facts.label)
    ):
        return True
    if _AMOUNT_NAME.search(facts.label) or facts.rows < 20:
        return False
    span = max(numbers) - min(numbers) + 1
    if span <= 1.02 * facts.distinct and min(numbers) in (0, 1):
        return True  # 1, 2, 3, ...: they number the rows
    return len({len(value) for value in values}) == 1 and len(values[0]) >= 7


def _is_unnamed(label: str) -> bool:
    return label.startswith(("Unnamed:", "__index_level_"))


def _as_amounts(facts: _Facts, numbers: Sequence[float], also: str) -> dict[str, Any]:
    if numbers and all(n.is_integer() for n in numbers):
        return {"kind": "integer", "reason": f"All cells are whole numbers{also}."}
    return {"kind": "numeric", "reason": f"All cells are numbers{also}."}


def _quoted(codes: Sequence[str]) -> str:
    return ", ".join(f'"{code}"' for code in codes[:4])


# -- dates and texts ----------------------------------------------------------------------------


def _as_dates(facts: _Facts) -> dict[str, Any] | None:
    looked = [v for v in facts.values if not readings.is_missing_token(v)][:2000]
    first, _ = readings.first_is_day(looked)
    day_first = first is not False
    fine = sum(readings.date(value, day_first=day_first) is not None for value in looked)
    if not looked or fine < 0.95 * len(looked):
        return None
    ambiguous = first is None and any(re.match(r"\d{1,2}[-/.]\d{1,2}[-/.]", v) for v in looked)
    reason = "All cells are dates" if fine == len(looked) else "Nearly all cells are dates"
    if ambiguous:
        reason += "; nothing tells whether the day or the month stands first"
    codes = tuple(v for v in facts.values if readings.is_missing_token(v))
    return {
        "kind": "date", "reason": reason + ".", "day_first": day_first, "ambiguous": ambiguous,
        "codes": codes,
    }  # fmt: skip


def _as_texts(facts: _Facts) -> dict[str, Any]:
    values = facts.values
    unique = facts.distinct >= 0.9 * facts.present and facts.present >= 20
    words = sum(len(value.split()) for value in values) / len(values)
    length = sum(map(len, values)) / len(values)
    if unique or (_ID_NAME.search(facts.label) and facts.distinct >= 0.95 * facts.present >= 4):
        if words >= 3 or length > 40:
            return {"kind": "text", "reason": "Nearly every cell holds a text of its own."}
        return {"kind": "identifier", "reason": "Nearly every row has a value of its own."}
    if facts.distinct > _MANY_TEXTS and facts.distinct > 0.02 * facts.present:
        return {
            "kind": "text",
            "reason": f"It has {facts.distinct:,} different texts, too many for categories; a "
            "declared list of the most important ones with Other would do.",
        }
    if length > 60 or (
        _FREE_NAME.search(facts.label) and facts.distinct > max(2, 0.5 * facts.present)
    ):
        return {"kind": "text", "reason": "Its cells look like free text."}
    if is_scale(values, facts.label):
        return {"kind": "ordinal", "reason": "Its values are steps of one scale."}
    odd = _odd_numbers(facts)
    return {
        "kind": "categorical",
        "reason": f"It has {counted(facts.distinct, 'text')} that repeat{odd}.",
    }


def _odd_numbers(facts: _Facts) -> str:
    numbers, others = _numbers(facts)
    if numbers and len(others) < len(numbers):
        return f"; all but {counted(len(others), 'of them is a number', 'of them are numbers')}"
    return ""


def _alternatives(facts: _Facts, kind: Reading) -> tuple[Reading, ...]:
    bears: list[Reading] = []
    numbers, _others = _numbers(facts)
    if numbers and len(numbers) >= 0.5 * len(facts.values):
        whole = all(n.is_integer() for n in numbers)
        bears += ["integer", "numeric"] if whole else ["numeric"]
    looked = facts.values[:200]
    if looked and sum(map(readings.is_date, looked)) >= 0.5 * len(looked):
        bears.append("date")
    bears += ["categorical", "ordinal"]
    if facts.distinct <= 2:
        bears.append("yes/no")
    bears += ["identifier", "text"]
    return tuple(dict.fromkeys(reading for reading in bears if reading != kind))
