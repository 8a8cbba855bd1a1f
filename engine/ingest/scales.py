"""Values that have an order: known scales, bands of numbers, dates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.ingest import readings

_BAND = re.compile(
    r"\s*(?:<=?|>=?|under|over|less than|more than|up to|below|above|bis|ab|unter|über)?\s*[$€£]?"
    r"(\d[\d.,]*)\s?[kKmM%]?\s*(?:(?:-|–|to|bis|\.\.)\s*[$€£]?\d[\d.,]*\s?[kKmM%]?)?\s*"
    r"(?:\+|and over|and older|or more|or older|years?|yrs?)*\s*",
    re.IGNORECASE,
)
_SCALES: tuple[tuple[str, ...], ...] = (
    ("never", "rarely", "seldom", "sometimes", "occasionally", "often", "usually", "always"),
    ("strongly disagree", "disagree", "neither agree nor disagree", "neutral", "agree",
     "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("none", "very low", "low", "medium", "moderate", "average", "high", "very high"),
    ("very bad", "bad", "very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("xs", "extra small", "s", "small", "m", "medium", "l", "large", "xl", "extra large", "xxl"),
    ("too little", "about right", "too much"),
    ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("january", "february", "march", "april", "may", "june", "july", "august", "september",
     "october", "november", "december"),
    ("first", "second", "third", "fourth", "fifth"),
    ("1st", "2nd", "3rd", "4th", "5th"),
    ("travel_rarely", "travel_frequently"),
    ("lt high school", "high school", "junior college", "bachelor", "graduate"),
)  # fmt: skip


def is_scale(values: Sequence[str], label: str) -> bool:
    """Tell whether values are steps of one scale."""
    if len(values) < 3:
        return False
    plain = [v.casefold().strip() for v in values if not readings.is_missing_token(v)]
    if any(len(plain) >= 3 and set(plain) <= set(scale) for scale in _SCALES):
        return True
    if re.search(r"grade", label, re.IGNORECASE) and all(
        re.fullmatch(r"[a-g][1-5+-]?", v) for v in plain
    ):
        return True
    bands = [v for v in plain if _is_band(v)]
    real = [v for v in bands if not readings.is_number(v)]
    return len(real) >= 2 and len(bands) >= len(plain) - 1


def _is_band(value: str) -> bool:
    """Tell whether a text is a number or a range of numbers that rises ("18-24", not "01-17")."""
    if not _BAND.fullmatch(value) or re.search(r"(?<![\d.,])0\d", value):
        return False
    ends = re.findall(r"\d[\d.,]*", value)
    return len(ends) < 2 or float(re.sub(r"[.,]", "", ends[0])) < float(
        re.sub(r"[.,]", "", ends[1])
    )


def ordered(values: Sequence[str], decimal: str = ".") -> tuple[str, ...]:
    """Put values in the order a person expects: by number, by a known scale, by the alphabet.

    >>> ordered(["10", "9", "x"]), ordered(["high", "low"]), ordered(["65+", "18-24", "<18"])
    (('9', '10', 'x'), ('low', 'high'), ('<18', '18-24', '65+'))
    """
    plain = {value.casefold().strip() for value in values}
    for scale in _SCALES:
        if len(plain) > 1 and plain <= set(scale):
            return tuple(sorted(values, key=lambda v: scale.index(v.casefold().strip())))
    return tuple(sorted(values, key=lambda value: _order(value, decimal)))


def _order(value: str, decimal: str) -> tuple[int, float, list[tuple[int, int, str]], str]:
    number = readings.number(value, decimal)
    if number is not None:
        return 0, number, [], value
    if band := _BAND.fullmatch(value):
        start = readings.number(band[1], decimal) or 0.0
        below = re.match(r"\s*(<|under|less|up to|below|bis|unter)", value, re.IGNORECASE)
        return 0, start - 0.5 if below else start, [], value
    day = readings.date(value, day_first=True)
    if day is not None:
        return 1, float(day.toordinal()), [], value
    # "item 10" after "item 9".
    parts = re.findall(r"\d+|\D+", value.casefold())
    return 2, 0.0, [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts], value
