"""Taking a small table apart into residuals, and putting it together again, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as w
import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

import engine
from engine import grem
from engine.domain import subsets
from engine.residuals import decompose_all
from engine.showing import html
from engine.tables import ExactMarginal
from engine.types import AttributeSet, FloatArray
from engine.widgets.screen import controls, text
from engine.widgets.stills import WithStill

_EXAMPLE = ((30.0, 10.0, 5.0), (12.0, 18.0, 25.0))
_EXAMPLE_LABELS = (("young", "old"), ("low", "middle", "high"))
_MOST = 6


def decompose(
    values: ArrayLike = _EXAMPLE,
    names: Sequence[str] = ("age", "income"),
    *,
    labels: Sequence[Sequence[str]] | None = None,
) -> Decomposition:
    """Take a small marginal apart; change a number, and everything follows.

    The numbers become settings of widgets and are saved with the notebook, so give numbers made up
    or released, never counts of records.

    Args:
        values: One or two axes of at most six values each.
        names: One name an axis.
        labels: Names of the values of each axis; by default 1, 2, 3, ...

    Raises:
        OptionError: If the table is too large, has another number of axes, or a value is no number.
    """
    if isinstance(values, engine.Table | engine.Private | ExactMarginal | engine.Comparison):
        raise engine.OptionError(
            "The numbers of this view are saved with the notebook, so exact counts do not belong "
            "here. Give numbers made up, or released ones such as estimate.values."
        )
    table = np.asarray(values, dtype=np.float64)
    if table.ndim not in (1, 2) or not 1 <= min(table.shape) <= max(table.shape) <= _MOST:
        raise engine.OptionError(
            f"The table has shape {table.shape}; one or two axes of at most {_MOST} values are "
            "needed. Take a smaller one."
        )
    if not np.isfinite(table).all() or len(names) != table.ndim:
        raise engine.OptionError(
            "A value is no finite number, or there is not one name an axis. Correct it."
        )
    if labels is None and values is _EXAMPLE:
        labels = _EXAMPLE_LABELS
    given = labels or [[str(k + 1) for k in range(n)] for n in table.shape]
    if [len(one) for one in given] != list(table.shape):
        raise engine.OptionError("There is not one label for each value. Complete the labels.")
    return Decomposition(table, tuple(names), tuple(tuple(one) for one in given))


class Decomposition(WithStill, w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """An editable table, its residuals with a box each, and the table rebuilt from those ticked.

    Args:
        table: One or two axes.
        names: One name an axis.
        labels: Names of the values of each axis.
    """

    def __init__(
        self, table: FloatArray, names: tuple[str, ...], labels: tuple[tuple[str, ...], ...]
    ) -> None:
        # Long: the parts of the lesson, one after the other.
        self._shape, self._names, self._labels = table.shape, names, labels
        gamma: AttributeSet = tuple(range(table.ndim))
        self._gamma = gamma
        self.cells = [
            w.FloatText(
                value=float(value),
                continuous_update=False,
                description=self._where(k),
                layout=w.Layout(width="210px"),
                style={"description_width": "120px"},
                tooltip="Change the number and press Enter",
            )
            for k, value in enumerate(table.ravel())
        ]
        self.kept = {
            tau: w.Checkbox(
                value=True,
                description=self._name(tau),
                indent=False,
                tooltip="Whether the rebuilt table uses this residual",
                layout=w.Layout(width="auto"),
            )
            for tau in subsets(gamma)
        }
        self._parts = {tau: text() for tau in self.kept}
        self.rebuilt = text()
        for control in (*self.cells, *self.kept.values()):
            control.observe(lambda _: self._draw(), "value")
        rows = table.shape[0] if table.ndim == 2 else 1
        across = len(self.cells) // rows
        grid = [w.HBox(self.cells[r * across : (r + 1) * across]) for r in range(rows)]
        residuals = w.HBox(
            [w.VBox([self.kept[tau], self._parts[tau]]) for tau in self.kept],
            layout=w.Layout(flex_flow="row wrap", grid_gap="12px 28px"),
        )
        head = text(
            html.box("Decompose", html.PUBLIC, "Numbers typed here, which are saved with the "
                     "notebook. Change one and press Enter; untick a residual to leave it out.")
        )  # fmt: skip
        super().__init__([head, controls(*grid, residuals), self.rebuilt])
        self._draw()

    def still(self) -> str:
        """Return the table, its residuals and what they add up to."""
        table = html.box("Decompose", html.PUBLIC, Markup(self._grid(self.values)))
        parts = "".join(
            f"<div><b>{html.escape(self._name(tau))}</b>{self._parts[tau].value}</div>"
            for tau in self.kept
        )
        return table + Markup(parts) + Markup(self.rebuilt.value)

    @property
    def values(self) -> FloatArray:
        """The table as it stands."""
        return np.array([cell.value for cell in self.cells], dtype=np.float64).reshape(self._shape)

    @property
    def residuals(self) -> dict[AttributeSet, FloatArray]:
        """Its residuals: one for each subset of the axes."""
        return decompose_all(self.values, self._gamma)

    @property
    def sum_of_kept(self) -> FloatArray:
        """The table rebuilt from the residuals ticked."""
        kept = {tau: z for tau, z in self.residuals.items() if self.kept[tau].value}
        return grem.sum_of_parts(kept, self._gamma, self._shape)

    def __repr__(self) -> str:
        return f"Decomposition({' × '.join(self._names)}; works with a running kernel)"

    def _draw(self) -> None:
        if not np.isfinite(self.values).all():
            self.rebuilt.value = html.warning("A value is no finite number. Correct it.")
            return
        for tau, residual in self.residuals.items():
            self._parts[tau].value = self._residual(tau, residual)
        rebuilt, wanted = self.sum_of_kept, self.values
        off = float(np.abs(rebuilt - wanted).max())
        said = (
            "All residuals together give the table back, exactly."
            if off < 1e-9 * max(1.0, float(np.abs(wanted).max()))
            else f"Without the residuals left out, a cell is off by up to {off:,.4g}."
        )
        self.rebuilt.value = html.box(
            "Rebuilt from the residuals ticked", html.PUBLIC, self._grid(rebuilt), said
        )

    def _residual(self, tau: AttributeSet, residual: FloatArray) -> str:
        if not residual.size:
            return "empty: nothing to measure"
        labels = [[f"{b} − {self._labels[i][0]}" for b in self._labels[i][1:]] for i in tau]
        return _matrix(residual, labels)

    def _grid(self, values: FloatArray) -> str:
        return _matrix(values, list(self._labels))

    def _name(self, tau: AttributeSet) -> str:
        names = " × ".join(self._names[i] for i in tau) or "total"
        count = int(np.prod([self._shape[i] - 1 for i in tau], dtype=int))
        return f"{names}: {count} number{'' if count == 1 else 's'}"

    def _where(self, k: int) -> str:
        where = np.unravel_index(k, self._shape)
        return ", ".join(str(self._labels[i][int(j)]) for i, j in enumerate(where))


def _matrix(values: FloatArray, labels: Sequence[Sequence[Any]]) -> str:
    """A table of numbers with the names of its rows and columns."""
    if values.ndim == 0:
        return html.table(("value",), [(f"{float(values):,.4g}",)], align="r")
    if values.ndim == 1:
        names = [html.escape(label, longest=24) for label in labels[0]]
        return html.table(names, [[f"{x:,.4g}" for x in values]], align="r")
    rows = [
        [html.escape(label, longest=24), *(f"{x:,.4g}" for x in row)]
        for label, row in zip(labels[0], values, strict=True)
    ]
    header = ["", *(html.escape(label, longest=24) for label in labels[1])]
    return html.table(header, rows, align="lr")
