"""Playing a run: a round player, a marginal picker and one output."""

from __future__ import annotations

from functools import partial
from typing import Any

import ipywidgets as w

import engine
from engine import charts, views
from engine.demonstrating.watching import Story, tell
from engine.showing import html, pictures, sheets
from engine.showing.figure import Figure
from engine.showing.sheets import Sheet
from engine.showing.spans import Spans
from engine.tables import CountSource, Private
from engine.types import AttributeSet
from engine.widgets.screen import Screen, controls, text, together, wide
from engine.widgets.stills import WithStill

RELEASE_VIEW = "Release view: released and public values only."
TEACHING_VIEW = "This view shows the real data. Nothing here is private. Do not share screenshots."
MOST_MARGINALS = 2_000


def explore(
    what: engine.Run | CountSource | Private,
    *,
    table: CountSource | Private | None = None,
    workload: engine.Workload | None = None,
    mechanism: Any = None,
    epsilon: float = 1.0,
    delta: float = 1e-9,
    seed: int | None = 0,
    truth: bool = False,
    height: int = 900,
) -> Explorer:
    """Look at a run round by round.

    Args:
        what: A finished run, shown from released values alone; or a table, on which one is made.
        table: The records of the run, to offer views beside the truth as well. Not private.
        workload: For a table: what to ask of it; by default all marginals of two attributes.
        mechanism: For a table; by default ``engine.AimGrem()``.
        epsilon: For a table: the budget.
        delta: Its other half.
        seed: For a table: repeats the run; None takes a new one.
        truth: Whether views that are not private are shown from the start.
        height: Of the output, in pixels.

    Raises:
        EngineError: If a setting is refused, or run and table do not belong together.
        DataError: If a private release was made of the table (``E_PROTECTED``).
    """
    if isinstance(what, engine.Run):
        private = table if isinstance(table, Private) or table is None else Private(table)
        if private is not None and private.domain != what.release.domain:
            raise engine.OptionError(
                "The run and the table have different domains; the table that the run was made "
                "from is needed."
            )
        if private is not None:
            private.odometer.check_may_rehearse()  # views beside the truth are offered
        return Explorer(Story(what, private), truth=truth, height=height)
    if workload is None:
        workload = engine.Workload.all_kway(what.domain, min(2, len(what.domain)))
    story = tell(
        mechanism or engine.AimGrem(), what, workload, epsilon=epsilon, delta=delta, seed=seed
    )
    return Explorer(story, truth=truth, height=height)


