"""What a cell's text may be read as: a number, a date, a yes or no, a sign for "missing"."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from typing import Literal

from engine.coding import CURRENCY, number

__all__ = [
    "MISSING_TOKENS",
    "date",
    "decimal_votes",
    "first_is_day",
    "is_date",
    "is_missing_token",
    "is_number",
    "is_yes_no",
    "number",
]

Decimal = Literal[".", ","]

MISSING_TOKENS = frozenset(
    {
        "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NAN", "NULL", "null", "Null", "None",
        "none", "NONE", "?", "-", "--", ".", "..", "...", "*", "#NULL!", "#DIV/0!", "#VALUE!",
        "#REF!", "<NA>", "missing", "Missing", "(missing)", "unknown", "Unknown", "k.A.",
        "keine Angabe", "N.A.", "n.a.", "Don't know", "don't know", "Don't Know", "Dont know",
        "Refused", "refused", "No answer", "no answer", "Not applicable", "Prefer not to say",
        "weiß nicht", "Weiß nicht", "DK", "ne sait pas", "no sabe", "NS/NC",
    }
)  # fmt: skip
"""Texts that often mean "no answer". They are public words, so a message may show them."""


WORDS = (
    r"(?i)\(?(?:do(?:n['’]?t|es ?n['’]?t| not) know|refused|refusal|"
    r"no answer|not answered|no response|not applicable|not available|not asked|"
    r"not stated|not reported|not recorded|system missing|prefer not to (?:say|answer)|"
    r"missing|unknown|blank|empty|leer|keine angabe|keine antwort|"
    r"k\. ?a\.|weiß (?:ich )?nicht|weiss (?:ich )?nicht|unbekannt|verweigert|entfällt|"
    r"sans réponse|non[- ]réponse|ne sait pas|ne se prononce pas|non renseignée?|inconnue?|"
    r"no sabe|no contesta|sin respuesta|sin dato|sin datos|desconocido|não sabe|não respondeu|"
    r"sem resposta|non sa|non risponde|non risposta|weet niet|geen antwoord|onbekend|"
    r"vet ej|vet inte|ej svar|ved ikke|vet ikke|ikke oppgitt|uoplyst|en osaa sanoa|"
    r"brak danych|nie wiem|odmowa|nevím|nem tudja|bilmiyorum|не знаю|нет ответа|нет данных|"
    r"затрудняюсь ответить|不知道|不明|無回答|未回答|わからない|모름|무응답)\)?"
)
"""The same in whole words, in whatever capitals (as Arrow's expressions are written, too)."""
_WORDS = re.compile(WORDS)


def is_missing_token(cell: str) -> bool:
    """Tell whether a cell is empty or a common sign for "missing"."""
    cell = cell.strip()
    return (
        not cell
        or cell in MISSING_TOKENS
        or is_extended_missing(cell)
        or (len(cell) < 40 and _WORDS.fullmatch(cell) is not None)
    )


def is_extended_missing(cell: str) -> bool:
    """Tell whether a cell is a missing code of Stata or SAS: ``.a`` to ``.z``, ``._``.

    >>> is_extended_missing(".a"), is_extended_missing(".ab")
    (True, False)
    """
    return len(cell) == 2 and cell[0] == "." and (cell[1] == "_" or cell[1:].isalpha())


def is_number(cell: str) -> bool:
    """Tell whether a cell reads as a number with either decimal mark."""
    return number(cell, ".") is not None or number(cell, ",") is not None


def decimal_votes(cells: Iterable[str]) -> tuple[int, int, int]:
    """Count the cells that can only have a decimal comma, only a point, and either.

    >>> decimal_votes(["1,5", "0.25", "1,234", "12"])
    (1, 1, 1)
    """
    comma = point = either = 0
    for cell in cells:
        cell = cell.strip().strip(CURRENCY + "% ")
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

MONTHS = {
    name: i
    for i, names in enumerate(
        (
            "jan january januar jänner janvier enero ene gennaio januari janeiro styczeń leden "
            "tammikuu ocak январь января",
            "feb february februar février fév febrero febbraio februari fevereiro fev luty únor "
            "helmikuu şubat февраль февраля",
            "mar march märz mrz mär mars marzo maart mrt março marzec březen maaliskuu mart март "
            "марта",
            "apr april avril avr abril abr aprile kwiecień duben huhtikuu nisan апрель апреля",
            "may mai mayo maggio mei maj maio květen toukokuu mayıs май мая",
            "jun june juni juin junio giugno junho czerwiec červen kesäkuu haziran июнь июня",
            "jul july juli juillet juil julio luglio julho lipiec červenec heinäkuu temmuz июль "
            "июля",
            "aug august août agosto ago augustus augusti sierpień srpen elokuu ağustos август "
            "августа",
            "sep sept september septembre septiembre settembre setembro wrzesień září syyskuu "
            "eylül сентябрь сентября",
            "oct october oktober okt octobre octubre ottobre outubro out październik říjen "
            "lokakuu ekim октябрь октября",
            "nov november novembre noviembre novembro listopad marraskuu kasım ноябрь ноября",
            "dec december dezember dez décembre déc diciembre dic dicembre dezembro grudzień "
            "prosinec joulukuu aralık декабрь декабря",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_CLOCK = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:[AaPp][Mm])?(?:Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}}){_CLOCK}", re.ASCII)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){_CLOCK}", re.ASCII)
