"""When two values are the same: the one rule by which a cell is a label, a missing code or a bin.

Tables, files of every kind, notebooks and the command line ask here, so that one column gives one
set of codes whatever it is read from. A cell is taken as its text (``text_of``), blanks around it
put aside. It is the same as a label or a missing code

1. if the two are the same text in Unicode NFC;
2. if both are plain numbers of one value: -9 is -9.0 and −9. A number with leading zeros is a code
   and a text: 01 is not 1. So is one with an exponent, a currency sign or marks for thousands;
3. if both say true, or both false, in whatever capitals; neither is a number or a yes;
4. if both are one day, with or without its midnight (2024-01-31 and 2024-01-31 00:00:00).

A rule that would make two labels of one attribute the same does not hold for these: they are told
apart as texts. ``Attribute.compare`` narrows the rule to the first line ("text") or widens it to
texts that differ in capitals, blanks, invisible characters, full-width letters, or the form of
dashes and quotes only ("folded"). Missing codes come before labels, equal texts before equal
values. Where an attribute holds numbers, a cell is the number it reads as, with its decimal mark. A
value of single precision is the shortest decimal that rounds to it, so 0.7 is not below an edge at
0.7.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from engine.attributes import Compare

_PLAIN = re.compile(r"([+\-−–]?)(0|[1-9]\d*|(?=[.,]\d))(?:([.,])(\d*))?", re.ASCII)
_FORMS = dict(zip("‐‑‒–—−‘’‚‛“”„", "------''''\"\"\"", strict=True))
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00(?::00(?:\.0+)?)?", re.ASCII)
CURRENCY = "€$£¥₹₽₩"
_BARE = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?", re.ASCII)
_DECORATED = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−–])?\s?(?:[{CURRENCY}]|USD|EUR|GBP|CHF|Fr\.)?\s?"
    r"(?P<sign2>[-+−–])?"
    r"(?P<digits>(?:\d[\d.,'’\u00a0\u202f ]*)?\d[.,]?|[.,]\d+)(?P<exponent>[eE][-+]?\d{1,3})?"
    rf"\s?(?:[{CURRENCY}%]|USD|EUR|GBP|CHF)?(?(open)\))",
    re.ASCII,
)
_INFINITE = re.compile(r"[-+]?inf(inity)?", re.IGNORECASE)
_OPEN_ENDED = re.compile(
    r"(?P<below><=?|≤|under|less than|up to|below|unter|bis|moins de|menos de)?"
    r"(?P<above>>=?|≥|over|more than|above|über|ab|plus de|más de)?\s*(?P<number>.*?\d.*?)\s*"
    r"(?P<more>\+|\*|or more|and over|and older|or older|und mehr|und älter|et plus|y más)?",
    re.IGNORECASE,
)
_MARKS = r"[.,'’\u00a0\u202f ]"


# -- cells as texts -----------------------------------------------------------------------------


def text_of(value: object) -> str:
    """Write a cell of any type as the text that stands for it; a missing one is empty.

    >>> [text_of(v) for v in (None, float("nan"), 3, 0.5, np.float32(0.7), Decimal("1.0"), True)]
    ['', '', '3', '0.5', '0.7', '1.0', 'True']
    """
    if isinstance(value, str):
        return value
    if value is None or value is np.ma.masked or _is_gap(value):
        return ""
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else str(value)
    if isinstance(value, dt.datetime):
        midnight = value.time() == dt.time() and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return text_of(value.astype("datetime64[us]").item())
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def _is_gap(value: object) -> bool:
    try:
        return bool(value != value)  # NaN, NaT
    except (TypeError, ValueError):
        return True  # pandas.NA says neither yes nor no


def plain(text: str) -> str:
    """Return a text in Unicode NFC without blanks around it."""
    text = text.strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def canonical(value: object, *, decimal: str = ".", compare: Compare = "value") -> str:
    """Return a text that is equal for two values if, and only if, the rule calls them the same.

    >>> canonical("-9") == canonical(-9.0), canonical("01") == canonical("1")
    (True, False)
    """
    text = plain(text_of(value))
    if compare == "text":
        return text
    if found := _PLAIN.fullmatch(text):
        number = _number_key(found, decimal)
        if number is not None:
            return f"\x00{number}"
    if found := _MIDNIGHT.fullmatch(text):
        return found[1]
    if (word := text.lower()) in ("true", "false"):
        return f"\x01{word}"
    return _folded(text) if compare == "folded" else text


def _folded(text: str) -> str:
    """Return a text without what differs by how it was typed: capitals, blanks, forms of a mark."""
    if not text.isascii():
        text = "".join(_typed(mark) for mark in text if unicodedata.category(mark) != "Cf")
    return " ".join(text.casefold().split())


def _typed(mark: str) -> str:
    if "\uff00" <= mark <= "\uffef":
        return unicodedata.normalize("NFKC", mark)
    return _FORMS.get(mark, mark)


def _number_key(found: re.Match[str], decimal: str) -> str | None:
    sign, whole, mark, rest = found.groups()
    if mark is not None and mark != decimal:
        return None
    rest = (rest or "").rstrip("0")
    digits = (whole or "0") + (f".{rest}" if rest else "")
    return digits if sign in ("", "+") or digits == "0" else f"-{digits}"


def same(one: object, other: object, *, decimal: str = ".", compare: Compare = "value") -> bool:
    """Tell whether two values are the same by the rule of this module.

    >>> same("-9", -9.0), same("01", 1), same(True, "TRUE"), same("w", " W", compare="folded")
    (True, False, True, True)
    """
    return canonical(one, decimal=decimal, compare=compare) == canonical(
        other, decimal=decimal, compare=compare
    )


# -- numbers ------------------------------------------------------------------------------------


def number(cell: str, decimal: str = ".") -> float | None:
    """Read a cell as a number; thousands marks, currency signs and a percent sign are put aside.

    >>> number("1,234.50"), number("1.234,50", ","), number("€ 12"), number("(3)")
    (1234.5, 1234.5, 12.0, -3.0)
    """
    cell = cell.strip()
    if decimal == "." and _BARE.fullmatch(cell):
        return float(cell)
    if _INFINITE.fullmatch(cell):
        return float(cell)
    found = _DECORATED.fullmatch(cell)
    if not found:
        return None
    digits = _plain_digits(found["digits"], decimal)
    if digits is None:
        return None
    value = float(digits + (found["exponent"] or ""))
    signs = (found["sign"] or "", found["sign2"] or "")
    negative = bool(found["open"]) or any(sign in ("-", "−", "–") for sign in signs)
    return -value if negative else value


def _plain_digits(digits: str, decimal: str) -> str | None:
    whole, mark, rest = digits.partition(decimal)
    if mark and not rest.isdigit() and rest:
        return None
    groups = re.split(_MARKS, whole)
    marks = set(re.findall(_MARKS, whole))
    if len(groups) > 1 and (len(marks) > 1 or decimal in marks or not _are_groups(groups)):
        return None
    return f"{''.join(groups) or '0'}.{rest or '0'}"


def _are_groups(groups: Sequence[str]) -> bool:
    """Tell digits in threes: 1,234,567."""
    return 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])


def open_ended(cell: str, decimal: str = ".") -> float | None:
    """Read "90+", "<5", "over 64" or "1,234*" as its number; None for a plain number or a text.

    >>> open_ended("90+"), open_ended("<5"), open_ended("1,234*"), open_ended("90"), open_ended("x")
    (90.0, 5.0, 1234.0, None, None)
    """
    found = _OPEN_ENDED.fullmatch(cell.strip())
    if not found or not any(found[name] for name in ("below", "above", "more")):
        return None
    return number(found["number"], decimal)