class Explorer(WithStill, w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A round player over a screen of fixed height.

    Looking back draws no new noise. Views that are not private appear only if the records are there
    and the box is ticked.

    Args:
        story: The run.
        truth: Whether that box is ticked from the start.
        height: Of the pictures, in pixels.
    """

    def __init__(self, story: Story, *, truth: bool = False, height: int = 900) -> None:
        # Long: the controls of the player, one after the other.
        self._story, self._screen, self._spans = story, Screen(height), Spans(story.run)
        last = len(story.run.rounds)
        self.play = w.Play(
            min=0, max=last, value=0, interval=1600, description="Play", show_repeat=False,
            tooltip="Play the rounds one after the other",
        )  # fmt: skip
        self.slider = w.IntSlider(
            min=0, max=last, value=min(1, last), description="Round", continuous_update=False,
            tooltip="Left and right arrows step; a number typed at its end jumps there",
            layout=wide(420),
        )  # fmt: skip
        self.speed = w.Dropdown(
            options=_speeds(last), value=(1600, 1), description="Speed", layout=wide(220),
            tooltip="How fast rounds are played, and how many are passed over",
        )  # fmt: skip
        self.first = _step("First", "fast-backward", lambda: self._go(0))
        self.back = _step("Back", "step-backward", lambda: self._go(self.slider.value - 1))
        self.forward = _step("Next", "step-forward", lambda: self._go(self.slider.value + 1))
        self.last = _step("Last", "fast-forward", lambda: self._go(self.slider.max))
        self.marginal = w.Dropdown(
            options=[("the one just chosen", -1), *_marginals(story.run.release)],
            value=-1, description="Marginal", tooltip="Type to search", layout=wide(420),
        )  # fmt: skip
        self.truth = w.Checkbox(
            value=truth and story.private is not None, indent=False,
            description="Show what is not private: true counts, scores, errors",
            disabled=story.private is None, layout=w.Layout(width="auto", margin="2px 14px"),
        )  # fmt: skip
        self.play.value = self.slider.value
        w.jslink((self.play, "value"), (self.slider, "value"))
        self.header = text()
        for control in (self.slider, self.marginal, self.truth):
            control.observe(lambda _: self._draw(), "value")
        self.speed.observe(lambda _: self._pace(), "value")
        row = w.Layout(flex_flow="row wrap", align_items="center")
        buttons = [self.play, self.first, self.back, self.forward, self.last]
        steps = w.HBox([*buttons, self.slider, self.speed], layout=row)
        shown = [self.marginal] if story.private is None else [self.marginal, self.truth]
        rows = controls(steps, w.HBox(shown, layout=row))
        super().__init__([self.header, rows, self._screen.box])
        self._draw()

    @property
    def run(self) -> engine.Run:
        """The run, which holds nothing private."""
        return self._story.run

    @property
    def at(self) -> int:
        """The round looked at; 0 is before the first one."""
        return int(self.slider.value)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """What is being shown."""
        return tuple(figure for sheet in self._screen.shown for figure in sheet.figures)

    def __repr__(self) -> str:
        return f"Explorer(round {self.at} of {len(self.run.rounds)}; plays in a running kernel)"

    def still(self) -> str:
        """Return the round looked at and the strip of its marginal: released values alone."""
        if not pictures.can_draw():
            return html.line("<code>{}</code>", html.escape(repr(self), longest=200))
        look = self._look()
        strip = [sheets.filmstrip(self.run, *look)] if look else []
        drawn = together((self._released(self.at, self._gamma()), *strip))
        return f"{_header(self.run, self.at, shows=False)}{drawn}"

    def _go(self, number: int) -> None:
        self.slider.value = min(max(number, 0), self.slider.max)
        self.play.value = self.slider.value

    def _pace(self) -> None:
        self.play.interval, self.play.step = self.speed.value

    def _draw(self) -> None:
        shows = bool(self.truth.value) and self._story.private is not None
        gamma = self._gamma()
        self.back.disabled = self.first.disabled = self.at == 0
        self.forward.disabled = self.last.disabled = self.at == self.slider.max
        self.header.value = _header(self.run, self.at, shows=shows)
        self._screen.show_kept(
            (self.at, gamma), partial(self._released, self.at, gamma),
            *(self._beside_truth() if shows else []),
        )  # fmt: skip
        for number in (self.at + self.play.step, self.at + 1, self.at - 1):
            if 0 <= number <= self.slider.max:
                self._screen.ahead((number, gamma), partial(self._released, number, gamma))

    def _look(self) -> AttributeSet:
        """The one or two attributes that are looked at closely."""
        gamma = self._gamma() or sheets.selected(self.run, self.at)
        return sheets.flat(self.run.release.domain.sizes, gamma)

    def _gamma(self) -> AttributeSet:
        """The marginal picked; none for the one just chosen."""
        release, k = self.run.release, self.marginal.value
        return _sets(release)[k] if k >= 0 else ()

    def _released(self, number: int, gamma: AttributeSet) -> Sheet:
        return sheets.round(self.run, number, *gamma, spans=self._spans)

    def _beside_truth(self) -> list[Sheet]:
        story, at = self._story, self.at
        assert story.private is not None
        release = self.run.at(at)
        look = self._look()
        estimate = release.estimate(*look)
        figures = sheets.truth(estimate, story.private) if look else ()
        width = 270 if len(figures) > 1 else pictures.WIDTH
        title = f"Not private: {estimate.label} beside the records"
        shown = [Sheet(title, figures, (TEACHING_VIEW,), width)]
        more: list[Figure] = []
        if story.errors:
            records = int(story.private.marginal(()).values)
            curve = views.errors(story.errors, records)
            more.append(charts.error_curve(curve, at=at, normalized=records > 0))
        seen = story.seen[at] if at < len(story.seen) else None
        if seen is not None:
            domain, chosen = self.run.release.domain, getattr(self.run.events[at], "selected", None)
            frame, rest = views.selection(seen, domain, chosen), seen.others_probability
            more.append(charts.selection(frame, others=seen.others, others_probability=rest))
        if more:
            shown.append(Sheet("Not private: the true error, and the choice", tuple(more)))
        return shown


def _header(run: engine.Run, at: int, *, shows: bool) -> str:
    release = run.release
    kind = html.NOT_PRIVATE if shows else html.RELEASED
    known = "" if release.epsilon is None else f"ε {release.epsilon:g}, δ {release.delta:g}, "
    line = f"{known}ρ {float(release.ledger.total):.4g} · round {at} of {len(run.rounds)}"
    return html.box(
        html.line("Explorer · {}", html.escape(release.domain.title or "run")),
        kind,
        html.line("{} · <code>{}</code>", line, html.escape(release.mechanism, longest=120)),
        html.warning(TEACHING_VIEW) if shows else html.escape(RELEASE_VIEW),
        html.warning("DEMONSTRATION, not a private release.", *release.demonstration)
        if release.demonstration
        else "",
    )


def _sets(release: engine.Release) -> list[AttributeSet]:
    return [attrs for attrs in release.workload.closure if attrs][:MOST_MARGINALS]


def _marginals(release: engine.Release) -> list[tuple[str, int]]:
    sets = _sets(release)
    labels = charts.distinct((release.domain.label(attrs) for attrs in sets), longest=70)
    return list(zip(labels, range(len(sets)), strict=True))


def _speeds(last: int) -> list[tuple[str, tuple[int, int]]]:
    """Milliseconds from one picture to the next, and rounds between them."""
    jumps = [(f"every {step} rounds", (1600, step)) for step in (5, 20) if last > 4 * step]
    return [("slow", (3000, 1)), ("normal", (1600, 1)), ("fast", (600, 1)), *jumps]


def _step(label: str, icon: str, action: Any) -> w.Button:
    button = w.Button(
        description=label, icon=icon, tooltip=f"{label} round", layout=w.Layout(width="76px")
    )
    button.on_click(lambda _: action())
    return button
