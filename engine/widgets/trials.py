"""Mechanisms side by side: several budgets, several seeds, the same seeds for all of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets as w

import engine
from engine import charts
from engine.demonstrating.trials import Trial, trials
from engine.jobs import Job, Report
from engine.showing import fields, html
from engine.showing.sheets import Sheet
from engine.tables import CountSource, Private
from engine.widgets.runner import Runner
from engine.widgets.screen import Screen, controls, refused, text, together, wide
from engine.widgets.stills import WithStill
from engine.widgets.stories import MECHANISMS

if TYPE_CHECKING:
    import pandas as pd

NOTE = (
    "Trials are a simulation on the real records, not a release: every number here is a true "
    "error. In each trial all mechanisms have the same seed."
)
_STYLE = {"description_width": "110px"}
_WIDE = wide(420)


def compare(
    table: CountSource | Private,
    workload: engine.Workload | None = None,
    *,
    mechanisms: tuple[str, ...] = ("AIM+GReM", "ResidualPlanner, one round"),
    epsilons: tuple[float, ...] = (0.1, 1.0, 10.0),
    trials: int = 5,
    delta: float = 1e-9,
    height: int = 560,
) -> Trials:
    """Compare mechanisms on a table: true errors over budgets and seeds. Not private.

    Args:
        table: The records.
        workload: What is asked; by default all marginals of two attributes.
        mechanisms: Names, as the list offers them, chosen from the start.
        epsilons: Budgets to begin with.
        trials: Runs for each, with seeds 0, 1, 2, ...
        delta: For all budgets.
        height: Of the output, in pixels.

    Raises:
        EngineError: If a name or a setting is refused.
    """
    private = table if isinstance(table, Private) else Private(table)
    if unknown := [name for name in mechanisms if name not in MECHANISMS]:
        raise engine.OptionError(
            f"There is no mechanism {unknown[0]!r}; there are {', '.join(map(repr, MECHANISMS))}. "
            "Name some of these."
        )
    if workload is None:
        workload = engine.Workload.all_kway(private.domain, min(2, len(private.domain)))
    form = Trials(private, workload, delta=delta, height=height)
    form.mechanisms.value = mechanisms
    form.epsilons.value = ", ".join(f"{epsilon:g}" for epsilon in epsilons)
    form.count.value = trials
    return form


class Trials(WithStill, w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Mechanisms, budgets and trials; what is done is kept when the rest is cancelled.

    Args:
        private: The records' counts; they stay in the kernel.
        workload: What is asked.
        delta: For all budgets.
        height: Of the output, in pixels.
    """

    def __init__(
        self, private: Private, workload: engine.Workload, *, delta: float, height: int
    ) -> None:
        self._private, self._workload, self._delta = private, workload, delta
        self._done: list[Trial] = []
        self._drawn = 0
        self.mechanisms = w.SelectMultiple(
            options=list(MECHANISMS), rows=len(MECHANISMS), description=fields.MECHANISMS.label,
            style=_STYLE, layout=_WIDE, tooltip="Ctrl and click, or Shift and arrows, for several",
        )  # fmt: skip
        self.epsilons = w.Text(
            description=fields.EPSILONS.label, continuous_update=False, style=_STYLE, layout=_WIDE,
            tooltip=fields.EPSILONS.help,
        )  # fmt: skip
        self.count = w.BoundedIntText(
            value=5, min=1, max=1000, description=fields.TRIALS.label, continuous_update=False,
            style=_STYLE, layout=_WIDE, tooltip=fields.TRIALS.help,
        )  # fmt: skip
        self.message = text()
        self.runner = Runner(
            "Run", work=self._work, ended=self._ended, refused=self._refuse, ticked=self._draw
        )
        self.screen = Screen(height, height)
        chosen = w.HBox(
            [self.mechanisms, w.VBox([self.epsilons, self.count])],
            layout=w.Layout(flex_flow="row wrap"),
        )
        about = text(html.box("Compare", html.NOT_PRIVATE, NOTE))
        for field in (self.mechanisms, self.epsilons):
            field.observe(lambda _: self._check(), "value")
        rows = controls(chosen, self.runner, self.message)
        super().__init__([about, rows, self.screen.box])

    @property
    def results(self) -> tuple[Trial, ...]:
        """Every trial done so far. Not private."""
        return tuple(self._done)

    def frame(self) -> pd.DataFrame:
        """Return the trials as a frame: mechanism, epsilon, seed and error. Not private."""
        import pandas as pd

        names = ("mechanism", "epsilon", "seed", "error")
        return pd.DataFrame(
            [[getattr(trial, name) for name in names] for trial in self._done], columns=names
        )

    def start(self) -> Trials:
        """Start the trials, as the button does; the same form, to go on with."""
        self.runner.start()
        return self

    def __repr__(self) -> str:
        return f"Trials({len(self._done)} runs done; not private, not for release)"

    def wait(self, seconds: float | None = 600.0) -> tuple[Trial, ...]:
        """Wait for the trials in a cell, and return them."""
        self.runner.wait(seconds)
        return self.results

    def still(self) -> str:
        """Return the trials drawn so far. Not private, as they are not."""
        return f"{html.box('Compare', html.NOT_PRIVATE, NOTE)}{together(self.screen.shown)}"

    def _settings(self) -> tuple[list[float], list[str]]:
        """The budgets and mechanisms asked for."""
        budgets = fields.budgets(self.epsilons.value)
        for epsilon in budgets:
            engine.rho_from(epsilon=epsilon, delta=self._delta)
        names = list(self.mechanisms.value)
        if not names:
            raise engine.OptionError("No mechanism is chosen; at least one is needed. Choose one.")
        return budgets, names

    def _check(self) -> None:
        """Say at once what will be refused; the button is off until it is mended."""
        try:
            self._settings()
        except engine.EngineError as error:
            self._refuse(error)
            self.runner.allow(False)
            return
        self.message.value = ""
        self.runner.allow(True)

    def _work(self) -> Callable[[Report], None]:
        budgets, names = self._settings()
        mechanisms, seeds = {name: MECHANISMS[name]() for name in names}, range(self.count.value)
        done, self.message.value = tuple(self._done), ""
        # In the order of the trials: seed by seed, so that whoever cancels has whole comparisons.
        known = {trial.key for trial in done}
        plan = [(n, e, s) for s in seeds for e in budgets for n in names if (n, e, s) not in known]

        def work(report: Report) -> None:
            made = trials(
                self._private, self._workload, mechanisms, epsilons=budgets, delta=self._delta,
                seeds=seeds, done=done, cancelled=report.cancelled,
            )  # fmt: skip
            for k, (name, epsilon, _) in enumerate(plan):
                report(k / len(plan), f"{k + 1} of {len(plan)}: {name}, ε {epsilon:g}")
                self._done += itertools.islice(made, 1)
            report(1.0, "done")

        return work

    def _ended(self, job: Job[object]) -> None:
        self._draw()
        if job.raised is not None and not job.cancelled:
            self._refuse(job.raised)
        self.refresh_still()

    def _draw(self) -> None:
        frame = self.frame()
        if len(frame) == self._drawn or frame.empty:
            return
        self._drawn = len(frame)
        figure = charts.trials(frame)
        self.screen.show(Sheet(f"{len(frame)} runs so far", (figure,), (), width=720))

    def _refuse(self, error: BaseException) -> None:
        if isinstance(error, engine.EngineError):
            self.message.value = refused(error)
        else:  # its text could quote data
            kind = type(error).__name__
            self.message.value = refused(RuntimeError(f"Stopped on an error of kind {kind}."))
