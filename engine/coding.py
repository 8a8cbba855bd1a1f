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
values. Where an attribute holds numbers, a cell is the number it reads as, with
its decimal mark; a value of single precision is the shortest decimal that rounds to it, so 0.7 is
not below an edge at 0.7.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.attributes import Attribute, Compare
from engine.types import FloatArray, IntArray

BoolArray: TypeAlias = NDArray[np.bool_]
DROP, OUTSIDE, MISSING = -1, -2, -3
"""Codes of what has none: leave the record out; refuse a value; refuse a missing cell."""

_WHOLE_FLOATS = 2.0**53
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


# -- columns as codes ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Coded:
    """What some distinct texts mean for an attribute.

    Shapes:
        codes: (texts,), int64; ``DROP``, ``OUTSIDE`` or ``MISSING`` where there is none.
        undeclared: (texts,), whether it is no declared value, whatever its rule made of it.
    """

    codes: IntArray
    undeclared: BoolArray


def encode(
    attribute: Attribute, texts: Iterable[str], *, decimal: str = ".", missing: Iterable[str] = ()
) -> Coded:
    """Return the code of each distinct cell text under the attribute's declared rules.

    Args:
        attribute: What is declared.
        texts: Distinct texts; each is understood once, however many records hold it.
        decimal: Decimal mark of numbers among them.
        missing: What else means "missing" in this file, unless it is a declared value here.
    """
    texts = list(texts)
    meaning = _Meaning(attribute, decimal, missing)
    codes = np.empty(len(texts), np.int64)
    undeclared = np.zeros(len(texts), np.bool_)
    numbers = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        code = meaning.declared(text)
        if code is None and meaning.numeric:
            if meaning.large:
                code = _exact_code(attribute, text)
            else:
                found = number(text, decimal)
                numbers[i] = np.nan if found is None else found
        codes[i] = OUTSIDE if code is None else code
        undeclared[i] = code is None
    at = ~np.isnan(numbers)
    if at.any():
        codes[at], undeclared[at] = _number_codes(attribute, numbers[at])
    beyond = codes == OUTSIDE
    if attribute.outside == "other":
        codes[beyond] = meaning.other
    elif attribute.outside == "clamp" and beyond.any():
        _clamp_open_ended(attribute, texts, codes, decimal)
    return Coded(codes, undeclared)


def encode_numbers(
    attribute: Attribute, values: FloatArray, *, missing: Iterable[str] = ()
) -> Coded | None:
    """Return the code of each number, as ``encode`` would of its text; None if texts are needed.

    Millions of numbers are coded at once; only those that a label or a missing code may mean are
    looked at as texts.

    Args:
        attribute: What is declared.
        values: Numbers in double precision; NaN is a missing cell.
        missing: What else means "missing" in this file, unless it is a declared value here.

    Shapes:
        values: (n,), float64.
    """
    missing = tuple(missing)
    meaning = _Meaning(attribute, ".", missing)
    if not meaning.numeric or meaning.large:
        return None
    codes, undeclared = _number_codes(attribute, np.nan_to_num(values, nan=0.0))
    if attribute.outside == "other":
        codes[codes == OUTSIDE] = meaning.other
    named = [*meaning.exact, *meaning.codes]
    numbers = [found for found in map(number, named) if found is not None]
    if numbers:
        asked = np.flatnonzero(np.isin(values, numbers))
        texts, places = np.unique(values[asked], return_inverse=True)
        said = encode(attribute, [_decimal_text(v) for v in texts.tolist()], missing=missing)
        codes[asked], undeclared[asked] = said.codes[places], said.undeclared[places]
    gap = np.isnan(values)
    codes[gap], undeclared[gap] = meaning.gap, False
    return Coded(codes, undeclared)


def _decimal_text(value: float) -> str:
    whole = value.is_integer() and abs(value) < _WHOLE_FLOATS
    return str(int(value)) if whole else repr(value)


def _exact_code(attribute: Attribute, text: str) -> int | None:
    """Read a whole number of any length: floating point tells no neighbours apart there."""
    first, last = attribute.bounds or (0, 0)
    try:
        found = Decimal(plain(text).replace("−", "-"))
        whole = int(found)
    except (ArithmeticError, ValueError):
        return None
    if attribute.outside == "clamp" and not first <= found <= last:
        return 0 if found < first else last - first
    return whole - first if found == whole and first <= whole <= last else None


