"""How a column may be read: a proposal with its reason, never a decision.

What is proposed is read from the rows, so it serves demonstrations and as a draft to declare from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from engine.attributes import Attribute
from engine.coding import open_ended
from engine.ingest import readings
from engine.ingest.facts import Facts, answers, facts_of, may_be_missing, variants
from engine.ingest.identifiers import says_whose_row
from engine.ingest.notes import counted
from engine.ingest.proposal import LEFT_OUT, MAX_VALUES, READINGS, Proposal, Reading
from engine.ingest.scales import is_scale, is_school_years, ordered

__all__ = ["LEFT_OUT", "MAX_VALUES", "READINGS", "Proposal", "Reading", "propose"]
_FEW, _ENOUGH = 12, 10
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


def propose(
    texts: pa.ChunkedArray,
    *,
    column: str,
    label: str,
    choices: Mapping[str, Any],
    columns: tuple[str, ...] = (),
    declared: Attribute | None = None,
    missing: tuple[str, ...] = (),
) -> Proposal:
    """Propose a reading for a column of texts; ``missing`` are codes that were said to mean it."""
    # Long: one value, field by field.
    everywhere = tuple(choices.get("missing", ()))
    facts = facts_of(texts, label, {**choices, "missing": (*everywhere, *missing)})
    found = _declared(declared) if declared is not None else _proposed(facts)
    kind = found["kind"]
    listed = facts.distinct <= MAX_VALUES
    several, mark = answers(facts.values) if kind in ("categorical", "text") else ((), "")
    enough = declared is None and facts.present >= _ENOUGH
    offered = may_be_missing(facts.values, kind, facts.decimal) if enough else ()
    return Proposal(
        column=column,
        label=label,
        kind=kind,
        reason=found["reason"],
        examples=facts.values[:3],
        alternatives=_alternatives(facts, kind),
        keep=kind not in LEFT_OUT,
        values=ordered(facts.values, facts.decimal) if listed else (),
        bounds=found.get("bounds"),
        missing_codes=found.get("codes", ()),
        has_missing=facts.empty > 0,
        distinct=facts.distinct,
        own_codes=found.get("own", ()),
        said_missing=missing,
        may_be_missing=tuple(code for code in offered if code not in found.get("codes", ())),
        variants=variants(facts.values, facts.counts) if listed and kind not in LEFT_OUT else (),
        rows_each=found.get("rows_each", 0),
        answers=several,
        answers_by=mark,
        decomposed=facts.decomposed,
        infinite=found.get("infinite", 0),
        columns=columns,
        declared=declared,
        day_first=found.get("day_first", True),
        ambiguous=found.get("ambiguous", False),
        undated=found.get("undated", ()),
        short_years=found.get("short_years", False),
        mixed_units=found.get("mixed_units", False),
    )


def _declared(attribute: Attribute) -> dict[str, Any]:
    bounds = attribute.bounds or (
        (attribute.edges[0], attribute.edges[-1]) if attribute.edges else None
    )
    return {
        "kind": attribute.kind, "bounds": bounds,
        "reason": "The file itself declares its values.",
    }  # fmt: skip


def _proposed(facts: Facts) -> dict[str, Any]:
    if not facts.values:
        return {"kind": "empty", "reason": "No cell holds anything."}
    if facts.distinct == 1 and not facts.empty and facts.rows > 1:
        return {"kind": "constant", "reason": "Every cell holds the same value."}
    if readings.is_yes_no(facts.values):
        return {"kind": "yes/no", "reason": "There are two values, a yes and a no."}
    return (
        _as_person(facts) or _as_packed_dates(facts) or _as_numbers(facts) or _as_dates(facts)
        or _as_texts(facts)
    )  # fmt: skip


def _as_person(facts: Facts) -> dict[str, Any] | None:
    """Tell a column that says whose row it is, though a person may have several rows."""
    repeats = facts.distinct < facts.present
    many = facts.distinct >= 5 and facts.distinct >= 0.1 * facts.present
    if not repeats or not many or not says_whose_row(facts.label, facts.values):
        return None
    most = max(facts.counts)
    return {
        "kind": "identifier", "rows_each": most,
        "reason": f"It seems to say whose row it is; one has {counted(most, 'row')}.",
    }  # fmt: skip


def _as_packed_dates(facts: Facts) -> dict[str, Any] | None:
    """Eight digits that make a day are dates: 19450328. Some may be none: 00000000."""
    packed = sum(map(readings.is_packed_date, facts.values))
    others = [v for v in facts.values if not readings.is_packed_date(v)]
    digits = all(re.fullmatch(r"\d{8}", v) or readings.is_missing_token(v) for v in others)
    if not packed or not digits or len(others) > 0.2 * packed:
        return None
    said = "All" if not others else "Nearly all"
    return {
        "kind": "date", "reason": f"{said} cells are days written as eight digits.",
        "codes": tuple(v for v in others if readings.is_missing_token(v)),
        "undated": tuple(v for v in others if not readings.is_missing_token(v)),
    }  # fmt: skip


# -- numbers ------------------------------------------------------------------------------------


def _numbers(facts: Facts) -> tuple[list[float], list[str]]:
    """Return the values that are numbers, and those that are not."""
    numbers, others = [], []
    for value in facts.values:
        found = readings.number(value, facts.decimal)
        if found is None:
            others.append(value)
        else:
            numbers.append(found)
    return numbers, others


def _as_numbers(facts: Facts) -> dict[str, Any] | None:
    numbers, others = _numbers(facts)
    special = _special_codes(facts, numbers, others)
    if special is None or not numbers:
        return None
    codes, own = special
    finite = [n for n in numbers if abs(n) != float("inf")]
    about: dict[str, Any] = {
        "codes": codes, "own": own, "infinite": len(numbers) - len(finite),
        "mixed_units": readings.mixes_units(facts.values),
    }  # fmt: skip
    reach = [n for text in own if (n := open_ended(text, facts.decimal)) is not None]
    if finite:
        reach = reach if len(own) > 1 else []  # several are counted at the bounds
        about["bounds"] = (min([*finite, *reach]), max([*finite, *reach]))
    also = f" besides {_quoted(codes)}, read as missing" if codes else ""
    also += f" besides {counted(len(own), 'text')} kept apart" if own else ""
    return about | (_as_codes(facts, finite, len(others)) or _as_amounts(facts, finite, also))


def _special_codes(
    facts: Facts, numbers: Sequence[float], others: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the texts among numbers that mean "missing", and those that are values of their own.

    None if there are so many others that the column holds no numbers.
    """
    tokens = tuple(text for text in others if readings.is_missing_token(text))
    rest = [text for text in others if text not in tokens]
    ends = [text for text in rest if open_ended(text, facts.decimal) is not None]
    odd = [text for text in rest if text not in ends]
    fine = len(odd) <= 1 and all(len(text) <= 3 for text in odd)
    if rest and not (fine and len(numbers) >= max(2, 3 * len(rest))):
        return None
    return tokens, tuple(rest)


