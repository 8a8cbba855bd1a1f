"""Mechanisms side by side: several budgets, several seeds, the same seeds for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import ipywidgets as w

import engine
from engine import charts
from engine.demonstrating.evaluation import NotReleased
from engine.jobs import Job, Report
from engine.showing import html
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trial(NotReleased):
    """One run's true error. Not private.

    Args:
        mechanism: Its name.
        epsilon: The budget.
        seed: What the noise was drawn with.
        error: Mean L1 error over the workload, divided by N.
    """

    mechanism: str
    epsilon: float
    seed: int
    error: float

    def __repr__(self) -> str:
        return f"Trial({self.mechanism}, epsilon {self.epsilon:g}; not private, not for release)"


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
            options=list(MECHANISMS), rows=len(MECHANISMS), description="Mechanisms", style=_STYLE,
            layout=_WIDE, tooltip="Ctrl and click, or Shift and arrows, for several",
        )  # fmt: skip
        self.epsilons = w.Text(
            description="ε", continuous_update=False, style=_STYLE, layout=_WIDE,
            tooltip="One or several numbers, with commas between",
        )  # fmt: skip
        self.count = w.BoundedIntText(
            value=5, min=1, max=1000, description="Trials", continuous_update=False, style=_STYLE,
            layout=_WIDE, tooltip="Runs for each mechanism and ε, with seeds 0, 1, 2, …",
        )  # fmt: skip
        self.message = text()
        self.runner = Runner(
            "Run", work=self._work, ended=self._ended, refused=self._refuse, ticked=self._draw
        )
        self.screen = Screen(height, height)
        fields = w.HBox(
            [self.mechanisms, w.VBox([self.epsilons, self.count])],
            layout=w.Layout(flex_flow="row wrap"),
        )
        about = text(html.box("Compare", html.NOT_PRIVATE, NOTE))
        for field in (self.mechanisms, self.epsilons):
            field.observe(lambda _: self._check(), "value")
        rows = controls(fields, self.runner, self.message)
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
        budgets = _budgets(self.epsilons.value)
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
        known = {(t.seed, t.epsilon, t.mechanism) for t in self._done}
        # Seed by seed, so that whoever cancels has whole comparisons.
        plan = [one for one in product(range(self.count.value), budgets, names) if one not in known]
        self.message.value = ""

        def work(report: Report) -> None:
            for k, (seed, epsilon, name) in enumerate(plan):
                self._one(name, epsilon, seed, report, k, len(plan))
            report(1.0, "done")

        return work

    def _one(self, name: str, epsilon: float, seed: int, report: Report, k: int, of: int) -> None:
        word = f"{k + 1} of {of}: {name}, ε {epsilon:g}"
        report(k / of, word)
        with warnings.catch_warnings():
            # Trials are paired: every mechanism has the same seeds, and nothing is released.
            warnings.simplefilter("ignore", engine.RepeatedSeedWarning)
            run = engine.run(
                MECHANISMS[name](), self._private, self._workload, epsilon=epsilon,
                delta=self._delta, seed=seed,
                progress=lambda share, _: report((k + min(share, 0.99)) / of, word),
            )  # fmt: skip
        truth = engine.evaluate(run.release, self._private)
        self._done.append(Trial(name, epsilon, seed, truth.mean_l1_normalized))

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


def _budgets(text: str) -> list[float]:
    try:
        budgets = sorted(
            {float(part) for part in text.replace(";", ",").split(",") if part.strip()}
        )
    except ValueError:
        budgets = []
    if not budgets:
        raise engine.OptionError(
            "The list of ε holds no number, or something else; numbers with commas between are "
            "needed. Write, for example, 0.1, 1, 10."
        )
    return budgets