class _Meaning:
    """Labels and missing codes of one attribute, ready to be looked up."""

    def __init__(self, attribute: Attribute, decimal: str, missing: Iterable[str]) -> None:
        own = attribute.missing is not None and attribute.missing.rule == "category"
        self.attribute, self.decimal = attribute, decimal
        self.numeric = attribute.kind in ("integer", "numeric")
        self.large = max(map(abs, attribute.bounds or (0,))) > _WHOLE_FLOATS
        self.other = attribute.size - own - 1
        self.exact, self.alike = _labels(attribute, decimal)
        said = [text for text in missing if self._key(text) not in self.alike]
        codes = [*(attribute.missing.codes if attribute.missing else ()), *said]
        self.codes = frozenset(map(plain, codes))
        self.codes_alike = frozenset(map(self._key, codes))
        self.gap = self._gap()

    def _key(self, text: str) -> str:
        return canonical(text, decimal=self.decimal, compare=self.attribute.compare)

    def _gap(self) -> int:
        """Return the code of a missing cell."""
        rule = self.attribute.missing
        if rule is None:
            return MISSING
        if rule.rule == "drop":
            return DROP
        if rule.rule == "category":
            return self.attribute.size - 1
        text = rule.value or ""
        code = self._label(text)
        if code is None and self.numeric:
            found = number(text)
            code = int(_number_codes(self.attribute, np.array([found or 0.0]))[0][0])
            code = OUTSIDE if found is None else code
        if code is None or code == OUTSIDE:
            return self.other if self.attribute.outside == "other" else OUTSIDE
        return code

    def declared(self, text: str) -> int | None:
        """Return the code of a missing cell or a label, None for anything else."""
        stripped = plain(text)
        if (stripped == "" and "" not in self.exact) or stripped in self.codes:
            return self.gap
        if (code := self.exact.get(text, self.exact.get(stripped))) is not None:
            return code
        if self.codes_alike and self._key(text) in self.codes_alike:
            return self.gap
        return self.alike.get(self._key(text)) if self.alike else None

    def _label(self, text: str) -> int | None:
        return self.exact.get(text, self.exact.get(plain(text), self.alike.get(self._key(text))))


def _labels(attribute: Attribute, decimal: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return declared labels by their text, and by what makes another text the same."""
    values = attribute.values or ()
    exact = {value: code for code, value in enumerate(values)}
    exact |= {plain(v): c for v, c in exact.items() if plain(v) not in exact}
    alike: dict[str, int] = {}
    double: set[str] = set()
    for code, value in enumerate(values):
        key = canonical(value, decimal=decimal, compare=attribute.compare)
        if key in alike:
            double.add(key)
        alike[key] = code
    return exact, {key: code for key, code in alike.items() if key not in double}


def _number_codes(attribute: Attribute, values: FloatArray) -> tuple[IntArray, BoolArray]:
    """Return the codes of numbers (``OUTSIDE`` beyond the bounds) and which are undeclared."""
    if attribute.edges is not None:
        edges = np.array(attribute.edges)
        low, high = edges[0], edges[-1]
        fine = (values >= low) & (values <= high)
    else:
        low, high = (float(bound) for bound in attribute.bounds or (0, 0))
        fine = (values >= low) & (values <= high) & (values == np.floor(values))
        edges = None
    nearest = np.clip(values, low, high) if attribute.outside == "clamp" else values
    inside = (nearest >= low) & (nearest <= high)
    if edges is not None:
        bins = np.searchsorted(edges, nearest, side="right") - 1
        codes = np.minimum(bins, len(edges) - 2)
    else:
        inside &= nearest == np.floor(nearest)
        codes = np.where(inside, nearest - low, 0).astype(np.int64)
    return np.where(inside, codes, OUTSIDE), ~fine


def _clamp_open_ended(
    attribute: Attribute, texts: Sequence[str], codes: NDArray[Any], decimal: str
) -> None:
    """Count "90+" under the rule "clamp" as the value nearest to 90."""
    for i in np.flatnonzero(codes == OUTSIDE):
        found = open_ended(texts[int(i)], decimal)
        if found is not None:
            codes[i] = _number_codes(attribute, np.array([found]))[0][0]