_YEAR_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])", re.ASCII)
_WEEKDAY = re.compile(r"[^\W\d_]{2,10}\.?,? (?=\d)|[^\W\d_]{2,10}\.?, (?=[^\W\d_])")
_OF = re.compile(r"(\d{1,2}) de ([^\W\d_]{3,10}) (?:de|del) (\d{4})", re.IGNORECASE)
_PACKED = re.compile(
    r"(1[89]\d\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"
    r"(?:[ T]?(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?Z?)?",
    re.ASCII,
)
_PACKED_NAMED = re.compile(
    r"(\d{1,2})([^\W\d_]{3})(\d{4}|\d{2})(?::\d{2}:\d{2}:\d{2}(?:\.\d+)?)?", re.ASCII
)
_QUARTER = re.compile(r"(\d{4})[ -]?Q([1-4])", re.ASCII)
_NAMED = re.compile(
    rf"(?:(\d{{1,2}})[ .-]{{1,2}})?([^\W\d_]{{3,12}})\.?[ ,.-]{{1,2}}"
    rf"(?:(\d{{1,2}}), )?(\d{{4}}|\d{{2}}){_CLOCK}"
)


def is_packed_date(cell: str) -> bool:
    """Tell whether a cell is digits that make a day, with or without a time: 19450328."""
    return _PACKED.fullmatch(cell.strip()) is not None and is_date(cell)


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
    if found := _PACKED.fullmatch(cell):
        return dt.date(int(found[1]), int(found[2]), int(found[3]))
    if (found := _PACKED_NAMED.fullmatch(cell)) and found[2].lower() in MONTHS:
        return dt.date(_century(found[3]), MONTHS[found[2].lower()], int(found[1]))
    if found := _OF.fullmatch(cell):
        cell = f"{found[1]} {found[2]} {found[3]}"
    elif _WEEKDAY.match(cell) and not _NAMED.fullmatch(cell):
        return _date(_WEEKDAY.sub("", cell, count=1), day_first)
    if (found := _NAMED.fullmatch(cell)) and found[2].lower() in MONTHS:
        day = int(found[1] or found[3] or 1)
        return dt.date(_century(found[4]), MONTHS[found[2].lower()], day)
    return None


def _century(year: str) -> int:
    number = int(year)
    return number if len(year) == 4 else 2000 + number if number < 50 else 1900 + number


def has_short_year(cell: str) -> bool:
    """Tell whether the year of a date has two digits only, so that its century is a guess.

    >>> has_short_year("3.4.31"), has_short_year("3.4.1931")
    (True, False)
    """
    for pattern, group in ((_YEAR_LAST, 4), (_PACKED_NAMED, 3), (_NAMED, 4)):
        if found := pattern.fullmatch(cell.strip()):
            return len(found[group]) == 2
    return False


def mixes_units(cells: Iterable[str]) -> bool:
    """Tell whether numbers have several currencies, or a percent sign in some cells only.

    >>> mixes_units(["€ 5", "$ 5"]), mixes_units(["5%", "0.05"]), mixes_units(["€ 5", "5"])
    (True, True, False)
    """
    signs, plain = set(), False
    for cell in cells:
        held = set(re.findall(rf"[{CURRENCY}%]|USD|EUR|GBP|CHF", cell))
        signs |= held
        plain |= not held
    return len(signs) > 1 or (signs == {"%"} and plain)


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
