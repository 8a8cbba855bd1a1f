"""A Run button for long work (``engine.jobs``): the notebook stays usable while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as w
from IPython.core.getipython import get_ipython

from engine.jobs import Job, Report


class Runner(w.HBox):  # type: ignore[misc]  # ipywidgets has no types
    """A Run and a Cancel button with progress, for one job at a time.

    While a job runs, the front end asks twice a second how it stands. So everything drawn is drawn
    in answer to the front end, the only time when an output takes it, in every front end alike.

    Args:
        label: What the button says.
        work: Makes the work when Run is clicked; raises to refuse.
        ended: Called once when the job is over.
        refused: Called with what ``work`` raised.
        ticked: Called while the job runs.
    """

    def __init__(
        self,
        label: str,
        *,
        work: Callable[[], Callable[[Report], object]],
        ended: Callable[[Job[object]], None],
        refused: Callable[[Exception], None],
        ticked: Callable[[], None] = lambda: None,
    ) -> None:
        self.run = w.Button(
            description=label, button_style="primary", icon="play", tooltip=f"{label} (Enter)"
        )
        self.cancel = w.Button(
            description="Cancel", icon="stop", disabled=True,
            tooltip="Stop after the step being made; what is done is kept",
        )  # fmt: skip
        self.bar = w.FloatProgress(0.0, min=0.0, max=1.0, layout=w.Layout(width="220px"))
        self.word = w.Label("")
        # Shown nowhere: its clock is what makes the front end ask.
        self._clock = w.Play(
            min=0, max=10**9, interval=400, playing=False, show_repeat=False,
            layout=w.Layout(display="none"),
        )  # fmt: skip
        self.job: Job[object] | None = None
        self._allowed = True
        self._work, self._ended, self._refused, self._ticked = work, ended, refused, ticked
        self.run.on_click(lambda _: self.start())
        self.cancel.on_click(lambda _: self.stop())
        self._clock.observe(lambda _: self.poll(), "value")
        super().__init__(
            [self.run, self.cancel, self.bar, self.word, self._clock],
            layout=w.Layout(align_items="center", flex_flow="row wrap"),
        )

    @property
    def busy(self) -> bool:
        """Whether a job is being done."""
        return self.job is not None

    def allow(self, allowed: bool) -> None:
        """Say whether the button may be pressed: not while the form is refused."""
        self._allowed = allowed
        self.run.disabled = self.busy or not allowed

    def start(self) -> None:
        """Begin a job, if none is being done."""
        if self.busy:
            return
        try:
            work = self._work()
        except Exception as error:  # noqa: BLE001 - shown beside the form
            self._refused(error)
            return
        self.run.disabled, self.cancel.disabled = True, False
        self.bar.value, self.bar.bar_style, self.word.value = 0.0, "", "starting…"
        self.job = Job(work)
        self._clock.playing = True
        when_interrupted(self.stop)

    def stop(self) -> None:
        """Cancel the job, if one is being done."""
        if self.job is not None:
            self.job.cancel()
            self.word.value = "stopping…"

    def poll(self) -> None:
        """Take over how the job stands; the front end's clock calls this."""
        job = self.job
        if job is None:
            return
        done = not job.running
        self.bar.value, self.word.value = job.share, job.word
        if not done:
            self._ticked()
            return
        self.job, self._clock.playing = None, False
        self.run.disabled, self.cancel.disabled = not self._allowed, True
        if job.cancelled:
            self.bar.bar_style, self.word.value = "warning", "cancelled; what was done is kept"
        elif job.raised is not None:
            self.bar.bar_style, self.word.value = "danger", "not finished"
        else:
            self.bar.value, self.bar.bar_style, self.word.value = 1.0, "success", "done"
        self._ended(job)

    def wait(self, seconds: float | None = 600.0) -> None:
        """Wait for the job in a cell, and take over what it made.

        Interrupting the kernel cancels the job, as the button does.
        """
        if self.job is None:
            return
        try:
            self.job.wait(seconds)
        except KeyboardInterrupt:
            self.stop()
            self.job.wait(seconds)  # until the step being made is done
        self.poll()


_interrupted: list[Callable[[], None]] = []


def when_interrupted(stop: Callable[[], None]) -> None:
    """Call this when somebody interrupts the kernel while no cell runs.

    Such a signal is ignored otherwise, and the job would go on. IPython puts its own handler back
    after each message: it is told to put back this one.
    """
    _interrupted.append(stop)
    del _interrupted[:-8]  # those begun last; one whose job is over does nothing
    kernel: Any = getattr(get_ipython(), "kernel", None)
    if hasattr(kernel, "saved_sigint_handler"):
        kernel.saved_sigint_handler = _stop_all


def _stop_all(*_: object) -> None:
    for stop in _interrupted:
        stop()
