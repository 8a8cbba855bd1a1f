"""Playing a run: a round player, a marginal picker and one output."""

from __future__ import annotations

from typing import Any

import ipywidgets as w

import engine
from engine import charts, views
from engine.showing import html, pictures, sheets
from engine.showing.figure import Figure
from engine.showing.sheets import Sheet
from engine.tables import CountSource, Private
from engine.types import AttributeSet
from engine.widgets.screen import Screen, text
from engine.widgets.stories import Story, tell

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
    """
    if isinstance(what, engine.Run):
        private = table if isinstance(table, Private) or table is None else Private(table)
        if private is not None and private.domain != what.release.domain:
            raise engine.OptionError(
                "The run and the table have different domains; the table that the run was made "
                "from is needed."
            )
        return Explorer(Story(what, private), truth=truth, height=height)
    if workload is None:
        workload = engine.Workload.all_kway(what.domain, min(2, len(what.domain)))
    story = tell(
        mechanism or engine.AimGrem(), what, workload, epsilon=epsilon, delta=delta, seed=seed
    )
    return Explorer(story, truth=truth, height=height)


class Explorer(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A round player over one fixed-height output.

    Looking back draws no new noise. Views that are not private appear only if the records are there
    and the box is ticked.

    Args:
        story: The run.
        truth: Whether that box is ticked from the start.
        height: Of the output, in pixels.
    """

    def __init__(self, story: Story, *, truth: bool = False, height: int = 900) -> None:
        self._story, self._screen = story, Screen(height)
        last = len(story.run.rounds)
        self.play = w.Play(
            min=0, max=last, value=0, interval=1600, description="Play", show_repeat=False,
            tooltip="Play the rounds one after the other",
        )  # fmt: skip
        self.slider = w.IntSlider(
            min=0, max=last, value=min(1, last), description="Round", continuous_update=False,
            tooltip="Left and right arrows step; looking back draws no new noise",
            layout=w.Layout(width="420px"),
        )  # fmt: skip
        self.back = _step("Back", "step-backward", lambda: self._go(self.slider.value - 1))
        self.forward = _step("Next", "step-forward", lambda: self._go(self.slider.value + 1))
        self.marginal = w.Dropdown(
            options=[("the one just chosen", -1), *_marginals(story.run.release)],
            value=-1, description="Marginal", tooltip="Type to search",
            layout=w.Layout(width="420px"),
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
        row = w.Layout(flex_flow="row wrap", align_items="center")
        steps = w.HBox([self.play, self.back, self.forward, self.slider], layout=row)
        choice = w.HBox([self.marginal, self.truth], layout=row)
        rows = [steps, choice] if story.private is not None else [steps, w.HBox([self.marginal])]
        super().__init__([self.header, *rows, self._screen.output])
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

    def _go(self, number: int) -> None:
        self.slider.value = min(max(number, 0), self.slider.max)
        self.play.value = self.slider.value

    def _draw(self) -> None:
        shows = bool(self.truth.value) and self._story.private is not None
        self.back.disabled = self.at == 0
        self.forward.disabled = self.at == self.slider.max
        self.header.value = _header(self.run, self.at, shows=shows)
        key = (self.at, self.marginal.value, shows)
        shown = [self._released(), *(self._beside_truth() if shows else [])]
        self._screen.show(*shown, key=key)

    def _gamma(self) -> AttributeSet:
        """The marginal picked; none for the one just chosen."""
        release, k = self.run.release, self.marginal.value
        return _sets(release)[k] if k >= 0 else ()

    def _released(self) -> Sheet:
        return sheets.round(self.run, self.at, *self._gamma())

    def _beside_truth(self) -> list[Sheet]:
        story, at = self._story, self.at
        assert story.private is not None
        release = self.run.at(at)
        look = sheets.flat(release.domain.sizes, self._gamma() or sheets.selected(self.run, at))
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


def _step(label: str, icon: str, action: Any) -> w.Button:
    button = w.Button(
        description=label, icon=icon, tooltip=f"{label} round", layout=w.Layout(width="90px")
    )
    button.on_click(lambda _: action())
    return button