def _as_codes(facts: Facts, numbers: Sequence[float], special: int) -> dict[str, Any] | None:
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


def _counts_something(facts: Facts, values: Sequence[str]) -> bool:
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


def _identifies(facts: Facts, numbers: Sequence[float], values: Sequence[str]) -> bool:
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


def _as_amounts(facts: Facts, numbers: Sequence[float], also: str) -> dict[str, Any]:
    if numbers and all(n.is_integer() for n in numbers):
        return {"kind": "integer", "reason": f"All cells are whole numbers{also}."}
    return {"kind": "numeric", "reason": f"All cells are numbers{also}."}


def _quoted(codes: Sequence[str]) -> str:
    return ", ".join(f'"{code}"' for code in codes[:4])


# -- dates and texts ----------------------------------------------------------------------------


def _as_dates(facts: Facts) -> dict[str, Any] | None:
    looked = [v for v in facts.values if not readings.is_missing_token(v)][:2000]
    if is_school_years(looked):
        return None
    first, _ = readings.first_is_day(looked)
    if facts.dates is not None:
        first = facts.dates == "day first"
    day_first = first is not False
    undated = [v for v in looked if readings.date(v, day_first=day_first) is None]
    fine = len(looked) - len(undated)
    if not looked or fine < 0.95 * len(looked):
        return None
    ambiguous = first is None and any(re.match(r"\d{1,2}[-/.]\d{1,2}[-/.]", v) for v in looked)
    reason = "All cells are dates" if fine == len(looked) else "Nearly all cells are dates"
    if ambiguous:
        reason += "; nothing tells whether the day or the month stands first"
    codes = tuple(v for v in facts.values if readings.is_missing_token(v))
    return {
        "kind": "date", "reason": reason + ".", "day_first": day_first, "ambiguous": ambiguous,
        "codes": codes, "undated": tuple(undated),
        "short_years": any(map(readings.has_short_year, looked)),
    }  # fmt: skip


def _as_texts(facts: Facts) -> dict[str, Any]:
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


def _odd_numbers(facts: Facts) -> str:
    numbers, others = _numbers(facts)
    if numbers and len(others) < len(numbers):
        return f"; all but {counted(len(others), 'of them is a number', 'of them are numbers')}"
    return ""


def _alternatives(facts: Facts, kind: Reading) -> tuple[Reading, ...]:
    bears: list[Reading] = []
    numbers, _others = _numbers(facts)
    if numbers and len(numbers) >= 0.5 * len(facts.values):
        whole = all(n.is_integer() for n in numbers)
        bears += ["integer", "numeric"] if whole else ["numeric"]
    looked = facts.values[:200]
    if is_school_years(looked):
        bears.append("date")
    if looked and sum(map(readings.is_date, looked)) >= 0.5 * len(looked):
        bears.append("date")
    bears += ["categorical", "ordinal"]
    if facts.distinct <= 2:
        bears.append("yes/no")
    bears += ["identifier", "text"]
    return tuple(dict.fromkeys(reading for reading in bears if reading != kind))
