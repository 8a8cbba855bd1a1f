"""What a person is asked about the columns of a table: each with answers that a page can offer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.coding import canonical, number
from engine.errors import DataError
from engine.ingest import readings
from engine.ingest.notes import Note, Offer, counted, lines_text, were
from engine.ingest.preview import Preview
from engine.ingest.proposal import Proposal
from engine.ingest.scales import is_bands

LOOKED_AT = 200
"""Columns that are asked about; a page shows no more."""
_COUNT_NAME = re.compile(
    r"[_.]*(n|nr|no|count|counts|freq|frequency|frequencies|number|persons|people|cases|obs|"
    r"observations|respondents|population|total|weight|anzahl|häufigkeit|fälle|personen|"
    r"bevölkerung|effectifs?|nombre|numero|número|frecuencia|cantidad|población|conteggio|"
    r"frequenza|numerosità|quantidade|frequência|população|aantal|frequentie|antal|antall|lukumäärä|"
    r"liczba|liczebność|počet|число|количество|численность|人数|人口)"
    r"([\s_.-]?(of[\s_.-])?(persons|people|cases|rows|records|obs|observations))?[_.]*",
    re.IGNORECASE,
)
_SHARE_NAME = re.compile(
    r"%|per ?cent|share|proportion|rate|anteil|prozent|pourcentage|porcentaje", re.IGNORECASE
)
_THOUSANDS = re.compile(r"[-+]?(?!0\.)\d{1,3}(\.\d{3})+", re.ASCII)


def questions(preview: Preview) -> Iterator[Note]:
    """Yield what is to be asked about the first columns."""
    proposals = preview.attributes(*preview.labels[:LOOKED_AT])
    if preview.choices.get("counts") is None:
        yield from _counted_already(preview, proposals)
        yield from _cross_table(preview, proposals)
    if preview.choices.get("person") is None:
        yield from _whose_row(proposals)
    for proposal in proposals:
        yield from _column_questions(preview, proposal)
    decomposed = sum(proposal.decomposed for proposal in proposals)
    if decomposed:
        yield Note(
            "W_DECOMPOSED",
            f"{counted(decomposed, 'cell')} {were(decomposed, 'writes', 'write')} letters and "
            "their accents as characters of their own; such spellings of one text are counted as "
            "one value (Unicode NFC).",
            columns=tuple(p.column for p in proposals if p.decomposed)[:5],
        )


def _named(proposal: Proposal) -> str:
    return f"Column {int(proposal.column[1:]) + 1}"


def _column_questions(preview: Preview, proposal: Proposal) -> Iterator[Note]:
    yield from _code_questions(preview, proposal)
    yield from _spelling_questions(preview, proposal)
    yield from _date_questions(preview, proposal)
    yield from _number_questions(proposal)


def _code_questions(preview: Preview, proposal: Proposal) -> Iterator[Note]:
    column, label = (proposal.column,), proposal.label
    if proposal.own_codes:
        cells = cells_of(preview, proposal, proposal.own_codes)
        alone = len(proposal.own_codes) == 1
        now = "as a value of their own" if alone else "at the nearest bound of its values"
        other = (
            Offer("Count them at the nearest bound", {}, label, {"outside": "clamp"})
            if alone
            else Offer("Count them as a value of their own", {}, label, {"outside": "other"})
        )
        yield Note(
            "W_TOP_CODES",
            f"{_named(proposal)} holds texts among its numbers in {counted(cells, 'cell')}, such "
            f"as an open end (80+, <5): counted {now}, not as missing.",
            columns=column,
            choice="outside",
            offers=(
                other,
                Offer("They mean missing", {}, label, {"missing_codes": proposal.own_codes}),
            ),
        )
    codes = tuple(c for c in proposal.may_be_missing if not readings.is_missing_token(c))
    if codes:
        cells = cells_of(preview, proposal, codes)
        named = ", ".join(codes)
        yield Note(
            "W_MISSING_CODES",
            f"{_named(proposal)} holds {named} in {counted(cells, 'cell')}, apart from its other "
            "values: codes that often mean missing. Nothing is changed until you say that they do.",
            columns=column,
            choice="missing",
            offers=(Offer(f"{named} mean missing here", {}, label, {"missing_codes": codes}),),
        )


def _number_questions(proposal: Proposal) -> Iterator[Note]:
    column, label = (proposal.column,), proposal.label
    if proposal.mixed_units:
        yield Note(
            "W_MIXED_UNITS",
            f"{_named(proposal)} has numbers with several currencies or units, or a percent sign "
            "in some cells only: all are read as plain numbers. Write them in one unit, or leave "
            "the column out.",
            columns=column,
            choice="keep",
            offers=(Offer("Leave the column out", {}, label, {"keep": False}),),
        )
    if proposal.infinite:
        yield Note(
            "W_INFINITE",
            f"{_named(proposal)} holds {counted(proposal.infinite, 'value')} that "
            f"{were(proposal.infinite, 'is', 'are')} infinite or too large for a number: counted "
            "at the nearest bound of its values.",
            columns=column,
            choice="outside",
            offers=(Offer("Count them as Other", {}, label, {"outside": "other"}),),
        )


def _date_questions(preview: Preview, proposal: Proposal) -> Iterator[Note]:
    column, label = (proposal.column,), proposal.label
    undated = tuple(v for v in proposal.undated if v not in proposal.said_missing)
    if proposal.kind == "date" and undated:
        cells = cells_of(preview, proposal, undated)
        yield Note(
            "W_NO_DATE",
            f"{_named(proposal)} holds dates, and in {counted(cells, 'cell')} what is no day (such "
            'as 30 February or 00000000): counted as a value of its own, "(no date)".',
            columns=column,
            choice="missing",
            offers=(Offer("They mean missing", {}, label, {"missing_codes": undated}),),
        )
    if proposal.short_years:
        yield Note(
            "W_SHORT_YEARS",
            f"{_named(proposal)} has dates with two digits for the year: 50 to 99 are read as 1950 "
            "to 1999, 00 to 49 as 2000 to 2049. Write years with four digits if that is wrong.",
            columns=column,
        )
    if proposal.ambiguous:
        yield Note(
            "W_DAY_OR_MONTH",
            f"Nothing in {_named(proposal).lower()} tells whether the day or the month stands "
            "first; the day was taken. Years are the same either way.",
            columns=column,
            choice="dates",
            offers=(
                Offer("The month stands first", {"dates": "month first"}),
                Offer("The day stands first", {"dates": "day first"}),
            ),
        )


def _spelling_questions(preview: Preview, proposal: Proposal) -> Iterator[Note]:
    column, label = (proposal.column,), proposal.label
    if proposal.variants:
        number_ = len(proposal.variants)
        yield Note(
            "W_VARIANTS",
            f"{_named(proposal)} has {counted(number_, 'value')} in spellings that differ in "
            "capitals or blanks only; they are counted apart until you say that they are one.",
            columns=column,
            choice="compare",
            offers=(Offer("Count such spellings as one value", {}, label, {"compare": "folded"}),),
        )
    if proposal.answers:
        yield Note(
            "W_SEVERAL_ANSWERS",
            f"{_named(proposal)} holds several answers in one cell; each combination is a value of "
            f"its own. It can be split into {counted(len(proposal.answers), 'yes-or-no attribute')}"
            ", one an answer.",
            columns=column,
            choice="split",
            offers=(Offer("Split it into yes-or-no attributes", {}, label, {"split": True}),),
        )


def cells_of(preview: Preview, proposal: Proposal, values: Sequence[str]) -> int:
    """Count the cells of a column that are one of these values."""
    wanted = {canonical(value) for value in values}
    met = pc.value_counts(preview.texts(proposal.column))
    pairs = zip(met.field("values").to_pylist(), met.field("counts").to_pylist(), strict=True)
    return sum(count for value, count in pairs if canonical(value) in wanted)


# -- whose row it is ----------------------------------------------------------------------------


def _whose_row(proposals: Sequence[Proposal]) -> Iterator[Note]:
    found = [p for p in proposals if p.rows_each > 1]
    if not found:
        return
    # The column with most rows a value is the safest account of a person.
    person = max(found, key=lambda p: p.rows_each)
    several = len(found) > 1
    where = ", ".join(str(int(p.column[1:]) + 1) for p in found[:5])
    yield Note(
        "W_SEVERAL_ROWS",
        f"{'Columns' if several else 'Column'} {where} {'seem' if several else 'seems'} to say "
        f"whose row it is: a person seems to have up to {person.rows_each:,} rows, and the cost "
        'grows with them. Choose it under "Whose row it is", with "Most rows a person may have"; '
        "as an attribute it is left out.",
        columns=tuple(p.column for p in found[:5]),
        choice="person",
        offers=(
            Offer(
                f"A person may have {person.rows_each:,} rows",
                change={"person": person.label, "rows": person.rows_each},
            ),
            Offer("Keep one row of each person", change={"person": person.label, "rows": 1}),
        ),
    )


# -- already counted ----------------------------------------------------------------------------


def _counted_already(preview: Preview, proposals: Sequence[Proposal]) -> Iterator[Note]:
    rows = len(preview.frame)
    if rows < 2 or len(proposals) < 2 or len(preview.labels) > LOOKED_AT:
        return
    named = [p for p in proposals if _COUNT_NAME.fullmatch(p.label.strip())]
    named = named or _full_crossing(rows, proposals)
    shares = [p.column for p in proposals if _SHARE_NAME.search(p.label) and p not in named]
    for proposal in named[-1:]:
        weak = len(proposal.label.strip()) <= 2
        if not _are_counts(preview.texts(proposal.column), at_least=5 if weak else 1):
            continue
        rest = [p for p in proposals if p is not proposal and p.column not in shares]
        if not rest or any(p.kind in ("numeric", "date") for p in rest):
            continue
        others = preview.frame.drop(columns=[proposal.column, *shares])
        if bool(others.duplicated().any()):
            continue
        yield Note(
            "W_COUNTED",
            f"{_named(proposal)} seems to say how many persons each row stands for: the other "
            "columns hold each combination once. Is a row one person, or as many as it says?",
            columns=(proposal.column,),
            choice="counts",
            offers=(
                Offer("As many persons as it says", {"counts": proposal.label}),
                Offer("Each row is one person", {"counts": ""}),
            ),
        )


def _full_crossing(rows: int, proposals: Sequence[Proposal]) -> list[Proposal]:
    """Find the one column of numbers beside categories all of whose combinations stand there."""
    found = []
    for proposal in proposals:
        rest = [p for p in proposals if p is not proposal]
        sizes = [p.distinct + p.has_missing for p in rest]
        listed = all(p.kind in ("categorical", "ordinal", "yes/no") for p in rest)
        crossed = len(sizes) > 1 and min(sizes) > 1 and math.prod(sizes) == rows
        if proposal.bounds is not None and rows >= 6 and listed and crossed:
            found.append(proposal)
    return found if len(found) == 1 else []


def _cross_table(preview: Preview, proposals: Sequence[Proposal]) -> Iterator[Note]:
    """Say so where columns are called like values of one scale and hold whole numbers."""
    names = [p.label.strip() for p in proposals[1:]]
    if len(names) < 2 or len(names) > 40 or not is_bands(names):
        return
    if not all(_are_counts(preview.texts(p.column), at_least=1) for p in proposals[1:]):
        return
    yield Note(
        "W_CROSS_TABLE",
        "The columns are called like values of one scale (18-24, 25-44) and hold whole numbers: a "
        "table of counts, perhaps. As it stands a row counts as one person. Write it with one "
        "line for each combination and a column of counts.",
        columns=tuple(p.column for p in proposals[1:6]),
    )


def _are_counts(texts: pa.ChunkedArray, *, at_least: float) -> bool:
    """Tell whole numbers that count something: on average more than so many."""
    numbers = [number(text) for text in texts.to_pylist()]
    whole = [n for n in numbers if n is not None and 0 <= n < 1e12 and n.is_integer()]
    return len(whole) == len(numbers) and sum(whole) > at_least * len(whole)


def expanded(
    columns: Sequence[pa.ChunkedArray], counts: pa.ChunkedArray, lines: np.ndarray, most: int
) -> np.ndarray:
    """Return the position of the row of each person in an already counted table.

    Raises:
        DataError: If a count is no whole number (``E_VALUE``), or they are too many
            (``E_TOO_LARGE``).
    """
    numbers = [number(text) for text in counts.to_pylist()]
    for n, line in zip(numbers, lines.tolist(), strict=True):
        if n is None or n < 0 or not n.is_integer():
            raise DataError(
                f"The count on line {line:,} is no whole number; each row needs one. Correct it, "
                "or let each row be one person.",
                code="E_VALUE",
            )
    whole = np.array([int(n or 0) for n in numbers], np.int64)
    if float(whole.sum()) * max(1, len(columns)) > most:
        raise DataError(
            f"The counts add up to more persons than can be read ({most:,} cells). Keep only the "
            "columns that are needed.",
            code="E_TOO_LARGE",
        )
    places: np.ndarray = np.repeat(np.arange(len(whole)), whole)
    return places


# -- marks for thousands ------------------------------------------------------------------------


def maybe_thousands(
    columns: Sequence[pa.ChunkedArray], lines: np.ndarray, mark: Literal[".", ","] = "."
) -> Note | None:
    """Say where a decimal mark may set thousands apart: 1.234 in every number that has one."""
    for j, column in enumerate(columns[:LOOKED_AT]):
        held = column.slice(0, 20_000)
        marked = pc.match_substring(held, mark)
        cells = [cell.replace(mark, ".") for cell in held.filter(marked).to_pylist()]
        if not cells or not all(_THOUSANDS.fullmatch(cell.strip()) for cell in cells):
            continue
        first = int(lines[int(np.argmax(np.asarray(marked.combine_chunks())))])
        name, other = ("dots", ",") if mark == "." else ("commas", ".")
        return Note(
            "W_THOUSANDS",
            f"The {name} of column {j + 1} ({lines_text([first])} first) may set thousands apart: "
            f"1{mark}234 is read as a little more than one. Say so if it is one thousand and more.",
            lines=(first,),
            columns=(f"c{j}",),
            choice="decimal",
            offers=(Offer(f"The {name} set thousands apart", {"decimal": other}),),
        )
    return None
