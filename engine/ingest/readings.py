"""What a cell's text may be read as: a number, a date, a yes or no, a sign for "missing"."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from typing import Literal

Decimal = Literal[".", ","]

MISSING_TOKENS = frozenset(
    {
        "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NAN", "NULL", "null", "Null", "None",
        "none", "NONE", "?", "-", "--", ".", "..", "...", "*", "#NULL!", "#DIV/0!", "#VALUE!",
        "#REF!", "<NA>", "missing", "Missing", "(missing)", "unknown", "Unknown", "k.A.",
        "keine Angabe", "N.A.", "n.a.",
    }
)  # fmt: skip
"""Texts that often mean "no answer". They are public words, so a message may show them."""

_CURRENCY = "€$£¥₹₽₩"
_BARE = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?", re.ASCII)
_DECORATED = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−])?\s?(?:[{_CURRENCY}]|USD|EUR|GBP|CHF|Fr\.)?\s?(?P<sign2>[-+−])?"
    r"(?P<digits>(?:\d[\d.,'’\u00a0\u202f ]*)?\d[.,]?|[.,]\d+)(?P<exponent>[eE][-+]?\d{1,3})?"
    rf"\s?(?:[{_CURRENCY}%]|USD|EUR|GBP|CHF)?(?(open)\))",
    re.ASCII,
)
_INFINITE = re.compile(r"[-+]?inf(inity)?", re.IGNORECASE)


def is_missing_token(cell: str) -> bool:
    """Tell whether a cell is empty or a common sign for "missing"."""
    cell = cell.strip()
    return not cell or cell in MISSING_TOKENS


def is_number(cell: str) -> bool:
    """Tell whether a cell reads as a number with either decimal mark."""
    return number(cell, ".") is not None or number(cell, ",") is not None


def number(cell: str, decimal: str = ".") -> float | None:
    """Read a cell as a number; thousands marks, currency signs and a percent sign are put aside.

    >>> number("1,234.50"), number("1.234,50", ","), number("€ 12"), number("(3)"), number("7 kg")
    (1234.5, 1234.5, 12.0, -3.0, None)
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
    negative = bool(found["open"]) or any(sign in ("-", "−") for sign in signs)
    return -value if negative else value


def _plain_digits(digits: str, decimal: str) -> str | None:
    whole, mark, rest = digits.partition(decimal)
    if mark and not rest.isdigit() and rest:
        return None
    groups = re.split(r"[.,'’\u00a0\u202f ]", whole)
    marks = set(re.findall(r"[.,'’\u00a0\u202f ]", whole))
    if len(groups) > 1 and (
        len(marks) > 1
        or decimal in marks
        or not 1 <= len(groups[0]) <= 3
        or any(len(group) != 3 for group in groups[1:])
    ):
        return None
    return f"{''.join(groups) or '0'}.{rest or '0'}"


def is_plain_number(cell: str) -> bool:
    """Tell whether Python itself reads the cell as a number."""
    return _BARE.fullmatch(cell.strip()) is not None


def decimal_votes(cells: Iterable[str]) -> tuple[int, int, int]:
    """Count the cells that can only have a decimal comma, only a point, and either.

    >>> decimal_votes(["1,5", "0.25", "1,234", "12"])
    (1, 1, 1)
    """
    comma = point = either = 0
    for cell in cells:
        cell = cell.strip().strip(_CURRENCY + "% ")
        if "," not in cell and "." not in cell:
            continue
        as_point, as_comma = number(cell, "."), number(cell, ",")
        if as_comma is not None and as_point is None:
            comma += 1
        elif as_point is not None and as_comma is None:
            point += 1
        elif as_point is not None and as_point != as_comma:
            either += 1
    return comma, point, either


# -- dates --------------------------------------------------------------------------------------

_MONTHS = {
    name: i
    for i, names in enumerate(
        (
            "jan january januar janvier", "feb february februar", "mar march märz mrz",
            "apr april avril",
            "may mai", "jun june juni juin", "jul july juli juillet", "aug august août",
            "sep sept september", "oct october oktober okt", "nov november",
            "dec december dezember dez",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_CLOCK = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:[AaPp][Mm])?(?:Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}}){_CLOCK}", re.ASCII)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){_CLOCK}", re.ASCII)
_YEAR_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])", re.ASCII)
_QUARTER = re.compile(r"(\d{4})[ -]?Q([1-4])", re.ASCII)
_NAMED = re.compile(
    rf"(?:(\d{{1,2}})[ .-]{{1,2}})?([^\W\d_]{{3,9}})\.?[ ,.-]{{1,2}}"
    rf"(?:(\d{{1,2}}), )?(\d{{4}}|\d{{2}}){_CLOCK}"
)


def is_date(cell: str) -> bool:
    """Tell whether a cell reads as a day or a month, whichever comes first."""
    return date(cell, day_first=True) is not None or date(cell, day_first=False) is not None


def date(cell: str, *, day_first: bool) -> dt.date | None:
    """Read a cell as a date; a month or a quarter alone gives its first day.

    >>> date("3/4/2020", day_first=True), date("Mar-2018", day_first=False)
    (datetime.date(2020, 4, 3), datetime.date(2018, 3, 1))
    """
    cell = cell.strip()
    if len(cell) < 6 or len(cell) > 40:
        return None
    try:
        return _date(cell, day_first)
    except ValueError:
        return None


def _date(cell: str, day_first: bool) -> dt.date | None:
    if found := _YEAR_FIRST.fullmatch(cell):
        return dt.date(int(found[1]), int(found[2]), int(found[3]))
    if found := _YEAR_LAST.fullmatch(cell):
        first, second = int(found[1]), int(found[3])
        day, month = (first, second) if day_first else (second, first)
        return dt.date(_century(found[4]), month, day)
    if found := _YEAR_MONTH.fullmatch(cell):
        return dt.date(int(found[1]), int(found[2]), 1)
    if found := _QUARTER.fullmatch(cell):
        return dt.date(int(found[1]), 3 * int(found[2]) - 2, 1)
    if (found := _NAMED.fullmatch(cell)) and found[2].lower() in _MONTHS:
        day = int(found[1] or found[3] or 1)
        return dt.date(_century(found[4]), _MONTHS[found[2].lower()], day)
    return None


def _century(year: str) -> int:
    number = int(year)
    return number if len(year) == 4 else 2000 + number if number < 50 else 1900 + number


def first_is_day(cells: Iterable[str]) -> tuple[bool | None, bool]:
    """Tell from the cells whether the day stands first: True, False, or None where nothing tells.

    Returns:
        The answer, and whether the cells contradict each other.
    """
    day = month = False
    for cell in cells:
        if found := _YEAR_LAST.fullmatch(cell.strip()):
            day |= int(found[1]) > 12
            month |= int(found[3]) > 12
            if found[2] == "." and not month:
                day = True
    return (None if day == month else day), day and month


# -- yes and no ---------------------------------------------------------------------------------

_PAIRS = (
    {"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"0", "1"}, {"ja", "nein"},
    {"j", "n"},
    {"oui", "non"}, {"si", "no"}, {"sí", "no"}, {"on", "off"}, {"0.0", "1.0"}, {"wahr", "falsch"},
    {"vrai", "faux"},
)  # fmt: skip


def is_yes_no(values: Iterable[str]) -> bool:
    """Tell whether two values are the two answers of a yes-or-no question."""
    return {value.casefold() for value in values} in _PAIRS
