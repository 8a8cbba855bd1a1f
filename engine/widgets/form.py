"""Setting up a run: what to ask, at which budget, by which mechanism; then the player beneath."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as w

import engine
from engine import charts
from engine.demonstrating.watching import Story, tell
from engine.jobs import Job, Report
from engine.showing import fields, html
from engine.tables import CountSource, Private
from engine.widgets.player import Explorer
from engine.widgets.runner import Runner
from engine.widgets.screen import controls, refused, text, wide
from engine.widgets.stills import WithStill
from engine.widgets.stories import MECHANISMS

_STYLE = {"description_width": "110px"}
_OTHER = html.warning(
    "The settings have changed: the run beneath was made with those before. Press Run."
)
_WIDE = wide(380)


def setup(
    table: CountSource | Private,
    *,
    truth: bool = False,
    height: int = 900,
) -> Setup:
    """Choose workload, budget, seed and mechanism, run, and look at the run beneath.

    Args:
        table: The private records.
        truth: Whether views that are not private are shown from the start.
        height: Of the player's output, in pixels.
    """
    private = table if isinstance(table, Private) else Private(table)
    return Setup(private, truth=truth, height=height)


class Setup(WithStill, w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A form, a Run and a Cancel button, and what came of it.

    ``run`` is the last finished run: released values only.

    Args:
        private: The records' counts; they stay in the kernel.
        truth: Whether views that are not private are shown from the start.
        height: Of the player's output, in pixels.
    """

    def __init__(self, private: Private, *, truth: bool = False, height: int = 900) -> None:
        # Long: the fields of the form, one after the other.
        self._private, self._truth, self._height = private, truth, height
        domain = private.domain
        self.run: engine.Run | None = None
        self.explorer: Explorer | None = None
        names = charts.distinct(domain.names, longest=50)
        self.attributes = w.SelectMultiple(
            options=list(zip(names, range(len(names)), strict=True)),
            value=tuple(range(min(5, len(names)))), rows=min(len(names), 8),
            description=fields.ATTRIBUTES.label, style=_STYLE, layout=_WIDE,
            tooltip="Ctrl and click, or Shift and arrows, for several",
        )  # fmt: skip
        self.degree = w.Dropdown(
            options=[(said, k) for k, said in fields.DEGREES.items() if k <= len(domain)],
            value=min(2, len(domain)), description=fields.DEGREE.label, style=_STYLE, layout=_WIDE,
            tooltip=fields.DEGREE.help,
        )  # fmt: skip
        self.epsilon = w.FloatText(
            value=1.0, step=0.5, description=fields.EPSILON.label, continuous_update=False,
            style=_STYLE, layout=_WIDE, tooltip=fields.EPSILON.help,
        )  # fmt: skip
        self.delta = w.Text(
            value="1e-9", description=fields.DELTA.label, continuous_update=False, style=_STYLE,
            layout=_WIDE, tooltip=fields.DELTA.help,
        )  # fmt: skip
        self.seed = w.Text(
            value="0", description=fields.SEED.label, continuous_update=False, style=_STYLE,
            layout=_WIDE, placeholder="empty: new noise", tooltip=fields.SEED.help,
        )  # fmt: skip
        self.mechanism = w.Dropdown(
            options=list(MECHANISMS), description=fields.MECHANISM.label, style=_STYLE,
            layout=_WIDE, tooltip=fields.MECHANISM.help,
        )  # fmt: skip
        self.cost, self.message = text(), text()
        self.runner = Runner("Run", work=self._work, ended=self._ended, refused=self._refuse)
        self._made_with: tuple[object, ...] | None = None
        self._begun_with: tuple[object, ...] | None = None
        self._fields = (
            self.attributes, self.degree, self.epsilon, self.delta, self.seed, self.mechanism,
        )  # fmt: skip
        for field in self._fields:
            field.observe(lambda _: self._changed(), "value")
        left = w.VBox([self.attributes, self.degree])
        right = w.VBox([self.epsilon, self.delta, self.seed, self.mechanism])
        rows = w.HBox([left, right], layout=w.Layout(flex_flow="row wrap"))
        self._place = w.VBox()
        super().__init__([controls(rows, self.cost, self.runner, self.message), self._place])
        self._say_cost()

    def start(self) -> Setup:
        """Start the run, as the button does; the same form, to go on with."""
        self.runner.start()
        return self

    def __repr__(self) -> str:
        return f"Setup({self.run!r})" if self.run else "Setup(form; works with a running kernel)"

    def wait(self, seconds: float | None = 600.0) -> engine.Run | None:
        """Wait for the run in a cell, and return it."""
        self.runner.wait(seconds)
        return self.run

    def _workload(self) -> engine.Workload:
        names = [self._private.domain.names[k] for k in self.attributes.value]
        sets = engine.Workload.all_kway(
            self._private.domain.select(*names), int(self.degree.value)
        ).weights
        chosen = self.attributes.value
        return engine.Workload(
            {tuple(chosen[i] for i in attrs): weight for attrs, weight in sets.items()},
            self._private.domain,
        )

    def _budget(self) -> tuple[float, float]:
        return float(self.epsilon.value), _number(self.delta.value, "delta", "1e-9")

    def still(self) -> str:
        """Return the run's still, or that there is none yet."""
        if self.explorer is not None:
            return self.explorer.still()
        return html.box("Setup", html.PUBLIC, "A form that sets up a run. No run was made.")

    def _seed(self) -> int | None:
        """The seed typed; None for a new one."""
        text = self.seed.value.strip()
        try:
            seed = int(text) if text else None
        except ValueError:
            raise engine.OptionError(
                f"The seed is {text!r}; a whole number of 0 or more is needed. Write one, for "
                "example 0, or nothing for a new one.",
                code="E_SEED",
            ) from None
        engine.rehearsal_noise(seed)
        return seed

    def _changed(self) -> None:
        """Say what a changed form costs, and that the run beneath is not of these settings."""
        self._say_cost()
        if self._made_with is not None:
            other = self._made_with != tuple(field.value for field in self._fields)
            self.message.value = _OTHER if other else ""

    def _say_cost(self) -> None:
        """Say what is asked and what it costs, from public sizes alone."""
        self.runner.allow(False)
        try:
            workload, (epsilon, delta) = self._workload(), self._budget()
            self._seed()
            rho = engine.rho_from(epsilon=epsilon, delta=delta)
            expected = engine.ResidualPlanner().predict(workload, rho=rho).mean_l1
        except engine.EngineError as error:
            self.cost.value = refused(error)
            return
        self.runner.allow(True)
        self.cost.value = (
            f"{len(workload.weights):,} tables with {workload.cells:,} cells; "
            f"ρ = {rho:.4g}. ResidualPlanner would be off by about {expected:,.0f} records a table "
            "(L1, known before anything is spent)."
        )

    def _work(self) -> Callable[[Report], Story]:
        epsilon, delta = self._budget()
        seed = self._seed()
        engine.rho_from(epsilon=epsilon, delta=delta)
        workload = self._workload()
        self.message.value = ""
        self._begun_with = tuple(field.value for field in self._fields)
        return partial(
            _tell, MECHANISMS[self.mechanism.value], self._private, workload, epsilon, delta, seed
        )

    def _ended(self, job: Job[object]) -> None:
        if job.raised is not None:
            self._changed()
            if not job.cancelled:
                self._refuse(job.raised)
            return
        story = job.result
        assert isinstance(story, Story)
        self.run, self._made_with = story.run, self._begun_with
        self._changed()
        old, self.explorer = self.explorer, Explorer(story, truth=self._truth, height=self._height)
        self._place.children = (self.explorer,)
        if old is not None:
            old.close()
        self.refresh_still()

    def _refuse(self, error: BaseException) -> None:
        if isinstance(error, engine.EngineError):
            self.message.value = refused(error)
        else:  # its text could quote data
            self.message.value = refused(
                RuntimeError(f"The run stopped on an error of kind {type(error).__name__}.")
            )


def _tell(
    make: Callable[[], Any],
    private: Private,
    workload: engine.Workload,
    epsilon: float,
    delta: float,
    seed: int | None,
    report: Report,
) -> Story:
    return tell(make(), private, workload, epsilon=epsilon, delta=delta, seed=seed, report=report)


def _number(text: str, name: str, example: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise engine.OptionError(
            f"{name} is {text!r}; a number is needed. Write one, for example {example}."
        ) from None
