"""Several charts that belong together: a round of a run, a strip of rounds, a table and its truth.

``charts.round`` and ``charts.filmstrip`` are these; they need no widgets. In this module ``round``
is a round of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from engine.checking import expect
from engine.demonstrating.evaluation import Comparison, compare
from engine.errors import OptionError
from engine.mechanisms.base import Run
from engine.released import Estimate
from engine.showing import html, lattice, pictures, rounds, tables, touched
from engine.showing.badges import Limits, spanning
from engine.showing.figure import Figure
from engine.showing.foremost import Codes, foremost
from engine.showing.frames import rounds as moments
from engine.showing.frames import tables as cells
from engine.showing.sentences import explain_released
from engine.showing.spans import Spans
from engine.showing.texts import safe
from engine.trace import RoundEnded, Started
from engine.types import AttributeSet

if TYPE_CHECKING:
    from engine.tables import CountSource, Private


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Several figures that belong together, under one heading; what a notebook shows of a round.

    Args:
        title: A few words.
        figures: In reading order.
        notes: Sentences to go with them; texts in them are as users wrote them.
        width: Pixels for each figure.
    """

    title: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()
    width: int = pictures.WIDTH

    def html(self, *, captions: bool = True) -> str:
        """Return the sheet as HTML, its pictures inside."""
        notes = Markup(" ").join(html.escape(note, longest=500) for note in self.notes)
        opening = html.line(
            '<div style="font-family:system-ui,sans-serif;font-size:14px;margin:4px 0 8px">'
            "<b>{}</b><br>{}</div>",
            html.escape(self.title, longest=120), notes,
        )  # fmt: skip
        return str(opening) + pictures.sheet(self.figures, width=self.width, captions=captions)

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.notes, *(f"- {f.alt}" for f in self.figures)])

    def _repr_html_(self) -> str:
        return self.html()


def round(run: Run, number: int, *attributes: str | int, spans: Spans | None = None) -> Sheet:
    """Show one round from released values alone; 0 is what was measured before the first.

    Scales are the run's, so that two rounds can be laid beside each other.

    Args:
        run: A finished run.
        number: The round.
        *attributes: A marginal of one or two attributes to look at closely; none takes what the
            round selected.
        spans: The run's scales, to look at several rounds without finding them again.

    Raises:
        OptionError: If the run has no such round.
        DomainError, WorkloadError: If the run does not answer that marginal.
    """
    expect(run, Run, "a Run", "Give what engine.run returned.")
    after, event = run.at(number), run.events[number]
    domain, workload = after.domain, after.workload
    spent = rounds.ledger(moments.budget(run.events[: number + 1]), at=number)
    spans = spans or Spans(run)
    look = flat(domain.sizes, domain.attrs(*attributes) or selected(run, number))
    closely, notes = _closely(after.estimate(*look), spans.limits(look)) if look else ((), ())
    if not isinstance(event, RoundEnded):
        assert isinstance(event, Started)
        first = (
            [rounds.measured(moments.measured(event.measurements, domain), reach=spans.reach)]
            if event.measurements
            else []
        )
        note = "Measured before the first round." if first else "Nothing is measured yet."
        return Sheet("Before round 1", (*first, *closely, spent), (note, *notes))
    gamma = selected(run, number)
    inside = [m for m in event.measurements if set(m.attrs) <= set(gamma)]
    moved = moments.touched(run.at(number - 1).beliefs, after.beliefs, event, workload)
    chosen = "everything" if event.selected is None else domain.label(gamma)
    return Sheet(
        f"Round {number} of {len(run.rounds)}: {chosen}",
        (
            lattice.lattice(moments.allocation(event, domain, gamma)),
            *closely,
            rounds.measured(moments.measured(inside, domain), reach=spans.reach),
            touched.touched(moved, domain.names, threshold=event.threshold, most=spans.most),
            spent,
        ),
        (*explain_released(event, domain), *notes),
    )


def selected(run: Run, number: int) -> AttributeSet:
    """What a round selected; where nothing is, the first marginal asked for."""
    selected: AttributeSet | None = getattr(run.events[number], "selected", None)
    return run.release.workload.marginals[0] if selected is None else selected


def _closely(estimate: Estimate, limits: Limits) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    note = f"{estimate.label}: noise σ of {estimate.std or 0:,.3g} records in each cell."
    if estimate.unmeasured:
        note += " Part of it was never measured and is counted as zero."
    return (marginal(estimate, limits=limits),), (note,) if estimate.std else ()


