"""Values that have an order: known scales, bands of numbers, school years, seasons, dates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.coding import number
from engine.ingest import readings

_BELOW = (
    r"<=?|≤|under|less than|up to|below|at most|unter|bis unter|bis|weniger als|höchstens|moins de|"
    r"jusqu'à|menos de|hasta|meno di|fino a"
)
_ABOVE = (
    r">=?|≥|over|more than|above|at least|über|mehr als|mindestens|ab|plus de|au moins|más de|"
    r"mas de|più di|oltre"
)
_MORE = (
    r"\+|and (?:over|older|more|above|up)|or (?:more|older|over|above)|und (?:mehr|älter|darüber)|"
    r"oder (?:mehr|älter)|et plus|ou plus|y más|y mas|o más|o mas|e più|e oltre"
)
_UNIT = r"years?(?: old)?|yrs?|jahren?|ans?|años?|anni|hours?|stunden|€|\$|£|eur|usd|gbp|%"
_TIMES = {
    "k": 1e3, "tsd": 1e3, "tsd.": 1e3, "thousand": 1e3, "m": 1e6, "mio": 1e6, "mio.": 1e6,
    "mn": 1e6, "million": 1e6, "millionen": 1e6, "bn": 1e9, "mrd": 1e9, "mrd.": 1e9, "billion": 1e9,
}  # fmt: skip
_AMOUNT = r"[$€£]?\s?(\d[\d.,'’\u00a0\u202f]*)\s?(" + "|".join(map(re.escape, _TIMES)) + r")?"
_BAND = re.compile(
    rf"\s*(?P<below>{_BELOW})?(?P<above>{_ABOVE})?\s*{_AMOUNT}\s?(?:{_UNIT})?"
    rf"(?:\s*(?:-|–|—|to|until|and|bis unter|bis|und|à|a|et|hasta|y|\.\.|…|<)\s*{_AMOUNT}\s?"
    rf"(?:{_UNIT})?)?\s*(?P<more>{_MORE})?\s*(?:{_UNIT})?\s*",
    re.IGNORECASE,
)
_SCHOOL_YEAR = re.compile(r"(\d{4})\s?[-/–]\s?(\d{2}|\d{4})", re.ASCII)
_SEASONS = {
    name: i
    for i, names in enumerate(
        (
            "spring frühling frühjahr printemps primavera",
            "summer sommer été verano estate",
            "autumn fall herbst automne otoño autunno",
            "winter hiver invierno inverno",
        )
    )
    for name in names.split()
}
_SEASON = re.compile(r"([^\W\d_]+)(?:[ ,/-]+(\d{4})(?:[-/]\d{2,4})?)?")
_SEASON_LAST = re.compile(r"(\d{4})[ ,/-]+([^\W\d_]+)")
_WEEKDAYS = tuple(
    tuple(names.split())
    for names in (
        "mon tue wed thu fri sat sun",
        "mon tues wed thurs fri sat sun",
        "monday tuesday wednesday thursday friday saturday sunday",
        "mo di mi do fr sa so",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "montag dienstag mittwoch donnerstag freitag sonnabend sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "lun mar mer jeu ven sam dim",
        "lun mar mié jue vie sáb dom",
        "ma di wo do vr za zo",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        "mån tis ons tors fre lör sön",
        "måndag tisdag onsdag torsdag fredag lördag söndag",
        "mandag tirsdag onsdag torsdag fredag lørdag søndag",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
        "segunda terça quarta quinta sexta sábado domingo",
        "poniedziałek wtorek środa czwartek piątek sobota niedziela",
        "понедельник вторник среда четверг пятница суббота воскресенье",
    )
)
_LIKERT: tuple[tuple[str, ...], ...] = (
    ("never", "rarely", "seldom", "sometimes", "occasionally", "often", "usually", "always"),
    ("never", "almost never", "rarely", "sometimes", "often", "very often", "almost always",
     "always"),
    ("strongly disagree", "disagree", "somewhat disagree", "slightly disagree",
     "neither agree nor disagree", "neither", "neutral", "slightly agree", "somewhat agree",
     "agree", "strongly agree"),
    ("completely disagree", "mostly disagree", "disagree", "neutral", "agree", "mostly agree",
     "completely agree"),
    ("very dissatisfied", "dissatisfied", "somewhat dissatisfied", "neutral",
     "neither satisfied nor dissatisfied", "somewhat satisfied", "satisfied", "very satisfied"),
    ("very unlikely", "unlikely", "neutral", "likely", "very likely"),
    ("not at all", "a little", "slightly", "somewhat", "moderately", "quite", "very", "very much",
     "extremely"),
    ("not important", "slightly important", "important", "very important"),
    ("much worse", "worse", "about the same", "same", "the same", "better", "much better"),
    ("none", "very low", "low", "medium", "moderate", "average", "high", "very high"),
    ("very bad", "bad", "very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("xs", "extra small", "s", "small", "m", "medium", "l", "large", "xl", "extra large", "xxl"),
    ("too little", "about right", "too much"),
    ("daily", "weekly", "monthly", "quarterly", "yearly", "never"),
    ("stimme überhaupt nicht zu", "stimme gar nicht zu", "stimme nicht zu",
     "stimme eher nicht zu", "teils/teils", "teils teils", "neutral", "unentschieden",
     "stimme eher zu", "stimme zu", "stimme voll zu", "stimme voll und ganz zu"),
    ("trifft überhaupt nicht zu", "trifft gar nicht zu", "trifft nicht zu",
     "trifft eher nicht zu", "teils/teils", "trifft eher zu", "trifft zu",
     "trifft voll und ganz zu"),
    ("sehr unzufrieden", "unzufrieden", "eher unzufrieden", "neutral", "teils/teils",
     "eher zufrieden", "zufrieden", "sehr zufrieden"),
    ("nie", "selten", "manchmal", "gelegentlich", "oft", "häufig", "meistens", "immer"),
    ("niedrig", "mittel", "hoch"),
    ("sehr schlecht", "schlecht", "mittelmäßig", "gut", "sehr gut"),
    ("pas du tout d'accord", "plutôt pas d'accord", "pas d'accord", "neutre",
     "ni d'accord ni pas d'accord", "plutôt d'accord", "d'accord", "tout à fait d'accord"),
    ("jamais", "rarement", "parfois", "souvent", "toujours"),
    ("muy en desacuerdo", "en desacuerdo", "neutral", "ni de acuerdo ni en desacuerdo",
     "de acuerdo", "muy de acuerdo"),
    ("nunca", "raramente", "a veces", "a menudo", "siempre"),
    ("first", "second", "third", "fourth", "fifth"),
    ("1st", "2nd", "3rd", "4th", "5th"),
    ("travel_rarely", "travel_frequently"),
    ("pas du tout d'accord", "tout à fait en désaccord", "plutôt en désaccord", "en désaccord",
     "neutre", "plutôt d'accord", "d'accord", "tout à fait d'accord"),
    ("totalmente en desacuerdo", "muy en desacuerdo", "en desacuerdo", "neutral",
     "ni de acuerdo ni en desacuerdo", "de acuerdo", "muy de acuerdo", "totalmente de acuerdo"),
    ("discordo totalmente", "discordo", "não concordo nem discordo", "neutro", "concordo",
     "concordo totalmente"),
    ("helemaal mee oneens", "zeer mee oneens", "mee oneens", "oneens", "neutraal",
     "niet mee eens, niet mee oneens", "eens", "mee eens", "zeer mee eens", "helemaal mee eens"),
    ("per niente d'accordo", "poco d'accordo", "né d'accordo né in disaccordo",
     "abbastanza d'accordo", "d'accordo", "molto d'accordo"),
    ("disagree strongly", "disagree", "neither agree nor disagree", "neither", "agree",
     "agree strongly"),
    ("not at all", "a little", "not much", "somewhat", "some", "quite a bit", "a lot",
     "a great deal"),
    ("never", "less than once a year", "once a year", "a few times a year",
     "less than once a month", "less often", "once a month", "monthly", "2-3 times a month",
     "once a week", "weekly", "several times a week", "every day", "daily",
     "several times a day"),
    ("sehr gut", "gut", "befriedigend", "ausreichend", "mangelhaft", "ungenügend"),
    ("no education", "none", "primary", "lower secondary", "secondary", "upper secondary",
     "post-secondary", "tertiary", "higher"),
    ("very low", "low", "med", "high", "very high"), ("low", "mid", "high"),
    ("muy bajo", "bajo", "medio", "alto", "muy alto"),
    ("très faible", "faible", "moyen", "élevé", "très élevé"),
    ("zeer laag", "laag", "midden", "gemiddeld", "hoog", "zeer hoog"),
    ("basso", "medio", "alto"), ("baixo", "médio", "alto"),
    ("lt high school", "high school", "junior college", "bachelor", "graduate"),
)  # fmt: skip
_NUMBERED = re.compile(r"\(?(\d{1,3})\s*(?:[-–.:=)]\s*\S.*)?", re.DOTALL)
_QUARTER_FIRST = re.compile(r"[qtk]([1-4])[ -/]?(\d{4})")
_QUARTER_LAST = re.compile(r"(\d{4})[ -/]?[qtk]([1-4])")
_SCALES = (*_LIKERT, *_WEEKDAYS)
_ASIDE = re.compile(
    r"do(?:n['’]?t| not) know|dk|not sure|unsure|no opinion|refused|refusal|no answer|"
    r"not answered|not applicable|does not apply|prefer not to (?:say|answer)|rather not say|"
    r"can['’]?t choose|undecided|other|weiß (?:ich )?nicht|keine (?:angabe|antwort|meinung)|"
    r"k\. ?a\.|trifft nicht zu \(filter\)|sonstiges?|andere|ne sa(?:it|is) pas|nsp|"
    r"sans (?:avis|réponse)|autre|no sabe|ns/nc|no contesta|no sé|otro|non so",
    re.IGNORECASE,
)


def is_aside(value: str) -> bool:
    """Tell whether a value stands beside a scale and not on it: "Don't know", "Refused"."""
    return _ASIDE.fullmatch(value.strip()) is not None or readings.is_missing_token(value)


def is_scale(values: Sequence[str], label: str) -> bool:
    """Tell whether values are steps of one scale."""
    plain = [v.casefold().strip() for v in values if not is_aside(v)]
    if len(plain) < 2 or len(values) < 3:
        return False
    if _scale_of([v.casefold().strip() for v in values]) is not None:
        return True
    if _scale_of(plain) is not None or is_school_years(plain) or _are_seasons(plain):
        return True
    if _steps(plain) is not None or all(_quarter(v) is not None for v in plain):
        return True
    if re.search(r"grade", label, re.IGNORECASE) and all(
        re.fullmatch(r"[a-g][1-5+-]?", v) for v in plain
    ):
        return True
    bands = [v for v in plain if _band(v) is not None]
    real = [v for v in bands if not readings.is_number(v)]
    return len(real) >= 2 and len(bands) >= len(plain) - 1


def is_bands(values: Sequence[str]) -> bool:
    """Tell whether all values are bands of numbers, and at least two of them are no plain numbers.

    >>> is_bands(["18-24", "25-44", "45+"]), is_bands(["2019", "2020"])
    (True, False)
    """
    bands = [value for value in values if _band(value.casefold()) is not None]
    return len(bands) == len(values) and sum(not readings.is_number(v) for v in bands) >= 2


def is_school_years(values: Sequence[str]) -> bool:
    """Tell whether values are years that run over two: 2009-10, 2010-11.

    >>> is_school_years(["2009-10", "2010-11"]), is_school_years(["2009-10", "2010-12"])
    (True, False)
    """
    return len(values) > 1 and all(_school_year(value) is not None for value in values)


def _school_year(value: str) -> int | None:
    found = _SCHOOL_YEAR.fullmatch(value.strip())
    if not found:
        return None
    first, second = int(found[1]), int(found[2])
    follows = second == (first + 1 if len(found[2]) == 4 else (first + 1) % 100)
    return first if follows else None


def _are_seasons(values: Sequence[str]) -> bool:
    return len(values) > 1 and all(_season(value) is not None for value in values)


def _season(value: str) -> float | None:
    value = value.casefold().strip()
    if (found := _SEASON.fullmatch(value)) and found[1] in _SEASONS:
        return 10 * int(found[2] or 0) + _SEASONS[found[1]]
    if (found := _SEASON_LAST.fullmatch(value)) and found[2] in _SEASONS:
        return 10 * int(found[1]) + _SEASONS[found[2]]
    return None


def _quarter(value: str) -> int | None:
    value = value.casefold().strip()
    if found := _QUARTER_FIRST.fullmatch(value):
        return 4 * int(found[2]) + int(found[1])
    found = _QUARTER_LAST.fullmatch(value)
    return 4 * int(found[1]) + int(found[2]) if found else None


def _steps(values: Sequence[str]) -> dict[str, int] | None:
    """Return the number that each value begins with ("1 - never"), where they number steps."""
    found = {value: _NUMBERED.fullmatch(value) for value in values}
    steps = {value: int(hit[1]) for value, hit in found.items() if hit}
    worded = sum(not value.isdecimal() for value in steps)
    if len(steps) < len(found) or not worded or len(set(steps.values())) < len(steps):
        return None
    return steps if max(steps.values()) - min(steps.values()) <= 2 * len(steps) + 90 else None


def _scale_of(plain: Sequence[str]) -> dict[str, int] | None:
    """Return the place of each value on the one known scale that holds them all."""
    held = set(plain)
    if len(held) < 2:
        return None
    for scale in _SCALES:
        if held <= set(scale):
            return {step: i for i, step in enumerate(scale)}
    months = {value: readings.MONTHS.get(value.rstrip(".")) for value in held}
    if all(months.values()):
        return {value: month or 0 for value, month in months.items()}
    return None


def _band(value: str) -> tuple[float, int] | None:
    """Return where a number or a range of numbers begins, and whether it is below or above it.

    Ranges rise ("18-24", not "01-17").
    """
    found = _BAND.fullmatch(value)
    if not found or re.search(r"(?<![\d.,])0\d", value):
        return None
    first, times, second, more = (found[i] for i in (3, 4, 5, 6))
    if second is not None:
        times = times or more if _amount(first, "") else times
    start = _amount(first, times)
    if start is None:
        return None
    if second is not None:
        end = _amount(second, more)
        if end is None or start >= end:
            return None
    below = found["below"] and second is None
    above = found["above"] or found["more"]
    return start, -1 if below else 1 if above else 0


def _amount(digits: str, times: str | None) -> float | None:
    found = number(digits.rstrip(".,"))
    if found is None:
        found = number(digits.rstrip(".,"), ",")
    return None if found is None else found * _TIMES.get((times or "").casefold(), 1.0)


# -- order --------------------------------------------------------------------------------------


def ordered(values: Sequence[str], decimal: str = ".") -> tuple[str, ...]:
    """Put values in the order a person expects: by number, by a known scale, by the alphabet.

    What stands beside a scale ("Don't know") comes last.

    >>> ordered(["10", "9", "x"]), ordered(["high", "low"]), ordered(["65+", "18-24", "<18"])
    (('9', '10', 'x'), ('low', 'high'), ('<18', '18-24', '65+'))
    """
    steps = [value for value in values if not is_aside(value)]
    aside = [value for value in values if is_aside(value)]
    scale = _scale_of([value.casefold().strip() for value in values])
    if scale is not None:  # "none" may be a step
        whole = scale
        return tuple(sorted(values, key=lambda v: whole[v.casefold().strip()]))
    scale = _scale_of([value.casefold().strip() for value in steps])
    if scale is not None:
        some = scale
        steps.sort(key=lambda v: some[v.casefold().strip()])
        return (*steps, *sorted(aside, key=lambda v: _order(v, decimal)))
    numbered = _steps(steps)
    if numbered is not None and len(steps) > 1:
        places = numbered
        steps.sort(key=lambda v: places[v])
        return (*steps, *sorted(aside, key=lambda v: _order(v, decimal)))
    if is_scale(values, ""):
        steps.sort(key=lambda v: _order(v, decimal))
        return (*steps, *sorted(aside, key=lambda v: _order(v, decimal)))
    return tuple(sorted(values, key=lambda value: _order(value, decimal)))


def _order(value: str, decimal: str) -> tuple[int, float, int, list[tuple[int, int, str]], str]:
    found = number(value, decimal)
    if found is not None:
        return 0, found, 0, [], value
    if band := _band(value.casefold()):
        return 0, band[0], band[1], [], value
    if (year := _school_year(value)) is not None:
        return 1, float(year), 0, [], value
    if (season := _season(value)) is not None:
        return 1, season, 0, [], value
    if (quarter := _quarter(value)) is not None:
        return 1, float(quarter), 0, [], value
    day = readings.date(value, day_first=True)
    if day is not None:
        return 1, float(day.toordinal()), 0, [], value
    # "item 10" after "item 9".
    parts = re.findall(r"\d+|\D+", value.casefold())
    return 2, 0.0, 0, [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts], value
