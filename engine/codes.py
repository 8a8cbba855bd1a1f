"""Columns as codes: what a declared attribute makes of distinct texts, and of many numbers at once.

When a text is the same as a label or a missing code is said in ``coding``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.attributes import Attribute
from engine.coding import canonical, number, open_ended, plain
from engine.types import FloatArray, IntArray

BoolArray: TypeAlias = NDArray[np.bool_]
DROP, OUTSIDE, MISSING = -1, -2, -3
"""Codes of what has none: leave the record out; refuse a value; refuse a missing cell."""

_WHOLE_FLOATS = 2.0**53


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