def filmstrip(run: Run, *attributes: str | int, frames: int = 4) -> Sheet:
    """Show one released marginal as the run goes on; the tables of two attributes in one scale.

    Args:
        run: A finished run.
        *attributes: One or two of them; none takes what the last round chose.
        frames: How many moments, the first and the last among them.

    Raises:
        DomainError, WorkloadError: If the run does not answer that marginal.
    """
    expect(run, Run, "a Run", "Give what engine.run returned.")
    domain, last = run.release.domain, len(run.rounds)
    gamma = domain.attrs(*attributes) or flat(domain.sizes, selected(run, last))
    instants = sorted({int(k) for k in np.linspace(0, last, max(frames, 2)).round()})
    estimates = [run.at(k).estimate(*gamma) for k in instants]
    frames_of = [cells.released(estimate) for estimate in estimates]
    limits = spanning([tables.shared_limits(frame, "released") for frame in frames_of])
    codes = foremost(frames_of[-1])
    figures = [
        marginal(estimate, title=_moment(k, last), limits=limits, small=True, codes=codes)
        for k, estimate in zip(instants, estimates, strict=True)
    ]
    return Sheet(domain.label(gamma), tuple(figures), width=_frame(figures))


def _moment(number: int, last: int) -> str:
    return "Before round 1" if number == 0 else f"After round {number} of {last}"


def flat(sizes: Sequence[int], gamma: AttributeSet) -> AttributeSet:
    """Two of a marginal's attributes at most, those with most values: what a picture can hold."""
    largest = sorted(gamma, key=lambda i: -sizes[i])[:2]
    return tuple(sorted(largest))


def marginal(
    shown: Estimate | Comparison,
    *,
    column: str = "released",
    title: str | None = None,
    limits: Limits | None = None,
    small: bool = False,
    codes: Codes | None = None,
) -> Figure:
    """Draw a marginal of one or two attributes: a release's, or one beside the truth.

    Args:
        shown: An estimate, or its comparison with the records.
        column: What the cells of two attributes show, as for ``heatmap``.
        title: What it is; by default the marginal's name.
        limits: Ends of the scale, to share it.
        small: Whether it is one frame of a strip.
        codes: Values of each attribute to draw; by default as many as there is room for.

    Raises:
        OptionError: If there are none, or more than two, attributes.
    """
    names = [shown.domain[i].name for i in shown.attrs]
    if len(names) not in (1, 2):
        raise OptionError(
            f"A picture shows one or two attributes; this marginal has {len(names)}. Ask for "
            "another one."
        )
    frame = cells.comparison(shown) if isinstance(shown, Comparison) else cells.released(shown)
    title = safe(title or shown.domain.label(shown.attrs), longest=60)
    if len(names) == 1:
        return tables.bars(frame, names[0], title=title, codes=codes, limits=limits)
    pair = (names[0], names[1])
    return tables.heatmap(frame, column, pair, title=title, limits=limits, small=small, codes=codes)


def truth(estimate: Estimate, table: CountSource | Private) -> tuple[Figure, ...]:
    """Draw an estimate beside the truth, for a demonstration's screen. Not private.

    Raises:
        OptionError: If there are none, or more than two, attributes.
    """
    compared = compare(estimate, table)
    if len(estimate.attrs) == 1:
        return (marginal(compared, title="Released and true"),)
    limits = tables.shared_limits(cells.comparison(compared), "exact", "released")
    return (
        marginal(compared, column="exact", title="True", limits=limits),
        marginal(compared, column="released", title="Released", limits=limits),
        marginal(compared, column="difference", title="Released less true"),
    )


def picture(shown: object) -> tuple[Figure, ...]:
    """Return what a picture says more than a table of a result; nothing where it does not."""
    if isinstance(shown, Comparison) and len(shown.attrs) == 2:
        return (marginal(shown, column="difference", title="Released less true"),)
    if isinstance(shown, Estimate) and len(shown.attrs) in (1, 2):
        return (marginal(shown),) if shown.values.size <= _MOST_CELLS_SHOWN else ()
    if isinstance(shown, Run):
        return filmstrip(shown).figures if selected(shown, len(shown.rounds)) else ()
    return ()


_MOST_CELLS_SHOWN = 4_000


def _frame(figures: Sequence[Figure]) -> int:
    """Pixels for each frame of a strip: four fit beside each other, or three with many labels."""
    return 210 if max(len(figure.frame) for figure in figures) <= 40 else 280


def beside(plain: dict[str, Any], figures: Sequence[Figure]) -> dict[str, Any]:
    """Add pictures to what a notebook shows of a result."""
    if not figures:
        return plain
    if pictures.can_draw():
        width = _frame(figures) if len(figures) > 1 else pictures.WIDTH
        drawn = pictures.sheet(figures, width=width, captions=len(figures) == 1)
        return {**plain, "text/html": plain["text/html"] + drawn}
    return {**plain, pictures.VEGA_LITE: pictures.vega_lite(figures[-1])}
